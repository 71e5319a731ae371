#include "framework/native/program.hpp"

#include "framework/native/engine.hpp"
#include "framework/native/ranks.hpp"
#include "framework/plan/names.hpp"
#include "framework/plan/profile.hpp"
#include "framework/process/event_log.hpp"
#include "framework/process/hello.hpp"
#include "framework/process/program.hpp"
#include "framework/process/signals.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace assay {

// Profiles and procedures are those of MPI.
std::vector<profile> const& profiles() {
    static std::vector<profile> const none;
    return none;
}
std::vector<standard_procedure> const& procedures_of_the_standard() {
    static std::vector<standard_procedure> const none;
    return none;
}
bool has_procedure(char const* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; }

} // namespace assay

namespace assay::native {
namespace {

subject const* tested = nullptr;

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

int main_of(subject const& about, int argc, char** argv) {
    tested = &about;
    return assay::main_of({about.program, about.about, about.headers, run, [] {}}, argc, argv);
}

} // namespace assay::native
