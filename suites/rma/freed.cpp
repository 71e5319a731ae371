// Datatypes that are gone when the data move (MPI-5.0 section 12.5.6).
#include "suites/rma/int_layout.hpp"

using namespace assay;
using namespace assay::rma;

namespace {

enum class call { put, get, accumulate, get_accumulate, rput, rget, raccumulate, rget_accumulate };
axis<call> const calls("access", {{{"put", "MPI_Put"}, call::put},
                                  {{"get", "MPI_Get"}, call::get},
                                  {{"accumulate", "MPI_Accumulate"}, call::accumulate},
                                  {{"get_accumulate", "MPI_Get_accumulate"}, call::get_accumulate},
                                  {{"rput", "MPI_Rput"}, call::rput},
                                  {{"rget", "MPI_Rget"}, call::rget},
                                  {{"raccumulate", "MPI_Raccumulate"}, call::raccumulate},
                                  {{"rget_accumulate", "MPI_Rget_accumulate"}, call::rget_accumulate}});
bool has_request(call c) { return c >= call::rput; }
bool reads(call c) { return c == call::get || c == call::rget; }
bool adds(call c) {
    return c == call::accumulate || c == call::raccumulate || c == call::get_accumulate || c == call::rget_accumulate;
}
axis<bool> const fencing("sync", {{{"fence", "MPI_Win_fence"}, true}, {{"lock", "MPI_Win_lock"}, false}});
axis<int> const lengths("count", {{{"1", "one int"}, 1}, {{"9", "a few"}, 9}, {{"3000", "12 kB"}, 3000}});

} // namespace

// All datatypes are freed as soon as the access has been called, and others are made where they may have been.
ASSAY_TEST(rma, freed_types, requirements{"rma.freed.datatype"},
           over(axis_use{&calls}, axis_use{&fencing}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed"})),
           where(calls, fencing, [](call c, bool fence) { return !has_request(c) || !fence; })) {
    auto const how = mpi.at(calls);
    int const n = mpi.at(lengths), to = right_of(mpi), from = left_of(mpi);
    bool const fence = mpi.at(fencing);
    layout_of_ints origin(mpi, form::spaced, n), target(mpi, form::backwards, n), result(mpi, form::plain, n);
    int_window win(mpi, mpi.at(flavors()), target.room(), fence ? int_window::use::active : int_window::use::passive,
                   5);
    if (!win.made()) return;
    auto const given = [](int rank) { return [rank](int i) { return 1000 * (rank + 1) + i; }; };
    auto const five = [](int) { return 5; };
    auto out = reads(how) ? std::vector<int>(origin.room(), -2) : origin.filled(given(mpi.rank), -2);
    std::vector<int> in(result.room(), -3);
    MPI_Request request = MPI_REQUEST_NULL;
    auto const at = win.at(to);
    mpi.ok(fence ? MPI_Win_fence(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    switch (how) {
    case call::put: mpi.ok(MPI_Put(out.data(), 1, origin, to, at, 1, target, win)); break;
    case call::get: mpi.ok(MPI_Get(out.data(), 1, origin, to, at, 1, target, win)); break;
    case call::accumulate: mpi.ok(MPI_Accumulate(out.data(), 1, origin, to, at, 1, target, MPI_SUM, win)); break;
    case call::get_accumulate:
        mpi.ok(MPI_Get_accumulate(out.data(), 1, origin, in.data(), 1, result, to, at, 1, target, MPI_SUM, win));
        break;
    case call::rput: mpi.ok(MPI_Rput(out.data(), 1, origin, to, at, 1, target, win, &request)); break;
    case call::rget: mpi.ok(MPI_Rget(out.data(), 1, origin, to, at, 1, target, win, &request)); break;
    case call::raccumulate:
        mpi.ok(MPI_Raccumulate(out.data(), 1, origin, to, at, 1, target, MPI_SUM, win, &request));
        break;
    case call::rget_accumulate:
        mpi.ok(MPI_Rget_accumulate(out.data(), 1, origin, in.data(), 1, result, to, at, 1, target, MPI_SUM, win,
                                   &request));
        break;
    }
    for (auto* type : {&origin, &target, &result}) type->release();
    {
        layout_of_ints const another(mpi, form::backwards, n + 1), yet_another(mpi, form::spaced, n + 2);
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        mpi.ok(fence ? MPI_Win_fence(MPI_MODE_NOSUCCEED, win) : MPI_Win_unlock(to, win));
    }
    barrier(mpi);
    expect_ints(mpi, out, reads(how) ? origin.filled(five, -2) : origin.filled(given(mpi.rank), -2),
                "the origin buffer");
    bool const fetches = how == call::get_accumulate || how == call::rget_accumulate;
    expect_ints(mpi, in, fetches ? result.filled(five, -3) : std::vector<int>(result.room(), -3), "the result");
    auto const after = [&](int i) { return reads(how) ? 5 : adds(how) ? 5 + given(from)(i) : given(from)(i); };
    expect_ints(mpi, fence ? win.loaded() : win.content(), target.filled(after, 5), "the window");
    barrier(mpi);
}
