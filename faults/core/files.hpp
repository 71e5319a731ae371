// What the wrappers of the I/O procedures share: one data access, and what is known of an open file. Only PMPI_ procedures are
// called from here.
#pragma once
#include "core.hpp"

#include <mpi.h>
#include <string>
#include <vector>

namespace assay_faults {

enum class way { read, write };
enum class pointer { none, individual, shared, ordered };
enum class how { blocking, immediate, split };

// One data access, as the caller asked for it or as it is done in the end.
struct data_access {
    way direction;
    pointer position;
    bool collective;
    how kind;
    bool large; // of the binding with MPI_Count
    MPI_File file;
    MPI_Offset offset;
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
};

// What is known of an open file; handles are opaque.
struct opened {
    std::string path = {};
    bool open = true;
    int amode = 0;
    MPI_Comm comm = MPI_COMM_NULL; // of MPI_File_open
    bool comm_freed = false;       // under io_needs_communicator
    int processes = 0;
    MPI_Offset hole = -1;            // a byte that the view does not show
    bool holes = false;              // whether there are any
    std::string representation = {}; // of MPI_File_set_view
    int views = 0;                   // calls of MPI_File_set_view
    bool hints = false;              // somebody gave some
    int infos = 0;                   // calls of MPI_File_set_info
    bool atomic = false;
    std::vector<data_access> late = {};  // writes that are done at the end
    std::vector<data_access> split = {}; // that has begun and not ended: at most one
    int nonblocking_writes = 0, split_writes = 0, collective_writes = 0;
    bool unsynced = false; // MPI_File_iwrite_at_all was called, and MPI_File_sync was not
};
opened& known(MPI_File file);
std::vector<MPI_File> others_open(MPI_File file); // handles on the same path
bool is_open(std::string const& path);
bool another_is_splitting(MPI_File file);

int rank_of(MPI_File file, int& size);
void release(MPI_Datatype type);                       // unless it is predefined
MPI_Offset etypes(data_access const& a);               // of the current view that hold its elements
MPI_Offset displacement_of(MPI_File file);             // where the view begins, in bytes
void scribble(std::string const& path, MPI_Offset at); // another byte there, outside of MPI

} // namespace assay_faults
