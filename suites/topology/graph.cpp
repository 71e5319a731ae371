// Graph topologies (MPI-5.0 sections 8.5.3, 8.5.5 and 8.5.8): each process names the whole graph.
#include "suites/comm/comm.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

using namespace assay;

namespace {

using graph = std::vector<std::vector<int>>; // the neighbours of each node

using shape = graph (*)(int n);
axis<shape> const shapes("graph", {{{"ring", "the previous and the next node"},
                                    [](int n) {
                                        graph g;
                                        for (int i = 0; i < n; ++i) g.push_back({(i + n - 1) % n, (i + 1) % n});
                                        return g;
                                    }},
                                   {{"star", "all others know node 0; it knows nobody"},
                                    [](int n) {
                                        graph g(1);
                                        for (int i = 1; i < n; ++i) g.push_back({0});
                                        return g;
                                    }},
                                   {{"loops", "each node is its own neighbour"},
                                    [](int n) {
                                        graph g;
                                        for (int i = 0; i < n; ++i) g.push_back({i});
                                        return g;
                                    }},
                                   {{"several", "several edges between two nodes, not in order"},
                                    [](int n) {
                                        graph g;
                                        for (int i = 0; i < n; ++i)
                                            g.push_back({(i + 1) % n, 0, (i + 1) % n, n - 1, 0});
                                        return g;
                                    }},
                                   {{"uneven", "node i has i neighbours"},
                                    [](int n) {
                                        graph g;
                                        for (int i = 0; i < n; ++i) {
                                            g.emplace_back();
                                            for (int k = 0; k < i; ++k) g.back().push_back((i + k) % n);
                                        }
                                        return g;
                                    }},
                                   {{"no_edges", "nodes without neighbours"},
                                    [](int n) { return graph(static_cast<std::size_t>(n)); }},
                                   {{"smaller", "one process is left over"},
                                    [](int n) {
                                        graph g;
                                        int const m = std::max(1, n - 1);
                                        for (int i = 0; i < m; ++i) g.push_back({m - 1 - i});
                                        return g;
                                    }},
                                   {{"empty", "no nodes at all"}, [](int) { return graph{}; }}});

axis<int> const reorders("reorder", {{{"0", "ranks stay"}, 0}, {{"1", "ranks may change"}, 1}});

// The arguments of MPI_Graph_create; each array has a poisoned entry after its end.
struct arrays {
    std::vector<int> index, edges;
    explicit arrays(graph const& g) {
        for (auto const& neighbours : g) {
            edges.insert(edges.end(), neighbours.begin(), neighbours.end());
            index.push_back(static_cast<int>(edges.size()));
        }
        index.push_back(-7);
        edges.push_back(-7);
    }
};

void examine(test_run& mpi, MPI_Comm comm, graph const& g, std::string const& whose) {
    arrays const expected(g);
    int kind = -7, nodes = -7, edges = -7;
    mpi.ok(MPI_Topo_test(comm, &kind));
    mpi.check(kind == MPI_GRAPH, finding::value, fmt::format("{}: MPI_Topo_test gives {}, not MPI_GRAPH", whose, kind));
    mpi.ok(MPI_Graphdims_get(comm, &nodes, &edges));
    bool const fine = expect_number(mpi, nodes, static_cast<int>(g.size()), whose + ": MPI_Graphdims_get, nodes");
    if (!expect_number(mpi, edges, static_cast<int>(expected.edges.size()) - 1, whose + ": MPI_Graphdims_get, edges") ||
        !fine)
        return;
    std::vector<int> got_index(expected.index.size(), -7), got_edges(expected.edges.size(), -7);
    mpi.ok(MPI_Graph_get(comm, nodes, edges, got_index.data(), got_edges.data()));
    mpi.check(
        got_index == expected.index, finding::value,
        fmt::format("{}: MPI_Graph_get gives the index {}, expected {}", whose, text(got_index), text(expected.index)));
    mpi.check(
        got_edges == expected.edges, finding::value,
        fmt::format("{}: MPI_Graph_get gives the edges {}, expected {}", whose, text(got_edges), text(expected.edges)));
    for (int node = 0; node < nodes; ++node) {
        auto neighbours = g[static_cast<std::size_t>(node)];
        int count = -7;
        mpi.ok(MPI_Graph_neighbors_count(comm, node, &count));
        if (!expect_number(mpi, count, static_cast<int>(neighbours.size()),
                           fmt::format("{}: MPI_Graph_neighbors_count of node {}", whose, node)))
            return;
        neighbours.push_back(-7);
        std::vector<int> got(neighbours.size(), -7);
        mpi.ok(MPI_Graph_neighbors(comm, node, count, got.data()));
        if (!mpi.check(
                got == neighbours, finding::value,
                fmt::format(
                    "{}: MPI_Graph_neighbors of node {} gives {}, expected {} (the last one lies after the array)",
                    whose, node, text(got), text(neighbours))))
            return;
    }
}

} // namespace

ASSAY_TEST(topology, graph,
           requirements{"topology.graph_create", "topology.graph_create.smaller", "topology.graph_create.empty",
                        "topology.graph_create.edges", "topology.graphdims_get", "topology.graph_get",
                        "topology.graph_neighbors", "topology.graph_neighbors_count", "topology.topo_test",
                        "topology.dup"},
           over(axis_use{&shapes}, axis_use{&reorders}, few()), thread_safe{}) {
    auto const g = mpi.at(shapes)(mpi.size);
    int const reorder = mpi.at(reorders), nodes = static_cast<int>(g.size());
    arrays const a(g);
    MPI_Comm comm = MPI_COMM_WORLD;
    if (!mpi.ok(MPI_Graph_create(mpi.comm, nodes, a.index.data(), a.edges.data(), reorder, &comm)) ||
        !mpi.check(comm != MPI_COMM_WORLD, finding::value, "MPI_Graph_create did not write the new communicator"))
        return;
    if ((reorder == 0 || nodes == 0 || nodes == mpi.size) &&
        !mpi.check((comm != MPI_COMM_NULL) == (mpi.rank < nodes), finding::value,
                   fmt::format("rank {} {} a graph of {} nodes", mpi.rank,
                               comm == MPI_COMM_NULL ? "is not in" : "is in", nodes)))
        return;
    if (comm == MPI_COMM_NULL) return;
    mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    int size = -7, rank = -7;
    mpi.ok(MPI_Comm_size(comm, &size));
    mpi.ok(MPI_Comm_rank(comm, &rank));
    expect_number(mpi, size, nodes, "the size of the graph communicator");
    if (reorder == 0) {
        auto members = local_of(mpi);
        members.resize(static_cast<std::size_t>(nodes));
        expect_communicator(mpi, comm, members, {}, "the graph communicator");
    }
    examine(mpi, comm, g, "the graph");
    MPI_Comm copy = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(comm, &copy));
    if (mpi.check(copy != MPI_COMM_NULL, finding::value, "the duplicate of the graph is MPI_COMM_NULL"))
        examine(mpi, copy, g, "the duplicate of the graph");
    free_communicator(mpi, copy);
    free_communicator(mpi, comm);
}

ASSAY_TEST(topology, graph_map, requirements{"topology.graph_map"},
           over(only(shapes, [](shape s) { return !s(3).empty(); }), few()), thread_safe{}) {
    auto const g = mpi.at(shapes)(mpi.size);
    arrays const a(g);
    int mapped = -7;
    mpi.ok(MPI_Graph_map(mpi.comm, static_cast<int>(g.size()), a.index.data(), a.edges.data(), &mapped));
    std::vector<int> all(static_cast<std::size_t>(mpi.size), -7);
    mpi.ok(MPI_Allgather(&mapped, 1, MPI_INT, all.data(), 1, MPI_INT, mpi.comm));
    auto const found = text(all);
    std::erase(all, MPI_UNDEFINED);
    std::sort(all.begin(), all.end());
    std::vector<int> expected(g.size());
    std::iota(expected.begin(), expected.end(), 0);
    mpi.check(all == expected, finding::value,
              fmt::format("MPI_Graph_map gives {} ({} is MPI_UNDEFINED): each node of {} must be there once", found,
                          MPI_UNDEFINED, g.size()));
}

namespace {
enum class misuse { too_large, edge, node, cart_query };
axis<misuse> const misuses("wrong", {{{"too_large", "more nodes than processes"}, misuse::too_large},
                                     {{"edge", "an edge to a node that is none"}, misuse::edge},
                                     {{"node", "MPI_Graph_neighbors_count of a node that is none"}, misuse::node},
                                     {{"cart_query", "MPI_Cartdim_get of a graph"}, misuse::cart_query}});
} // namespace

ASSAY_TEST(topology, graph_misuse,
           requirements{"topology.graph_create.too_large", "topology.graph_create.invalid_edge"},
           over(axis_use{&misuses}, communicators::world()), thread_safe{}) {
    auto const loops = [](int n) {
        graph g;
        for (int i = 0; i < n; ++i) g.push_back({i});
        return g;
    };
    arrays const good(loops(mpi.size)), large(loops(mpi.size + 1));
    auto bad = good;
    bad.edges[0] = mpi.size;
    MPI_Comm comm = MPI_COMM_NULL, made = MPI_COMM_NULL;
    mpi.ok(MPI_Graph_create(mpi.comm, mpi.size, good.index.data(), good.edges.data(), 0, &comm));
    mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    int code = MPI_SUCCESS, value = -7;
    erroneous_from_here();
    switch (mpi.at(misuses)) {
    case misuse::too_large:
        code = MPI_Graph_create(mpi.comm, mpi.size + 1, large.index.data(), large.edges.data(), 0, &made);
        break;
    case misuse::edge: code = MPI_Graph_create(mpi.comm, mpi.size, bad.index.data(), bad.edges.data(), 0, &made); break;
    case misuse::node: code = MPI_Graph_neighbors_count(comm, mpi.size, &value); break;
    case misuse::cart_query: code = MPI_Cartdim_get(comm, &value); break;
    }
    mpi.check(code != MPI_SUCCESS, finding::return_, "the wrong argument is not noticed: MPI_SUCCESS");
    if (code == MPI_SUCCESS) free_communicator(mpi, made);
    free_communicator(mpi, comm);
}
