#include "framework/plan/plan.hpp"

#include "framework/plan/covering.hpp"
#include "framework/plan/glob_walk.hpp"
#include "framework/plan/profile.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <unordered_set>

namespace assay {
namespace {

std::string lacks(test const& t, job const& j) {
    for (auto const& condition : t.conditions)
        if (auto reason = condition.lacks(j); !reason.empty()) return reason;
    return "";
}

// The covering model of a test over the values that remain, and the way back from row to values.
struct remaining {
    covering_model model;
    std::vector<std::vector<std::size_t>> values; // by axis of the test
    bool empty = false;
};

remaining reduce(test const& t, job const& j, std::vector<std::vector<std::size_t>> values) {
    remaining r;
    r.values = std::move(values);
    for (auto const& of_axis : r.values) {
        r.model.sizes.push_back(of_axis.size());
        r.empty |= of_axis.empty();
    }
    for (auto const& c : t.constraints) {
        covering_model::rule rule;
        for (auto const* axis : c.axes) {
            auto const at =
                std::find_if(t.axes.begin(), t.axes.end(), [&](auto const& use) { return use.axis == axis; });
            if (at != t.axes.end()) rule.axes.push_back(static_cast<std::size_t>(at - t.axes.begin()));
        }
        if (rule.axes.size() != c.axes.size()) continue; // a shared constraint about an axis this test does not cross
        rule.holds = [&c, &j, axes = rule.axes, &all = r.values](std::size_t const* picked) {
            std::vector<std::size_t> global;
            for (std::size_t i = 0; i < axes.size(); ++i) global.push_back(all[axes[i]][picked[i]]);
            return c.holds(global.data(), j);
        };
        r.model.rules.push_back(std::move(rule));
    }
    return r;
}

void plan_test(test const& t, selection const& what, job const& j, plan& result) {
    auto const* profile = what.profile.empty() ? nullptr : &profile_named(what.profile);
    if (!has_wanted_axes(t, what) || (profile && !profile->has_test(t, j))) return;
    if (auto reason = lacks(t, j); !reason.empty()) {
        result.unsupported.push_back({t.full_name(), reason});
        return;
    }
    std::optional<glob_walk> walk;
    if (what.tier == tier::full) walk.emplace(what.selects, t);
    std::vector<std::vector<std::size_t>> values(t.axes.size());
    std::vector<unsupported_case> missing;
    for (std::size_t a = 0; a < t.axes.size(); ++a) {
        auto const& use = t.axes[a];
        auto const restricted = what.axes.find(use.axis->name());
        for (std::size_t v = 0; v < use.axis->size(); ++v) {
            if (use.keep && !use.keep(v)) continue;
            auto const info = use.axis->info(v);
            if (restricted != what.axes.end() && !restricted->second(info.name)) continue;
            if (profile && !profile->has_value(*use.axis, v, j)) continue;
            if (walk && !walk->may_match(a, v)) continue;
            auto const reason = info.lacks ? info.lacks(j) : std::string();
            if (reason.empty()) values[a].push_back(v);
            else
                missing.push_back({fmt::format("{}/{}={}", t.full_name(), use.axis->name(), info.name),
                                   fmt::format("{}={} {}", use.axis->name(), info.name, reason)});
        }
        if (values[a].empty() && missing.empty()) return; // the selection leaves nothing of this test
    }
    auto r = reduce(t, j, std::move(values));
    result.unsupported.insert(result.unsupported.end(), missing.begin(), missing.end());
    if (r.empty) return;
    auto const take = [&](row const& picked) {
        planned_case c{&t, {}, ""};
        for (std::size_t a = 0; a < picked.size(); ++a) c.values.push_back(r.values[a][picked[a]]);
        if (!what.selects.empty() && !selected(what.selects, c.name())) return;
        if (result.cases.size() == what.most)
            throw wrong_use{
                fmt::format("the selection has more than {} cases; ask for fewer with --suite, --select, an "
                            "axis like --count, or a lower --tier",
                            what.most)};
        result.cases.push_back(std::move(c));
    };
    if (walk)
        return full_product(r.model, take, [&](row const& picked, std::size_t axis) {
            return walk->set(axis, r.values[axis][picked[axis]]);
        });
    auto rows = covering_array(r.model, static_cast<std::size_t>(what.tier), j.seed);
    std::sort(rows.begin(), rows.end()); // neighbours share a communicator and mode: reports read in order
    for (auto const& picked : rows) take(picked);
}

} // namespace

plan make_plan(selection const& what, job const& j) {
    check_words(what);
    plan made;
    std::vector<std::string> plain_names;
    for (auto const& glob : what.selects)
        if (!is_pattern(glob) && !glob.starts_with('^')) plain_names.push_back(glob);
    if (what.selects.empty() || plain_names.size() < what.selects.size()) {
        for (auto const& t : all_tests())
            if (may_reach(what, t)) plan_test(t, what, j, made);
    }
    if (what.selects.empty()) return made;
    std::erase_if(made.unsupported, [&](auto const& u) { return !selected(what.selects, u.name); });
    std::unordered_set<std::string> seen;
    if (!plain_names.empty())
        for (auto const& c : made.cases) seen.insert(c.name());
    for (auto const& plain : plain_names) {
        if (seen.count(plain) != 0) continue;
        auto c = case_named(plain, j);
        std::string reason = lacks(*c.test, j);
        for (std::size_t a = 0; a < c.values.size() && reason.empty(); ++a) {
            auto const info = c.test->axes[a].axis->info(c.values[a]);
            if (info.lacks)
                if (reason = info.lacks(j); !reason.empty())
                    reason = fmt::format("{}={} {}", c.test->axes[a].axis->name(), info.name, reason);
        }
        if (reason.empty()) made.cases.push_back(std::move(c));
        else made.unsupported.push_back({plain, reason});
    }
    return made;
}

std::vector<left_out> left_out_by_profile(selection const& what, job const& j) {
    check_words(what);
    std::vector<left_out> found;
    if (what.profile.empty()) return found;
    auto const& profile = profile_named(what.profile);
    for (auto const& t : all_tests()) {
        if (!may_reach(what, t) || !has_wanted_axes(t, what)) continue;
        if (!profile.has_test(t, j)) {
            found.push_back({t.full_name(), "", ""});
            continue;
        }
        for (auto const& use : t.axes)
            for (std::size_t v = 0; v < use.axis->size(); ++v)
                if ((!use.keep || use.keep(v)) && !profile.has_value(*use.axis, v, j))
                    found.push_back({t.full_name(), use.axis->name(), use.axis->name_of(v)});
    }
    return found;
}

} // namespace assay
