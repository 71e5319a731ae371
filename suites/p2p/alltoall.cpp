// Keller: "Alltoall", -Persistent, -xIsend, -Irsend, -Issend, with MPI_ANY_SOURCE, with a topology, "Ring Send w/ Cartesian".
#include "suites/p2p/exchange.hpp"

using namespace assay;
using namespace assay::p2p;

ASSAY_TEST(p2p, alltoall, requirements{"p2p.send.data", "p2p.self", "p2p.wildcard.source", "p2p.completion"},
           over(axis_use{&modes()}, axis_use{&receives()}, axis_use{&completions()}, axis_use{&wildcard_axis()},
                communicators::usable(), datatypes::all(), counts::ladder(), placements::all()),
           sensible_receive(), sensible_completion(), blocking_needs_post(), fits_memory(true),
           where(modes(), wildcard_axis(),
                 [](send_mode const& m, wildcard const& w) { return m.kind != send_mode::kind::ready || !w.tag; }),
           wildcards{}, thread_safe{}) {
    exchange(mpi, all_to_all(mpi),
             {mpi.at(modes()), mpi.at(receives()), mpi.at(completions()), mpi.at(wildcard_axis())});
}

ASSAY_TEST(p2p, alltoall_topology, requirements{"p2p.send.data", "p2p.order.non_overtaking"},
           over(axis_use{&modes()}, axis_use{&receives()}, axis_use{&completions()}, communicators::topologies(),
                datatypes::all(), counts::ladder(), placements::all()),
           sensible_receive(), sensible_completion(), blocking_needs_post(), fits_memory(true),
           note{"along the edges of the topology"}, thread_safe{}) {
    exchange(mpi, neighbours(mpi), {mpi.at(modes()), mpi.at(receives()), mpi.at(completions())});
}

// A shift along each dimension with what MPI_Cart_shift names.
ASSAY_TEST(p2p, ring_cartesian, requirements{"p2p.send.data", "topology.cart_shift"},
           over(axis_use{&modes()}, communicators::cartesian(), datatypes::all(), counts::ladder(), placements::all()),
           fits_memory(false), thread_safe{}) {
    auto const sources = mpi.comm_entry->sources(mpi.size, mpi.rank);
    // One buffer for the messages of all dimensions, each of which may start twice.
    if (mpi.at(modes()).kind == send_mode::kind::buffered)
        mpi.attach_buffer(2 * static_cast<int>(mpi.comm_entry->cart_periods.size()));
    for (std::size_t dimension = 0; dimension < mpi.comm_entry->cart_periods.size(); ++dimension) {
        int source = -77, destination = -77;
        mpi.ok(MPI_Cart_shift(mpi.comm, static_cast<int>(dimension), 1, &source, &destination));
        auto const plain = [](int rank) { return rank == MPI_PROC_NULL ? -1 : rank; };
        mpi.check(
            plain(source) == sources[2 * dimension] && plain(destination) == sources[2 * dimension + 1], finding::value,
            "MPI_Cart_shift of dimension " + std::to_string(dimension) + " gives " + std::to_string(source) + " and " +
                std::to_string(destination) + ", by definition " + std::to_string(sources[2 * dimension]) + " and " +
                std::to_string(sources[2 * dimension + 1]) + " (-1: MPI_PROC_NULL)");
        // The messages go by definition: a wrong answer must not make the ranks wait for each other. MPI_PROC_NULL has a
        // test of its own.
        pattern shift{{sources[2 * dimension + 1]}, {sources[2 * dimension]}};
        std::erase(shift.to, -1);
        std::erase(shift.from, -1);
        exchange(mpi, shift, {mpi.at(modes()), receive_way::irecv, completion_by("wait")});
    }
}
