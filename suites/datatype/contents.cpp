// Decoding datatypes (MPI-5.0 section 5.1.13).
#include "suites/datatype/recipe.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;
using namespace assay::types;

namespace {

// Which decoding procedures are called: those with large counts take any datatype.
enum class decoder { plain, c };
axis<decoder> const
    decoders("decoder",
             {{{"plain", "MPI_Type_get_envelope"}, decoder::plain},
              {{"c", "MPI_Type_get_envelope_c", needs_procedures({"MPI_Type_get_envelope_c"})}, decoder::c}});

struct decoded {
    std::int64_t integers = -7, addresses = -7, counts = 0, types = -7;
    int combiner = -7;
};

decoded envelope(test_run& mpi, MPI_Datatype type, decoder by) {
    decoded got;
    if (by == decoder::plain) {
        int i = -7, a = -7, d = -7;
        mpi.ok(MPI_Type_get_envelope(type, &i, &a, &d, &got.combiner));
        got.integers = i, got.addresses = a, got.types = d;
    } else {
        MPI_Count i = -7, a = -7, c = -7, d = -7;
        mpi.ok(MPI_Type_get_envelope_c(type, &i, &a, &c, &d, &got.combiner));
        got.integers = i, got.addresses = a, got.counts = c, got.types = d;
    }
    return got;
}

bool same_numbers(test_run& mpi, char const* what, std::vector<std::int64_t> got, std::vector<std::int64_t> expected,
                  requirement rests_on = "datatype.contents") {
    return got == expected || mpi.check(rests_on, false, finding::value,
                                        fmt::format("{} are {}, expected {}", what, list(got), list(expected)),
                                        std::source_location::current());
}

} // namespace

ASSAY_TEST(datatype, contents,
           requirements{"datatype.envelope", "datatype.envelope.large", "datatype.contents", "datatype.contents.large",
                        "datatype.contents.large_order", "datatype.contents.predefined", "datatype.contents.derived",
                        "datatype.dup.envelope"},
           over(common_recipes(), axis_use{&bindings()}, axis_use{&decoders}), has_binding(),
           where(bindings(), decoders, [](binding b, decoder d) { return b == binding::small || d == decoder::c; }),
           thread_safe{}) {
    auto const& how = mpi.at(recipes());
    bool const large = mpi.at(bindings()) == binding::large;
    auto const by = mpi.at(decoders);
    made_type type(mpi, how, mpi.at(bindings()), false);
    if (!type) return;
    auto const got = envelope(mpi, type, by);
    auto const& integers = large ? how.integers_c : how.integers;
    auto const& addresses = large ? std::vector<MPI_Aint>() : how.addresses;
    auto const counts = large ? how.counts_c : std::vector<MPI_Count>();
    auto const expected = [](auto const& list) { return static_cast<std::int64_t>(list.size()); };
    bool fits = equal(mpi, "the combiner", got.combiner, how.combiner);
    fits &= equal(mpi, "num_integers", got.integers, expected(integers));
    fits &= equal(mpi, "num_addresses", got.addresses, expected(addresses));
    fits &= equal(mpi, "num_large_counts", got.counts, expected(counts));
    fits &= equal(mpi, "num_datatypes", got.types, expected(how.old));
    if (!fits) return; // the arrays below have the expected lengths
    std::vector<int> i(integers.size(), -7);
    std::vector<MPI_Aint> a(addresses.size(), -7);
    std::vector<MPI_Count> c(counts.size(), -7);
    handles d(how.old.size(), MPI_DATATYPE_NULL);
    if (by == decoder::plain) {
        auto const number = [](auto const& list) { return static_cast<int>(list.size()); };
        if (!mpi.ok(MPI_Type_get_contents(type, number(i), number(a), number(d), i.data(), a.data(), d.data()))) return;
    } else {
        auto const number = [](auto const& list) { return static_cast<MPI_Count>(list.size()); };
        if (!mpi.ok(MPI_Type_get_contents_c(type, number(i), number(a), number(c), number(d), i.data(), a.data(),
                                            c.data(), d.data())))
            return;
    }
    same_numbers(mpi, "the integers", wide(i), wide(integers));
    same_numbers(mpi, "the addresses", wide(a), wide(addresses));
    // Section 5.1.13 gives the order of the arguments only for constructors without large counts.
    auto sorted = wide(c), wanted = wide(counts);
    std::sort(sorted.begin(), sorted.end());
    std::sort(wanted.begin(), wanted.end());
    if (same_numbers(mpi, "the large counts (sorted)", sorted, wanted))
        same_numbers(mpi, "the large counts", wide(c), wide(counts), "datatype.contents.large_order");
    for (std::size_t k = 0; k < d.size(); ++k) {
        auto const what = fmt::format("datatype {} of the contents", k);
        if (how.old[k].is_predefined) {
            mpi.check(d[k] == type.old()[k], finding::value,
                      what + " is not the predefined datatype that it was made from");
            continue;
        }
        if (!mpi.check(d[k] != MPI_DATATYPE_NULL, finding::value, what + " is MPI_DATATYPE_NULL")) continue;
        expect_bounds(mpi, d[k], query::plain, how.old[k].map, what);
        auto const was = envelope(mpi, type.old()[k], decoder::plain), is = envelope(mpi, d[k], decoder::plain);
        equal(mpi, "the combiner of " + what, is.combiner, was.combiner);
        // The caller has to free it, which must not harm the original.
        mpi.ok(MPI_Type_free(&d[k]));
        mpi.check(d[k] == MPI_DATATYPE_NULL, finding::value, what + " is not MPI_DATATYPE_NULL after MPI_Type_free");
        expect_bounds(mpi, type.old()[k], query::plain, how.old[k].map, "the datatype argument");
    }
    expect_bounds(mpi, type, query::plain, how.map, "the datatype, after its contents were freed");
}

// What the contents hold remains usable when the datatype itself is gone.
ASSAY_TEST(datatype, contents_outlive, requirements{"datatype.contents.derived", "datatype.free.derived"},
           over(only(recipes(),
                     [](recipe const& r) {
                         return std::any_of(r.old.begin(), r.old.end(), is_derived) && r.side_by_side && !r.disputed;
                     })),
           thread_safe{}) {
    auto const& how = mpi.at(recipes());
    handles kept(how.old.size(), MPI_DATATYPE_NULL);
    {
        made_type type(mpi, how, binding::small, false); // and its arguments: all are freed at the end of the block
        if (!type) return;
        std::vector<int> i(how.integers.size() + 1);
        std::vector<MPI_Aint> a(how.addresses.size() + 1);
        mpi.ok(MPI_Type_get_contents(type, static_cast<int>(how.integers.size()),
                                     static_cast<int>(how.addresses.size()), static_cast<int>(kept.size()), i.data(),
                                     a.data(), kept.data()));
    }
    MPI_Datatype again = MPI_DATATYPE_NULL;
    if (!mpi.ok(how.make(kept, &again))) return;
    own_type type(again);
    mpi.ok(MPI_Type_commit(type.address()));
    for (std::size_t k = 0; k < kept.size(); ++k)
        if (is_derived(how.old[k])) mpi.ok(MPI_Type_free(&kept[k]));
    expect_bounds(mpi, type, query::plain, how.map, "the datatype made of the contents");
    auto &out = mpi.bytes(how.map, 2), &in = mpi.bytes(how.map, 2);
    auto const key = mpi.key(0, 0, 0, 0, 0);
    out.fill(key);
    in.poison();
    mpi.ok(MPI_Sendrecv(out, 2, type, 0, mpi.tag(), in, 2, type, 0, mpi.tag(), MPI_COMM_SELF, MPI_STATUS_IGNORE));
    in.expect(key, 2, "by the datatype made of the contents");
}

ASSAY_TEST(datatype, envelope_named, requirements{"datatype.envelope.named"},
           over(only(type_axis(), [](datatype const& t) { return t.predefined; }), axis_use{&decoders}),
           thread_safe{}) {
    auto const got = envelope(mpi, mpi.type, mpi.at(decoders));
    equal(mpi, "the combiner", got.combiner, MPI_COMBINER_NAMED);
    equal(mpi, "num_integers", got.integers, 0);
    equal(mpi, "num_addresses", got.addresses, 0);
    equal(mpi, "num_large_counts", got.counts, 0);
    equal(mpi, "num_datatypes", got.types, 0);
}

// MPI_ERR_TYPE is what section 5.1.13 says of a datatype with large counts in the bindings without them.
ASSAY_TEST(datatype, decode_refused,
           requirements{"datatype.envelope.no_large", "datatype.contents.no_large", "datatype.contents.named",
                        "datatype.contents.too_small"},
           needs_procedures({"MPI_Type_vector_c"}), thread_safe{}) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_vector_c(3, 2, 4, MPI_INT, &made))) return;
    own_type const large(made);
    int n = -7, m = -7, k = -7, combiner = -7, i[4] = {};
    MPI_Aint a[4] = {};
    MPI_Datatype d[4] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    erroneous_from_here();
    expect_refused(mpi, MPI_Type_get_envelope(large, &n, &m, &k, &combiner), {MPI_ERR_TYPE},
                   "MPI_Type_get_envelope of a datatype with large counts");
    expect_refused(mpi, MPI_Type_get_contents(large, 4, 4, 4, i, a, d), {MPI_ERR_TYPE},
                   "MPI_Type_get_contents of a datatype with large counts");
    expect_refused(mpi, MPI_Type_get_contents(MPI_INT, 4, 4, 4, i, a, d), {MPI_ERR_TYPE, MPI_ERR_ARG},
                   "MPI_Type_get_contents of MPI_INT");
    if (!mpi.ok(MPI_Type_vector(3, 2, 4, MPI_INT, &made))) return;
    own_type const small(made);
    expect_refused(mpi, MPI_Type_get_contents(small, 2, 0, 1, i, a, d), {MPI_ERR_ARG, MPI_ERR_OTHER},
                   "MPI_Type_get_contents with room for 2 of 3 integers");
}
