// Packing (MPI-5.0 section 5.2).
#include "suites/datatype/recipe.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace assay;
using namespace assay::types;

namespace {

// The three procedures of either binding, with one kind of number.
struct packer {
    bool large;
    int size(std::int64_t n, MPI_Datatype type, std::int64_t& room) const {
        if (large) {
            MPI_Count got = -7;
            int const code = MPI_Pack_size_c(n, type, MPI_COMM_SELF, &got);
            room = got;
            return code;
        }
        int got = -7;
        int const code = MPI_Pack_size(static_cast<int>(n), type, MPI_COMM_SELF, &got);
        room = got;
        return code;
    }
    int pack(void const* in, std::int64_t n, MPI_Datatype type, void* out, std::int64_t room, std::int64_t& at) const {
        if (large) {
            MPI_Count position = at;
            int const code = MPI_Pack_c(in, n, type, out, room, &position, MPI_COMM_SELF);
            at = position;
            return code;
        }
        int position = static_cast<int>(at);
        int const code = MPI_Pack(in, static_cast<int>(n), type, out, static_cast<int>(room), &position, MPI_COMM_SELF);
        at = position;
        return code;
    }
    int unpack(void const* in, std::int64_t room, std::int64_t& at, void* out, std::int64_t n,
               MPI_Datatype type) const {
        if (large) {
            MPI_Count position = at;
            int const code = MPI_Unpack_c(in, room, &position, out, n, type, MPI_COMM_SELF);
            at = position;
            return code;
        }
        int position = static_cast<int>(at);
        int const code =
            MPI_Unpack(in, static_cast<int>(room), &position, out, static_cast<int>(n), type, MPI_COMM_SELF);
        at = position;
        return code;
    }
};

// Too little room, and too little in it: wrong use that a library may notice.
void refuse(test_run& mpi, packer const& how) {
    double four[4] = {1, 2, 3, 4}, in[4] = {};
    std::vector<unsigned char> unit(256, poison_byte);
    std::int64_t at = 0;
    erroneous_from_here();
    {
        auto const room = mpi.resting_on("datatype.pack.too_small");
        expect_refused(mpi, how.pack(four, 4, MPI_DOUBLE, unit.data(), 24, at),
                       {MPI_ERR_ARG, MPI_ERR_TRUNCATE, MPI_ERR_BUFFER, MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_COUNT},
                       "MPI_Pack of 32 bytes into 24");
    }
    at = 0;
    if (!mpi.ok(how.pack(four, 3, MPI_DOUBLE, unit.data(), 128, at))) return;
    auto const end = at;
    at = 0;
    auto const data = mpi.resting_on("datatype.unpack.too_short");
    expect_refused(mpi, how.unpack(unit.data(), end, at, in, 4, MPI_DOUBLE),
                   {MPI_ERR_ARG, MPI_ERR_TRUNCATE, MPI_ERR_BUFFER, MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_COUNT},
                   "MPI_Unpack of 4 doubles where 3 were packed");
}

auto small_counts() { return counts::elements({0, 1, 17}); }

} // namespace

// Two messages in one packing unit, with poison after it.
ASSAY_TEST(datatype, pack,
           requirements{"datatype.pack", "datatype.pack_size", "datatype.unpack", "datatype.pack.empty",
                        "datatype.pack.large", "datatype.pack.bounds"},
           over(datatypes::all(), small_counts(), axis_use{&bindings()}), thread_safe{}) {
    packer const how{mpi.at(bindings()) == binding::large};
    auto const n = static_cast<std::int64_t>(mpi.elements);
    auto const data = static_cast<std::int64_t>(mpi.elements * mpi.map.size());
    auto &out = mpi.incoming(), &then = mpi.incoming(), &in = mpi.incoming();
    auto const key = mpi.key(0, 0, 0, 0, 0), next = mpi.key(0, 0, 0, 0, 1);
    out.fill(key);
    then.fill(next);
    std::int64_t room = -7;
    if (!mpi.ok(how.size(n, mpi.type, room))) return;
    if (!mpi.check(room >= data, finding::value,
                   fmt::format("MPI_Pack_size gives {} for {} bytes of data", room, data)))
        return;
    constexpr std::int64_t guard = 64;
    std::vector<unsigned char> unit(static_cast<std::size_t>(2 * room + guard), poison_byte);
    std::int64_t first = 0;
    mpi.ok(how.pack(out, n, mpi.type, unit.data(), 2 * room, first));
    if (!mpi.check(
            first >= data && first <= room, finding::position,
            fmt::format("MPI_Pack moves the position from 0 to {}, which is not between {}, the data, and {}, what "
                        "MPI_Pack_size says",
                        first, data, room)))
        return;
    auto const before = unit;
    std::int64_t end = first;
    mpi.ok(how.pack(then, n, mpi.type, unit.data(), 2 * room, end));
    if (!mpi.check(end - first >= data && end - first <= room, finding::position,
                   fmt::format("MPI_Pack moves the position from {} to {}: by less than {} or more than {}", first, end,
                               data, room)))
        return;
    mpi.check(std::equal(unit.begin(), unit.begin() + first, before.begin()), finding::data,
              "the second MPI_Pack changed what the first one had packed");
    for (auto at = 2 * room; at < 2 * room + guard; ++at)
        if (!mpi.check(unit[static_cast<std::size_t>(at)] == poison_byte, finding::guard,
                       fmt::format("MPI_Pack wrote to byte {} of a unit of {} bytes", at, 2 * room)))
            return;
    out.expect_unchanged();
    auto const packed = unit;
    std::int64_t at = 0;
    in.poison();
    mpi.ok(how.unpack(unit.data(), end, at, in, n, mpi.type));
    equal(mpi, "the position after MPI_Unpack of the first message", at, first);
    in.expect(key, mpi.elements, "the first message of the unit");
    in.poison();
    mpi.ok(how.unpack(unit.data(), end, at, in, n, mpi.type));
    equal(mpi, "the position after MPI_Unpack of the second message", at, end);
    in.expect(next, mpi.elements, "the second message of the unit");
    mpi.check(unit == packed, finding::data, "MPI_Unpack changed the packing unit");
}

// One message packed at once is unpacked element by element, and the other way round (section 5.2: related calls).
ASSAY_TEST(datatype, pack_pieces, requirements{"datatype.pack.concatenation", "datatype.unpack.pieces"},
           over(datatypes::all(), axis_use{&bindings()}), thread_safe{}) {
    packer const how{mpi.at(bindings()) == binding::large};
    constexpr std::size_t n = 5;
    auto &out = mpi.incoming(n), &in = mpi.incoming(n);
    auto const key = mpi.key(0, 0, 0, 0, 0);
    auto const step = mpi.map.extent();
    out.fill(key);
    std::int64_t room = -7, end = 0, at = 0;
    if (!mpi.ok(how.size(n, mpi.type, room)) || room < 0) return;
    std::vector<unsigned char> unit(static_cast<std::size_t>(room) * n + 64);
    auto const size = static_cast<std::int64_t>(unit.size());
    auto const element = [&](buffer& b, std::size_t i) {
        return static_cast<unsigned char*>(b.address()) + static_cast<std::ptrdiff_t>(i) * step;
    };
    mpi.ok(how.pack(out, n, mpi.type, unit.data(), size, end));
    for (std::size_t i = 0; i < n; ++i) mpi.ok(how.unpack(unit.data(), end, at, element(in, i), 1, mpi.type));
    in.expect(key, n, "packed at once, unpacked piece by piece");
    equal(mpi, "the position after the last piece", at, end);
    end = 0;
    for (std::size_t i = 0; i < n; ++i) mpi.ok(how.pack(element(out, i), 1, mpi.type, unit.data(), size, end));
    in.poison();
    at = 0;
    mpi.ok(how.unpack(unit.data(), end, at, in, n, mpi.type));
    in.expect(key, n, "packed piece by piece, unpacked at once");
    equal(mpi, "the position after all pieces", at, end);
}

// The packing unit of different datatypes is a message of that signature.
ASSAY_TEST(datatype, pack_signature,
           requirements{"datatype.pack.message", "datatype.packed.receive", "datatype.packed.pieces",
                        "datatype.pack.too_small", "datatype.unpack.too_short"},
           over(axis_use{&bindings()}), thread_safe{}) {
    packer const how{mpi.at(bindings()) == binding::large};
    struct record {
        int i[2];
        double d;
        char c[3];
    } const sent = {{11, -12}, 0.375, {'x', 'y', 'z'}};
    own_type const type(mpi, structure({{2, offsetof(record, i), predefined("int")},
                                        {1, offsetof(record, d), predefined("double")},
                                        {3, offsetof(record, c), predefined("char")}}));
    std::vector<unsigned char> unit(512, poison_byte), arrived(512, poison_byte);
    std::int64_t end = 0, at = 0;
    mpi.ok(how.pack(sent.i, 2, MPI_INT, unit.data(), 512, end));
    mpi.ok(how.pack(&sent.d, 1, MPI_DOUBLE, unit.data(), 512, end));
    mpi.ok(how.pack(sent.c, 3, MPI_CHAR, unit.data(), 512, end));
    auto const judge = [&](record const& got, char const* what) {
        mpi.check(got.i[0] == 11 && got.i[1] == -12 && got.d == 0.375 && std::memcmp(got.c, "xyz", 3) == 0,
                  finding::data,
                  fmt::format("{}: got {}, {}, {}, \"{}\", expected 11, -12, 0.375, \"xyz\"", what, got.i[0], got.i[1],
                              got.d, std::string(got.c, 3)));
    };
    record got{{-7, -7}, -7, {'-', '-', '-'}};
    auto status = poisoned_status();
    mpi.ok(MPI_Sendrecv(unit.data(), static_cast<int>(end), MPI_PACKED, 0, mpi.tag(), &got, 1, type, 0, mpi.tag(),
                        MPI_COMM_SELF, &status));
    judge(got, "packed, received as a struct");
    // A message of the struct, received as MPI_PACKED.
    mpi.ok(MPI_Sendrecv(&sent, 1, type, 0, mpi.tag(1), arrived.data(), 512, MPI_PACKED, 0, mpi.tag(1), MPI_COMM_SELF,
                        &status));
    int length = -7;
    mpi.ok(MPI_Get_count(&status, MPI_PACKED, &length));
    if (!mpi.check(length > 0 && length <= 512, finding::count,
                   fmt::format("the message has {} bytes as MPI_PACKED", length)))
        return;
    got = {{-7, -7}, -7, {'-', '-', '-'}};
    mpi.ok(how.unpack(arrived.data(), length, at, got.i, 2, MPI_INT));
    mpi.ok(how.unpack(arrived.data(), length, at, &got.d, 1, MPI_DOUBLE));
    mpi.ok(how.unpack(arrived.data(), length, at, got.c, 3, MPI_CHAR));
    judge(got, "received as MPI_PACKED");
    equal(mpi, "the position after unpacking the message", at, length);
    refuse(mpi, how);
}

// Addresses instead of a buffer.
ASSAY_TEST(datatype, pack_bottom, requirements{"datatype.pack.bottom"}, over(axis_use{&bindings()}), thread_safe{}) {
    packer const how{mpi.at(bindings()) == binding::large};
    int numbers[3] = {5, 6, 7}, back[3] = {-7, -7, -7};
    double real = 0.625, real_back = -7;
    auto const absolute = [&](int* i, double* d, MPI_Datatype* made) {
        MPI_Aint at[2] = {0, 0};
        int const lengths[2] = {3, 1};
        MPI_Datatype const old[2] = {MPI_INT, MPI_DOUBLE};
        mpi.ok(MPI_Get_address(i, &at[0]));
        mpi.ok(MPI_Get_address(d, &at[1]));
        return mpi.ok(MPI_Type_create_struct(2, lengths, at, old, made)) && mpi.ok(MPI_Type_commit(made));
    };
    MPI_Datatype from = MPI_DATATYPE_NULL, to = MPI_DATATYPE_NULL;
    if (!absolute(numbers, &real, &from)) return;
    own_type const out(from);
    if (!absolute(back, &real_back, &to)) return;
    own_type const in(to);
    std::vector<unsigned char> unit(256);
    std::int64_t end = 0, at = 0;
    mpi.ok(how.pack(MPI_BOTTOM, 1, out, unit.data(), 256, end));
    mpi.ok(how.unpack(unit.data(), end, at, MPI_BOTTOM, 1, in));
    mpi.check(
        std::equal(numbers, numbers + 3, back) && real == real_back, finding::data,
        fmt::format("from MPI_BOTTOM through a packing unit to MPI_BOTTOM: got {}, {}, {}, {}, expected 5, 6, 7, 0.625",
                    back[0], back[1], back[2], real_back));
}

ASSAY_TEST(datatype, pack_size_undefined, requirements{"datatype.pack_size.undefined"}, thread_safe{}) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_contiguous(1 << 30, MPI_INT, &made))) return; // 4 GiB
    own_type const type(made);
    mpi.ok(MPI_Type_commit(&made));
    int size = -7;
    mpi.ok(MPI_Pack_size(1, type, MPI_COMM_SELF, &size));
    equal(mpi, "MPI_Pack_size of 4 GiB", size, MPI_UNDEFINED);
    if (!has_procedure("MPI_Pack_size_c")) return;
    MPI_Count large = -7;
    mpi.ok(MPI_Pack_size_c(3, type, MPI_COMM_SELF, &large));
    mpi.check(large >= MPI_Count{3} << 32, finding::value, fmt::format("MPI_Pack_size_c of 12 GiB gives {}", large));
}
