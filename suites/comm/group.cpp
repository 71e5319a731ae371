// Groups (MPI-5.0 section 7.3): every ordered selection of the first processes of a communicator, and what the set
// operations and the constructors make of each pair of them, against the same done with plain vectors.
#include "suites/comm/comm.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace assay;

namespace {

// All arrangements (ordered subsets) of 0…n-1, the empty one first: 5 for 2 processes, 65 for 4.
std::vector<std::vector<int>> arrangements(int n) {
    std::vector<std::vector<int>> all(1);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (int next = 0; next < n; ++next)
            if (std::find(all[i].begin(), all[i].end(), next) == all[i].end()) {
                auto longer = all[i];
                longer.push_back(next);
                all.push_back(longer);
            }
    return all;
}

bool holds(std::vector<int> const& set, int value) { return std::find(set.begin(), set.end(), value) != set.end(); }

// Of a communicator's group: ranks in it → processes.
processes at_ranks(processes const& base, std::vector<int> const& ranks) {
    processes found;
    for (int rank : ranks) found.push_back(base[static_cast<std::size_t>(rank)]);
    return found;
}

std::vector<int> without(std::vector<int> const& set, std::vector<int> const& others) {
    std::vector<int> rest;
    for (int value : set)
        if (!holds(others, value)) rest.push_back(value);
    return rest;
}

constexpr int most = 4; // processes that groups are made of: of 5 there are 326 arrangements

// The arrangements of the first processes of the case's communicator, as groups.
class family {
public:
    explicit family(test_run& mpi) : base(local_of(mpi)), ranks(arrangements(std::min(mpi.size, most))) {
        for (auto const& selected : ranks) groups.push_back(subgroup(mpi, mpi.comm, selected));
    }
    ~family() {
        for (auto& group : groups)
            if (group != MPI_GROUP_NULL && group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
    }
    family(family const&) = delete;
    family& operator=(family const&) = delete;

    processes const base;
    std::vector<std::vector<int>> const ranks; // in the communicator
    std::vector<MPI_Group> groups;
};

void free_group(test_run& mpi, MPI_Group& group, std::source_location where = std::source_location::current()) {
    mpi.ok(MPI_Group_free(&group), where);
    mpi.check(group == MPI_GROUP_NULL, finding::value, "a freed group must have become MPI_GROUP_NULL", where);
}

enum class set_call { join, intersection, difference };
axis<set_call> const set_calls("call", {{{"union", "MPI_Group_union"}, set_call::join},
                                        {{"intersection", "MPI_Group_intersection"}, set_call::intersection},
                                        {{"difference", "MPI_Group_difference"}, set_call::difference}});

enum class choosing { incl, excl, range_incl, range_excl };
axis<choosing> const selections("call", {{{"incl", "MPI_Group_incl"}, choosing::incl},
                                         {{"excl", "MPI_Group_excl"}, choosing::excl},
                                         {{"range_incl", "MPI_Group_range_incl"}, choosing::range_incl},
                                         {{"range_excl", "MPI_Group_range_excl"}, choosing::range_excl}});

std::vector<int> expanded(std::array<int, 3> const& range) {
    auto const [first, last, stride] = range;
    std::vector<int> ranks;
    for (int rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) ranks.push_back(rank);
    return ranks;
}

// One and two triplets of ranks below n, with strides in both directions, also such that jump over the last rank.
std::vector<std::vector<std::array<int, 3>>> range_lists(int n) {
    std::vector<std::vector<std::array<int, 3>>> lists(1);
    for (int first = 0; first < n; ++first)
        for (int last = 0; last < n; ++last)
            for (int stride = -n; stride <= n; ++stride)
                if (stride != 0 && (first == last || (last > first) == (stride > 0)))
                    lists.push_back({{first, last, stride}});
    auto const single = lists.size();
    for (std::size_t a = 1; a < single; ++a)
        for (std::size_t b = 1; b < single; ++b) {
            auto const left = expanded(lists[a][0]), right = expanded(lists[b][0]);
            if (without(left, right).size() == left.size()) lists.push_back({lists[a][0], lists[b][0]});
        }
    return lists;
}

} // namespace

ASSAY_TEST(comm, group_sets,
           requirements{"group.union", "group.intersection", "group.difference", "group.set.empty", "group.foreign"},
           over(axis_use{&set_calls}, few()), thread_safe{}) {
    family const all(mpi);
    for (std::size_t a = 0; a < all.groups.size(); ++a)
        for (std::size_t b = 0; b < all.groups.size(); ++b) {
            auto const &left = all.ranks[a], &right = all.ranks[b];
            MPI_Group made = MPI_GROUP_NULL;
            std::vector<int> expected;
            char const* sign = nullptr;
            switch (mpi.at(set_calls)) {
            case set_call::join:
                mpi.ok(MPI_Group_union(all.groups[a], all.groups[b], &made));
                expected = left;
                for (int rank : without(right, left)) expected.push_back(rank);
                sign = "united with";
                break;
            case set_call::intersection:
                mpi.ok(MPI_Group_intersection(all.groups[a], all.groups[b], &made));
                expected = without(left, without(left, right));
                sign = "intersected with";
                break;
            case set_call::difference:
                mpi.ok(MPI_Group_difference(all.groups[a], all.groups[b], &made));
                expected = without(left, right);
                sign = "without";
                break;
            }
            auto const what = fmt::format("the ranks {} {} {}", text(left), sign, text(right));
            bool fine = mpi.check(made != MPI_GROUP_NULL, finding::value, what + " give MPI_GROUP_NULL") &&
                        expect_group(mpi, made, at_ranks(all.base, expected), what);
            if (fine && expected.empty()) {
                int result = -7;
                mpi.ok(MPI_Group_compare(made, MPI_GROUP_EMPTY, &result));
                fine =
                    mpi.check(result == MPI_IDENT, finding::value, what + " give a group that is not MPI_GROUP_EMPTY");
            }
            if (made != MPI_GROUP_NULL) free_group(mpi, made);
            if (!fine) return; // thousands more would say the same
        }
}

ASSAY_TEST(comm, group_compare, requirements{"group.compare.ident", "group.compare.similar", "group.compare.unequal"},
           over(few()), thread_safe{}) {
    family const all(mpi), again(mpi); // the same groups, made anew
    for (std::size_t a = 0; a < all.groups.size(); ++a)
        for (std::size_t b = 0; b < all.groups.size(); ++b) {
            auto left = all.ranks[a], right = all.ranks[b];
            auto const what = fmt::format("MPI_Group_compare of the ranks {} and {}", text(left), text(right));
            int const same_order = left == right;
            std::sort(left.begin(), left.end());
            std::sort(right.begin(), right.end());
            int const expected = same_order ? MPI_IDENT : left == right ? MPI_SIMILAR : MPI_UNEQUAL;
            int result = -7;
            mpi.ok(MPI_Group_compare(all.groups[a], again.groups[b], &result));
            if (!mpi.check(result == expected, finding::value,
                           fmt::format("{} gives {}, expected {}", what, result,
                                       same_order      ? "MPI_IDENT"
                                       : left == right ? "MPI_SIMILAR"
                                                       : "MPI_UNEQUAL")))
                return;
        }
    // The same members in a group of another origin.
    group_handle first, second;
    int result = -7;
    mpi.ok(MPI_Comm_group(mpi.comm, first.address()));
    mpi.ok(MPI_Comm_group(mpi.comm, second.address()));
    mpi.ok(MPI_Group_compare(first, second, &result));
    mpi.check(result == MPI_IDENT, finding::value, "two groups of one communicator do not compare MPI_IDENT");
}

ASSAY_TEST(comm, group_translate,
           requirements{"group.translate", "group.translate.undefined", "group.translate.proc_null"}, over(few()),
           thread_safe{}) {
    family const all(mpi);
    for (std::size_t a = 0; a < all.groups.size(); ++a)
        for (std::size_t b = 0; b < all.groups.size(); ++b) {
            auto const &from = all.ranks[a], &to = all.ranks[b];
            // Each rank, from the last to the first, one of them twice, and MPI_PROC_NULL in between.
            std::vector<int> given, expected;
            for (int rank = static_cast<int>(from.size()) - 1; rank >= -1; --rank) {
                bool const none = rank < 0;
                given.push_back(none ? MPI_PROC_NULL : rank);
                auto const at = none ? to.end() : std::find(to.begin(), to.end(), from[static_cast<std::size_t>(rank)]);
                expected.push_back(none             ? MPI_PROC_NULL
                                   : at == to.end() ? MPI_UNDEFINED
                                                    : static_cast<int>(at - to.begin()));
            }
            given.push_back(given.front());
            expected.push_back(expected.front());
            std::vector<int> got(given.size() + 1, -7);
            mpi.ok(MPI_Group_translate_ranks(all.groups[a], static_cast<int>(given.size()), given.data(), all.groups[b],
                                             got.data()));
            expected.push_back(-7);
            if (!mpi.check(got == expected, finding::value,
                           fmt::format("MPI_Group_translate_ranks of {} from the processes {} to {} gives {}, expected "
                                       "{} (the last number lies after the array; {} is MPI_PROC_NULL, {} "
                                       "MPI_UNDEFINED)",
                                       text(given), text(from), text(to), text(got), text(expected), MPI_PROC_NULL,
                                       MPI_UNDEFINED)))
                return;
        }
    int const none = 0;
    int untouched = -7;
    mpi.ok(MPI_Group_translate_ranks(all.groups[0], 0, &none, all.groups[0], &untouched));
    expect_number(mpi, untouched, -7, "what MPI_Group_translate_ranks of no ranks wrote");
}

ASSAY_TEST(comm, group_select,
           requirements{"group.incl", "group.incl.none", "group.excl", "group.excl.none", "group.range_incl",
                        "group.range_excl", "group.range.stride"},
           over(axis_use{&selections}, few()), thread_safe{}) {
    auto const how = mpi.at(selections);
    auto const base = local_of(mpi);
    int const n = std::min(mpi.size, most);
    std::vector<int> everybody(base.size());
    for (std::size_t i = 0; i < everybody.size(); ++i) everybody[i] = static_cast<int>(i);
    bool const keeps = how == choosing::incl || how == choosing::range_incl;
    group_handle whole;
    mpi.ok(MPI_Comm_group(mpi.comm, whole.address()));
    auto const examine = [&](MPI_Group made, std::vector<int> const& ranks, std::string const& given) {
        auto const expected = keeps ? ranks : without(everybody, ranks);
        bool fine = mpi.check(made != MPI_GROUP_NULL, finding::value, given + ": the new group is MPI_GROUP_NULL") &&
                    expect_group(mpi, made, at_ranks(base, expected), given);
        if (fine && ranks.empty()) {
            int result = -7;
            mpi.ok(MPI_Group_compare(made, keeps ? MPI_GROUP_EMPTY : static_cast<MPI_Group>(whole), &result));
            fine = mpi.check(result == MPI_IDENT, finding::value,
                             given + (keeps ? ": not MPI_GROUP_EMPTY" : ": not the group that nothing was taken from"));
        }
        if (made != MPI_GROUP_NULL) free_group(mpi, made);
        return fine;
    };
    if (how == choosing::incl || how == choosing::excl) {
        for (auto const& ranks : arrangements(n)) {
            MPI_Group made = MPI_GROUP_NULL;
            int const count = static_cast<int>(ranks.size());
            if (keeps) mpi.ok(MPI_Group_incl(whole, count, ranks.data(), &made));
            else mpi.ok(MPI_Group_excl(whole, count, ranks.data(), &made));
            if (!examine(made, ranks, (keeps ? "MPI_Group_incl of " : "MPI_Group_excl of ") + text(ranks))) return;
        }
        return;
    }
    for (auto ranges : range_lists(n)) {
        std::vector<int> ranks;
        std::string given = keeps ? "MPI_Group_range_incl of" : "MPI_Group_range_excl of";
        for (auto const& range : ranges) {
            for (int rank : expanded(range)) ranks.push_back(rank);
            given += fmt::format(" ({},{},{})", range[0], range[1], range[2]);
        }
        // As an argument of C: int[][3], not constant.
        int triplets[2][3] = {};
        for (std::size_t i = 0; i < ranges.size(); ++i) std::copy(ranges[i].begin(), ranges[i].end(), triplets[i]);
        MPI_Group made = MPI_GROUP_NULL;
        int const count = static_cast<int>(ranges.size());
        if (keeps) mpi.ok(MPI_Group_range_incl(whole, count, triplets, &made));
        else mpi.ok(MPI_Group_range_excl(whole, count, triplets, &made));
        if (!examine(made, ranks, given)) return;
    }
}

ASSAY_TEST(comm, group_empty, requirements{"group.empty", "group.size"}, over(communicators::world()), thread_safe{}) {
    expect_group(mpi, MPI_GROUP_EMPTY, {}, "MPI_GROUP_EMPTY");
    int result = -7;
    mpi.ok(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &result));
    expect_number(mpi, result, MPI_IDENT, "MPI_Group_compare of MPI_GROUP_EMPTY with itself");
    mpi.check(MPI_GROUP_EMPTY != MPI_GROUP_NULL, finding::value, "MPI_GROUP_EMPTY must not be MPI_GROUP_NULL");
}

ASSAY_TEST(comm, group_of_comm,
           requirements{"group.comm_group", "comm.remote_group", "comm.group.inter", "group.size", "group.rank"},
           over(only(comm_axis(),
                     [](communicator const& c) {
                         // Its group comes from a session: it must not meet that of MPI_COMM_WORLD in one call (section 11.3).
                         return c.kind != comm_kind::null && c.name != "create_from_group";
                     })),
           thread_safe{}) {
    group_handle local, remote;
    mpi.ok(MPI_Comm_group(mpi.comm, local.address()));
    expect_group(mpi, local, local_of(mpi), "MPI_Comm_group");
    if (!mpi.inter) return;
    mpi.ok(MPI_Comm_remote_group(mpi.comm, remote.address()));
    expect_group(mpi, remote, remote_of(mpi), "MPI_Comm_remote_group");
}

// A group that was freed, or whose origin was freed, is still what communicators made from it consist of.
ASSAY_TEST(comm, group_free, requirements{"group.free.handle", "group.free.in_use"}, over(few()), thread_safe{}) {
    auto base = local_of(mpi);
    MPI_Comm copy = MPI_COMM_NULL, made = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &copy));
    mpi.ok(MPI_Comm_group(copy, &group));
    MPI_Group const other_handle = group;
    free_communicator(mpi, copy);
    expect_group(mpi, other_handle, base, "the group of a communicator that was freed");
    mpi.ok(MPI_Comm_create(mpi.comm, group, &made));
    free_group(mpi, group);
    expect_communicator(mpi, made, base, {}, "a communicator whose group was freed");
    free_communicator(mpi, made);
}

// A process makes groups that it does not belong to, and processes make different ones: all of it is local.
ASSAY_TEST(comm, group_foreign, requirements{"group.foreign", "group.rank"}, over(few()), thread_safe{}) {
    auto base = local_of(mpi);
    int const next = (mpi.rank + 1) % mpi.size;
    group_handle const alone(subgroup(mpi, mpi.comm, {next}));
    expect_group(mpi, alone, {base[static_cast<std::size_t>(next)]}, "the group of the next process alone");
}

namespace {
enum class misuse { incl_twice, incl_beyond, excl_twice, excl_beyond, range_stride, range_twice, range_beyond };
axis<misuse> const misuses("wrong",
                           {{{"incl_twice", "MPI_Group_incl of one rank twice"}, misuse::incl_twice},
                            {{"incl_beyond", "MPI_Group_incl of a rank that is none"}, misuse::incl_beyond},
                            {{"excl_twice", "MPI_Group_excl of one rank twice"}, misuse::excl_twice},
                            {{"excl_beyond", "MPI_Group_excl of a rank that is none"}, misuse::excl_beyond},
                            {{"range_stride", "MPI_Group_range_incl with a stride of 0"}, misuse::range_stride},
                            {{"range_twice", "MPI_Group_range_incl of one rank twice"}, misuse::range_twice},
                            {{"range_beyond", "MPI_Group_range_excl of a rank that is none"}, misuse::range_beyond}});
} // namespace

ASSAY_TEST(comm, group_misuse, requirements{"group.select.distinct", "group.select.valid", "group.range.stride_zero"},
           over(axis_use{&misuses}, communicators::world()), thread_safe{}) {
    group_handle whole;
    mpi.ok(MPI_Comm_group(mpi.comm, whole.address()));
    int twice[] = {0, 0}, beyond[] = {mpi.size};
    int zero[1][3] = {{0, 0, 0}}, again[2][3] = {{0, 0, 1}, {0, 0, 1}}, outside[1][3] = {{0, mpi.size, 1}};
    MPI_Group made = MPI_GROUP_NULL;
    int code = MPI_SUCCESS;
    erroneous_from_here();
    switch (mpi.at(misuses)) {
    case misuse::incl_twice: code = MPI_Group_incl(whole, 2, twice, &made); break;
    case misuse::incl_beyond: code = MPI_Group_incl(whole, 1, beyond, &made); break;
    case misuse::excl_twice: code = MPI_Group_excl(whole, 2, twice, &made); break;
    case misuse::excl_beyond: code = MPI_Group_excl(whole, 1, beyond, &made); break;
    case misuse::range_stride: code = MPI_Group_range_incl(whole, 1, zero, &made); break;
    case misuse::range_twice: code = MPI_Group_range_incl(whole, 2, again, &made); break;
    case misuse::range_beyond: code = MPI_Group_range_excl(whole, 1, outside, &made); break;
    }
    mpi.check(code != MPI_SUCCESS, finding::return_, "the wrong argument is not noticed: MPI_SUCCESS");
    if (code == MPI_SUCCESS && made != MPI_GROUP_NULL) MPI_Group_free(&made);
}
