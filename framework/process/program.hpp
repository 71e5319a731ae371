// What every program of tests is: options, lists, GoogleTest running the cases of a plan. What the cases are about, such as
// an MPI library, the program hands to main_of. docs/formats.md section 2.
#pragma once
#include "framework/plan/plan.hpp"
#include "framework/plan/subject.hpp"

#include <functional>
#include <string>
#include <vector>

namespace assay {

struct options {
    std::string list, tier = "quick", plan_file, job_directory, own_job;
    std::vector<std::string> axes;
    selection what;
    job the_job;

    bool under_runner() const { return !job_directory.empty(); }
};

struct program {
    subject const& tested;
    char const* name; // "assay-suite"
    char const* about;
    std::string standard;                        // that its headers follow: "5.0"
    int (*run)(options&, int argc, char** argv); // the cases; its result is the exit code
    void (*give_up)();                           // after wrong use that was found late, when other ranks wait
};

// main of the program. Whatever is wrong with the arguments is one sentence and exit code 2.
int main_of(program const& p, int argc, char** argv);

// By hand, --gtest_filter may select as well.
selection selected_by_hand(options const& o);

// The cases of this start in order, from the plan file or as selected by hand, and what distinguishes this list.
struct listed_cases {
    std::vector<planned_case> cases;
    std::uint64_t hash = 0;
};
listed_cases cases_to_run(options const& o);

// Hands the cases to GoogleTest, chooses who says what (ranks other than 0 only speak of failures), and runs them from `first` on.
// `run` returns the findings of a case. Returns whether one failed.
using case_runner = std::function<std::vector<std::string>(planned_case const&, long index)>;
bool run_cases(std::vector<planned_case> cases, std::size_t first, options const& o, int rank, case_runner const& run);

} // namespace assay
