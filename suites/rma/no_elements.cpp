// Accumulates of nothing (MPI-5.0 sections 12.3.4.1 and 12.3.4.2).
#include "suites/rma/int_window.hpp"

using namespace assay;
using namespace assay::rma;

namespace {

enum class call { accumulate, get_accumulate, raccumulate, rget_accumulate };
axis<call> const calls("access", {{{"accumulate", "MPI_Accumulate"}, call::accumulate},
                                  {{"get_accumulate", "MPI_Get_accumulate"}, call::get_accumulate},
                                  {{"raccumulate", "MPI_Raccumulate"}, call::raccumulate},
                                  {{"rget_accumulate", "MPI_Rget_accumulate"}, call::rget_accumulate}});

} // namespace

ASSAY_TEST(rma, no_elements, requirements{"rma.accumulate.no_elements"},
           over(axis_use{&calls}, axis_use{&flavors()}, communicators::of({"world", "self", "reversed"})),
           note{"no elements at any of the buffers"}) {
    int const to = right_of(mpi);
    int_window win(mpi, mpi.at(flavors()), 3, int_window::use::passive, 5);
    if (!win.made()) return;
    int const out = 9;
    int in = -7;
    MPI_Request request = MPI_REQUEST_NULL;
    auto const at = win.at(to, 1);
    mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    switch (mpi.at(calls)) {
    case call::accumulate: mpi.ok(MPI_Accumulate(&out, 0, MPI_INT, to, at, 0, MPI_INT, MPI_SUM, win)); break;
    case call::get_accumulate:
        mpi.ok(MPI_Get_accumulate(&out, 0, MPI_INT, &in, 0, MPI_INT, to, at, 0, MPI_INT, MPI_SUM, win));
        break;
    case call::raccumulate:
        mpi.ok(MPI_Raccumulate(&out, 0, MPI_INT, to, at, 0, MPI_INT, MPI_SUM, win, &request));
        break;
    case call::rget_accumulate:
        mpi.ok(MPI_Rget_accumulate(&out, 0, MPI_INT, &in, 0, MPI_INT, to, at, 0, MPI_INT, MPI_SUM, win, &request));
        break;
    }
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    mpi.check_null(request);
    mpi.ok(MPI_Win_unlock(to, win));
    barrier(mpi);
    expect_ints(mpi, win.content(), {5, 5, 5}, "the window");
    expect_int(mpi, in, -7, "the result buffer");
    barrier(mpi);
}
