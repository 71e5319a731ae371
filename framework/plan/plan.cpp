#include "framework/plan/plan.hpp"

#include "framework/plan/covering.hpp"
#include "framework/plan/profile.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <xxhash.h>

namespace assay {
namespace {

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

std::vector<std::string> suite_names() {
    std::vector<std::string> names;
    for (auto const& t : all_tests())
        if (names.empty() || names.back() != t.suite) names.push_back(t.suite);
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

// What globs let through of the full product of a test, which can be far too large to be made first and selected from
// afterwards: told for a value alone and, on a walk through the axes, for a case of which only the first values are set.
class glob_walk {
    using places = pattern_reader::places;

public:
    glob_walk(std::vector<std::string> const& selects, test const& t) {
        for (auto const& use : t.axes) {
            auto& pieces = pieces_.emplace_back(); // of names
            for (std::size_t v = 0; v < use.axis->size(); ++v)
                pieces.push_back("/" + use.axis->name() + "=" + use.axis->name_of(v));
            may_.emplace_back(pieces.size(), false);
        }
        for (auto const& select : selects) {
            if (select.starts_with('^')) continue;
            all_ = false;
            glob g{pattern_reader(select), {}, {}};
            look_ahead(g, t.full_name());
            if (g.good[0].empty()) continue;
            for (auto const& pieces : pieces_) g.steps.emplace_back(pieces.size());
            globs_.push_back(std::move(g));
        }
        at_.assign(t.axes.size() + 1, std::vector<places>(globs_.size()));
        for (std::size_t g = 0; g < globs_.size(); ++g) at_[0][g] = globs_[g].good[0];
    }

    // Whether a case with this value, and any values of the other axes, can match.
    bool may_match(std::size_t axis, std::size_t value) const { return all_ || may_[axis][value]; }

    // The same with the values that were last set of the axes before.
    bool set(std::size_t axis, std::size_t value) {
        bool any = all_;
        for (std::size_t g = 0; g < globs_.size(); ++g) {
            auto const& from = at_[axis][g];
            auto& last = globs_[g].steps[axis][value]; // mostly from where it was asked last
            if (last.from != from) {
                last.from = from;
                last.to.clear();
                auto const to = globs_[g].reader.after(from, pieces_[axis][value]);
                auto const& good = globs_[g].good[axis + 1];
                std::set_intersection(to.begin(), to.end(), good.begin(), good.end(), std::back_inserter(last.to));
            }
            at_[axis + 1][g] = last.to;
            any |= !last.to.empty();
        }
        return any;
    }

private:
    struct step {
        places from, to;
    };
    struct glob {
        pattern_reader reader;
        std::vector<places> good; // before each axis and behind the last: places from which some rest leads to the end
        std::vector<std::vector<step>> steps; // by axis and value
    };

    void look_ahead(glob& g, std::string const& test_name) {
        auto const axes = pieces_.size();
        std::vector<places> before{g.reader.after(g.reader.start(), test_name)}; // that some values lead to
        for (auto const& pieces : pieces_) {
            std::set<std::size_t> next;
            for (auto const& piece : pieces)
                for (auto const place : g.reader.after(before.back(), piece)) next.insert(place);
            before.emplace_back(next.begin(), next.end());
        }
        g.good.assign(axes + 1, {});
        g.good[axes] = {g.reader.end()};
        for (auto a = axes; a-- > 0;)
            for (auto const place : before[a]) {
                bool leads_on = false;
                for (std::size_t v = 0; v < pieces_[a].size(); ++v) {
                    auto const to = g.reader.after({place}, pieces_[a][v]);
                    auto const& good = g.good[a + 1];
                    if (std::find_first_of(to.begin(), to.end(), good.begin(), good.end()) == to.end()) continue;
                    leads_on = may_[a][v] = true;
                }
                if (leads_on) g.good[a].push_back(place);
            }
    }

    bool all_ = true; // no glob, or only such that exclude
    std::vector<std::vector<std::string>> pieces_;
    std::vector<std::vector<bool>> may_;
    std::vector<glob> globs_;             // that can match at all
    std::vector<std::vector<places>> at_; // by number of axes that are set, and by glob
};

// A test without an axis of which values were asked for was not asked for itself.
bool has_wanted_axes(test const& t, selection const& what) {
    for (auto const& [axis_name, words] : what.axes)
        if (words.wants_some() && std::none_of(t.axes.begin(), t.axes.end(),
                                               [&n = axis_name](auto const& use) { return use.axis->name() == n; }))
            return false;
    return true;
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

std::string planned_case::name() const {
    std::string text;
    text.reserve(160); // asked for in every case: one allocation
    text += test->suite;
    text += '.';
    text += test->name;
    for (std::size_t a = 0; a < values.size(); ++a) {
        auto const& axis = *test->axes[a].axis;
        text += '/';
        text += axis.name();
        text += '=';
        text += axis.name_of(values[a]);
    }
    return text;
}

profile const& profile_named(std::string const& name) {
    std::vector<std::string> names;
    for (auto const& p : profiles()) {
        if (p.name == name) return p;
        names.push_back(p.name);
    }
    throw wrong_use{fmt::format("unknown profile '{}'; there are {}", name, fmt::join(names, ", "))};
}

tier tier_named(std::string const& name) {
    static std::map<std::string, tier> const tiers = {
        {"smoke", tier::smoke}, {"quick", tier::quick}, {"standard", tier::standard}, {"full", tier::full}};
    if (auto const found = tiers.find(name); found != tiers.end()) return found->second;
    throw wrong_use{
        fmt::format("unknown tier '{}'; {}", name, suggestion(name, {"smoke", "quick", "standard", "full"}))};
}

planned_case case_named(std::string const& name, job const& j) {
    // Looked up once for each case of a plan: indices instead of searches.
    static std::unordered_map<std::string, test const*> const tests = [] {
        std::unordered_map<std::string, test const*> map;
        for (auto const& t : all_tests()) map.emplace(t.full_name(), &t);
        return map;
    }();
    static std::unordered_map<axis_base const*, std::unordered_map<std::string, std::size_t>> const values = [] {
        std::unordered_map<axis_base const*, std::unordered_map<std::string, std::size_t>> map;
        for (auto const* axis : all_axes())
            for (std::size_t v = 0; v < axis->size(); ++v) map[axis].emplace(axis->info(v).name, v);
        return map;
    }();
    auto const parts = split(name, '/');
    auto const found = tests.find(parts[0]);
    if (found == tests.end()) {
        std::vector<std::string> known;
        for (auto const& t : all_tests()) known.push_back(t.full_name());
        throw wrong_use{fmt::format("there is no test \"{}\"; {}", parts[0], suggestion(parts[0], known))};
    }
    planned_case c{found->second, {}, ""};
    if (parts.size() != c.test->axes.size() + 1) {
        std::vector<std::string> axes;
        for (auto const& use : c.test->axes) axes.push_back(use.axis->name() + "=…");
        throw wrong_use{fmt::format("\"{}\" is not the full name of a case; the axes of {} are {}", name, parts[0],
                                    fmt::join(axes, "/"))};
    }
    for (std::size_t a = 0; a < c.test->axes.size(); ++a) {
        auto const& use = c.test->axes[a];
        auto const equals = parts[a + 1].find('=');
        if (equals == std::string::npos || parts[a + 1].substr(0, equals) != use.axis->name())
            throw wrong_use{
                fmt::format("\"{}\": expected {}=… where it says \"{}\"", name, use.axis->name(), parts[a + 1])};
        auto const word = parts[a + 1].substr(equals + 1);
        auto const& of_axis = values.at(use.axis);
        auto const found_value = of_axis.find(word);
        auto const value = found_value != of_axis.end() ? found_value->second : use.axis->value_named(word);
        if (value == use.axis->size() || (use.keep && !use.keep(value)))
            throw wrong_use{fmt::format("\"{}\": {} has no {}={}; {}", name, parts[0], use.axis->name(), word,
                                        suggestion(word, value_names(*use.axis)))};
        c.values.push_back(value);
    }
    for (auto const& rule : c.test->constraints) {
        std::vector<std::size_t> picked;
        for (auto const* axis : rule.axes)
            for (std::size_t a = 0; a < c.test->axes.size(); ++a)
                if (c.test->axes[a].axis == axis) picked.push_back(c.values[a]);
        if (picked.size() == rule.axes.size() && !rule.holds(picked.data(), j))
            throw wrong_use{fmt::format("\"{}\" combines values that cannot be combined (see {}:{})", name,
                                        c.test->file, c.test->line)};
    }
    return c;
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

bool plan_needs_threads(std::string const& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        for (auto const& t : all_tests())
            if (t.own_threads > 1 && line.substr(0, line.find_first_of("/ ")) == t.full_name()) return true;
    return false;
}

std::vector<planned_case> read_plan(std::string const& path, job const& j, std::uint64_t& hash, bool own_job) {
    std::ifstream file(path, std::ios::binary);
    std::string const bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file.good() && !file.eof()) throw wrong_use{fmt::format("cannot read the plan {}", path)};
    hash = XXH3_64bits(bytes.data(), bytes.size());
    std::string_view rest(bytes);
    if (!rest.starts_with("assay-plan 1 "))
        throw wrong_use{fmt::format("{} is not a plan: its first line must begin with \"assay-plan 1\"", path)};
    std::vector<planned_case> cases;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    while (!rest.empty()) {
        auto const end = std::min(rest.find('\n'), rest.size());
        if (end > 0) {
            auto const line = rest.substr(0, end);
            auto const space = std::min(line.find(' '), line.size());
            cases.push_back(case_named(std::string(line.substr(0, space)), j));
            cases.back().setting = line.substr(std::min(space + 1, line.size()));
        }
        if (end > 0 && cases.back().test->own_job && !own_job)
            throw wrong_use{
                fmt::format("{} needs a job of its own: --own-job={}", rest.substr(0, end), rest.substr(0, end))};
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return cases;
}

} // namespace assay
