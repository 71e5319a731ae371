// Attributes of objects that have a second handle, as another language has it (MPI-5.0 section 19.3.7), and what C sees of
// those that MPI sets itself.
#include "framework/check/logical.hpp"
#include "suites/abi/converted.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <vector>

using namespace assay;

namespace {

// Objects that have attributes.
enum class owner { comm, datatype, win };
axis<owner> const owners("object", {{{"comm", "a communicator"}, owner::comm},
                                    {{"datatype", "a datatype"}, owner::datatype},
                                    {{"win", "a window"}, owner::win}});

// What is stored. An attribute is as wide as an address, whatever it means.
axis<std::intptr_t> const values("value",
                                 {{{"17", "a small number"}, 17},
                                  {{"zero", "a null pointer"}, 0},
                                  {{"minus_one", "all bits"}, -1},
                                  {{"high", "only bits that an int does not have"},
                                   static_cast<std::intptr_t>(std::uintptr_t{0x7edcba98} << 32)},
                                  {{"least", "only the highest bit"}, std::numeric_limits<std::intptr_t>::min()}});

struct object {
    owner of;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Win win = MPI_WIN_NULL;
};
object make(test_run& mpi, owner of, std::array<int, 4>& memory) {
    object made{of};
    if (of == owner::comm) mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &made.comm));
    if (of == owner::datatype) mpi.ok(MPI_Type_contiguous(3, MPI_INT, &made.type));
    if (of == owner::win)
        mpi.ok(MPI_Win_create(memory.data(), sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &made.win));
    return made;
}
object converted(abi::route by, object const& from) {
    object again{from.of};
    if (from.of == owner::comm) again.comm = abi::converted(by, from.comm);
    if (from.of == owner::datatype) again.type = abi::converted_type(by, from.type);
    if (from.of == owner::win) again.win = abi::converted_win(by, from.win);
    return again;
}
void release(test_run& mpi, object& one) {
    if (one.of == owner::comm) mpi.ok(MPI_Comm_free(&one.comm));
    if (one.of == owner::datatype) mpi.ok(MPI_Type_free(&one.type));
    if (one.of == owner::win) mpi.ok(MPI_Win_free(&one.win));
}

// What the callbacks of one key have seen.
struct calls {
    int copies = 0, deletes = 0;
    std::intptr_t copied = 0, deleted = 0;
};
int copy(calls& seen, void* value, void* to, int* flag) {
    ++seen.copies;
    seen.copied = reinterpret_cast<std::intptr_t>(value);
    *static_cast<void**>(to) = value;
    *flag = 1;
    return MPI_SUCCESS;
}
int remove(calls& seen, void* value) {
    ++seen.deletes;
    seen.deleted = reinterpret_cast<std::intptr_t>(value);
    return MPI_SUCCESS;
}
int create_key(owner of, int* key, calls& seen) {
    switch (of) {
    case owner::comm:
        return MPI_Comm_create_keyval(
            [](MPI_Comm, int, void* extra, void* value, void* to, int* flag) {
                return copy(*static_cast<calls*>(extra), value, to, flag);
            },
            [](MPI_Comm, int, void* value, void* extra) { return remove(*static_cast<calls*>(extra), value); }, key,
            &seen);
    case owner::datatype:
        return MPI_Type_create_keyval(
            [](MPI_Datatype, int, void* extra, void* value, void* to, int* flag) {
                return copy(*static_cast<calls*>(extra), value, to, flag);
            },
            [](MPI_Datatype, int, void* value, void* extra) { return remove(*static_cast<calls*>(extra), value); }, key,
            &seen);
    default:
        return MPI_Win_create_keyval(
            MPI_WIN_NULL_COPY_FN,
            [](MPI_Win, int, void* value, void* extra) { return remove(*static_cast<calls*>(extra), value); }, key,
            &seen);
    }
}
int free_key(owner of, int* key) {
    switch (of) {
    case owner::comm: return MPI_Comm_free_keyval(key);
    case owner::datatype: return MPI_Type_free_keyval(key);
    default: return MPI_Win_free_keyval(key);
    }
}
int set(object const& one, int key, std::intptr_t value) {
    auto* const word = reinterpret_cast<void*>(value);
    switch (one.of) {
    case owner::comm: return MPI_Comm_set_attr(one.comm, key, word);
    case owner::datatype: return MPI_Type_set_attr(one.type, key, word);
    default: return MPI_Win_set_attr(one.win, key, word);
    }
}
int get(object const& one, int key, void* value, int* flag) {
    switch (one.of) {
    case owner::comm: return MPI_Comm_get_attr(one.comm, key, value, flag);
    case owner::datatype: return MPI_Type_get_attr(one.type, key, value, flag);
    default: return MPI_Win_get_attr(one.win, key, value, flag);
    }
}
void expect_attribute(test_run& mpi, object const& one, int key, std::intptr_t expected, requirement rests_on,
                      char const* how) {
    void* value = reinterpret_cast<void*>(std::intptr_t{-77});
    int flag = 0;
    mpi.ok(get(one, key, &value, &flag));
    auto const got = reinterpret_cast<std::intptr_t>(value);
    mpi.check(rests_on, logical(flag) && got == expected, finding::value,
              logical(flag) ? fmt::format("{}: the attribute is {:#x}, expected {:#x}", how, got, expected)
                            : fmt::format("{}: the attribute is not there", how));
}

} // namespace

ASSAY_TEST(abi, attribute_converted, requirements{"lang.attributes.shared", "lang.attributes.address"},
           over(axis_use{&abi::routes()}, axis_use{&owners}, axis_use{&values})) {
    auto const of = mpi.at(owners);
    auto const value = mpi.at(values);
    std::array<int, 4> memory{};
    calls seen;
    int key = MPI_KEYVAL_INVALID;
    auto one = make(mpi, of, memory);
    auto const again = converted(mpi.at(abi::routes()), one);
    if (!mpi.ok(create_key(of, &key, seen))) return release(mpi, one);
    mpi.ok(set(one, key, value));
    expect_attribute(mpi, one, key, value, "lang.attributes.address", "through the same handle");
    expect_attribute(mpi, again, key, value, "lang.attributes.shared", "through the converted handle");
    mpi.ok(set(again, key, ~value));
    expect_attribute(mpi, one, key, ~value, "lang.attributes.shared", "set through the converted handle");
    mpi.ok(free_key(of, &key));
    release(mpi, one);
}

// Windows cannot be duplicated.
ASSAY_TEST(abi, attribute_callbacks, requirements{"lang.callbacks.attribute"},
           over(axis_use{&abi::routes()}, axis_use{&owners})) {
    constexpr std::intptr_t value = 0x123456789;
    auto const of = mpi.at(owners);
    std::array<int, 4> memory{};
    calls seen;
    int key = MPI_KEYVAL_INVALID;
    auto one = make(mpi, of, memory);
    auto again = converted(mpi.at(abi::routes()), one);
    if (!mpi.ok(create_key(of, &key, seen))) return release(mpi, one);
    mpi.ok(set(one, key, value));
    int const copies = of == owner::win ? 0 : 1;
    object copy{of};
    if (of == owner::comm) mpi.ok(MPI_Comm_dup(again.comm, &copy.comm));
    if (of == owner::datatype) mpi.ok(MPI_Type_dup(again.type, &copy.type));
    mpi.check(seen.copies == copies && (copies == 0 || seen.copied == value) && seen.deletes == 0, finding::value,
              fmt::format("duplicating called the copy function {} times with {:#x}, the delete function {} times",
                          seen.copies, seen.copied, seen.deletes));
    if (copies > 0) {
        expect_attribute(mpi, copy, key, value, "lang.callbacks.attribute", "of the duplicate");
        release(mpi, copy);
    }
    release(mpi, again);
    mpi.check(seen.deletes == copies + 1 && seen.deleted == value, finding::value,
              fmt::format("freeing {} called the delete function {} times, at last with {:#x}",
                          copies == 0 ? "the object" : "both objects", seen.deletes, seen.deleted));
    mpi.ok(free_key(of, &key));
}

ASSAY_TEST(abi, attribute_predefined, requirements{"lang.attributes.predefined"}, over(axis_use{&abi::routes()})) {
    auto const by = mpi.at(abi::routes());
    MPI_Comm const world = abi::converted(by, MPI_COMM_WORLD);
    // The number that an attribute of MPI_COMM_WORLD points to; nothing when it is not set.
    auto const number = [&](MPI_Comm comm, int key) -> std::optional<int> {
        void* value = nullptr;
        int flag = 0;
        mpi.ok(MPI_Comm_get_attr(comm, key, &value, &flag));
        if (!logical(flag)) return std::nullopt;
        mpi.check(value != nullptr, finding::value, "a predefined attribute is a null pointer");
        if (value == nullptr) return std::nullopt;
        return *static_cast<int*>(value);
    };
    struct named_key {
        char const* name;
        int key;
    };
    for (auto const& one :
         {named_key{"MPI_TAG_UB", MPI_TAG_UB}, named_key{"MPI_IO", MPI_IO},
          named_key{"MPI_WTIME_IS_GLOBAL", MPI_WTIME_IS_GLOBAL}, named_key{"MPI_APPNUM", MPI_APPNUM},
          named_key{"MPI_UNIVERSE_SIZE", MPI_UNIVERSE_SIZE}, named_key{"MPI_LASTUSEDCODE", MPI_LASTUSEDCODE}}) {
        auto const here = number(MPI_COMM_WORLD, one.key), there = number(world, one.key);
        mpi.check(here == there, finding::value,
                  fmt::format("{} is {} through MPI_COMM_WORLD and {} through its converted handle", one.name,
                              here ? std::to_string(*here) : "not set", there ? std::to_string(*there) : "not set"));
        if (one.key == MPI_TAG_UB)
            mpi.check(here && *here >= 32767, finding::value,
                      fmt::format("MPI_TAG_UB points to {}", here ? std::to_string(*here) : "nothing"));
    }
    std::array<int, 4> memory{};
    MPI_Win win = MPI_WIN_NULL;
    if (!mpi.ok(MPI_Win_create(memory.data(), sizeof memory, 2, MPI_INFO_NULL, MPI_COMM_SELF, &win))) return;
    for (auto const handle : {win, abi::converted_win(by, win)}) {
        auto const of_win = [&](int key) {
            void* value = nullptr;
            int flag = 0;
            mpi.ok(MPI_Win_get_attr(handle, key, &value, &flag));
            mpi.check(logical(flag) && value != nullptr, finding::value,
                      "a predefined attribute of a window is not set");
            return logical(flag) ? value : nullptr;
        };
        auto* const base = of_win(MPI_WIN_BASE);
        mpi.check(base == memory.data(), finding::value, "MPI_WIN_BASE is not the base of the window");
        if (auto const* const size = static_cast<MPI_Aint*>(of_win(MPI_WIN_SIZE)))
            mpi.check(*size == sizeof memory, finding::value, fmt::format("MPI_WIN_SIZE points to {}", *size));
        struct expected_number {
            char const* name;
            int key, value;
        };
        for (auto const& one : {expected_number{"MPI_WIN_DISP_UNIT", MPI_WIN_DISP_UNIT, 2},
                                expected_number{"MPI_WIN_CREATE_FLAVOR", MPI_WIN_CREATE_FLAVOR, MPI_WIN_FLAVOR_CREATE}})
            if (auto const* const value = static_cast<int*>(of_win(one.key)))
                mpi.check(*value == one.value, finding::value,
                          fmt::format("{} points to {}, expected {}", one.name, *value, one.value));
    }
    mpi.ok(MPI_Win_free(&win));
}

ASSAY_TEST(abi, attribute_keys, requirements{"lang.attributes.keys"}, over(axis_use{&owners})) {
    auto const of = mpi.at(owners);
    constexpr std::size_t many = 80;
    std::array<calls, many> seen;
    std::array<int, many> keys{};
    std::vector<int> taken = {MPI_KEYVAL_INVALID};
    if (of == owner::comm)
        taken.insert(taken.end(),
                     {MPI_TAG_UB, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE});
    if (of == owner::win)
        taken.insert(taken.end(),
                     {MPI_WIN_BASE, MPI_WIN_DISP_UNIT, MPI_WIN_SIZE, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL});
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!mpi.ok(create_key(of, &keys[i], seen[i]))) return;
        mpi.check(std::find(taken.begin(), taken.end(), keys[i]) == taken.end(), finding::value,
                  fmt::format("the new key {} is MPI_KEYVAL_INVALID, that of a predefined attribute, or one of before",
                              keys[i]));
        taken.push_back(keys[i]);
    }
    for (auto& key : keys) mpi.ok(free_key(of, &key));
}
