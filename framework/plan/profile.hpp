// Profiles: named parts of the suite. A profile has some of the tests, and of their axes some of the values.
#pragma once
#include "framework/plan/registry.hpp"

#include <functional>
#include <string>
#include <vector>

namespace assay {

struct profile {
    std::string name, note;
    std::function<bool(test const&, job const&)> has_test;
    std::function<bool(axis_base const&, std::size_t value, job const&)> has_value;
};

// keller-2008: the communicators, datatypes and counts of Keller's thesis.
// mpi-3.1 … mpi-5.0: what this version of MPI says. Of the axes, the values that need no newer procedure; of the tests,
// those whose requirements are that old. A test that also names newer requirements is in it when these are about values
// that fall away: such a value needs one of their procedures.
std::vector<profile> const& profiles();                // of the subject under test (framework/plan/subject.hpp)
profile const& profile_named(std::string const& name); // throws wrong_use

struct standard_procedure {
    char const *name, *since; // since: the version of MPI that brought it
};
std::vector<standard_procedure> const& procedures_of_the_standard(); // the C procedures of MPI-5.0

} // namespace assay
