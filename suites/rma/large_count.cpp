// The forms whose counts are MPI_Count, and whose displacement units are MPI_Aint (MPI-5.0 chapter 12): with small numbers they
// do what the others do; what an int cannot hold they can.
#include "suites/common/far_memory.hpp"
#include "suites/rma/int_window.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

enum class call { put, get, accumulate, get_accumulate, rput, rget, raccumulate, rget_accumulate };
axis<call> const calls(
    "access",
    {{{"put_c", "MPI_Put_c", needs_procedures({"MPI_Put_c"})}, call::put},
     {{"get_c", "MPI_Get_c", needs_procedures({"MPI_Get_c"})}, call::get},
     {{"accumulate_c", "MPI_Accumulate_c, MPI_SUM", needs_procedures({"MPI_Accumulate_c"})}, call::accumulate},
     {{"get_accumulate_c", "MPI_Get_accumulate_c, MPI_SUM", needs_procedures({"MPI_Get_accumulate_c"})},
      call::get_accumulate},
     {{"rput_c", "MPI_Rput_c", needs_procedures({"MPI_Rput_c"})}, call::rput},
     {{"rget_c", "MPI_Rget_c", needs_procedures({"MPI_Rget_c"})}, call::rget},
     {{"raccumulate_c", "MPI_Raccumulate_c, MPI_SUM", needs_procedures({"MPI_Raccumulate_c"})}, call::raccumulate},
     {{"rget_accumulate_c", "MPI_Rget_accumulate_c, MPI_SUM", needs_procedures({"MPI_Rget_accumulate_c"})},
      call::rget_accumulate}});
requirement requirement_of(call c) {
    switch (c) {
    case call::put: return "rma.large.put";
    case call::get: return "rma.large.get";
    case call::accumulate: return "rma.large.accumulate";
    case call::get_accumulate: return "rma.large.get_accumulate";
    case call::rput: return "rma.large.rput";
    case call::rget: return "rma.large.rget";
    case call::raccumulate: return "rma.large.raccumulate";
    default: return "rma.large.rget_accumulate";
    }
}
bool has_request(call c) { return c >= call::rput; }
bool adds(call c) {
    return c == call::accumulate || c == call::get_accumulate || c == call::raccumulate || c == call::rget_accumulate;
}
bool reads(call c) {
    return c == call::get || c == call::get_accumulate || c == call::rget || c == call::rget_accumulate;
}

axis<bool> const spaced("layout", {{{"plain", "ints side by side on both sides"}, false},
                                   {{"spaced", "every second int at the target, every third at the origin"}, true}});
axis<int> const lengths("count", {{{"0", "nothing"}, 0}, {{"1", ""}, 1}, {{"300", ""}, 300}, {{"20000", ""}, 20000}});
enum class epoch_by { lock, lock_all, fence };
axis<epoch_by> const large_syncs("sync", {{{"lock", "MPI_Win_lock"}, epoch_by::lock},
                                          {{"lock_all", "MPI_Win_lock_all"}, epoch_by::lock_all},
                                          {{"fence", "MPI_Win_fence"}, epoch_by::fence}});

// `n` ints, each `stride` ints after the other; MPI_INT itself where that is one.
MPI_Datatype every(test_run& mpi, int stride) {
    if (stride == 1) return MPI_INT;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_create_resized(MPI_INT, 0, static_cast<MPI_Aint>(sizeof(int)) * stride, &type));
    mpi.ok(MPI_Type_commit(&type));
    return type;
}

} // namespace

ASSAY_TEST(rma, large,
           requirements{"rma.large.put", "rma.large.get", "rma.large.accumulate", "rma.large.get_accumulate",
                        "rma.large.rput", "rma.large.rget", "rma.large.raccumulate", "rma.large.rget_accumulate"},
           over(axis_use{&calls}, axis_use{&spaced}, axis_use{&lengths}, axis_use{&large_syncs}, axis_use{&flavors()},
                communicators::of({"world", "self", "reversed"})),
           where(calls, large_syncs, [](call c, epoch_by s) { return !has_request(c) || s != epoch_by::fence; })) {
    auto const how = mpi.at(calls);
    auto const rests = mpi.resting_on(requirement_of(how));
    auto const sync_by = mpi.at(large_syncs);
    int const stride = mpi.at(spaced) ? 2 : 1, own_stride = mpi.at(spaced) ? 3 : 1;
    MPI_Count const n = mpi.at(lengths);
    auto const ints = static_cast<std::size_t>(n);
    int const to = right_of(mpi), from = left_of(mpi);
    int_window win(mpi, mpi.at(flavors()), ints * static_cast<std::size_t>(stride) + 1, int_window::use::passive, -5);
    if (!win.made()) return;
    std::vector<int> out(ints * static_cast<std::size_t>(own_stride) + 1, -6), in(out.size(), -7);
    for (std::size_t i = 0; i < ints; ++i)
        out[i * static_cast<std::size_t>(own_stride)] = 100 * mpi.rank + static_cast<int>(i % 77);
    auto const given = out;
    auto o = every(mpi, own_stride), t = every(mpi, stride);
    auto const at = win.at(to);
    MPI_Request request = MPI_REQUEST_NULL;
    if (sync_by == epoch_by::fence) mpi.ok(MPI_Win_fence(0, win));
    else if (sync_by == epoch_by::lock) mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    else mpi.ok(MPI_Win_lock_all(0, win));
    switch (how) {
    case call::put: mpi.ok(MPI_Put_c(out.data(), n, o, to, at, n, t, win)); break;
    case call::get: mpi.ok(MPI_Get_c(in.data(), n, o, to, at, n, t, win)); break;
    case call::accumulate: mpi.ok(MPI_Accumulate_c(out.data(), n, o, to, at, n, t, MPI_SUM, win)); break;
    case call::get_accumulate:
        mpi.ok(MPI_Get_accumulate_c(out.data(), n, o, in.data(), n, o, to, at, n, t, MPI_SUM, win));
        break;
    case call::rput: mpi.ok(MPI_Rput_c(out.data(), n, o, to, at, n, t, win, &request)); break;
    case call::rget: mpi.ok(MPI_Rget_c(in.data(), n, o, to, at, n, t, win, &request)); break;
    case call::raccumulate: mpi.ok(MPI_Raccumulate_c(out.data(), n, o, to, at, n, t, MPI_SUM, win, &request)); break;
    case call::rget_accumulate:
        mpi.ok(MPI_Rget_accumulate_c(out.data(), n, o, in.data(), n, o, to, at, n, t, MPI_SUM, win, &request));
        break;
    }
    auto const expected_in = [&] {
        std::vector<int> all(in.size(), -7);
        for (std::size_t i = 0; reads(how) && i < ints; ++i) all[i * static_cast<std::size_t>(own_stride)] = -5;
        return all;
    }();
    if (has_request(how)) {
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        mpi.check_null(request);
        expect_ints(mpi, in, expected_in, "the result right after the wait");
    }
    if (sync_by == epoch_by::fence) mpi.ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    else if (sync_by == epoch_by::lock) mpi.ok(MPI_Win_unlock(to, win));
    else mpi.ok(MPI_Win_unlock_all(win));
    barrier(mpi);
    std::vector<int> expected(win.size(), -5);
    for (std::size_t i = 0; i < ints; ++i) {
        int const theirs = 100 * from + static_cast<int>(i % 77);
        if (how == call::put || how == call::rput) expected[i * static_cast<std::size_t>(stride)] = theirs;
        else if (adds(how)) expected[i * static_cast<std::size_t>(stride)] = theirs - 5;
    }
    expect_ints(mpi, sync_by == epoch_by::fence ? win.loaded() : win.content(), expected, "the window");
    expect_ints(mpi, in, expected_in, "the result");
    mpi.check(out == given, finding::data, "the origin buffer has changed");
    barrier(mpi);
    for (auto* type : {&o, &t})
        if (*type != MPI_INT) mpi.ok(MPI_Type_free(type));
}

namespace {
enum class maker { create, allocate, shared };
axis<maker> const
    makers("window", {{{"create_c", "MPI_Win_create_c", needs_procedures({"MPI_Win_create_c"})}, maker::create},
                      {{"allocate_c", "MPI_Win_allocate_c", needs_procedures({"MPI_Win_allocate_c"})}, maker::allocate},
                      {{"allocate_shared_c", "MPI_Win_allocate_shared_c",
                        needs_procedures({"MPI_Win_allocate_shared_c", "MPI_Win_shared_query_c"})},
                       maker::shared}});
axis<MPI_Aint> const units_c("unit", {{{"1", "bytes"}, 1},
                                      {{"4", "ints"}, 4},
                                      {{"gib3", "3 GiB, more than an int can hold: only the displacement 0 is there"},
                                       MPI_Aint{3} << 30}});
} // namespace

ASSAY_TEST(rma, large_windows,
           requirements{"rma.large.create", "rma.large.allocate", "rma.large.allocate_shared",
                        "rma.large.shared_query"},
           over(axis_use{&makers}, axis_use{&units_c}, communicators::of({"world", "self", "reversed"})),
           note{"each rank has another size"}) {
    auto const how = mpi.at(makers);
    auto const unit = mpi.at(units_c);
    if (how == maker::shared && !all_share_memory(mpi))
        mpi.unsupported("the ranks of this communicator do not share memory");
    auto const bytes = [](int rank) { return static_cast<MPI_Aint>(sizeof(int)) * (8 + rank); };
    std::vector<int> own;
    int* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    int code = MPI_SUCCESS;
    switch (how) {
    case maker::create:
        own.resize(static_cast<std::size_t>(8 + mpi.rank));
        base = own.data();
        code = MPI_Win_create_c(base, bytes(mpi.rank), unit, MPI_INFO_NULL, mpi.comm, &win);
        break;
    case maker::allocate: code = MPI_Win_allocate_c(bytes(mpi.rank), unit, MPI_INFO_NULL, mpi.comm, &base, &win); break;
    case maker::shared:
        code = MPI_Win_allocate_shared_c(bytes(mpi.rank), unit, MPI_INFO_NULL, mpi.comm, &base, &win);
        break;
    }
    auto const rests = mpi.resting_on(how == maker::create     ? requirement("rma.large.create")
                                      : how == maker::allocate ? requirement("rma.large.allocate")
                                                               : requirement("rma.large.allocate_shared"));
    if (!mpi.ok(code)) return;
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    std::fill_n(base, 8 + mpi.rank, -1);
    for (int rank = 0; how == maker::shared && rank < mpi.size; ++rank) {
        MPI_Aint size = -7, found = -7;
        int* there = nullptr;
        mpi.ok(MPI_Win_shared_query_c(win, rank, &size, &found, &there));
        mpi.check("rma.large.shared_query",
                  size == bytes(rank) && found == unit && there != nullptr && (rank != mpi.rank || there == base),
                  finding::window,
                  fmt::format("rank {} has {} bytes in units of {}, expected {} in units of {}, or another address",
                              rank, size, found, bytes(rank), unit));
    }
    int const to = right_of(mpi), from = left_of(mpi), out = 40 + mpi.rank;
    MPI_Aint const at = unit > 4 ? 0 : 7 * static_cast<MPI_Aint>(sizeof(int)) / unit;
    mpi.ok(MPI_Win_fence(0, win));
    mpi.ok(MPI_Put(&out, 1, MPI_INT, to, at, 1, MPI_INT, win));
    mpi.ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    std::vector<int> expected(static_cast<std::size_t>(8 + mpi.rank), -1);
    expected[unit > 4 ? 0 : 7] = 40 + from;
    expect_ints(mpi, {base, base + 8 + mpi.rank}, expected, "the window");
    mpi.ok(MPI_Win_free(&win));
}

ASSAY_TEST(rma, large_unit, requirements{"rma.large.create", "rma.far_displacements"},
           over(communicators::of({"world", "self"})), needs_procedures({"MPI_Win_create_c"}),
           note{"displacement 1 in units of 3 GiB, in 4 GiB of address space of which few pages are touched"}) {
    constexpr std::size_t unit = std::size_t{3} << 30, whole = std::size_t{4} << 30;
    far_memory const memory(whole);
    if (memory.base() == nullptr) mpi.unsupported("no 4 GiB of address space");
    memory.at(0) = memory.at(unit) = -1;
    MPI_Win win = MPI_WIN_NULL;
    if (!mpi.ok(MPI_Win_create_c(memory.base(), static_cast<MPI_Aint>(whole), static_cast<MPI_Aint>(unit),
                                 MPI_INFO_NULL, mpi.comm, &win)))
        return;
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    int const out = 40 + mpi.rank;
    mpi.ok(MPI_Win_fence(0, win));
    mpi.ok(MPI_Put(&out, 1, MPI_INT, right_of(mpi), 1, 1, MPI_INT, win));
    mpi.ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    expect_int(mpi, memory.at(unit), 40 + left_of(mpi), "the int one unit from the base");
    expect_int(mpi, memory.at(0), -1, "the int at the base");
    mpi.ok(MPI_Win_free(&win));
}
