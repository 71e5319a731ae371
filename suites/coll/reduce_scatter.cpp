// MPI_Reduce_scatter_block and MPI_Reduce_scatter (MPI-5.0 section 6.10).
#include "suites/coll/operation.hpp"

#include "mpi_calls.hpp"

using namespace assay;
using namespace assay::coll;

namespace {

axis<bool> const parts("parts", {{{"block", "", "MPI_Reduce_scatter_block", nullptr}, false},
                                 {{"uneven", "", "MPI_Reduce_scatter, blocks of different size", nullptr}, true}});

// The elements that each process of the own group receives. Both groups of an intercommunicator reduce vectors of the same
// length, a multiple of both sizes.
std::vector<int> block_counts(test_run const& mpi, bool uneven) {
    auto const n = static_cast<std::size_t>(mpi.size);
    std::vector<int> counts(n, mpi.inter ? mpi.count * (std::lcm(mpi.size, mpi.remote_size) / mpi.size) : mpi.count);
    if (uneven) // of two neighbours the first gives half to the second
        for (std::size_t i = 0; i + 1 < n; i += 2) {
            int const moved = (counts[i] + 1) / 2;
            counts[i] -= moved;
            counts[i + 1] += moved;
        }
    return counts;
}

} // namespace

ASSAY_TEST(coll, reduce_scatter,
           requirements{"coll.reduce_scatter.result", "coll.op.predefined", "coll.op.loc", "coll.op.user",
                        "coll.op.order", "coll.in_place", "coll.intercommunicator.all", "coll.nonblocking",
                        "coll.persistent"},
           over(axis_use{&parts}, reducing(), axis_use{&starts()}, axis_use{&in_place_axis()}, communicators::usable(),
                datatypes::all(), counts::ladder(), placements::all()),
           reducible(), in_place_needs_intra(), fits_memory(true)) {
    case_op const op(mpi);
    bool const in_place = mpi.at(in_place_axis()), uneven = mpi.at(parts);
    auto const counts = block_counts(mpi, uneven);
    auto const mine = counts.begin() + mpi.rank;
    auto const first = static_cast<std::size_t>(std::accumulate(counts.begin(), mine, 0)),
               own = static_cast<std::size_t>(*mine),
               total = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
    auto& out = mpi.unfilled(in_place ? 0 : total);
    auto& in = mpi.unfilled(in_place ? total : own);
    void* const send = in_place ? MPI_IN_PLACE : out.address();
    for (calling c(mpi); c.next();) {
        contributions data(mpi, total, c.round);
        (in_place ? out : in).poison();
        (in_place ? in : out).fill(data.operand());
        if (uneven)
            ASSAY_COLLECTIVE(c, Reduce_scatter, Ireduce_scatter, send, in, counts.data(), mpi.type, op, mpi.comm);
        else
            ASSAY_COLLECTIVE(c, Reduce_scatter_block, Ireduce_scatter_block, send, in, counts[0], mpi.type, op,
                             mpi.comm);
        // The standard does not say what becomes of the rest of an input that lay in the receive buffer.
        auto const rest = in_place ? as_it_is(in, mpi.map, own, total - own) : std::vector<unsigned char>();
        in.expect(std::array{data.result(first, own), segment{own, in.count() - own, 0, rest.data()}},
                  "of the reduction");
        out.expect_unchanged();
    }
}
