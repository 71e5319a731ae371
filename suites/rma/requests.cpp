// Requests of accesses: who completes them, together with what, and what is true then (MPI-5.0 section 12.3.5).
#include "suites/common/completion.hpp"
#include "suites/rma/int_window.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

axis<bool> const locking("lock", {{{"one", "MPI_Win_lock, shared"}, false}, {{"all", "MPI_Win_lock_all"}, true}});
axis<int> const lengths("count", {{{"1", "one int"}, 1}, {{"30000", "120 kB"}, 30000}});

void lock(test_run& mpi, MPI_Win win, int target) {
    mpi.ok(mpi.at(locking) ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
}
void unlock(test_run& mpi, MPI_Win win, int target) {
    mpi.ok(mpi.at(locking) ? MPI_Win_unlock_all(win) : MPI_Win_unlock(target, win));
}

// One of each kind of access to the right neighbour, whose window has a part for each.
class four_accesses {
public:
    four_accesses(test_run& mpi, int_window& win, int n, int round) : mpi_(mpi), win_(win), n_(n), round_(round) {}

    static void fill(int_window& win, int n) {
        win.locally([&](int volatile* memory) {
            for (int part = 0; part < 4; ++part) std::fill_n(memory + part * n, n, 1000 * (part + 1));
        });
    }
    std::vector<MPI_Request> start() {
        int const to = right_of(mpi_);
        std::vector<MPI_Request> r(4, MPI_REQUEST_NULL);
        for (auto* out : {&put_, &added_, &exchanged_})
            out->assign(static_cast<std::size_t>(n_), 10 * round_ + mpi_.rank);
        for (auto* in : {&got_, &fetched_}) in->assign(static_cast<std::size_t>(n_), -7);
        auto const at = [&](int part) { return win_.at(to, static_cast<std::size_t>(part * n_)); };
        mpi_.ok(MPI_Rput(put_.data(), n_, MPI_INT, to, at(0), n_, MPI_INT, win_, &r[0]));
        mpi_.ok(MPI_Rget(got_.data(), n_, MPI_INT, to, at(1), n_, MPI_INT, win_, &r[1]));
        mpi_.ok(MPI_Raccumulate(added_.data(), n_, MPI_INT, to, at(2), n_, MPI_INT, MPI_SUM, win_, &r[2]));
        mpi_.ok(MPI_Rget_accumulate(exchanged_.data(), n_, MPI_INT, fetched_.data(), n_, MPI_INT, to, at(3), n_,
                                    MPI_INT, MPI_REPLACE, win_, &r[3]));
        return r;
    }
    // As soon as the requests have completed: results are there, and origin buffers may be changed.
    void completed() {
        auto const all = [&](int value) { return std::vector<int>(static_cast<std::size_t>(n_), value); };
        {
            auto const rests = mpi_.resting_on("rma.request.rget");
            expect_ints(mpi_, got_, all(2000), "what MPI_Rget brought");
        }
        auto const rests = mpi_.resting_on("rma.request.rget_accumulate");
        int const before = round_ == 1 ? 4000 : 10 * (round_ - 1) + mpi_.rank;
        expect_ints(mpi_, fetched_, all(before), "what MPI_Rget_accumulate fetched");
        for (auto* out : {&put_, &added_, &exchanged_}) std::fill(out->begin(), out->end(), -9);
    }
    // At the target, after the epoch of the last round.
    void expect_window(int rounds) {
        int const from = left_of(mpi_);
        int added = 3000;
        for (int round = 1; round <= rounds; ++round) added += 10 * round + from;
        struct part {
            requirement on;
            int value;
        };
        std::array<part, 4> const parts{{{"rma.request.rput", 10 * rounds + from},
                                         {"rma.request.rget", 2000},
                                         {"rma.request.raccumulate", added},
                                         {"rma.request.rget_accumulate", 10 * rounds + from}}};
        auto const content = win_.content();
        for (std::size_t p = 0; p < 4; ++p) {
            auto const first = content.begin() + static_cast<std::ptrdiff_t>(p) * n_;
            auto const rests = mpi_.resting_on(parts[p].on);
            expect_ints(mpi_, {first, first + n_}, std::vector<int>(static_cast<std::size_t>(n_), parts[p].value),
                        "a part of the window");
        }
    }

private:
    test_run& mpi_;
    int_window& win_;
    int n_, round_;
    std::vector<int> put_, got_, added_, exchanged_, fetched_;
};

} // namespace

ASSAY_TEST(rma, completed,
           requirements{"rma.request.calls", "rma.request.rput", "rma.request.rget", "rma.request.raccumulate",
                        "rma.request.rget_accumulate"},
           over(axis_use{&completions()}, axis_use{&locking}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed"})),
           note{"an access of each kind, completed together; twice in one epoch"}) {
    int const n = mpi.at(lengths), to = right_of(mpi);
    int_window win(mpi, mpi.at(flavors()), static_cast<std::size_t>(4 * n));
    if (!win.made()) return;
    four_accesses::fill(win, n);
    barrier(mpi);
    four_accesses first(mpi, win, n, 1), second(mpi, win, n, 2);
    lock(mpi, win, to);
    for (auto* round : {&first, &second}) {
        auto requests = round->start();
        complete(mpi, mpi.at(completions()), requests);
        round->completed();
        mpi.ok(MPI_Win_flush(to, win)); // the puts of both rounds go to the same place
    }
    unlock(mpi, win, to);
    barrier(mpi);
    second.expect_window(2);
    barrier(mpi);
}

namespace {
int query_fn(void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
int free_fn(void*) { return MPI_SUCCESS; }
int cancel_fn(void*, int) { return MPI_SUCCESS; }
} // namespace

ASSAY_TEST(rma, mixed_requests, requirements{"rma.request.mixed"},
           over(axis_use{&completions()}, axis_use{&locking}, communicators::of({"world", "self", "reversed"})),
           note{"with requests of messages, of a collective operation and of a generalized one in one list"}) {
    constexpr int n = 100;
    int const to = right_of(mpi), from = left_of(mpi);
    int_window win(mpi, flavor::allocate, 4 * n);
    if (!win.made()) return;
    four_accesses::fill(win, n);
    barrier(mpi);
    four_accesses accesses(mpi, win, n, 1);
    int const sent = 77 + mpi.rank;
    int received = -7;
    MPI_Request more[4];
    lock(mpi, win, to);
    mpi.ok(MPI_Irecv(&received, 1, MPI_INT, from, mpi.tag(0), mpi.comm, &more[0]));
    mpi.ok(MPI_Ibarrier(mpi.comm, &more[1]));
    mpi.ok(MPI_Grequest_start(query_fn, free_fn, cancel_fn, nullptr, &more[2]));
    auto requests = accesses.start();
    mpi.ok(MPI_Isend(&sent, 1, MPI_INT, to, mpi.tag(0), mpi.comm, &more[3]));
    mpi.ok(MPI_Grequest_complete(more[2]));
    for (std::size_t i = 0; i < 4; ++i) requests.insert(requests.begin() + static_cast<std::ptrdiff_t>(2 * i), more[i]);
    complete(mpi, mpi.at(completions()), requests);
    expect_int(mpi, received, 77 + from, "the message");
    accesses.completed();
    unlock(mpi, win, to);
    barrier(mpi);
    accesses.expect_window(1);
    barrier(mpi);
}

namespace {
enum class end { unlock, flush, flush_all, flush_local, flush_local_all };
axis<end> const ends("end", {{{"unlock", "MPI_Win_unlock or MPI_Win_unlock_all"}, end::unlock},
                             {{"flush", "MPI_Win_flush"}, end::flush},
                             {{"flush_all", "MPI_Win_flush_all"}, end::flush_all},
                             {{"flush_local", "MPI_Win_flush_local"}, end::flush_local},
                             {{"flush_local_all", "MPI_Win_flush_local_all"}, end::flush_local_all}});
} // namespace

ASSAY_TEST(rma, request_outlives_epoch, requirements{"rma.request.epoch_end"},
           over(axis_use{&ends}, axis_use{&locking}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed"})),
           note{"the results are looked at before the requests are waited for"}) {
    int const n = mpi.at(lengths), to = right_of(mpi);
    int_window win(mpi, mpi.at(flavors()), static_cast<std::size_t>(4 * n));
    if (!win.made()) return;
    four_accesses::fill(win, n);
    barrier(mpi);
    four_accesses accesses(mpi, win, n, 1);
    lock(mpi, win, to);
    auto requests = accesses.start();
    switch (mpi.at(ends)) {
    case end::unlock: unlock(mpi, win, to); break;
    case end::flush: mpi.ok(MPI_Win_flush(to, win)); break;
    case end::flush_all: mpi.ok(MPI_Win_flush_all(win)); break;
    case end::flush_local: mpi.ok(MPI_Win_flush_local(to, win)); break;
    case end::flush_local_all: mpi.ok(MPI_Win_flush_local_all(win)); break;
    }
    accesses.completed();
    for (auto& request : requests) {
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        mpi.check_null(request);
    }
    if (mpi.at(ends) != end::unlock) unlock(mpi, win, to);
    barrier(mpi);
    accesses.expect_window(1);
    barrier(mpi);
}

namespace {
enum class own { rget, get, rput };
axis<own> const own_accesses("access", {{{"rget", "MPI_Rget into the own window"}, own::rget},
                                        {{"get", "MPI_Get into the own window"}, own::get},
                                        {{"rput", "MPI_Rput from the own window"}, own::rput}});
} // namespace

// The first half of each window is read by others, the second is theirs to write, and neither at once.
ASSAY_TEST(rma, own_window, requirements{"rma.request.own_window", "rma.get.own_window"},
           over(axis_use{&own_accesses}, axis_use{&locking}, axis_use{&flavors()}, axis_use{&lengths},
                communicators::of({"world", "self", "reversed"})),
           note{"the origin buffer lies in the window of the origin"}) {
    int const n = mpi.at(lengths), to = right_of(mpi), from = left_of(mpi);
    auto const how = mpi.at(own_accesses);
    int_window win(mpi, mpi.at(flavors()), static_cast<std::size_t>(2 * n), int_window::use::passive, -1);
    if (!win.made()) return;
    win.locally([&](int volatile* memory) { std::fill_n(memory, n, 30 + mpi.rank); });
    barrier(mpi);
    auto const half = static_cast<std::size_t>(n);
    auto* const mine = const_cast<int*>(win.memory());
    MPI_Request request = MPI_REQUEST_NULL;
    lock(mpi, win, to);
    switch (how) {
    case own::rget: mpi.ok(MPI_Rget(mine + n, n, MPI_INT, to, win.at(to), n, MPI_INT, win, &request)); break;
    case own::get: mpi.ok(MPI_Get(mine + n, n, MPI_INT, to, win.at(to), n, MPI_INT, win)); break;
    case own::rput: mpi.ok(MPI_Rput(mine, n, MPI_INT, to, win.at(to, half), n, MPI_INT, win, &request)); break;
    }
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (how == own::get) mpi.ok(MPI_Win_flush(to, win));
    auto const rests =
        mpi.resting_on(how == own::get ? requirement("rma.get.own_window") : requirement("rma.request.own_window"));
    if (how != own::rput)
        expect_ints(mpi, {mine + n, mine + 2 * n}, std::vector<int>(half, 30 + to), "what was got into the own window");
    unlock(mpi, win, to);
    barrier(mpi);
    auto const content = win.content();
    std::vector<int> expected(half, 30 + mpi.rank);
    expected.insert(expected.end(), half, 30 + (how == own::rput ? from : to));
    expect_ints(mpi, content, expected, "the window");
    barrier(mpi);
}
