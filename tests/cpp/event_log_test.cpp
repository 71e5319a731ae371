// The event log against docs/formats.md section 4.
#include "framework/check/record.hpp"
#include "framework/check/standard.hpp"
#include "framework/plan/names.hpp"
#include "framework/process/event_log.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

class event_log_file : public testing::Test {
protected:
    void TearDown() override { std::remove(path.c_str()); }
    std::string text() const {
        std::ostringstream all;
        all << std::ifstream(path, std::ios::binary).rdbuf();
        return all.str();
    }
    std::string const path = testing::TempDir() + fmt::format("assay-events-{}", getpid());
    event_log log;
};

TEST_F(event_log_file, hasTheDocumentedLines) {
    EXPECT_FALSE(log.active());
    log.open(path);
    EXPECT_TRUE(log.active());
    auto const before = event_log::now();
    log.hello(R"({"rank":0})");
    EXPECT_EQ(log.current(), -1);
    log.begin(0);
    EXPECT_EQ(log.current(), 0);
    log.end(0, 'p', "");
    EXPECT_EQ(log.current(), -1);
    log.begin(1);
    log.erroneous();
    log.finding(1, R"({"check":"data"})");
    log.end(1, 'f', "");
    log.begin(2);
    log.end(2, 'u', "too few ranks");
    log.done();
    log.bye();
    auto const after = event_log::now();
    auto const written = text();
    EXPECT_TRUE(std::regex_match(written, std::regex(R"(H \{"rank":0\}
S 0 (\d+)
E 0 (\d+) p
S 1 \d+
W 1
F 1 \{"check":"data"\}
E 1 \d+ f
S 2 \d+
E 2 \d+ u too few ranks
D \d+
Z \d+
)"))) << written;
    std::smatch times;
    std::regex_search(written, times, std::regex("S 0 (\\d+)\nE 0 (\\d+)"));
    EXPECT_LE(before, std::stoll(times[1]));
    EXPECT_LE(std::stoll(times[1]), std::stoll(times[2]));
    EXPECT_LE(std::stoll(times[2]), after);
}

TEST_F(event_log_file, appends) {
    std::ofstream(path) << "earlier\n";
    log.open(path);
    log.hello("{}");
    EXPECT_EQ(text(), "earlier\nH {}\n");
}

TEST_F(event_log_file, keepsTheEndOfACaseBackButNotForADeath) {
    log.open(path);
    log.begin(5);
    log.end(5, 'p', "");
    EXPECT_EQ(text().find("E 5"), std::string::npos); // one write a case
    log.dying("X -1 0 {}\n", 10);
    EXPECT_TRUE(std::regex_match(text(), std::regex("S 5 \\d+\nE 5 \\d+ p\nX -1 0 \\{\\}\n"))) << text();
}

TEST_F(event_log_file, takesLinesLongerThanItsBuffer) {
    log.open(path);
    std::string const message(100'000, 'x');
    log.begin(0);
    log.finding(0, message);
    log.end(0, 'f', std::string(10'000, 'y')); // a reason is cut, the line stays a line
    log.done();
    auto const written = text();
    EXPECT_NE(written.find("F 0 " + message + "\nE 0 "), std::string::npos);
    EXPECT_TRUE(std::regex_search(written, std::regex("y\nD \\d+\n$")));
}

TEST_F(event_log_file, refusesAPathThatCannotBeWritten) {
    try {
        log.open("/no/such/folder/rank-0.events");
        FAIL() << "opened";
    } catch (wrong_use const& e) {
        EXPECT_EQ(e.message, "cannot write the event log /no/such/folder/rank-0.events: No such file or directory");
    }
}

// What a finding becomes in the log; on the way the global log is used, so in a process of its own.
TEST_F(event_log_file, holdsFindingsAsJson) {
    pid_t const child = fork();
    if (child == 0) {
        events().open(path);
        recorder findings;
        findings.begin(4, {"p2p.recv.truncated_status", "p2p.send.data", "p2p.self"});
        findings.add(finding::data, "two\nlines \"quoted\" \xff", std::source_location::current(), 2);
        findings.add(requirement("p2p.recv.truncated_status"), finding::error, "advice",
                     std::source_location::current());
        bool const right = findings.failed(false) && findings.messages().size() == 2;
        quick_exit(right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    std::istringstream lines(text());
    std::string head, rest;
    lines >> head;
    EXPECT_EQ(head, "F");
    lines >> head;
    EXPECT_EQ(head, "4");
    std::getline(lines, rest);
    auto const finding = nlohmann::json::parse(rest);
    EXPECT_EQ(finding["check"], "data");
    EXPECT_EQ(finding["level"], "must");
    EXPECT_EQ(finding["requirements"], (std::vector<std::string>{"p2p.send.data", "p2p.self"})); // those that are must
    EXPECT_EQ(finding["thread"], 2);
    EXPECT_EQ(finding["message"], "two\nlines \"quoted\" \xef\xbf\xbd"); // what is no UTF-8 is replaced
    EXPECT_TRUE(finding["where"].get<std::string>().find("event_log_test.cpp:") != std::string::npos);
    std::getline(lines, rest);
    auto const advice = nlohmann::json::parse(rest.substr(4));
    EXPECT_EQ(advice["level"], "advisory");
    EXPECT_EQ(advice["requirements"], std::vector<std::string>{"p2p.recv.truncated_status"});
}

TEST(eventLogDeathTest, aFullDiskEndsTheRankWith4) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
            event_log log;
            log.open("/dev/full");
            log.hello("{}");
        },
        testing::ExitedWithCode(4), "cannot write the event log: No space left on device");
}

} // namespace
} // namespace assay
