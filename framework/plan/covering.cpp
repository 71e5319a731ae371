#include "framework/plan/covering.hpp"

#include "framework/check/data.hpp"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

// A rule as a table of all combinations of its axes: rules are asked millions of times.
struct table {
    std::vector<std::size_t> axes;
    std::vector<std::size_t> sizes;
    std::vector<bool> allowed;

    table(covering_model::rule const& rule, std::vector<std::size_t> const& all_sizes) : axes(rule.axes) {
        std::size_t total = 1;
        for (auto axis : axes) {
            sizes.push_back(all_sizes[axis]);
            total *= all_sizes[axis];
        }
        allowed.resize(total);
        std::vector<std::size_t> values(axes.size(), 0);
        for (std::size_t flat = 0; flat < total; ++flat) {
            std::size_t rest = flat;
            for (std::size_t i = axes.size(); i-- > 0;) {
                values[i] = rest % sizes[i];
                rest /= sizes[i];
            }
            allowed[flat] = rule.holds(values.data());
        }
    }
};

constexpr std::size_t unset = static_cast<std::size_t>(-1);

class searcher {
public:
    explicit searcher(covering_model const& model) : sizes(model.sizes), by_axis(sizes.size()) {
        for (auto const& rule : model.rules) tables.emplace_back(rule, sizes);
        for (std::size_t t = 0; t < tables.size(); ++t)
            for (auto axis : tables[t].axes) by_axis[axis].push_back(t);
    }

    // Whether no rule that speaks of `axis` and whose axes are all set forbids the row.
    bool consistent(row const& r, std::size_t axis) const {
        for (auto t : by_axis[axis]) {
            auto const& rule = tables[t];
            std::size_t flat = 0;
            bool complete = true;
            for (std::size_t i = 0; i < rule.axes.size() && complete; ++i) {
                auto const value = r[rule.axes[i]];
                complete = value != unset;
                flat = flat * rule.sizes[i] + value;
            }
            if (complete && !rule.allowed[flat]) return false;
        }
        return true;
    }

    // Whether a rule leaves no value for the only one of its axes that is not set: known at once, while a search would
    // try all values of all other axes before it gives up.
    bool hopeless(row r) const {
        for (auto const& rule : tables) {
            if (std::count_if(rule.axes.begin(), rule.axes.end(), [&](auto axis) { return r[axis] == unset; }) != 1)
                continue;
            auto const open =
                *std::find_if(rule.axes.begin(), rule.axes.end(), [&](auto axis) { return r[axis] == unset; });
            bool possible = false;
            for (r[open] = 0; r[open] < sizes[open] && !possible; ++r[open]) possible = consistent(r, open);
            r[open] = unset;
            if (!possible) return true;
        }
        return false;
    }

    std::vector<std::size_t> sizes;

private:
    std::vector<table> tables;
    std::vector<std::vector<std::size_t>> by_axis;
};

// The combinations of one set of axes that no row holds yet.
struct group {
    std::vector<std::size_t> axes;
    std::vector<bool> open;

    std::size_t flat(row const& r, std::vector<std::size_t> const& sizes) const {
        std::size_t index = 0;
        for (auto axis : axes) {
            if (r[axis] == unset) return unset;
            index = index * sizes[axis] + r[axis];
        }
        return index;
    }
};

class builder {
public:
    builder(covering_model const& model, std::size_t strength, std::uint64_t seed)
        : search(model), random(seed), groups_of(model.sizes.size()) {
        std::vector<bool> chosen(model.sizes.size(), false);
        std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(strength), true);
        do {
            group g;
            std::size_t total = 1;
            for (std::size_t axis = 0; axis < chosen.size(); ++axis)
                if (chosen[axis]) {
                    g.axes.push_back(axis);
                    total *= model.sizes[axis];
                }
            g.open.assign(total, true);
            for (auto axis : g.axes) groups_of[axis].push_back(groups.size());
            groups.push_back(std::move(g));
        } while (std::prev_permutation(chosen.begin(), chosen.end()));
        // The largest groups decide the number of rows: build along them.
        order.resize(groups.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [this](auto a, auto b) { return groups[a].open.size() > groups[b].open.size(); });
    }

    std::vector<row> build() {
        std::vector<row> rows;
        for (auto index : order) {
            auto& g = groups[index];
            auto const start = below(g.open.size());
            for (std::size_t step = 0; step < g.open.size(); ++step) {
                auto const flat = (start + step) % g.open.size();
                if (!g.open[flat]) continue;
                row r(search.sizes.size(), unset);
                if (!assign(g, flat, r) || search.hopeless(r) || !fill(r)) {
                    g.open[flat] = false; // no row can hold this combination
                    continue;
                }
                cover(r);
                rows.push_back(std::move(r));
            }
        }
        return rows;
    }

private:
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(splitmix64(random++) % bound); }

    bool assign(group const& g, std::size_t flat, row& r) const {
        for (std::size_t i = g.axes.size(); i-- > 0;) {
            r[g.axes[i]] = flat % search.sizes[g.axes[i]];
            flat /= search.sizes[g.axes[i]];
        }
        return std::all_of(g.axes.begin(), g.axes.end(), [&](auto axis) { return search.consistent(r, axis); });
    }

    // Sets the other axes in a random order, each to the value that covers most; goes back where rules forbid all.
    bool fill(row& r) {
        std::vector<std::size_t> todo;
        for (std::size_t axis = 0; axis < r.size(); ++axis)
            if (r[axis] == unset) todo.push_back(axis);
        for (std::size_t i = todo.size(); i > 1; --i) std::swap(todo[i - 1], todo[below(i)]);
        return fill(r, todo, 0);
    }

    bool fill(row& r, std::vector<std::size_t> const& todo, std::size_t depth) {
        if (depth == todo.size()) return true;
        auto const axis = todo[depth];
        std::vector<std::pair<std::size_t, std::size_t>> candidates; // (gain, value)
        auto const start = below(search.sizes[axis]);
        for (std::size_t step = 0; step < search.sizes[axis]; ++step) {
            r[axis] = (start + step) % search.sizes[axis];
            if (search.consistent(r, axis)) candidates.emplace_back(gain(r, axis), r[axis]);
        }
        std::stable_sort(candidates.begin(), candidates.end(), [](auto a, auto b) { return a.first > b.first; });
        for (auto [unused, value] : candidates) {
            r[axis] = value;
            if (fill(r, todo, depth + 1)) return true;
        }
        r[axis] = unset;
        return false;
    }

    std::size_t gain(row const& r, std::size_t axis) const {
        std::size_t sum = 0;
        for (auto index : groups_of[axis]) {
            auto const flat = groups[index].flat(r, search.sizes);
            if (flat != unset && groups[index].open[flat]) ++sum;
        }
        return sum;
    }

    void cover(row const& r) {
        for (auto& g : groups) g.open[g.flat(r, search.sizes)] = false;
    }

    searcher search;
    std::uint64_t random;
    std::vector<group> groups;
    std::vector<std::vector<std::size_t>> groups_of;
    std::vector<std::size_t> order;
};

void product(searcher const& search, row& r, std::size_t axis, std::function<void(row const&)> const& take,
             std::function<bool(row const&, std::size_t)> const& go_on) {
    if (axis == r.size()) return take(r);
    for (std::size_t value = 0; value < search.sizes[axis]; ++value) {
        r[axis] = value;
        if (search.consistent(r, axis) && go_on(r, axis)) product(search, r, axis + 1, take, go_on);
    }
    r[axis] = unset;
}

} // namespace

void full_product(covering_model const& model, std::function<void(row const&)> const& take,
                  std::function<bool(row const&, std::size_t)> const& go_on) {
    searcher const search(model);
    row r(model.sizes.size(), unset);
    product(search, r, 0, take, go_on);
}

std::vector<row> covering_array(covering_model const& model, std::size_t strength, std::uint64_t seed) {
    if (strength < model.sizes.size()) return builder(model, strength, seed).build();
    std::vector<row> rows;
    full_product(model, [&](row const& r) { rows.push_back(r); });
    return rows;
}

} // namespace assay
