// The predefined C and C++ datatypes: tables 3.2 to 3.4 of MPI-5.0 section 3.2.2 and the pair types of section 6.9.4.
#include "datatypes/definition.hpp"

#include <bit>
#include <cfloat>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>

namespace assay {
namespace {

struct row {
    std::string name, title;
    definition made;
    bool optional = false; // an ABI of MPI-5.0 has the handle even where the library lacks the datatype (section 20.4)
    std::string lacks;
};

enum class kind { integer, boolean, real };

// Any random bytes must give a number: of the sign and exponent at the most significant end, the top exponent bit is
// cleared (no infinity, no NaN) and the third one is set (no subnormal, which may be flushed to zero).
void mask_real(basic_type& type, std::size_t offset, std::size_t size) {
    static_assert(std::endian::native == std::endian::little, "mask_real puts the exponent at the high end");
    static_assert(LDBL_MANT_DIG != 106, "a pair of doubles needs two masks");
    bool const x87 = LDBL_MANT_DIG == 64 && size == sizeof(long double);
    std::size_t const significant = x87 ? 10 : size;
    for (std::size_t k = 0; k < significant; ++k) type.keep[offset + k] = 0xff;
    type.keep[offset + significant - 1] = 0x9f;
    type.set[offset + significant - 1] = 0x20;
    if (x87) { // the integer bit of the mantissa is explicit, and 1 in every normal number
        type.keep[offset + 7] = 0x7f;
        type.set[offset + 7] = 0x80;
    }
    type.significant = offset + significant;
}

template <class T> basic_type describe(std::string name, kind what, std::size_t parts = 1) {
    basic_type type;
    type.name = std::move(name);
    type.size = type.significant = sizeof(T);
    type.alignment = alignof(T);
    static_assert(sizeof(T) <= std::tuple_size_v<decltype(type.keep)>);
    if (what == kind::real)
        for (std::size_t p = 0; p < parts; ++p) mask_real(type, p * sizeof(T) / parts, sizeof(T) / parts);
    else
        for (std::size_t k = 0; k < sizeof(T); ++k)
            type.keep[k] = what == kind::boolean ? (k == 0 ? 0x01 : 0x00) : 0xff;
    return type;
}

struct tables {
    std::map<std::string, basic_type, std::less<>> basics;
    std::vector<row> rows;

    template <class T, class Handle>
    void add(std::string const& name, std::string title, kind what, Handle handle, std::size_t parts = 1) {
        auto const& type =
            basics.emplace(name, describe<T>(name, what, parts)).first->second; // a map's nodes stay in place
        rows.push_back({name, std::move(title), {layout::of(type), handle, true}, false, ""});
    }
    template <class T, class Handle>
    void add_pair(std::string const& name, std::string title, std::string_view value, Handle handle) {
        struct pair {
            T value;
            int index;
        };
        auto const map =
            layout::pair(basics.find(value)->second, basics.at("int"), offsetof(pair, index), sizeof(pair));
        rows.push_back({name, std::move(title), {map, handle, true}, false, ""});
    }
    tables();
};

// Handles are addresses in some libraries and constants in others: taken when asked for, never at load time.
#define HANDLE(name) [] { return MPI_Datatype(name); }

tables::tables() {
    using enum kind;
    add<char>("char", "MPI_CHAR", integer, HANDLE(MPI_CHAR));
    add<unsigned char>("unsigned_char", "MPI_UNSIGNED_CHAR", integer, HANDLE(MPI_UNSIGNED_CHAR));
    add<signed char>("signed_char", "MPI_SIGNED_CHAR", integer, HANDLE(MPI_SIGNED_CHAR));
    add<unsigned char>("byte", "MPI_BYTE", integer, HANDLE(MPI_BYTE));
    add<short>("short", "MPI_SHORT", integer, HANDLE(MPI_SHORT));
    add<unsigned short>("unsigned_short", "MPI_UNSIGNED_SHORT", integer, HANDLE(MPI_UNSIGNED_SHORT));
    add<int>("int", "MPI_INT", integer, HANDLE(MPI_INT));
    add<unsigned>("unsigned", "MPI_UNSIGNED", integer, HANDLE(MPI_UNSIGNED));
    add<long>("long", "MPI_LONG", integer, HANDLE(MPI_LONG));
    add<unsigned long>("unsigned_long", "MPI_UNSIGNED_LONG", integer, HANDLE(MPI_UNSIGNED_LONG));
    add<float>("float", "MPI_FLOAT", real, HANDLE(MPI_FLOAT));
    add<double>("double", "MPI_DOUBLE", real, HANDLE(MPI_DOUBLE));
    add<long double>("long_double", "MPI_LONG_DOUBLE", real, HANDLE(MPI_LONG_DOUBLE));
    add<long long>("long_long", "MPI_LONG_LONG", integer, HANDLE(MPI_LONG_LONG));
    add<unsigned long long>("unsigned_long_long", "", integer, HANDLE(MPI_UNSIGNED_LONG_LONG));
    add<unsigned char>("packed", "", integer, HANDLE(MPI_PACKED)); // as bytes: MPI_PACKED matches any type signature
    add<wchar_t>("wchar", "", integer, HANDLE(MPI_WCHAR));
    add<std::int8_t>("int8_t", "", integer, HANDLE(MPI_INT8_T));
    add<std::int16_t>("int16_t", "", integer, HANDLE(MPI_INT16_T));
    add<std::int32_t>("int32_t", "", integer, HANDLE(MPI_INT32_T));
    add<std::int64_t>("int64_t", "", integer, HANDLE(MPI_INT64_T));
    add<std::uint8_t>("uint8_t", "", integer, HANDLE(MPI_UINT8_T));
    add<std::uint16_t>("uint16_t", "", integer, HANDLE(MPI_UINT16_T));
    add<std::uint32_t>("uint32_t", "", integer, HANDLE(MPI_UINT32_T));
    add<std::uint64_t>("uint64_t", "", integer, HANDLE(MPI_UINT64_T));
    add<MPI_Aint>("aint", "", integer, HANDLE(MPI_AINT));
    add<MPI_Offset>("offset", "", integer, HANDLE(MPI_OFFSET));
    add<MPI_Count>("count", "", integer, HANDLE(MPI_COUNT));
    add<bool>("c_bool", "", boolean, HANDLE(MPI_C_BOOL)); // _Bool of the C compiler that goes with this one
    // std::complex<T> has the size, alignment and order of T _Complex (ISO C++ [complex.numbers]).
    add<std::complex<float>>("c_float_complex", "", real, HANDLE(MPI_C_FLOAT_COMPLEX), 2);
    add<std::complex<double>>("c_double_complex", "", real, HANDLE(MPI_C_DOUBLE_COMPLEX), 2);
    add<std::complex<long double>>("c_long_double_complex", "", real, HANDLE(MPI_C_LONG_DOUBLE_COMPLEX), 2);
    auto const first_cxx = rows.size();
#if defined(MPI_CXX_BOOL)
    add<bool>("cxx_bool", "", boolean, HANDLE(MPI_CXX_BOOL));
    add<std::complex<float>>("cxx_float_complex", "", real, HANDLE(MPI_CXX_FLOAT_COMPLEX), 2);
    add<std::complex<double>>("cxx_double_complex", "", real, HANDLE(MPI_CXX_DOUBLE_COMPLEX), 2);
    add<std::complex<long double>>("cxx_long_double_complex", "", real, HANDLE(MPI_CXX_LONG_DOUBLE_COMPLEX), 2);
#else
    add<bool>("cxx_bool", "", boolean, HANDLE(MPI_DATATYPE_NULL));
    add<std::complex<float>>("cxx_float_complex", "", real, HANDLE(MPI_DATATYPE_NULL), 2);
    add<std::complex<double>>("cxx_double_complex", "", real, HANDLE(MPI_DATATYPE_NULL), 2);
    add<std::complex<long double>>("cxx_long_double_complex", "", real, HANDLE(MPI_DATATYPE_NULL), 2);
    for (auto i = first_cxx; i < rows.size(); ++i)
        rows[i].lacks = "mpi.h of this library lacks the C++ datatypes of MPI-3.0";
#endif
    for (auto i = first_cxx; i < rows.size(); ++i) rows[i].optional = true; // only with an accompanying C++ compiler
    add_pair<float>("float_int", "MPI_FLOAT_INT", "float", HANDLE(MPI_FLOAT_INT));
    add_pair<double>("double_int", "MPI_DOUBLE_INT", "double", HANDLE(MPI_DOUBLE_INT));
    add_pair<long>("long_int", "MPI_LONG_INT", "long", HANDLE(MPI_LONG_INT));
    add_pair<short>("short_int", "MPI_SHORT_INT", "short", HANDLE(MPI_SHORT_INT));
    add_pair<int>("2int", "MPI_2INT", "int", HANDLE(MPI_2INT));
    add_pair<long double>("long_double_int", "MPI_LONG_DOUBLE_INT", "long_double", HANDLE(MPI_LONG_DOUBLE_INT));
    for (auto& r : rows)
        if (r.optional)
            r.made.make = [handle = r.made.make]() {
                auto const type = handle();
                int size = MPI_UNDEFINED;
                bool const known =
                    type != MPI_DATATYPE_NULL && MPI_Type_size(type, &size) == MPI_SUCCESS && size != MPI_UNDEFINED;
                return known ? type : MPI_DATATYPE_NULL;
            };
}

tables const& table() {
    static tables const made;
    return made;
}

[[maybe_unused]] bool const registered = [] {
    for (auto const& r : table().rows) {
        datatype entry;
        entry.name = r.name;
        entry.title = r.title;
        entry.note = r.made.map.elements() == 2 ? "predefined pair type (section 6.9.4)" : "predefined (section 3.2.2)";
        entry.map = r.made.map;
        entry.make = r.made.make;
        entry.predefined = true;
        if (!r.lacks.empty()) entry.lacks = [why = r.lacks](job const&) { return why; };
        register_datatype{std::move(entry)};
    }
    return true;
}();

} // namespace

basic_type const& basic(std::string_view name) {
    auto const& basics = table().basics;
    auto const found = basics.find(name);
    if (found == basics.end()) throw std::invalid_argument("no basic type is named '" + std::string(name) + "'");
    return found->second;
}

definition predefined(std::string_view name) {
    for (auto const& r : table().rows)
        if (r.name == name) return r.made;
    throw std::invalid_argument("no predefined datatype is named '" + std::string(name) + "'");
}

} // namespace assay
