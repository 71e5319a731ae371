#include "framework/plan/selection.hpp"

#include "framework/plan/profile.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace assay {
namespace {

std::vector<std::string> suite_names() {
    std::vector<std::string> names;
    for (auto const& t : all_tests())
        if (names.empty() || names.back() != t.suite) names.push_back(t.suite);
    return names;
}

} // namespace

std::string suggestion(std::string const& word, std::vector<std::string> const& known) {
    auto const close = near(word, known);
    if (!close.empty()) return fmt::format("did you mean {}?", fmt::join(close, " or "));
    constexpr std::size_t most = 12;
    if (known.size() <= most) return fmt::format("there are {}", fmt::join(known, ", "));
    return fmt::format("there are {} and others", fmt::join(known.begin(), known.begin() + most, ", "));
}

std::vector<std::string> value_names(axis_base const& axis) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < axis.size(); ++i) names.push_back(axis.info(i).name);
    return names;
}

void check_words(selection const& what) {
    auto const suites = suite_names();
    for (auto const& word : what.suites.words())
        if (std::none_of(suites.begin(), suites.end(), [&](auto const& s) { return matches(word, s); }))
            throw wrong_use{fmt::format("unknown suite '{}'; {}", word, suggestion(word, suites))};
    if (!what.profile.empty()) profile_named(what.profile);
    auto const axes = all_axes();
    for (auto const& [name, words] : what.axes) {
        std::vector<std::string> values, names;
        bool found = false;
        for (auto const* axis : axes) {
            if (names.empty() || names.back() != axis->name()) names.push_back(axis->name());
            if (axis->name() != name) continue;
            found = true;
            for (auto const& word : words.words()) axis->value_named(word); // an axis of numbers takes any
            auto const more = value_names(*axis);
            values.insert(values.end(), more.begin(), more.end());
        }
        std::sort(values.begin(), values.end()); // several axes may have this name
        values.erase(std::unique(values.begin(), values.end()), values.end());
        if (!found) throw wrong_use{fmt::format("unknown axis '{}'; {}", name, suggestion(name, names))};
        for (auto const& word : words.words())
            if (std::none_of(values.begin(), values.end(), [&](auto const& v) { return matches(word, v); }))
                throw wrong_use{fmt::format("unknown {} '{}'; {}", name, word, suggestion(word, values))};
    }
}

bool selected(std::vector<std::string> const& selects, std::string const& name) {
    bool any_wanted = false, hit = false;
    for (auto const& glob : selects) {
        if (glob.starts_with('^')) {
            if (matches(glob.substr(1), name)) return false;
            continue;
        }
        any_wanted = true;
        hit = hit || matches(glob, name);
    }
    return hit || !any_wanted;
}

bool may_reach(selection const& what, test const& t) {
    if (!what.suites(t.suite)) return false;
    auto const name = t.full_name() + (t.axes.empty() ? "" : "/");
    bool wanted = true;
    for (auto const& glob : what.selects) {
        if (glob.starts_with('^')) continue;
        // What stands before the first wildcard is in every name that matches.
        auto const fixed = std::string_view(glob).substr(0, glob.find_first_of("*?["));
        auto const common = std::min(fixed.size(), name.size());
        wanted = fixed.substr(0, common) == std::string_view(name).substr(0, common);
        if (wanted) break;
    }
    return wanted;
}

bool has_wanted_axes(test const& t, selection const& what) {
    for (auto const& [axis_name, words] : what.axes)
        if (words.wants_some() && std::none_of(t.axes.begin(), t.axes.end(),
                                               [&n = axis_name](auto const& use) { return use.axis->name() == n; }))
            return false;
    return true;
}

tier tier_named(std::string const& name) {
    static std::map<std::string, tier> const tiers = {
        {"smoke", tier::smoke}, {"quick", tier::quick}, {"standard", tier::standard}, {"full", tier::full}};
    if (auto const found = tiers.find(name); found != tiers.end()) return found->second;
    throw wrong_use{
        fmt::format("unknown tier '{}'; {}", name, suggestion(name, {"smoke", "quick", "standard", "full"}))};
}

} // namespace assay
