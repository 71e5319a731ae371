// The one rule of levels: a finding rests on requirements of standard/, and is must or advisory as they are.
#include "framework/check/record.hpp"
#include "framework/check/standard.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

using namespace assay;

namespace {

auto const here = std::source_location::current();
requirement const must = "p2p.send.data", also_must = "p2p.self", advisory = "p2p.nonblocking.many_pending",
                  of_wrong_use = "p2p.buffered.overflow"; // level "erroneous"

TEST(record, levelsComeFromTheStandard) {
    EXPECT_EQ(must.severity(), level::must);
    EXPECT_EQ(advisory.severity(), level::advisory);
    EXPECT_EQ(of_wrong_use.severity(), level::advisory);
    EXPECT_EQ(requirement("ofi.msg.data").severity(), level::must);
    EXPECT_STREQ(must.section(), "3.2.4");
}

// Where ids are not checked when they are compiled.
TEST(record, anIdThatNoFileHasIsAnError) {
    std::string const id = "p2p.send.date";
    EXPECT_FALSE(requirement(id.c_str()).is_known());
    EXPECT_THROW((void)requirement(id.c_str()).severity(), std::logic_error);
}

TEST(record, anAdvisoryRequirementCannotFailACase) {
    recorder findings;
    for (auto const& declared : {std::vector{must}, std::vector{must, advisory}, std::vector{advisory}}) {
        findings.begin(0, declared);
        findings.add(advisory, finding::value, "advice", here);
        findings.add(of_wrong_use, finding::value, "said of wrong use", here);
        EXPECT_FALSE(findings.failed(false));
        EXPECT_TRUE(findings.failed(true));
        EXPECT_TRUE(findings.messages().front().starts_with("advisory: advice ("));
    }
}

TEST(record, aCheckWithoutRequirementIsMustWhenOneOfItsTestIs) {
    recorder findings;
    findings.begin(0, {advisory, must});
    findings.add(finding::value, "wrong", here);
    EXPECT_TRUE(findings.failed(false));
    EXPECT_TRUE(findings.messages().front().starts_with("wrong ("));
    findings.begin(1, {advisory, of_wrong_use});
    findings.add(finding::value, "odd", here);
    EXPECT_FALSE(findings.failed(false));
    EXPECT_TRUE(findings.failed(true));
}

TEST(record, aMustFailsInATestOfAdvice) {
    recorder findings;
    findings.begin(0, {advisory});
    findings.add(also_must, finding::value, "wrong", here);
    EXPECT_TRUE(findings.failed(false));
}

TEST(record, bytesOutsideOfBuffersAreNeverAdvice) {
    recorder findings;
    findings.memory = requirement("terms.memory");
    for (auto kind : {finding::guard, finding::gap}) {
        findings.begin(0, {advisory});
        findings.add(kind, "written", here);
        EXPECT_TRUE(findings.failed(false)) << name_of(kind);
    }
    findings.begin(0, {advisory});
    findings.add(finding::data, "other data", here);
    EXPECT_FALSE(findings.failed(false));
}

TEST(record, kindsHaveTheNamesOfTheLogs) {
    EXPECT_STREQ(name_of(finding::data), "data");
    EXPECT_STREQ(name_of(finding::return_), "return");
    EXPECT_STREQ(name_of(finding::stderr_), "stderr");
    EXPECT_STREQ(name_of(finding::end), "end");
}

} // namespace
