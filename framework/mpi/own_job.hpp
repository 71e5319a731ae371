// Cases that need a job of their own: what must come before MPI_Init or after MPI_Finalize, and what ends the job. Their
// bodies run in a process that has not initialized MPI: `mpi` has no communicator, rank 0 and the size of the job.
#pragma once
#include "framework/mpi/run.hpp"
#include "framework/plan/job.hpp"

#include <string>

namespace assay {

// For MPI_Init: what main was given.
struct main_arguments {
    int* count = nullptr;
    char*** words = nullptr;
};
main_arguments const& arguments_of_main();

// From here on this process has to end before its body does: MPI_Abort or a fatal error comes next, here or in another
// process of which that is said. `code` is what the launcher should then end with.
constexpr int any_exit_code = -1;
void announce_end(int code = any_exit_code);

// MPI_SUCCESS, told without asking the library for words: it may not be initialized.
bool succeeded(test_run& mpi, int code, std::source_location where = std::source_location::current());

// MPI_Init. Afterwards errors of MPI_COMM_WORLD and MPI_COMM_SELF are returned.
struct world_place {
    int rank = -1, size = -1;
};
world_place initialize(test_run& mpi, std::source_location where = std::source_location::current());
// After a call that initialized MPI: libraries put signal handlers of their own in place.
void was_initialized();
bool finalize(test_run& mpi, std::source_location where = std::source_location::current());

// The end of main for `assay-suite --own-job=CASE`: the exit code. Without a job directory it is a run by hand.
int run_own_job(std::string const& case_name, job the_job, std::string const& job_directory,
                std::string const& plan_file, int argc, char** argv);

} // namespace assay
