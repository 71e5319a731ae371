// Names of datatypes (MPI-5.0 section 7.8).
#include "suites/datatype/recipe.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace assay;
using namespace assay::types;

namespace {

struct named {
    MPI_Datatype (*handle)();
    std::vector<std::string> names; // the first is its own; others are synonyms of the same datatype
};
#define NAMED(constant) []() -> MPI_Datatype { return constant; }

axis<named> const
    constants("constant",
              {{{"char", ""}, {NAMED(MPI_CHAR), {"MPI_CHAR"}}},
               {{"signed_char", ""}, {NAMED(MPI_SIGNED_CHAR), {"MPI_SIGNED_CHAR"}}},
               {{"unsigned_char", ""}, {NAMED(MPI_UNSIGNED_CHAR), {"MPI_UNSIGNED_CHAR"}}},
               {{"byte", ""}, {NAMED(MPI_BYTE), {"MPI_BYTE"}}},
               {{"packed", ""}, {NAMED(MPI_PACKED), {"MPI_PACKED"}}},
               {{"wchar", ""}, {NAMED(MPI_WCHAR), {"MPI_WCHAR"}}},
               {{"short", ""}, {NAMED(MPI_SHORT), {"MPI_SHORT"}}},
               {{"unsigned_short", ""}, {NAMED(MPI_UNSIGNED_SHORT), {"MPI_UNSIGNED_SHORT"}}},
               {{"int", ""}, {NAMED(MPI_INT), {"MPI_INT"}}},
               {{"unsigned", ""}, {NAMED(MPI_UNSIGNED), {"MPI_UNSIGNED"}}},
               {{"long", ""}, {NAMED(MPI_LONG), {"MPI_LONG"}}},
               {{"unsigned_long", ""}, {NAMED(MPI_UNSIGNED_LONG), {"MPI_UNSIGNED_LONG"}}},
               {{"long_long", ""}, {NAMED(MPI_LONG_LONG), {"MPI_LONG_LONG", "MPI_LONG_LONG_INT"}}},
               {{"long_long_int", ""}, {NAMED(MPI_LONG_LONG_INT), {"MPI_LONG_LONG_INT", "MPI_LONG_LONG"}}},
               {{"unsigned_long_long", ""}, {NAMED(MPI_UNSIGNED_LONG_LONG), {"MPI_UNSIGNED_LONG_LONG"}}},
               {{"float", ""}, {NAMED(MPI_FLOAT), {"MPI_FLOAT"}}},
               {{"double", ""}, {NAMED(MPI_DOUBLE), {"MPI_DOUBLE"}}},
               {{"long_double", ""}, {NAMED(MPI_LONG_DOUBLE), {"MPI_LONG_DOUBLE"}}},
               {{"c_bool", ""}, {NAMED(MPI_C_BOOL), {"MPI_C_BOOL"}}},
               {{"int8_t", ""}, {NAMED(MPI_INT8_T), {"MPI_INT8_T"}}},
               {{"int16_t", ""}, {NAMED(MPI_INT16_T), {"MPI_INT16_T"}}},
               {{"int32_t", ""}, {NAMED(MPI_INT32_T), {"MPI_INT32_T"}}},
               {{"int64_t", ""}, {NAMED(MPI_INT64_T), {"MPI_INT64_T"}}},
               {{"uint8_t", ""}, {NAMED(MPI_UINT8_T), {"MPI_UINT8_T"}}},
               {{"uint16_t", ""}, {NAMED(MPI_UINT16_T), {"MPI_UINT16_T"}}},
               {{"uint32_t", ""}, {NAMED(MPI_UINT32_T), {"MPI_UINT32_T"}}},
               {{"uint64_t", ""}, {NAMED(MPI_UINT64_T), {"MPI_UINT64_T"}}},
               {{"aint", ""}, {NAMED(MPI_AINT), {"MPI_AINT"}}},
               {{"offset", ""}, {NAMED(MPI_OFFSET), {"MPI_OFFSET"}}},
               {{"count", ""}, {NAMED(MPI_COUNT), {"MPI_COUNT"}}},
               {{"c_complex", ""}, {NAMED(MPI_C_COMPLEX), {"MPI_C_COMPLEX", "MPI_C_FLOAT_COMPLEX"}}},
               {{"c_float_complex", ""}, {NAMED(MPI_C_FLOAT_COMPLEX), {"MPI_C_FLOAT_COMPLEX", "MPI_C_COMPLEX"}}},
               {{"c_double_complex", ""}, {NAMED(MPI_C_DOUBLE_COMPLEX), {"MPI_C_DOUBLE_COMPLEX"}}},
               {{"c_long_double_complex", ""}, {NAMED(MPI_C_LONG_DOUBLE_COMPLEX), {"MPI_C_LONG_DOUBLE_COMPLEX"}}},
               {{"float_int", ""}, {NAMED(MPI_FLOAT_INT), {"MPI_FLOAT_INT"}}},
               {{"double_int", ""}, {NAMED(MPI_DOUBLE_INT), {"MPI_DOUBLE_INT"}}},
               {{"long_int", ""}, {NAMED(MPI_LONG_INT), {"MPI_LONG_INT"}}},
               {{"short_int", ""}, {NAMED(MPI_SHORT_INT), {"MPI_SHORT_INT"}}},
               {{"2int", ""}, {NAMED(MPI_2INT), {"MPI_2INT"}}},
               {{"long_double_int", ""}, {NAMED(MPI_LONG_DOUBLE_INT), {"MPI_LONG_DOUBLE_INT"}}},
               {{"null", "MPI_DATATYPE_NULL"}, {NAMED(MPI_DATATYPE_NULL), {"MPI_DATATYPE_NULL"}}}});
#undef NAMED

struct text {
    char chars[MPI_MAX_OBJECT_NAME + 16];
    int length = -7;
};

text name_of(test_run& mpi, MPI_Datatype type, std::string const& what) {
    text got;
    std::memset(got.chars, '#', sizeof got.chars);
    mpi.ok(MPI_Type_get_name(type, got.chars, &got.length));
    auto const* const end = static_cast<char const*>(std::memchr(got.chars, '\0', sizeof got.chars));
    bool const sound = mpi.check(
        end != nullptr && end - got.chars < MPI_MAX_OBJECT_NAME && end - got.chars == got.length, finding::value,
        fmt::format("the name of {} has length {} and ends after {} characters of at most {}", what, got.length,
                    end == nullptr ? -1 : end - got.chars, MPI_MAX_OBJECT_NAME - 1));
    for (std::size_t i = MPI_MAX_OBJECT_NAME; i < sizeof got.chars; ++i)
        if (!mpi.check(got.chars[i] == '#', finding::guard,
                       "MPI_Type_get_name writes after MPI_MAX_OBJECT_NAME characters"))
            break;
    if (!sound) got.chars[0] = '\0';
    return got;
}

void expect_name(test_run& mpi, MPI_Datatype type, std::vector<std::string> const& names, std::string const& what) {
    auto const got = name_of(mpi, type, what);
    if (std::find(names.begin(), names.end(), got.chars) == names.end())
        mpi.check(
            false, finding::value,
            fmt::format("the name of {} is \"{}\", expected \"{}\"", what, got.chars, fmt::join(names, "\" or \"")));
}

} // namespace

ASSAY_TEST(datatype, name_predefined,
           requirements{"datatype.name.predefined", "datatype.name.null", "datatype.name.length"},
           over(axis_use{&constants}), thread_safe{}) {
    auto const& constant = mpi.at(constants);
    auto const type = constant.handle();
    bool const null = constant.names.front() == "MPI_DATATYPE_NULL";
    // MPI_DATATYPE_NULL as an argument is from MPI-4.1 on; an optional datatype that is missing has that handle, too.
    if (null && followed_version() < 41) mpi.unsupported("before MPI-4.1 MPI_DATATYPE_NULL had no name");
    if (!null && type == MPI_DATATYPE_NULL) mpi.unsupported("the library lacks this datatype");
    expect_name(mpi, type, constant.names, constant.names.front());
}

ASSAY_TEST(datatype, name_set, requirements{"datatype.name.set", "datatype.name.default", "datatype.name.length"},
           over(common_recipes(), axis_use{&bindings()}), has_binding(), thread_safe{}) {
    made_type type(mpi, mpi.at(recipes()), mpi.at(bindings()), false);
    if (!type) return;
    expect_name(mpi, type, {""}, "a new datatype");
    std::string name = "  leading spaces, and some in between";
    mpi.ok(MPI_Type_set_name(type, name.c_str()));
    std::string const first = name;
    std::fill(name.begin(), name.end(), 'x'); // the library has a copy
    expect_name(mpi, type, {first}, "the datatype");
    mpi.ok(MPI_Type_set_name(type, "second"));
    expect_name(mpi, type, {"second"}, "the datatype that was named again");
    mpi.ok(MPI_Type_set_name(type, ""));
    expect_name(mpi, type, {""}, "the datatype whose name was taken away");
}

ASSAY_TEST(datatype, name_long, requirements{"datatype.name.truncated", "datatype.name.length"}, thread_safe{}) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_contiguous(2, MPI_INT, &made))) return;
    own_type const type(made);
    equal(mpi, "MPI_MAX_OBJECT_NAME, if it is below 64,", MPI_MAX_OBJECT_NAME < 64 ? MPI_MAX_OBJECT_NAME : 64, 64);
    constexpr std::size_t most = MPI_MAX_OBJECT_NAME - 1;
    for (std::size_t const length : {most - 1, most, most + 1, most + 100}) {
        std::string name;
        for (std::size_t i = 0; i < length; ++i) name += static_cast<char>('a' + i % 26);
        if (!mpi.ok(MPI_Type_set_name(type, name.c_str()))) continue;
        expect_name(mpi, type, {name.substr(0, most)}, fmt::format("a datatype that was given {} characters", length));
    }
}

ASSAY_TEST(datatype, name_dup, requirements{"datatype.name.dup"}, over(common_recipes(), axis_use{&bindings()}),
           has_binding(), thread_safe{}) {
    made_type type(mpi, mpi.at(recipes()), mpi.at(bindings()), false);
    if (!type) return;
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_set_name(type, "original"));
    if (!mpi.ok(MPI_Type_dup(type, &copy))) return;
    expect_name(mpi, copy, {""}, "the duplicate of a named datatype");
    mpi.ok(MPI_Type_set_name(copy, "copy"));
    expect_name(mpi, type, {"original"}, "the datatype, after its duplicate was named,");
    mpi.ok(MPI_Type_free(&copy));
}
ASSAY_TEST(datatype, name_set_predefined, requirements{"datatype.name.set_predefined"}) {
    mpi.ok(MPI_Type_set_name(MPI_DOUBLE, "double, renamed"));
    expect_name(mpi, MPI_DOUBLE, {"double, renamed"}, "MPI_DOUBLE");
    mpi.ok(MPI_Type_set_name(MPI_DOUBLE, "MPI_DOUBLE"));
    expect_name(mpi, MPI_DOUBLE, {"MPI_DOUBLE"}, "MPI_DOUBLE");
}
