// Several epochs on one window, of the same and of different kinds of synchronization (MPI-5.0 section 12.5): what one
// leaves behind must not disturb the next.
#include "suites/rma/window.hpp"

#include <string>

using namespace assay;
using namespace assay::rma;

namespace {

enum class next { same, fence, post, lock };
axis<next> const then_axis("then", {{{"same", "the same synchronization three times"}, next::same},
                                    {{"fence", "MPI_Win_fence between two such epochs"}, next::fence},
                                    {{"post", "MPI_Win_post and so on between two such epochs"}, next::post},
                                    {{"lock", "MPI_Win_lock between two such epochs"}, next::lock}});

sync_way second(sync_way first, next then) {
    switch (then) {
    case next::fence: return sync_way::fence_asserts;
    case next::post: return sync_way::post;
    case next::lock: return sync_way::lock_exclusive;
    default: return first;
    }
}

// Puts around a ring, one epoch after the other.
void puts(test_run& mpi, window& win, std::initializer_list<sync_way> ways) {
    auto const who = pattern_of(mpi, shape::ring);
    int const to = who.targets[0], from = who.origins[0];
    int serial = 0;
    for (auto const how : ways) {
        auto& out = mpi.outgoing(to, serial);
        auto content = win.slot(0);
        content.key = mpi.key_from(from, serial);
        epoch round(mpi, win, how, who.targets, who.origins, true);
        round.store([&] { win.memory().poison(); });
        round.begin(to);
        mpi.ok(MPI_Put(out, mpi.count, mpi.type, to, win.displacement(to, 0), mpi.count, mpi.type, win));
        round.flush(to);
        round.end(to);
        round.flush_all();
        round.finish();
        win.memory().expect(content, "of a window in epoch " + std::to_string(serial + 1));
        round.leave();
        out.expect_unchanged();
        ++serial;
    }
}

bool is_few_or_many(count_value const& count) { return count.n == 3 || count.n == 8192; }

} // namespace

ASSAY_TEST(rma, epochs, requirements{"rma.epochs", "rma.put.data", "rma.fence.asserts", "rma.post_start"},
           over(checked_syncs(), axis_use{&then_axis}, axis_use{&flavors()}, axis_use{&hints()}, communicators::intra(),
                datatypes::of({"int"}), only(count_ladder(), is_few_or_many)),
           // A fence without MPI_MODE_NOSUCCEED may open an epoch (section 12.5.1).
           where(syncs(), then_axis, [](sync_way s, next n) { return s != sync_way::fence || n == next::same; }),
           note{"three rounds of puts around a ring"}, thread_safe{}) {
    auto const first = mpi.at(syncs());
    auto const between = second(first, mpi.at(then_axis));
    window win(mpi, {mpi.at(flavors()), unit::byte, mpi.at(hints())}, mpi.map, mpi.elements, 1,
               passive(first) || passive(between));
    if (win.made()) puts(mpi, win, {first, between, first});
}

namespace {
axis<bool> const repeats("epochs", {{{"one", "one epoch"}, false},
                                    {{"more", "a second one, for locks an exclusive one, and a third"}, true}});
} // namespace

// A test of its own with few cases: a library that gets this wrong hangs.
ASSAY_TEST(rma, nocheck, requirements{"rma.lock.nocheck", "rma.post.nocheck", "rma.epochs"},
           over(only(syncs(), [](sync_way s) { return s == sync_way::lock_nocheck || s == sync_way::post_asserts; }),
                axis_use{&repeats}, communicators::of({"world", "self"}), datatypes::of({"int"}),
                only(count_ladder(), [](count_value const& c) { return c.n == 3; })),
           note{"MPI_MODE_NOCHECK where it holds"}, thread_safe{}) {
    auto const how = mpi.at(syncs());
    window win(mpi, {flavor::allocate, unit::byte, false}, mpi.map, mpi.elements, 1, passive(how));
    if (!win.made()) return;
    if (!mpi.at(repeats)) puts(mpi, win, {how});
    else puts(mpi, win, {how, passive(how) ? sync_way::lock_exclusive : how, how});
}
