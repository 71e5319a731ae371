// What is known before MPI_Init about the job that cases are planned for.
#pragma once
#include <cstdint>
#include <string>

namespace assay {

struct job {
    int np = 1;             // size of MPI_COMM_WORLD
    int threads = 1;        // threads that run each thread-safe case at once
    std::uint64_t seed = 1; // of covering arrays and of message data
    bool strict = false;    // advisory findings fail a case
    int repeat = 1;         // times each case runs in a row
    std::string scratch;    // an existing folder that all ranks see, for the files of cases
};

// Of the subject under test (framework/plan/subject.hpp).
bool has_procedure(char const* name);

} // namespace assay
