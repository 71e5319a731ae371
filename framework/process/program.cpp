#include "framework/process/program.hpp"

#include "framework/plan/profile.hpp"
#include "framework/process/case_test.hpp"
#include "framework/process/hello.hpp"
#include "framework/process/layer.hpp"
#include "framework/process/signals.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <xxhash.h>

namespace assay {
namespace {

void list(program const& p, options const& o) {
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
            auto requirements = nlohmann::ordered_json::array();
            for (auto const& one : t.rests_on) requirements.push_back(one.id());
            line({{"test", t.full_name()},
                  {"requirements", requirements},
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
        for (auto const& one : procedures_of_the_standard())
            line({{"procedure", one.name}, {"since", one.since}, {"library", has_procedure(one.name)}});
    } else if (o.list == "profiles") {
        for (auto const& one : profiles()) line({{"profile", one.name}, {"note", one.note}});
    } else if (o.list == "left_out") {
        for (auto const& l : left_out_by_profile(o.what, o.the_job)) {
            if (l.axis.empty()) line({{"test", l.test}});
            else line({{"test", l.test}, {"axis", l.axis}, {"value", l.value}});
        }
    } else if (o.list == "build") {
        line({{"compiler", __VERSION__}, {"mpi", p.standard}, {"binary", hash_of_file("/proc/self/exe")}});
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

void register_cases(std::vector<planned_case> cases, std::size_t first, case_runner const& run, bool one_suite) {
    for (auto index = first; index < cases.size(); ++index) {
        auto& c = cases[index];
        auto const name = c.name();
        auto const dot = name.find('.');
        auto const* test = c.test;
        auto factory = [&run, c = std::move(c), index = static_cast<long>(index)]() -> testing::Test* {
            return new case_test(run, c, index);
        };
        // A plan is run in its own order; GoogleTest would put tests of one suite together.
        testing::RegisterTest(one_suite ? "plan" : name.substr(0, dot).c_str(), name.substr(dot + 1).c_str(), nullptr,
                              nullptr, test->file, test->line, std::move(factory));
    }
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

} // namespace

// By hand, --gtest_filter may select as well.
selection selected_by_hand(options const& o) {
    auto filter = testing::GTEST_FLAG(filter);
    auto what = o.what;
    if (filter != "*" && what.selects.empty())
        for (auto const& part : split(filter.substr(0, filter.find('-')), ':'))
            if (!part.empty()) what.selects.push_back(part);
    return what;
}

listed_cases cases_to_run(options const& o) {
    listed_cases found;
    if (!o.plan_file.empty()) {
        found.cases = read_plan(o.plan_file, o.the_job, found.hash);
        auto const with_setting = std::find_if(found.cases.begin(), found.cases.end(),
                                               [](planned_case const& c) { return !c.setting.empty(); });
        if (with_setting != found.cases.end() && !has_layer())
            throw wrong_use{
                fmt::format("{}: \"{}\" is for a preloaded layer, such as libassay_faults.so, and there is none",
                            o.plan_file, with_setting->setting)};
        return found;
    }
    found.cases = cases_by_hand(o);
    std::string names;
    for (auto const& c : found.cases) names += c.name() + "\n";
    found.hash = XXH3_64bits(names.data(), names.size());
    return found;
}

bool run_cases(std::vector<planned_case> cases, std::size_t first, options const& o, int rank, case_runner const& run) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    if (o.under_runner() || rank != 0) delete listeners.Release(listeners.default_result_printer());
    if (!o.under_runner() && rank != 0) {
        listeners.Append(new failures_only(rank));
        delete listeners.Release(listeners.default_xml_generator()); // one writer for one file
    }
    register_cases(std::move(cases), first, run, o.under_runner());
    return RUN_ALL_TESTS() != 0;
}

int main_of(program const& p, int argc, char** argv) {
    set_subject(p.tested);
    options o;
    bool lists_tests = false;
    testing::InitGoogleTest(&argc, argv);
    CLI::App app{p.about, p.name};
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
            list(p, o);
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
        return p.run(o, argc, argv);
    } catch (CLI::Success const& e) {
        return app.exit(e);
    } catch (CLI::Error const& e) {
        fmt::print(stderr, "{}: {}\n", p.name, e.what());
    } catch (wrong_use const& e) {
        fmt::print(stderr, "{}: {}\n", p.name, e.message);
    }
    expect_normal_exit();
    p.give_up();
    return 2;
}

} // namespace assay
