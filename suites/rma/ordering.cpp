// The order of accumulates of one origin to the same locations (MPI-5.0 section 12.7.2): reads and writes, each of many.
#include "suites/rma/int_window.hpp"

#include <fmt/format.h>
#include <list>

using namespace assay;
using namespace assay::rma;

namespace {

enum class pair { waw, raw, war, rar };
axis<pair> const pairs("order", {{{"waw", "write after write"}, pair::waw},
                                 {{"raw", "read after write"}, pair::raw},
                                 {{"war", "write after read"}, pair::war},
                                 {{"rar", "read after read, while another process adds"}, pair::rar}});
requirement requirement_of(pair which) {
    switch (which) {
    case pair::waw: return "rma.ordering.waw";
    case pair::raw: return "rma.ordering.raw";
    case pair::war: return "rma.ordering.war";
    default: return "rma.ordering.rar";
    }
}
enum class listed { default_, all, this_one, this_and_next };
axis<listed> const lists("hint", {{{"none", "no accumulate_ordering"}, listed::default_},
                                  {{"all", "all four, in another order"}, listed::all},
                                  {{"only", "only the one that is tested"}, listed::this_one},
                                  {{"two", "that one and another one"}, listed::this_and_next}});
axis<std::size_t> const lengths("count", {{{"1", "one int"}, 1}, {{"20000", "80 kB"}, 20000}});
enum class by { accumulate, single, request };
axis<by> const procedures("by", {{{"accumulate", "MPI_Accumulate and MPI_Get_accumulate"}, by::accumulate},
                                 {{"fetch_and_op", "MPI_Fetch_and_op, of one element"}, by::single},
                                 {{"request", "MPI_Raccumulate and MPI_Rget_accumulate"}, by::request}});
enum class epoch_by { lock, lock_all, fence, post };
axis<epoch_by> const syncs_of_order("sync", {{{"lock", "MPI_Win_lock, shared"}, epoch_by::lock},
                                             {{"lock_all", "MPI_Win_lock_all"}, epoch_by::lock_all},
                                             {{"fence", "MPI_Win_fence"}, epoch_by::fence},
                                             {{"post", "MPI_Win_post, start, complete, wait"}, epoch_by::post}});

std::string list_of(pair which, listed how) {
    switch (how) {
    case listed::all: return "waw,raw,rar,war";
    case listed::this_one: return pairs.info(static_cast<std::size_t>(which)).name;
    case listed::this_and_next: return list_of(which, listed::this_one) + (which == pair::rar ? ",waw" : ",rar");
    default: return "";
    }
}

constexpr int steps = 6;

// Reads and writes of a run of ints at one target, none of which is complete before the epoch ends.
class stream {
public:
    stream(test_run& mpi, int_window& win, int target) : mpi_(mpi), win_(win), target_(target) {}
    ~stream() { mpi_.ok(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE)); }
    stream(stream const&) = delete;
    stream& operator=(stream const&) = delete;

    void write(int value, MPI_Op op = MPI_REPLACE) { write(value, 0, win_.size(), op); }
    void write(int value, std::size_t first, std::size_t count, MPI_Op op = MPI_REPLACE) {
        auto& out = buffers_.emplace_back(count, value);
        auto const n = static_cast<int>(count);
        auto const at = win_.at(target_, first);
        switch (mpi_.at(procedures)) {
        case by::accumulate: mpi_.ok(MPI_Accumulate(out.data(), n, MPI_INT, target_, at, n, MPI_INT, op, win_)); break;
        case by::single: {
            auto& ignored = buffers_.emplace_back(1, -7);
            mpi_.ok(MPI_Fetch_and_op(out.data(), ignored.data(), MPI_INT, target_, at, op, win_));
            break;
        }
        case by::request:
            mpi_.ok(MPI_Raccumulate(out.data(), n, MPI_INT, target_, at, n, MPI_INT, op, win_, &new_request()));
            break;
        }
    }
    // What is read is there when the epoch is over.
    std::vector<int> const& read() {
        auto& in = buffers_.emplace_back(win_.size(), -7);
        auto const n = static_cast<int>(in.size());
        auto const at = win_.at(target_);
        switch (mpi_.at(procedures)) {
        case by::accumulate:
            mpi_.ok(MPI_Get_accumulate(&ignored_, 0, MPI_INT, in.data(), n, MPI_INT, target_, at, n, MPI_INT, MPI_NO_OP,
                                       win_));
            break;
        case by::single: mpi_.ok(MPI_Fetch_and_op(&ignored_, in.data(), MPI_INT, target_, at, MPI_NO_OP, win_)); break;
        case by::request:
            mpi_.ok(MPI_Rget_accumulate(&ignored_, 0, MPI_INT, in.data(), n, MPI_INT, target_, at, n, MPI_INT,
                                        MPI_NO_OP, win_, &new_request()));
            break;
        }
        return in;
    }

private:
    MPI_Request& new_request() { return requests_.emplace_back(MPI_REQUEST_NULL); }

    test_run& mpi_;
    int_window& win_;
    int target_;
    int ignored_ = 0;
    std::list<std::vector<int>> buffers_;
    std::vector<MPI_Request> requests_;
};

} // namespace

ASSAY_TEST(rma, ordered,
           requirements{"rma.ordering.waw", "rma.ordering.raw", "rma.ordering.war", "rma.ordering.rar",
                        "rma.ordering.hint"},
           over(axis_use{&pairs}, axis_use{&lists}, axis_use{&procedures}, axis_use{&syncs_of_order},
                axis_use{&flavors()}, axis_use{&lengths}, communicators::of({"world", "self", "reversed"})),
           where(procedures, lengths, [](by b, std::size_t n) { return b != by::single || n == 1; }),
           where(procedures, syncs_of_order,
                 [](by b, epoch_by s) { return b != by::request || s == epoch_by::lock || s == epoch_by::lock_all; }),
           note{"six reads or writes of each rank to its right neighbour, in one epoch"}) {
    auto const which = mpi.at(pairs);
    auto const how = mpi.at(syncs_of_order);
    MPI_Info info = MPI_INFO_NULL;
    if (mpi.at(lists) != listed::default_) {
        mpi.ok(MPI_Info_create(&info));
        mpi.ok(MPI_Info_set(info, "accumulate_ordering", list_of(which, mpi.at(lists)).c_str()));
    }
    bool const passive = how == epoch_by::lock || how == epoch_by::lock_all;
    int_window win(mpi, mpi.at(flavors()), mpi.at(lengths),
                   passive ? int_window::use::passive : int_window::use::active, 0, info);
    if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
    if (!win.made()) return;
    auto const rests =
        mpi.resting_on(mpi.at(lists) == listed::default_ ? requirement_of(which) : requirement("rma.ordering.hint"));
    // With read after read the right neighbour adds to its own window meanwhile.
    int const to = right_of(mpi), from = left_of(mpi);
    std::vector<int> const group = which == pair::rar && to != mpi.rank ? std::vector{to, mpi.rank} : std::vector{to};
    std::vector<int> const sources =
        which == pair::rar && to != mpi.rank ? std::vector{from, mpi.rank} : std::vector{from};
    some_ranks const targets(mpi, win, group), origins(mpi, win, sources);
    std::vector<std::vector<int> const*> reads;
    stream there(mpi, win, to), own(mpi, win, mpi.rank);
    switch (how) {
    case epoch_by::fence: mpi.ok(MPI_Win_fence(0, win)); break;
    case epoch_by::post:
        mpi.ok(MPI_Win_post(origins, 0, win));
        mpi.ok(MPI_Win_start(targets, 0, win));
        break;
    case epoch_by::lock_all: mpi.ok(MPI_Win_lock_all(0, win)); break;
    case epoch_by::lock:
        for (int const rank : group) mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
        break;
    }
    for (int step = 1; step <= steps; ++step) switch (which) {
        case pair::waw: there.write(100 * mpi.rank + step); break;
        case pair::raw:
            there.write(100 * mpi.rank + step);
            reads.push_back(&there.read());
            break;
        case pair::war:
            reads.push_back(&there.read());
            there.write(100 * mpi.rank + step);
            break;
        case pair::rar:
            if (to != mpi.rank) own.write(1, MPI_SUM);
            reads.push_back(&there.read());
            break;
        }
    switch (how) {
    case epoch_by::fence: mpi.ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win)); break;
    case epoch_by::post:
        mpi.ok(MPI_Win_complete(win));
        mpi.ok(MPI_Win_wait(win));
        break;
    case epoch_by::lock_all: mpi.ok(MPI_Win_unlock_all(win)); break;
    case epoch_by::lock:
        for (int const rank : group) mpi.ok(MPI_Win_unlock(rank, win));
        break;
    }
    barrier(mpi);
    auto const expected = [&](int step) { return std::vector<int>(win.size(), step == 0 ? 0 : 100 * mpi.rank + step); };
    std::vector<int> last(win.size(), 0);
    for (int step = 1; step <= static_cast<int>(reads.size()); ++step) {
        auto const& in = *reads[static_cast<std::size_t>(step - 1)];
        if (which == pair::raw) expect_ints(mpi, in, expected(step), "a read after a write");
        if (which == pair::war) expect_ints(mpi, in, expected(step - 1), "a read before a write");
        for (std::size_t i = 0; which == pair::rar && i < in.size(); ++i)
            if (!mpi.check(in[i] >= last[i] && in[i] <= steps, finding::order,
                           fmt::format("a read gives {} after {}", in[i], last[i])))
                break;
        last = in;
    }
    int const left = which != pair::rar ? 100 * from + steps : to != mpi.rank ? steps : 0;
    expect_ints(mpi, passive ? win.content() : win.loaded(), std::vector<int>(win.size(), left), "the window");
    barrier(mpi);
}

// The second write begins in the middle of the first, the third in the middle of the second.
ASSAY_TEST(rma, ordered_parts, requirements{"rma.ordering.overlapping"},
           over(only(procedures, [](by b) { return b != by::single; }),
                only(syncs_of_order, [](epoch_by s) { return s == epoch_by::lock || s == epoch_by::lock_all; }),
                axis_use{&flavors()}, only(lengths, [](std::size_t n) { return n > 1; }),
                communicators::of({"world", "self", "reversed"}))) {
    int const to = right_of(mpi), from = left_of(mpi);
    auto const n = mpi.at(lengths), half = n / 2, quarter = n / 4;
    bool const all = mpi.at(syncs_of_order) == epoch_by::lock_all;
    int_window win(mpi, mpi.at(flavors()), n);
    if (!win.made()) return;
    std::vector<int> const* read = nullptr;
    stream there(mpi, win, to);
    if (all) mpi.ok(MPI_Win_lock_all(0, win));
    else mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    there.write(10 + mpi.rank, 0, half + quarter);
    there.write(20 + mpi.rank, quarter, half);
    there.write(30 + mpi.rank, half, half);
    read = &there.read();
    if (all) mpi.ok(MPI_Win_unlock_all(win));
    else mpi.ok(MPI_Win_unlock(to, win));
    barrier(mpi);
    auto const by_rank = [&](int rank) {
        std::vector<int> expected(quarter, 10 + rank);
        expected.resize(half, 20 + rank);
        expected.resize(n, 30 + rank);
        return expected;
    };
    expect_ints(mpi, *read, by_rank(mpi.rank), "what was read after overlapping writes");
    expect_ints(mpi, win.content(), by_rank(from), "the window after overlapping writes");
    barrier(mpi);
}
