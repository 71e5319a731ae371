// Plans of the real suites, without MPI_Init.
#include "framework/mpi/catalogues.hpp"
#include "framework/plan/plan.hpp"
#include "framework/process/program.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

namespace assay {
namespace {

job const four{.np = 4};

std::vector<std::string> names_of(plan const& made) {
    std::vector<std::string> names;
    for (auto const& c : made.cases) names.push_back(c.name());
    return names;
}

// The message of the wrong_use that `action` throws, or what it did instead.
template <class Action> std::string refusal(Action action) {
    try {
        action();
    } catch (wrong_use const& e) {
        return e.message;
    }
    return "no wrong_use";
}
#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

selection of_tier(tier t, char const* profile = "", char const* suites = "") {
    selection what;
    what.tier = t;
    what.profile = profile;
    what.suites = pick(suites);
    return what;
}

selection of_names(std::vector<std::string> selects, tier t = tier::quick) {
    selection what;
    what.tier = t;
    what.selects = std::move(selects);
    return what;
}

selection with_axis(char const* axis, char const* values) {
    selection what;
    what.axes[axis].add(pick(values));
    return what;
}

TEST(plan, ofTheQuickTierHasUniqueNamesThatLeadBackToTheirCases) {
    auto const made = make_plan({}, four);
    ASSERT_GT(made.cases.size(), 1000u);
    std::set<std::string> seen;
    for (auto const& c : made.cases) {
        auto const name = c.name();
        EXPECT_TRUE(seen.insert(name).second) << "twice: " << name;
        EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.+=/"), std::string::npos) << name;
        auto const again = case_named(name, four);
        EXPECT_EQ(again.test, c.test);
        EXPECT_EQ(again.values, c.values);
    }
}

TEST(plan, isTheSameTwiceAndAnotherForAnotherSeed) {
    auto const first = names_of(make_plan({}, four));
    EXPECT_EQ(first, names_of(make_plan({}, four)));
    EXPECT_NE(first, names_of(make_plan({}, {.np = 4, .seed = 2})));
}

TEST(plan, growsWithTheTier) {
    auto const size = [](tier t) { return make_plan(of_tier(t), four).cases.size(); };
    EXPECT_LT(size(tier::smoke), size(tier::quick));
    EXPECT_LT(size(tier::quick), size(tier::standard));
    EXPECT_EQ(tier_named("full"), tier::full);
    EXPECT_CONTAINS(refusal([] { tier_named("quik"); }), "did you mean quick");
}

TEST(plan, namesWhatCannotExistHere) {
    auto const made = make_plan(of_tier(tier::smoke), {.np = 1});
    auto const halved = std::find_if(made.unsupported.begin(), made.unsupported.end(), [](auto const& u) {
        return u.name == "p2p.partner/comm=halved_intercomm" || u.name.starts_with("p2p.partner/comm=");
    });
    ASSERT_NE(halved, made.unsupported.end());
    EXPECT_CONTAINS(halved->reason, "this job has 1");
    for (auto const& name : names_of(made)) EXPECT_FALSE(name.starts_with("p2p.partner/")) << name;
}

TEST(plan, keepsOnlyWhatIsSelected) {
    auto what = with_axis("type", "int,char");
    what.axes["comm"].add(pick("^world"));
    what.suites = pick("p2p");
    auto const names = names_of(make_plan(what, four));
    EXPECT_FALSE(names.empty());
    for (auto const& name : names) {
        EXPECT_TRUE(matches("p2p.*/type=int/*", name + "/") || matches("p2p.*/type=char/*", name + "/")) << name;
        EXPECT_EQ(name.find("comm=world/"), std::string::npos) << name;
    }
    selection globs;
    globs.selects = {"p2p.ring/*", "env.*", "^*count=1mib*"};
    bool ring = false, env = false;
    for (auto const& name : names_of(make_plan(globs, four))) {
        ring |= name.starts_with("p2p.ring/");
        env |= name.starts_with("env.");
        EXPECT_TRUE(name.starts_with("p2p.ring/") || name.starts_with("env.")) << name;
        EXPECT_EQ(name.find("count=1mib"), std::string::npos) << name;
    }
    EXPECT_TRUE(ring && env);
    EXPECT_TRUE(make_plan(of_names({"no.such*"}), four).cases.empty());
}

TEST(plan, ofTheFullTierSelectsTheSameAsAFilterOfItsNames) {
    auto const all = names_of(make_plan(of_tier(tier::full, "", "env"), four));
    for (std::vector<std::string> const& globs :
         {std::vector<std::string>{"env.request_null/call=wait*/requests=?/comm=[wd]*"},
          {"env.request_null/call=test/*/comm=null", "env.get_elements/type=*int/count=1"},
          {"env.*/comm=world/*=[0-9]/placement=heap", "^*type=*int*"},
          {"env.*e=*int*t=1*p", "*status*type=c*comm=*"},
          {"env.status*_int*"},
          {"env.request_null/call=*l*e*"}, // in the call or after it
          {"env.status/comm=world/type=int/count=17/placement=heap",
           "env.status/*/type=ch*/count=17/placement=heap"}}) {
        std::vector<std::string> wanted;
        for (auto const& name : all)
            if (std::any_of(globs.begin(), globs.end(), [&](auto const& g) { return matches(g, name); }) &&
                std::none_of(globs.begin(), globs.end(),
                             [&](auto const& g) { return g[0] == '^' && matches(g.substr(1), name); }))
                wanted.push_back(name);
        EXPECT_FALSE(wanted.empty()) << globs[0];
        auto what = of_names(globs, tier::full);
        what.suites = pick("env");
        EXPECT_EQ(names_of(make_plan(what, four)), wanted) << globs[0];
    }
    // Out of a product of millions, which is never made.
    auto const few = of_names({"p2p.alltoall/mode=bsend/receive=irecv/completion=wait/wildcard=none/comm=world/type=*/"
                               "count=17/placement=heap"},
                              tier::full);
    EXPECT_EQ(make_plan(few, four).cases.size(), all_datatypes().size());
}

TEST(plan, takesAPlainNameFromTheFullProduct) {
    auto const quick = names_of(make_plan({}, four));
    std::string outside;
    for (auto const& name : names_of(make_plan(of_tier(tier::standard, "", "p2p"), four)))
        if (std::find(quick.begin(), quick.end(), name) == quick.end()) {
            outside = name;
            break;
        }
    ASSERT_FALSE(outside.empty());
    EXPECT_EQ(names_of(make_plan(of_names({outside}), four)), std::vector<std::string>{outside});
}

TEST(plan, ofKellersProfileKeepsHisValues) {
    auto const all = names_of(make_plan(of_tier(tier::smoke), four));
    auto const his = names_of(make_plan(of_tier(tier::smoke, "keller-2008"), four));
    EXPECT_LT(his.size(), all.size());
    auto const any = [](auto const& names, char const* part) {
        return std::any_of(names.begin(), names.end(), [&](auto const& name) { return name.find(part) != name.npos; });
    };
    EXPECT_TRUE(any(all, "/type=uint64_t/") && any(all, "/comm=graph/"));
    EXPECT_FALSE(any(his, "/type=uint64_t/") || any(his, "/comm=graph/"));
    EXPECT_TRUE(any(his, "/type=vector_int/") && any(his, "/count=8kib") && any(his, "/count=17"));
    EXPECT_FALSE(any(his, "/count=1mib") || any(his, "/count=7/"));
    selection other = of_tier(tier::smoke, "keller-2008");
    other.axes["count"] = pick("1000"); // stands on no ladder and was asked for
    EXPECT_TRUE(any(names_of(make_plan(other, four)), "/count=1000"));
    EXPECT_CONTAINS(refusal([] { make_plan(of_tier(tier::quick, "keller"), four); }), "there are keller-2008");
}

TEST(plan, ofAVersionsProfileLeavesOutWhatCameLater) {
    auto const all = names_of(make_plan(of_tier(tier::smoke), four));
    auto const any = [](auto const& names, char const* part) {
        return std::any_of(names.begin(), names.end(), [&](auto const& name) { return name.find(part) != name.npos; });
    };
    auto const old = names_of(make_plan(of_tier(tier::smoke, "mpi-3.1"), four));
    for (auto const* part : {"p2p.ring_partitioned/", "/start=persistent", "/call=isendrecv/"}) {
        EXPECT_FALSE(any(old, part)) << part;
        EXPECT_EQ(any(names_of(make_plan(of_tier(tier::smoke, "mpi-4.0"), four)), part), any(all, part)) << part;
    }
    // Only those values of the tests are newer.
    EXPECT_TRUE(any(old, "/start=nonblocking") && any(old, "p2p.ring_sendrecv/"));
    EXPECT_EQ(names_of(make_plan(of_tier(tier::smoke, "mpi-5.0"), four)), all);

    std::set<std::string> tests, values;
    for (auto const& l : left_out_by_profile(of_tier(tier::smoke, "mpi-3.1"), four)) {
        if (l.axis.empty()) tests.insert(l.test);
        else values.insert(l.test + "/" + l.axis + "=" + l.value);
    }
    EXPECT_TRUE(tests.count("p2p.ring_partitioned") == 1 && tests.count("coll.bcast") == 0);
    EXPECT_TRUE(values.count("coll.bcast/start=persistent") == 1);
    EXPECT_TRUE(left_out_by_profile(of_tier(tier::smoke), four).empty());
    EXPECT_TRUE(left_out_by_profile(of_tier(tier::smoke, "mpi-5.0"), four).empty());
}

TEST(plan, refusesUnknownNamesAndSaysTheNearOnes) {
    EXPECT_CONTAINS(refusal([] { make_plan(of_tier(tier::quick, "", "p2q"), four); }), "did you mean p2p");
    EXPECT_CONTAINS(refusal([] { make_plan(with_axis("typ", "int"), four); }), "did you mean type");
    EXPECT_CONTAINS(refusal([] { make_plan(with_axis("type", "vectr_int"), four); }), "did you mean vector_int");
    EXPECT_CONTAINS(refusal([] { case_named("p2p.rin/mode=send", four); }), "did you mean p2p.ring");
    std::string const good = names_of(make_plan(of_names({"p2p.ring_sendrecv/*/type=int/*"}, tier::smoke), four)).at(0);
    auto const replaced = [&](char const* from, char const* to) {
        auto name = good;
        name.replace(name.find(from), std::string(from).size(), to);
        return refusal([&] { case_named(name, four); });
    };
    EXPECT_CONTAINS(replaced("/type=int", "/type=intt"), "has no type=intt; did you mean int");
    EXPECT_CONTAINS(replaced("/type=", "/typ="), "expected type=…");
    EXPECT_CONTAINS(replaced("/type=int", ""), "is not the full name of a case");
    // A ready send needs its receive posted before.
    std::string const ready =
        "p2p.ring/mode=rsend/receive=recv/completion=wait/comm=world/type=int/count=1/placement=heap";
    EXPECT_CONTAINS(refusal([&] { case_named(ready, four); }), "combines values that cannot be combined");
    EXPECT_CONTAINS(refusal([&] { make_plan(of_names({ready}), four); }), "cannot be combined");
}

class plan_file : public testing::Test {
protected:
    void write(std::string const& text) { std::ofstream(path, std::ios::binary) << text; }
    void TearDown() override { std::remove(path.c_str()); }
    std::string const path = testing::TempDir() + fmt::format("assay-plan-{}", getpid());
    std::uint64_t hash = 0;
};

TEST_F(plan_file, isReadInItsOwnOrder) {
    auto names = names_of(make_plan(of_tier(tier::smoke), four));
    std::reverse(names.begin(), names.end());
    write(fmt::format("assay-plan 1 seed=1 cases={}\n{}\n", names.size(), fmt::join(names, "\n")));
    std::vector<std::string> read;
    for (auto const& c : read_plan(path, four, hash, true)) read.push_back(c.name());
    EXPECT_EQ(read, names);
    auto const before = hash;
    write(fmt::format("assay-plan 1 seed=1 cases=1\n{}\n", names[0]));
    read_plan(path, four, hash, true);
    EXPECT_NE(hash, before);
}

TEST_F(plan_file, isRefusedWithCasesThatNeedAJobOfTheirOwn) {
    write("assay-plan 1 seed=1 cases=1\nenv.abort/abort=world\n");
    EXPECT_CONTAINS(refusal([&] { read_plan(path, four, hash); }), "--own-job=env.abort/abort=world");
    EXPECT_EQ(read_plan(path, four, hash, true).size(), 1u);
}

TEST_F(plan_file, isRefusedWithoutItsHeader) {
    for (auto text : {"", "assay-plan", "assay-plan 2 seed=1 cases=0\n", "p2p.ring/mode=send\n"}) {
        write(text);
        EXPECT_CONTAINS(refusal([&] { read_plan(path, four, hash); }), "is not a plan: its first line must begin with");
    }
    EXPECT_CONTAINS(refusal([&] { read_plan("/no/such/plan", four, hash); }), "/no/such/plan");
    write("assay-plan 1 seed=1 cases=1\np2p.rin/mode=send\n");
    EXPECT_CONTAINS(refusal([&] { read_plan(path, four, hash); }), "there is no test \"p2p.rin\"");
    write("assay-plan 1 seed=1 cases=0\n");
    EXPECT_TRUE(read_plan(path, four, hash).empty());
}

TEST_F(plan_file, saysWhatAPreloadedLayerIsToDo) {
    auto const name = names_of(make_plan(of_tier(tier::smoke), four))[0];
    write(fmt::format("assay-plan 1 seed=1 cases=3\n{0} status_tag\n{0} none status_tag\n{0}\n", name));
    auto const read = read_plan(path, four, hash);
    ASSERT_EQ(read.size(), 3u);
    for (auto const& c : read) EXPECT_EQ(c.name(), name);
    EXPECT_EQ(read[0].setting, "status_tag");
    EXPECT_EQ(read[1].setting, "none status_tag");
    EXPECT_EQ(read[2].setting, "");
    options o;
    o.plan_file = path;
    o.the_job = four;
    EXPECT_CONTAINS(refusal([&] { cases_to_run(o); }), "\"status_tag\" is for a preloaded layer");
}

TEST(thread_level, isThatOfTheCasesAskedFor) {
    auto const reaches = [](selection const& what) {
        return std::any_of(all_tests().begin(), all_tests().end(),
                           [&](auto const& t) { return t.own_threads > 1 && may_reach(what, t); });
    };
    selection what;
    EXPECT_TRUE(reaches(what));
    for (auto const* glob : {"*", "*/threads=2/*", "thr*", "threads.ring/*", "p2p.ring/*:"}) {
        what.selects = {glob};
        EXPECT_EQ(reaches(what), glob[0] != 'p') << glob;
    }
    what.selects = {"p2p.*", "threads.level/threads=2"};
    EXPECT_TRUE(reaches(what));
    what.selects = {};
    what.suites = pick("coll,rma"); // none of their tests has threads of its own
    EXPECT_FALSE(reaches(what));
    auto const path = testing::TempDir() + "assay-threads-" + std::to_string(getpid());
    for (auto const* name : {"threads.level/threads=2", "threads.levels/threads=2"}) {
        std::ofstream(path) << "assay-plan 1 seed=1 cases=1\n" << name << "\n";
        EXPECT_EQ(plan_needs_threads(path), name[13] == '/') << name;
    }
    EXPECT_FALSE(plan_needs_threads("/no/such/plan"));
    std::remove(path.c_str());
}

TEST(plan, isRefusedWhenItHasTooManyCases) {
    auto what = of_tier(tier::full, "", "topology");
    auto const count = make_plan(what, four).cases.size();
    what.most = count;
    EXPECT_EQ(make_plan(what, four).cases.size(), count);
    what.most = count - 1;
    EXPECT_CONTAINS(refusal([&] { make_plan(what, four); }), fmt::format("more than {} cases", count - 1));
}

TEST(axis, refusesNamesThatItDoesNotHave) {
    auto const use = named(comm_axis(), {"world", "wrold"});
    EXPECT_THROW(use.keep(0), std::logic_error);
    auto const both = named(comm_axis(), {"world", "self"});
    std::vector<std::string> kept;
    for (std::size_t value = 0; value < comm_axis().size(); ++value)
        if (both.keep(value)) kept.push_back(comm_axis().name_of(value));
    EXPECT_EQ(kept, (std::vector<std::string>{"self", "world"})); // in the order of the axis
}

TEST(count_value, isAtLeastOneElementForASizeInBytes) {
    basic_type twelve;
    twelve.name = "twelve";
    twelve.size = twelve.significant = 12;
    twelve.keep.fill(0xff);
    auto const map = layout::of(twelve);
    using unit = count_value::unit;
    struct expected {
        unit kind;
        std::size_t bytes, elements;
    };
    for (auto const& e :
         {expected{unit::elements, 0, 0}, expected{unit::elements, 17, 17}, expected{unit::bytes_floor, 61, 5},
          expected{unit::bytes_ceil, 67, 6}, expected{unit::bytes_nearest, 64, 5}, expected{unit::bytes_nearest, 66, 6},
          expected{unit::bytes_floor, 11, 1}, expected{unit::bytes_nearest, 5, 1}, expected{unit::bytes_ceil, 60, 5}})
        EXPECT_EQ((count_value{e.kind, e.bytes}.of(map)), e.elements) << e.bytes;
    EXPECT_EQ((count_value{unit::bytes_ceil, 64}.of(layout())), 64u); // a type of size 0 counts as 1 byte
}

} // namespace
} // namespace assay
