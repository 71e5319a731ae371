#include "suites/datatype/recipe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace assay::types {
namespace {

// The struct that a C compiler would make of the signature.
definition tidied(layout const& map) {
    std::vector<member> members;
    MPI_Aint at = 0;
    for (auto const& run : map.runs()) {
        auto const aligned = static_cast<MPI_Aint>(run.type->alignment);
        at = (at + aligned - 1) / aligned * aligned;
        members.push_back({static_cast<int>(run.count), at, predefined(run.type->name)});
        at += static_cast<MPI_Aint>(run.count * run.type->size);
    }
    return structure(std::move(members));
}

// One call of a constructor with everything that is to be known of it.
template <class Constructor> recipe of(Constructor how, std::vector<definition> old) {
    recipe r;
    r.combiner = Constructor::combiner();
    static_cast<constructors::contents&>(r) = how.arguments();
    constructors::maps maps;
    for (auto const& o : old) maps.push_back(o.map);
    r.map = how.map(maps);
    r.old = std::move(old);
    r.make = [how](handles const& h, MPI_Datatype* t) { return how.make(h, t); };
    if constexpr (requires { &Constructor::make_c; })
        r.make_c = [how](handles const& h, MPI_Datatype* t) { return how.make_c(h, t); };
    std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> pieces;
    for (auto const& run : r.map.runs())
        pieces.emplace_back(run.offset, run.offset + static_cast<std::ptrdiff_t>(run.count * run.type->size));
    std::sort(pieces.begin(), pieces.end());
    for (std::size_t i = 1; i < pieces.size(); ++i) r.overlapping |= pieces[i].first < pieces[i - 1].second;
    r.map.prepare();
    r.side_by_side = r.map.form() != nullptr;
    r.tidy = tidied(r.map);
    return r;
}

recipe struct_of(std::vector<member> members) {
    auto [how, old] = split(std::move(members));
    return of(std::move(how), std::move(old));
}

// ---- The table

namespace by = constructors;

definition integer() { return predefined("int"); }
definition real() { return predefined("double"); }
// {double, char}: seven bytes of padding after the data, which make the extent a multiple of 8.
definition padded() { return structure({{1, 0, real()}, {1, 8, predefined("char")}}); }
// An int in the middle of 16 bytes; its markers stay in what is made of it.
definition marked() { return resized(-4, 16, integer()); }

// Places of many blocks: 0, 2, 5, 7, 10, 12 … for an even and an odd step in turn.
std::vector<int> places(int n, bool backwards = false) {
    std::vector<int> at;
    for (int i = 0; i < n; ++i) at.push_back(5 * (i / 2) + 2 * (i % 2));
    if (backwards) std::reverse(at.begin(), at.end());
    return at;
}
std::vector<MPI_Aint> places_in_bytes(int n, MPI_Aint unit) {
    std::vector<MPI_Aint> at;
    for (int place : places(n)) at.push_back(place * unit);
    return at;
}
std::vector<int> lengths(int n) { // 1, 2, 0, 1, 2, 0 …
    std::vector<int> all;
    for (int i = 0; i < n; ++i) all.push_back(i % 2 == 0 ? 1 + i / 2 % 2 : 2 * (i / 2 % 2));
    return all;
}
std::vector<member> members(int n) { // doubles, pairs of shorts and chars in turn, a double's size apart
    std::vector<member> all;
    for (int i = 0; i < n; ++i)
        all.push_back({i % 3 == 1 ? 2 : 1, 8 * i, i % 3 == 0 ? real() : predefined(i % 3 == 1 ? "short" : "char")});
    return all;
}

std::vector<axis<recipe>::entry> table() {
    using enum layout::distribution;
    std::vector<axis<recipe>::entry> rows;
    auto const add = [&rows](char const* name, char const* note, recipe r) {
        rows.push_back({{name, note}, std::move(r)});
    };
    auto const dispute = [](recipe r) {
        r.disputed = true;
        return r;
    };
    add("vector", "3 blocks of 2, stride 4", of(by::vector{3, 2, 4}, {integer()}));
    add("contiguous", "5 ints", of(by::contiguous{5}, {integer()}));
    add("contiguous_empty", "no elements", of(by::contiguous{0}, {integer()}));
    add("contiguous_padded", "3 structs with padding", of(by::contiguous{3}, {padded()}));
    add("contiguous_marked", "2 elements with moved bounds", of(by::contiguous{2}, {marked()}));
    add("contiguous_pair", "2 of MPI_DOUBLE_INT", of(by::contiguous{2}, {predefined("double_int")}));
    add("vector_negative", "stride -4: blocks go down", of(by::vector{3, 2, -4}, {integer()}));
    add("vector_dense", "stride equal to block length", of(by::vector{4, 2, 2}, {integer()}));
    add("vector_overlap", "stride below block length", of(by::vector{3, 2, 1}, {integer()}));
    add("vector_same", "stride 0: one block three times", of(by::vector{3, 1, 0}, {integer()}));
    add("vector_no_blocks", "count 0", of(by::vector{0, 2, 3}, {integer()}));
    add("vector_empty_blocks", "block length 0", dispute(of(by::vector{3, 0, 4}, {integer()})));
    add("vector_one_block", "one block: the stride does not matter", of(by::vector{1, 3, 7}, {integer()}));
    add("vector_padded", "of structs with padding", of(by::vector{2, 1, 3}, {padded()}));
    add("vector_marked", "of elements with moved bounds", of(by::vector{2, 2, 3}, {marked()}));
    add("hvector", "3 blocks of 2, stride 20 bytes", of(by::hvector{3, 2, 20}, {integer()}));
    add("hvector_negative", "stride -12 bytes", of(by::hvector{3, 1, -12}, {integer()}));
    add("hvector_overlap", "stride 4 bytes, blocks of 8", of(by::hvector{3, 2, 4}, {integer()}));
    add("hvector_empty", "count 0", of(by::hvector{0, 2, 20}, {integer()}));
    add("hvector_padded", "of structs with padding, stride 40 bytes", of(by::hvector{2, 1, 40}, {padded()}));
    add("hvector_rounded", "doubles 12 bytes apart: the extent is rounded up to 24",
        dispute(of(by::hvector{2, 1, 12}, {real()})));
    add("hvector_marked", "of elements with moved bounds, stride 24 bytes", of(by::hvector{2, 1, 24}, {marked()}));
    add("indexed", "blocks of 2, 1, 3 at 0, 4, 7", of(by::indexed{{2, 1, 3}, {0, 4, 7}}, {integer()}));
    add("indexed_backwards", "displacements fall", of(by::indexed{{1, 2}, {5, 0}}, {integer()}));
    add("indexed_negative", "a negative displacement", of(by::indexed{{1, 1}, {-3, 2}}, {integer()}));
    add("indexed_empty_blocks", "empty blocks far out do not move the bounds",
        of(by::indexed{{0, 2, 0}, {100, 1, -50}}, {integer()}));
    add("indexed_empty", "no blocks", of(by::indexed{{}, {}}, {integer()}));
    add("indexed_overlap", "two blocks share ints", of(by::indexed{{3, 2}, {0, 1}}, {integer()}));
    add("indexed_marked", "of elements with moved bounds", of(by::indexed{{1, 2}, {2, -1}}, {marked()}));
    add("hindexed", "blocks of 1, 2, 1 at byte 4, 12, 28", of(by::hindexed{{1, 2, 1}, {4, 12, 28}}, {integer()}));
    add("hindexed_negative", "a negative displacement", of(by::hindexed{{2, 1}, {-16, 8}}, {integer()}));
    add("hindexed_empty_blocks", "empty blocks far out do not move the bounds",
        of(by::hindexed{{0, 1, 0}, {-800, 8, 800}}, {real()}));
    add("hindexed_rounded", "doubles at byte 0 and 20: the extent is rounded up to 32",
        dispute(of(by::hindexed{{1, 1}, {0, 20}}, {real()})));
    add("hindexed_padded", "of structs with padding", of(by::hindexed{{1, 1}, {0, 24}}, {padded()}));
    add("indexed_block", "blocks of 2 at 1, 5, 8", of(by::indexed_block{2, {1, 5, 8}}, {integer()}));
    add("indexed_block_negative", "a negative displacement", of(by::indexed_block{2, {3, -2}}, {integer()}));
    add("indexed_block_empty_blocks", "block length 0", dispute(of(by::indexed_block{0, {3, 9}}, {integer()})));
    add("indexed_block_empty", "no blocks", of(by::indexed_block{2, {}}, {integer()}));
    add("indexed_block_padded", "of structs with padding", of(by::indexed_block{1, {2, 0}}, {padded()}));
    add("hindexed_block", "blocks of 2 doubles at byte 0, 24, 64", of(by::hindexed_block{2, {0, 24, 64}}, {real()}));
    add("hindexed_block_negative", "a negative displacement", of(by::hindexed_block{1, {8, -24}}, {real()}));
    add("hindexed_block_empty", "no blocks", of(by::hindexed_block{2, {}}, {real()}));
    add("hindexed_block_marked", "of elements with moved bounds", of(by::hindexed_block{1, {0, 20}}, {marked()}));
    add("struct", "{double, char}: the extent is rounded up to 16",
        struct_of({{1, 0, real()}, {1, 8, predefined("char")}}));
    add("struct_gap", "{char, double, short}", // rounded up to 24
        struct_of({{1, 0, predefined("char")}, {1, 8, real()}, {1, 16, predefined("short")}}));
    add("struct_negative", "lower bound -8, extent 13 rounded up to 16",
        struct_of({{1, -8, integer()}, {1, 4, predefined("char")}}));
    add("struct_backwards", "members against the order of their addresses",
        struct_of({{1, 16, integer()}, {1, 0, real()}, {2, 8, predefined("short")}}));
    add("struct_offset", "lower bound 3: data that is not aligned",
        struct_of({{2, 3, predefined("char")}, {1, 5, predefined("char")}}));
    add("struct_empty", "no members", struct_of({}));
    add("struct_empty_blocks", "an empty member neither moves nor aligns the bounds",
        struct_of({{1, 0, integer()}, {0, 64, real()}, {1, 4, predefined("char")}}));
    add("struct_marked", "the markers of one member bound all", // 28 … 44, though there is data at 0
        dispute(struct_of({{1, 0, predefined("char")}, {1, 32, marked()}})));
    add("struct_nested", "a vector and a pair in a struct",
        struct_of({{1, 0, vector(2, 1, 3, integer())}, {2, 16, predefined("short_int")}}));
    add("struct_overlap", "two members at one address",
        struct_of({{1, 0, predefined("int")}, {4, 0, predefined("byte")}}));
    add("resized", "the standard's example: lower bound -3, extent 9", of(by::resized{-3, 9}, {integer()}));
    add("resized_data_outside", "lower bound above the data", of(by::resized{8, 12}, {integer()}));
    add("resized_small", "extent below that of the data", of(by::resized{0, 4}, {vector(2, 1, 2, integer())}));
    add("resized_twice", "earlier markers are erased", of(by::resized{0, 8}, {marked()}));
    add("resized_nothing", "bounds without data", of(by::resized{4, 16}, {contiguous(0, integer())}));
    add("dup", "of a predefined datatype", of(by::dup{}, {integer()}));
    add("dup_padded", "of a struct with padding", of(by::dup{}, {padded()}));
    add("dup_marked", "of moved bounds", of(by::dup{}, {marked()}));
    add("subarray_1d", "3 of 7 from 2", of(by::subarray{{7}, {3}, {2}, true}, {integer()}));
    add("subarray_c", "rows 1..2, columns 2..4 of 4 by 6, C order",
        of(by::subarray{{4, 6}, {2, 3}, {1, 2}, true}, {integer()}));
    add("subarray_fortran", "the same in Fortran order", of(by::subarray{{4, 6}, {2, 3}, {1, 2}, false}, {integer()}));
    add("subarray_3d_c", "an inner block of 3 by 4 by 5, C order",
        of(by::subarray{{3, 4, 5}, {2, 2, 3}, {1, 1, 1}, true}, {real()}));
    add("subarray_3d_fortran", "the same in Fortran order",
        of(by::subarray{{3, 4, 5}, {2, 2, 3}, {1, 1, 1}, false}, {real()}));
    add("subarray_whole", "all of 3 by 4", of(by::subarray{{3, 4}, {3, 4}, {0, 0}, true}, {integer()}));
    add("subarray_last", "the last element of 3 by 4", of(by::subarray{{3, 4}, {1, 1}, {2, 3}, true}, {integer()}));
    add("subarray_padded", "of structs with padding", of(by::subarray{{3, 3}, {2, 2}, {1, 0}, true}, {padded()}));
    add("subarray_marked", "of elements with moved bounds", of(by::subarray{{3, 2}, {2, 1}, {1, 1}, true}, {marked()}));
    add("darray_block", "rank 1 of 2 by 2, blocks of 5 by 6, C order",
        of(by::darray{1, {{5, block, 0, 2}, {6, block, 0, 2}}, true}, {integer()}));
    add("darray_block_fortran", "the same in Fortran order",
        of(by::darray{1, {{5, block, 0, 2}, {6, block, 0, 2}}, false}, {integer()}));
    add("darray_cyclic", "rank 2 of 2 by 2, cyclic(2) by cyclic of 7 by 5, C order",
        of(by::darray{2, {{7, cyclic, 2, 2}, {5, cyclic, 0, 2}}, true}, {integer()}));
    add("darray_none", "rank 1 of 3: cyclic rows, columns whole",
        of(by::darray{1, {{7, cyclic, 0, 3}, {4, none, 0, 1}}, true}, {integer()}));
    add("darray_padded", "of structs with padding", of(by::darray{1, {{5, cyclic, 0, 2}}, true}, {padded()}));
    // More blocks than fit into what libraries keep beside a datatype.
    add("vector_33", "33 blocks of 2, stride 3", of(by::vector{33, 2, 3}, {integer()}));
    add("hvector_65", "65 blocks of 1, stride 24 bytes", of(by::hvector{65, 1, 24}, {real()}));
    add("indexed_5", "5 blocks", of(by::indexed{lengths(5), places(5)}, {integer()}));
    add("indexed_33", "33 blocks", of(by::indexed{lengths(33), places(33)}, {integer()}));
    add("indexed_65", "65 blocks, the last one first", of(by::indexed{lengths(65), places(65, true)}, {integer()}));
    add("hindexed_33", "33 blocks", of(by::hindexed{lengths(33), places_in_bytes(33, 8)}, {real()}));
    add("hindexed_65", "65 blocks of structs with padding",
        of(by::hindexed{lengths(65), places_in_bytes(65, 16)}, {padded()}));
    add("indexed_block_65", "65 blocks", of(by::indexed_block{2, places(65)}, {predefined("short")}));
    add("hindexed_block_33", "33 blocks", of(by::hindexed_block{1, places_in_bytes(33, 4)}, {integer()}));
    add("struct_5", "5 members of three kinds", struct_of(members(5)));
    add("struct_33", "33 members of three kinds", struct_of(members(33)));
    add("struct_65", "65 members of three kinds", struct_of(members(65)));
    add("darray_33", "rank 1 of 2: 33 blocks of one", of(by::darray{1, {{66, cyclic, 0, 2}}, true}, {integer()}));
    return rows;
}

} // namespace

axis<recipe> const& recipes() {
    static axis<recipe> const all("recipe", table());
    return all;
}

axis_use common_recipes() {
    return only(recipes(), [](recipe const& r) { return !r.disputed; });
}
axis_use receivable_recipes() {
    return only(recipes(), [](recipe const& r) { return r.side_by_side && !r.disputed; });
}

axis<binding> const& bindings() {
    static axis<binding> const all(
        "binding", {{{"int", "counts are int"}, binding::small},
                    {{"count", "counts are MPI_Count", needs_procedures({"MPI_Type_contiguous_c"})}, binding::large}});
    return all;
}

constraint has_binding() {
    return where(recipes(), bindings(), [](recipe const& r, binding b) { return b == binding::small || r.make_c; });
}

axis<query> const& queries() {
    static axis<query> const all(
        "query",
        {{{"plain", "int and MPI_Aint results"}, query::plain},
         {{"x", "the deprecated procedures with MPI_Count results", needs_procedures({"MPI_Type_size_x"})}, query::x},
         {{"c", "the binding with MPI_Count results", needs_procedures({"MPI_Type_size_c"})}, query::c}});
    return all;
}

made_type::made_type(test_run& mpi, recipe const& how, binding with, bool commit) : how_(how) {
    for (auto const& o : how.old) old_.push_back(o.make());
    if (std::find(old_.begin(), old_.end(), MPI_DATATYPE_NULL) != old_.end())
        mpi.unsupported("the library lacks a datatype");
    if (!mpi.ok((with == binding::large ? how.make_c : how.make)(old_, &made_))) made_ = MPI_DATATYPE_NULL;
    else if (commit) mpi.ok(MPI_Type_commit(&made_));
}

made_type::~made_type() {
    for (std::size_t i = 0; i < old_.size(); ++i)
        if (is_derived(how_.old[i]) && old_[i] != MPI_DATATYPE_NULL) MPI_Type_free(&old_[i]);
    if (made_ != MPI_DATATYPE_NULL) MPI_Type_free(&made_);
}

own_type::own_type(test_run& mpi, definition const& how) : type_(how.make()), keep_(how.is_predefined) {
    if (!keep_) mpi.ok(MPI_Type_commit(&type_));
}

own_type::~own_type() {
    if (!keep_ && type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

bool equal(test_run& mpi, std::string const& what, std::int64_t got, std::int64_t expected,
           std::source_location where) {
    return got == expected ||
           mpi.check(false, finding::value, fmt::format("{} is {}, expected {}", what, got, expected), where);
}

std::string list(std::vector<std::int64_t> const& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

void expect_bounds(test_run& mpi, MPI_Datatype type, query how, layout const& map, std::string const& what,
                   std::source_location where) {
    std::int64_t size = -7, lb = -7, extent = -7, true_lb = -7, true_extent = -7;
    if (how == query::plain) {
        int s = -7;
        MPI_Aint a = -7, b = -7, c = -7, d = -7;
        mpi.ok(MPI_Type_size(type, &s), where);
        mpi.ok(MPI_Type_get_extent(type, &a, &b), where);
        mpi.ok(MPI_Type_get_true_extent(type, &c, &d), where);
        size = s, lb = a, extent = b, true_lb = c, true_extent = d;
    } else {
        MPI_Count s = -7, a = -7, b = -7, c = -7, d = -7;
        if (how == query::x) {
            mpi.ok(MPI_Type_size_x(type, &s), where);
            mpi.ok(MPI_Type_get_extent_x(type, &a, &b), where);
            mpi.ok(MPI_Type_get_true_extent_x(type, &c, &d), where);
        } else {
            mpi.ok(MPI_Type_size_c(type, &s), where);
            mpi.ok(MPI_Type_get_extent_c(type, &a, &b), where);
            mpi.ok(MPI_Type_get_true_extent_c(type, &c, &d), where);
        }
        size = s, lb = a, extent = b, true_lb = c, true_extent = d;
    }
    equal(mpi, "the size of " + what, size, static_cast<std::int64_t>(map.size()), where);
    if (map.size() == 0) { // a minimum and a maximum over nothing are not defined
        // Blocks of length 0 have no effect on the bounds (section 5.1): they are those of any datatype without elements.
        MPI_Aint empty_lb = map.lb(), empty_extent = map.extent();
        if (!map.has_markers()) {
            MPI_Datatype empty = MPI_DATATYPE_NULL;
            mpi.ok(MPI_Type_contiguous(0, MPI_INT, &empty), where);
            mpi.ok(MPI_Type_get_extent(empty, &empty_lb, &empty_extent), where);
            mpi.ok(MPI_Type_free(&empty), where);
        }
        equal(mpi, "the lower bound of " + what, lb, empty_lb, where);
        equal(mpi, "the extent of " + what, extent, empty_extent, where);
        return;
    }
    equal(mpi, "the lower bound of " + what, lb, map.lb(), where);
    equal(mpi, "the extent of " + what, extent, map.extent(), where);
    equal(mpi, "the true lower bound of " + what, true_lb, map.true_lb(), where);
    equal(mpi, "the true extent of " + what, true_extent, map.true_extent(), where);
}

void expect_refused(test_run& mpi, int code, std::vector<int> const& classes, std::string const& what,
                    std::source_location where) {
    int got = MPI_SUCCESS;
    if (code != MPI_SUCCESS) mpi.ok(MPI_Error_class(code, &got), where);
    if (std::find(classes.begin(), classes.end(), got) == classes.end())
        mpi.check(false, finding::error,
                  fmt::format("{} gives {}, expected {}", what, code == MPI_SUCCESS ? "MPI_SUCCESS" : error_text(code),
                              error_text(classes.front())),
                  where);
}

} // namespace assay::types
