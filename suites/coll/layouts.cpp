// Processes that describe their blocks in different ways: only the type signature has to be the same (MPI-5.0 sections 6.1,
// 6.4 to 6.8).
#include "suites/coll/algorithm.hpp"
#include "suites/coll/collective.hpp"
#include "suites/common/described.hpp"

using namespace assay;
using namespace assay::coll;

namespace {

enum class move { bcast, gather, scatter, allgather, alltoall, gatherv, scatterv, allgatherv, alltoallv, alltoallw };
axis<move> const moves("move", {{{"bcast", "MPI_Bcast"}, move::bcast},
                                {{"gather", "MPI_Gather"}, move::gather},
                                {{"scatter", "MPI_Scatter"}, move::scatter},
                                {{"allgather", "MPI_Allgather"}, move::allgather},
                                {{"alltoall", "MPI_Alltoall"}, move::alltoall},
                                {{"gatherv", "MPI_Gatherv"}, move::gatherv},
                                {{"scatterv", "MPI_Scatterv"}, move::scatterv},
                                {{"allgatherv", "MPI_Allgatherv"}, move::allgatherv},
                                {{"alltoallv", "MPI_Alltoallv"}, move::alltoallv},
                                {{"alltoallw", "MPI_Alltoallw"}, move::alltoallw}});
// The call that moves the same without counts for each process.
move plain(move m) {
    switch (m) {
    case move::gatherv: return move::gather;
    case move::scatterv: return move::scatter;
    case move::allgatherv: return move::allgather;
    case move::alltoallv:
    case move::alltoallw: return move::alltoall;
    default: return m;
    }
}

char const* name_of(move m) {
    switch (m) {
    case move::bcast: return "bcast";
    case move::gather: return "gather";
    case move::scatter: return "scatter";
    case move::allgather: return "allgather";
    case move::alltoall: return "alltoall";
    case move::gatherv: return "gatherv";
    case move::scatterv: return "scatterv";
    case move::allgatherv: return "allgatherv";
    case move::alltoallv: return "alltoallv";
    case move::alltoallw: return "alltoallw";
    }
    return "";
}

// Which description process i uses for what it sends; what it receives it describes in the next but one way.
struct turn {
    int first, step, ways;
    description of(int rank, int further) const {
        return static_cast<description>((first + step * rank + further) % ways);
    }
};
axis<turn> const turns("turn", {{{"0", "process i uses description i of five"}, {0, 1, 5}},
                                {{"1", "process i uses description i + 1 of five"}, {1, 1, 5}},
                                {{"3", "process i uses description 3 i of five"}, {0, 3, 5}},
                                {{"5", "process i uses description i + 5 of nine"}, {5, 1, 9}},
                                {{"7", "process i uses description 2 i + 7 of nine"}, {7, 2, 9}}});

// What a call with counts wants of `n` equal blocks.
struct array_arguments {
    array_arguments(described const& as, int n)
        : counts(static_cast<std::size_t>(n), as.n()),
          displacements(static_cast<std::size_t>(n)),
          bytes(static_cast<std::size_t>(n)),
          types(static_cast<std::size_t>(n), as.type) {
        for (int i = 0; i < n; ++i) {
            displacements[static_cast<std::size_t>(i)] = i * as.n();
            bytes[static_cast<std::size_t>(i)] = static_cast<int>(i * as.n() * as.map.extent());
        }
    }
    std::vector<int> counts, displacements, bytes;
    std::vector<MPI_Datatype> types;
};

} // namespace

ASSAY_TEST(coll, layouts, requirements{"coll.signature", "coll.type_maps"},
           over(axis_use{&moves}, axis_use{&turns}, axis_use{&starts()}, axis_use{&roots()},
                communicators::of({"world", "reversed"}), datatypes::of({"int", "double"}),
                only(count_ladder(), [](count_value const& c) { return c.n <= 1 || c.n == 17 || c.n == 8192; })),
           thread_safe{}) {
    auto const called = mpi.at(moves), how = plain(called);
    auto const turn = mpi.at(turns);
    int const n = mpi.size;
    auto const root = root_of(mpi);
    described const sent(mpi, turn.of(mpi.rank, 0)), received(mpi, turn.of(mpi.rank, 2));
    array_arguments const out_blocks(sent, n), in_blocks(received, n);
    ints const out_counts(out_blocks.counts), out_places(out_blocks.displacements), out_bytes(out_blocks.bytes),
        in_counts(in_blocks.counts), in_places(in_blocks.displacements), in_bytes(in_blocks.bytes);
    bool const all = how == move::allgather || how == move::alltoall;
    bool const sends = how == move::gather || how == move::allgather || all || root.here,
               receives = how != move::gather || root.here;
    auto& out = sent.room(!sends ? 0 : how == move::alltoall || how == move::scatter ? n : 1);
    auto& in = received.room(!receives ? 0 : all || how == move::gather ? n : 1);
    for (calling c(mpi); c.next();) {
        auto const to_all = [&](int from) { return key_of_all(mpi, 0, from, c.round); };
        auto const between = [&](int from, int to) { return mpi.key(0, from, 0, to, c.round); };
        std::vector<segment> expected, given;
        for (int i = 0; i < n; ++i) switch (how) {
            case move::gather:
                if (root.here) expected.push_back(received.block(i, to_all(i)));
                break;
            case move::allgather: expected.push_back(received.block(i, to_all(i))); break;
            case move::scatter:
                if (root.here) given.push_back(sent.block(i, between(mpi.rank, i)));
                break;
            case move::alltoall:
                expected.push_back(received.block(i, between(i, mpi.rank)));
                given.push_back(sent.block(i, between(mpi.rank, i)));
                break;
            default: break; // MPI_Bcast has no blocks
            }
        if (how == move::gather || how == move::allgather) given.push_back(sent.block(0, to_all(mpi.rank)));
        if (how == move::scatter) expected.push_back(received.block(0, between(root.rank, mpi.rank)));
        if (how == move::bcast)
            (root.here ? given : expected).push_back((root.here ? sent : received).block(0, to_all(root.rank)));
        in.poison();
        if (given.empty()) out.poison();
        else out.fill(given);
        switch (called) {
        case move::bcast:
            if (root.here) ASSAY_COLLECTIVE(c, Bcast, Ibcast, out.address(), sent.n(), sent.type, root.rank, mpi.comm);
            else ASSAY_COLLECTIVE(c, Bcast, Ibcast, in.address(), received.n(), received.type, root.rank, mpi.comm);
            break;
        case move::gather:
            ASSAY_COLLECTIVE(c, Gather, Igather, out, sent.n(), sent.type, in, received.n(), received.type, root.rank,
                             mpi.comm);
            break;
        case move::scatter:
            ASSAY_COLLECTIVE(c, Scatter, Iscatter, out, sent.n(), sent.type, in, received.n(), received.type, root.rank,
                             mpi.comm);
            break;
        case move::allgather:
            ASSAY_COLLECTIVE(c, Allgather, Iallgather, out, sent.n(), sent.type, in, received.n(), received.type,
                             mpi.comm);
            break;
        case move::alltoall:
            ASSAY_COLLECTIVE(c, Alltoall, Ialltoall, out, sent.n(), sent.type, in, received.n(), received.type,
                             mpi.comm);
            break;
        case move::gatherv:
            ASSAY_COLLECTIVE(c, Gatherv, Igatherv, out, sent.n(), sent.type, in, in_counts, in_places, received.type,
                             root.rank, mpi.comm);
            break;
        case move::scatterv:
            ASSAY_COLLECTIVE(c, Scatterv, Iscatterv, out, out_counts, out_places, sent.type, in, received.n(),
                             received.type, root.rank, mpi.comm);
            break;
        case move::allgatherv:
            ASSAY_COLLECTIVE(c, Allgatherv, Iallgatherv, out, sent.n(), sent.type, in, in_counts, in_places,
                             received.type, mpi.comm);
            break;
        case move::alltoallv:
            ASSAY_COLLECTIVE(c, Alltoallv, Ialltoallv, out, out_counts, out_places, sent.type, in, in_counts, in_places,
                             received.type, mpi.comm);
            break;
        case move::alltoallw:
            ASSAY_COLLECTIVE(c, Alltoallw, Ialltoallw, out, out_counts, out_bytes, out_blocks.types.data(), in,
                             in_counts, in_bytes, in_blocks.types.data(), mpi.comm);
            break;
        }
        if (expected.empty()) in.expect_untouched();
        else in.expect(expected, "of another layout");
        out.expect_unchanged();
    }
}

// The same with each algorithm that the library lets one choose.
ASSAY_TEST(coll, layouts_algorithms, requirements{"coll.algorithms", "coll.signature", "coll.type_maps"},
           over(axis_use{&algorithms()}, axis_use{&moves}, axis_use{&turns}, algorithm_starts(), axis_use{&roots()},
                communicators::of({"world", "reversed"}), datatypes::of({"int", "double"}),
                only(count_ladder(), [](count_value const& c) { return c.n <= 1 || c.n == 17 || c.n == 8192; }))) {
    chosen_algorithm chosen(mpi, started(mpi, name_of(mpi.at(moves))));
    body_coll_layouts(chosen.run());
}
