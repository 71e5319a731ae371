// Info hints of windows (MPI-5.0 sections 12.2.1, 12.2.7 and 12.7.2). A library may ignore any of them; what it says it uses it
// has to say right, and whoever keeps to a hint must get the same results as without it.
#include "suites/common/info.hpp"
#include "suites/rma/int_window.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>

using namespace assay;
using namespace assay::rma;

namespace {

struct hint {
    char const *key, *value;
    requirement what;    // that accesses are as without
    bool passive = true; // MPI_Win_lock is allowed
};
axis<hint> const hints_given(
    "hint",
    {{{"no_locks", "no_locks = true"}, {"no_locks", "true", "rma.hint.no_locks", false}},
     {{"locks", "no_locks = false"}, {"no_locks", "false", "rma.hint.no_locks"}},
     {{"ordering_none", "accumulate_ordering = none"}, {"accumulate_ordering", "none", "rma.ordering.hint"}},
     {{"ordering_two", "accumulate_ordering = waw,rar"}, {"accumulate_ordering", "waw,rar", "rma.ordering.hint"}},
     {{"same_op", "accumulate_ops = same_op"}, {"accumulate_ops", "same_op", "rma.hint.accumulate_ops"}},
     {{"same_op_no_op", "accumulate_ops = same_op_no_op"},
      {"accumulate_ops", "same_op_no_op", "rma.hint.accumulate_ops"}},
     {{"granularity_1", "mpi_accumulate_granularity = 1"}, {"mpi_accumulate_granularity", "1", "rma.hint.granularity"}},
     {{"granularity_6", "mpi_accumulate_granularity = 6"}, {"mpi_accumulate_granularity", "6", "rma.hint.granularity"}},
     {{"granularity_4096", "mpi_accumulate_granularity = 4096"},
      {"mpi_accumulate_granularity", "4096", "rma.hint.granularity"}},
     {{"same_size", "same_size = true"}, {"same_size", "true", "rma.hint.same_size"}},
     {{"same_disp_unit", "same_disp_unit = true"}, {"same_disp_unit", "true", "rma.hint.same_disp_unit"}},
     {{"memory_kinds", "mpi_assert_memory_alloc_kinds = system,mpi"},
      {"mpi_assert_memory_alloc_kinds", "system,mpi", "rma.hint.memory_kinds"}},
     {{"unknown", "a hint that no library knows"}, {"assay_unknown_hint", "whatever", "rma.info.unknown"}}});

enum class giving { create, set_info };
axis<giving> const givings("by", {{{"create", "the call that makes the window"}, giving::create},
                                  {{"set_info", "MPI_Win_set_info"}, giving::set_info}});

std::optional<std::string> hint_of(test_run& mpi, MPI_Win win, char const* key) {
    MPI_Info used = MPI_INFO_NULL;
    mpi.ok(MPI_Win_get_info(win, &used));
    if (!mpi.check(used != MPI_INFO_NULL, finding::info, "MPI_Win_get_info gives MPI_INFO_NULL")) return {};
    auto value = value_of(mpi, used, key);
    mpi.ok(MPI_Info_free(&used));
    return value;
}

void set_hint(test_run& mpi, MPI_Win win, char const* key, char const* value) {
    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_Info_create(&info));
    mpi.ok(MPI_Info_set(info, key, value));
    mpi.ok(MPI_Win_set_info(win, info));
    mpi.ok(MPI_Info_free(&info));
}

std::vector<std::string> words(std::string const& list) {
    std::vector<std::string> all(1);
    for (char const c : list)
        if (c == ',') all.emplace_back();
        else if (c != ' ') all.back() += c;
    std::sort(all.begin(), all.end());
    return all;
}

// The defaults that the standard gives (section 12.2.1); of others any value may be one.
char const* default_of(std::string_view key) {
    if (key == "accumulate_ordering") return "rar,raw,war,waw";
    if (key == "accumulate_ops") return "same_op_no_op";
    if (key == "mpi_accumulate_granularity") return "0";
    if (key == "no_locks" || key == "same_size" || key == "same_disp_unit") return "false";
    return "";
}
// Lists in another order are the same list.
bool may_be(std::string const& found, hint const& given) {
    return words(found) == words(given.value) || words(found) == words(default_of(given.key));
}

std::string said(std::optional<std::string> const& value) { return value ? '"' + *value + '"' : "nothing"; }

} // namespace

// All ranks add to rank 0's numbers, put to their neighbour and get from it, as often as the hint allows it.
ASSAY_TEST(rma, hinted,
           requirements{"rma.info.reported", "rma.info.set", "rma.info.unknown", "rma.hint.no_locks",
                        "rma.ordering.hint", "rma.hint.accumulate_ops", "rma.hint.granularity", "rma.hint.same_size",
                        "rma.hint.same_disp_unit", "rma.hint.memory_kinds", "info.freed"},
           over(axis_use{&hints_given}, axis_use{&givings}, axis_use{&flavors()},
                communicators::of({"world", "self", "reversed"}))) {
    constexpr int n = 700;
    auto const& given = mpi.at(hints_given);
    MPI_Info info = MPI_INFO_NULL;
    if (mpi.at(givings) == giving::create) {
        mpi.ok(MPI_Info_create(&info));
        mpi.ok(MPI_Info_set(info, given.key, given.value));
    }
    int_window win(mpi, mpi.at(flavors()), 2 * n, int_window::use::active, 0, info);
    if (info != MPI_INFO_NULL) {
        mpi.ok(MPI_Info_set(info, given.key, "changed after the call"));
        mpi.ok(MPI_Info_free(&info));
    }
    if (!win.made()) return;
    if (mpi.at(givings) == giving::set_info) set_hint(mpi, win, given.key, given.value);
    auto const value = hint_of(mpi, win, given.key);
    mpi.check("rma.info.reported", !value || may_be(*value, given), finding::info,
              fmt::format("MPI_Win_get_info gives {} = {}, set was \"{}\"", given.key, said(value), given.value));

    auto const rests = mpi.resting_on(given.what);
    int const to = right_of(mpi), from = left_of(mpi);
    std::vector<int> const ones(n, 1), out(n, 60 + mpi.rank);
    for (bool const locked : {false, true}) {
        if (locked && !given.passive) break;
        std::vector<int> in(n, -7);
        if (locked) {
            barrier(mpi);
            mpi.ok(MPI_Win_lock_all(0, win));
        } else {
            mpi.ok(MPI_Win_fence(0, win));
        }
        mpi.ok(MPI_Accumulate(ones.data(), n, MPI_INT, 0, win.at(0), n, MPI_INT, MPI_SUM, win));
        mpi.ok(MPI_Put(out.data(), n, MPI_INT, to, win.at(to, n), n, MPI_INT, win));
        if (locked) {
            mpi.ok(MPI_Win_flush_all(win));
            barrier(mpi);
        } else {
            mpi.ok(MPI_Win_fence(0, win));
        }
        mpi.ok(MPI_Get(in.data(), n, MPI_INT, to, win.at(to, n), n, MPI_INT, win));
        if (locked) {
            mpi.ok(MPI_Win_unlock_all(win));
            barrier(mpi);
        } else {
            mpi.ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        }
        std::vector<int> expected(n, mpi.rank == 0 ? mpi.size * (locked ? 2 : 1) : 0);
        expected.insert(expected.end(), n, 60 + from);
        expect_ints(mpi, locked ? win.content() : win.loaded(), expected, "the window");
        expect_ints(mpi, in, out, "what was got");
        barrier(mpi);
    }
}

// Setting one hint leaves the others, those of another window, and what MPI_Win_get_info gave before.
ASSAY_TEST(rma, hints_stay, requirements{"rma.info.others_stay", "rma.info.own_object", "rma.info.per_window"},
           over(axis_use{&hints_given}, axis_use{&flavors()}, communicators::of({"world", "self"}))) {
    auto const& given = mpi.at(hints_given);
    int_window win(mpi, mpi.at(flavors()), 4, int_window::use::active),
        other(mpi, mpi.at(flavors()), 4, int_window::use::active);
    if (!win.made() || !other.made()) return;
    auto const untouched = hint_of(mpi, other, given.key);
    set_hint(mpi, win, given.key, given.value);
    auto const before = hint_of(mpi, win, given.key);
    MPI_Info first = MPI_INFO_NULL, second = MPI_INFO_NULL;
    mpi.ok(MPI_Win_get_info(win, &first));
    mpi.ok(MPI_Win_get_info(win, &second));
    mpi.check("rma.info.own_object", first != second, finding::info,
              "two calls of MPI_Win_get_info give the same info object");
    if (first != second) {
        mpi.ok(MPI_Info_set(first, given.key, "changed in the copy"));
        mpi.check("rma.info.own_object", value_of(mpi, second, given.key) == before, finding::info,
                  "a change of one info object of MPI_Win_get_info is seen in another one");
        mpi.ok(MPI_Info_free(&first));
    }
    mpi.ok(MPI_Info_free(&second));
    set_hint(mpi, win, "assay_other_hint", "1");
    auto const after = hint_of(mpi, win, given.key);
    mpi.check("rma.info.others_stay", after == before, finding::info,
              fmt::format("{} was {} and is {} after another hint was set", given.key, said(before), said(after)));
    auto const still = hint_of(mpi, other, given.key);
    mpi.check("rma.info.per_window", still == untouched, finding::info,
              fmt::format("{} of another window was {} and is {}", given.key, said(untouched), said(still)));
}
