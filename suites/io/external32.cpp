// The representation external32 (MPI-5.0 sections 14.5, 14.5.1 and 14.5.2): of values that both sides can hold, the bytes that
// tables 13 to 15 say, written and read, and the lengths of all predefined datatypes.
#include "suites/io/access.hpp"

#include <bit>
#include <complex>
#include <cstring>
#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
using bytes = std::vector<unsigned char>;

struct values {
    MPI_Datatype (*type)();
    std::size_t length;    // of one in the file
    bytes native, in_file; // the same values
    requirement rests_on;
    std::size_t number() const { return in_file.size() / length; }
};

// Integers of `length` bytes in two's complement, the most significant byte first.
template <class T>
values integers(MPI_Datatype (*type)(), std::size_t length, requirement rests_on, std::vector<T> all) {
    values made{type, length, {}, {}, rests_on};
    made.native.resize(all.size() * sizeof(T));
    std::memcpy(made.native.data(), all.data(), made.native.size());
    for (T const one : all)
        for (std::size_t k = length; k-- > 0;)
            made.in_file.push_back(
                static_cast<unsigned char>(static_cast<std::uint64_t>(static_cast<std::int64_t>(one)) >> (8 * k)));
    return made;
}
// Parts that have the same length in memory (float, double and what is made of them), the most significant byte first.
template <class Part, class T> values turned(MPI_Datatype (*type)(), std::vector<T> all) {
    values made{type, sizeof(T), {}, {}, "io.external32.floats"};
    made.native.resize(all.size() * sizeof(T));
    std::memcpy(made.native.data(), all.data(), made.native.size());
    for (std::size_t at = 0; at < made.native.size(); at += sizeof(Part))
        for (std::size_t k = sizeof(Part); k-- > 0;)
            made.in_file.push_back(
                made.native[at + (std::endian::native == std::endian::little ? k : sizeof(Part) - 1 - k)]);
    return made;
}
// IEEE binary128 of numbers that are a power of two or zero: sign, 15 bits of exponent with bias 16383, no fraction.
values quadruple(MPI_Datatype (*type)()) {
    values made{type, 16, {}, {}, "io.external32.long_double"};
    struct {
        long double value;
        unsigned high;
    } const all[] = {{1.0L, 0x3fff}, {-2.0L, 0xc000}, {0.25L, 0x3ffd}, {0.0L, 0}, {1024.0L, 0x4009}};
    for (auto const& one : all) {
        bytes native(sizeof one.value);
        std::memcpy(native.data(), &one.value, 10); // the rest of an x87 number is no part of its value
        made.native.insert(made.native.end(), native.begin(), native.end());
        made.in_file.push_back(static_cast<unsigned char>(one.high >> 8));
        made.in_file.push_back(static_cast<unsigned char>(one.high & 0xff));
        made.in_file.insert(made.in_file.end(), 14, 0);
    }
    return made;
}

#define TYPE(name) [] { return name; }
requirement const whole = "io.external32.integers", text = "io.external32.characters",
                  raw = "io.external32.unconverted";
template <class T> std::vector<T> numbers() {
    if constexpr (std::is_signed_v<T>) return {T(1), T(-2), T(0), T(0x12), T(-128), T(127)};
    else return {T(1), T(2), T(0), T(0x12), T(250), T(255)};
}
axis<values> const types(
    "type",
    {{{"int", "MPI_INT"}, integers<int>(TYPE(MPI_INT), 4, whole, {1, -2, 0x12345678, -2147483647 - 1, 2147483647, 0})},
     {{"long", "MPI_LONG, 4 bytes"},
      integers<long>(TYPE(MPI_LONG), 4, whole, {1, -2, 0x12345678, -2147483647, 2147483647, 0})},
     {{"unsigned_long", "MPI_UNSIGNED_LONG, 4 bytes"},
      integers<unsigned long>(TYPE(MPI_UNSIGNED_LONG), 4, whole, {1, 2, 0x12345678, 0xfedcba98, 0})},
     {{"double", "MPI_DOUBLE"}, turned<double, double>(TYPE(MPI_DOUBLE), {1.5, -0.1, 3e200, 0.0, -7e-300})},
     {{"float", "MPI_FLOAT"}, turned<float, float>(TYPE(MPI_FLOAT), {1.5F, -0.1F, 3e30F, 0.0F, -7e-30F})},
     {{"long_double", "MPI_LONG_DOUBLE, 16 bytes"}, quadruple(TYPE(MPI_LONG_DOUBLE))},
     {{"short", "MPI_SHORT"}, integers<short>(TYPE(MPI_SHORT), 2, whole, {1, -2, 0x1234, -32768, 32767})},
     {{"unsigned_short", "MPI_UNSIGNED_SHORT"},
      integers<unsigned short>(TYPE(MPI_UNSIGNED_SHORT), 2, whole, {1, 0x1234, 65535})},
     {{"unsigned", "MPI_UNSIGNED"}, integers<unsigned>(TYPE(MPI_UNSIGNED), 4, whole, {1, 0x12345678, 0xfedcba98})},
     {{"long_long", "MPI_LONG_LONG"},
      integers<long long>(TYPE(MPI_LONG_LONG), 8, whole, {1, -2, 0x123456789abcdef0, -9223372036854775807 - 1})},
     {{"unsigned_long_long", "MPI_UNSIGNED_LONG_LONG"},
      integers<unsigned long long>(TYPE(MPI_UNSIGNED_LONG_LONG), 8, whole, {1, 0x123456789abcdef0})},
     {{"int8_t", "MPI_INT8_T"}, integers<std::int8_t>(TYPE(MPI_INT8_T), 1, whole, numbers<std::int8_t>())},
     {{"int16_t", "MPI_INT16_T"}, integers<std::int16_t>(TYPE(MPI_INT16_T), 2, whole, {1, -2, 0x1234})},
     {{"int32_t", "MPI_INT32_T"}, integers<std::int32_t>(TYPE(MPI_INT32_T), 4, whole, {1, -2, 0x12345678})},
     {{"int64_t", "MPI_INT64_T"}, integers<std::int64_t>(TYPE(MPI_INT64_T), 8, whole, {1, -2, 0x123456789abcdef0})},
     {{"uint64_t", "MPI_UINT64_T"}, integers<std::uint64_t>(TYPE(MPI_UINT64_T), 8, whole, {1, 2, 0x123456789abcdef0})},
     {{"aint", "MPI_AINT, 8 bytes"}, integers<MPI_Aint>(TYPE(MPI_AINT), 8, whole, {1, -2, 0x12345678})},
     {{"offset", "MPI_OFFSET, 8 bytes"}, integers<MPI_Offset>(TYPE(MPI_OFFSET), 8, whole, {1, -2, 0x12345678})},
     {{"count", "MPI_COUNT, 8 bytes"}, integers<MPI_Count>(TYPE(MPI_COUNT), 8, whole, {1, -2, 0x12345678})},
     {{"char", "MPI_CHAR"}, integers<char>(TYPE(MPI_CHAR), 1, text, {'A', 'z', '0', '~', ' '})},
     {{"signed_char", "MPI_SIGNED_CHAR"},
      integers<signed char>(TYPE(MPI_SIGNED_CHAR), 1, whole, numbers<signed char>())},
     {{"unsigned_char", "MPI_UNSIGNED_CHAR"},
      integers<unsigned char>(TYPE(MPI_UNSIGNED_CHAR), 1, whole, numbers<unsigned char>())},
     {{"wchar", "MPI_WCHAR, 2 bytes"},
      integers<wchar_t>(TYPE(MPI_WCHAR), 2, text, {L'A', L'\u00e4', L'\u20ac', L'\u4e2d'})},
     {{"c_bool", "MPI_C_BOOL"}, integers<std::uint8_t>(TYPE(MPI_C_BOOL), 1, "io.external32.logicals", {1, 0, 1, 1, 0})},
     {{"c_float_complex", "MPI_C_FLOAT_COMPLEX"},
      turned<float, std::complex<float>>(TYPE(MPI_C_FLOAT_COMPLEX), {{1.5F, -2.25F}, {3e30F, 0.0F}})},
     {{"c_double_complex", "MPI_C_DOUBLE_COMPLEX"},
      turned<double, std::complex<double>>(TYPE(MPI_C_DOUBLE_COMPLEX), {{1.5, -2.25}, {3e200, 0.0}})},
     {{"byte", "MPI_BYTE"}, integers<unsigned char>(TYPE(MPI_BYTE), 1, raw, numbers<unsigned char>())},
     {{"packed", "MPI_PACKED"}, integers<unsigned char>(TYPE(MPI_PACKED), 1, raw, numbers<unsigned char>())}});

axis_use blocking_ones() {
    return named(accesses(), {"write_at", "read_at", "write_all", "read_all", "write_all_begin", "read_all_begin",
                              "write_ordered", "read_ordered"});
}
axis_use nonblocking_ones() { return named(accesses(), {"iwrite_at", "iread_at", "iwrite_all", "iread_all"}); }

std::string hex(bytes const& all) {
    std::string made;
    for (auto const byte : all) made += fmt::format(" {:02x}", byte);
    return made;
}
} // namespace

namespace {
// Each rank writes the values one after the other, or reads what stands in the file in our own encoding.
void access_values(test_run& mpi) {
    auto const& of = mpi.at(types);
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    auto const type = of.type();
    auto const rank = static_cast<std::size_t>(mpi.rank), n = of.number(), own = rank * n;
    image expected(header, false);
    for (int r = 0; r < mpi.size; ++r)
        expected.place(header + static_cast<std::size_t>(r) * of.in_file.size(), of.in_file, r);
    bytes const start(header, poison_byte);
    scratch_file scratch(mpi);
    scratch.make(writing ? &start : &expected.bytes);
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        // Individual file pointers begin with their view.
        auto const displacement = header + (call.where == positioning::individual ? own * of.length : 0);
        if (!mpi.ok(MPI_File_set_view(file, static_cast<MPI_Offset>(displacement), type, type, "external32",
                                      MPI_INFO_NULL)))
            return;
        MPI_Aint extent = -7;
        mpi.ok(MPI_File_get_type_extent(file, type, &extent));
        mpi.check("io.external32.lengths", extent == static_cast<MPI_Aint>(of.length), finding::value,
                  fmt::format("MPI_File_get_type_extent gives {}, expected {}", extent, of.length));
        MPI_Offset place = -7;
        mpi.ok(MPI_File_get_byte_offset(file, 5, &place));
        mpi.check(
            "io.external32.positions", place == static_cast<MPI_Offset>(displacement + 5 * of.length),
            finding::position,
            fmt::format("MPI_File_get_byte_offset of 5 gives {}, expected {}", place, displacement + 5 * of.length));
        bytes data = writing ? of.native : bytes(of.native.size(), 0);
        running_access running(mpi, call, file);
        running.of_type(type);
        running.begin(own, data.data(), static_cast<int>(n));
        mpi.expect(running.end()).count(n, type, of.native.size() / n);
        if (!writing)
            mpi.check(of.rests_on, data == of.native, finding::data,
                      fmt::format("memory holds{}, expected{}", hex(data), hex(of.native)));
        if (call.where == positioning::individual) {
            auto const rest = mpi.resting_on("io.external32.positions");
            file.expect_position(n);
        }
    }
    auto const rest = mpi.resting_on(of.rests_on);
    scratch.expect(expected);
}
} // namespace

ASSAY_TEST(io, external32,
           requirements{"io.external32.integers", "io.external32.floats", "io.external32.long_double",
                        "io.external32.characters", "io.external32.logicals", "io.external32.unconverted",
                        "io.external32.positions", "io.external32.lengths"},
           over(axis_use{&types}, blocking_ones(), communicators::of({"world"})),
           // The wide characters end the process in a library at hand: a few accesses show it.
           where(types, accesses(),
                 [](values const& v, data_access const& a) {
                     return v.type() != MPI_WCHAR || a.where == positioning::explicit_offset;
                 }),
           note{"values that have the same meaning on both sides, by blocking and split collective accesses"},
           thread_safe{}) {
    access_values(mpi);
}

ASSAY_TEST(io, external32_nonblocking,
           requirements{"io.external32.integers", "io.external32.floats", "io.external32.long_double",
                        "io.external32.characters", "io.external32.logicals", "io.external32.unconverted",
                        "io.external32.positions", "io.external32.lengths", "io.nonblocking"},
           over(named(types, {"int", "double", "byte"}), nonblocking_ones(), communicators::of({"world"})),
           note{"the same by nonblocking accesses: what is converted goes through a buffer of the library"},
           thread_safe{}) {
    access_values(mpi);
}

// ---- Derived datatypes

namespace {
enum class shape { memory_vector, memory_struct, view_vector, view_block };
axis<shape> const
    shapes("shape", {{{"memory_vector", "of MPI_INT in memory, with gaps"}, shape::memory_vector},
                     {{"memory_struct", "of an int, a double and three shorts in memory"}, shape::memory_struct},
                     {{"view_vector", "of MPI_INT in the file: etypes 0 and 2 of 3"}, shape::view_vector},
                     {{"view_block", "of MPI_LONG in the file, which has another length there: etypes 0, 3 and 5 of 6"},
                      shape::view_block}});
struct mixed {
    int number;
    double real;
    short three[3];
};
void append(bytes& to, void const* value, std::size_t size) { // of a little- or big-endian number
    for (std::size_t k = size; k-- > 0;)
        to.push_back(
            static_cast<unsigned char const*>(value)[std::endian::native == std::endian::little ? k : size - 1 - k]);
}
} // namespace

ASSAY_TEST(io, external32_derived, requirements{"io.external32.items", "io.external32.scaled"},
           over(axis_use{&shapes}, named(accesses(), {"write_at", "read_at", "write_at_all", "read_at_all"}),
                communicators::of({"world", "self"})),
           note{
               "each datatype is converted item by item, and portable filetypes are scaled to the lengths of the file"},
           thread_safe{}) {
    auto const how = mpi.at(shapes);
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    MPI_Datatype memory = MPI_DATATYPE_NULL, etype = MPI_BYTE, filetype = MPI_BYTE;
    bytes native, in_file; // of a rank; poison where nothing is written
    int count = 1;
    if (how == shape::memory_vector) {
        std::vector<int> numbers(13, -1);
        for (int i = 0; i < 13; i += 3) {
            numbers[static_cast<std::size_t>(i)] = 0x01020304 * (i + 1);
            append(in_file, &numbers[static_cast<std::size_t>(i)], 4);
        }
        native.resize(13 * 4);
        std::memcpy(native.data(), numbers.data(), native.size());
        mpi.ok(MPI_Type_vector(5, 1, 3, MPI_INT, &memory));
        etype = filetype = MPI_INT;
    } else if (how == shape::memory_struct) {
        mixed const one{0x01020304, -1.75, {1, -2, 0x1234}};
        append(in_file, &one.number, 4);
        append(in_file, &one.real, 8);
        for (short const s : one.three) append(in_file, &s, 2);
        native.resize(sizeof one);
        std::memcpy(native.data(), &one, offsetof(mixed, real));
        std::memset(native.data() + 4, 0, 4); // the gap
        std::memcpy(native.data() + offsetof(mixed, real), &one.real, 8 + 6);
        int const lengths[] = {1, 1, 3};
        MPI_Aint const places[] = {offsetof(mixed, number), offsetof(mixed, real), offsetof(mixed, three)};
        MPI_Datatype const of[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT};
        mpi.ok(MPI_Type_create_struct(3, lengths, places, of, &memory));
        // In the file the items stand one after the other.
        MPI_Aint const there[] = {0, 4, 12};
        mpi.ok(MPI_Type_create_struct(3, lengths, there, of, &etype));
        mpi.ok(MPI_Type_create_resized(etype, 0, 18, &filetype));
        mpi.ok(MPI_Type_free(&etype));
        etype = filetype;
        mpi.ok(MPI_Type_commit(&etype));
        filetype = etype;
    } else {
        bool const longs = how == shape::view_block;
        count = 4;
        std::vector<int> const places = longs ? std::vector<int>{0, 3, 5} : std::vector<int>{0, 2};
        int const extent = places.back() + 1;
        for (int i = 0; i < count; ++i) {
            auto const tile = static_cast<std::size_t>(i) / places.size();
            auto const at = 4 * (tile * static_cast<std::size_t>(extent) +
                                 static_cast<std::size_t>(places[static_cast<std::size_t>(i) % places.size()]));
            in_file.resize(std::max(in_file.size(), at), poison_byte);
            int const value = 0x01020304 * (i + 1);
            long const wide = value;
            append(in_file, &value, 4);
            auto const* const first =
                longs ? reinterpret_cast<unsigned char const*>(&wide) : reinterpret_cast<unsigned char const*>(&value);
            native.insert(native.end(), first, first + (longs ? sizeof wide : sizeof value));
        }
        etype = memory = longs ? MPI_LONG : MPI_INT;
        mpi.ok(MPI_Type_create_indexed_block(static_cast<int>(places.size()), 1, places.data(), etype, &filetype));
        mpi.ok(MPI_Type_commit(&filetype));
    }
    bool const derived = how == shape::memory_vector || how == shape::memory_struct;
    if (derived) mpi.ok(MPI_Type_commit(&memory));
    auto const room = in_file.size() + 3;
    image expected(header + static_cast<std::size_t>(mpi.size) * room, false);
    auto const begin_of = [&](int r) { return header + static_cast<std::size_t>(r) * room; };
    bytes const start = expected.bytes;
    for (int r = 0; r < mpi.size; ++r) expected.place(begin_of(r), in_file, r);
    scratch_file scratch(mpi);
    scratch.make(writing ? &start : &expected.bytes);
    auto const rest =
        mpi.resting_on(derived ? requirement("io.external32.items") : requirement("io.external32.scaled"));
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (file.opened() && mpi.ok(MPI_File_set_view(file, static_cast<MPI_Offset>(begin_of(mpi.rank)), etype,
                                                      filetype, "external32", MPI_INFO_NULL))) {
            bytes data = native;
            if (!writing) // what no datatype describes stays
                for (std::size_t i = 0; i < data.size(); ++i)
                    if (!derived || (how == shape::memory_vector ? i % 12 < 4 : i < 4 || i >= 8)) data[i] = 0x77;
            if (!writing && how == shape::memory_struct)
                std::copy_n(native.end() - 2, 2, data.end() - 2); // after the shorts
            running_access running(mpi, call, file);
            running.of_type(memory);
            running.begin(0, data.data(), count);
            int size = -7;
            mpi.ok(MPI_Type_size(memory, &size));
            mpi.expect(running.end()).count(static_cast<std::size_t>(count), memory, static_cast<std::size_t>(size));
            mpi.check(data == native, finding::data, fmt::format("memory holds{}, expected{}", hex(data), hex(native)));
        }
    }
    if (derived) mpi.ok(MPI_Type_free(&memory));
    if (how == shape::memory_struct) mpi.ok(MPI_Type_free(&etype));
    if (!derived) mpi.ok(MPI_Type_free(&filetype));
    scratch.expect(expected);
}

// ---- Extents

ASSAY_TEST(io, type_extent, requirements{"io.type_extent.same", "io.type_extent.large", "io.internal.extents"},
           over(named(comm_axis(), {"world", "self"}), datatypes::all()), etypes_only(),
           needs_procedures({"MPI_File_get_type_extent_c"}),
           note{"the extent in the file of each datatype: in both bindings, again, through another view and on another "
                "process"}) {
    scratch_file scratch(mpi);
    bytes const content(100, poison_byte);
    scratch.make(&content);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    for (char const* const representation : {"native", "internal"}) {
        MPI_Aint first = -7, again = -7, before_me = -7;
        MPI_Count wide = -7;
        mpi.ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, representation, MPI_INFO_NULL));
        mpi.ok(MPI_File_get_type_extent(file, mpi.type, &first));
        mpi.ok(MPI_File_get_type_extent_c(file, mpi.type, &wide));
        mpi.check("io.type_extent.large", wide == first, finding::value,
                  fmt::format("MPI_File_get_type_extent_c gives {}, MPI_File_get_type_extent {}", wide, first));
        mpi.ok(MPI_File_set_view(file, 40, MPI_INT, MPI_INT, representation, MPI_INFO_NULL));
        mpi.ok(MPI_File_get_type_extent(file, mpi.type, &again));
        mpi.check("io.internal.extents", again == first, finding::value,
                  fmt::format("the extent in one file is {} through one view and {} through another", first, again));
        mpi.ok(MPI_Sendrecv(&first, 1, MPI_AINT, (mpi.rank + 1) % mpi.size, mpi.tag(1), &before_me, 1, MPI_AINT,
                            (mpi.rank + mpi.size - 1) % mpi.size, mpi.tag(1), mpi.comm, MPI_STATUS_IGNORE));
        mpi.check("io.type_extent.same", before_me == first, finding::value,
                  fmt::format("the extent is {} here and {} on the process before", first, before_me));
    }
    file.close();
    meet(mpi);
}
