// MPI_Reduce_scatter_block and MPI_Reduce_scatter (MPI-5.0 section 6.10).
#include "suites/coll/algorithm.hpp"
#include "suites/coll/operation.hpp"

#include <algorithm>

using namespace assay;
using namespace assay::coll;

namespace {

axis<bool> const parts("parts", {{{"block", "MPI_Reduce_scatter_block"}, false},
                                 {{"uneven", "MPI_Reduce_scatter, blocks of different size"}, true}});

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
                        "coll.persistent", "coll.large_count"},
           over(axis_use{&parts}, reducing(), axis_use{&starts()}, axis_use{&in_place_axis()}, communicators::usable(),
                datatypes::all(), counts::ladder(), placements::all()),
           reducible(), in_place_needs_intra(), fits_memory(true), thread_safe{}) {
    case_op const op(mpi, mpi.at(starts()).large);
    bool const in_place = mpi.at(in_place_axis()), uneven = mpi.at(parts);
    auto const counts = block_counts(mpi, uneven);
    ints const passed(counts);
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
        if (uneven) ASSAY_COLLECTIVE(c, Reduce_scatter, Ireduce_scatter, send, in, passed, mpi.type, op, mpi.comm);
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

ASSAY_TEST(
    coll, reduce_scatter_algorithms, requirements{"coll.algorithms"},
    over(axis_use{&algorithms()}, axis_use{&parts},
         only(operations(), [](operation const& op) { return op.kind == op_kind::sum || op.kind == op_kind::affine; }),
         algorithm_starts(), axis_use{&in_place_axis()}, algorithm_comms(), algorithm_types(), algorithm_counts()),
    reducible(), in_place_needs_intra()) {
    chosen_algorithm chosen(mpi, started(mpi, mpi.at(parts) ? "reduce_scatter" : "reduce_scatter_block"),
                            mpi.at(operations()).kind == op_kind::affine);
    body_coll_reduce_scatter(chosen.run());
}

namespace {
axis<int> const givers("blocks", {{{"last", "only the last process receives something"}, 0},
                                  {{"first", "only the first process receives something"}, 1},
                                  {{"odd", "only processes of odd rank receive something"}, 2},
                                  {{"none", "nobody receives anything"}, 3},
                                  {{"growing", "process i receives i times as much"}, 4}});
bool gets(int which, int rank, int size) {
    switch (which) {
    case 0: return rank == size - 1;
    case 1: return rank == 0;
    case 2: return rank % 2 == 1;
    default: return which == 4 && rank > 0;
    }
}
} // namespace

// Where a process gets nothing it has no receive buffer; the others may have their input there (section 6.10.2).
ASSAY_TEST(coll, reduce_scatter_empty, requirements{"coll.reduce_scatter.empty", "coll.reduce_scatter.some_in_place"},
           over(axis_use{&givers}, axis_use{&starts()}, axis_use{&in_place_axis()},
                communicators::of({"world", "reversed"}), datatypes::of({"int"}),
                only(count_ladder(), [](count_value const& c) { return c.n == 1 || c.n == 17 || c.n == 65536; })),
           thread_safe{}) {
    auto const which = mpi.at(givers);
    std::vector<int> counts;
    for (int i = 0; i < mpi.size; ++i)
        counts.push_back(!gets(which, i, mpi.size) ? 0 : which == 4 ? i * mpi.count : mpi.count);
    int const total = std::accumulate(counts.begin(), counts.end(), 0),
              own = counts[static_cast<std::size_t>(mpi.rank)],
              first = std::accumulate(counts.begin(), counts.begin() + mpi.rank, 0);
    ints const passed(counts);
    bool const in_place = mpi.at(in_place_axis()) && own > 0;
    auto const value = [&](int from, int i, int round) { return (from * 1009 + i * 7 + round * 31) % 10007; };
    constexpr int poison = -77;
    std::vector<int> out(static_cast<std::size_t>(total) + 1), in(static_cast<std::size_t>(total) + 1);
    for (calling c(mpi); c.next();) {
        std::fill(in.begin(), in.end(), poison);
        for (int i = 0; i < total; ++i)
            (in_place ? in : out)[static_cast<std::size_t>(i)] = value(mpi.rank, i, c.round);
        void const* const send = in_place ? MPI_IN_PLACE : out.data();
        void* const receive = own > 0 ? in.data() : nullptr;
        ASSAY_COLLECTIVE(c, Reduce_scatter, Ireduce_scatter, send, receive, passed, MPI_INT, MPI_SUM, mpi.comm);
        for (int i = 0; i < own; ++i) {
            int right = 0;
            for (int from = 0; from < mpi.size; ++from) right += value(from, first + i, c.round);
            auto const found = in[static_cast<std::size_t>(i)];
            if (!mpi.check(found == right, finding::data,
                           "element " + std::to_string(i) + " of the sum is " + std::to_string(found) + ", expected " +
                               std::to_string(right)))
                break;
        }
        if (!in_place) // an input that lay there may become anything
            for (auto i = static_cast<std::size_t>(own); i < in.size(); ++i)
                if (!mpi.check(in[i] == poison, finding::guard, "the call wrote after the block of this process"))
                    break;
    }
}
