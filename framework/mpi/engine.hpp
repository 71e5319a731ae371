// Runs cases in a job: makes communicators and datatypes when they are first needed, calls the body, looks at what the
// case left behind, and tells the event log.
#pragma once
#include "framework/mpi/run.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

namespace assay {

class engine {
public:
    explicit engine(job const& j); // after MPI_Init
    ~engine();

    // Collective over MPI_COMM_WORLD: every rank runs the same cases in the same order.
    // Returns the findings of this rank; empty if the case passed.
    std::vector<std::string> run(planned_case const& c, long index, bool last = false); // last: under its setting

    void tear_down(); // frees what was made; before MPI_Finalize

private:
    struct made_communicator {
        MPI_Comm comm = MPI_COMM_NULL;
        membership place;
        std::string broken;                 // how it differs from its definition
        std::optional<end_of_body> failure; // why it could not be made
    };
    // Threads beyond the first and cases with wildcards get duplicates of their own.
    made_communicator const& communicator_for(communicator const& entry, int thread, bool own);
    MPI_Datatype datatype_for(datatype const& entry);
    void set_layer_for(planned_case const& c); // collective
    void free_objects();                       // the communicators and datatypes
    void synchronize();                        // all ranks, by messages on a communicator of the engine's
    void look_at(datatype const& entry);       // records that the case has damaged it; it is then made anew
    // Records messages that nobody received. A case looks where it ends, which is too early for what comes late: so its
    // communicators and tags are kept, and looked at once more where all ranks are known to have ended it.
    void check_leftover_messages(test_run& mpi, planned_case const& c);
    void check_late_messages(planned_case const& c);
    bool is_left(MPI_Comm comm, int tag, std::string const& of_case = "");
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
    struct ended_case {
        planned_case planned;
        std::vector<std::pair<MPI_Comm, int>> tags;
    };
    std::mutex ended_mutex_; // threads of a case end by themselves
    std::vector<ended_case> ended_;
    // What the process looked like after the last case.
    int lowest_descriptor_ = -1;
    long stderr_size_ = -1;
    std::map<test const*, int> descriptor_growth_;
};

} // namespace assay
