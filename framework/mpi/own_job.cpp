#include "framework/mpi/own_job.hpp"

#include "framework/mpi/library.hpp"

#include "framework/process/calls.hpp"
#include "framework/process/event_log.hpp"
#include "framework/process/hello.hpp"
#include "framework/process/signals.hpp"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace assay {
namespace {

main_arguments of_main;
bool end_was_announced = false;

// The number of this process in the job, for its log. MPI does not say it before it is initialized: the launcher may have
// put it into the environment. Else the order in which they come will do: the file that this process can make is its own.
int take_number(std::string const& directory, int size) {
    auto const taken = [&directory](int number) {
        auto const path = fmt::format("{}/rank-{}.events", directory, number);
        int const fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0) close(fd);
        return fd < 0;
    };
    for (auto const* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
        if (auto const* text = std::getenv(name); text != nullptr && *text >= '0' && *text <= '9')
            if (int const number = std::atoi(text); number < size && !taken(number)) return number;
    for (int number = 0; number < size; ++number)
        if (!taken(number)) return number;
    throw wrong_use{fmt::format("there are more than the {} processes that --np says", size)};
}

} // namespace

main_arguments const& arguments_of_main() { return of_main; }

void announce_end(int code) {
    end_was_announced = true;
    events().announce_end(code);
}

bool succeeded(test_run& mpi, int code, std::source_location where) {
    return mpi.check(code == MPI_SUCCESS, finding::return_, fmt::format("{} returned code {}", last_call.name, code),
                     where);
}

void was_initialized() { watch_for_death(); }

world_place initialize(test_run& mpi, std::source_location where) {
    world_place place;
    succeeded(mpi, MPI_Init(of_main.count, of_main.words), where);
    was_initialized();
    for (auto comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
        succeeded(mpi, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), where);
    succeeded(mpi, MPI_Comm_rank(MPI_COMM_WORLD, &place.rank), where);
    succeeded(mpi, MPI_Comm_size(MPI_COMM_WORLD, &place.size), where);
    return place;
}

bool finalize(test_run& mpi, std::source_location where) { return succeeded(mpi, MPI_Finalize(), where); }

int run_own_job(std::string const& case_name, job the_job, std::string const& job_directory,
                std::string const& plan_file, int argc, char** argv) {
    of_main = {&argc, &argv};
    bool const under_runner = !job_directory.empty();
    auto const c = case_named(case_name, the_job);
    if (!c.test->own_job) throw wrong_use{fmt::format("{} needs no job of its own: use --gtest_filter", case_name)};
    for (auto const& use : c.test->axes)
        if (use.axis == &comm_axis() || use.axis == &type_axis())
            throw wrong_use{fmt::format("{} crosses {}, which needs MPI_Init: a test with a job of its own cannot",
                                        c.test->full_name(), use.axis->name())};
    watch_for_death();
    std::string made;
    if (under_runner) {
        greeting hello;
        read_plan(plan_file, the_job, hello.plan, true);
        hello.rank = take_number(job_directory, the_job.np);
        hello.size = the_job.np;
        hello.seed = the_job.seed;
        hello.library_path = library_path();
        open_logs(job_directory, hello.rank);
        the_job.scratch = scratch_of_job(job_directory);
        say_hello(hello);
        wait_for_go(job_directory);
    } else {
        auto pattern = (std::filesystem::temp_directory_path() / "assay-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) throw wrong_use{fmt::format("cannot make the folder {}", pattern)};
        the_job.scratch = made = pattern; // one a process: they cannot tell each other its name
    }
    recorder findings;
    membership place;
    place.size = the_job.np;
    MPI_Comm const none = MPI_COMM_NULL;
    std::unique_ptr<memory_pool> const pool = std::make_unique<memory_pool>();
    std::string unsupported;
    events().begin(0);
    findings.memory = requirement("terms.memory");
    findings.begin(0, c.test->rests_on);
    {
        test_run mpi(
            {the_job, c, findings, none, place, MPI_DATATYPE_NULL, case_key(c, the_job), 0, 0, {&pool, 1}, {&none, 1}});
        unsupported = run_body(findings, 0, [&] { c.test->body(mpi); });
        if (end_was_announced && unsupported.empty())
            mpi.check(false, finding::end, "the process goes on, though the job had to be ended");
    }
    bool const failed = findings.failed(the_job.strict);
    events().end(0, !unsupported.empty() ? 'u' : failed ? 'f' : 'p', unsupported);
    events().done();
    expect_normal_exit();
    events().bye();
    if (under_runner) return 0;
    std::error_code ignored;
    std::filesystem::remove_all(made, ignored);
    for (auto const& message : findings.messages()) fmt::print(stderr, "{}: {}\n", case_name, message);
    if (!unsupported.empty()) fmt::print("{}: unsupported: {}\n", case_name, unsupported);
    else if (!failed) fmt::print("{}: passed\n", case_name);
    return failed ? 1 : 0;
}

} // namespace assay
