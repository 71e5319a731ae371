// What flushes complete, and what others see then while the epoch goes on (MPI-5.0 sections 12.5.4, 12.4 and 12.7.3).
#include "framework/check/logical.hpp"
#include "suites/common/polling.hpp"
#include "suites/rma/int_window.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

enum class by { flush, flush_all, local, local_all };
axis<by> const flushes("flush", {{{"flush", "MPI_Win_flush"}, by::flush},
                                 {{"flush_all", "MPI_Win_flush_all"}, by::flush_all},
                                 {{"local", "MPI_Win_flush_local, then MPI_Win_flush"}, by::local},
                                 {{"local_all", "MPI_Win_flush_local_all, then MPI_Win_flush_all"}, by::local_all}});
enum class writing { put, accumulate, rput };
axis<writing> const accesses("access", {{{"put", "MPI_Put"}, writing::put},
                                        {{"accumulate", "MPI_Accumulate with MPI_REPLACE"}, writing::accumulate},
                                        {{"rput", "MPI_Rput, waited for after the flush"}, writing::rput}});
axis<bool> const syncing("between", {{{"flush", "the flush follows the access"}, false},
                                     {{"sync", "MPI_Win_sync comes before the flush"}, true}});
axis<std::size_t> const lengths("count", {{{"1", "one int"}, 1}, {{"40000", "160 kB"}, 40000}});

void flush(test_run& mpi, MPI_Win win, int target) {
    switch (mpi.at(flushes)) {
    case by::local: mpi.ok(MPI_Win_flush_local(target, win)); [[fallthrough]];
    case by::flush: mpi.ok(MPI_Win_flush(target, win)); break;
    case by::local_all: mpi.ok(MPI_Win_flush_local_all(win)); [[fallthrough]];
    case by::flush_all: mpi.ok(MPI_Win_flush_all(win)); break;
    }
}

bool is_unified(test_run& mpi, MPI_Win win) {
    int* model = nullptr;
    int flag = 0;
    mpi.ok(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag));
    return logical(flag) && *model == MPI_WIN_UNIFIED;
}

} // namespace

// Rank 0 writes into the window of its right neighbour and tells the last rank, which reads it there.
ASSAY_TEST(rma, flushed,
           requirements{"rma.flush.target", "rma.flush_all.target", "rma.flush.goes_on", "rma.sync.goes_on"},
           over(axis_use{&flushes}, axis_use{&accesses}, axis_use{&syncing}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed"})),
           note{"three times in one epoch of all ranks"}) {
    int const writer = 0, target = 1 % mpi.size, reader = mpi.size - 1;
    auto const n = mpi.at(lengths);
    auto const count = static_cast<int>(n);
    int_window win(mpi, mpi.at(flavors()), n, int_window::use::passive, -1);
    if (!win.made()) return;
    bool const all = mpi.at(flushes) == by::flush_all || mpi.at(flushes) == by::local_all;
    mpi.ok(MPI_Win_lock_all(0, win));
    for (int round = 1; round <= 3; ++round) {
        if (mpi.rank == writer) {
            std::vector<int> out(n, round);
            MPI_Request request = MPI_REQUEST_NULL;
            switch (mpi.at(accesses)) {
            case writing::put:
                mpi.ok(MPI_Put(out.data(), count, MPI_INT, target, win.at(target), count, MPI_INT, win));
                break;
            case writing::accumulate:
                mpi.ok(MPI_Accumulate(out.data(), count, MPI_INT, target, win.at(target), count, MPI_INT, MPI_REPLACE,
                                      win));
                break;
            case writing::rput:
                mpi.ok(MPI_Rput(out.data(), count, MPI_INT, target, win.at(target), count, MPI_INT, win, &request));
                break;
            }
            if (mpi.at(syncing)) mpi.ok(MPI_Win_sync(win));
            flush(mpi, win, target);
            std::fill(out.begin(), out.end(), -3); // complete at the origin
            mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
            tell(mpi, reader);
        }
        if (mpi.rank == reader) {
            std::vector<int> in(n, -7);
            hear(mpi, writer);
            mpi.ok(MPI_Get(in.data(), count, MPI_INT, target, win.at(target), count, MPI_INT, win));
            mpi.ok(MPI_Win_flush(target, win));
            auto const wrong = std::find_if(in.begin(), in.end(), [&](int i) { return i != round; });
            auto const rests = round > 1         ? requirement("rma.flush.goes_on")
                               : mpi.at(syncing) ? requirement("rma.sync.goes_on")
                               : all             ? requirement("rma.flush_all.target")
                                                 : requirement("rma.flush.target");
            mpi.check(rests, wrong == in.end(), finding::data,
                      fmt::format("after the flush of round {} another process gets {}, expected {}", round,
                                  wrong == in.end() ? round : *wrong, round));
            tell(mpi, writer);
        }
        if (mpi.rank == writer) hear(mpi, reader);
    }
    mpi.ok(MPI_Win_unlock_all(win));
}

// The target only looks at its memory and, so that the library goes on, for messages that nobody sends.
ASSAY_TEST(rma, update_seen, requirements{"rma.unified.update_seen"},
           over(axis_use{&accesses}, axis_use{&flavors()}, communicators::of({"world", "reversed"})),
           where(accesses, [](writing a) { return a != writing::rput; })) {
    int_window win(mpi, mpi.at(flavors()), 2, int_window::use::passive, 0);
    if (!win.made()) return;
    if (!is_unified(mpi, win)) return; // the separate model promises nothing
    int const to = right_of(mpi), one = 1;
    mpi.ok(MPI_Win_lock_all(0, win));
    if (mpi.at(accesses) == writing::put) mpi.ok(MPI_Put(&one, 1, MPI_INT, to, win.at(to), 1, MPI_INT, win));
    else mpi.ok(MPI_Accumulate(&one, 1, MPI_INT, to, win.at(to), 1, MPI_INT, MPI_SUM, win));
    mpi.ok(MPI_Win_flush(to, win));
    until([&] {
        int flag = 0;
        mpi.ok(MPI_Iprobe(left_of(mpi), mpi.tag(12), mpi.comm, &flag, MPI_STATUS_IGNORE));
        return win.memory()[0] != 0;
    });
    for (int look = 0; look < 100; ++look)
        if (!mpi.check(win.memory()[0] == 1, finding::data,
                       fmt::format("an update that was seen is {} now, expected 1", int{win.memory()[0]})))
            break;
    barrier(mpi);
    mpi.check(win.memory()[0] == 1 && win.memory()[1] == 0, finding::data,
              fmt::format("the window holds {} and {}, expected 1 and 0", int{win.memory()[0]}, int{win.memory()[1]}));
    mpi.ok(MPI_Win_unlock_all(win));
}

ASSAY_TEST(rma, store_seen, requirements{"rma.unified.store_seen"},
           over(axis_use{&flavors()}, communicators::of({"world", "reversed"})),
           note{"gets and fetches until a store of the target is seen"}) {
    int_window win(mpi, mpi.at(flavors()), 2, int_window::use::passive, 0);
    if (!win.made()) return;
    if (!is_unified(mpi, win)) return;
    int const to = right_of(mpi);
    mpi.ok(MPI_Win_lock_all(0, win));
    barrier(mpi);
    win.memory()[0] = 900 + mpi.rank;
    win.memory()[1] = 950 + mpi.rank;
    until([&] {
        int got = 0, fetched = 0;
        int const ignored = 0;
        mpi.ok(MPI_Get(&got, 1, MPI_INT, to, win.at(to), 1, MPI_INT, win));
        mpi.ok(MPI_Fetch_and_op(&ignored, &fetched, MPI_INT, to, win.at(to, 1), MPI_NO_OP, win));
        mpi.ok(MPI_Win_flush(to, win));
        mpi.check((got == 0 || got == 900 + to) && (fetched == 0 || fetched == 950 + to), finding::data,
                  fmt::format("{} and {} were read, which nobody stored", got, fetched));
        return got != 0 && fetched != 0;
    });
    mpi.ok(MPI_Win_unlock_all(win));
}

namespace {
enum class wait { recv, barrier, probe };
axis<wait> const waits("target_in", {{{"recv", "the target waits in MPI_Recv"}, wait::recv},
                                     {{"barrier", "in MPI_Barrier"}, wait::barrier},
                                     {{"probe", "in MPI_Probe"}, wait::probe}});
} // namespace

// Ranks 0 and 1 communicate through the window of the last rank, which hears of it only when they are done.
ASSAY_TEST(rma, third_party, requirements{"rma.passive.third", "rma.progress.blocked"},
           over(axis_use{&waits}, axis_use{&flavors()}, axis_use{&lengths}, communicators::of({"world", "reversed"})),
           note{"a put by one rank and a get by another while the target is in a call of its own"}) {
    auto const n = mpi.at(lengths);
    auto const count = static_cast<int>(n);
    int const target = mpi.size - 1, writer = 0, reader = mpi.size > 2 ? 1 : 0;
    int_window win(mpi, mpi.at(flavors()), n, int_window::use::passive, -1);
    if (!win.made()) return;
    std::vector<int> data(n, 4711);
    if (mpi.rank == writer && writer != target) {
        mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        mpi.ok(MPI_Put(data.data(), count, MPI_INT, target, win.at(target), count, MPI_INT, win));
        mpi.ok(MPI_Win_unlock(target, win));
        tell(mpi, reader);
    }
    if (mpi.rank == reader && reader != target) {
        std::fill(data.begin(), data.end(), -7);
        hear(mpi, writer);
        mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
        mpi.ok(MPI_Get(data.data(), count, MPI_INT, target, win.at(target), count, MPI_INT, win));
        mpi.ok(MPI_Win_unlock(target, win));
        expect_int(mpi, data.front(), 4711, "the first int through a third window");
        expect_int(mpi, data.back(), 4711, "the last int through a third window");
        if (mpi.at(waits) != wait::barrier) tell(mpi, target);
    }
    if (mpi.rank == target && reader != target && mpi.at(waits) != wait::barrier) {
        if (mpi.at(waits) == wait::probe) mpi.ok(MPI_Probe(reader, mpi.tag(13), mpi.comm, MPI_STATUS_IGNORE));
        hear(mpi, reader);
    }
    if (mpi.at(waits) == wait::barrier) mpi.ok(MPI_Barrier(mpi.comm));
    barrier(mpi);
    if (mpi.rank == target && reader != target) expect_int(mpi, win.content().back(), 4711, "the last int");
}
