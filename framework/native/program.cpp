#include "framework/native/program.hpp"

#include "framework/native/engine.hpp"
#include "framework/native/ranks.hpp"
#include "framework/native/run.hpp"
#include "framework/plan/names.hpp"
#include "framework/plan/profile.hpp"
#include "framework/process/event_log.hpp"
#include "framework/process/hello.hpp"
#include "framework/process/program.hpp"
#include "framework/process/signals.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace assay::native {
namespace {

tested_framework const* tested = nullptr;

// Profiles and procedures are those of MPI, and no framework has memory of its own.
constexpr subject about_framework{
    [](char const* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; },
    [](std::size_t) -> void* { return nullptr; },
    [](void*) {},
    []() -> std::vector<profile> const& {
        static std::vector<profile> const none;
        return none;
    },
    []() -> std::vector<standard_procedure> const& {
        static std::vector<standard_procedure> const none;
        return none;
    },
};

int run(options& o, int, char** argv) {
    if (!o.own_job.empty())
        throw wrong_use{fmt::format("--own-job: no case of {} needs a job of its own", tested->program)};
    if (o.the_job.threads > 1)
        throw wrong_use{fmt::format("--threads: {} runs each case in one thread a rank", tested->program)};
    int const rank = own_rank();
    if (rank < 0) {
        if (!o.under_runner()) cases_to_run(o); // says what is wrong with the selection once, not once a rank
        int const worst = start_ranks(o.the_job.np, argv, o.under_runner());
        expect_normal_exit();
        return worst;
    }
    watch_for_death();
    auto [cases, plan_hash] = cases_to_run(o);
    std::size_t first_case = 0;
    auto const library = tested->library();
    if (o.under_runner()) {
        open_logs(o.job_directory, rank);
        o.the_job.scratch = scratch_of_job(o.job_directory);
        say_hello({rank, o.the_job.np, plan_hash, o.the_job.seed, library, "", -1});
        first_case = wait_for_go(o.job_directory);
    } else if (rank == 0) {
        fmt::print("{}: {} cases, {} ranks, seed {}, {}\n", tested->program, cases.size(), o.the_job.np, o.the_job.seed,
                   library);
        std::fflush(stdout);
    }
    engine e(o.the_job, rank);
    bool const failed = run_cases(std::move(cases), first_case, o, rank,
                                  [&e](planned_case const& c, long index) { return e.run(c, index); });
    if (o.under_runner()) events().done();
    expect_normal_exit();
    if (!o.under_runner()) return failed ? 1 : 0;
    events().bye(); // the verdicts are in the logs
    return 0;
}

} // namespace

std::string error_text(ssize_t code) { return tested->error_text(code); }

int main_of(tested_framework const& about, int argc, char** argv) {
    tested = &about;
    return assay::main_of({about_framework, about.program, about.about, about.headers, run, [] {}}, argc, argv);
}

} // namespace assay::native
