// Run by mpiexec with any number of ranks: makes every communicator of the catalogue and compares what the MPI library
// says about it with what the catalogue predicts. One line a difference, exit 1 if this rank found any.
//   mpiexec -n 4 communicators_mpi_check [name…]
#include "communicators/catalogue.hpp"
#include "framework/mpi/subject.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

namespace {

int np = 0, world_rank = 0, differences = 0, compared = 0;

void differ(std::string const& name, std::string const& message) {
    ++differences;
    fmt::print("np {} rank {}: {}: {}\n", np, world_rank, name, message);
}

template <typename Value> void same(std::string const& name, char const* what, Value const& got, Value const& wanted) {
    ++compared;
    if (got != wanted) differ(name, fmt::format("{} is {}, expected {}", what, got, wanted));
}

// Whom each place of a group belongs to: every member has to be the world rank whose layout names that place.
void check_group(assay::communicator const& entry, MPI_Group group, assay::membership const& mine, int side) {
    MPI_Group everyone = MPI_GROUP_NULL;
    assay::must(MPI_Comm_group(MPI_COMM_WORLD, &everyone), "MPI_Comm_group");
    int size = 0;
    assay::must(MPI_Group_size(group, &size), "MPI_Group_size");
    for (int place = 0; place < size; ++place) {
        int world = MPI_UNDEFINED;
        assay::must(MPI_Group_translate_ranks(group, 1, &place, everyone, &world), "MPI_Group_translate_ranks");
        if (world < 0 || world >= np) {
            differ(entry.name, fmt::format("place {} belongs to no rank of MPI_COMM_WORLD ({})", place, world));
            continue;
        }
        auto const theirs = entry.layout(np, world);
        same(entry.name, "membership of a group member", theirs.member, true);
        same(entry.name, "place of a group member", place, theirs.rank);
        same(entry.name, "side of a group member", theirs.side, side);
        same(entry.name, "color of a group member", theirs.color, mine.color);
    }
    MPI_Group_free(&everyone);
    MPI_Group_free(&group);
}

void check_cartesian(assay::communicator const& entry, MPI_Comm comm, std::vector<int> const& sources) {
    auto const dims = entry.cart_dims(np);
    int const n = static_cast<int>(dims.size());
    int ndims = 0;
    assay::must(MPI_Cartdim_get(comm, &ndims), "MPI_Cartdim_get");
    same(entry.name, "the number of dimensions", ndims, n);
    if (ndims != n) return;
    std::vector<int> got_dims(dims.size()), periods(dims.size()), coordinates(dims.size());
    assay::must(MPI_Cart_get(comm, n, got_dims.data(), periods.data(), coordinates.data()), "MPI_Cart_get");
    same(entry.name, "the dimensions", got_dims, dims);
    same(entry.name, "the periods", periods, entry.cart_periods);
    for (int d = 0; d < n; ++d) {
        int source = 0, destination = 0;
        assay::must(MPI_Cart_shift(comm, d, 1, &source, &destination), "MPI_Cart_shift");
        auto const wanted = [&](int k) { return sources[2 * d + k] < 0 ? MPI_PROC_NULL : sources[2 * d + k]; };
        same(entry.name, "the source of MPI_Cart_shift", source, wanted(0));
        same(entry.name, "the destination of MPI_Cart_shift", destination, wanted(1));
    }
}

void check_neighbours(assay::communicator const& entry, MPI_Comm comm, int rank) {
    auto const sources = entry.sources(np, rank), destinations = entry.destinations(np, rank);
    int kind = MPI_UNDEFINED;
    assay::must(MPI_Topo_test(comm, &kind), "MPI_Topo_test");
    if (entry.cart_dims) {
        same(entry.name, "the topology", kind, int{MPI_CART});
        check_cartesian(entry, comm, sources);
    } else if (kind == MPI_GRAPH) {
        int degree = 0;
        assay::must(MPI_Graph_neighbors_count(comm, rank, &degree), "MPI_Graph_neighbors_count");
        std::vector<int> got(std::max(degree, 1));
        assay::must(MPI_Graph_neighbors(comm, rank, degree, got.data()), "MPI_Graph_neighbors");
        got.resize(degree);
        same(entry.name, "the list of neighbours", got, sources);
    } else if (kind == MPI_DIST_GRAPH) {
        int in = 0, out = 0, weighted = 1;
        assay::must(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted), "MPI_Dist_graph_neighbors_count");
        std::vector<int> from(std::max(in, 1)), to(std::max(out, 1));
        assay::must(MPI_Dist_graph_neighbors(comm, in, from.data(), MPI_UNWEIGHTED, out, to.data(), MPI_UNWEIGHTED),
                    "MPI_Dist_graph_neighbors");
        from.resize(in);
        to.resize(out);
        if (!entry.neighbour_order_defined) {
            std::sort(from.begin(), from.end());
            std::sort(to.begin(), to.end());
        }
        same(entry.name, "the list of sources", from, sources);
        same(entry.name, "the list of destinations", to, destinations);
        same(entry.name, "weighted", weighted, 0);
    } else {
        differ(entry.name, fmt::format("MPI_Topo_test says {}, expected a graph or a distributed graph", kind));
    }
}

void check(assay::communicator const& entry) {
    auto const wanted = entry.layout(np, world_rank);
    MPI_Comm comm = entry.make();
    same(entry.name, "being a member", comm != MPI_COMM_NULL, wanted.member);
    if (comm == MPI_COMM_NULL) return;
    int rank = -1, size = -1, inter = -1, remote = 0;
    assay::must(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    assay::must(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    assay::must(MPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
    same(entry.name, "the rank", rank, wanted.rank);
    same(entry.name, "the size", size, wanted.size);
    same(entry.name, "MPI_Comm_test_inter", inter != 0, entry.kind == assay::comm_kind::inter);
    if (inter) assay::must(MPI_Comm_remote_size(comm, &remote), "MPI_Comm_remote_size");
    same(entry.name, "the remote size", remote, wanted.remote_size);
    // Groups of a session and of the World Model may not be compared (11.3.1).
    if (entry.name != "create_from_group") {
        MPI_Group group = MPI_GROUP_NULL;
        assay::must(MPI_Comm_group(comm, &group), "MPI_Comm_group");
        check_group(entry, group, wanted, wanted.side);
        if (inter) {
            assay::must(MPI_Comm_remote_group(comm, &group), "MPI_Comm_remote_group");
            check_group(entry, group, wanted, 1 - wanted.side);
        }
    }
    if (entry.sources) check_neighbours(entry, comm, rank);
    if (!entry.predefined) assay::must(MPI_Comm_free(&comm), "MPI_Comm_free");
    if (entry.release) entry.release();
}

} // namespace

int main(int argc, char** argv) {
    assay::set_subject(assay::mpi_library());
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    assay::job const job{.np = np};
    std::vector<std::string> const names(argv + 1, argv + argc);
    int made = 0, lacking = 0;
    for (auto const& entry : assay::all_communicators()) {
        if (!names.empty() && std::find(names.begin(), names.end(), entry.name) == names.end()) continue;
        if (auto const reason = entry.lacks(job); !reason.empty()) {
            if (world_rank == 0) fmt::print("np {}: {} is lacking: {}\n", np, entry.name, reason);
            ++lacking;
            continue;
        }
        try {
            check(entry);
            ++made;
        } catch (assay::mpi_failure const& failure) {
            differ(entry.name, failure.what());
        }
    }
    if (world_rank == 0 || differences)
        fmt::print("np {} rank {}: {} communicators made, {} lacking, {} comparisons, {} differences\n", np, world_rank,
                   made, lacking, compared, differences);
    std::fflush(stdout);
    MPI_Finalize();
    return differences || made == 0 ? 1 : 0;
}
