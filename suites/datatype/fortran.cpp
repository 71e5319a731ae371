// Datatypes for Fortran's kinds, made and asked for in C (MPI-5.0 sections 19.1.9.1 and 19.1.9.2), and the pairs of section 6.9.4.
#include "suites/datatype/recipe.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

using namespace assay;
using namespace assay::types;

namespace {

enum class numbers { real, complex, integer };
struct kind {
    numbers of;
    int p, r; // precision and range; MPI_UNDEFINED: not given
    int size; // in memory, by the model of gfortran and every other compiler of x86-64 and AArch64; 0: not known
    int external_size; // by section 19.1.9.1
};
axis<kind> const kinds("kind", {{{"real.6.37", ""}, {numbers::real, 6, 37, 4, 4}},
                                {{"real.6", ""}, {numbers::real, 6, MPI_UNDEFINED, 4, 4}},
                                {{"real.any.30", ""}, {numbers::real, MPI_UNDEFINED, 30, 4, 4}},
                                {{"real.15.307", ""}, {numbers::real, 15, 307, 8, 8}},
                                {{"real.7", ""}, {numbers::real, 7, MPI_UNDEFINED, 8, 8}},
                                {{"real.6.100", ""}, {numbers::real, 6, 100, 8, 8}},
                                {{"real.30", ""}, {numbers::real, 30, MPI_UNDEFINED, 0, 16}},
                                {{"complex.6.37", ""}, {numbers::complex, 6, 37, 8, 8}},
                                {{"complex.15.307", ""}, {numbers::complex, 15, 307, 16, 16}},
                                {{"complex.any.100", ""}, {numbers::complex, MPI_UNDEFINED, 100, 16, 16}},
                                {{"integer.2", ""}, {numbers::integer, 0, 2, 1, 1}},
                                {{"integer.4", ""}, {numbers::integer, 0, 4, 2, 2}},
                                {{"integer.9", ""}, {numbers::integer, 0, 9, 4, 4}},
                                {{"integer.10", ""}, {numbers::integer, 0, 10, 8, 8}},
                                {{"integer.18", ""}, {numbers::integer, 0, 18, 8, 8}}});

int make(kind const& k, MPI_Datatype* made) {
    switch (k.of) {
    case numbers::real: return MPI_Type_create_f90_real(k.p, k.r, made);
    case numbers::complex: return MPI_Type_create_f90_complex(k.p, k.r, made);
    default: return MPI_Type_create_f90_integer(k.r, made);
    }
}

enum class aspect { memory, external32 };
axis<aspect> const aspects("aspect", {{{"memory", "decoding and data"}, aspect::memory},
                                      {{"external32", "MPI_Pack_external_size"}, aspect::external32}});

struct matched {
    int type_class, size;
};
axis<matched> const classes("class", {{{"real.4", ""}, {MPI_TYPECLASS_REAL, 4}},
                                      {{"real.8", ""}, {MPI_TYPECLASS_REAL, 8}},
                                      {{"integer.1", ""}, {MPI_TYPECLASS_INTEGER, 1}},
                                      {{"integer.2", ""}, {MPI_TYPECLASS_INTEGER, 2}},
                                      {{"integer.4", ""}, {MPI_TYPECLASS_INTEGER, 4}},
                                      {{"integer.8", ""}, {MPI_TYPECLASS_INTEGER, 8}},
                                      {{"complex.8", ""}, {MPI_TYPECLASS_COMPLEX, 8}},
                                      {{"complex.16", ""}, {MPI_TYPECLASS_COMPLEX, 16}}});

// A library without a Fortran compiler supports no kind at all, or lacks the procedures.
bool with_fortran() {
    if (!has_procedure("MPI_Type_create_f90_real")) return false;
    MPI_Datatype single = MPI_DATATYPE_NULL;
    return MPI_Type_create_f90_real(6, 37, &single) == MPI_SUCCESS;
}

// Of a datatype that is `size` bytes of plain data.
void expect_plain(test_run& mpi, MPI_Datatype type, int size, std::string const& what) {
    int got = -7;
    MPI_Aint lb = -7, extent = -7;
    mpi.ok(MPI_Type_size(type, &got));
    mpi.ok(MPI_Type_get_extent(type, &lb, &extent));
    equal(mpi, "the size of " + what, got, size);
    equal(mpi, "the lower bound of " + what, lb, 0);
    equal(mpi, "the extent of " + what, extent, size);
    if (got != size) return;
    std::vector<unsigned char> out(static_cast<std::size_t>(3 * size)), in(out.size() + 1, poison_byte);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<unsigned char>(1 + k % 60);
    mpi.ok(MPI_Sendrecv(out.data(), 3, type, 0, mpi.tag(), in.data(), 3, type, 0, mpi.tag(), MPI_COMM_SELF,
                        MPI_STATUS_IGNORE));
    mpi.check(std::equal(out.begin(), out.end(), in.begin()) && in.back() == poison_byte, finding::data,
              "3 elements of " + what + " arrived changed");
}

} // namespace

ASSAY_TEST(datatype, f90,
           requirements{"datatype.f90.real", "datatype.f90.complex", "datatype.f90.integer", "datatype.f90.envelope",
                        "datatype.f90.same_handle", "datatype.f90.external"},
           over(axis_use{&aspects}, axis_use{&kinds}), thread_safe{}) {
    auto const& k = mpi.at(kinds);
    MPI_Datatype type = MPI_DATATYPE_NULL, again = MPI_DATATYPE_NULL;
    if (!with_fortran()) mpi.unsupported("the library was built without Fortran");
    int const code = make(k, &type);
    if (k.size == 0 && code != MPI_SUCCESS) mpi.unsupported("the library's Fortran compiler has no such kind");
    if (!mpi.ok(code) || !mpi.check(type != MPI_DATATYPE_NULL, finding::value,
                                    "MPI_SUCCESS and MPI_DATATYPE_NULL: there is no such datatype"))
        return;
    if (mpi.at(aspects) == aspect::external32) {
        MPI_Aint external = -7;
        mpi.ok(MPI_Pack_external_size("external32", 3, type, &external));
        equal(mpi, "MPI_Pack_external_size of 3 elements", external, 3 * k.external_size);
        return;
    }
    mpi.ok(make(k, &again));
    mpi.check("datatype.f90.same_handle", type == again, finding::value,
              "a second call with the same arguments gave another handle");
    // Predefined, though without a name: pre-committed, and the arguments can be decoded.
    int i = -7, a = -7, d = -7, combiner = -7;
    mpi.ok(MPI_Type_get_envelope(type, &i, &a, &d, &combiner));
    equal(mpi, "the combiner", combiner,
          k.of == numbers::real      ? MPI_COMBINER_F90_REAL
          : k.of == numbers::complex ? MPI_COMBINER_F90_COMPLEX
                                     : MPI_COMBINER_F90_INTEGER);
    bool const integer = k.of == numbers::integer;
    bool fits = equal(mpi, "num_integers", i, integer ? 1 : 2);
    fits &= equal(mpi, "num_addresses", a, 0);
    fits &= equal(mpi, "num_datatypes", d, 0);
    if (fits) {
        int got[2] = {-7, -7};
        MPI_Aint no_address = 0;
        MPI_Datatype no_type = MPI_DATATYPE_NULL;
        mpi.ok(MPI_Type_get_contents(type, i, 0, 0, got, &no_address, &no_type));
        equal(mpi, "the first argument of the contents", got[0], integer ? k.r : k.p);
        if (!integer) equal(mpi, "the second argument of the contents", got[1], k.r);
    }
    if (k.size > 0) expect_plain(mpi, type, k.size, "the datatype");
}

ASSAY_TEST(datatype, match_size, requirements{"datatype.match_size", "datatype.match_size.named"},
           over(axis_use{&classes}), thread_safe{}) {
    auto const& m = mpi.at(classes);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int const code = MPI_Type_match_size(m.type_class, m.size, &type);
    if (code != MPI_SUCCESS) { // erroneous without a Fortran compiler that has such a kind
        if (!with_fortran()) mpi.unsupported("the library was built without Fortran");
        mpi.ok(code);
        return;
    }
    if (!mpi.check(type != MPI_DATATYPE_NULL, finding::value, "MPI_Type_match_size gives MPI_DATATYPE_NULL")) return;
    int i = -7, a = -7, d = -7, combiner = -7;
    mpi.ok(MPI_Type_get_envelope(type, &i, &a, &d, &combiner));
    equal(mpi, "the combiner", combiner, MPI_COMBINER_NAMED);
    expect_plain(mpi, type, m.size, "the datatype");
    MPI_Datatype again = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_match_size(m.type_class, m.size, &again));
    mpi.check(type == again, finding::value,
              "a second call gave another handle: it is to be a predefined datatype, not a duplicate");
}

ASSAY_TEST(datatype, match_size_refused, requirements{"datatype.match_size.unknown"}, thread_safe{}) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    erroneous_from_here();
    expect_refused(mpi, MPI_Type_match_size(MPI_TYPECLASS_REAL, 7, &type), {MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_OTHER},
                   "MPI_Type_match_size of a real with 7 bytes");
    expect_refused(mpi, MPI_Type_match_size(12345, 4, &type), {MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_OTHER},
                   "MPI_Type_match_size of an unknown class");
}

// ---- Pairs of value and index

namespace {

struct pair {
    MPI_Datatype (*value)();
    MPI_Datatype (*index)();
    MPI_Datatype (*named)(); // nullptr: it has no name
    std::size_t value_size, index_size;
};
#define TYPE(constant) []() -> MPI_Datatype { return constant; }
axis<pair> const pairs("pair",
                       {{{"float.int", ""}, {TYPE(MPI_FLOAT), TYPE(MPI_INT), TYPE(MPI_FLOAT_INT), 4, 4}},
                        {{"double.int", ""}, {TYPE(MPI_DOUBLE), TYPE(MPI_INT), TYPE(MPI_DOUBLE_INT), 8, 4}},
                        {{"long.int", ""}, {TYPE(MPI_LONG), TYPE(MPI_INT), TYPE(MPI_LONG_INT), sizeof(long), 4}},
                        {{"short.int", ""}, {TYPE(MPI_SHORT), TYPE(MPI_INT), TYPE(MPI_SHORT_INT), 2, 4}},
                        {{"int.int", ""}, {TYPE(MPI_INT), TYPE(MPI_INT), TYPE(MPI_2INT), 4, 4}},
                        {{"long_double.int", ""},
                         {TYPE(MPI_LONG_DOUBLE), TYPE(MPI_INT), TYPE(MPI_LONG_DOUBLE_INT), sizeof(long double), 4}},
                        {{"double.uint64", ""}, {TYPE(MPI_DOUBLE), TYPE(MPI_UINT64_T), nullptr, 8, 8}},
                        {{"float.int64", ""}, {TYPE(MPI_FLOAT), TYPE(MPI_INT64_T), nullptr, 4, 8}},
                        {{"int64.int64", ""}, {TYPE(MPI_INT64_T), TYPE(MPI_INT64_T), nullptr, 8, 8}},
                        {{"short.uint8", ""}, {TYPE(MPI_SHORT), TYPE(MPI_UINT8_T), nullptr, 2, 1}}});
#undef TYPE

} // namespace

ASSAY_TEST(datatype, value_index,
           requirements{"datatype.pair.named", "datatype.pair.unnamed", "datatype.pair.envelope"},
           over(axis_use{&pairs}), needs_procedures({"MPI_Type_get_value_index"}), thread_safe{}) {
    auto const& p = mpi.at(pairs);
    MPI_Datatype type = MPI_BYTE;
    if (!mpi.ok(MPI_Type_get_value_index(p.value(), p.index(), &type))) return;
    if (p.named != nullptr) {
        mpi.check(type == p.named(), finding::value,
                  "MPI_Type_get_value_index does not give the named datatype of this pair");
        return;
    }
    // Whether an unnamed pair exists is up to the library.
    if (type == MPI_DATATYPE_NULL) return;
    int i = -7, a = -7, d = -7, combiner = -7, size = -7;
    mpi.ok(MPI_Type_get_envelope(type, &i, &a, &d, &combiner));
    equal(mpi, "the combiner", combiner, MPI_COMBINER_VALUE_INDEX);
    equal(mpi, "num_integers", i, 0);
    equal(mpi, "num_addresses", a, 0);
    if (equal(mpi, "num_datatypes", d, 2)) {
        MPI_Datatype old[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
        int no_integer = 0;
        MPI_Aint no_address = 0;
        mpi.ok(MPI_Type_get_contents(type, 0, 0, 2, &no_integer, &no_address, old));
        mpi.check(old[0] == p.value() && old[1] == p.index(), finding::value,
                  "the contents are not the datatypes of the pair");
    }
    mpi.ok(MPI_Type_size(type, &size));
    equal(mpi, "the size", size, static_cast<std::int64_t>(p.value_size + p.index_size));
    MPI_Datatype again = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_get_value_index(p.value(), p.index(), &again));
    mpi.check(type == again, finding::value,
              "a second call gave another handle: the datatype is predefined, not a duplicate");
}

ASSAY_TEST(datatype, value_index_none, requirements{"datatype.pair.none"},
           needs_procedures({"MPI_Type_get_value_index"}), thread_safe{}) {
    MPI_Datatype type = MPI_BYTE;
    mpi.ok(MPI_Type_get_value_index(MPI_INT, MPI_FLOAT, &type));
    mpi.check(type == MPI_DATATYPE_NULL, finding::value,
              "there is no pair with a float as index: expected MPI_DATATYPE_NULL");
    type = MPI_BYTE;
    mpi.ok(MPI_Type_get_value_index(MPI_C_DOUBLE_COMPLEX, MPI_INT, &type));
    mpi.check(type == MPI_DATATYPE_NULL, finding::value,
              "MPI_MINLOC does not order complex values: expected MPI_DATATYPE_NULL");
}
