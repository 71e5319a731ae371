// Canonical packing (MPI-5.0 section 5.3): the bytes of "external32" are those of section 14.5.2.
#include "suites/datatype/recipe.hpp"

#include <algorithm>
#include <cfloat>
#include <complex>
#include <cstring>
#include <fmt/format.h>
#include <map>

using namespace assay;
using namespace assay::types;

namespace {

using octets = std::vector<unsigned char>;

// How one basic type is written: its parts (2 for complex), and the length of each (table 13).
struct form {
    std::size_t parts, length;
};
form form_of(basic_type const& type) {
    static std::map<std::string, std::size_t> const other_lengths = {
        {"long", 4}, {"unsigned_long", 4}, {"wchar", 2}, {"long_double", 16}};
    if (type.name.find("complex") != std::string::npos)
        return {2, type.size / 2 == sizeof(long double) ? 16 : type.size / 2};
    auto const found = other_lengths.find(type.name);
    return {1, found == other_lengths.end() ? type.size : found->second};
}

// One part in memory: a value that both sides can hold. Integers that shrink have their sign in the bytes that stay.
void make_part(basic_type const& type, std::size_t length, unsigned char* at, std::size_t size, std::uint64_t& random) {
    for (std::size_t k = 0; k < size; ++k) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        auto const r = static_cast<unsigned char>(random >> 33);
        at[k] = static_cast<unsigned char>((r & type.keep[k]) | type.set[k]);
    }
    if (length >= size) return;
    bool const is_signed = type.name == "long";
    if (type.name == "wchar") at[1] &= 0x5f; // no surrogate
    unsigned char const sign = is_signed && (at[length - 1] & 0x80) != 0 ? 0xff : 0;
    for (std::size_t k = length; k < size; ++k) at[k] = sign;
}

// The same part in external32. Memory is little-endian on every machine this suite knows the masks of reals for.
octets external(basic_type const& type, std::size_t length, unsigned char const* at, std::size_t size) {
    octets out(length, 0);
    if (length == 16 && LDBL_MANT_DIG == 64 && size == sizeof(long double) &&
        type.name.find("int") == std::string::npos) {
        // binary128: the same 16 bits of sign and exponent; of the mantissa without its explicit integer bit 63 bits.
        out[0] = at[9];
        out[1] = at[8];
        std::uint64_t fraction = 0;
        std::memcpy(&fraction, at, 8);
        fraction <<= 1;
        for (std::size_t k = 0; k < 8; ++k) out[2 + k] = static_cast<unsigned char>(fraction >> (56 - 8 * k));
        return out;
    }
    for (std::size_t k = 0; k < length; ++k) out[length - 1 - k] = at[k];
    return out;
}

struct image {
    octets memory;             // of all elements
    octets packed;             // the same in external32
    std::ptrdiff_t origin = 0; // of the address given to MPI, within memory
    std::vector<bool> data;    // which bytes of memory carry a value
};

image make_image(layout const& map, std::size_t n, std::uint64_t seed) {
    image made;
    auto const [low, high] = byte_range(map, n);
    made.origin = 64 - low;
    made.memory.assign(static_cast<std::size_t>(high - low) + 128, poison_byte);
    made.data.assign(made.memory.size(), false);
    std::uint64_t random = seed;
    for (std::size_t e = 0; e < n; ++e)
        for (auto const& run : map.runs())
            for (std::size_t i = 0; i < run.count; ++i) {
                auto const f = form_of(*run.type);
                auto const size = run.type->size / f.parts;
                for (std::size_t p = 0; p < f.parts; ++p) {
                    auto const where = made.origin + static_cast<std::ptrdiff_t>(e) * map.extent() + run.offset +
                                       static_cast<std::ptrdiff_t>(i * run.type->size + p * size);
                    auto* const at = made.memory.data() + where;
                    make_part(*run.type, f.length, at, size, random);
                    for (std::size_t k = 0; k < size; ++k)
                        made.data[static_cast<std::size_t>(where) + k] = run.type->carries(p * size + k);
                    auto const bytes = external(*run.type, f.length, at, size);
                    made.packed.insert(made.packed.end(), bytes.begin(), bytes.end());
                }
            }
    return made;
}

// Both bindings with one kind of number.
struct packer {
    bool large;
    int size(std::int64_t n, MPI_Datatype type, std::int64_t& size) const {
        if (large) {
            MPI_Count got = -7;
            int const code = MPI_Pack_external_size_c("external32", n, type, &got);
            size = got;
            return code;
        }
        MPI_Aint got = -7;
        int const code = MPI_Pack_external_size("external32", static_cast<int>(n), type, &got);
        size = got;
        return code;
    }
    int pack(void const* in, std::int64_t n, MPI_Datatype type, octets& out, std::int64_t& at) const {
        auto const room = static_cast<MPI_Aint>(out.size());
        int code = MPI_SUCCESS;
        if (large) {
            MPI_Count position = at;
            code = MPI_Pack_external_c("external32", in, n, type, out.data(), room, &position);
            at = position;
        } else {
            MPI_Aint position = at;
            code = MPI_Pack_external("external32", in, static_cast<int>(n), type, out.data(), room, &position);
            at = position;
        }
        return code;
    }
    int unpack(octets const& in, std::int64_t& at, void* out, std::int64_t n, MPI_Datatype type) const {
        auto const room = static_cast<MPI_Aint>(in.size());
        int code = MPI_SUCCESS;
        if (large) {
            MPI_Count position = at;
            code = MPI_Unpack_external_c("external32", in.data(), room, &position, out, n, type);
            at = position;
        } else {
            MPI_Aint position = at;
            code = MPI_Unpack_external("external32", in.data(), room, &position, out, static_cast<int>(n), type);
            at = position;
        }
        return code;
    }
};

enum class external_call { size, pack, unpack };
axis<external_call> const calls("call", {{{"size", "MPI_Pack_external_size"}, external_call::size},
                                         {{"pack", "MPI_Pack_external"}, external_call::pack},
                                         {{"unpack", "MPI_Unpack_external"}, external_call::unpack}});

} // namespace

ASSAY_TEST(datatype, external32,
           requirements{"datatype.external.size", "datatype.external.pack", "datatype.external.unpack",
                        "datatype.external.table", "datatype.external.large", "datatype.external.position"},
           over(axis_use{&calls}, datatypes::all(), counts::elements({0, 1, 17}), axis_use{&bindings()}),
           thread_safe{}) {
    packer const how{mpi.at(bindings()) == binding::large};
    auto const n = static_cast<std::int64_t>(mpi.elements);
    auto image = make_image(mpi.map, mpi.elements, mpi.key(0, 0, 0, 0, 0));
    auto const length = static_cast<std::int64_t>(image.packed.size());
    auto const judge = [&](octets const& got, octets const& expected, char const* what) {
        for (std::size_t k = 0; k < expected.size(); ++k)
            if (got[k] != expected[k]) {
                mpi.check(false, finding::data,
                          fmt::format("{}: byte {} is {:#04x}, expected {:#04x}", what, k, got[k], expected[k]));
                return;
            }
    };
    constexpr std::int64_t before = 5; // a position that no alignment asks for
    if (mpi.at(calls) == external_call::size) {
        std::int64_t size = -7;
        mpi.ok(how.size(n, mpi.type, size));
        equal(mpi, "MPI_Pack_external_size", size, length);
    } else if (mpi.at(calls) == external_call::pack) {
        octets out(static_cast<std::size_t>(before + length + 64), poison_byte), expected = out;
        std::copy(image.packed.begin(), image.packed.end(), expected.begin() + before);
        std::int64_t at = before;
        mpi.ok(how.pack(image.memory.data() + image.origin, n, mpi.type, out, at));
        judge(out, expected, "MPI_Pack_external");
        equal(mpi, "the position", at, before + length);
    } else {
        octets in(static_cast<std::size_t>(before), poison_byte);
        in.insert(in.end(), image.packed.begin(), image.packed.end());
        octets out(image.memory.size(), poison_byte);
        std::int64_t at = before;
        mpi.ok(how.unpack(in, at, out.data() + image.origin, n, mpi.type));
        for (std::size_t k = 0; k < out.size(); ++k)
            // Bytes within an element that carry no value may hold anything.
            if (!image.data[k] && image.memory[k] != poison_byte) out[k] = image.memory[k];
        judge(out, image.memory, "MPI_Unpack_external");
        equal(mpi, "the position", at, before + length);
    }
}

// Known values, so that a mistake in our own conversion would be seen; and a data representation that there is not.
ASSAY_TEST(datatype, external32_values,
           requirements{"datatype.external.table", "datatype.external.representation", "datatype.external.unknown"},
           over(axis_use{&bindings()}), thread_safe{}) {
    packer const how{mpi.at(bindings()) == binding::large};
    int const i = -2;
    short const s = 0x1234;
    float const f = -1.5f;
    double const d = 0.1;
    long const l = -3;
    long double const ld = -2.5L;
    std::complex<float> const c(1.0f, -2.0f);
    unsigned long long const u = 0x0102030405060708ull;
    struct row {
        char const* name;
        MPI_Datatype type;
        void const* value;
        octets bytes;
    };
    std::vector<row> const rows = {
        {"int -2", MPI_INT, &i, {0xff, 0xff, 0xff, 0xfe}},
        {"short 0x1234", MPI_SHORT, &s, {0x12, 0x34}},
        {"float -1.5", MPI_FLOAT, &f, {0xbf, 0xc0, 0, 0}},
        {"double 0.1", MPI_DOUBLE, &d, {0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a}},
        {"long -3", MPI_LONG, &l, {0xff, 0xff, 0xff, 0xfd}},
        {"unsigned long long", MPI_UNSIGNED_LONG_LONG, &u, {1, 2, 3, 4, 5, 6, 7, 8}},
        {"float complex 1-2i", MPI_C_FLOAT_COMPLEX, &c, {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}},
        {"long double -2.5", MPI_LONG_DOUBLE, &ld, {0xc0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    };
    for (auto const& r : rows) {
        octets out(32, poison_byte);
        std::int64_t at = 0;
        if (!mpi.ok(how.pack(r.value, 1, r.type, out, at))) continue;
        bool const same = std::equal(r.bytes.begin(), r.bytes.end(), out.begin());
        std::string text;
        for (std::size_t k = 0; k < r.bytes.size(); ++k) text += fmt::format(" {:02x}", out[k]);
        mpi.check(same && at == static_cast<std::int64_t>(r.bytes.size()), finding::data,
                  fmt::format("{} is packed as{} ({} bytes)", r.name, text, at));
    }
    std::vector<int> const refused = {MPI_ERR_ARG, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_OTHER};
    unsigned char out[64] = {};
    MPI_Aint at = 0, size = -7;
    auto const unknown = mpi.resting_on("datatype.external.unknown");
    expect_refused(mpi, MPI_Pack_external("assay64", &d, 1, MPI_DOUBLE, out, 64, &at), refused,
                   "MPI_Pack_external with an unknown data representation");
    expect_refused(mpi, MPI_Pack_external_size("assay64", 1, MPI_DOUBLE, &size), refused,
                   "MPI_Pack_external_size with an unknown data representation");
}
