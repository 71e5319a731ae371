// Runs cases in a job: makes communicators and datatypes when they are first needed, calls the body, looks at what the
// case left behind, and tells the event log.
#pragma once
#include "framework/mpi/run.hpp"

#include <map>
#include <memory>
#include <tuple>

namespace assay {

class engine {
public:
    explicit engine(job const& j); // after MPI_Init
    ~engine();

    // Collective over MPI_COMM_WORLD: every rank runs the same cases in the same order.
    // Returns the findings of this rank; empty if the case passed.
    std::vector<std::string> run(planned_case const& c, long index);

    void tear_down(); // frees what was made; before MPI_Finalize

private:
    struct made_communicator {
        MPI_Comm comm = MPI_COMM_NULL;
        membership place;
        std::string broken; // why it could not be made, or how it differs from its definition
    };
    // Threads beyond the first and cases with wildcards get duplicates of their own.
    made_communicator const& communicator_for(communicator const& entry, int thread, bool own);
    MPI_Datatype datatype_for(datatype const& entry);
    void set_layer_for(planned_case const& c); // collective
    void free_objects();                       // the communicators and datatypes
    void synchronize();                        // all ranks, by messages on a communicator of the engine's
    void look_at(datatype const& entry);       // records that the case has damaged it; it is then made anew
    void look_behind(test_run& mpi);
    void nothing_is_there(MPI_Comm comm, int tag = MPI_ANY_TAG); // records a message that was left
    struct outcome {
        char status; // p f u -
        std::string reason;
    };
    outcome run_once(planned_case const& c, int serial);

    job job_;
    int world_rank_ = 0, world_size_ = 1;
    int thread_level_ = MPI_THREAD_SINGLE; // that the library provides
    MPI_Comm sync_ = MPI_COMM_NULL;
    std::map<std::tuple<communicator const*, int, bool>, made_communicator> comms_;
    std::map<datatype const*, MPI_Datatype> types_;
    std::vector<std::unique_ptr<memory_pool>> pools_; // one a thread
    recorder recorder_;
    int serial_ = 0;
    std::string setting_; // of a preloaded layer
    // What the process looked like after the last case.
    int lowest_descriptor_ = -1;
    long stderr_size_ = -1;
    std::map<test const*, int> descriptor_growth_;
};

} // namespace assay
