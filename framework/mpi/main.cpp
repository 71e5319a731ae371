// assay-suite: every case of every suite about MPI in one program. By hand: mpiexec -n 4 assay-suite --gtest_filter='p2p.ring/*'.
// Under the runner: --plan=FILE --job=DIR. See docs/formats.md.
#include "framework/mpi/child.hpp"
#include "framework/mpi/engine.hpp"
#include "framework/mpi/library.hpp"
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/subject.hpp"
#include "framework/process/calls.hpp"
#include "framework/process/event_log.hpp"
#include "framework/process/hello.hpp"
#include "framework/process/program.hpp"
#include "framework/process/signals.hpp"
#include "framework/yielding/yielding.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <mpi.h>

namespace {
using namespace assay;

// The level of thread support that the cases need (MPI-5.0 section 11.6.3). Only what they need: more may be slower, and may
// hide what is wrong without it.
int wanted_level(options const& o) {
    bool multiple = o.the_job.threads > 1;
    if (!o.plan_file.empty()) {
        multiple |= plan_needs_threads(o.plan_file);
    } else {
        auto const what = selected_by_hand(o);
        for (auto const& t : all_tests()) multiple |= t.own_threads > 1 && may_reach(what, t);
    }
    return multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

// Without a runner: made by rank 0, removed at the end.
std::string scratch_by_hand(int rank) {
    std::array<char, 4096> path{};
    if (rank == 0) {
        auto const pattern = (std::filesystem::temp_directory_path() / "assay-XXXXXX").string();
        std::copy_n(pattern.data(), std::min(pattern.size(), path.size() - 1), path.data());
        if (mkdtemp(path.data()) == nullptr) throw wrong_use{fmt::format("cannot make the folder {}", pattern)};
    }
    MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    return path.data();
}

int run(options& o, int argc, char** argv) {
    if (!o.own_job.empty()) return run_own_job(o.own_job, o.the_job, o.job_directory, o.plan_file, argc, argv);
    watch_for_death();
    bool const under_runner = o.under_runner();
    int provided = 0, rank = 0;
    int const wanted = wanted_level(o);
    if (wanted == MPI_THREAD_MULTIPLE) yield_among_threads();
    if (MPI_Init_thread(&argc, &argv, wanted, &provided) != MPI_SUCCESS) {
        fmt::print(stderr, "assay-suite: MPI_Init_thread failed\n");
        return 1;
    }
    watch_for_death(); // libraries put their own handlers in place
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &o.the_job.np);
    keep_to_a_core(rank);
    if (o.the_job.threads > 1 && provided < MPI_THREAD_MULTIPLE)
        throw wrong_use{fmt::format("--threads={} needs MPI_THREAD_MULTIPLE; this library provides level {} only",
                                    o.the_job.threads, provided)};

    auto [cases, plan_hash] = cases_to_run(o);
    std::size_t first_case = 0;
    if (under_runner) {
        open_logs(o.job_directory, rank);
        int version = 0, subversion = 0;
        MPI_Get_version(&version, &subversion);
        o.the_job.scratch = scratch_of_job(o.job_directory);
        say_hello({rank, o.the_job.np, plan_hash, o.the_job.seed, library_version(),
                   fmt::format("{}.{}", version, subversion), provided, library_path()});
        first_case = wait_for_go(o.job_directory);
    } else {
        // Without a runner the ranks compare their lists themselves.
        std::uint64_t first = plan_hash;
        MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (first != plan_hash)
            throw wrong_use{
                fmt::format("rank {} has another list of cases than rank 0: give all ranks the same arguments", rank)};
        o.the_job.scratch = scratch_by_hand(rank);
        if (rank == 0)
            fmt::print("assay-suite: {} cases, {} ranks, seed {}, {}\n", cases.size(), o.the_job.np, o.the_job.seed,
                       library_version());
    }
    int failed = 0;
    {
        engine e(o.the_job);
        std::vector<bool> last; // under its setting of a preloaded layer, by index of the case
        for (std::size_t k = 0; k < cases.size(); ++k)
            last.push_back(k + 1 == cases.size() || cases[k + 1].setting != cases[k].setting);
        failed = run_cases(std::move(cases), first_case, o, rank, [&](auto const& c, long index) {
            return e.run(c, index, last[static_cast<std::size_t>(index)]);
        });
        if (!under_runner) {
            int mine = failed;
            MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
        if (under_runner) events().done();
        e.tear_down();
    }
    MPI_Finalize();
    if (std::error_code ignored; !under_runner && rank == 0) std::filesystem::remove_all(o.the_job.scratch, ignored);
    expect_normal_exit();
    if (!under_runner) return failed;
    // The verdicts are in the logs. Some launchers end the other ranks, still in MPI_Finalize, when one exits with 1.
    events().bye();
    return 0;
}

void give_up() {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized != 0) MPI_Abort(MPI_COMM_WORLD, 2);
}

} // namespace

int main(int argc, char** argv) {
    if (int const code = run_as_child(argc, argv); code >= 0) return code;
    return main_of(
        {mpi_library(), "assay-suite",
         "Assay: conformance tests for MPI libraries. Options of GoogleTest (--gtest_filter=…) work as well.",
         fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION), run, give_up},
        argc, argv);
}
