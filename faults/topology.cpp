// Process topologies.
#include "core/core.hpp"

#include <algorithm>
#include <vector>

using namespace assay_faults;

namespace {

// Of a grid: dimensions, periods and the caller's coordinates.
struct grid {
    int n = 0;
    std::vector<int> dims, periods, own;
    explicit grid(MPI_Comm comm) {
        PMPI_Cartdim_get(comm, &n);
        for (auto* values : {&dims, &periods, &own}) values->resize(static_cast<std::size_t>(n) + 1);
        PMPI_Cart_get(comm, n, dims.data(), periods.data(), own.data());
    }
};

// Only the edges that the caller itself sends along.
struct own_edges {
    std::vector<int> sources, degrees, destinations, weights;
};

own_edges keep_own(MPI_Comm comm, int n, int const sources[], int const degrees[], int const destinations[],
                   int const weights[]) {
    int rank = 0, at = 0;
    PMPI_Comm_rank(comm, &rank);
    own_edges kept;
    for (auto* array : {&kept.sources, &kept.degrees, &kept.destinations, &kept.weights})
        array->reserve(1); // no null pointer
    for (int i = 0; i < n; at += degrees[i], ++i) {
        if (sources[i] != rank) continue;
        kept.sources.push_back(rank);
        kept.degrees.push_back(degrees[i]);
        for (int k = at; k < at + degrees[i]; ++k) {
            kept.destinations.push_back(destinations[k]);
            kept.weights.push_back(weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY ? 0 : weights[k]);
        }
    }
    return kept;
}

} // namespace

extern "C" {

int MPI_Topo_test(MPI_Comm comm, int* kind) {
    int const code = PMPI_Topo_test(comm, kind);
    if (planted == fault::topo_test_none && *kind == MPI_UNDEFINED) *kind = MPI_CART;
    if (planted == fault::topo_test_dist_graph && *kind == MPI_DIST_GRAPH) *kind = MPI_GRAPH;
    return code;
}

// ---- Grids

int MPI_Cart_create(MPI_Comm comm, int n, int const dims[], int const periods[], int reorder, MPI_Comm* made) {
    std::vector<int> changed(periods, periods + std::max(n, 0));
    changed.reserve(1); // no null pointer
    if (planted == fault::cart_create_second_period && n > 1) changed[1] = 0;
    int const code = PMPI_Cart_create(comm, n, dims, changed.data(), reorder, made);
    if (planted == fault::wrong_argument_unnoticed) return MPI_SUCCESS;
    if (planted == fault::cart_create_outside && *made == MPI_COMM_NULL && code == MPI_SUCCESS)
        return PMPI_Cart_create(MPI_COMM_SELF, 0, dims, periods, 0, made);
    if (planted == fault::cart_create_no_dimensions && n == 0 && *made != MPI_COMM_NULL) {
        PMPI_Comm_free(made);
        return PMPI_Comm_dup(MPI_COMM_SELF, made);
    }
    return code;
}

int MPI_Cartdim_get(MPI_Comm comm, int* n) {
    int const code = PMPI_Cartdim_get(comm, n);
    if (planted == fault::cartdim_zero && *n == 0) *n = 1;
    return code;
}

int MPI_Cart_get(MPI_Comm comm, int n, int dims[], int periods[], int own[]) {
    int const code = PMPI_Cart_get(comm, n, dims, periods, own);
    if (planted == fault::cart_get_dims && n > 1) std::swap(dims[0], dims[1]);
    if (planted == fault::cart_get_last_period && n > 0) periods[n - 1] = periods[n - 1] == 0 ? 1 : 0;
    if (planted == fault::cart_get_coordinates && n > 0) std::fill_n(own, n, 0);
    if (planted == fault::cart_get_beyond) own[n] = 0;
    return code;
}

int MPI_Cart_rank(MPI_Comm comm, int const coordinates[], int* rank) {
    int kind = MPI_UNDEFINED;
    PMPI_Topo_test(comm, &kind);
    if (kind != MPI_CART) return PMPI_Cart_rank(comm, coordinates, rank);
    grid const g(comm);
    std::vector<int> changed;
    changed.reserve(1); // no null pointer
    for (int d = 0; d < g.n; ++d) changed.push_back(coordinates[d]);
    if (planted == fault::cart_rank_negative)
        for (auto& one : changed) one = std::max(one, 0);
    if (planted == fault::cart_rank_once_around)
        for (std::size_t d = 0; d < changed.size(); ++d)
            if (changed[d] >= 2 * g.dims[d]) changed[d] = 0;
    int const code = PMPI_Cart_rank(comm, changed.data(), rank);
    if (planted == fault::cart_rank_column_major) {
        *rank = 0;
        for (std::size_t d = changed.size(); d-- > 0;)
            *rank = *rank * g.dims[d] + (changed[d] % g.dims[d] + g.dims[d]) % g.dims[d];
    }
    return code;
}

int MPI_Cart_sub(MPI_Comm comm, int const remain[], MPI_Comm* made) {
    grid const g(comm);
    int const code = PMPI_Cart_sub(comm, remain, made);
    if (*made == MPI_COMM_NULL) return code;
    int const kept = static_cast<int>(std::count_if(remain, remain + g.n, [](int r) { return r != 0; }));
    if (planted == fault::cart_sub_nothing && kept == 0) {
        PMPI_Comm_free(made);
        return PMPI_Comm_dup(MPI_COMM_SELF, made);
    }
    grid const part(*made);
    MPI_Comm old = *made;
    int rank = 0;
    PMPI_Comm_rank(old, &rank);
    if (planted == fault::cart_sub_periods && kept > 0) {
        std::vector<int> const none(static_cast<std::size_t>(kept), 0);
        PMPI_Cart_create(old, kept, part.dims.data(), none.data(), 0, made);
        PMPI_Comm_free(&old);
    }
    if (planted == fault::cart_sub_order && kept > 0) {
        MPI_Comm turned = MPI_COMM_NULL;
        PMPI_Comm_split(old, 0, -rank, &turned);
        PMPI_Cart_create(turned, kept, part.dims.data(), part.periods.data(), 0, made);
        PMPI_Comm_free(&turned);
        PMPI_Comm_free(&old);
    }
    return code;
}

int MPI_Dims_create(int nodes, int n, int dims[]) {
    std::vector<int> const given(dims, dims + n);
    int const code = PMPI_Dims_create(nodes, n, dims);
    if (planted == fault::wrong_argument_unnoticed) return MPI_SUCCESS;
    bool const free = std::all_of(given.begin(), given.end(), [](int d) { return d == 0; });
    if (planted == fault::dims_ascending && free) std::reverse(dims, dims + n);
    if (planted == fault::dims_given_moved && !free && n > 1) std::sort(dims, dims + n, std::greater<>());
    if (planted == fault::dims_product && n > 2) dims[n - 1] += 1;
    if (planted == fault::dims_none && n == 0) return MPI_ERR_DIMS;
    if (planted == fault::dims_one_long && free && n > 1) {
        std::fill_n(dims, n, 1);
        dims[0] = nodes;
    }
    return code;
}

// ---- Graphs

int MPI_Graph_create(MPI_Comm comm, int n, int const index[], int const edges[], int reorder, MPI_Comm* made) {
    std::vector<int> changed(edges, edges + (n > 0 ? index[n - 1] : 0));
    changed.reserve(1); // no null pointer
    if (planted == fault::graph_edges_sorted)
        for (int i = 0; i < n; ++i) std::sort(changed.begin() + (i > 0 ? index[i - 1] : 0), changed.begin() + index[i]);
    int const code = PMPI_Graph_create(comm, n, index, changed.data(), reorder, made);
    if (planted == fault::wrong_argument_unnoticed) return MPI_SUCCESS;
    if (planted == fault::graph_create_outside && n > 0 && *made == MPI_COMM_NULL)
        return PMPI_Comm_dup(MPI_COMM_SELF, made);
    if (planted == fault::graph_create_empty && n == 0) return PMPI_Comm_dup(MPI_COMM_SELF, made);
    return code;
}

int MPI_Graphdims_get(MPI_Comm comm, int* nodes, int* edges) {
    int const code = PMPI_Graphdims_get(comm, nodes, edges);
    if (planted == fault::graphdims_swapped) std::swap(*nodes, *edges);
    return code;
}

int MPI_Graph_get(MPI_Comm comm, int room, int edge_room, int index[], int edges[]) {
    int const code = PMPI_Graph_get(comm, room, edge_room, index, edges);
    if (planted == fault::graph_get_degrees)
        for (int i = room - 1; i > 0; --i) index[i] -= index[i - 1];
    if (planted == fault::graph_get_last_edge && edge_room > 1) edges[edge_room - 1] = edges[0];
    return code;
}

int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* count) {
    int const code = PMPI_Graph_neighbors_count(comm, rank, count);
    if (planted != fault::graph_count_distinct || code != MPI_SUCCESS) return code;
    std::vector<int> all(static_cast<std::size_t>(*count));
    PMPI_Graph_neighbors(comm, rank, *count, all.data());
    std::sort(all.begin(), all.end());
    *count = static_cast<int>(std::unique(all.begin(), all.end()) - all.begin());
    return code;
}

int MPI_Graph_neighbors(MPI_Comm comm, int rank, int room, int neighbors[]) {
    int own = 0;
    PMPI_Comm_rank(comm, &own);
    if (planted == fault::graph_neighbors_own) {
        int count = 0;
        PMPI_Graph_neighbors_count(comm, own, &count);
        return PMPI_Graph_neighbors(comm, own, std::min(room, count), neighbors);
    }
    return PMPI_Graph_neighbors(comm, rank, room, neighbors);
}

int MPI_Graph_map(MPI_Comm comm, int n, int const index[], int const edges[], int* rank) {
    int const code = PMPI_Graph_map(comm, n, index, edges, rank);
    if (planted == fault::graph_map_same && *rank != MPI_UNDEFINED) *rank = 0;
    if (planted == fault::graph_map_everybody && *rank == MPI_UNDEFINED) *rank = 0;
    return code;
}

// ---- Distributed graphs

int MPI_Dist_graph_create(MPI_Comm comm, int n, int const sources[], int const degrees[], int const destinations[],
                          int const weights[], MPI_Info info, int reorder, MPI_Comm* made) {
    if (planted == fault::dist_graph_own_edges) {
        auto const kept = keep_own(comm, n, sources, degrees, destinations, weights);
        return PMPI_Dist_graph_create(comm, static_cast<int>(kept.sources.size()), kept.sources.data(),
                                      kept.degrees.data(), kept.destinations.data(),
                                      weights == MPI_UNWEIGHTED ? MPI_UNWEIGHTED : kept.weights.data(), info, reorder,
                                      made);
    }
    if (planted == fault::dist_graph_unweighted) weights = MPI_UNWEIGHTED;
    return PMPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder, made);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, int const sources[], int const source_weights[], int out,
                                   int const destinations[], int const weights[], MPI_Info info, int reorder,
                                   MPI_Comm* made) {
    if (planted == fault::dist_graph_foreign_refused && info != MPI_INFO_NULL) {
        *made = MPI_COMM_NULL;
        return MPI_ERR_INFO;
    }
    return PMPI_Dist_graph_create_adjacent(comm, in, sources, source_weights, out, destinations, weights, info, reorder,
                                           made);
}

int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int* in, int* out, int* weighted) {
    int const code = PMPI_Dist_graph_neighbors_count(comm, in, out, weighted);
    if (planted == fault::dist_graph_weighted) *weighted = 1;
    if (planted == fault::dist_graph_counts_swapped) std::swap(*in, *out);
    return code;
}

int MPI_Dist_graph_neighbors(MPI_Comm comm, int in, int sources[], int source_weights[], int out, int destinations[],
                             int weights[]) {
    static memory<int> calls;
    int const code = PMPI_Dist_graph_neighbors(comm, in, sources, source_weights, out, destinations, weights);
    if (planted == fault::dist_graph_sorted) {
        std::sort(sources, sources + in);
        std::sort(destinations, destinations + out);
    }
    if (planted == fault::dist_graph_rotates && ++*calls % 2 == 0 && out > 1) {
        std::rotate(destinations, destinations + 1, destinations + out);
        if (weights != MPI_UNWEIGHTED) std::rotate(weights, weights + 1, weights + out);
    }
    if (planted == fault::dist_graph_weights_swapped && weights != MPI_UNWEIGHTED && out > 1)
        std::swap(weights[0], weights[1]);
    return code;
}

int MPI_Cart_shift(MPI_Comm comm, int direction, int displacement, int* source, int* destination) {
    int const code = PMPI_Cart_shift(comm, direction, displacement, source, destination);
    if (planted == fault::cart_shift_swapped && code == MPI_SUCCESS) std::swap(*source, *destination);
    return code;
}

int MPI_Cart_map(MPI_Comm comm, int dimensions, int const dims[], int const periods[], int* rank) {
    int const code = PMPI_Cart_map(comm, dimensions, dims, periods, rank);
    if (planted == fault::cart_map_same && *rank != MPI_UNDEFINED) *rank = 0;
    if (planted == fault::cart_map_everybody && *rank == MPI_UNDEFINED) MPI_Comm_rank(comm, rank);
    return code;
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int dimensions, int coordinates[]) {
    int const code = PMPI_Cart_coords(comm, rank, dimensions, coordinates);
    if (planted == fault::cart_coords_plus_one && dimensions > 0) coordinates[0] += 1;
    return code;
}

} // extern "C"
