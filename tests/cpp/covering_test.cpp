// Covering arrays against an enumeration by brute force that shares no code with them.
#include "framework/plan/covering.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <tuple>

namespace assay {
namespace {

bool obeys(covering_model const& model, row const& r) {
    for (auto const& rule : model.rules) {
        row picked;
        for (auto axis : rule.axes) picked.push_back(r[axis]);
        if (!rule.holds(picked.data())) return false;
    }
    return true;
}

// All rows that obey the rules, counted up like an odometer.
std::vector<row> feasible_rows(covering_model const& model) {
    std::vector<row> rows;
    row r(model.sizes.size(), 0);
    while (true) {
        if (obeys(model, r)) rows.push_back(r);
        std::size_t axis = r.size();
        while (axis > 0 && ++r[axis - 1] == model.sizes[axis - 1]) r[--axis] = 0;
        if (axis == 0) return rows;
    }
}

// The combinations of `strength` values that occur in some row: sets of (axis, value).
using combination = std::vector<std::pair<std::size_t, std::size_t>>;
void combinations_of(row const& r, std::size_t strength, std::size_t from, combination& begun,
                     std::set<combination>& found) {
    if (begun.size() == strength) {
        found.insert(begun);
        return;
    }
    for (std::size_t axis = from; axis < r.size(); ++axis) {
        begun.emplace_back(axis, r[axis]);
        combinations_of(r, strength, axis + 1, begun, found);
        begun.pop_back();
    }
}
std::set<combination> combinations(std::vector<row> const& rows, std::size_t strength) {
    std::set<combination> found;
    combination begun;
    for (auto const& r : rows) combinations_of(r, strength, 0, begun, found);
    return found;
}

// Five axes with rules over one, two and three of them, given in any order.
covering_model constrained() {
    covering_model model{{4, 3, 5, 2, 6}, {}};
    model.rules.push_back({{0, 1}, [](std::size_t const* v) { return v[0] != 0 || v[1] == 0; }});
    model.rules.push_back({{4, 2}, [](std::size_t const* v) { return (v[0] + v[1]) % 3 != 0; }});
    model.rules.push_back({{1, 3, 4}, [](std::size_t const* v) { return !(v[0] == 2 && v[1] == 1 && v[2] > 3); }});
    model.rules.push_back({{2}, [](std::size_t const* v) { return v[0] != 4; }}); // a value that can never be used
    return model;
}
covering_model free_model() { return {{7, 3, 3, 2, 5}, {}}; }

class covering : public testing::TestWithParam<std::tuple<bool, std::size_t>> {};

TEST_P(covering, coversEveryFeasibleCombinationAndBreaksNoRule) {
    auto const [rules, strength] = GetParam();
    auto const model = rules ? constrained() : free_model();
    auto const feasible = feasible_rows(model);
    auto const wanted = combinations(feasible, strength);
    for (std::uint64_t seed : {1u, 2u, 99u}) {
        auto const rows = covering_array(model, strength, seed);
        for (auto const& r : rows) ASSERT_TRUE(obeys(model, r));
        EXPECT_EQ(combinations(rows, strength), wanted) << "seed " << seed;
        EXPECT_LT(rows.size(), feasible.size());
        EXPECT_EQ(std::set<row>(rows.begin(), rows.end()).size(), rows.size()) << "a row twice";
    }
}
INSTANTIATE_TEST_SUITE_P(strengths, covering,
                         testing::Combine(testing::Bool(),
                                          testing::Values(std::size_t{1}, std::size_t{2}, std::size_t{3})));

TEST(covering_array, isTheSameForASeedAndAnotherForAnother) {
    auto const model = constrained();
    EXPECT_EQ(covering_array(model, 2, 7), covering_array(model, 2, 7));
    EXPECT_NE(covering_array(model, 2, 7), covering_array(model, 2, 8));
}

TEST(covering_array, isSmall) {
    // 10 × 10 pairs need 100 rows; greedy needs little more. 3^4 has an orthogonal array of 9 rows.
    EXPECT_LE(covering_array({{10, 10, 4, 4, 3}, {}}, 2, 1).size(), 130u);
    EXPECT_LE(covering_array({{3, 3, 3, 3}, {}}, 2, 1).size(), 14u);
    EXPECT_EQ(covering_array({{9, 4, 2}, {}}, 1, 1).size(), 9u); // each value at least once: the largest axis decides
}

TEST(covering_array, isTheProductFromTheNumberOfAxesOn) {
    auto const model = constrained();
    auto const feasible = feasible_rows(model);
    for (std::size_t strength : {std::size_t{5}, std::size_t{6}, std::size_t{99}}) {
        auto rows = covering_array(model, strength, 1);
        std::sort(rows.begin(), rows.end());
        EXPECT_EQ(rows, feasible);
    }
}

TEST(covering_array, ofContradictoryRulesIsEmpty) {
    covering_model model{{2, 2, 2}, {}};
    model.rules.push_back({{0}, [](std::size_t const* v) { return v[0] == 0; }});
    model.rules.push_back({{0, 1}, [](std::size_t const* v) { return v[0] == 1 && v[1] == 1; }});
    EXPECT_TRUE(covering_array(model, 2, 1).empty());
}

TEST(full_product, goesThroughTheRowsInLexicographicOrder) {
    auto const model = constrained();
    std::vector<row> rows;
    full_product(model, [&](row const& r) { rows.push_back(r); });
    EXPECT_EQ(rows, feasible_rows(model));
}

TEST(full_product, leavesOutWhatBeginsAsOneThatIsRefused) {
    auto const model = constrained();
    std::vector<row> rows, wanted;
    full_product(
        model, [&](row const& r) { rows.push_back(r); },
        [&](row const& r, std::size_t axis) {
            EXPECT_FALSE(axis == 2 && r[0] == 1 && r[1] == 0) << "was refused";
            return !(axis == 1 && r[0] == 1 && r[1] == 0);
        });
    for (auto const& r : feasible_rows(model))
        if (r[0] != 1 || r[1] != 0) wanted.push_back(r);
    EXPECT_LT(wanted.size(), feasible_rows(model).size());
    EXPECT_EQ(rows, wanted);
}

} // namespace
} // namespace assay
