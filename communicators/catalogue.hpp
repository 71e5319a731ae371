// The communicators that cases run on. One file per family; each entry says, without asking MPI, who is a member and
// with which rank, so that cases can be planned without MPI and the library's answers can be checked.
#pragma once
#include "framework/mpi/failure.hpp"
#include "framework/plan/job.hpp"

#include <functional>
#include <mpi.h>
#include <string>
#include <vector>

namespace assay {

// The place of one process of MPI_COMM_WORLD in a communicator, from the definition of the communicator.
struct membership {
    bool member = true;
    int rank = 0;        // in the communicator; in the local group of an intercommunicator
    int size = 1;        // of the (local) group
    int remote_size = 0; // of the remote group; 0 for an intracommunicator
    int side = 0;        // 0 or 1: which group of an intercommunicator
    int color = 0;       // tells apart communicators made by one split (and each MPI_COMM_SELF); 0 otherwise
};

enum class comm_kind { null, intra, inter };

struct communicator {
    std::string name;  // as in a case name: alphabet [a-z0-9_.+]
    std::string title; // the name in table 4.4 of Keller's thesis, "" if it does not stand there
    std::string note;  // one line: how it is made, with the section of MPI-5.0
    comm_kind kind = comm_kind::intra;
    // Why it cannot exist in this job ("needs at least 4 ranks; this job has 2"), or "".
    std::function<std::string(job const&)> lacks = [](job const&) { return std::string(); };
    std::function<membership(int np, int world_rank)> layout;
    // Collective over MPI_COMM_WORLD; returns MPI_COMM_NULL where layout says "not a member". Errors of the library
    // come back as exceptions of type mpi_failure. The framework sets MPI_ERRORS_RETURN and frees what is not predefined.
    std::function<MPI_Comm()> make;
    bool predefined = false; // not to be freed
    // Only where something has to outlive the communicators, such as their session. The framework calls it once, after
    // it freed all that make() returned and before MPI_Finalize, on every rank that ever called make().
    std::function<void()> release = {};
    // Topologies only: the ranks that `rank` receives from and sends to, in the order of MPI_Neighbor_alltoall
    // (section 8.6); -1 stands for MPI_PROC_NULL. Empty function: no topology.
    std::function<std::vector<int>(int np, int rank)> sources = {}, destinations = {};
    // MPI_Dist_graph_create leaves the order of the neighbours to the library (section 8.5.5): false there, and
    // sources and destinations are in ascending order instead. Only a multiset comparison is then allowed.
    bool neighbour_order_defined = true;
    // Cartesian topologies only: the dimensions and their periodicity.
    std::vector<int> (*cart_dims)(int np) = nullptr;
    std::vector<int> cart_periods = {};
};

// Registration: a namespace-scope object in the family's file. The catalogue is ordered by name.
// Refuses, with std::invalid_argument that names the entry, a name that is taken or outside [a-z0-9_.+] and an entry
// without layout or make.
struct register_communicator {
    explicit register_communicator(communicator entry);
};
std::vector<communicator> const& all_communicators();

// The neighbours of `rank` one step down and one step up each dimension: what MPI_Cart_shift reports for displacement
// 1 as source and destination, in the order of neighborhood collectives (8.6); -1 stands for MPI_PROC_NULL.
std::vector<int> cart_neighbours(std::vector<int> const& dims, std::vector<int> const& periods, int rank);

} // namespace assay
