// Neighborhood collective operations (MPI-5.0 sections 8.6 to 8.8): blocks travel along the edges of a topology.
#include "suites/coll/algorithm.hpp"
#include "suites/coll/collective.hpp"

#include <algorithm>
#include <numeric>

using namespace assay;
using namespace assay::coll;

namespace {

enum class pattern { allgather, alltoall };

// The neighbours of one process in the order of its buffers; -1 stands for MPI_PROC_NULL.
struct neighborhood {
    std::vector<int> from, to;
    bool cartesian;

    // What tells apart several edges between the same two processes: the position in the sender's list on a grid, where
    // what was sent one way arrives from the opposite side (section 8.6.2). Which of the blocks of several edges of a graph
    // goes where is not said (the tags of section 8.6.2 are "..."), so that these carry the same data.
    int serial_to(std::size_t k) const { return cartesian ? static_cast<int>(k) : 0; }
    int serial_from(std::size_t k) const { return cartesian ? static_cast<int>(k ^ 1) : 0; }
};

std::vector<segment> filled(blocks const& places, std::vector<int> const& peers, auto key) {
    std::vector<segment> segments;
    for (std::size_t k = 0; k < peers.size(); ++k)
        if (peers[k] >= 0) segments.push_back(places.at(static_cast<int>(k), key(k)));
    return segments;
}

// Arrays without elements have an address, too.
ints present(std::vector<int> const& v) {
    static std::vector<int> const nothing{0};
    return v.empty() ? nothing : v;
}

void gather_from_neighbours(test_run& mpi, form f, neighborhood const& here) {
    auto const size_of = [&](int rank) { return block_size(f, mpi.elements, std::max(rank, 0)); };
    std::vector<std::size_t> sizes;
    for (int source : here.from) sizes.push_back(size_of(source));
    blocks const places(f, mpi.elements, sizes);
    auto const own = size_of(mpi.rank);
    auto& out = mpi.unfilled(own);
    auto& in = mpi.unfilled(places.room);
    ints const counts(present(places.counts)), displacements(present(places.displacements));
    for (calling c(mpi); c.next();) {
        out.fill(key_of_all(mpi, 0, mpi.rank, c.round));
        in.poison();
        if (f == form::plain)
            ASSAY_COLLECTIVE(c, Neighbor_allgather, Ineighbor_allgather, out, mpi.count, mpi.type, in, mpi.count,
                             mpi.type, mpi.comm);
        else
            ASSAY_COLLECTIVE(c, Neighbor_allgatherv, Ineighbor_allgatherv, out, static_cast<int>(own), mpi.type, in,
                             counts, displacements, mpi.type, mpi.comm);
        auto const expected =
            filled(places, here.from, [&](std::size_t k) { return key_of_all(mpi, 0, here.from[k], c.round); });
        if (expected.empty()) in.expect_untouched();
        else in.expect(expected, "of the neighbors");
        out.expect_unchanged();
    }
}

void exchange_with_neighbours(test_run& mpi, form f, neighborhood const& here) {
    auto const size_of = [&](int from, int to, int serial) {
        return block_size(f, mpi.elements, (directed(f) ? 2 : 1) * std::max(from, 0) + std::max(to, 0) + serial);
    };
    std::vector<std::size_t> in_sizes, out_sizes;
    for (std::size_t k = 0; k < here.from.size(); ++k)
        in_sizes.push_back(size_of(here.from[k], mpi.rank, here.serial_from(k)));
    for (std::size_t k = 0; k < here.to.size(); ++k)
        out_sizes.push_back(size_of(mpi.rank, here.to[k], here.serial_to(k)));
    auto const in_places = incoming_blocks(f, mpi.elements, in_sizes),
               out_places = outgoing_blocks(f, mpi.elements, out_sizes);
    auto& out = mpi.unfilled(out_places.room);
    auto& in = mpi.unfilled(in_places.room);
    std::optional<block_types> sent, received;
    if (is_w(f)) {
        sent.emplace(mpi, out_places);
        received.emplace(mpi, in_places, directed(f));
    }
    ints const out_counts(present(sent ? sent->counts : out_places.counts)),
        out_displacements(present(out_places.displacements)),
        in_counts(present(received ? received->counts : in_places.counts)),
        in_displacements(present(in_places.displacements));
    for (calling c(mpi); c.next();) {
        auto const key = [&](int from, int to, int serial) { return mpi.key(0, from, 0, to, 64 * c.round + serial); };
        auto const outgoing =
            filled(out_places, here.to, [&](std::size_t k) { return key(mpi.rank, here.to[k], here.serial_to(k)); });
        if (outgoing.empty()) out.poison();
        else out.fill(outgoing);
        in.poison();
        if (f == form::plain)
            ASSAY_COLLECTIVE(c, Neighbor_alltoall, Ineighbor_alltoall, out, mpi.count, mpi.type, in, mpi.count,
                             mpi.type, mpi.comm);
        else if (sent && received)
            ASSAY_COLLECTIVE(c, Neighbor_alltoallw, Ineighbor_alltoallw, out, out_counts, sent->addresses.data(),
                             sent->types.data(), in, in_counts, received->addresses.data(), received->types.data(),
                             mpi.comm);
        else
            ASSAY_COLLECTIVE(c, Neighbor_alltoallv, Ineighbor_alltoallv, out, out_counts, out_displacements, mpi.type,
                             in, in_counts, in_displacements, mpi.type, mpi.comm);
        auto const expected = filled(in_places, here.from,
                                     [&](std::size_t k) { return key(here.from[k], mpi.rank, here.serial_from(k)); });
        if (expected.empty()) in.expect_untouched();
        else in.expect(expected, "of the neighbors");
        out.expect_unchanged();
    }
}

// Neighbours of the case's communicator. MPI_Dist_graph_create leaves their order to the library: it is asked for.
neighborhood of_catalogue(test_run& mpi) {
    auto const& entry = *mpi.comm_entry;
    neighborhood here{entry.sources(mpi.the_job.np, mpi.rank), entry.destinations(mpi.the_job.np, mpi.rank),
                      entry.cart_dims != nullptr};
    if (entry.neighbour_order_defined) return here;
    auto from = here.from, to = here.to;
    mpi.ok(MPI_Dist_graph_neighbors(mpi.comm, static_cast<int>(from.size()), from.data(), MPI_UNWEIGHTED,
                                    static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED));
    bool const same = std::is_permutation(from.begin(), from.end(), here.from.begin()) &&
                      std::is_permutation(to.begin(), to.end(), here.to.begin());
    mpi.check(same, finding::value,
              "MPI_Dist_graph_neighbors gives other neighbors than those that the graph was made of");
    if (same) here = {from, to, false};
    return here;
}

// ---- Topologies that the catalogue of communicators does not have

struct topology {
    std::vector<int> (*dims)(int np) = nullptr; // of a grid
    std::vector<int> periods = {};
    std::vector<int> (*from)(int np, int rank) = nullptr; // of a graph
    std::vector<int> (*to)(int np, int rank) = nullptr;
    enum class maker { cart, graph, adjacent, weighted } how = maker::cart;
};

std::vector<int> nobody(int, int) { return {}; }
std::vector<int> everybody(int np, int) {
    std::vector<int> ranks(static_cast<std::size_t>(np));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}
std::vector<int> backwards(int np, int rank) {
    auto ranks = everybody(np, rank);
    std::reverse(ranks.begin(), ranks.end());
    return ranks;
}
std::vector<int> twofold(int np, int rank) {
    int const next = (rank + 1) % np, before = (rank + np - 1) % np;
    return {rank, next, before, before, next};
}

std::string odd(job const& j) {
    return j.np % 2 == 0 ? "" : "needs an even number of ranks; this job has " + std::to_string(j.np);
}

axis<topology> const topologies(
    "topology",
    {{{"line", "one dimension, not periodic"}, {.dims = [](int np) { return std::vector{np}; }, .periods = {0}}},
     {{"ring", "one dimension, periodic"}, {.dims = [](int np) { return std::vector{np}; }, .periods = {1}}},
     {{"loops", "a line, and a second dimension that is periodic and has one process"},
      {.dims =
           [](int np) {
               return std::vector{np, 1};
           },
       .periods = {0, 1}}},
     {{"pairs", "a second dimension that is periodic and has two processes", odd},
      {.dims =
           [](int np) {
               return std::vector{np / 2, 2};
           },
       .periods = {1, 1}}},
     {{"point", "no dimensions: one process without neighbors"},
      {.dims = [](int) { return std::vector<int>(); }, .periods = {}}},
     {{"twofold", "MPI_Graph_create: a ring of double edges, and a self-loop at each process"},
      {.from = twofold, .to = twofold, .how = topology::maker::graph}},
     {{"none", "a distributed graph without edges"}, {.from = nobody, .to = nobody, .how = topology::maker::adjacent}},
     {{"hub", "a distributed graph in which all send to process 0, the only one that receives"},
      {.from = [](int np, int rank) { return rank == 0 ? backwards(np, rank) : nobody(np, rank); },
       .to = [](int, int) { return std::vector{0}; },
       .how = topology::maker::adjacent}},
     {{"spread", "a distributed graph in which only the last process sends, to all"},
      {.from = [](int np, int) { return std::vector{np - 1}; },
       .to = [](int np, int rank) { return rank == np - 1 ? backwards(np, rank) : nobody(np, rank); },
       .how = topology::maker::adjacent}},
     {{"dense", "a distributed graph of all edges, in order of the ranks"},
      {.from = everybody, .to = everybody, .how = topology::maker::adjacent}},
     {{"crossed", "the same, with the sources in the opposite order"},
      {.from = backwards, .to = everybody, .how = topology::maker::adjacent}},
     {{"fivefold", "a distributed graph of five edges from each process to the next"},
      {.from = [](int np, int rank) { return std::vector(5, (rank + np - 1) % np); },
       .to = [](int np, int rank) { return std::vector(5, (rank + 1) % np); },
       .how = topology::maker::adjacent}},
     {{"33fold", "the same with 33 edges"},
      {.from = [](int np, int rank) { return std::vector(33, (rank + np - 1) % np); },
       .to = [](int np, int rank) { return std::vector(33, (rank + 1) % np); },
       .how = topology::maker::adjacent}},
     {{"65fold", "the same with 65 edges"},
      {.from = [](int np, int rank) { return std::vector(65, (rank + np - 1) % np); },
       .to = [](int np, int rank) { return std::vector(65, (rank + 1) % np); },
       .how = topology::maker::adjacent}},
     {{"weighted", "a distributed graph with weights, self-loops and double edges that do not stand together"},
      {.from =
           [](int np, int rank) {
               return std::vector{rank, (rank + np - 1) % np, (rank + np - 1) % np};
           },
       .to =
           [](int np, int rank) {
               return std::vector{(rank + 1) % np, rank, (rank + 1) % np};
           },
       .how = topology::maker::weighted}}});

neighborhood of_topology(topology const& t, int np, int rank) {
    if (t.how != topology::maker::cart) return {t.from(np, rank), t.to(np, rank), false};
    auto const around = cart_neighbours(t.dims(np), t.periods, rank);
    return {around, around, true};
}

MPI_Comm made(test_run& mpi, topology const& t) {
    MPI_Comm comm = MPI_COMM_NULL;
    int const np = mpi.size;
    if (t.how == topology::maker::cart) {
        auto shape = t.dims(np), periods = t.periods;
        int const n = static_cast<int>(shape.size());
        shape.push_back(0); // an array of no dimensions has an address, too
        periods.push_back(0);
        mpi.ok(MPI_Cart_create(mpi.comm, n, shape.data(), periods.data(), 0, &comm));
    } else if (t.how == topology::maker::graph) {
        std::vector<int> index, edges;
        for (int rank = 0; rank < np; ++rank) {
            auto const mine = t.to(np, rank);
            edges.insert(edges.end(), mine.begin(), mine.end());
            index.push_back(static_cast<int>(edges.size()));
        }
        mpi.ok(MPI_Graph_create(mpi.comm, np, index.data(), edges.data(), 0, &comm));
    } else {
        auto from = t.from(np, mpi.rank), to = t.to(np, mpi.rank);
        auto const sources = static_cast<int>(from.size()), destinations = static_cast<int>(to.size());
        from.push_back(0); // as above
        to.push_back(0);
        std::vector<int> in_weights(from.size()), out_weights(to.size());
        std::iota(in_weights.begin(), in_weights.end(), 1);
        std::iota(out_weights.begin(), out_weights.end(), 100);
        bool const weighted = t.how == topology::maker::weighted;
        mpi.ok(MPI_Dist_graph_create_adjacent(mpi.comm, sources, from.data(),
                                              weighted ? in_weights.data() : MPI_UNWEIGHTED, destinations, to.data(),
                                              weighted ? out_weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    }
    return comm;
}

axis<pattern> const kinds("operation", {{{"allgather", "MPI_Neighbor_allgather and its like"}, pattern::allgather},
                                        {{"alltoall", "MPI_Neighbor_alltoall and its like"}, pattern::alltoall}});

} // namespace

ASSAY_TEST(coll, neighbor_allgather,
           requirements{"neighbor.allgather.data", "neighbor.allgather.displacements", "neighbor.proc_null",
                        "neighbor.graph.order", "neighbor.dist_graph.order", "neighbor.nonblocking",
                        "neighbor.persistent", "coll.large_count"},
           over(only(forms(), of_one_block), axis_use{&starts()}, communicators::topologies(), datatypes::all(),
                algorithm_counts(), placements::all()),
           fits_memory(true), thread_safe{}) {
    gather_from_neighbours(mpi, mpi.at(forms()), of_catalogue(mpi));
}

ASSAY_TEST(coll, neighbor_alltoall,
           requirements{"neighbor.alltoall.data", "neighbor.alltoall.displacements", "neighbor.alltoall.directions",
                        "neighbor.alltoall.types", "neighbor.proc_null", "neighbor.cartesian.opposite",
                        "neighbor.graph.order", "neighbor.dist_graph.order", "neighbor.nonblocking",
                        "neighbor.persistent", "coll.large_count"},
           over(axis_use{&forms()}, axis_use{&starts()}, communicators::topologies(), datatypes::all(),
                algorithm_counts(), placements::all()),
           fits_memory(true), thread_safe{}) {
    exchange_with_neighbours(mpi, mpi.at(forms()), of_catalogue(mpi));
}

ASSAY_TEST(coll, neighbor_topology,
           requirements{"neighbor.cartesian.order", "neighbor.cartesian.opposite", "neighbor.proc_null",
                        "neighbor.none", "neighbor.repeated", "neighbor.dense", "neighbor.directed"},
           over(axis_use{&kinds}, axis_use{&topologies}, axis_use{&forms()}, axis_use{&starts()},
                communicators::world(), datatypes::of({"int", "vector_int"}),
                only(count_ladder(), [](count_value const& c) { return c.n == 0 || c.n == 17 || c.n == 65536; })),
           where(kinds, forms(), [](pattern p, form f) { return p == pattern::alltoall || of_one_block(f); }),
           where(topologies, count_ladder(),
                 [](topology const& t, count_value const& c) {
                     return c.n <= 17 || t.to == nullptr || t.to(2, 0).size() < 30; // many blocks or large ones
                 }),
           thread_safe{}) {
    auto const& t = mpi.at(topologies);
    MPI_Comm comm = made(mpi, t);
    int const members = t.how == topology::maker::cart && t.dims(mpi.size).empty() ? 1 : mpi.size;
    bool const member = mpi.rank < members;
    if (!mpi.check((comm != MPI_COMM_NULL) == member, finding::value,
                   "MPI_COMM_NULL is for processes outside of a grid only"))
        return;
    if (!member) return;
    auto const here = of_topology(t, mpi.size, mpi.rank);
    auto& there = mpi.on(comm, {.rank = mpi.rank, .size = members});
    if (mpi.at(kinds) == pattern::allgather) gather_from_neighbours(there, mpi.at(forms()), here);
    else exchange_with_neighbours(there, mpi.at(forms()), here);
    mpi.ok(MPI_Comm_free(&comm));
}

ASSAY_TEST(coll, neighbor_algorithms, requirements{"coll.algorithms"},
           over(axis_use{&algorithms()}, axis_use{&kinds}, axis_use{&forms()}, algorithm_starts(),
                communicators::cartesian(), algorithm_types(), algorithm_counts()),
           where(kinds, forms(), [](pattern p, form f) { return p == pattern::alltoall || of_one_block(f); })) {
    auto const f = mpi.at(forms());
    auto const* const letter = f == form::plain ? "" : is_w(f) ? "w" : "v";
    bool const gathers = mpi.at(kinds) == pattern::allgather;
    chosen_algorithm chosen(mpi,
                            started(mpi, (gathers ? std::string("neighbor_allgather") : "neighbor_alltoall") + letter));
    auto const here = of_catalogue(mpi);
    if (gathers) gather_from_neighbours(chosen.run(), f, here);
    else exchange_with_neighbours(chosen.run(), f, here);
}
