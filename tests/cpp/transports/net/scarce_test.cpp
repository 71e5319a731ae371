// What is scarce, or does not answer: descriptors, callers that say nothing, hosts that are gone.
#include "tests/cpp/transports/net/tcp_by_hand.hpp"

#include <cerrno>
#include <cstdio>
#include <deque>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace assay::net {
namespace {

std::unique_ptr<wire> make(sink& to) { return tcp::make(to, {}); }

// No more than so many descriptors, as long as it lives.
struct few_descriptors {
    explicit few_descriptors(unsigned more) {
        getrlimit(RLIMIT_NOFILE, &before_);
        int const next = dup(0);
        ::close(next);
        auto limit = before_;
        limit.rlim_cur = static_cast<rlim_t>(next) + more;
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    }
    ~few_descriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

bool readable(int fd) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
}

TEST(descriptors, noMessageVanishesWhereTheyRunOut) {
    constexpr unsigned senders = 39;
    end b(make);
    std::deque<end> all;
    for (unsigned k = 0; k < senders; ++k) {
        all.emplace_back(make);
        all.back().send(b.name, static_cast<unsigned char>(k), pattern(1000, k), memory::borrow, &all.back());
    }
    auto const delivered = [&](unsigned k) {
        return std::any_of(b.got.begin(), b.got.end(), [&](end::frame const& it) { return it.mark == k; });
    };
    auto const settled = [&] {
        for (auto& one : all) (*one).poll();
        for (unsigned k = 0; k < senders; ++k)
            if (!delivered(k) && all[k].failures.empty()) return false;
        return true;
    };
    {
        few_descriptors const limit(10);
        for (auto& one : all) (*one).poll(); // what they have to say is on its way
        for (int k = 0; k < 200; ++k) (*b).poll();
        EXPECT_LT(b.got.size(), senders);
        EXPECT_FALSE(readable((*b).wait_fd())); // whoever sleeps until there is something to do can sleep
        EXPECT_TRUE(until(settled, b)) << b.got.size() << " of " << senders << " have come";
        for (unsigned k = 0; k < senders; ++k)
            if (delivered(k)) {
                EXPECT_TRUE(all[k].failures.empty()) << "what has come is reported as failed";
            }
    }
    // And with enough of them everything goes on.
    auto const before = b.got.size();
    for (auto& one : all) one.send(b.name, 200, {1}, memory::copy);
    EXPECT_TRUE(until(
        [&] {
            for (auto& one : all) (*one).poll();
            return b.got.size() == before + senders;
        },
        b));
}

TEST(descriptors, aCallWithoutOneSaysSo) {
    end a(make), b(make);
    int token = 0;
    {
        few_descriptors const limit(0);
        a.send(b.name, 1, {1}, memory::borrow, &token);
        ASSERT_TRUE(until([&] { return !a.closings.empty(); }, a));
    }
    EXPECT_EQ(a.failures[&token], EMFILE);
    EXPECT_EQ(a.closings, std::vector<int>{EMFILE});
    a.send(b.name, 2, {2}, memory::copy);
    EXPECT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
}

TEST(callers, thatSayNothingAreNotKept) {
    end a([](sink& to) { return tcp::make(to, {.greeting = std::chrono::milliseconds(100)}); });
    int const mute = call(a), half = call(a), greets = call(a);
    put(half, greeting("nobody").substr(0, 20));
    put(greets, greeting(a.name));
    char byte = 0;
    for (int const fd : {mute, half}) EXPECT_TRUE(until([&] { return recv(fd, &byte, 1, MSG_DONTWAIT) == 0; }, a));
    idle(a);
    EXPECT_LT(recv(greets, &byte, 1, MSG_DONTWAIT), 0); // it is still there
    EXPECT_EQ(errno, EAGAIN);
    for (int const fd : {mute, half, greets}) close(fd);
}

// In a network of its own, whose only interface goes down. Returns what the test found, as an exit code.
int vanish() {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return 77;
    int const control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    auto const turn = [control](bool on) {
        ifreq wish{};
        std::strcpy(wish.ifr_name, "lo");
        if (ioctl(control, SIOCGIFFLAGS, &wish) != 0) return false;
        wish.ifr_flags = static_cast<short>(on ? wish.ifr_flags | IFF_UP : wish.ifr_flags & ~IFF_UP);
        return ioctl(control, SIOCSIFFLAGS, &wish) == 0;
    };
    if (!turn(true)) return 77;
    auto const patient = [](sink& to) { return tcp::make(to, {.timeout = std::chrono::milliseconds(1000)}); };
    end waits(patient), sends(patient), b(make);
    for (auto* one : {&waits, &sends}) one->send(b.name, 1, {1}, memory::copy);
    if (!until([&] { return b.got.size() == 2; }, waits, sends, b)) return 2;
    if (!turn(false)) return 77;
    int token = 0;
    auto const data = pattern(20'000'000, 1);
    sends.send(b.name, 2, data, memory::borrow, &token);
    // One has nothing on its way, the other has.
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (waits.closings.empty() || sends.closings.empty()) {
        (*waits).poll();
        (*sends).poll();
        if (std::chrono::steady_clock::now() > limit) return 3;
        usleep(1000);
    }
    return waits.closings[0] == ETIMEDOUT && sends.failures.contains(&token) ? 0 : 4;
}

TEST(hosts, thatVanishAreNoticed) {
    std::fflush(nullptr);
    auto const child = fork();
    if (child == 0) _exit(vanish());
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "it may not make a network of its own";
    EXPECT_EQ(WEXITSTATUS(status), 0) << "2: no connection, 3: nothing was noticed in 20 s, 4: another error";
}

} // namespace
} // namespace assay::net
