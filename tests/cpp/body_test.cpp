// Whatever leaves the body of a test becomes the outcome of its case, and names the call that it is about.
#include "framework/check/body.hpp"
#include "framework/mpi/failure.hpp"
#include "framework/process/calls.hpp"
#include "framework/process/event_log.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

class body : public testing::Test {
protected:
    body() { findings.begin(0); }
    recorder findings;
};

TEST_F(body, thatEndsFindsNothing) {
    EXPECT_EQ(run_body(findings, 0, [] {}), "");
    EXPECT_FALSE(findings.failed(true));
}

TEST_F(body, saysWhyItIsUnsupported) {
    EXPECT_EQ(run_body(findings, 0, [] { throw unsupported_here{"no such thing"}; }), "no such thing");
    EXPECT_FALSE(findings.failed(true));
}

TEST_F(body, thatCannotGoOnHasSaidWhy) {
    EXPECT_EQ(run_body(findings, 0, [] { throw cannot_go_on{}; }), "");
    EXPECT_FALSE(findings.failed(true));
}

TEST_F(body, fallsWithAnException) {
    EXPECT_EQ(run_body(findings, 0, [] { throw std::runtime_error("out of luck"); }), "");
    EXPECT_TRUE(findings.failed(false));
    ASSERT_EQ(findings.messages().size(), 1u);
    EXPECT_EQ(findings.messages()[0].find("exception in the test: out of luck ("), 0u) << findings.messages()[0];
}

TEST_F(body, beginsWithoutACall) {
    entering("MPI_Iprobe"); // of the case before
    returned(0);
    run_body(findings, 0, [] { EXPECT_STREQ(last_call.name, ""); });
}

// What an event log has of a finding.
TEST_F(body, namesTheCallThatFailed) {
    auto const path = testing::TempDir() + fmt::format("assay-body-{}", getpid());
    pid_t const child = fork(); // the log is one of the process
    if (child == 0) {
        events().open(path);
        recorder of_child;
        of_child.begin(3);
        run_body(of_child, 0, [] {
            entering("MPI_Comm_split");
            returned(1);
            mpi_failure const failure("MPI_Comm_split", MPI_ERR_COMM, std::source_location::current());
            entering("MPI_Group_free"); // on the way out
            returned(0);
            throw failure;
        });
        _exit(of_child.failed(false) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    std::remove(path.c_str());
    ASSERT_EQ(all.str().find("F 3 {"), 0u) << all.str();
    auto const found = nlohmann::json::parse(all.str().substr(4, all.str().find('\n') - 4));
    EXPECT_EQ(found["check"], "return");
    EXPECT_EQ(found["call"], "MPI_Comm_split");
    EXPECT_EQ(found["message"].get<std::string>().find("MPI_Comm_split returned "), 0u) << found;
    EXPECT_NE(found["where"].get<std::string>().find("body_test.cpp:"), std::string::npos) << found;
}

TEST(call, ofTheTestIsNamedAfterOneOfTheFramework) {
    entering("MPI_Sendrecv_replace");
    returned(1);
    error_text(MPI_ERR_TRUNCATE); // calls MPI_Error_string
    EXPECT_STREQ(last_call.name, "MPI_Sendrecv_replace");
    EXPECT_FALSE(last_call.inside);
}

TEST(call, ofAnotherThreadIsFound) {
    EXPECT_EQ(thread_inside_a_call(), 0);
    thread_of_case const known;
    EXPECT_EQ(thread_inside_a_call(), 0);
    entering("MPI_Recv");
    EXPECT_EQ(thread_inside_a_call(), gettid());
    returned(0);
    EXPECT_EQ(thread_inside_a_call(), 0);
}

} // namespace
} // namespace assay
