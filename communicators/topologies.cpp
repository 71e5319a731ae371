// Communicators with a virtual topology (MPI-5.0 chapter 8). None lets the library reorder: the rank is that of
// MPI_COMM_WORLD. All exist at every number of ranks: few ranks give dimensions of 1, self-loops and double edges.
#include "communicators/building.hpp"

#include <algorithm>
#include <cstddef>

namespace assay {

// Row-major ranks (8.5.1).
std::vector<int> cart_neighbours(std::vector<int> const& dims, std::vector<int> const& periods, int rank) {
    std::vector<int> found;
    int stride = 1; // of this dimension, in ranks
    for (std::size_t d = dims.size(); d-- > 0; stride *= dims[d]) {
        int const coordinate = rank / stride % dims[d];
        auto const at = [&](int c) {
            if (c < 0 || c >= dims[d]) {
                if (!periods[d]) return -1;
                c = (c + dims[d]) % dims[d];
            }
            return rank + (c - coordinate) * stride;
        };
        found.insert(found.begin(), {at(coordinate - 1), at(coordinate + 1)});
    }
    return found;
}

namespace {

// ---- Cartesian (8.5.1)

// The largest divisor of `number` that is at most `bound`, by trial.
template <typename Fits> int largest_divisor(int number, Fits fits) {
    int best = 1;
    for (int d = 1; d <= number; ++d)
        if (number % d == 0 && fits(d)) best = d;
    return best;
}

// {a, b} with a * b = np, a >= b, as square as np allows. Not MPI_Dims_create: plans are made without MPI.
std::vector<int> dims2(int np) {
    int const small = largest_divisor(np, [np](int d) { return d <= np / d; });
    return {np / small, small};
}

std::vector<int> dims3(int np) {
    int const small = largest_divisor(np, [np](int d) { return d <= np / d / d; });
    auto const rest = dims2(np / small);
    return {rest[0], rest[1], small};
}

communicator cartesian(std::string name, std::string title, std::string note, std::vector<int> (*dims)(int),
                       std::vector<int> periods) {
    auto const neighbours = [dims, periods](int np, int rank) { return cart_neighbours(dims(np), periods, rank); };
    return {
        .name = std::move(name),
        .title = std::move(title),
        .note = std::move(note),
        .layout = same_as_world,
        .make =
            [dims, periods] {
                auto const shape = dims(world_size());
                MPI_Comm made = MPI_COMM_NULL;
                must(MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(shape.size()), shape.data(), periods.data(), 0,
                                     &made),
                     "MPI_Cart_create");
                return made;
            },
        .sources = neighbours,
        .destinations = neighbours,
        .cart_dims = dims,
        .cart_periods = periods,
    };
}

register_communicator const cart2d{cartesian("cart2d", "Two dimensional Cartesian",
                                             "MPI_Cart_create, as square as can be, first dimension periodic (8.5.1)",
                                             dims2, {1, 0})};
register_communicator const cart3d{cartesian("cart3d", "Three dimensional Cartesian",
                                             "MPI_Cart_create, as cubic as can be, second dimension periodic (8.5.1)",
                                             dims3, {0, 1, 0})};

// ---- General graph (8.5.3). Neighbours are reported in the order of the edges given (8.5.5). Both graphs are
// symmetric, also in the number of edges between two ranks, as neighbourhood collectives ask for (8.6).

// Every other rank, starting with the next one.
std::vector<int> full_neighbours(int np, int rank) {
    std::vector<int> found;
    for (int step = 1; step < np; ++step) found.push_back((rank + step) % np);
    return found;
}

// The ring, plus an edge between rank 0 and every even rank including itself: degrees 2, 3 and more. The ring of one
// rank is a double self-loop, that of two ranks a double edge.
std::vector<int> spoked_ring_neighbours(int np, int rank) {
    std::vector<int> found{(rank + np - 1) % np, (rank + 1) % np};
    if (rank == 0)
        for (int spoke = 0; spoke < np; spoke += 2) found.push_back(spoke);
    else if (rank % 2 == 0) found.push_back(0);
    return found;
}

communicator graph_of(std::string name, std::string title, std::string note, std::vector<int> (*neighbours)(int, int)) {
    return {
        .name = std::move(name),
        .title = std::move(title),
        .note = std::move(note),
        .layout = same_as_world,
        .make =
            [neighbours] {
                int const np = world_size();
                std::vector<int> index, edges;
                edges.reserve(1); // a single rank may have no edge; its pointer is not null even so
                for (int rank = 0; rank < np; ++rank) {
                    auto const mine = neighbours(np, rank);
                    edges.insert(edges.end(), mine.begin(), mine.end());
                    index.push_back(static_cast<int>(edges.size()));
                }
                MPI_Comm made = MPI_COMM_NULL;
                must(MPI_Graph_create(MPI_COMM_WORLD, np, index.data(), edges.data(), 0, &made), "MPI_Graph_create");
                return made;
            },
        .sources = neighbours,
        .destinations = neighbours,
    };
}

register_communicator const full_graph{graph_of("full_graph", "Full-connected Topology",
                                                "MPI_Graph_create with an edge between every two ranks (8.5.3)",
                                                full_neighbours)};
register_communicator const graph{graph_of(
    "graph", "", "MPI_Graph_create: a ring with spokes from rank 0 to the even ranks (8.5.3)", spoked_ring_neighbours)};

// ---- Distributed graph (8.5.4): directed, so what a rank receives from is not what it sends to.

// Every rank sends to the next; even ranks also to the one after that. With few ranks these are self-loops.
std::vector<int> skip_destinations(int np, int rank) {
    std::vector<int> found{(rank + 1) % np};
    if (rank % 2 == 0) found.push_back((rank + 2) % np);
    return found;
}

// In ascending order of the sender. Two edges from one sender stand side by side.
std::vector<int> skip_sources(int np, int rank) {
    std::vector<int> found;
    for (int sender = 0; sender < np; ++sender)
        for (int destination : skip_destinations(np, sender))
            if (destination == rank) found.push_back(sender);
    return found;
}

register_communicator const dist_graph{{
    .name = "dist_graph",
    .note = "MPI_Dist_graph_create_adjacent: each rank sends to the next, even ranks to the one after it too (8.5.4)",
    .layout = same_as_world,
    .make =
        [] {
            int const np = world_size(), me = world_rank();
            auto const from = skip_sources(np, me), to = skip_destinations(np, me);
            MPI_Comm made = MPI_COMM_NULL;
            must(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(),
                                                MPI_UNWEIGHTED, static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED,
                                                MPI_INFO_NULL, 0, &made),
                 "MPI_Dist_graph_create_adjacent");
            return made;
        },
    .sources = skip_sources,
    .destinations = skip_destinations,
}};

// The edges of rank r's three destinations r, r+1 and 0, in ascending order as the catalogue asks where the standard
// leaves the order open. Edges may be double: rank 0 has itself twice.
std::vector<int> fan_destinations(int np, int rank) {
    std::vector<int> found{rank, (rank + 1) % np, 0};
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<int> fan_sources(int np, int rank) {
    std::vector<int> found;
    for (int sender = 0; sender < np; ++sender)
        for (int destination : fan_destinations(np, sender))
            if (destination == rank) found.push_back(sender);
    return found;
}

// Each rank hands in the edges of its predecessor: the library has to bring every edge to both of its ends.
register_communicator const dist_graph_edges{{
    .name = "dist_graph_edges",
    .note = "MPI_Dist_graph_create: edges to itself, the next rank and rank 0, each handed in by another rank (8.5.4)",
    .layout = same_as_world,
    .make =
        [] {
            int const np = world_size(), predecessor = (world_rank() + np - 1) % np;
            auto const to = fan_destinations(np, predecessor);
            int const degree = static_cast<int>(to.size());
            MPI_Comm made = MPI_COMM_NULL;
            must(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &predecessor, &degree, to.data(), MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &made),
                 "MPI_Dist_graph_create");
            return made;
        },
    .sources = fan_sources,
    .destinations = fan_destinations,
    .neighbour_order_defined = false,
}};

} // namespace
} // namespace assay
