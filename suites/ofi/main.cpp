// assay-ofi: every case about libfabric's providers. By hand: assay-ofi --np=2 --gtest_filter='ofi.ring/*': it starts its ranks
// itself. Under the runner: --plan=FILE --job=DIR --np=N. See docs/formats.md.
#include "framework/event_log.hpp"
#include "framework/hello.hpp"
#include "framework/names.hpp"
#include "framework/profile.hpp"
#include "framework/program.hpp"
#include "framework/signals.hpp"
#include "suites/ofi/engine.hpp"
#include "suites/ofi/ranks.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <rdma/fabric.h>
#include <unistd.h>

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

namespace {
using namespace assay;

std::string version_text(std::uint32_t version) { return fmt::format("{}.{}", FI_MAJOR(version), FI_MINOR(version)); }

int run(options& o, int, char** argv) {
    if (!o.own_job.empty()) throw wrong_use{"--own-job: no case of assay-ofi needs a job of its own"};
    if (o.the_job.threads > 1) throw wrong_use{"--threads: assay-ofi runs each case in one thread a rank"};
    int const rank = fabric::own_rank();
    if (rank < 0) {
        if (!o.under_runner()) cases_to_run(o); // says what is wrong with the selection once, not once a rank
        int const worst = fabric::start_ranks(o.the_job.np, argv, o.under_runner());
        expect_normal_exit();
        return worst;
    }
    watch_for_death();
    auto [cases, plan_hash] = cases_to_run(o);
    auto const library = fmt::format("libfabric {}", version_text(fi_version()));
    if (o.under_runner()) {
        open_logs(o.job_directory, rank);
        o.the_job.scratch = scratch_of_job(o.job_directory);
        say_hello({rank, o.the_job.np, plan_hash, o.the_job.seed, library, "", -1});
        wait_for_go(o.job_directory);
    } else if (rank == 0) {
        fmt::print("assay-ofi: {} cases, {} ranks, seed {}, {}\n", cases.size(), o.the_job.np, o.the_job.seed, library);
        std::fflush(stdout);
    }
    fabric::engine e(o.the_job, rank);
    bool const failed =
        run_cases(std::move(cases), o, rank, [&e](planned_case const& c, long index) { return e.run(c, index); });
    if (o.under_runner()) events().done();
    expect_normal_exit();
    if (!o.under_runner()) return failed ? 1 : 0;
    events().bye(); // the verdicts are in the logs
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return main_of({"assay-ofi",
                    "Assay: tests of libfabric's providers. Options of GoogleTest (--gtest_filter=…) work as well.",
                    version_text(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)), run, [] {}},
                   argc, argv);
}
