// What a user asks for: a tier, suites, values of axes, globs of case names.
#pragma once
#include "framework/plan/names.hpp"
#include "framework/plan/registry.hpp"

#include <map>
#include <string>
#include <vector>

namespace assay {

enum class tier { smoke = 1, quick = 2, standard = 3, full = 99 }; // the strength of the covering array
tier tier_named(std::string const& name);

struct selection {
    assay::tier tier = assay::tier::quick;
    std::string profile; // "" or the name of one (framework/plan/profile.hpp)
    pick suites;
    std::map<std::string, pick> axes; // by name of the axis
    std::vector<std::string> selects; // globs; ^ excludes; a plain name comes from the full product
    std::size_t most = 10'000'000;    // cases: the product of all axes of all tests fits no memory
};

// Throws wrong_use for a suite, an axis, a value or a profile that does not exist.
void check_words(selection const& what);

// Whether the selection may reach a case of this test: by its suites and by how its globs begin.
bool may_reach(selection const& what, test const& t);

// A test without an axis of which values were asked for was not asked for itself.
bool has_wanted_axes(test const& t, selection const& what);

// Whether globs let this name through: at least one that selects, if there is one, and none that excludes.
bool selected(std::vector<std::string> const& selects, std::string const& name);

// For the end of an error message: the known words that look most like this one, or some of all.
std::string suggestion(std::string const& word, std::vector<std::string> const& known);
std::vector<std::string> value_names(axis_base const& axis);

} // namespace assay
