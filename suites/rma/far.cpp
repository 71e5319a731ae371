// Windows of more than 2^32 bytes, accessed beyond them (MPI-5.0 sections 12.2.1 and 12.3): a displacement is an MPI_Aint, and counts
// in units.
#include "suites/common/far_memory.hpp"
#include "suites/rma/window.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

enum class access { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap };
axis<access> const accesses("access", {{{"put", "MPI_Put"}, access::put},
                                       {{"get", "MPI_Get"}, access::get},
                                       {{"accumulate", "MPI_Accumulate with MPI_SUM"}, access::accumulate},
                                       {{"get_accumulate", "MPI_Get_accumulate with MPI_SUM"}, access::get_accumulate},
                                       {{"fetch_and_op", "MPI_Fetch_and_op with MPI_SUM"}, access::fetch_and_op},
                                       {{"compare_and_swap", "MPI_Compare_and_swap"}, access::compare_and_swap}});
axis<int> const far_units("unit", {{{"1", "displacements in bytes"}, 1},
                                   {{"64", "in 64 bytes"}, 64},
                                   {{"mib", "in MiB: the displacement fits into an int"}, 1 << 20}});
axis<bool> const far_locks("sync", {{{"fence", "MPI_Win_fence"}, false}, {{"lock", "MPI_Win_lock"}, true}});

} // namespace

ASSAY_TEST(rma, far, requirements{"rma.displacement", "rma.far_displacements"},
           over(axis_use{&accesses}, axis_use{&far_units}, axis_use{&far_locks}, communicators::of({"world", "self"})),
           note{"a window of 6 GiB of address space, of which only few pages are touched"}) {
    constexpr std::size_t mib = std::size_t{1} << 20, far = 5 * 1024 * mib + 3 * mib, whole = 6 * 1024 * mib;
    far_memory const memory(whole);
    if (memory.base() == nullptr) mpi.unsupported("no 6 GiB of address space");
    int const unit = mpi.at(far_units), to = (mpi.rank + 1) % mpi.size, from = (mpi.rank + mpi.size - 1) % mpi.size;
    bool const locks = mpi.at(far_locks);
    auto const how = mpi.at(accesses);
    auto const displacement = static_cast<MPI_Aint>(far) / unit;
    memory.at(far) = 100 + mpi.rank;
    memory.cut(far) = -8; // must stay
    MPI_Win win = MPI_WIN_NULL;
    if (!mpi.ok(MPI_Win_create(memory.base(), static_cast<MPI_Aint>(whole), unit, MPI_INFO_NULL, mpi.comm, &win)))
        return;
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI_Aint* size = nullptr;
    int flag = 0;
    mpi.ok(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
    if (mpi.check(flag != 0, finding::window, "MPI_WIN_SIZE is not set"))
        mpi.check(*size == static_cast<MPI_Aint>(whole), finding::window,
                  fmt::format("MPI_WIN_SIZE is {}, expected {}", *size, whole));
    barrier(mpi);
    if (locks) mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win));
    else mpi.ok(MPI_Win_fence(0, win));
    int const operand = 7000 + mpi.rank, compare = 100 + to;
    int result = -7;
    switch (how) {
    case access::put: mpi.ok(MPI_Put(&operand, 1, MPI_INT, to, displacement, 1, MPI_INT, win)); break;
    case access::get: mpi.ok(MPI_Get(&result, 1, MPI_INT, to, displacement, 1, MPI_INT, win)); break;
    case access::accumulate:
        mpi.ok(MPI_Accumulate(&operand, 1, MPI_INT, to, displacement, 1, MPI_INT, MPI_SUM, win));
        break;
    case access::get_accumulate:
        mpi.ok(
            MPI_Get_accumulate(&operand, 1, MPI_INT, &result, 1, MPI_INT, to, displacement, 1, MPI_INT, MPI_SUM, win));
        break;
    case access::fetch_and_op:
        mpi.ok(MPI_Fetch_and_op(&operand, &result, MPI_INT, to, displacement, MPI_SUM, win));
        break;
    case access::compare_and_swap:
        mpi.ok(MPI_Compare_and_swap(&operand, &compare, &result, MPI_INT, to, displacement, win));
        break;
    }
    if (locks) mpi.ok(MPI_Win_unlock(to, win));
    else mpi.ok(MPI_Win_fence(0, win));
    bool const fetches = how != access::put && how != access::accumulate;
    int const before = 100 + mpi.rank, theirs = 7000 + from;
    int const after = how == access::get                                      ? before
                      : how == access::put || how == access::compare_and_swap ? theirs
                                                                              : before + theirs;
    barrier(mpi); // all accesses of lock epochs are done
    if (locks) {  // and visible here
        mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, mpi.rank, 0, win));
        mpi.ok(MPI_Win_sync(win));
        mpi.ok(MPI_Win_unlock(mpi.rank, win));
    }
    if (fetches)
        mpi.check(result == 100 + to, finding::data,
                  fmt::format("{} bytes from the base of process {} is {}, expected {}", far, to, result, 100 + to));
    mpi.check(memory.at(far) == after, finding::data,
              fmt::format("{} bytes from the base of this window is {}, expected {}", far, memory.at(far), after));
    mpi.check(memory.cut(far) == -8, finding::gap,
              fmt::format("{} bytes from the base of this window something was written", far & 0xffffffffu));
    mpi.ok(MPI_Win_free(&win));
}
