// Distributed graph topologies (MPI-5.0 sections 8.5.4 and 8.5.5): each process names edges of which it knows.
#include "suites/comm/comm.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

using namespace assay;

namespace {

struct edge {
    int from, to, weight;
    auto operator<=>(edge const&) const = default;
};
using graph = std::vector<edge>; // in the order in which edges are given

// Weights that tell edges apart, 0 among them.
edge weighted(int from, int to) { return {from, to, (7 * from + 3 * to) % 11}; }

using shape = graph (*)(int n);
axis<shape> const shapes("graph", {{{"ring", "to the next process"},
                                    [](int n) {
                                        graph g;
                                        for (int i = 0; i < n; ++i) g.push_back(weighted(i, (i + 1) % n));
                                        return g;
                                    }},
                                   {{"both_ways", "to the next and the previous process"},
                                    [](int n) {
                                        graph g;
                                        for (int i = 0; i < n; ++i) {
                                            g.push_back(weighted(i, (i + 1) % n));
                                            g.push_back(weighted(i, (i + n - 1) % n));
                                        }
                                        return g;
                                    }},
                                   {{"all", "from everybody to everybody, oneself too, from the last to the first"},
                                    [](int n) {
                                        graph g;
                                        for (int i = n - 1; i >= 0; --i)
                                            for (int k = n - 1; k >= 0; --k) g.push_back(weighted(i, k));
                                        return g;
                                    }},
                                   {{"several", "three edges between two processes, of two weights"},
                                    [](int n) {
                                        graph g;
                                        for (int i = 0; i < n; ++i)
                                            for (int weight : {4, 1, 4}) g.push_back({i, (i + 1) % n, weight});
                                        return g;
                                    }},
                                   {{"star", "process 0 to all others: the others send nothing"},
                                    [](int n) {
                                        graph g;
                                        for (int i = 1; i < n; ++i) g.push_back(weighted(0, i));
                                        return g;
                                    }},
                                   {{"none", "no edges"}, [](int) { return graph{}; }}});

enum class maker { adjacent, by_source, by_destination, by_rank_0, scattered };
axis<maker> const makers("by",
                         {{{"adjacent", "MPI_Dist_graph_create_adjacent"}, maker::adjacent},
                          {{"source", "MPI_Dist_graph_create, the source gives the edge"}, maker::by_source},
                          {{"destination", "MPI_Dist_graph_create, the destination gives it"}, maker::by_destination},
                          {{"rank_0", "MPI_Dist_graph_create, rank 0 gives all"}, maker::by_rank_0},
                          {{"scattered", "MPI_Dist_graph_create, edges by turns, each source as often as it has edges"},
                           maker::scattered}});

axis<bool> const weights("weights", {{{"no", "MPI_UNWEIGHTED"}, false}, {{"yes", "weighted"}, true}});
axis<int> const reorders("reorder", {{{"0", "ranks stay"}, 0}, {{"1", "ranks may change"}, 1}});

// The arrays of one direction of a process, in the order of the graph.
struct side {
    std::vector<int> others, weights;
};
side none() {
    side s;
    s.others.reserve(1); // no null pointer, not even for no edges
    s.weights.reserve(1);
    return s;
}
side incoming(graph const& g, int rank) {
    side s = none();
    for (auto const& e : g)
        if (e.to == rank) {
            s.others.push_back(e.from);
            s.weights.push_back(e.weight);
        }
    return s;
}
side outgoing(graph const& g, int rank) {
    side s = none();
    for (auto const& e : g)
        if (e.from == rank) {
            s.others.push_back(e.to);
            s.weights.push_back(e.weight);
        }
    return s;
}

int const* weights_of(bool weighted, std::vector<int> const& given) {
    return !weighted ? MPI_UNWEIGHTED : given.empty() ? MPI_WEIGHTS_EMPTY : given.data();
}

MPI_Comm make(test_run& mpi, maker how, graph const& g, bool weighted, int reorder) {
    MPI_Comm made = MPI_COMM_NULL;
    int const rank = mpi.rank;
    // An info object that nobody knows has to be ignored.
    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_Info_create(&info));
    mpi.ok(MPI_Info_set(info, "assay_unknown_hint", "1"));
    if (how == maker::adjacent) {
        auto const in = incoming(g, rank), out = outgoing(g, rank);
        mpi.ok(MPI_Dist_graph_create_adjacent(mpi.comm, static_cast<int>(in.others.size()), in.others.data(),
                                              weights_of(weighted, in.weights), static_cast<int>(out.others.size()),
                                              out.others.data(), weights_of(weighted, out.weights), info, reorder,
                                              &made));
    } else {
        std::vector<int> sources, degrees, destinations, given;
        for (auto* array : {&sources, &degrees, &destinations, &given}) array->reserve(g.size() + 1);
        for (std::size_t i = 0; i < g.size(); ++i) {
            auto const& e = g[i];
            int const teller = how == maker::by_source        ? e.from
                               : how == maker::by_destination ? e.to
                               : how == maker::by_rank_0      ? 0
                                                              : static_cast<int>(i) % mpi.size;
            if (teller != rank) continue;
            // Edges of one source in a row are one entry of degree 2, 3, …; scattered ones have an entry each.
            if (how != maker::scattered && !sources.empty() && sources.back() == e.from) ++degrees.back();
            else {
                sources.push_back(e.from);
                degrees.push_back(1);
            }
            destinations.push_back(e.to);
            given.push_back(e.weight);
        }
        mpi.ok(MPI_Dist_graph_create(mpi.comm, static_cast<int>(sources.size()), sources.data(), degrees.data(),
                                     destinations.data(), weights_of(weighted, given), info, reorder, &made));
    }
    mpi.ok(MPI_Info_free(&info));
    return made;
}

// What MPI_Dist_graph_neighbors gives; all arrays have a poisoned entry after their end.
struct answer {
    std::vector<int> sources, source_weights, destinations, destination_weights;
    auto operator<=>(answer const&) const = default;
};
answer ask(test_run& mpi, MPI_Comm comm, std::size_t in, std::size_t out, bool weighted) {
    auto const array = [](std::size_t n) { return std::vector<int>(n + 1, -7); };
    answer a{array(in), array(in), array(out), array(out)};
    mpi.ok(MPI_Dist_graph_neighbors(comm, static_cast<int>(in), a.sources.data(),
                                    weighted ? a.source_weights.data() : MPI_UNWEIGHTED, static_cast<int>(out),
                                    a.destinations.data(), weighted ? a.destination_weights.data() : MPI_UNWEIGHTED));
    return a;
}

// As pairs in ascending order: edges of one source may come in any order, with their weights.
std::vector<std::pair<int, int>> sorted(std::vector<int> const& others, std::vector<int> const& given) {
    std::vector<std::pair<int, int>> pairs;
    for (std::size_t i = 0; i < others.size(); ++i) pairs.emplace_back(others[i], given[i]);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

void expect_side(test_run& mpi, side expected, std::vector<int> const& others, std::vector<int> const& given,
                 bool weighted, bool in_order, std::string const& what) {
    expected.others.push_back(-7); // nothing is written after the end
    expected.weights.push_back(-7);
    if (!weighted) std::fill(expected.weights.begin(), expected.weights.end(), -7);
    bool const fine =
        in_order ? others == expected.others : sorted(others, given) == sorted(expected.others, expected.weights);
    mpi.check(fine, finding::order,
              fmt::format("{}: {} with weights {}, expected {} with {}{} (the last one lies after the array)", what,
                          text(others), text(given), text(expected.others), text(expected.weights),
                          in_order ? "" : " in any order"));
    // Of several edges between two processes the order of the weights is free (8.5.4): compared as pairs in any case.
    mpi.check(sorted(others, given) == sorted(expected.others, expected.weights), finding::value,
              fmt::format("{}: the weights of {} are {}, expected {} of {}", what, text(others), text(given),
                          text(expected.weights), text(expected.others)));
}

void examine(test_run& mpi, MPI_Comm comm, graph const& g, maker how, bool weighted, std::string const& whose) {
    int kind = -7, rank = -7, in_count = -7, out_count = -7, is_weighted = -7;
    mpi.ok(MPI_Topo_test(comm, &kind));
    mpi.check(kind == MPI_DIST_GRAPH, finding::value,
              fmt::format("{}: MPI_Topo_test gives {}, not MPI_DIST_GRAPH", whose, kind));
    mpi.ok(MPI_Comm_rank(comm, &rank));
    auto const in = incoming(g, rank), out = outgoing(g, rank);
    mpi.ok(MPI_Dist_graph_neighbors_count(comm, &in_count, &out_count, &is_weighted));
    bool const fine = expect_number(mpi, in_count, static_cast<int>(in.others.size()), whose + ": edges that come in");
    if (!expect_number(mpi, out_count, static_cast<int>(out.others.size()), whose + ": edges that go out") || !fine)
        return;
    expect_number(mpi, is_weighted != 0, weighted, whose + ": being weighted");
    auto const all = ask(mpi, comm, in.others.size(), out.others.size(), weighted);
    bool const in_order = how == maker::adjacent;
    expect_side(mpi, in, all.sources, all.source_weights, weighted, in_order, whose + ", sources");
    expect_side(mpi, out, all.destinations, all.destination_weights, weighted, in_order, whose + ", destinations");
    mpi.check(ask(mpi, comm, in.others.size(), out.others.size(), weighted) == all, finding::order,
              whose + ": a second call of MPI_Dist_graph_neighbors gives another sequence");
    if (weighted) {
        // Nobody has to ask for the weights.
        auto const plain = ask(mpi, comm, in.others.size(), out.others.size(), false);
        mpi.check(plain.sources == all.sources && plain.destinations == all.destinations, finding::value,
                  whose + ": MPI_UNWEIGHTED in place of the weights changes the neighbours");
    }
}

} // namespace

ASSAY_TEST(topology, dist_graph,
           requirements{"topology.dist_graph_create", "topology.dist_graph_create_adjacent",
                        "topology.dist_graph.weights", "topology.dist_graph.unweighted", "topology.dist_graph.counts",
                        "topology.dist_graph.order", "topology.dist_graph.repeatable", "topology.dist_graph.first_part",
                        "topology.dist_graph.ranks", "topology.topo_test", "topology.dup", "topology.dist_graph.info"},
           over(axis_use{&shapes}, axis_use{&makers}, axis_use{&weights}, axis_use{&reorders}, few()), thread_safe{}) {
    auto const g = mpi.at(shapes)(mpi.size);
    auto const how = mpi.at(makers);
    bool const with_weights = mpi.at(weights);
    MPI_Comm comm = make(mpi, how, g, with_weights, mpi.at(reorders));
    if (!mpi.check(comm != MPI_COMM_NULL, finding::value, "the communicator with the graph is MPI_COMM_NULL")) return;
    mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    int size = -7;
    mpi.ok(MPI_Comm_size(comm, &size));
    expect_number(mpi, size, mpi.size, "the size of the communicator with the graph");
    if (mpi.at(reorders) == 0) expect_communicator(mpi, comm, local_of(mpi), {}, "the communicator with the graph");
    examine(mpi, comm, g, how, with_weights, "the graph");
    MPI_Comm copy = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(comm, &copy));
    if (mpi.check(copy != MPI_COMM_NULL, finding::value, "the duplicate is MPI_COMM_NULL"))
        examine(mpi, copy, g, how, with_weights, "the duplicate of the graph");
    free_communicator(mpi, copy);
    free_communicator(mpi, comm);
}

// Room for less than there is: the first part of the list. By itself, since libraries refuse it.
ASSAY_TEST(topology, dist_graph_room, requirements{"topology.dist_graph.first_part"},
           over(only(shapes, [](shape s) { return s(3).size() > 2; }), axis_use{&makers}, axis_use{&weights},
                communicators::world()),
           thread_safe{}) {
    auto const g = mpi.at(shapes)(mpi.size);
    bool const with_weights = mpi.at(weights);
    MPI_Comm comm = make(mpi, mpi.at(makers), g, with_weights, 0);
    if (!mpi.check(comm != MPI_COMM_NULL, finding::value, "the communicator with the graph is MPI_COMM_NULL")) return;
    mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    auto const in = incoming(g, mpi.rank).others.size(), out = outgoing(g, mpi.rank).others.size();
    auto const all = ask(mpi, comm, in, out, with_weights);
    auto const first = [](std::vector<int> list) {
        if (list.size() > 1) list.erase(list.end() - 2); // the last one lies after the array
        return list;
    };
    answer const expected{first(all.sources), first(all.source_weights), first(all.destinations),
                          first(all.destination_weights)};
    auto const got = ask(mpi, comm, in > 0 ? in - 1 : 0, out > 0 ? out - 1 : 0, with_weights);
    mpi.check(got == expected, finding::value,
              fmt::format("with room for one less the neighbours are {} and {}, of {} and {}", text(got.sources),
                          text(got.destinations), text(all.sources), text(all.destinations)));
    free_communicator(mpi, comm);
}
