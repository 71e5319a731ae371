// Attributes of communicators (MPI-5.0 section 7.7.2): values, and when callbacks are called, with what.
#include "suites/comm/comm.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>

using namespace assay;

namespace {

// What the callbacks of one key saw. Its address is the extra state.
struct journal {
    struct copy {
        MPI_Comm from;
        int key;
        void* value;
    };
    struct removal {
        MPI_Comm from;
        int key;
        void* value;
    };
    std::vector<copy> copies;
    std::vector<removal> removals;
    bool pass_on = true; // the flag that the copy callback gives
    int copy_code = MPI_SUCCESS, delete_code = MPI_SUCCESS;
    std::ptrdiff_t add = 0; // to the value that is passed on
};

void* pointer(std::intptr_t number) { return reinterpret_cast<void*>(number); }
std::intptr_t number(void const* value) { return reinterpret_cast<std::intptr_t>(value); }

int on_copy(MPI_Comm from, int key, void* extra, void* value, void* out, int* flag) {
    auto& seen = *static_cast<journal*>(extra);
    seen.copies.push_back({from, key, value});
    *flag = seen.pass_on ? 1 : 0;
    if (seen.pass_on) *static_cast<void**>(out) = pointer(number(value) + seen.add);
    return seen.copy_code;
}

int on_delete(MPI_Comm from, int key, void* value, void* extra) {
    auto& seen = *static_cast<journal*>(extra);
    seen.removals.push_back({from, key, value});
    return seen.delete_code;
}

constexpr std::intptr_t first_value = 0x1234567, second_value = 0x7654321;

int make_key(test_run& mpi, journal& seen) {
    int key = MPI_KEYVAL_INVALID;
    mpi.ok(MPI_Comm_create_keyval(on_copy, on_delete, &key, &seen));
    mpi.check(key != MPI_KEYVAL_INVALID, finding::value, "MPI_Comm_create_keyval gives MPI_KEYVAL_INVALID");
    return key;
}

void free_key(test_run& mpi, int& key, std::source_location where = std::source_location::current()) {
    mpi.ok(MPI_Comm_free_keyval(&key), where);
    mpi.check(key == MPI_KEYVAL_INVALID, finding::value, "MPI_Comm_free_keyval must set the key to MPI_KEYVAL_INVALID",
              where);
}

// What is stored at `comm`; `expected` without a value: nothing.
void expect_value(test_run& mpi, MPI_Comm comm, int key, std::optional<std::intptr_t> expected, std::string const& what,
                  std::source_location where = std::source_location::current()) {
    void* value = pointer(-7);
    int flag = -7;
    mpi.ok(MPI_Comm_get_attr(comm, key, &value, &flag), where);
    if (!mpi.check(
            (flag != 0) == expected.has_value(), finding::value,
            fmt::format("{}: MPI_Comm_get_attr gives flag {}, expected {}", what, flag, expected ? "true" : "false"),
            where))
        return;
    if (expected)
        mpi.check(number(value) == *expected, finding::value,
                  fmt::format("{}: the attribute is {:#x}, expected {:#x}", what,
                              static_cast<std::uintptr_t>(number(value)), static_cast<std::uintptr_t>(*expected)),
                  where);
}

void expect_calls(test_run& mpi, journal const& seen, std::size_t copies, std::size_t removals, std::string const& when,
                  std::source_location where = std::source_location::current()) {
    mpi.check(
        seen.copies.size() == copies && seen.removals.size() == removals, finding::value,
        fmt::format("{}: the copy callback was called {} times and the delete callback {} times, expected {} and {}",
                    when, seen.copies.size(), seen.removals.size(), copies, removals),
        where);
}

// Communicators that attributes are tried on: an intra- and an intercommunicator, MPI_COMM_SELF, a topology.
axis_use kinds() { return communicators::of({"world", "self", "inter_halved", "odd_even"}); }

} // namespace

ASSAY_TEST(comm, attr_store,
           requirements{"attr.set_get", "attr.absent", "attr.set.replaces", "attr.delete", "attr.keyval.valid",
                        "attr.keyval.free", "attr.per_communicator"},
           over(kinds())) {
    journal seen, other_seen;
    int key = make_key(mpi, seen), other = make_key(mpi, other_seen);
    mpi.check(key != other, finding::value, fmt::format("two keys have the same value {}", key));
    MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &first));
    mpi.ok(MPI_Comm_dup(mpi.comm, &second));
    expect_value(mpi, first, key, {}, "before anything was stored");
    // Values as wide as a pointer, 0 and all bits among them: 0 is a value, not the lack of one.
    std::intptr_t last = 0;
    std::size_t stored = 0;
    for (std::intptr_t value : {std::intptr_t{0}, std::intptr_t{-1}, INTPTR_MIN, INTPTR_MAX, number(&seen)}) {
        mpi.ok(MPI_Comm_set_attr(first, key, pointer(value)));
        expect_value(mpi, first, key, value, "after MPI_Comm_set_attr");
        // The delete callback was told of the value before.
        expect_calls(mpi, seen, 0, stored, "storing over a value");
        if (stored > 0 && seen.removals.size() == stored)
            mpi.check(number(seen.removals.back().value) == last && seen.removals.back().key == key &&
                          seen.removals.back().from == first,
                      finding::value,
                      "the delete callback was given another value, key or communicator than that of the old value");
        last = value;
        ++stored;
    }
    expect_value(mpi, second, key, {}, "at another communicator");
    expect_value(mpi, first, other, {}, "under another key");
    mpi.ok(MPI_Comm_set_attr(second, key, pointer(second_value)));
    mpi.ok(MPI_Comm_set_attr(first, other, pointer(first_value)));
    expect_value(mpi, first, key, last, "after another communicator got a value");
    expect_value(mpi, second, key, second_value, "at the other communicator");
    seen.removals.clear();
    mpi.ok(MPI_Comm_delete_attr(first, key));
    expect_calls(mpi, seen, 0, 1, "MPI_Comm_delete_attr");
    expect_value(mpi, first, key, {}, "after MPI_Comm_delete_attr");
    expect_value(mpi, second, key, second_value, "at the other communicator after MPI_Comm_delete_attr");
    expect_value(mpi, first, other, first_value, "under the other key after MPI_Comm_delete_attr");
    seen.removals.clear();
    free_communicator(mpi, first);
    expect_calls(mpi, seen, 0, 0, "MPI_Comm_free of the communicator without a value");
    expect_calls(mpi, other_seen, 0, 1, "MPI_Comm_free of the communicator with a value");
    free_communicator(mpi, second);
    expect_calls(mpi, seen, 0, 1, "MPI_Comm_free of the communicator with a value");
    free_key(mpi, key);
    free_key(mpi, other);
}

ASSAY_TEST(comm, attr_copy,
           requirements{"attr.copy.called", "attr.copy.arguments", "attr.copy.value", "attr.copy.flag_false",
                        "attr.delete.on_free"},
           over(axis_use{&duplications()}, kinds())) {
    journal kept, changed, dropped;
    changed.add = 5;
    dropped.pass_on = false;
    int kept_key = make_key(mpi, kept), changed_key = make_key(mpi, changed), dropped_key = make_key(mpi, dropped);
    MPI_Comm base = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &base));
    mpi.ok(MPI_Comm_set_attr(base, kept_key, pointer(first_value)));
    mpi.ok(MPI_Comm_set_attr(base, changed_key, pointer(second_value)));
    mpi.ok(MPI_Comm_set_attr(base, dropped_key, pointer(first_value)));
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), base);
    for (auto const* seen : {&kept, &changed, &dropped}) expect_calls(mpi, *seen, 1, 0, "duplicating");
    auto const asked_for = [&](journal const& seen, int key, std::intptr_t value, char const* which) {
        if (seen.copies.size() != 1) return;
        auto const& call = seen.copies[0];
        mpi.check(call.from == base && call.key == key && number(call.value) == value, finding::value,
                  fmt::format("the copy callback of the {} attribute was given another communicator, key ({}, expected "
                              "{}) or value ({:#x}, expected {:#x})",
                              which, call.key, key, static_cast<std::uintptr_t>(number(call.value)),
                              static_cast<std::uintptr_t>(value)));
    };
    asked_for(kept, kept_key, first_value, "first");
    asked_for(changed, changed_key, second_value, "second");
    asked_for(dropped, dropped_key, first_value, "third");
    expect_value(mpi, copy, kept_key, first_value, "copied as it is");
    expect_value(mpi, copy, changed_key, second_value + 5, "changed by the callback");
    expect_value(mpi, copy, dropped_key, {}, "flag false");
    expect_value(mpi, base, changed_key, second_value, "at the original");
    expect_value(mpi, base, dropped_key, first_value, "at the original, flag false");
    // A change at one is none at the other.
    mpi.ok(MPI_Comm_set_attr(copy, kept_key, pointer(77)));
    expect_value(mpi, base, kept_key, first_value, "at the original after the duplicate got another value");
    for (auto* seen : {&kept, &changed, &dropped}) seen->removals.clear();
    free_communicator(mpi, copy);
    expect_calls(mpi, kept, 1, 1, "freeing the duplicate (first)");
    expect_calls(mpi, changed, 1, 1, "freeing the duplicate (second)");
    expect_calls(mpi, dropped, 1, 0, "freeing the duplicate (third)");
    if (changed.removals.size() == 1)
        mpi.check(number(changed.removals[0].value) == second_value + 5, finding::value,
                  "the delete callback was not given the value of the duplicate");
    free_communicator(mpi, base);
    expect_calls(mpi, dropped, 1, 1, "freeing the original (third)");
    free_key(mpi, kept_key);
    free_key(mpi, changed_key);
    free_key(mpi, dropped_key);
}

// The callbacks that MPI brings along, and those of MPI-1 with their old names.
ASSAY_TEST(comm, attr_predefined_callbacks, requirements{"attr.dup_fn", "attr.null_copy_fn", "attr.null_delete_fn"},
           over(axis_use{&duplications()}, kinds()), thread_safe{}) {
    int passing = MPI_KEYVAL_INVALID, staying = MPI_KEYVAL_INVALID;
    mpi.ok(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &passing, nullptr));
    mpi.ok(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &staying, nullptr));
    MPI_Comm base = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &base));
    mpi.ok(MPI_Comm_set_attr(base, passing, pointer(-first_value)));
    mpi.ok(MPI_Comm_set_attr(base, staying, pointer(second_value)));
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), base);
    expect_value(mpi, copy, passing, -first_value, "with MPI_COMM_DUP_FN");
    expect_value(mpi, copy, staying, {}, "with MPI_COMM_NULL_COPY_FN");
    mpi.ok(MPI_Comm_delete_attr(copy, passing));
    expect_value(mpi, copy, passing, {}, "deleted with MPI_COMM_NULL_DELETE_FN");
    expect_value(mpi, base, passing, -first_value, "at the original");
    free_communicator(mpi, copy);
    free_communicator(mpi, base);
    free_key(mpi, passing);
    free_key(mpi, staying);
}

// A key that is freed stays in use where it is in use: callbacks go on to be called.
ASSAY_TEST(comm, attr_key_freed, requirements{"attr.keyval.free.in_use", "attr.keyval.free"},
           over(axis_use{&duplications()}, kinds())) {
    journal seen;
    int key = make_key(mpi, seen);
    MPI_Comm base = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &base));
    mpi.ok(MPI_Comm_set_attr(base, key, pointer(first_value)));
    free_key(mpi, key);
    expect_calls(mpi, seen, 0, 0, "freeing the key");
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), base);
    expect_calls(mpi, seen, 1, 0, "duplicating after the key was freed");
    free_communicator(mpi, base);
    expect_calls(mpi, seen, 1, 1, "freeing the original after the key was freed");
    free_communicator(mpi, copy);
    expect_calls(mpi, seen, 1, 2, "freeing the duplicate after the key was freed");
    for (auto const& call : seen.removals)
        mpi.check(number(call.value) == first_value, finding::value, "the delete callback was given another value");
}

// MPI_Comm_idup copies at the call, not at its completion.
ASSAY_TEST(comm, attr_idup_moment, requirements{"comm.idup.moment"},
           over(only(duplications(),
                     [](duplication d) { return d == duplication::idup || d == duplication::idup_with_info; }),
                kinds())) {
    journal seen;
    int key = make_key(mpi, seen), late = make_key(mpi, seen);
    MPI_Comm base = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &base));
    mpi.ok(MPI_Comm_set_attr(base, key, pointer(first_value)));
    if (mpi.at(duplications()) == duplication::idup) mpi.ok(MPI_Comm_idup(base, &copy, &request));
    else mpi.ok(MPI_Comm_idup_with_info(base, MPI_INFO_NULL, &copy, &request));
    mpi.ok(MPI_Comm_set_attr(base, key, pointer(second_value)));
    mpi.ok(MPI_Comm_set_attr(base, late, pointer(second_value)));
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_value(mpi, copy, key, first_value, "changed after the call");
    expect_value(mpi, copy, late, {}, "stored after the call");
    free_communicator(mpi, copy);
    free_communicator(mpi, base);
    free_key(mpi, key);
    free_key(mpi, late);
}

// Only duplicates inherit attributes.
namespace {
enum class maker { split, split_type, create, create_group, cart_create };
axis<maker> const makers("made_by", {{{"split", "MPI_Comm_split"}, maker::split},
                                     {{"split_type", "MPI_Comm_split_type"}, maker::split_type},
                                     {{"create", "MPI_Comm_create"}, maker::create},
                                     {{"create_group", "MPI_Comm_create_group"}, maker::create_group},
                                     {{"cart_create", "MPI_Cart_create"}, maker::cart_create}});
} // namespace

ASSAY_TEST(comm, attr_not_inherited, requirements{"attr.not_inherited"}, over(axis_use{&makers}, few())) {
    journal seen;
    int key = make_key(mpi, seen);
    MPI_Comm base = MPI_COMM_NULL, made = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &base));
    mpi.ok(MPI_Comm_set_attr(base, key, pointer(first_value)));
    group_handle whole;
    mpi.ok(MPI_Comm_group(base, whole.address()));
    int const extent = mpi.size, period = 0;
    switch (mpi.at(makers)) {
    case maker::split: mpi.ok(MPI_Comm_split(base, 0, mpi.rank, &made)); break;
    case maker::split_type:
        mpi.ok(MPI_Comm_split_type(base, MPI_COMM_TYPE_SHARED, mpi.rank, MPI_INFO_NULL, &made));
        break;
    case maker::create: mpi.ok(MPI_Comm_create(base, whole, &made)); break;
    case maker::create_group: mpi.ok(MPI_Comm_create_group(base, whole, mpi.tag(), &made)); break;
    case maker::cart_create: mpi.ok(MPI_Cart_create(base, 1, &extent, &period, 0, &made)); break;
    }
    expect_calls(mpi, seen, 0, 0, "making another communicator");
    if (mpi.check(made != MPI_COMM_NULL, finding::value, "the new communicator is MPI_COMM_NULL"))
        expect_value(mpi, made, key, {}, "at a communicator that is no duplicate");
    free_communicator(mpi, made);
    free_communicator(mpi, base);
    expect_calls(mpi, seen, 0, 1, "freeing both");
    free_key(mpi, key);
}

// A callback that fails makes the call fail that called it.
namespace {
enum class failing { dup, set, remove, free };
axis<failing> const failings("fails", {{{"dup", "the copy callback of MPI_Comm_dup"}, failing::dup},
                                       {{"set", "the delete callback of MPI_Comm_set_attr"}, failing::set},
                                       {{"delete", "the delete callback of MPI_Comm_delete_attr"}, failing::remove},
                                       {{"free", "the delete callback of MPI_Comm_free"}, failing::free}});
} // namespace

ASSAY_TEST(comm, attr_callback_fails, requirements{"attr.copy.failure", "attr.delete.failure"},
           over(axis_use{&failings}, communicators::world())) {
    journal seen;
    int key = make_key(mpi, seen);
    MPI_Comm base = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    // Of one process: on none other does the call wait for this one.
    mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &base));
    mpi.ok(MPI_Comm_set_errhandler(base, MPI_ERRORS_RETURN));
    mpi.ok(MPI_Comm_set_attr(base, key, pointer(first_value)));
    int code = MPI_SUCCESS;
    switch (mpi.at(failings)) {
    case failing::dup:
        seen.copy_code = MPI_ERR_OTHER;
        code = MPI_Comm_dup(base, &copy);
        break;
    case failing::set:
        seen.delete_code = MPI_ERR_OTHER;
        code = MPI_Comm_set_attr(base, key, pointer(second_value));
        break;
    case failing::remove:
        seen.delete_code = MPI_ERR_OTHER;
        code = MPI_Comm_delete_attr(base, key);
        break;
    case failing::free: {
        seen.delete_code = MPI_ERR_OTHER;
        MPI_Comm gone = base;
        code = MPI_Comm_free(&gone);
        // Whether it is gone is not said: not touched again.
        base = MPI_COMM_NULL;
        break;
    }
    }
    mpi.check(code != MPI_SUCCESS, finding::return_, "the callback returned MPI_ERR_OTHER and the call MPI_SUCCESS");
    mpi.check(!seen.copies.empty() || !seen.removals.empty(), finding::value, "the callback was not called");
    seen.copy_code = seen.delete_code = MPI_SUCCESS;
    if (code == MPI_SUCCESS && copy != MPI_COMM_NULL) free_communicator(mpi, copy);
    free_communicator(mpi, base);
    free_key(mpi, key);
}

// Many keys at one communicator, each process with values of its own.
ASSAY_TEST(comm, attr_many, requirements{"attr.keyval.unique", "attr.set_get", "attr.local"},
           over(axis_use{&duplications()}, kinds()), thread_safe{}) {
    constexpr int many = 100;
    std::vector<int> keys(many, MPI_KEYVAL_INVALID);
    MPI_Comm base = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &base));
    auto const value = [&](int i) { return static_cast<std::intptr_t>(i) * 1000 + own_process(); };
    for (int i = 0; i < many; ++i) {
        auto& key = keys[static_cast<std::size_t>(i)];
        mpi.ok(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
        // Some are only stored by some processes: attributes are local.
        if (i % 3 != 0 || own_process() == 0) mpi.ok(MPI_Comm_set_attr(base, key, pointer(value(i))));
    }
    auto sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    mpi.check(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), finding::value,
              "two of 100 keys are the same");
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), base);
    for (int i = 0; i < many; ++i) {
        std::optional<std::intptr_t> expected;
        if (i % 3 != 0 || own_process() == 0) expected = value(i);
        expect_value(mpi, copy, keys[static_cast<std::size_t>(i)], expected, fmt::format("key {} of 100", i));
    }
    free_communicator(mpi, copy);
    free_communicator(mpi, base);
    for (auto& key : keys) free_key(mpi, key);
}

// Keys that are none.
ASSAY_TEST(comm, attr_invalid_key, requirements{"attr.keyval.invalid"}, over(communicators::world()), thread_safe{}) {
    void* value = nullptr;
    int flag = 0;
    auto const noticed = [&](int code, char const* call) {
        mpi.check(code != MPI_SUCCESS, finding::return_,
                  fmt::format("{} takes MPI_KEYVAL_INVALID for a key: MPI_SUCCESS", call));
    };
    erroneous_from_here();
    noticed(MPI_Comm_get_attr(mpi.comm, MPI_KEYVAL_INVALID, &value, &flag), "MPI_Comm_get_attr");
    noticed(MPI_Comm_set_attr(mpi.comm, MPI_KEYVAL_INVALID, pointer(1)), "MPI_Comm_set_attr");
    noticed(MPI_Comm_delete_attr(mpi.comm, MPI_KEYVAL_INVALID), "MPI_Comm_delete_attr");
}

// The names of MPI-1 (sections 16.1 and 7.7.2): deprecated, and the same.
namespace {
int old_copy(MPI_Comm from, int key, void* extra, void* value, void* out, int* flag) {
    return on_copy(from, key, extra, value, out, flag);
}
int old_delete(MPI_Comm from, int key, void* value, void* extra) { return on_delete(from, key, value, extra); }
} // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
ASSAY_TEST(comm, attr_deprecated, requirements{"attr.deprecated", "attr.deprecated.callbacks"}, over(kinds()),
           needs_procedures({"MPI_Keyval_create", "MPI_Attr_put"})) {
    journal seen;
    seen.add = 3;
    int key = MPI_KEYVAL_INVALID, passing = MPI_KEYVAL_INVALID, staying = MPI_KEYVAL_INVALID;
    mpi.ok(MPI_Keyval_create(old_copy, old_delete, &key, &seen));
    mpi.ok(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &passing, nullptr));
    mpi.ok(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &staying, nullptr));
    MPI_Comm base = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &base));
    for (int k : {key, passing, staying}) mpi.ok(MPI_Attr_put(base, k, pointer(first_value)));
    mpi.ok(MPI_Comm_dup(base, &copy));
    expect_value(mpi, copy, key, first_value + 3, "copied by a callback of MPI_Keyval_create");
    expect_value(mpi, copy, passing, first_value, "with MPI_DUP_FN");
    expect_value(mpi, copy, staying, {}, "with MPI_NULL_COPY_FN");
    void* value = nullptr;
    int flag = -7;
    mpi.ok(MPI_Attr_get(copy, key, &value, &flag));
    mpi.check(flag != 0 && number(value) == first_value + 3, finding::value, "MPI_Attr_get gives another value");
    mpi.ok(MPI_Attr_get(copy, staying, &value, &flag));
    mpi.check(flag == 0, finding::value, "MPI_Attr_get finds an attribute that was not copied");
    mpi.ok(MPI_Attr_delete(copy, key));
    expect_calls(mpi, seen, 1, 1, "MPI_Attr_delete");
    expect_value(mpi, copy, key, {}, "after MPI_Attr_delete");
    free_communicator(mpi, copy);
    free_communicator(mpi, base);
    expect_calls(mpi, seen, 1, 2, "freeing both");
    for (int* k : {&key, &passing, &staying}) {
        mpi.ok(MPI_Keyval_free(k));
        mpi.check(*k == MPI_KEYVAL_INVALID, finding::value, "MPI_Keyval_free must set the key to MPI_KEYVAL_INVALID");
    }
}
#pragma GCC diagnostic pop

// ------------------------------------------------------------------------- Attributes that MPI sets itself (9.1.2)

namespace {
struct predefined {
    int key;
    char const* name;
    bool always; // must be there
};
axis<int> const attributes("attribute", {{{"tag_ub", "MPI_TAG_UB"}, 0},
                                         {{"io", "MPI_IO"}, 1},
                                         {{"wtime_is_global", "MPI_WTIME_IS_GLOBAL"}, 2},
                                         {{"universe_size", "MPI_UNIVERSE_SIZE"}, 3},
                                         {{"appnum", "MPI_APPNUM"}, 4},
                                         {{"lastusedcode", "MPI_LASTUSEDCODE"}, 5}});
predefined attribute_at(int i) {
    switch (i) {
    case 0: return {MPI_TAG_UB, "MPI_TAG_UB", true};
    case 1: return {MPI_IO, "MPI_IO", true};
    case 2: return {MPI_WTIME_IS_GLOBAL, "MPI_WTIME_IS_GLOBAL", false};
    case 3: return {MPI_UNIVERSE_SIZE, "MPI_UNIVERSE_SIZE", false};
    case 4: return {MPI_APPNUM, "MPI_APPNUM", false};
    default: return {MPI_LASTUSEDCODE, "MPI_LASTUSEDCODE", true};
    }
}
} // namespace

ASSAY_TEST(comm, attr_environment,
           requirements{"env.attr.present", "env.attr.tag_ub", "env.attr.io", "env.attr.wtime_is_global",
                        "env.attr.universe_size", "env.attr.lastusedcode", "env.attr.same_everywhere"},
           over(axis_use{&attributes}, communicators::world()), thread_safe{}) {
    auto const [key, name, always] = attribute_at(mpi.at(attributes));
    int* value = nullptr;
    int flag = -7;
    mpi.ok(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
    bool const there = flag != 0;
    if (always && !mpi.check(there, finding::value, fmt::format("MPI_COMM_WORLD has no attribute {}", name))) return;
    // MPI_WTIME_IS_GLOBAL need not be there where it would be 0 (section 9.1.2.3).
    int const mine = there && value != nullptr ? *value : key == MPI_WTIME_IS_GLOBAL && !there ? 0 : -7;
    if (there) {
        if (!mpi.check(value != nullptr, finding::value,
                       fmt::format("{} is a null pointer, not the address of a number", name)))
            return;
        switch (mpi.at(attributes)) {
        case 0: mpi.check(mine >= 32767, finding::value, fmt::format("MPI_TAG_UB is {}: less than 32767", mine)); break;
        case 1:
            mpi.check(mine == MPI_ANY_SOURCE || mine == MPI_PROC_NULL || (mine >= 0 && mine < mpi.size), finding::value,
                      fmt::format("MPI_IO is {}: no rank, MPI_ANY_SOURCE or MPI_PROC_NULL", mine));
            break;
        case 2:
            mpi.check(mine == 0 || mine == 1, finding::value,
                      fmt::format("MPI_WTIME_IS_GLOBAL is {}, not 0 or 1", mine));
            break;
        case 3: mpi.check(mine > 0, finding::value, fmt::format("MPI_UNIVERSE_SIZE is {}", mine)); break;
        case 4: mpi.check(mine >= 0, finding::value, fmt::format("MPI_APPNUM is {}", mine)); break;
        default:
            mpi.check(mine >= MPI_ERR_LASTCODE, finding::value,
                      fmt::format("MPI_LASTUSEDCODE is {}, less than MPI_ERR_LASTCODE ({})", mine, MPI_ERR_LASTCODE));
        }
    }
    // MPI_IO may differ; of the others the same is said everywhere.
    std::vector<int> all(static_cast<std::size_t>(mpi.size), -8);
    mpi.ok(MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, mpi.comm));
    if (mpi.at(attributes) == 0 || mpi.at(attributes) == 2)
        mpi.check(std::all_of(all.begin(), all.end(), [mine](int one) { return one == mine; }), finding::value,
                  fmt::format("{} differs between processes: {}", name, text(all)));
}

// The largest tag that the library names is a tag.
ASSAY_TEST(comm, attr_tag_ub, requirements{"env.attr.tag_ub.usable"}, over(communicators::world()), thread_safe{}) {
    int* largest = nullptr;
    int flag = 0;
    mpi.ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &flag));
    if (flag == 0 || largest == nullptr) return; // comm.attr_environment says so
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank - 1 + mpi.size) % mpi.size;
    MPI_Comm copy = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &copy));
    int const out = mpi.rank;
    int in = -7;
    auto status = poisoned_status();
    mpi.ok(MPI_Sendrecv(&out, 1, MPI_INT, to, *largest, &in, 1, MPI_INT, from, *largest, copy, &status));
    expect_number(mpi, in, from, fmt::format("the message with tag {}", *largest));
    mpi.expect(status).tag(*largest).source(from);
    free_communicator(mpi, copy);
}

// MPI_Comm_disconnect deletes attributes as MPI_Comm_free does.
ASSAY_TEST(comm, attr_disconnect, requirements{"attr.delete.on_disconnect"}, over(kinds())) {
    journal seen;
    int key = make_key(mpi, seen);
    MPI_Comm comm = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &comm));
    mpi.ok(MPI_Comm_set_attr(comm, key, pointer(first_value)));
    mpi.ok(MPI_Comm_disconnect(&comm));
    expect_calls(mpi, seen, 0, 1, "MPI_Comm_disconnect");
    for (auto const& call : seen.removals)
        mpi.check(number(call.value) == first_value && call.key == key, finding::value,
                  "the delete callback was given another value or key");
    free_key(mpi, key);
}
