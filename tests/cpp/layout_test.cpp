// The algebra of type maps against numbers worked out by hand from MPI-5.0 section 5.1.
#include "framework/check/layout.hpp"

#include <gtest/gtest.h>
#include <stdexcept>

namespace assay {
namespace {

basic_type plain_type(char const* name, std::size_t size) {
    basic_type type;
    type.name = name;
    type.size = type.significant = type.alignment = size;
    for (std::size_t k = 0; k < size; ++k) type.keep[k] = 0xff;
    return type;
}
basic_type const int_type = plain_type("int", 4), double_type = plain_type("double", 8),
                 char_type = plain_type("char", 1);

struct run {
    std::ptrdiff_t offset;
    std::size_t count;
    basic_type const* type;
    bool operator==(run const&) const = default;
};
std::vector<run> runs(layout const& map) {
    std::vector<run> list;
    for (auto const& r : map.runs()) list.push_back({r.offset, r.count, r.type});
    return list;
}
void expect_bounds(layout const& map, std::ptrdiff_t lb, std::ptrdiff_t extent, std::ptrdiff_t true_lb,
                   std::ptrdiff_t true_extent) {
    EXPECT_EQ(map.lb(), lb);
    EXPECT_EQ(map.extent(), extent);
    EXPECT_EQ(map.true_lb(), true_lb);
    EXPECT_EQ(map.true_extent(), true_extent);
}
layout ints() { return layout::of(int_type); }

TEST(layout, ofABasicTypeIsOneElement) {
    expect_bounds(ints(), 0, 4, 0, 4);
    EXPECT_EQ(ints().size(), 4u);
    EXPECT_EQ(ints().elements(), 1u);
    EXPECT_TRUE(int_type.plain());
}

TEST(layout, aMillionContiguousIntsAreOneRun) {
    auto const map = layout::contiguous(1000, layout::contiguous(1000, ints()));
    EXPECT_EQ(runs(map), (std::vector<run>{{0, 1000000, &int_type}}));
    expect_bounds(map, 0, 4000000, 0, 4000000);
}

TEST(layout, nothingHasNoEffect) {
    expect_bounds(layout::contiguous(0, layout::resized(ints(), -8, 64)), 0, 0, 0, 0);
    expect_bounds(layout::vector(3, 0, 5, ints()), 0, 0, 0, 0);
    auto const map = layout::structure({0, 1}, {-100, 8}, {layout::resized(ints(), -8, 64), ints()});
    expect_bounds(map, 8, 4, 8, 4);
}

TEST(layout, structExample5_1RoundsUpToTheStrictestAlignment) {
    // {(double, 0), (char, 8)} has extent 16.
    auto const map = layout::structure({1, 1}, {0, 8}, {layout::of(double_type), layout::of(char_type)});
    expect_bounds(map, 0, 16, 0, 9);
    EXPECT_EQ(map.alignment(), 8u);
    EXPECT_EQ(runs(layout::contiguous(2, map)),
              (std::vector<run>{{0, 1, &double_type}, {8, 1, &char_type}, {16, 1, &double_type}, {24, 1, &char_type}}));
}

TEST(layout, resizedExample5_1_6KeepsItsMarkersWhenReplicated) {
    // MPI_INT resized to lb -3, extent 9; two of them: {(lb_marker,-3), (int,0), (int,9), (ub_marker,15)}.
    auto const one = layout::resized(ints(), -3, 9);
    expect_bounds(one, -3, 9, 0, 4);
    auto const two = layout::contiguous(2, one);
    expect_bounds(two, -3, 18, 0, 13);
    EXPECT_EQ(runs(two), (std::vector<run>{{0, 1, &int_type}, {9, 1, &int_type}}));
}

TEST(layout, markersOverrideDataOfOtherMembers) {
    auto const map = layout::structure({1, 1}, {0, 40}, {layout::resized(ints(), -4, 12), ints()});
    expect_bounds(map, -4, 12, 0, 44);
    expect_bounds(layout::resized(map, 0, 48), 0, 48, 0, 44); // replaces the markers
}

TEST(layout, vectorKeepsGapsAndMergesDenseBlocks) {
    auto const map = layout::vector(3, 2, 4, ints());
    EXPECT_EQ(runs(map), (std::vector<run>{{0, 2, &int_type}, {16, 2, &int_type}, {32, 2, &int_type}}));
    expect_bounds(map, 0, 40, 0, 40);
    EXPECT_EQ(runs(layout::vector(4, 2, 2, ints())), (std::vector<run>{{0, 8, &int_type}}));
}

TEST(layout, negativeStrideGivesANegativeLowerBound) {
    auto const map = layout::vector(3, 2, -4, ints());
    EXPECT_EQ(runs(map), (std::vector<run>{{0, 2, &int_type}, {-16, 2, &int_type}, {-32, 2, &int_type}}));
    expect_bounds(map, -32, 40, -32, 40);
    expect_bounds(layout::hvector(2, 1, -100, layout::resized(ints(), -8, 20)), -108, 120, -100, 104);
}

TEST(layout, indexedKeepsTypeMapOrder) {
    auto const map = layout::indexed({1, 0, 2}, {6, 90, 0}, ints());
    EXPECT_EQ(runs(map), (std::vector<run>{{24, 1, &int_type}, {0, 2, &int_type}}));
    expect_bounds(map, 0, 28, 0, 28);
    EXPECT_EQ(runs(layout::hindexed({1, 1}, {4, 8}, ints())), (std::vector<run>{{4, 2, &int_type}}));
}

TEST(layout, pairHasTheCompilersPadding) {
    auto const map = layout::pair(double_type, int_type, 8, 16);
    expect_bounds(map, 0, 16, 0, 12);
    EXPECT_EQ(map.size(), 12u);
    EXPECT_EQ(map.elements(), 2u);
}

TEST(layout, subarrayHasTheBoundsOfTheWholeArray) {
    auto const c = layout::subarray({4, 6}, {2, 3}, {1, 2}, true, ints()); // rows 1..2, columns 2..4
    EXPECT_EQ(runs(c), (std::vector<run>{{32, 3, &int_type}, {56, 3, &int_type}}));
    expect_bounds(c, 0, 96, 32, 36);
    auto const f = layout::subarray({4, 6}, {2, 3}, {1, 2}, false, ints()); // the first index varies fastest
    EXPECT_EQ(runs(f), (std::vector<run>{{36, 2, &int_type}, {52, 2, &int_type}, {68, 2, &int_type}}));
    expect_bounds(f, 0, 96, 36, 40);
}

TEST(layout, darrayDealsBlocks) {
    using enum layout::distribution;
    auto const cyclic_two = layout::darray(1, {{7, cyclic, 2, 2}}, true, ints()); // 0 0 1 1 0 0 1
    EXPECT_EQ(runs(cyclic_two), (std::vector<run>{{8, 2, &int_type}, {24, 1, &int_type}}));
    expect_bounds(cyclic_two, 0, 28, 8, 20);
    auto const blocks = layout::darray(3, {{3, block, 0, 2}, {5, block, 0, 2}}, true, ints()); // row 2, columns 3..4
    EXPECT_EQ(runs(blocks), (std::vector<run>{{52, 2, &int_type}}));
    expect_bounds(blocks, 0, 60, 52, 8);
    auto const nothing = layout::darray(3, {{3, block, 1, 4}}, true, ints()); // 3 elements among 4 processes
    EXPECT_EQ(nothing.size(), 0u);
    EXPECT_EQ(nothing.extent(), 12);
}

TEST(layout, refusesErroneousArguments) {
    EXPECT_THROW(layout::indexed({-1}, {0}, ints()), std::invalid_argument);
    EXPECT_THROW(layout::indexed({1, 1}, {0}, ints()), std::invalid_argument);
    EXPECT_THROW(layout::subarray({4}, {3}, {2}, true, ints()), std::invalid_argument);
    EXPECT_THROW(layout::darray(0, {{10, layout::distribution::block, 2, 4}}, true, ints()), std::invalid_argument);
    EXPECT_THROW(layout::darray(2, {{10, layout::distribution::block, 0, 2}}, true, ints()), std::invalid_argument);
}

} // namespace
} // namespace assay
