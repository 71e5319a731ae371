// What the constructors make (MPI-5.0 sections 5.1.2 to 5.1.8): bounds, and the order and place of the data.
#include "suites/datatype/recipe.hpp"

#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <numeric>

using namespace assay;
using namespace assay::types;

namespace {

// How data moves between the datatype and the tidy struct of the same signature: a mistake in the order or place of the
// data that sender and receiver share is seen only with two different datatypes.
enum class path { message, pack };
axis<path> const paths("path", {{{"message", "MPI_Sendrecv to oneself"}, path::message},
                                {{"pack", "MPI_Pack, MPI_Unpack"}, path::pack}});

void move(test_run& mpi, path how, void* out, int n, MPI_Datatype from, void* in, int m, MPI_Datatype to) {
    if (how == path::message) {
        mpi.ok(MPI_Sendrecv(out, n, from, 0, mpi.tag(), in, m, to, 0, mpi.tag(), MPI_COMM_SELF, MPI_STATUS_IGNORE));
        return;
    }
    int room = -7, position = 0;
    if (!mpi.ok(MPI_Pack_size(n, from, MPI_COMM_SELF, &room)) || room < 0) return;
    std::vector<unsigned char> unit(static_cast<std::size_t>(room) + 1); // never NULL, which is another question
    mpi.ok(MPI_Pack(out, n, from, unit.data(), room, &position, MPI_COMM_SELF));
    int const end = position;
    position = 0;
    mpi.ok(MPI_Unpack(unit.data(), end, &position, in, m, to, MPI_COMM_SELF));
}

// Of finite, normal numbers in any floating point type.
unsigned char pattern(std::ptrdiff_t at) { return static_cast<unsigned char>(1 + (at * 37 + 11) % 61); }

} // namespace

ASSAY_TEST(datatype, bounds,
           requirements{"datatype.extent", "datatype.size_queries", "datatype.extent_queries", "datatype.zero_counts",
                        "datatype.epsilon", "datatype.markers", "datatype.resized.bounds", "datatype.subarray.bounds",
                        "datatype.darray.bounds", "datatype.negative"},
           over(axis_use{&recipes()}, axis_use{&bindings()}, axis_use{&queries()}), has_binding(), thread_safe{}) {
    auto const& how = mpi.at(recipes());
    made_type type(mpi, how, mpi.at(bindings()), false);
    if (type) expect_bounds(mpi, type, mpi.at(queries()), how.map, "the datatype");
}

ASSAY_TEST(datatype, predefined_bounds,
           requirements{"datatype.extent", "datatype.size_queries", "datatype.extent_queries", "datatype.predefined"},
           over(only(type_axis(), [](datatype const& t) { return t.predefined; }), axis_use{&queries()}),
           thread_safe{}) {
    expect_bounds(mpi, mpi.type, mpi.at(queries()), mpi.map, "the datatype");
}

ASSAY_TEST(datatype, data,
           requirements{"datatype.typemap", "datatype.contiguous", "datatype.vector", "datatype.hvector",
                        "datatype.indexed", "datatype.hindexed", "datatype.indexed_block", "datatype.hindexed_block",
                        "datatype.struct", "datatype.subarray", "datatype.darray", "datatype.resized",
                        "datatype.signature", "datatype.large_constructors"},
           over(axis_use{&recipes()}, axis_use{&bindings()}, axis_use{&paths}), has_binding(), thread_safe{}) {
    auto const& how = mpi.at(recipes());
    auto const by = mpi.at(paths);
    made_type type(mpi, how, mpi.at(bindings()));
    if (!type) return;
    own_type const tidy(mpi, how.tidy);
    // Several elements also show the extent. Elements that overlap would make a receive erroneous.
    std::size_t const n = how.side_by_side ? 3 : 1;
    auto const count = static_cast<int>(n);
    auto& far = mpi.bytes(how.tidy.map, n);
    if (how.overlapping) {
        // The stream is read off the memory by the type map.
        std::vector<unsigned char> memory(512), expected, got;
        auto* const origin = memory.data() + 256;
        for (std::ptrdiff_t i = -256; i < 256; ++i) origin[i] = pattern(i);
        far.poison();
        move(mpi, by, origin, count, type, far, count, tidy);
        for (auto const& run : how.map.runs())
            for (std::size_t k = 0; k < run.count * run.type->size; ++k)
                expected.push_back(origin[run.offset + static_cast<std::ptrdiff_t>(k)]);
        auto const* const base = static_cast<unsigned char const*>(far.address());
        for (auto const& run : how.tidy.map.runs())
            got.insert(got.end(), base + run.offset, base + run.offset + run.count * run.type->size);
        for (std::size_t k = 0; k < expected.size(); ++k)
            if (got[k] != expected[k]) {
                mpi.check(
                    false, finding::data,
                    fmt::format("byte {} of the stream is {:#04x}, by the type map {:#04x}", k, got[k], expected[k]));
                break;
            }
        return;
    }
    auto& near = mpi.bytes(how.map, n);
    auto const first = mpi.key(0, 0, 0, 0, 0), second = mpi.key(0, 0, 0, 0, 1);
    near.fill(first);
    far.poison();
    move(mpi, by, near, count, type, far, count, tidy);
    far.expect(first, n, "out of the datatype");
    near.expect_unchanged();
    far.fill(second);
    near.poison();
    move(mpi, by, far, count, tidy, near, count, type);
    near.expect(second, n, "into the datatype");
}

// A count in a communication call is a contiguous datatype of as many elements (section 5.1.11).
ASSAY_TEST(datatype, count_is_contiguous, requirements{"datatype.count_concatenates"}, over(receivable_recipes()),
           thread_safe{}) {
    auto const& how = mpi.at(recipes());
    made_type type(mpi, how, binding::small);
    if (!type) return;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_contiguous(3, type, &made))) return;
    own_type three(made);
    mpi.ok(MPI_Type_commit(three.address()));
    auto const three_map = layout::contiguous(3, how.map);
    auto &out = mpi.bytes(how.map, 3), &in = mpi.bytes(how.map, 3);
    auto const key = mpi.key(0, 0, 0, 0, 0);
    out.fill(key);
    in.poison();
    auto status = poisoned_status();
    mpi.ok(MPI_Sendrecv(out, 3, type, 0, mpi.tag(), in, 1, three, 0, mpi.tag(), MPI_COMM_SELF, &status));
    in.expect(key, 3, "sent as three, received as one");
    mpi.expect(status).count(1, three, three_map.size());
    in.poison();
    status = poisoned_status();
    mpi.ok(MPI_Sendrecv(out, 1, three, 0, mpi.tag(), in, 3, type, 0, mpi.tag(), MPI_COMM_SELF, &status));
    in.expect(key, 3, "sent as one, received as three");
    mpi.expect(status).count(3, type, how.map.size());
}

// ---- Distributed arrays: the pieces of all processes of a grid

namespace {

struct grid {
    std::vector<layout::dimension> dimensions;
    int processes() const {
        int n = 1;
        for (auto const& d : dimensions) n *= d.processes;
        return n;
    }
};

using enum layout::distribution;
axis<grid> const grids("grid",
                       {{{"block.2", "11 over 2, block"}, {{{11, block, 0, 2}}}},
                        {{"block5.3", "11 over 3, block(5)"}, {{{11, block, 5, 3}}}},
                        {{"block9.2", "7 over 2, block(9): nothing is left for the second"}, {{{7, block, 9, 2}}}},
                        {{"block.4", "5 over 4, block: nothing is left for the last"}, {{{5, block, 0, 4}}}},
                        {{"cyclic.3", "11 over 3, cyclic"}, {{{11, cyclic, 0, 3}}}},
                        {{"cyclic3.2", "11 over 2, cyclic(3): a short last block"}, {{{11, cyclic, 3, 2}}}},
                        {{"cyclic4.2", "8 over 2, cyclic(4): one block each"}, {{{8, cyclic, 4, 2}}}},
                        {{"none.1", "6, not distributed"}, {{{6, none, 0, 1}}}},
                        {{"block.2.block.2", "5 by 6 over 2 by 2"}, {{{5, block, 0, 2}, {6, block, 0, 2}}}},
                        {{"cyclic2.2.cyclic.3", "7 by 8 over 2 by 3"}, {{{7, cyclic, 2, 2}, {8, cyclic, 0, 3}}}},
                        {{"block.3.cyclic2.2", "7 by 9 over 3 by 2"}, {{{7, block, 0, 3}, {9, cyclic, 2, 2}}}},
                        {{"none.1.block.4", "3 by 9 over 1 by 4"}, {{{3, none, 0, 1}, {9, block, 0, 4}}}},
                        {{"cyclic.2.none.1.block.3", "5 by 4 by 7 over 2 by 1 by 3"},
                         {{{5, cyclic, 0, 2}, {4, none, 0, 1}, {7, block, 0, 3}}}},
                        {{"cyclic2.2.block.2.cyclic.2", "5 by 3 by 4 over 2 by 2 by 2"},
                         {{{5, cyclic, 2, 2}, {3, block, 0, 2}, {4, cyclic, 0, 2}}}}});
enum class storage { c, fortran };
axis<storage> const orders("order",
                           {{{"c", "MPI_ORDER_C"}, storage::c}, {{"fortran", "MPI_ORDER_FORTRAN"}, storage::fortran}});

// The elements that a process owns, as positions in memory in the order of the type map: from the ownership rules
// alone, element by element, without the recursion that defines the datatype.
std::vector<int> owned(grid const& g, storage order, int rank) {
    auto const dims = g.dimensions.size();
    std::vector<int> place(dims);
    for (std::size_t d = dims; d-- > 0;) {
        place[d] = rank % g.dimensions[d].processes;
        rank /= g.dimensions[d].processes;
    }
    int total = 1;
    for (auto const& d : g.dimensions) total *= d.size;
    std::vector<int> result;
    for (int at = 0; at < total; ++at) {
        bool mine = true;
        int rest = at;
        for (std::size_t i = 0; i < dims; ++i) { // the fastest dimension first
            auto const d = order == storage::c ? dims - 1 - i : i;
            auto const& dim = g.dimensions[d];
            int const index = rest % dim.size;
            rest /= dim.size;
            int chunk = dim.argument;
            if (dim.how == none) chunk = dim.size;
            else if (chunk == 0) chunk = dim.how == cyclic ? 1 : (dim.size + dim.processes - 1) / dim.processes;
            mine &= index / chunk % dim.processes == place[d];
        }
        if (mine) result.push_back(at);
    }
    return result;
}

} // namespace

ASSAY_TEST(datatype, darray,
           requirements{"datatype.darray", "datatype.darray.default", "datatype.darray.grid", "datatype.darray.none",
                        "datatype.darray.bounds"},
           over(axis_use{&grids}, axis_use{&orders}, axis_use{&bindings()}), thread_safe{}) {
    auto const& g = mpi.at(grids);
    auto const order = mpi.at(orders);
    constructors::darray_arguments const a(g.dimensions);
    std::vector<MPI_Count> const large(a.sizes.begin(), a.sizes.end());
    int const total = std::accumulate(a.sizes.begin(), a.sizes.end(), 1, std::multiplies{});
    int const storage_order = order == storage::c ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    std::vector<int> array(static_cast<std::size_t>(total));
    for (int i = 0; i < total; ++i) array[static_cast<std::size_t>(i)] = 1000 + i;
    for (int rank = 0; rank < g.processes(); ++rank) {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        int const code =
            mpi.at(bindings()) == binding::small
                ? MPI_Type_create_darray(g.processes(), rank, a.dimensions, a.sizes.data(), a.how.data(),
                                         a.arguments.data(), a.processes.data(), storage_order, MPI_INT, &made)
                : MPI_Type_create_darray_c(g.processes(), rank, a.dimensions, large.data(), a.how.data(),
                                           a.arguments.data(), a.processes.data(), storage_order, MPI_INT, &made);
        if (!mpi.ok(code)) return;
        own_type type(made);
        if (!mpi.ok(MPI_Type_commit(type.address()))) return;
        auto const expected = owned(g, order, rank);
        auto const who = fmt::format("of rank {} of {}", rank, g.processes());
        MPI_Aint lb = -7, extent = -7;
        int size = -7;
        mpi.ok(MPI_Type_size(type, &size));
        mpi.ok(MPI_Type_get_extent(type, &lb, &extent));
        equal(mpi, "the size " + who, size, static_cast<std::int64_t>(expected.size() * sizeof(int)));
        equal(mpi, "the lower bound " + who, lb, 0);
        equal(mpi, "the extent " + who, extent, static_cast<std::int64_t>(sizeof(int)) * total);
        std::vector<int> piece(expected.size() + 1, -7);
        mpi.ok(MPI_Sendrecv(array.data(), 1, type, 0, mpi.tag(), piece.data(), static_cast<int>(piece.size()), MPI_INT,
                            0, mpi.tag(), MPI_COMM_SELF, MPI_STATUS_IGNORE));
        for (std::size_t i = 0; i < piece.size(); ++i) {
            int const want = i < expected.size() ? 1000 + expected[i] : -7;
            if (!equal(mpi, fmt::format("element {} {}", i, who), piece[i], want)) break;
        }
        std::vector<int> back(static_cast<std::size_t>(total), -7), want(static_cast<std::size_t>(total), -7);
        for (auto at : expected) want[static_cast<std::size_t>(at)] = 1000 + at;
        mpi.ok(MPI_Sendrecv(piece.data(), static_cast<int>(expected.size()), MPI_INT, 0, mpi.tag(), back.data(), 1,
                            type, 0, mpi.tag(), MPI_COMM_SELF, MPI_STATUS_IGNORE));
        for (std::size_t i = 0; i < want.size(); ++i)
            if (!equal(mpi, fmt::format("element {} of the array {}", i, who), back[i], want[i])) break;
    }
}
