// Covering arrays: few rows in which every feasible combination of `strength` values occurs.
// Greedy, one row at a time, as in AETG (Cohen, Dalal, Fredman, Patton: "The AETG System", IEEE TSE 23(7), 1997).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace assay {

using row = std::vector<std::size_t>; // one value index an axis

struct covering_model {
    struct rule {
        std::vector<std::size_t> axes; // ascending or not; the values are handed over in this order
        std::function<bool(std::size_t const*)> holds;
    };
    std::vector<std::size_t> sizes; // values of each axis, all > 0
    std::vector<rule> rules;
};

// Each feasible combination of values of `strength` axes occurs in at least one row; every row obeys every rule; the
// same model and seed give the same rows. A strength at or above the number of axes gives the full product.
std::vector<row> covering_array(covering_model const& model, std::size_t strength, std::uint64_t seed);

// Calls `take` for each row of the full product that obeys every rule, in lexicographic order. `go_on` may refuse all rows
// that begin as this one up to this axis; it is asked for the axes in turn, as often as the value of one is set.
void full_product(
    covering_model const& model, std::function<void(row const&)> const& take,
    std::function<bool(row const&, std::size_t axis)> const& go_on = [](row const&, std::size_t) { return true; });

} // namespace assay
