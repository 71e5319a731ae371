// How a process enters a job of the runner: its event log, its standard error, its first line. docs/formats.md section 5.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace assay {

struct greeting {
    int rank = 0, size = 1;
    std::uint64_t plan = 0, seed = 1;
    std::string library, mpi; // "" where the library cannot be asked yet
    int thread_level = -1;
    std::string library_path; // the file that the library was loaded from, "" if it is not known
};

std::string hash_of_file(char const* path);
void open_logs(std::string const& job_directory, int rank); // standard error goes to a file of its own
void say_hello(greeting const& hello);
std::size_t wait_for_go(std::string const& job_directory); // the index of the case to begin with

// For files of cases. The runner's own folder is removed with whatever a killed job leaves there; ranks on several
// machines have the job's directory in common.
std::string scratch_of_job(std::string const& job_directory);

} // namespace assay
