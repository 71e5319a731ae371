// MPI_Compare_and_swap of truth values (MPI-5.0 section 12.3.4.4).
#include "suites/rma/int_window.hpp"

using namespace assay;
using namespace assay::rma;

namespace {

axis<MPI_Datatype (*)()> const logicals("type", {{{"c_bool", "MPI_C_BOOL"}, [] { return MPI_C_BOOL; }},
                                                 {{"cxx_bool", "MPI_CXX_BOOL"}, [] { return MPI_CXX_BOOL; }}});

} // namespace

// Two swaps by each rank in its right neighbour: of a value that is not there, then of the one that is.
ASSAY_TEST(rma, swap_logical, requirements{"rma.compare_and_swap.logical"},
           over(axis_use{&logicals}, axis_use{&flavors()}, communicators::of({"world", "self"}))) {
    auto const type = mpi.at(logicals)();
    if (type == MPI_DATATYPE_NULL) mpi.unsupported("the MPI library has no such datatype");
    int const to = right_of(mpi);
    int_window win(mpi, mpi.at(flavors()), 2, int_window::use::passive, 0);
    if (!win.made()) return;
    unsigned char const yes = 1, no = 0;
    unsigned char before[2] = {0xee, 0xee};
    mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    mpi.ok(MPI_Compare_and_swap(&yes, &yes, &before[0], type, to, win.at(to), win));
    mpi.ok(MPI_Win_flush(to, win));
    expect_int(mpi, before[0], no, "what a swap that compares with true found");
    mpi.ok(MPI_Compare_and_swap(&yes, &no, &before[1], type, to, win.at(to), win));
    mpi.ok(MPI_Win_unlock(to, win));
    expect_int(mpi, before[1], no, "what a swap that compares with false found");
    barrier(mpi);
    auto const content = win.content();
    auto const* const bytes = reinterpret_cast<unsigned char const*>(content.data());
    for (std::size_t i = 0; i < sizeof(int); ++i) expect_int(mpi, bytes[i], i == 0 ? yes : no, "a byte of the window");
    barrier(mpi);
}
