// Accumulates with three buffers, and with arguments that are ignored (MPI-5.0 section 12.3.4.2).
#include "suites/rma/int_layout.hpp"

using namespace assay;
using namespace assay::rma;

namespace {

constexpr char const* about = "ints side by side, every third one, or the last one first";
axis<form> const origin_forms("origin", {{{"plain", about}, form::plain},
                                         {{"spaced", about}, form::spaced},
                                         {{"backwards", about}, form::backwards}});
axis<form> const result_forms("result", {{{"plain", about}, form::plain},
                                         {{"spaced", about}, form::spaced},
                                         {{"backwards", about}, form::backwards}});
axis<form> const target_forms("target", {{{"plain", about}, form::plain},
                                         {{"spaced", about}, form::spaced},
                                         {{"backwards", about}, form::backwards}});
axis<bool> const fencing("sync", {{{"fence", "MPI_Win_fence"}, true}, {{"lock", "MPI_Win_lock"}, false}});
axis<bool> const requesting("by", {{{"get_accumulate", "MPI_Get_accumulate"}, false},
                                   {{"rget_accumulate", "MPI_Rget_accumulate and MPI_Wait"}, true}});
axis<int> const lengths("count", {{{"1", "one int"}, 1}, {{"9", "a few"}, 9}, {{"3000", "12 kB"}, 3000}});

} // namespace

ASSAY_TEST(rma, three_layouts, requirements{"rma.get_accumulate.layouts"},
           over(axis_use{&origin_forms}, axis_use{&result_forms}, axis_use{&target_forms}, axis_use{&requesting},
                axis_use{&fencing}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed"})),
           where(requesting, fencing, [](bool request, bool fence) { return !request || !fence; })) {
    int const n = mpi.at(lengths), to = right_of(mpi), from = left_of(mpi);
    bool const fence = mpi.at(fencing);
    layout_of_ints const origin(mpi, mpi.at(origin_forms), n), result(mpi, mpi.at(result_forms), n),
        target(mpi, mpi.at(target_forms), n);
    int_window win(mpi, mpi.at(flavors()), target.room(), fence ? int_window::use::active : int_window::use::passive,
                   -1);
    if (!win.made()) return;
    auto const held = [](int rank) { return [rank](int i) { return 10000 * (rank + 1) + i; }; };
    auto const given = [](int rank) { return [rank](int i) { return 1000000 * (rank + 1) + 100 * i; }; };
    auto const out = origin.filled(given(mpi.rank), -2);
    auto const before = target.filled(held(mpi.rank), -1);
    std::vector<int> in(result.room(), -3);
    auto const fill = [&](int volatile* memory) { std::copy(before.begin(), before.end(), memory); };
    if (fence) fill(win.memory());
    else win.locally(fill);
    MPI_Request request = MPI_REQUEST_NULL;
    barrier(mpi);
    mpi.ok(fence ? MPI_Win_fence(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    if (mpi.at(requesting)) {
        mpi.ok(MPI_Rget_accumulate(out.data(), 1, origin, in.data(), 1, result, to, win.at(to), 1, target, MPI_SUM, win,
                                   &request));
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        expect_ints(mpi, in, result.filled(held(to), -3), "the result right after the wait");
    } else {
        mpi.ok(
            MPI_Get_accumulate(out.data(), 1, origin, in.data(), 1, result, to, win.at(to), 1, target, MPI_SUM, win));
    }
    mpi.ok(fence ? MPI_Win_fence(MPI_MODE_NOSUCCEED, win) : MPI_Win_unlock(to, win));
    barrier(mpi);
    expect_ints(mpi, in, result.filled(held(to), -3), "the result");
    auto const after = target.filled([&](int i) { return held(mpi.rank)(i) + given(from)(i); }, -1);
    expect_ints(mpi, fence ? win.loaded() : win.content(), after, "the window");
    expect_ints(mpi, out, origin.filled(given(mpi.rank), -2), "the origin buffer");
    barrier(mpi);
}

ASSAY_TEST(rma, ignored_origin, requirements{"rma.accumulate.no_op_ignores"},
           over(axis_use{&requesting}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed"})),
           note{"MPI_NO_OP with NULL, 0 and MPI_DATATYPE_NULL for the origin"}) {
    int const n = mpi.at(lengths), to = right_of(mpi);
    int_window win(mpi, mpi.at(flavors()), static_cast<std::size_t>(n), int_window::use::passive, 70 + mpi.rank);
    if (!win.made()) return;
    std::vector<int> in(static_cast<std::size_t>(n), -7);
    MPI_Request request = MPI_REQUEST_NULL;
    mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    if (mpi.at(requesting))
        mpi.ok(MPI_Rget_accumulate(nullptr, 0, MPI_DATATYPE_NULL, in.data(), n, MPI_INT, to, win.at(to), n, MPI_INT,
                                   MPI_NO_OP, win, &request));
    else
        mpi.ok(MPI_Get_accumulate(nullptr, 0, MPI_DATATYPE_NULL, in.data(), n, MPI_INT, to, win.at(to), n, MPI_INT,
                                  MPI_NO_OP, win));
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    mpi.ok(MPI_Win_unlock(to, win));
    expect_ints(mpi, in, std::vector<int>(static_cast<std::size_t>(n), 70 + to), "what was fetched");
    barrier(mpi);
}
