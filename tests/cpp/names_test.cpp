// Patterns, comma lists, suggestions.
#include "framework/plan/names.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace assay {
namespace {

using words = std::vector<std::string>;

TEST(names, versionsAreComparedByTheirNumbers) {
    EXPECT_TRUE(is_newer("10.0", "3.1"));
    EXPECT_TRUE(is_newer("4.1", "4.0"));
    EXPECT_FALSE(is_newer("4.0", "4.0"));
    EXPECT_FALSE(is_newer("3.1", "10.0"));
    EXPECT_FALSE(is_newer("", "1.0")); // of what the standard does not know
}

TEST(matches, knowsShellPatterns) {
    std::string const name = "p2p.ring/mode=isend/type=int/count=17";
    for (auto pattern : {"*", "p2p.*", "p2p.ring/*/count=17", "p2p.ring/mode=?send/*", "*type=[ij]nt*", name.c_str()})
        EXPECT_TRUE(matches(pattern, name)) << pattern;
    for (auto pattern : {"", "p2p", "p2p.ring/*/count=1", "ring*", "*type=[!i]nt*", "p2p.ring/mode=send/*",
                         "p2p.ring/mode=isend/type=int/count=17/more"})
        EXPECT_FALSE(matches(pattern, name)) << pattern;
}

TEST(pattern_reader, agreesWithMatchesHoweverANameIsCut) {
    std::string const name = "p2p.ring/type=[]int/count=17";
    for (std::string const pattern : {"*", "**7", "p2p.*", "p2p.ring/*/count=1?", "*type=[[][]]i[!a-m]t*",
                                      "*=?*=[0-9][^0-68-9]", "p2p.ring*[", "", "p2p.ring/type=[]int/count=17",
                                      "p2p.ring/type=*int/count=17/*", "*type=[!]]*", "?", "p2p.[^p-s]*", "*[!^]7"}) {
        pattern_reader const reader(pattern);
        for (std::size_t cut = 0; cut <= name.size(); ++cut) {
            auto const places = reader.after(reader.after(reader.start(), name.substr(0, cut)), name.substr(cut));
            EXPECT_EQ(std::count(places.begin(), places.end(), reader.end()), matches(pattern, name)) << pattern;
        }
    }
    pattern_reader const reader("p2p.*/count=1");
    EXPECT_FALSE(reader.after(reader.start(), "p2p.ring/count=2").empty()) << "the star takes it";
    EXPECT_TRUE(reader.after(reader.start(), "p2q").empty());
}

TEST(is_pattern, seesTheThreeSigns) {
    EXPECT_TRUE(is_pattern("a*") && is_pattern("a?") && is_pattern("[ab]"));
    EXPECT_FALSE(is_pattern("p2p.ring/mode=send") || is_pattern(""));
}

TEST(split, keepsEmptyParts) {
    EXPECT_EQ(split("a,b,,c", ','), (words{"a", "b", "", "c"}));
    EXPECT_EQ(split("", ','), (words{""}));
    EXPECT_EQ(split("a/", '/'), (words{"a", ""}));
}

TEST(near, givesTheMostAlikeFirst) {
    words const known = {"int", "unsigned", "long_double_int", "vector_int", "float"};
    EXPECT_EQ(near("itn", known).front(), "int");
    EXPECT_EQ(near("vectr_int", known).front(), "vector_int");
    EXPECT_EQ(near("double", known), (words{"long_double_int"})); // a part of a name is near, too
    EXPECT_TRUE(near("zzzz", known).empty());
}

TEST(pick, keepsWhatIsWantedAndNotExcluded) {
    EXPECT_TRUE(pick()("anything"));
    pick const wanted("int,vector*");
    EXPECT_TRUE(wanted("int") && wanted("vector_int") && wanted.wants_some());
    EXPECT_FALSE(wanted("char") || wanted("hvector_int"));
    pick const excluded("^int");
    EXPECT_TRUE(excluded("char") && !excluded.wants_some());
    EXPECT_FALSE(excluded("int"));
    pick both("*int");
    both.add(pick("^long*"));
    EXPECT_TRUE(both("short_int"));
    EXPECT_FALSE(both("long_int") || both("char"));
    EXPECT_EQ(both.words(), (words{"*int", "long*"}));
}

TEST(requireNameDeathTest, endsTheProgramForALetterThatCutsFilters) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    for (auto name : {"a-b", "A", "a/b", "", "a=b", "a b"})
        EXPECT_EXIT(require_name(name, "axis"), testing::KilledBySignal(SIGABRT), "the axis name");
    require_name("long_double.x87+int2", "value");
}

} // namespace
} // namespace assay
