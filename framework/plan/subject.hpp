// What a program of tests is about: an MPI library, libfabric, UCX. Each program hands its own to its main (process/program.hpp).
#pragma once
#include <cstddef>
#include <vector>

namespace assay {

struct profile;
struct standard_procedure;

struct subject {
    // Whether it offers a procedure by this name ("MPI_Session_init"): asked of the dynamic linker, so that one binary can run on
    // a library that lacks it.
    bool (*has_procedure)(char const* name);
    // Memory of its own, nullptr if it has none, and how that is given back.
    void* (*allocate)(std::size_t bytes);
    void (*release)(void* memory);
    std::vector<profile> const& (*profiles)();
    std::vector<standard_procedure> const& (*procedures)(); // of the standard
};

// Once, before anything is planned.
void set_subject(subject const& tested); // must outlive the program
subject const& the_subject();            // ends the program where there is none

} // namespace assay
