// Fences one after the other, each with what may be asserted of it (MPI-5.0 sections 12.5.1 and 12.5.5), and epochs with
// something else in them, or nothing (12.5).
#include "suites/rma/int_window.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

using namespace assay;
using namespace assay::rma;

namespace {

enum class assertion { none, noprecede, nosucceed, nostore, noput, all };
axis<assertion> const assertions("assert", {{{"none", "no assertion"}, assertion::none},
                                            {{"noprecede", "MPI_MODE_NOPRECEDE"}, assertion::noprecede},
                                            {{"nosucceed", "MPI_MODE_NOSUCCEED"}, assertion::nosucceed},
                                            {{"nostore", "MPI_MODE_NOSTORE"}, assertion::nostore},
                                            {{"noput", "MPI_MODE_NOPUT"}, assertion::noput},
                                            {{"all", "all of them where they hold"}, assertion::all}});
axis<std::size_t> const lengths("count", {{{"1", "one int"}, 1}, {{"50000", "200 kB"}, 50000}});

requirement requirement_of(assertion one) {
    switch (one) {
    case assertion::noprecede: return "rma.fence.noprecede";
    case assertion::nosucceed: return "rma.fence.nosucceed";
    case assertion::nostore: return "rma.fence.nostore";
    case assertion::noput: return "rma.fence.noput";
    default: return "rma.fence.closes_and_opens";
    }
}

} // namespace

// Stores, fence, puts, fence, gets, fence; three times.
ASSAY_TEST(rma, fences,
           requirements{"rma.fence.closes_and_opens", "rma.fence.noprecede", "rma.fence.nosucceed", "rma.fence.nostore",
                        "rma.fence.noput"},
           over(axis_use{&assertions}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed", "dup"}))) {
    auto const which = mpi.at(assertions);
    auto const rests = mpi.resting_on(requirement_of(which));
    auto const if_asserted = [&](assertion one, int mode) {
        return which == one || which == assertion::all ? mode : 0;
    };
    int const noprecede = if_asserted(assertion::noprecede, MPI_MODE_NOPRECEDE),
              nosucceed = if_asserted(assertion::nosucceed, MPI_MODE_NOSUCCEED),
              nostore = if_asserted(assertion::nostore, MPI_MODE_NOSTORE),
              noput = if_asserted(assertion::noput, MPI_MODE_NOPUT);
    auto const n = static_cast<int>(mpi.at(lengths));
    int const to = right_of(mpi), from = left_of(mpi);
    int_window win(mpi, mpi.at(flavors()), mpi.at(lengths) + 1, int_window::use::active, -1);
    if (!win.made()) return;
    for (int round = 1; round <= 3; ++round) {
        int const stored = 10 * round + mpi.rank;
        std::vector<int> const out(mpi.at(lengths), 1000 * round + mpi.rank);
        std::vector<int> in(mpi.at(lengths) + 1, -7), expected(mpi.at(lengths), 1000 * round + from);
        win.memory()[n] = stored;
        mpi.ok(MPI_Win_fence(noprecede, win));
        mpi.ok(MPI_Put(out.data(), n, MPI_INT, to, win.at(to), n, MPI_INT, win));
        mpi.ok(MPI_Win_fence(nostore | noput, win));
        mpi.ok(MPI_Get(in.data(), n + 1, MPI_INT, to, win.at(to), n + 1, MPI_INT, win));
        expected.push_back(stored);
        expect_ints(mpi, win.loaded(), expected, "the window after a fence");
        mpi.ok(MPI_Win_fence(nosucceed | nostore | noput, win));
        expected.assign(out.begin(), out.end());
        expected.push_back(10 * round + to);
        expect_ints(mpi, in, expected, "what was got between two fences");
    }
}

// One rank comes late to each fence, and stores before it; the others may be in the next epoch.
ASSAY_TEST(rma, fence_late, requirements{"rma.fence.after_target"},
           over(axis_use{&flavors()}, communicators::of({"world", "reversed"}))) {
    int_window win(mpi, mpi.at(flavors()), 2, int_window::use::active, -1);
    if (!win.made()) return;
    int const to = right_of(mpi), from = left_of(mpi);
    for (int round = 1; round <= 2 * mpi.size; ++round) {
        if (round % mpi.size == mpi.rank) usleep(2000);
        win.memory()[0] = -round; // a put of this round that came already would be lost
        int const out = 100 * round + mpi.rank;
        mpi.ok(MPI_Win_fence(0, win));
        mpi.ok(MPI_Put(&out, 1, MPI_INT, to, win.at(to), 1, MPI_INT, win));
        mpi.ok(MPI_Win_fence(0, win));
        expect_ints(mpi, win.loaded(), {100 * round + from, -1}, "the window after a fence");
    }
}

ASSAY_TEST(rma, empty_epochs, requirements{"rma.epochs.empty"},
           over(checked_syncs(), axis_use{&flavors()}, communicators::of({"world", "self", "reversed"}),
                datatypes::of({"int"}), counts::elements({3})),
           note{"two epochs without an access, then one with puts, then one without again"}) {
    auto const how = mpi.at(syncs());
    auto const who = pattern_of(mpi, shape::ring);
    window win(mpi, {mpi.at(flavors()), unit::byte, false}, mpi.map, mpi.elements, 1, passive(how));
    if (!win.made()) return;
    int const to = who.targets[0];
    auto content = win.slot(0);
    content.key = mpi.key_from(who.origins[0]);
    auto& out = mpi.outgoing(to);
    for (int turn = 0; turn < 4; ++turn) {
        epoch round(mpi, win, how, who.targets, who.origins, turn == 2);
        round.store([&] {
            if (turn < 2) win.memory().poison();
        });
        round.begin(to);
        if (turn == 2) mpi.ok(MPI_Put(out, mpi.count, mpi.type, to, win.displacement(to, 0), mpi.count, mpi.type, win));
        round.flush(to);
        round.end(to);
        round.flush_all();
        round.finish();
        if (turn < 2) win.memory().expect_untouched();
        else win.memory().expect(content, "of a window after epochs without an access");
        round.leave();
    }
}

ASSAY_TEST(rma, busy_epochs, requirements{"rma.epochs.other_calls"},
           over(checked_syncs(), axis_use{&flavors()}, communicators::of({"world", "self", "reversed"}),
                datatypes::of({"int"}), counts::elements({17})),
           note{"messages and a collective operation between a put and the end of its epoch"}) {
    auto const how = mpi.at(syncs());
    auto const who = pattern_of(mpi, shape::ring);
    window win(mpi, {mpi.at(flavors()), unit::byte, false}, mpi.map, mpi.elements, 1, passive(how));
    if (!win.made()) return;
    int const to = who.targets[0], from = who.origins[0];
    auto content = win.slot(0);
    content.key = mpi.key_from(from);
    auto &out = mpi.outgoing(to), &sent = mpi.outgoing(to, 1), &in = mpi.incoming();
    epoch round(mpi, win, how, who.targets, who.origins, true);
    round.store([&] { win.memory().poison(); });
    // Under an exclusive lock nothing may wait for another process that needs the lock: in the ring each locks another window.
    round.begin(to);
    mpi.ok(MPI_Put(out, mpi.count, mpi.type, to, win.displacement(to, 0), mpi.count, mpi.type, win));
    mpi.ok(MPI_Sendrecv(sent, mpi.count, mpi.type, to, mpi.tag(0), in, mpi.count, mpi.type, from, mpi.tag(0), mpi.comm,
                        MPI_STATUS_IGNORE));
    in.expect(mpi.key_from(from, 1), mpi.elements, "a message within an epoch");
    int const one = 1;
    int sum = -7;
    mpi.ok(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, mpi.comm));
    mpi.check(sum == mpi.size, finding::value,
              fmt::format("MPI_Allreduce within an epoch gives {}, expected {}", sum, mpi.size));
    round.flush(to);
    round.end(to);
    round.flush_all();
    round.finish();
    win.memory().expect(content, "of a window after an epoch with messages");
    round.leave();
}
