// From a case to its name and back.
#include "framework/plan/plan.hpp"
#include "framework/plan/selection.hpp"

#include <fmt/format.h>
#include <unordered_map>

namespace assay {

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

} // namespace assay
