// assay-suite: every case of every suite in one program. By hand: mpiexec -n 4 assay-suite --gtest_filter='p2p.ring/*'.
// Under the runner: --plan=FILE --job=DIR. See docs/formats.md.
#include "framework/calls.hpp"
#include "framework/case_test.hpp"
#include "framework/child.hpp"
#include "framework/engine.hpp"
#include "framework/event_log.hpp"
#include "framework/hello.hpp"
#include "framework/own_job.hpp"
#include "framework/plan.hpp"
#include "framework/profile.hpp"
#include "framework/signals.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <xxhash.h>

#include "mpi_calls.hpp"

namespace {
using namespace assay;

struct options {
    std::string list, tier = "quick", plan_file, job_directory, own_job;
    std::vector<std::string> axes;
    selection what;
    job the_job;
};

void list(options const& o) {
    std::string out;
    auto const line = [&out](nlohmann::ordered_json const& json) {
        out += json.dump();
        out += '\n';
        if (out.size() > 1 << 16) {
            std::fwrite(out.data(), 1, out.size(), stdout);
            out.clear();
        }
    };
    if (o.list == "cases") {
        auto const made = make_plan(o.what, o.the_job);
        for (auto const& c : made.cases) {
            out += "{\"case\":\"" + c.name() + "\"}\n"; // the alphabet of names needs no escapes
            if (out.size() > 1 << 16) {
                std::fwrite(out.data(), 1, out.size(), stdout);
                out.clear();
            }
        }
        for (auto const& u : made.unsupported) line({{"case", u.name}, {"unsupported", u.reason}});
    } else if (o.list == "tests") {
        auto const* profile = o.what.profile.empty() ? nullptr : &profile_named(o.what.profile);
        for (auto const& t : all_tests()) {
            if (profile && !profile->has_test(t, o.the_job)) continue;
            auto axes = nlohmann::ordered_json::array();
            for (auto const& use : t.axes) {
                auto values = nlohmann::ordered_json::array();
                for (std::size_t v = 0; v < use.axis->size(); ++v)
                    if ((!use.keep || use.keep(v)) && (!profile || profile->has_value(*use.axis, v, o.the_job)))
                        values.push_back(use.axis->info(v).name);
                axes.push_back({{"axis", use.axis->name()}, {"values", values}});
            }
            line({{"test", t.full_name()},
                  {"requirements", t.requirement_ids},
                  {"axes", axes},
                  {"file", t.file},
                  {"line", t.line},
                  {"thread_safe", t.thread_safe},
                  {"thread_level", t.own_threads > 1 ? "multiple" : "funneled"},
                  {"own_job", t.own_job},
                  {"note", t.remark}});
        }
    } else if (o.list == "axes") {
        for (auto const* axis : all_axes())
            for (std::size_t v = 0; v < axis->size(); ++v) {
                auto const info = axis->info(v);
                line({{"axis", axis->name()},
                      {"value", info.name},
                      {"note", info.note},
                      {"title", info.title},
                      {"lacks", info.lacks ? info.lacks(o.the_job) : ""}});
            }
    } else if (o.list == "procedures") {
        for (auto const& p : procedures_of_the_standard())
            line({{"procedure", p.name}, {"since", p.since}, {"library", has_procedure(p.name)}});
    } else if (o.list == "profiles") {
        for (auto const& p : profiles()) line({{"profile", p.name}, {"note", p.note}});
    } else if (o.list == "left_out") {
        for (auto const& l : left_out_by_profile(o.what, o.the_job)) {
            if (l.axis.empty()) line({{"test", l.test}});
            else line({{"test", l.test}, {"axis", l.axis}, {"value", l.value}});
        }
    } else if (o.list == "build") {
        line({{"compiler", __VERSION__},
              {"mpi", fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION)},
              {"binary", hash_of_file("/proc/self/exe")}});
    } else {
        throw wrong_use{
            fmt::format("--list={} is not one of cases, tests, axes, procedures, profiles, left_out, build", o.list)};
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
}

// Ranks other than 0 only speak of failures.
class failures_only : public testing::EmptyTestEventListener {
public:
    explicit failures_only(int rank) : rank_(rank) {}
    // Here UnitTest holds the lock that current_test_info() would take, so the name is kept from the start of the test.
    void OnTestStart(testing::TestInfo const& info) override {
        name_ = fmt::format("{}.{}", info.test_suite_name(), info.name());
    }
    void OnTestPartResult(testing::TestPartResult const& part) override {
        if (part.failed()) fmt::print(stderr, "rank {}: {}: {}\n", rank_, name_, part.message());
    }

private:
    int rank_;
    std::string name_;
};

void register_cases(engine& e, std::vector<planned_case> cases, bool one_suite) {
    long index = 0;
    for (auto& c : cases) {
        auto const name = c.name();
        auto const dot = name.find('.');
        auto const* test = c.test;
        auto factory = [&e, c = std::move(c), index]() -> testing::Test* { return new case_test(e, c, index); };
        // A plan is run in its own order; GoogleTest would put tests of one suite together.
        testing::RegisterTest(one_suite ? "plan" : name.substr(0, dot).c_str(), name.substr(dot + 1).c_str(), nullptr,
                              nullptr, test->file, test->line, std::move(factory));
        ++index;
    }
}

// By hand, --gtest_filter may select as well.
selection selected_by_hand(options const& o) {
    auto filter = testing::GTEST_FLAG(filter);
    auto what = o.what;
    if (filter != "*" && what.selects.empty())
        for (auto const& part : split(filter.substr(0, filter.find('-')), ':'))
            if (!part.empty()) what.selects.push_back(part);
    return what;
}

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

// Those of the tier that can share a job; if a filter finds nothing there, those of the full product.
std::vector<planned_case> cases_by_hand(options const& o) {
    auto what = selected_by_hand(o);
    std::string alone; // a case that needs a job of its own
    auto const shared = [&] {
        auto cases = make_plan(what, o.the_job).cases;
        std::erase_if(cases, [&alone](planned_case const& c) {
            if (c.test->own_job) alone = c.name();
            return c.test->own_job;
        });
        return cases;
    };
    auto cases = shared();
    if (cases.empty() && alone.empty()) {
        what.tier = tier::full;
        cases = shared();
    }
    if (cases.empty() && !alone.empty())
        throw wrong_use{fmt::format("{} needs a job of its own: --own-job={}", alone, alone)};
    if (cases.empty())
        throw wrong_use{fmt::format("no case matches \"{}\"; --gtest_list_tests prints those of the tier",
                                    testing::GTEST_FLAG(filter))};
    return cases;
}

std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string line(text, static_cast<std::size_t>(length));
    line = line.substr(0, line.find('\n'));
    for (auto& c : line)
        if (static_cast<unsigned char>(c) < 32) c = ' ';
    while (!line.empty() && (line.back() == ' ' || line.back() == '\0')) line.pop_back();
    return line;
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
    watch_for_death();
    bool const under_runner = !o.job_directory.empty();
    int provided = 0, rank = 0;
    if (MPI_Init_thread(&argc, &argv, wanted_level(o), &provided) != MPI_SUCCESS) {
        fmt::print(stderr, "assay-suite: MPI_Init_thread failed\n");
        return 1;
    }
    watch_for_death(); // libraries put their own handlers in place
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &o.the_job.np);
    if (o.the_job.threads > 1 && provided < MPI_THREAD_MULTIPLE)
        throw wrong_use{fmt::format("--threads={} needs MPI_THREAD_MULTIPLE; this library provides level {} only",
                                    o.the_job.threads, provided)};

    std::uint64_t plan_hash = 0;
    std::vector<planned_case> cases;
    if (!o.plan_file.empty()) {
        cases = read_plan(o.plan_file, o.the_job, plan_hash);
    } else {
        cases = cases_by_hand(o);
        std::string names;
        for (auto const& c : cases) names += c.name() + "\n";
        plan_hash = XXH3_64bits(names.data(), names.size());
    }
    if (under_runner) {
        open_logs(o.job_directory, rank);
        int version = 0, subversion = 0;
        MPI_Get_version(&version, &subversion);
        o.the_job.scratch = scratch_of_job(o.job_directory);
        say_hello({rank, o.the_job.np, plan_hash, o.the_job.seed, library_version(),
                   fmt::format("{}.{}", version, subversion), provided});
        wait_for_go(o.job_directory);
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
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    if (under_runner || rank != 0) delete listeners.Release(listeners.default_result_printer());
    if (!under_runner && rank != 0) {
        listeners.Append(new failures_only(rank));
        delete listeners.Release(listeners.default_xml_generator()); // one writer for one file
    }
    int failed = 0;
    {
        engine e(o.the_job);
        register_cases(e, std::move(cases), under_runner);
        failed = RUN_ALL_TESTS() != 0;
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

} // namespace

int main(int argc, char** argv) {
    if (int const code = run_as_child(argc, argv); code >= 0) return code;
    options o;
    bool lists_tests = false;
    testing::InitGoogleTest(&argc, argv);
    CLI::App app{"Assay: conformance tests for MPI libraries. Options of GoogleTest (--gtest_filter=…) work as well.",
                 "assay-suite"};
    app.add_option("--list", o.list,
                   "cases, tests, axes, procedures, profiles, left_out or build: print as JSON lines and exit");
    app.add_option("--np", o.the_job.np, "ranks to plan for")->check(CLI::PositiveNumber);
    app.add_option("--tier", o.tier, "smoke, quick, standard or full");
    app.add_option("--seed", o.the_job.seed, "of covering arrays and message data");
    app.add_option("--profile", o.what.profile, "keep the tests and axis values of a profile: keller-2008, mpi-3.1, …");
    std::string suites;
    app.add_option("--suite", suites, "comma list of suites, ^name excludes");
    app.add_option("--axis", o.axes, "NAME=LIST: values of one axis, ^value excludes")->take_all();
    app.add_option("--select", o.what.selects, "glob of case names, ^glob excludes")->take_all();
    app.add_option("--threads", o.the_job.threads, "threads that run each thread-safe case")->check(CLI::Range(1, 64));
    app.add_option("--repeat", o.the_job.repeat, "times each case runs in a row")->check(CLI::PositiveNumber);
    app.add_flag("--strict", o.the_job.strict, "advisory findings fail a case");
    app.add_option("--plan", o.plan_file, "run the cases of this file");
    app.add_option("--own-job", o.own_job,
                   "run this case, which needs a job of its own; --np says how many ranks there are");
    app.add_option("--job", o.job_directory, "directory for event logs (see docs/formats.md)");
    try {
        app.parse(argc, argv);
        o.what.tier = tier_named(o.tier);
        o.what.suites = pick(suites);
        for (auto const& text : o.axes) {
            auto const equals = text.find('=');
            if (equals == std::string::npos)
                throw wrong_use{fmt::format("--axis={} must look like --axis=type=int,char", text)};
            o.what.axes[text.substr(0, equals)].add(pick(text.substr(equals + 1)));
        }
        lists_tests = testing::GTEST_FLAG(list_tests);
        if (!o.list.empty()) {
            list(o);
            return 0;
        }
        if (lists_tests) { // needs no MPI: CTest asks on login nodes
            auto const cases = cases_by_hand(o);
            std::string suite;
            for (auto const& c : cases) {
                auto const name = c.name();
                if (c.test->suite != suite) fmt::print("{}.\n", suite = c.test->suite);
                fmt::print("  {}\n", name.substr(name.find('.') + 1));
            }
            return 0;
        }
        watch_runner();
        yielding const this_thread;
        if (!o.own_job.empty()) return run_own_job(o.own_job, o.the_job, o.job_directory, o.plan_file, argc, argv);
        return run(o, argc, argv);
    } catch (CLI::Success const& e) {
        return app.exit(e);
    } catch (CLI::Error const& e) {
        fmt::print(stderr, "assay-suite: {}\n", e.what());
    } catch (wrong_use const& e) {
        fmt::print(stderr, "assay-suite: {}\n", e.message);
    }
    expect_normal_exit();
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized != 0) MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
}
