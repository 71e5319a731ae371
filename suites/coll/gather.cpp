// Keller: "Gather"; MPI_Gather and MPI_Gatherv (MPI-5.0 section 6.5).
#include "suites/coll/algorithm.hpp"
#include "suites/coll/collective.hpp"

using namespace assay;
using namespace assay::coll;

ASSAY_TEST(coll, gather,
           requirements{"coll.gather.data", "coll.gather.displacements", "coll.gather.not_significant", "coll.in_place",
                        "coll.intercommunicator.root", "coll.signature", "coll.nonblocking", "coll.persistent",
                        "coll.large_count"},
           over(only(forms(), of_one_block), axis_use{&starts()}, axis_use{&roots()}, axis_use{&in_place_axis()},
                axis_use{&block_axis()}, axis_use{&ignored_axis()}, communicators::usable(), datatypes::all(),
                counts::ladder(), placements::all()),
           in_place_needs_intra(), block_fits_type(), fits_memory(true), thread_safe{}) {
    auto const f = mpi.at(forms());
    auto const root = root_of(mpi);
    ignored const other(mpi);
    bool const in_place = mpi.at(in_place_axis()) && root.here, sends = root.other_side && !in_place;
    auto const own = block_size(f, mpi.elements, mpi.rank);
    auto& out = mpi.unfilled(sends ? own : 0);
    block const described(mpi, own);
    blocks const places(f, mpi.elements, root.here ? root.partners : 0);
    auto& in = mpi.unfilled(places.room);

    void* const send = in_place ? MPI_IN_PLACE : out.address();
    int const send_count = sends ? described.count : in_place ? other.count(0) : 0;
    auto const send_type = sends ? described.type : in_place ? other.type(mpi.type) : mpi.type;
    void* const receive = root.here ? in.address() : other.address(in);
    int const receive_count = root.here ? mpi.count : other.count(mpi.count);
    auto const receive_type = root.here ? mpi.type : other.type(mpi.type);
    auto const counts = root.here ? ints(places.counts) : other.array(places.counts),
               displacements = root.here ? ints(places.displacements) : other.array(places.displacements);
    for (calling c(mpi); c.next();) {
        auto const key = [&](int from) {
            return mpi.key(mpi.inter ? 1 - root.side : 0, from, root.side, root.rank, c.round);
        };
        if (sends) out.fill(key(mpi.rank));
        else out.poison();
        if (in_place) in.fill(places.at(mpi.rank, key(mpi.rank)));
        else in.poison();
        if (f == form::plain)
            ASSAY_COLLECTIVE(c, Gather, Igather, send, send_count, send_type, receive, receive_count, receive_type,
                             root.argument, mpi.comm);
        else
            ASSAY_COLLECTIVE(c, Gatherv, Igatherv, send, send_count, send_type, receive, counts, displacements,
                             receive_type, root.argument, mpi.comm);
        if (root.here) in.expect(places.all(key), "at the root");
        else in.expect_untouched();
        out.expect_unchanged();
    }
}

ASSAY_TEST(coll, gather_algorithms, requirements{"coll.algorithms"},
           over(axis_use{&algorithms()}, only(forms(), [](form f) { return f == form::plain || f == form::v_stride; }),
                algorithm_starts(), axis_use{&roots()}, axis_use{&in_place_axis()},
                only(block_axis(), [](bool contiguous) { return !contiguous; }),
                only(ignored_axis(), [](bool garbage) { return !garbage; }), algorithm_comms(), algorithm_types(),
                algorithm_counts()),
           in_place_needs_intra()) {
    chosen_algorithm chosen(mpi, started(mpi, mpi.at(forms()) == form::plain ? "gather" : "gatherv"));
    body_coll_gather(chosen.run());
}
