// A peer that is killed, over and over: whoever waits for it is told, and nothing is left of it.
#include "tests/cpp/transports/net/wire_end.hpp"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <malloc.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace assay::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often; the environment may want more.
unsigned rounds(unsigned usual) {
    auto const* const wish = std::getenv("ASSAY_ROUNDS");
    return wish ? static_cast<unsigned>(std::strtoul(wish, nullptr, 10)) : usual;
}

// Those that would wait long for a peer that is silent do not.
auto maker_by_name(std::string_view name) {
    auto const& all = transports();
    auto const at = std::find_if(all.begin(), all.end(), [&](variant const& one) { return one.of->name == name; });
    return maker(*at->of, at->of->needs_live_peers ? "timeout=500" : "");
}

// The peer is this program again, which runs this test, then: it says where it is, and sends everything back.
TEST(victim, sendsEverythingBack) {
    auto const* const kind = std::getenv("ASSAY_VICTIM");
    if (!kind) GTEST_SKIP() << "for the tests below";
    end it(maker_by_name(kind));
    it.on_arrival = [&](end::frame const& one) {
        it.send((*it).address_of(one.from), one.mark, one.payload, memory::copy);
    };
    ASSERT_EQ(::write(3, it.name.data(), it.name.size()), static_cast<ssize_t>(it.name.size()));
    auto const limit = steady_clock::now() + std::chrono::seconds(60); // should whoever kills it be gone
    while (steady_clock::now() < limit) (*it).poll();
}

struct victim {
    explicit victim(std::string const& kind) {
        int ends[2] = {-1, -1};
        EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        std::string program = std::filesystem::read_symlink("/proc/self/exe"), filter = "--gtest_filter=victim.*",
                    who = "ASSAY_VICTIM=" + kind;
        char* const arguments[] = {program.data(), filter.data(), nullptr};
        char* const environment[] = {who.data(), nullptr};
        if (posix_spawn(&process, program.c_str(), &actions, nullptr, arguments, environment) != 0) {
            process = -1; // POSIX leaves it undefined
            ADD_FAILURE() << "cannot start " << program;
        }
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        char bytes[longest_address];
        auto const size = ::read(ends[0], bytes, sizeof bytes);
        EXPECT_GT(size, 0);
        name.assign(bytes, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        ::close(ends[0]);
    }
    ~victim() { end_it(); }
    void end_it() {
        auto const who = std::exchange(process, -1);
        if (who <= 0) return; // to kill() such a number means many processes
        ::kill(who, SIGKILL);
        ::waitpid(who, nullptr, 0);
    }
    pid_t process = -1;
    address name;
};

struct killed_peer : testing::TestWithParam<variant> {
    void meet_and_kill(end& by) {
        victim it(GetParam().of->name);
        ASSERT_GT(it.process, 0);
        by.got.clear();
        by.closings.clear();
        by.failures.clear();
        by.freed.clear();
        by.send(it.name, 1, pattern(1000, 1), memory::copy);
        ASSERT_TRUE(until([&] { return by.got.size() == 1; }, by));
        // It will not take all of this.
        static bytes const much = pattern(20'000'000, 2);
        int token = 0;
        ASSERT_FALSE(by.send(it.name, 2, much, memory::borrow, &token));
        ASSERT_TRUE(until([&] { return (*by).backlog((*by).reach(it.name)) < 19'000'000; }, by));
        it.end_it();
        auto const killed = steady_clock::now();
        ASSERT_TRUE(until([&] { return !by.closings.empty(); }, by));
        EXPECT_LT(steady_clock::now() - killed, milliseconds(2000));
        EXPECT_NE(by.closings[0], 0);
        EXPECT_EQ(by.failures.count(&token), 1u);
        // And who comes too late.
        by.failures.clear();
        by.send(it.name, 3, much, memory::borrow, &token);
        ASSERT_TRUE(until([&] { return by.closings.size() == 2; }, by));
        EXPECT_EQ(by.failures[&token], ECONNREFUSED);
    }
};

TEST_P(killed_peer, isReportedAndLeavesNothing) {
    end a(maker_by_name(GetParam().of->name));
    for (int k = 0; k < 3; ++k) meet_and_kill(a); // buffers grow
    auto const open = descriptors();
    auto const used = mallinfo2().uordblks;
    auto const count = rounds(5);
    for (unsigned k = 0; k < count && !HasFatalFailure(); ++k) meet_and_kill(a);
    EXPECT_EQ(descriptors(), open);
    // SCTP keeps what it has asked for in vain until it would not ask again.
    auto const late = steady_clock::now() + std::chrono::seconds(1);
    while (steady_clock::now() < late) (*a).poll();
    auto const left = static_cast<double>(mallinfo2().uordblks) - static_cast<double>(used);
    RecordProperty("bytes_left_per_peer", static_cast<int>(left / count));
    EXPECT_LT(left / count, 4096); // an address and a number; buffers are of 64 KiB and more
}

TEST_P(killed_peer, mayJustFallSilent) {
    if (!GetParam().of->needs_live_peers) GTEST_SKIP() << "the system answers for it";
    end a(maker_by_name(GetParam().of->name));
    victim it(GetParam().of->name);
    ASSERT_GT(it.process, 0);
    int token = 0;
    a.send(it.name, 1, pattern(1000, 1), memory::copy);
    ASSERT_TRUE(until([&] { return a.got.size() == 1; }, a));
    ::kill(it.process, SIGSTOP);
    auto const stopped = steady_clock::now();
    // Also when nothing is sent: somebody may wait to receive.
    ASSERT_TRUE(until([&] { return !a.closings.empty(); }, a));
    EXPECT_NE(a.closings[0], 0);
    EXPECT_GT(steady_clock::now() - stopped, milliseconds(100));
    a.send(it.name, 2, pattern(1000, 1), memory::borrow, &token);
    ASSERT_TRUE(until([&] { return a.closings.size() == 2; }, a));
    EXPECT_EQ(a.failures[&token], ETIMEDOUT);
}

std::vector<variant> without_switches() {
    auto all = transports();
    std::erase_if(all, [](variant const& one) { return *one.switches; });
    return all;
}
INSTANTIATE_TEST_SUITE_P(, killed_peer, testing::ValuesIn(without_switches()),
                         [](auto const& it) { return name_of(it.param); });

} // namespace
} // namespace assay::net
