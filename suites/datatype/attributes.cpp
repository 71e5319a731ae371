// Attributes of datatypes (MPI-5.0 sections 7.7.1 and 7.7.4).
#include "suites/datatype/recipe.hpp"

#include "framework/check/logical.hpp"
#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

using namespace assay;
using namespace assay::types;

namespace {

enum class event { copied, deleted };
struct call {
    event what;
    MPI_Datatype type;
    int key;
    std::intptr_t value;
};
// The extra state of a key: what its callbacks are to do, and what they were called with.
struct state {
    bool keep = true;      // the copy callback's flag
    std::intptr_t add = 0; // to a copied value
    std::vector<call> calls;
};

std::intptr_t number(void* value) { return reinterpret_cast<std::intptr_t>(value); }
void* value(std::intptr_t n) { return reinterpret_cast<void*>(n); }

int copying(MPI_Datatype old, int key, void* extra, void* in, void* out, int* flag) {
    auto* const s = static_cast<state*>(extra);
    s->calls.push_back({event::copied, old, key, number(in)});
    *flag = s->keep ? 1 : 0;
    if (s->keep) *static_cast<void**>(out) = value(number(in) + s->add);
    return MPI_SUCCESS;
}
int deleting(MPI_Datatype type, int key, void* in, void* extra) {
    static_cast<state*>(extra)->calls.push_back({event::deleted, type, key, number(in)});
    return MPI_SUCCESS;
}

class keyval {
public:
    explicit keyval(test_run& mpi, MPI_Type_copy_attr_function* copy = copying,
                    MPI_Type_delete_attr_function* remove = deleting)
        : mpi_(mpi) {
        mpi.ok(MPI_Type_create_keyval(copy, remove, &key_, &at));
        mpi.check(key_ != MPI_KEYVAL_INVALID, finding::value, "MPI_Type_create_keyval gives MPI_KEYVAL_INVALID");
    }
    ~keyval() {
        if (key_ != MPI_KEYVAL_INVALID) free();
    }
    keyval(keyval const&) = delete;
    keyval& operator=(keyval const&) = delete;
    operator int() const { return key_; }
    void free() {
        mpi_.ok(MPI_Type_free_keyval(&key_));
        mpi_.check(key_ == MPI_KEYVAL_INVALID, finding::value,
                   "MPI_Type_free_keyval does not set the key to MPI_KEYVAL_INVALID");
        key_ = MPI_KEYVAL_INVALID;
    }
    // That the callbacks were called exactly so since the last time, in any order if there are several keys.
    void expect(char const* when, std::vector<call> const& expected, int key) {
        auto const show = [](std::vector<call> const& calls) {
            std::string all;
            for (auto const& c : calls)
                all += fmt::format("{} {}, ", c.what == event::copied ? "copy" : "delete", c.value);
            return all.empty() ? std::string("no call") : all.substr(0, all.size() - 2);
        };
        bool same = at.calls.size() == expected.size();
        for (std::size_t i = 0; same && i < expected.size(); ++i)
            same = at.calls[i].what == expected[i].what && at.calls[i].value == expected[i].value;
        if (mpi_.check(same, finding::value,
                       fmt::format("{}: the callbacks saw {}, expected {}", when, show(at.calls), show(expected))))
            for (std::size_t i = 0; i < expected.size(); ++i) {
                mpi_.check(at.calls[i].key == key, finding::value,
                           fmt::format("{}: a callback got another key than its own", when));
                mpi_.check(at.calls[i].type == expected[i].type, finding::value,
                           fmt::format("{}: a callback got another datatype", when));
            }
        at.calls.clear();
    }
    state at;

private:
    test_run& mpi_;
    int key_ = MPI_KEYVAL_INVALID;
};

void expect_value(test_run& mpi, MPI_Datatype type, int key, bool there, std::intptr_t expected,
                  std::string const& when) {
    void* got = value(-7);
    int flag = opposite(there);
    mpi.ok(MPI_Type_get_attr(type, key, &got, &flag));
    if (!mpi.check(logical(flag) == there, finding::value,
                   fmt::format("{}: flag is {}, expected {}", when, flag, there ? "true" : "false")))
        return;
    if (there) equal(mpi, when + ": the attribute", number(got), expected);
}

// The kinds of datatypes that attributes hang on.
definition mine() { return vector(2, 1, 3, predefined("int")); }

} // namespace

ASSAY_TEST(datatype, attributes,
           requirements{"datatype.attr.keyval", "datatype.attr.get", "datatype.attr.set", "datatype.attr.overwrite",
                        "datatype.attr.delete", "datatype.attr.free"},
           thread_safe{}) {
    own_type type(mpi, mine());
    keyval first(mpi), second(mpi);
    mpi.check(first != second, finding::value, "two calls of MPI_Type_create_keyval gave the same key");
    MPI_Datatype const handle = type;
    expect_value(mpi, type, first, false, 0, "before it was set");
    mpi.ok(MPI_Type_set_attr(type, first, value(17)));
    mpi.ok(MPI_Type_set_attr(type, second, value(18)));
    expect_value(mpi, type, first, true, 17, "after it was set");
    expect_value(mpi, type, second, true, 18, "the other one");
    first.expect("MPI_Type_set_attr of a new attribute", {}, first);
    mpi.ok(MPI_Type_set_attr(type, first, value(19)));
    first.expect("MPI_Type_set_attr of an attribute that was set", {{event::deleted, handle, first, 17}}, first);
    expect_value(mpi, type, first, true, 19, "after it was set again");
    mpi.ok(MPI_Type_delete_attr(type, first));
    first.expect("MPI_Type_delete_attr", {{event::deleted, handle, first, 19}}, first);
    expect_value(mpi, type, first, false, 0, "after it was deleted");
    second.expect("all that was done with another key", {}, second);
    mpi.ok(MPI_Type_set_attr(type, first, nullptr)); // a null pointer is a value as any other
    expect_value(mpi, type, first, true, 0, "a null pointer");
    mpi.ok(MPI_Type_free(type.address()));
    first.expect("MPI_Type_free", {{event::deleted, handle, first, 0}}, first);
    second.expect("MPI_Type_free", {{event::deleted, handle, second, 18}}, second);
}

ASSAY_TEST(datatype, attributes_dup,
           requirements{"datatype.attr.copy", "datatype.attr.copy.dropped", "datatype.attr.copy.changed",
                        "datatype.attr.free"},
           thread_safe{}) {
    own_type type(mpi, mine());
    MPI_Datatype const handle = type;
    keyval kept(mpi), dropped(mpi), changed(mpi), unset(mpi);
    dropped.at.keep = false;
    changed.at.add = 100;
    mpi.ok(MPI_Type_set_attr(type, kept, value(1)));
    mpi.ok(MPI_Type_set_attr(type, dropped, value(2)));
    mpi.ok(MPI_Type_set_attr(type, changed, value(3)));
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_dup(type, &copy))) return;
    kept.expect("MPI_Type_dup", {{event::copied, handle, kept, 1}}, kept);
    dropped.expect("MPI_Type_dup", {{event::copied, handle, dropped, 2}}, dropped);
    changed.expect("MPI_Type_dup", {{event::copied, handle, changed, 3}}, changed);
    unset.expect("MPI_Type_dup, the key of no attribute", {}, unset);
    expect_value(mpi, copy, kept, true, 1, "in the duplicate, flag 1");
    expect_value(mpi, copy, dropped, false, 0, "in the duplicate, flag 0");
    expect_value(mpi, copy, changed, true, 103, "in the duplicate, another value");
    expect_value(mpi, copy, unset, false, 0, "in the duplicate, never set");
    expect_value(mpi, type, dropped, true, 2, "in the original, after it was duplicated");
    expect_value(mpi, type, changed, true, 3, "in the original, after it was duplicated");
    // Attributes of the two are independent of each other.
    mpi.ok(MPI_Type_set_attr(copy, kept, value(9)));
    expect_value(mpi, type, kept, true, 1, "in the original, after the duplicate's was changed");
    MPI_Datatype const copied = copy;
    kept.expect("MPI_Type_set_attr on the duplicate", {{event::deleted, copied, kept, 1}}, kept);
    mpi.ok(MPI_Type_free(&copy));
    kept.expect("MPI_Type_free of the duplicate", {{event::deleted, copied, kept, 9}}, kept);
    dropped.expect("MPI_Type_free of the duplicate", {}, dropped);
    changed.expect("MPI_Type_free of the duplicate", {{event::deleted, copied, changed, 103}}, changed);
    mpi.ok(MPI_Type_free(type.address()));
    changed.expect("MPI_Type_free of the original", {{event::deleted, handle, changed, 3}}, changed);
    dropped.expect("MPI_Type_free of the original", {{event::deleted, handle, dropped, 2}}, dropped);
}

ASSAY_TEST(datatype, attributes_predefined_callbacks,
           requirements{"datatype.attr.dup_fn", "datatype.attr.null_copy_fn", "datatype.attr.null_delete_fn"},
           thread_safe{}) {
    own_type type(mpi, mine());
    keyval copied(mpi, MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN),
        left(mpi, MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN);
    mpi.ok(MPI_Type_set_attr(type, copied, value(5)));
    mpi.ok(MPI_Type_set_attr(type, left, value(6)));
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_dup(type, &copy))) return;
    expect_value(mpi, copy, copied, true, 5, "MPI_TYPE_DUP_FN");
    expect_value(mpi, copy, left, false, 0, "MPI_TYPE_NULL_COPY_FN");
    mpi.ok(MPI_Type_delete_attr(copy, copied));
    expect_value(mpi, copy, copied, false, 0, "deleted with MPI_TYPE_NULL_DELETE_FN");
    expect_value(mpi, type, left, true, 6, "MPI_TYPE_NULL_COPY_FN, in the original");
    mpi.ok(MPI_Type_free(&copy));
}

ASSAY_TEST(datatype, attributes_free_keyval,
           requirements{"datatype.attr.free_keyval", "datatype.attr.free_keyval.in_use"}, thread_safe{}) {
    own_type type(mpi, mine());
    MPI_Datatype const handle = type;
    keyval key(mpi);
    int const number_of_key = key;
    mpi.ok(MPI_Type_set_attr(type, key, value(23)));
    key.free();
    key.expect("MPI_Type_free_keyval of a key in use", {}, number_of_key);
    // The key goes on to exist for the attribute: its callbacks are called by MPI_Type_dup and MPI_Type_free.
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    if (mpi.ok(MPI_Type_dup(type, &copy))) {
        key.expect("MPI_Type_dup after MPI_Type_free_keyval", {{event::copied, handle, number_of_key, 23}},
                   number_of_key);
        MPI_Datatype const copied = copy;
        mpi.ok(MPI_Type_free(&copy));
        key.expect("MPI_Type_free of the duplicate after MPI_Type_free_keyval",
                   {{event::deleted, copied, number_of_key, 23}}, number_of_key);
    }
    mpi.ok(MPI_Type_free(type.address()));
    key.expect("MPI_Type_free after MPI_Type_free_keyval", {{event::deleted, handle, number_of_key, 23}},
               number_of_key);
}

ASSAY_TEST(datatype, attributes_on_predefined, requirements{"datatype.attr.any_type"},
           over(only(type_axis(), [](datatype const& t) { return t.predefined; })), thread_safe{}) {
    keyval key(mpi);
    MPI_Datatype const type = mpi.type;
    mpi.ok(MPI_Type_set_attr(type, key, value(31)));
    expect_value(mpi, type, key, true, 31, "of a predefined datatype");
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    if (mpi.ok(MPI_Type_dup(type, &copy))) {
        key.expect("MPI_Type_dup", {{event::copied, type, key, 31}}, key);
        expect_value(mpi, copy, key, true, 31, "of its duplicate");
        mpi.ok(MPI_Type_free(&copy));
        key.at.calls.clear();
    }
    mpi.ok(MPI_Type_delete_attr(type, key));
    key.expect("MPI_Type_delete_attr", {{event::deleted, type, key, 31}}, key);
    expect_value(mpi, type, key, false, 0, "of a predefined datatype, deleted");
}

// A thing that was made of the datatype does not have its attributes (section 7.7.1: only MPI_Type_dup copies).
ASSAY_TEST(datatype, attributes_derived, requirements{"datatype.attr.only_dup"}, thread_safe{}) {
    own_type type(mpi, mine());
    keyval key(mpi);
    mpi.ok(MPI_Type_set_attr(type, key, value(41)));
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_contiguous(2, type, &made))) return;
    key.expect("MPI_Type_contiguous", {}, key);
    expect_value(mpi, made, key, false, 0, "of a datatype that was made of it");
    mpi.ok(MPI_Type_free(&made));
    key.expect("MPI_Type_free of what was made of it", {}, key);
    expect_value(mpi, type, key, true, 41, "of the datatype itself");
}

ASSAY_TEST(datatype, attributes_refused, requirements{"datatype.attr.invalid_keyval", "datatype.attr.callback_error"},
           thread_safe{}) {
    own_type type(mpi, mine());
    void* got = nullptr;
    int flag = -7, none = MPI_KEYVAL_INVALID;
    erroneous_from_here();
    expect_refused(mpi, MPI_Type_set_attr(type, MPI_KEYVAL_INVALID, value(1)), {MPI_ERR_KEYVAL, MPI_ERR_ARG},
                   "MPI_Type_set_attr of MPI_KEYVAL_INVALID");
    expect_refused(mpi, MPI_Type_get_attr(type, MPI_KEYVAL_INVALID, &got, &flag), {MPI_ERR_KEYVAL, MPI_ERR_ARG},
                   "MPI_Type_get_attr of MPI_KEYVAL_INVALID");
    expect_refused(mpi, MPI_Type_delete_attr(type, MPI_KEYVAL_INVALID), {MPI_ERR_KEYVAL, MPI_ERR_ARG},
                   "MPI_Type_delete_attr of MPI_KEYVAL_INVALID");
    expect_refused(mpi, MPI_Type_free_keyval(&none), {MPI_ERR_KEYVAL, MPI_ERR_ARG},
                   "MPI_Type_free_keyval of MPI_KEYVAL_INVALID");
    int key = MPI_KEYVAL_INVALID;
    mpi.ok(MPI_Type_create_keyval([](MPI_Datatype, int, void*, void*, void*, int*) -> int { return MPI_ERR_OTHER; },
                                  MPI_TYPE_NULL_DELETE_FN, &key, nullptr));
    mpi.ok(MPI_Type_set_attr(type, key, value(1)));
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    int const code = MPI_Type_dup(type, &copy);
    mpi.check(code != MPI_SUCCESS, finding::error, "MPI_Type_dup succeeds although a copy callback failed");
    mpi.ok(MPI_Type_delete_attr(type, key));
    mpi.ok(MPI_Type_free_keyval(&key));
}
