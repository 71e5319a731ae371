// The kinds of handles (MPI-5.0 section 2.5.1): for each the handles that MPI has from the start, and how an object of the
// program's own is made, told apart from others of its kind, and freed.
#pragma once
#include "framework/mpi/run.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::abi {

// Whether the library says that it has the standard ABI. False where it cannot be asked.
bool has_standard_abi();

template <class Handle> std::intptr_t bits(Handle handle) {
    return (std::intptr_t)handle; // NOLINT: handles are integers in some libraries and pointers in others
}

template <class Handle> struct constant {
    char const* name;
    Handle handle;
    int value; // in the standard ABI
};

// What an object needs beside its handle, for as long as it lives.
struct room {
    std::array<int, 8> out{}, in{};
    MPI_Request sent = MPI_REQUEST_NULL;
    std::string path;
};

constexpr int most_objects = 4; // of a kind at once: objects 0 to 3

template <class Handle> struct kind {
    Handle null;
    std::vector<constant<Handle>> constants; // that the header has, null included
    // Object `which`. Records what goes wrong, and gives null then.
    Handle (*make)(test_run&, room&, int which);
    // Uses the object in what it is for, and says whether it is object `which`: "" or what was seen instead. Records calls that fail.
    std::string (*use)(test_run&, room&, Handle&, int which);
    void (*release)(test_run&, room&, Handle&);
    bool once = false; // its first use ends the object, and makes its handle null
};

kind<MPI_Comm> const& comms();
kind<MPI_Datatype> const& datatypes();
kind<MPI_Errhandler> const& errhandlers();
kind<MPI_File> const& files();
kind<MPI_Group> const& groups(); // need two ranks: with one there are not four different ones
kind<MPI_Info> const& infos();
kind<MPI_Message> const& messages();
kind<MPI_Op> const& ops();
kind<MPI_Request> const& requests();            // of receives
kind<MPI_Request> const& persistent_requests(); // of receives
kind<MPI_Session> const& sessions();            // need the procedures for error handlers of sessions
kind<MPI_Win> const& wins();

} // namespace assay::abi
