// Plans: which cases, in which order. Made without MPI, the same on every rank for the same arguments.
#pragma once
#include "framework/plan/names.hpp"
#include "framework/plan/registry.hpp"
#include "framework/plan/selection.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// A test at one point; `values` are indices into its axes' full lists of values.
struct planned_case {
    assay::test const* test = nullptr;
    std::vector<std::size_t> values;
    // Of a preloaded layer while the case runs (framework/process/layer.hpp), from the plan file; or "".
    std::string setting;

    std::string name() const;
};

struct unsupported_case {
    std::string name, reason;
};

struct plan {
    std::vector<planned_case> cases;
    std::vector<unsupported_case> unsupported;
};

// Throws wrong_use for an unknown suite, axis, value, profile, a plain name that is no case, and for too many cases.
plan make_plan(selection const& what, job const& j);

// What the profile keeps out of the plan: whole tests (axis and value are then "") and single values of their axes.
struct left_out {
    std::string test, axis, value;
};
std::vector<left_out> left_out_by_profile(selection const& what, job const& j);

// The case of this name, if its values exist and may be combined. Throws wrong_use otherwise.
planned_case case_named(std::string const& name, job const& j);

// Whether the plan file at this path has a case that needs MPI_THREAD_MULTIPLE. False if it cannot be read.
bool plan_needs_threads(std::string const& path);

// Reads a plan file (docs/formats.md section 3). `hash` becomes the XXH3 of its bytes. Throws wrong_use, also where a case
// needs a job of its own and there is no such job.
std::vector<planned_case> read_plan(std::string const& path, job const& j, std::uint64_t& hash, bool own_job = false);

} // namespace assay
