// Numbers beyond 2^31: counts, displacements, sizes and bounds that no int holds (MPI-5.0 sections 5.1.5, 5.1.7, 5.1.8, and 2.5.8).
#include "suites/common/far_memory.hpp"
#include "suites/datatype/recipe.hpp"

#include <algorithm>
#include <climits>
#include <fmt/format.h>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

using namespace assay;
using namespace assay::types;

namespace {

constexpr std::int64_t billion = 1'000'000'000, kibi = 1024, gibi = kibi * kibi * kibi;

// A datatype with large numbers, and what arithmetic says of it.
struct giant {
    int (*make)(MPI_Datatype* made);
    std::int64_t size, lb, extent, true_lb, true_extent;
};

int over_old(MPI_Datatype* made, int (*make_old)(MPI_Datatype*), int (*make)(MPI_Datatype, MPI_Datatype*)) {
    MPI_Datatype old = MPI_DATATYPE_NULL;
    if (int const code = make_old(&old); code != MPI_SUCCESS) return code;
    int const code = make(old, made);
    MPI_Type_free(&old);
    return code;
}

axis<giant> const giants(
    "giant",
    {{{"resized", ""},
      {[](MPI_Datatype* t) -> int { return MPI_Type_create_resized(MPI_INT, -kibi * gibi, 2 * kibi * gibi, t); }, 4,
       -kibi* gibi, 2 * kibi* gibi, 0, 4}},
     {{"hvector", ""},
      {[](MPI_Datatype* t) -> int { return MPI_Type_create_hvector(3, 1, 8 * gibi, MPI_INT, t); }, 12, 0, 16 * gibi + 4,
       0, 16 * gibi + 4}},
     {{"hvector_down", ""},
      {[](MPI_Datatype* t) -> int { return MPI_Type_create_hvector(3, 1, -8 * gibi, MPI_INT, t); }, 12, -16 * gibi,
       16 * gibi + 4, -16 * gibi, 16 * gibi + 4}},
     {{"vector", "stride in elements: the product is beyond 2^31"},
      {[](MPI_Datatype* t) -> int { return MPI_Type_vector(2, 1, INT_MAX, MPI_DOUBLE, t); }, 16, 0, 8LL * INT_MAX + 8,
       0, 8LL * INT_MAX + 8}},
     {{"vector_long", "many blocks of small stride"},
      {[](MPI_Datatype* t) -> int { return MPI_Type_vector(billion, 1, 2, MPI_INT, t); }, 4 * billion, 0,
       8 * billion - 4, 0, 8 * billion - 4}},
     {{"indexed", ""},
      {[](MPI_Datatype* t) -> int {
           int const lengths[2] = {1, 1}, at[2] = {-INT_MAX, INT_MAX};
           return MPI_Type_indexed(2, lengths, at, MPI_DOUBLE, t);
       },
       16, -8LL * INT_MAX, 16LL * INT_MAX + 8, -8LL * INT_MAX, 16LL * INT_MAX + 8}},
     {{"indexed_long", "long blocks"},
      {[](MPI_Datatype* t) -> int {
           int const lengths[2] = {INT_MAX, INT_MAX}, at[2] = {0, INT_MAX};
           return MPI_Type_indexed(2, lengths, at, MPI_INT, t);
       },
       8LL * INT_MAX, 0, 8LL * INT_MAX, 0, 8LL * INT_MAX}},
     {{"hindexed", ""},
      {[](MPI_Datatype* t) -> int {
           int const lengths[2] = {1, 2};
           MPI_Aint const at[2] = {-32 * gibi, 32 * gibi};
           return MPI_Type_create_hindexed(2, lengths, at, MPI_DOUBLE, t);
       },
       24, -32 * gibi, 64 * gibi + 16, -32 * gibi, 64 * gibi + 16}},
     {{"indexed_block", ""},
      {[](MPI_Datatype* t) -> int {
           int const at[2] = {3, INT_MAX - 5};
           return MPI_Type_create_indexed_block(2, 2, at, MPI_LONG_LONG, t);
       },
       32, 24, 8LL * (INT_MAX - 8) + 16, 24, 8LL * (INT_MAX - 8) + 16}},
     {{"hindexed_block", ""},
      {[](MPI_Datatype* t) -> int {
           MPI_Aint const at[2] = {kibi * gibi, 0};
           return MPI_Type_create_hindexed_block(2, 2, at, MPI_INT, t);
       },
       16, 0, kibi* gibi + 8, 0, kibi* gibi + 8}},
     {{"struct", ""},
      {[](MPI_Datatype* t) -> int {
           int const lengths[2] = {1, 1};
           MPI_Aint const at[2] = {0, kibi * gibi};
           MPI_Datatype const old[2] = {MPI_DOUBLE, MPI_CHAR};
           return MPI_Type_create_struct(2, lengths, at, old, t);
       },
       9, 0, kibi* gibi + 8, 0, kibi* gibi + 1}},
     {{"contiguous", "a size beyond int"},
      {[](MPI_Datatype* t) -> int { return MPI_Type_contiguous(INT_MAX, MPI_INT, t); }, 4LL * INT_MAX, 0, 4LL * INT_MAX,
       0, 4LL * INT_MAX}},
     {{"contiguous_2", "of a giant"},
      {[](MPI_Datatype* t) -> int {
           return over_old(
               t, [](MPI_Datatype* old) { return MPI_Type_contiguous(INT_MAX, MPI_DOUBLE, old); },
               [](MPI_Datatype old, MPI_Datatype* made) { return MPI_Type_contiguous(1000, old, made); });
       },
       8000LL * INT_MAX, 0, 8000LL * INT_MAX, 0, 8000LL * INT_MAX}},
     {{"dup", "of a giant"},
      {[](MPI_Datatype* t) -> int {
           return over_old(
               t, [](MPI_Datatype* old) { return MPI_Type_create_resized(MPI_INT, 5 * gibi, 7 * gibi, old); },
               [](MPI_Datatype old, MPI_Datatype* made) { return MPI_Type_dup(old, made); });
       },
       4, 5 * gibi, 7 * gibi, 0, 4}},
     {{"subarray", "one of 10^10 elements"},
      {[](MPI_Datatype* t) -> int {
           int const sizes[2] = {100000, 100000}, part[2] = {1, 1}, start[2] = {99999, 99999};
           return MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, t);
       },
       8, 0, 80 * billion, 80 * billion - 8, 8}},
     {{"darray", "half of 10^10 elements"},
      {[](MPI_Datatype* t) -> int {
           int const sizes[2] = {100000, 100000}, how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
                     arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 1};
           return MPI_Type_create_darray(2, 1, 2, sizes, how, arguments, grid, MPI_ORDER_C, MPI_DOUBLE, t);
       },
       40 * billion, 0, 80 * billion, 40 * billion, 40 * billion}},
     {{"contiguous_c", "a count beyond int", needs_procedures({"MPI_Type_contiguous_c"})},
      {[](MPI_Datatype* t) -> int { return MPI_Type_contiguous_c(3 * billion, MPI_SHORT, t); }, 6 * billion, 0,
       6 * billion, 0, 6 * billion}},
     {{"vector_c", "", needs_procedures({"MPI_Type_vector_c"})},
      {[](MPI_Datatype* t) -> int { return MPI_Type_vector_c(3, 1, 5 * billion, MPI_INT, t); }, 12, 0, 40 * billion + 4,
       0, 40 * billion + 4}},
     {{"vector_c_blocks", "long blocks", needs_procedures({"MPI_Type_vector_c"})},
      {[](MPI_Datatype* t) -> int { return MPI_Type_vector_c(2, 3 * billion, 4 * billion, MPI_CHAR, t); }, 6 * billion,
       0, 7 * billion, 0, 7 * billion}},
     {{"hvector_c", "", needs_procedures({"MPI_Type_create_hvector_c"})},
      {[](MPI_Datatype* t) -> int { return MPI_Type_create_hvector_c(2, 3 * billion, 4 * billion, MPI_CHAR, t); },
       6 * billion, 0, 7 * billion, 0, 7 * billion}},
     {{"indexed_c", "", needs_procedures({"MPI_Type_indexed_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const lengths[2] = {1, 3 * billion}, at[2] = {-3 * billion, 3 * billion};
           return MPI_Type_indexed_c(2, lengths, at, MPI_SHORT, t);
       },
       6 * billion + 2, -6 * billion, 18 * billion, -6 * billion, 18 * billion}},
     {{"hindexed_c", "", needs_procedures({"MPI_Type_create_hindexed_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const lengths[2] = {3 * billion, 1}, at[2] = {0, 30 * billion};
           return MPI_Type_create_hindexed_c(2, lengths, at, MPI_INT, t);
       },
       12 * billion + 4, 0, 30 * billion + 4, 0, 30 * billion + 4}},
     {{"indexed_block_c", "", needs_procedures({"MPI_Type_create_indexed_block_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const at[2] = {0, 5 * billion};
           return MPI_Type_create_indexed_block_c(2, 3 * billion, at, MPI_CHAR, t);
       },
       6 * billion, 0, 8 * billion, 0, 8 * billion}},
     {{"hindexed_block_c", "", needs_procedures({"MPI_Type_create_hindexed_block_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const at[2] = {50 * billion, 0};
           return MPI_Type_create_hindexed_block_c(2, 3 * billion, at, MPI_SHORT, t);
       },
       12 * billion, 0, 56 * billion, 0, 56 * billion}},
     {{"struct_c", "", needs_procedures({"MPI_Type_create_struct_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const lengths[2] = {3 * billion, 1}, at[2] = {0, 40 * billion};
           MPI_Datatype const old[2] = {MPI_INT, MPI_DOUBLE};
           return MPI_Type_create_struct_c(2, lengths, at, old, t);
       },
       12 * billion + 8, 0, 40 * billion + 8, 0, 40 * billion + 8}},
     {{"resized_c", "", needs_procedures({"MPI_Type_create_resized_c"})},
      {[](MPI_Datatype* t) -> int { return MPI_Type_create_resized_c(MPI_INT, -9 * billion, 20 * billion, t); }, 4,
       -9 * billion, 20 * billion, 0, 4}},
     {{"subarray_c", "", needs_procedures({"MPI_Type_create_subarray_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const sizes[1] = {9 * billion}, part[1] = {3 * billion}, start[1] = {5 * billion};
           return MPI_Type_create_subarray_c(1, sizes, part, start, MPI_ORDER_C, MPI_SHORT, t);
       },
       6 * billion, 0, 18 * billion, 10 * billion, 6 * billion}},
     {{"darray_c", "", needs_procedures({"MPI_Type_create_darray_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const sizes[1] = {9 * billion};
           int const how[1] = {MPI_DISTRIBUTE_BLOCK}, arguments[1] = {MPI_DISTRIBUTE_DFLT_DARG}, grid[1] = {2};
           return MPI_Type_create_darray_c(2, 1, 1, sizes, how, arguments, grid, MPI_ORDER_C, MPI_SHORT, t);
       },
       9 * billion, 0, 18 * billion, 9 * billion, 9 * billion}},
     {{"contiguous_c_5", "a count beyond 2^32", needs_procedures({"MPI_Type_contiguous_c"})},
      {[](MPI_Datatype* t) -> int { return MPI_Type_contiguous_c(5 * billion, MPI_SHORT, t); }, 10 * billion, 0,
       10 * billion, 0, 10 * billion}},
     {{"vector_c_5", "blocks beyond 2^32", needs_procedures({"MPI_Type_vector_c"})},
      {[](MPI_Datatype* t) -> int { return MPI_Type_vector_c(2, 5 * billion, 6 * billion, MPI_CHAR, t); }, 10 * billion,
       0, 11 * billion, 0, 11 * billion}},
     {{"hindexed_c_5", "a block beyond 2^32", needs_procedures({"MPI_Type_create_hindexed_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const lengths[2] = {5 * billion, 1}, at[2] = {0, 30 * billion};
           return MPI_Type_create_hindexed_c(2, lengths, at, MPI_INT, t);
       },
       20 * billion + 4, 0, 30 * billion + 4, 0, 30 * billion + 4}},
     {{"struct_c_5", "a block beyond 2^32", needs_procedures({"MPI_Type_create_struct_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const lengths[2] = {5 * billion, 1}, at[2] = {0, 40 * billion};
           MPI_Datatype const old[2] = {MPI_INT, MPI_DOUBLE};
           return MPI_Type_create_struct_c(2, lengths, at, old, t);
       },
       20 * billion + 8, 0, 40 * billion + 8, 0, 40 * billion + 8}},
     {{"subarray_c_5", "a part beyond 2^32", needs_procedures({"MPI_Type_create_subarray_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const sizes[1] = {12 * billion}, part[1] = {5 * billion}, start[1] = {6 * billion};
           return MPI_Type_create_subarray_c(1, sizes, part, start, MPI_ORDER_C, MPI_SHORT, t);
       },
       10 * billion, 0, 24 * billion, 12 * billion, 10 * billion}},
     {{"darray_c_5", "a block beyond 2^32", needs_procedures({"MPI_Type_create_darray_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const sizes[1] = {10 * billion};
           int const how[1] = {MPI_DISTRIBUTE_BLOCK}, arguments[1] = {MPI_DISTRIBUTE_DFLT_DARG}, grid[1] = {2};
           return MPI_Type_create_darray_c(2, 1, 1, sizes, how, arguments, grid, MPI_ORDER_C, MPI_SHORT, t);
       },
       10 * billion, 0, 20 * billion, 10 * billion, 10 * billion}}});

} // namespace

ASSAY_TEST(datatype, giant_bounds,
           requirements{"datatype.large.bounds", "datatype.large.size_undefined", "datatype.large.counts"},
           over(axis_use{&giants}, axis_use{&queries()}), thread_safe{}) {
    auto const& g = mpi.at(giants);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(g.make(&made))) return;
    own_type const type(made);
    if (mpi.at(queries()) == query::plain) {
        int size = -7;
        MPI_Aint lb = -7, extent = -7, true_lb = -7, true_extent = -7;
        mpi.ok(MPI_Type_size(type, &size));
        mpi.ok(MPI_Type_get_extent(type, &lb, &extent));
        mpi.ok(MPI_Type_get_true_extent(type, &true_lb, &true_extent));
        equal(mpi, fmt::format("MPI_Type_size of {} bytes", g.size), size,
              g.size > INT_MAX ? std::int64_t{MPI_UNDEFINED} : g.size);
        equal(mpi, "the lower bound", lb, g.lb);
        equal(mpi, "the extent", extent, g.extent);
        equal(mpi, "the true lower bound", true_lb, g.true_lb);
        equal(mpi, "the true extent", true_extent, g.true_extent);
        return;
    }
    MPI_Count size = -7, lb = -7, extent = -7, true_lb = -7, true_extent = -7;
    if (mpi.at(queries()) == query::x) {
        mpi.ok(MPI_Type_size_x(type, &size));
        mpi.ok(MPI_Type_get_extent_x(type, &lb, &extent));
        mpi.ok(MPI_Type_get_true_extent_x(type, &true_lb, &true_extent));
    } else {
        mpi.ok(MPI_Type_size_c(type, &size));
        mpi.ok(MPI_Type_get_extent_c(type, &lb, &extent));
        mpi.ok(MPI_Type_get_true_extent_c(type, &true_lb, &true_extent));
    }
    equal(mpi, "the size", size, g.size);
    equal(mpi, "the lower bound", lb, g.lb);
    equal(mpi, "the extent", extent, g.extent);
    equal(mpi, "the true lower bound", true_lb, g.true_lb);
    equal(mpi, "the true extent", true_extent, g.true_extent);
}

ASSAY_TEST(datatype, giant_contents, requirements{"datatype.contents.large"},
           needs_procedures({"MPI_Type_get_contents_c"}), thread_safe{}) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Count const lengths[2] = {1, 3 * billion}, at[2] = {-5 * billion, 7 * billion};
    if (!mpi.ok(MPI_Type_create_hindexed_c(2, lengths, at, MPI_SHORT, &made))) return;
    own_type const type(made);
    MPI_Count i = -7, a = -7, c = -7, d = -7;
    int combiner = -7;
    mpi.ok(MPI_Type_get_envelope_c(type, &i, &a, &c, &d, &combiner));
    if (!equal(mpi, "num_integers", i, 0) || !equal(mpi, "num_addresses", a, 0) ||
        !equal(mpi, "num_large_counts", c, 5))
        return;
    MPI_Count got[5] = {-7, -7, -7, -7, -7};
    MPI_Datatype old = MPI_DATATYPE_NULL;
    int no_integer = 0;
    MPI_Aint no_address = 0;
    mpi.ok(MPI_Type_get_contents_c(type, 0, 0, 5, 1, &no_integer, &no_address, got, &old));
    mpi.check(old == MPI_SHORT, finding::value, "the datatype of the contents is not MPI_SHORT");
    std::sort(got, got + 5);
    MPI_Count const expected[5] = {-5 * billion, 1, 2, 3 * billion, 7 * billion};
    for (int k = 0; k < 5; ++k)
        equal(mpi, fmt::format("large count {} of the contents (sorted)", k), got[k], expected[k]);
}

// ---- Data that lies further apart than 2^32 bytes, in memory of which only few pages are touched

namespace {

constexpr std::int64_t far = 5 * gibi + 64;

// ---- More than 2^31 bytes

// 2 GiB of address space that show the same 4 MiB over and over, and after them memory of their own: what is beyond
// 2^31 is seen, and little memory is used.
class folded {
public:
    static constexpr std::size_t period = std::size_t{4} << 20, body = std::size_t{1} << 31, tail = 4096;

    folded() {
        int const file = memfd_create("assay", 0);
        if (file < 0) return;
        void* const space = ftruncate(file, period) == 0 ? mmap(nullptr, body + tail, PROT_READ | PROT_WRITE,
                                                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                                         : MAP_FAILED;
        if (space != MAP_FAILED) {
            base_ = static_cast<unsigned char*>(space);
            for (std::size_t at = 0; at < body; at += period)
                if (mmap(base_ + at, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
                    there_ = false;
        }
        close(file);
    }
    ~folded() {
        if (base_ != nullptr) munmap(base_, body + tail);
    }
    folded(folded const&) = delete;
    folded& operator=(folded const&) = delete;
    bool there() const { return base_ != nullptr && there_; }
    unsigned char* base() const { return base_; }
    unsigned char* end() const { return base_ + body; } // of the first 2^31 bytes

private:
    unsigned char* base_ = nullptr;
    bool there_ = true;
};

enum class bulk { none, message, pack };

void move_bulk(test_run& mpi, bulk how) {
    int rank = -1;
    mpi.ok(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank != 0) return; // one process is enough, and the memory of one
    folded const out, in;
    if (!out.there() || !in.there()) mpi.unsupported("no memory that can be mapped over and over");
    constexpr std::size_t more = 16, total = folded::body + more;
    for (std::size_t k = 0; k < more; ++k) out.end()[k] = static_cast<unsigned char>(100 + k);
    std::fill(in.end(), in.end() + 2 * more, poison_byte);
    out.end()[-1] = 99;
    if (how == bulk::message) {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        if (!mpi.ok(MPI_Type_contiguous(static_cast<int>(total / 2), MPI_SHORT, &made))) return;
        own_type type(made);
        mpi.ok(MPI_Type_commit(type.address()));
        auto status = poisoned_status();
        mpi.ok(
            MPI_Sendrecv(out.base(), 1, type, 0, mpi.tag(), in.base(), 1, type, 0, mpi.tag(), MPI_COMM_SELF, &status));
        int count = -7, bytes = -7;
        mpi.ok(MPI_Get_count(&status, type, &count));
        equal(mpi, "MPI_Get_count", count, 1);
        mpi.ok(MPI_Get_elements(&status, type, &bytes));
        equal(mpi, "MPI_Get_elements", bytes, static_cast<std::int64_t>(total / 2));
    } else {
        MPI_Count room = -7, end = 0, at = 0;
        mpi.ok(MPI_Pack_size_c(static_cast<MPI_Count>(total), MPI_BYTE, MPI_COMM_SELF, &room));
        mpi.check(room >= static_cast<MPI_Count>(total), finding::value,
                  fmt::format("MPI_Pack_size_c gives {} for {} bytes", room, total));
        constexpr auto size = static_cast<MPI_Count>(folded::body + folded::tail);
        folded const unit;
        if (!unit.there()) mpi.unsupported("no memory that can be mapped over and over");
        mpi.ok(MPI_Pack_c(out.base(), static_cast<MPI_Count>(total), MPI_BYTE, unit.base(), size, &end, MPI_COMM_SELF));
        mpi.check(end >= static_cast<MPI_Count>(total), finding::position,
                  fmt::format("MPI_Pack_c of {} bytes leads to {}", total, end));
        mpi.ok(MPI_Unpack_c(unit.base(), end, &at, in.base(), static_cast<MPI_Count>(total), MPI_BYTE, MPI_COMM_SELF));
        equal(mpi, "the position after MPI_Unpack_c", at, end);
    }
    mpi.check(in.end()[-1] == 99, finding::data,
              fmt::format("byte {} is {}, expected 99", folded::body - 1, in.end()[-1]));
    for (std::size_t k = 0; k < 2 * more; ++k) {
        int const expected = k < more ? static_cast<int>(100 + k) : poison_byte;
        if (!equal(mpi, fmt::format("byte {}", folded::body + k), in.end()[k], expected)) break;
    }
}

// Three ints: at `far`, 0 and 2 * far in this order of the type map, or the other way round.
struct spread {
    int (*make)(MPI_Datatype*);
    int count; // elements that make up the three ints
    std::int64_t at[3];
    bulk instead = bulk::none; // so many bytes instead, side by side
};
axis<spread> const spreads(
    "spread",
    {{{"hvector", ""},
      {[](MPI_Datatype* t) -> int { return MPI_Type_create_hvector(3, 1, far, MPI_INT, t); }, 1, {0, far, 2 * far}}},
     {{"vector", ""},
      {[](MPI_Datatype* t) -> int { return MPI_Type_vector(3, 1, far / 4, MPI_INT, t); }, 1, {0, far, 2 * far}}},
     {{"hindexed", ""},
      {[](MPI_Datatype* t) -> int {
           int const lengths[3] = {1, 1, 1};
           MPI_Aint const at[3] = {far, 0, 2 * far};
           return MPI_Type_create_hindexed(3, lengths, at, MPI_INT, t);
       },
       1,
       {far, 0, 2 * far}}},
     {{"indexed", ""},
      {[](MPI_Datatype* t) -> int {
           int const lengths[3] = {1, 1, 1}, at[3] = {static_cast<int>(far / 4), 0, static_cast<int>(far / 4 + 16)};
           return MPI_Type_indexed(3, lengths, at, MPI_INT, t);
       },
       1,
       {far, 0, far + 64}}},
     {{"indexed_block", ""},
      {[](MPI_Datatype* t) -> int {
           int const at[3] = {0, static_cast<int>(far / 4), 5};
           return MPI_Type_create_indexed_block(3, 1, at, MPI_INT, t);
       },
       1,
       {0, far, 20}}},
     {{"struct", ""},
      {[](MPI_Datatype* t) -> int {
           int const lengths[2] = {1, 2};
           MPI_Aint const at[2] = {2 * far, 8};
           MPI_Datatype const old[2] = {MPI_INT, MPI_INT};
           return MPI_Type_create_struct(2, lengths, at, old, t);
       },
       1,
       {2 * far, 8, 12}}},
     {{"resized", "three elements of a large extent"},
      {[](MPI_Datatype* t) -> int { return MPI_Type_create_resized(MPI_INT, 0, far, t); }, 3, {0, far, 2 * far}}},
     {{"subarray", ""},
      {[](MPI_Datatype* t) -> int {
           int const sizes[2] = {3, static_cast<int>(far / 4)}, part[2] = {3, 1}, start[2] = {0, 7};
           return MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, t);
       },
       1,
       {28, far + 28, 2 * far + 28}}},
     {{"vector_c", "", needs_procedures({"MPI_Type_vector_c"})},
      {[](MPI_Datatype* t) -> int { return MPI_Type_vector_c(3, 1, far / 4, MPI_INT, t); }, 1, {0, far, 2 * far}}},
     {{"indexed_c", "", needs_procedures({"MPI_Type_indexed_c"})},
      {[](MPI_Datatype* t) -> int {
           MPI_Count const lengths[2] = {1, 2}, at[2] = {2 * far / 4, 3};
           return MPI_Type_indexed_c(2, lengths, at, MPI_INT, t);
       },
       1,
       {2 * far, 12, 16}}},
     {{"resized_c", "", needs_procedures({"MPI_Type_create_resized_c"})},
      {[](MPI_Datatype* t) -> int { return MPI_Type_create_resized_c(MPI_INT, 0, far, t); }, 3, {0, far, 2 * far}}},
     {{"bulk_message", "2^31 bytes and a few more, MPI_Sendrecv to oneself"}, {nullptr, 0, {0, 0, 0}, bulk::message}},
     {{"bulk_pack", "the same by MPI_Pack_c, MPI_Unpack_c", needs_procedures({"MPI_Pack_c"})},
      {nullptr, 0, {0, 0, 0}, bulk::pack}}});

} // namespace

ASSAY_TEST(datatype, far_apart, requirements{"datatype.large.data", "datatype.large.pack", "datatype.large.bulk"},
           over(axis_use{&spreads})) {
    auto const& s = mpi.at(spreads);
    if (s.instead != bulk::none) return move_bulk(mpi, s.instead);
    far_memory const memory(2 * far + 4096);
    if (memory.base() == nullptr) mpi.unsupported("no 10 GiB of address space");
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(s.make(&made))) return;
    own_type type(made);
    if (!mpi.ok(MPI_Type_commit(type.address()))) return;
    auto const at = [&](int k) -> int& { return *reinterpret_cast<int*>(memory.base() + s.at[k]); };
    auto const all = [&](char const* how, int first, auto const& got) {
        for (int k = 0; k < 3; ++k)
            if (!equal(mpi, fmt::format("int {}, {} bytes from the start, {}", k, s.at[k], how), got(k), first + k))
                break;
    };
    int near[3] = {-7, -7, -7};
    auto const in_memory = [&](int k) { return at(k); };
    auto const in_array = [&](int k) { return near[k]; };
    for (int k = 0; k < 3; ++k) at(k) = 100 + k;
    mpi.ok(MPI_Sendrecv(memory.base(), s.count, type, 0, mpi.tag(), near, 3, MPI_INT, 0, mpi.tag(), MPI_COMM_SELF,
                        MPI_STATUS_IGNORE));
    all("sent", 100, in_array);
    for (int k = 0; k < 3; ++k) near[k] = 200 + k;
    auto status = poisoned_status();
    mpi.ok(MPI_Sendrecv(near, 3, MPI_INT, 0, mpi.tag(), memory.base(), s.count, type, 0, mpi.tag(), MPI_COMM_SELF,
                        &status));
    all("received", 200, in_memory);
    mpi.expect(status).count(static_cast<std::size_t>(s.count), type, 12 / static_cast<std::size_t>(s.count));
    unsigned char unit[256];
    int position = 0;
    mpi.ok(MPI_Pack(memory.base(), s.count, type, unit, 256, &position, MPI_COMM_SELF));
    int const end = position;
    position = 0;
    std::fill(near, near + 3, -7);
    mpi.ok(MPI_Unpack(unit, end, &position, near, 3, MPI_INT, MPI_COMM_SELF));
    all("packed", 200, in_array);
    for (int k = 0; k < 3; ++k) at(k) = -7;
    position = 0;
    mpi.ok(MPI_Unpack(unit, end, &position, memory.base(), s.count, type, MPI_COMM_SELF));
    all("unpacked", 200, in_memory);
}
