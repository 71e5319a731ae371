// Atomic updates of one location by every rank at once (MPI-5.0 sections 12.3.4.2 to 12.3.4.4 and 12.7.1). What each
// rank fetched depends on timing; that together it makes sense does not:
// - adding one hands out every number once, exchanging hands on every value once;
// - of all ranks that compare with the first value one wins, and the others are told who.
#include "suites/rma/window.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

enum class fetch { fetch_and_op, get_accumulate, rget_accumulate };
axis<fetch> const fetches("fetch", {{{"fetch_and_op", "MPI_Fetch_and_op"}, fetch::fetch_and_op},
                                    {{"get_accumulate", "MPI_Get_accumulate"}, fetch::get_accumulate},
                                    {{"rget_accumulate", "MPI_Rget_accumulate"}, fetch::rget_accumulate}});

enum class hand { out, on };
axis<hand> const ways("way", {{{"add_one", "MPI_SUM of one: every number is handed out once"}, hand::out},
                              {{"exchange", "MPI_REPLACE: every value is handed on once"}, hand::on}});

// Integers of at least two bytes that reductions are defined for (section 6.9.2).
bool counter(datatype const& type) {
    for (auto const* name :
         {"short", "unsigned_short", "int", "unsigned", "long", "unsigned_long", "long_long", "unsigned_long_long",
          "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "aint", "offset", "count"})
        if (type.name == name) return true;
    return false;
}
// Those that may be compared and swapped (section 12.3.4.4), without the logical ones.
bool swaps(datatype const& type) {
    for (auto const* name : {"signed_char", "unsigned_char", "int8_t", "uint8_t", "byte"})
        if (type.name == name) return true;
    return counter(type);
}

constexpr int rounds = 3; // times that each rank comes

// Small numbers as they lie in memory.
class numbers {
public:
    numbers(layout const& map, std::size_t n) : size_(map.size()), bytes_(n * map.size()) {}
    void set(std::size_t at, std::int64_t value) { std::memcpy(bytes_.data() + at * size_, &value, size_); }
    unsigned char const* data() const { return bytes_.data(); }

private:
    std::size_t size_; // little endian, like the masks of datatypes/predefined.cpp
    std::vector<unsigned char> bytes_;
};

std::int64_t number_at(buffer const& b, layout const& map, std::size_t at) {
    std::int64_t value = 0;
    std::memcpy(&value, static_cast<unsigned char const*>(b.address()) + at * map.size(), map.size());
    return value;
}

// A buffer of one number, and poison around it.
buffer& number(test_run& mpi, numbers& bytes, std::int64_t value) {
    bytes.set(0, value);
    auto& b = mpi.bytes(mpi.map, 1);
    b.fill({.first = 0, .count = 1, .stream = bytes.data()});
    return b;
}

// What a result buffer got, after a look at what lies around it.
std::int64_t result_of(test_run& mpi, buffer& result) {
    numbers got(mpi.map, 1);
    auto const value = number_at(result, mpi.map, 0);
    got.set(0, value);
    result.expect({.first = 0, .count = 1, .stream = got.data()}, "of a result");
    return value;
}

} // namespace

ASSAY_TEST(rma, fetch_and_op,
           requirements{"rma.fetch_and_op", "rma.get_accumulate", "rma.atomicity", "rma.ordering",
                        "rma.accumulate.replace"},
           over(axis_use{&fetches}, axis_use{&ways}, checked_syncs(), axis_use{&flavors()}, axis_use{&units()},
                axis_use{&hints()}, communicators::intra(), only(type_axis(), counter)),
           where(fetches, syncs(), [](fetch f, sync_way s) { return f != fetch::rget_accumulate || passive(s); }),
           sensible_unit(), note{"a second epoch marks each number that was fetched"}, thread_safe{}) {
    auto const how = mpi.at(syncs());
    auto const fetch_by = mpi.at(fetches);
    bool const adds = mpi.at(ways) == hand::out;
    auto const who = pattern_of(mpi, shape::to_root);
    auto const total = static_cast<std::size_t>(rounds * mpi.size);
    // Of rank 0: the number that all come for, then a mark for each number that can be fetched.
    window win(mpi, {mpi.at(flavors()), mpi.at(units()), mpi.at(hints())}, mpi.map, 1, static_cast<int>(total) + 2,
               passive(how));
    if (!win.made()) return;
    numbers start(mpi.map, 1), one(mpi.map, 1), other(mpi.map, rounds);
    std::vector<segment> before;
    for (std::size_t s = 0; s < total + 2; ++s) {
        before.push_back(win.slot(static_cast<int>(s)));
        before.back().stream = start.data();
    }
    std::vector<buffer*> givens, results;
    std::vector<numbers> values(rounds, numbers(mpi.map, 1));
    for (int r = 0; r < rounds; ++r) {
        auto const mine = adds ? 1 : 1 + r * mpi.size + mpi.rank;
        givens.push_back(&number(mpi, values[static_cast<std::size_t>(r)], mine));
        results.push_back(&mpi.bytes(mpi.map, 1));
    }
    {
        epoch round(mpi, win, how, who.targets, who.origins, true);
        round.store([&] { win.memory().fill(before); });
        round.begin(0);
        for (std::size_t r = 0; r < rounds; ++r) {
            auto const op = adds ? MPI_SUM : MPI_REPLACE;
            auto const at = win.displacement(0, 0);
            MPI_Request request = MPI_REQUEST_NULL;
            if (fetch_by == fetch::fetch_and_op)
                mpi.ok(MPI_Fetch_and_op(*givens[r], *results[r], mpi.type, 0, at, op, win));
            else if (fetch_by == fetch::get_accumulate)
                mpi.ok(
                    MPI_Get_accumulate(*givens[r], 1, mpi.type, *results[r], 1, mpi.type, 0, at, 1, mpi.type, op, win));
            else
                mpi.ok(MPI_Rget_accumulate(*givens[r], 1, mpi.type, *results[r], 1, mpi.type, 0, at, 1, mpi.type, op,
                                           win, &request));
            if (fetch_by != fetch::rget_accumulate) continue;
            mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
            mpi.check_null(request);
        }
        round.flush(0);
        round.end(0);
        round.flush_all();
        round.finish();
        round.leave();
    }
    std::vector<std::int64_t> fetched;
    for (std::size_t r = 0; r < rounds; ++r) {
        givens[r]->expect_unchanged();
        auto const value = result_of(mpi, *results[r]);
        bool const valid = mpi.check(value >= 0 && value <= static_cast<std::int64_t>(total), finding::data,
                                     fmt::format("fetched {}, which nobody put there", value));
        // The updates of one origin keep their order (section 12.7.2).
        if (adds && valid && !fetched.empty())
            mpi.check(value > fetched.back(), finding::order,
                      fmt::format("fetched {} after {}", value, fetched.back()));
        if (valid) fetched.push_back(value);
    }

    auto& mark = number(mpi, one, 1);
    epoch round(mpi, win, how, who.targets, who.origins, true);
    round.store([] {});
    round.begin(0);
    for (auto const value : fetched)
        mpi.ok(MPI_Accumulate(mark, 1, mpi.type, 0, win.displacement(0, static_cast<int>(value) + 1), 1, mpi.type,
                              MPI_SUM, win));
    round.flush(0);
    round.end(0);
    round.flush_all();
    round.finish();
    if (mpi.rank == 0) {
        auto const last = number_at(win.memory(), mpi.map, win.slot(0).first);
        mpi.check(adds ? last == static_cast<std::int64_t>(total) : last > 0 && last <= static_cast<int>(total),
                  finding::data, fmt::format("{} is left after {} updates", last, total));
        numbers left(mpi.map, 1);
        left.set(0, last);
        auto after = before;
        after[0].stream = left.data();
        for (std::size_t s = 1; s < after.size(); ++s)
            after[s].stream = s == static_cast<std::size_t>(last) + 1 ? start.data() : one.data();
        win.memory().expect(after, fmt::format("of the marks of what was fetched, {} was left", last));
    } else {
        win.memory().expect(before, "of a window that is no target");
    }
    round.leave();
    mark.expect_unchanged();
}

namespace {
enum class contest { equal, different };
axis<contest> const contests("compare", {{{"equal", "with the value that is there first"}, contest::equal},
                                         {{"different", "with another value"}, contest::different}});
} // namespace

ASSAY_TEST(rma, compare_and_swap,
           requirements{"rma.compare_and_swap", "rma.compare_and_swap.unequal", "rma.compare_and_swap.types",
                        "rma.atomicity"},
           over(axis_use{&contests}, checked_syncs(), axis_use{&flavors()}, axis_use{&units()}, axis_use{&hints()},
                communicators::intra(), only(type_axis(), swaps)),
           sensible_unit(), note{"a second epoch gets who won"}, thread_safe{}) {
    constexpr int first = 101;
    auto const how = mpi.at(syncs());
    bool const equal = mpi.at(contests) == contest::equal;
    auto const who = pattern_of(mpi, shape::to_root);
    window win(mpi, {mpi.at(flavors()), mpi.at(units()), mpi.at(hints())}, mpi.map, 1, rounds, passive(how));
    if (!win.made()) return;
    numbers start(mpi.map, 1), mine(mpi.map, 1), other(mpi.map, 1);
    start.set(0, first);
    std::vector<segment> before;
    for (int r = 0; r < rounds; ++r) {
        before.push_back(win.slot(r));
        before.back().stream = start.data();
    }
    auto& swap = number(mpi, mine, mpi.rank % 100 + 1);
    auto& with = number(mpi, other, equal ? first : first + 1);
    std::vector<buffer*> results, winners;
    for (int r = 0; r < rounds; ++r) {
        results.push_back(&mpi.bytes(mpi.map, 1));
        winners.push_back(&mpi.bytes(mpi.map, 1));
    }
    {
        epoch round(mpi, win, how, who.targets, who.origins, true);
        round.store([&] { win.memory().fill(before); });
        round.begin(0);
        for (int r = 0; r < rounds; ++r)
            mpi.ok(MPI_Compare_and_swap(swap, with, *results[static_cast<std::size_t>(r)], mpi.type, 0,
                                        win.displacement(0, r), win));
        round.flush(0);
        round.end(0);
        round.flush_all();
        round.finish();
        round.leave();
    }
    epoch round(mpi, win, how, who.targets, who.origins, false);
    round.store([] {});
    round.begin(0);
    for (int r = 0; r < rounds; ++r)
        mpi.ok(
            MPI_Get(*winners[static_cast<std::size_t>(r)], 1, mpi.type, 0, win.displacement(0, r), 1, mpi.type, win));
    round.flush(0);
    round.end(0);
    round.flush_all();
    round.finish();
    auto after = before;
    std::vector<numbers> left(rounds, numbers(mpi.map, 1));
    if (mpi.rank == 0)
        for (std::size_t r = 0; r < rounds; ++r) {
            auto const value = number_at(win.memory(), mpi.map, win.slot(static_cast<int>(r)).first);
            mpi.check(equal ? value >= 1 && value <= mpi.size : value == first, finding::data,
                      fmt::format("{} is left of {} after {} ranks compared it with {}", value, first, mpi.size,
                                  equal ? first : first + 1));
            left[r].set(0, value);
            after[r].stream = left[r].data();
        }
    win.memory().expect(after, "of a window after swaps");
    round.leave();
    for (std::size_t r = 0; r < rounds; ++r) {
        auto const got = result_of(mpi, *results[r]), winner = result_of(mpi, *winners[r]);
        // The value that is left is that of the one swap that found the first value; all others found what it left.
        auto const expected = !equal || winner == mpi.rank % 100 + 1 ? first : winner;
        mpi.check(got == expected, finding::data,
                  fmt::format("the comparison found {}, expected {}; {} is left", got, expected, winner));
    }
    swap.expect_unchanged();
    with.expect_unchanged();
}

// Reading, adding one and writing back, as two accesses that nobody may come between.
ASSAY_TEST(rma, exclusive_lock, requirements{"rma.lock.exclusive", "rma.flush"},
           over(axis_use{&flavors()}, axis_use{&units()}, axis_use{&hints()}, communicators::intra(),
                datatypes::of({"int", "int64_t"})),
           sensible_unit(), thread_safe{}) {
    auto const who = pattern_of(mpi, shape::to_root);
    window win(mpi, {mpi.at(flavors()), mpi.at(units()), mpi.at(hints())}, mpi.map, 1, 1, true);
    if (!win.made()) return;
    numbers value(mpi.map, 1), expected(mpi.map, 1);
    auto content = win.slot(0);
    content.stream = value.data();
    epoch round(mpi, win, sync_way::lock_exclusive, who.targets, who.origins, true);
    round.store([&] { win.memory().fill(content); });
    auto& in = mpi.bytes(mpi.map, 1);
    for (int r = 0; r < rounds; ++r) {
        round.begin(0);
        mpi.ok(MPI_Get(in, 1, mpi.type, 0, win.displacement(0, 0), 1, mpi.type, win));
        mpi.ok(MPI_Win_flush(0, win));
        auto& out = number(mpi, value, number_at(in, mpi.map, 0) + 1);
        mpi.ok(MPI_Put(out, 1, mpi.type, 0, win.displacement(0, 0), 1, mpi.type, win));
        round.end(0);
        out.expect_unchanged();
    }
    round.finish();
    expected.set(0, mpi.rank == 0 ? rounds * mpi.size : 0);
    content.stream = expected.data();
    win.memory().expect(content, "of a number that every rank increased under an exclusive lock");
    round.leave();
}
