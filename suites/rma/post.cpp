// Exposure and access epochs of groups: who waits for whom, and for whom not (MPI-5.0 sections 12.5.2, 12.5.5 and 12.7.3).
#include "framework/check/logical.hpp"
#include "suites/rma/int_window.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

using namespace assay;
using namespace assay::rma;

namespace {

axis<std::size_t> const lengths("count", {{{"1", "one int"}, 1}, {{"200000", "800 kB"}, 200000}});

void put_all(test_run& mpi, int_window& win, int to, std::vector<int> const& out) {
    auto const n = static_cast<int>(out.size());
    mpi.ok(MPI_Put(out.data(), n, MPI_INT, to, win.at(to), n, MPI_INT, win));
}

enum class ending { wait, test };
axis<ending> const endings("then", {{{"wait", "MPI_Win_wait ends the epoch"}, ending::wait},
                                    {{"test", "MPI_Win_test does"}, ending::test}});

} // namespace

// Each origin calls MPI_Win_complete only when its target has tested, so each test before has to be false.
ASSAY_TEST(rma, tested, requirements{"rma.win_test.false", "rma.win_test.no_effect"},
           over(axis_use{&endings}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed"})),
           note{"half of the window is put before the tests, half after them"}) {
    int const to = right_of(mpi), from = left_of(mpi);
    auto const half = mpi.at(lengths);
    int_window win(mpi, mpi.at(flavors()), 2 * half, int_window::use::active, -1);
    if (!win.made()) return;
    some_ranks const targets(mpi, win, {to}), origins(mpi, win, {from});
    for (int round = 1; round <= 2; ++round) {
        std::vector<int> const out(half, 100 * round + mpi.rank);
        auto const n = static_cast<int>(half);
        mpi.ok(MPI_Win_post(origins, 0, win));
        mpi.ok(MPI_Win_start(targets, 0, win));
        put_all(mpi, win, to, out);
        bool ended = false;
        for (int look = 0; look < 20 && !ended; ++look) {
            int flag = opposite(false);
            mpi.ok(MPI_Win_test(win, &flag));
            ended = logical(flag);
        }
        mpi.check("rma.win_test.false", !ended, finding::request,
                  "MPI_Win_test is true and the origin has not called MPI_Win_complete");
        tell_and_hear(mpi, from, to);
        mpi.ok(MPI_Put(out.data(), n, MPI_INT, to, win.at(to, half), n, MPI_INT, win));
        mpi.ok(MPI_Win_complete(win));
        if (!ended && mpi.at(endings) == ending::wait) mpi.ok(MPI_Win_wait(win));
        while (!ended && mpi.at(endings) == ending::test) {
            int flag = 0;
            if (!mpi.ok(MPI_Win_test(win, &flag))) break;
            ended = logical(flag);
        }
        auto const rests = mpi.resting_on("rma.win_test.no_effect");
        expect_ints(mpi, win.loaded(), std::vector<int>(2 * half, 100 * round + from), "the window");
        barrier(mpi);
    }
}

// The targets take turns, so that nobody waits for a post in a circle. Each posts late, after it has stored.
ASSAY_TEST(rma, posted_late, requirements{"rma.start.after_post", "rma.wait.target"},
           over(axis_use{&flavors()}, axis_use{&lengths}, communicators::of({"world", "reversed"}))) {
    int_window win(mpi, mpi.at(flavors()), mpi.at(lengths), int_window::use::active, -1);
    if (!win.made()) return;
    for (int target = 0; target < mpi.size; ++target) {
        int const origin = (target + 1) % mpi.size;
        if (mpi.rank == target) {
            some_ranks const origins(mpi, win, {origin});
            usleep(2000);
            std::fill_n(win.memory(), win.size(), -2); // a put that came already would be lost
            mpi.ok(MPI_Win_post(origins, 0, win));
            mpi.ok(MPI_Win_wait(win));
            expect_ints(mpi, win.loaded(), std::vector<int>(win.size(), 500 + origin), "the window after MPI_Win_wait");
        } else if (mpi.rank == origin) {
            some_ranks const targets(mpi, win, {target});
            std::vector<int> const out(win.size(), 500 + mpi.rank);
            mpi.ok(MPI_Win_start(targets, 0, win));
            put_all(mpi, win, target, out);
            mpi.ok(MPI_Win_complete(win));
        }
    }
}

// All post to all before anybody starts; the origins complete at different times.
ASSAY_TEST(rma, posted_to_all, requirements{"rma.post.local", "rma.wait.all", "rma.freed.group"},
           over(axis_use{&flavors()}, communicators::of({"world", "self", "reversed"}))) {
    auto const n = static_cast<std::size_t>(mpi.size);
    int_window win(mpi, mpi.at(flavors()), n, int_window::use::active, -1);
    if (!win.made()) return;
    std::vector<int> all;
    for (int rank = 0; rank < mpi.size; ++rank) all.push_back(rank);
    for (int round = 1; round <= 2; ++round) {
        {
            some_ranks const everybody(mpi, win, all);
            mpi.ok(MPI_Win_post(everybody, 0, win)); // the group goes at once
        }
        barrier(mpi); // passed only if MPI_Win_post waits for nobody
        {
            some_ranks const everybody(mpi, win, all);
            mpi.ok(MPI_Win_start(everybody, 0, win));
        }
        usleep(700 * static_cast<unsigned>((mpi.rank + round) % mpi.size));
        int const out = 1000 * round + mpi.rank;
        for (int to : all)
            mpi.ok(MPI_Put(&out, 1, MPI_INT, to, win.at(to, static_cast<std::size_t>(mpi.rank)), 1, MPI_INT, win));
        mpi.ok(MPI_Win_complete(win));
        mpi.ok(MPI_Win_wait(win));
        std::vector<int> expected;
        for (int rank : all) expected.push_back(1000 * round + rank);
        expect_ints(mpi, win.loaded(), expected, "the window after MPI_Win_wait");
        barrier(mpi);
    }
}

namespace {
axis<bool> const meetings("between", {{{"barrier", "all meet after each epoch"}, true},
                                      {{"nothing", "nobody waits for the others, of two"}, false}});
} // namespace

// In epoch d each rank accesses the d-th neighbour to the right: other groups each time. Where more than two ranks do not meet, posts
// come before their epoch: rma.other_post has that without chance.
ASSAY_TEST(rma, changing_groups, requirements{"rma.post.groups", "rma.epochs.one_to_one"},
           over(axis_use{&meetings}, axis_use{&flavors()}, communicators::of({"world", "self", "reversed"})),
           where(meetings, [](job const& j, bool meet) { return meet || j.np == 2; })) {
    int_window win(mpi, mpi.at(flavors()), 1, int_window::use::active, -1);
    if (!win.made()) return;
    for (int epoch = 0; epoch < 2 * mpi.size + 2; ++epoch) {
        int const to = (mpi.rank + epoch) % mpi.size, from = (mpi.rank + mpi.size - epoch % mpi.size) % mpi.size;
        some_ranks const targets(mpi, win, {to}), origins(mpi, win, {from});
        if (epoch % (mpi.rank + 2) == 0) usleep(500); // others get ahead
        mpi.ok(MPI_Win_post(origins, 0, win));
        mpi.ok(MPI_Win_start(targets, 0, win));
        int const out = 100 * epoch + mpi.rank;
        mpi.ok(MPI_Put(&out, 1, MPI_INT, to, win.at(to), 1, MPI_INT, win));
        mpi.ok(MPI_Win_complete(win));
        mpi.ok(MPI_Win_wait(win));
        expect_ints(mpi, win.loaded(), {100 * epoch + from}, "the window of an epoch");
        if (mpi.at(meetings)) barrier(mpi);
    }
}

// Rank 0 accesses rank 1, which posts late, and then rank 2, which has posted already.
ASSAY_TEST(rma, other_post, requirements{"rma.start.after_post", "rma.epochs.one_to_one"},
           over(axis_use{&flavors()}, communicators::of({"world", "reversed"})),
           note{"a post of another process, for a later epoch, opens nothing"}) {
    if (mpi.size < 3) mpi.unsupported("needs at least 3 ranks");
    int_window win(mpi, mpi.at(flavors()), 1, int_window::use::active, -1);
    if (!win.made()) return;
    if (mpi.rank == 0) {
        hear(mpi, 2);
        for (int target : {1, 2}) {
            some_ranks const targets(mpi, win, {target});
            int const out = 400 + target;
            mpi.ok(MPI_Win_start(targets, 0, win));
            mpi.ok(MPI_Put(&out, 1, MPI_INT, target, win.at(target), 1, MPI_INT, win));
            mpi.ok(MPI_Win_complete(win));
        }
    } else if (mpi.rank <= 2) {
        some_ranks const origins(mpi, win, {0});
        if (mpi.rank == 1) {
            usleep(50000);
            win.memory()[0] = -2; // a put that came already would be lost
        }
        mpi.ok(MPI_Win_post(origins, 0, win));
        if (mpi.rank == 2) tell(mpi, 0);
        mpi.ok(MPI_Win_wait(win));
        expect_ints(mpi, win.loaded(), {400 + mpi.rank}, "the window after MPI_Win_wait");
    }
}

ASSAY_TEST(rma, empty_groups, requirements{"rma.post.empty_group"},
           over(axis_use{&endings}, communicators::of({"world", "self"}))) {
    int_window win(mpi, flavor::allocate, 1, int_window::use::active, -1);
    if (!win.made()) return;
    mpi.ok(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
    mpi.ok(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
    mpi.ok(MPI_Win_complete(win));
    if (mpi.at(endings) == ending::wait) mpi.ok(MPI_Win_wait(win));
    for (int flag = 0; mpi.at(endings) == ending::test && flag == 0;)
        if (!mpi.ok(MPI_Win_test(win, &flag))) break;
    expect_ints(mpi, win.loaded(), {-1}, "the window");
}

namespace {
enum class assertion { none, nostore, noput, both };
axis<assertion> const assertions("assert", {{{"none", "no assertion"}, assertion::none},
                                            {{"nostore", "MPI_MODE_NOSTORE"}, assertion::nostore},
                                            {{"noput", "MPI_MODE_NOPUT"}, assertion::noput},
                                            {{"both", "both"}, assertion::both}});
} // namespace

// An epoch of puts, and one of gets in which the assertions hold; twice.
ASSAY_TEST(rma, post_assert, requirements{"rma.post.nostore", "rma.post.noput"},
           over(axis_use{&assertions}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed"}))) {
    auto const which = mpi.at(assertions);
    auto const rests =
        mpi.resting_on(which == assertion::noput ? requirement("rma.post.noput") : requirement("rma.post.nostore"));
    int const asserted = which == assertion::none      ? 0
                         : which == assertion::nostore ? MPI_MODE_NOSTORE
                         : which == assertion::noput   ? MPI_MODE_NOPUT
                                                       : MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
    auto const n = static_cast<int>(mpi.at(lengths));
    int const to = right_of(mpi), from = left_of(mpi);
    int_window win(mpi, mpi.at(flavors()), mpi.at(lengths), int_window::use::active, -1);
    if (!win.made()) return;
    some_ranks const targets(mpi, win, {to}), origins(mpi, win, {from});
    for (int round = 1; round <= 2; ++round) {
        std::vector<int> const out(win.size(), 100 * round + mpi.rank);
        std::vector<int> in(win.size(), -7);
        mpi.ok(MPI_Win_post(origins, 0, win));
        mpi.ok(MPI_Win_start(targets, 0, win));
        put_all(mpi, win, to, out);
        mpi.ok(MPI_Win_complete(win));
        mpi.ok(MPI_Win_wait(win));
        mpi.ok(MPI_Win_post(origins, asserted, win)); // nobody has stored since MPI_Win_wait
        mpi.ok(MPI_Win_start(targets, 0, win));
        mpi.ok(MPI_Get(in.data(), n, MPI_INT, to, win.at(to), n, MPI_INT, win));
        mpi.ok(MPI_Win_complete(win));
        mpi.ok(MPI_Win_wait(win));
        expect_ints(mpi, in, out, "what was got");
        expect_ints(mpi, win.loaded(), std::vector<int>(win.size(), 100 * round + from), "the window");
    }
}

// Figure 34 of MPI-5.0: the target waits for a message that the origin sends after MPI_Win_complete.
ASSAY_TEST(rma, complete_first, requirements{"rma.progress.complete"},
           over(axis_use{&flavors()}, axis_use{&lengths}, communicators::of({"world", "reversed"}))) {
    int_window win(mpi, mpi.at(flavors()), mpi.at(lengths), int_window::use::active, -1);
    if (!win.made()) return;
    bool const origin = mpi.rank % 2 == 0 && mpi.rank + 1 < mpi.size, target = mpi.rank % 2 == 1;
    if (origin) {
        some_ranks const targets(mpi, win, {mpi.rank + 1});
        std::vector<int> const out(win.size(), 300 + mpi.rank);
        mpi.ok(MPI_Win_start(targets, 0, win));
        put_all(mpi, win, mpi.rank + 1, out);
        mpi.ok(MPI_Win_complete(win));
        tell(mpi, mpi.rank + 1);
    }
    if (target) {
        some_ranks const origins(mpi, win, {mpi.rank - 1});
        mpi.ok(MPI_Win_post(origins, 0, win));
        hear(mpi, mpi.rank - 1);
        mpi.ok(MPI_Win_wait(win));
        expect_ints(mpi, win.loaded(), std::vector<int>(win.size(), 300 + mpi.rank - 1), "the window");
    }
}

// Figure 32: each puts into the window of the other, whatever the amount.
ASSAY_TEST(rma, symmetric, requirements{"rma.progress.symmetric", "rma.epochs.one_to_one"},
           over(axis_use{&flavors()}, axis_use{&lengths}, communicators::of({"world", "self", "reversed"}))) {
    int const partner = mpi.rank % 2 == 1 ? mpi.rank - 1 : mpi.rank + 1 < mpi.size ? mpi.rank + 1 : mpi.rank;
    int_window win(mpi, mpi.at(flavors()), mpi.at(lengths), int_window::use::active, -1);
    if (!win.made()) return;
    some_ranks const both(mpi, win, {partner});
    for (int round = 1; round <= 4; ++round) {
        if (mpi.rank % 2 == round % 2) usleep(300); // the other gets ahead
        std::vector<int> const out(win.size(), 100 * round + mpi.rank);
        mpi.ok(MPI_Win_post(both, 0, win));
        mpi.ok(MPI_Win_start(both, 0, win));
        put_all(mpi, win, partner, out);
        mpi.ok(MPI_Win_complete(win));
        mpi.ok(MPI_Win_wait(win));
        expect_ints(mpi, win.loaded(), std::vector<int>(win.size(), 100 * round + partner), "the window");
    }
}
