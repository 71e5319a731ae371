// Who calls whom over TCP: of two connections that ends make to each other at once, one stays.
#include "tests/cpp/transports/net/tcp_by_hand.hpp"

#include <array>
#include <cerrno>
#include <map>
#include <netinet/in.h>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace assay::net {
namespace {

std::unique_ptr<wire> make(sink& to) { return tcp::make(to, {}); }

bool descriptor_ends(int fd) {
    char byte = 0;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

TEST(calls, oneConnectionStaysWhenBothCall) {
    for (int turn = 0; turn < 20; ++turn) {
        end a(make), b(make);
        auto const before = descriptors();
        for (unsigned char k = 0; k < 3; ++k) {
            a.send(b.name, k, pattern(k, k), memory::copy);
            b.send(a.name, k, pattern(k, k), memory::copy);
        }
        ASSERT_TRUE(until([&] { return a.got.size() == 3 && b.got.size() == 3; }, a, b));
        ASSERT_TRUE(until([&] { return descriptors() == before + 2; }, a, b)) << descriptors() - before;
        EXPECT_EQ((*a).counted().connections + (*b).counted().connections, 2u);
        a.send(b.name, 3, {}, memory::copy);
        b.send(a.name, 3, {}, memory::copy);
        ASSERT_TRUE(until([&] { return a.got.size() == 4 && b.got.size() == 4; }, a, b));
        for (unsigned char k = 0; k < 4; ++k) {
            EXPECT_EQ(a.got[k].mark, k);
            EXPECT_EQ(b.got[k].mark, k);
        }
        EXPECT_TRUE(a.closings.empty() && b.closings.empty());
    }
}

// Whichever of two calls.
TEST(calls, theCalledOneNeedsNoConnectionOfItsOwn) {
    auto const data = pattern(1'000'000, 1);
    for (bool const higher : {true, false}) {
        end a(make), b(make);
        auto& caller = higher == (a.name > b.name) ? a : b;
        auto& called = &caller == &a ? b : a;
        auto const before = descriptors();
        caller.send(called.name, 1, data, memory::borrow, &caller);
        ASSERT_TRUE(until([&] { return !called.got.empty() && !caller.freed.empty(); }, a, b));
        EXPECT_EQ(called.got[0].payload, data);
        called.send(caller.name, 2, {}, memory::copy);
        ASSERT_TRUE(until([&] { return !caller.got.empty(); }, a, b));
        EXPECT_EQ(descriptors(), before + 2);
    }
}

// Whether it goes at once or waits until somebody has answered.
TEST(calls, memoryThatCannotBeReadIsAnError) {
    constexpr std::size_t size = 1'000'000;
    void* const unreadable = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(unreadable, MAP_FAILED);
    for (bool const at_once : {true, false}) {
        end a(make), b(make);
        if (at_once) {
            a.send(b.name, 1, {}, memory::copy);
            ASSERT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
        }
        std::array<std::byte, head_size> const head{};
        iovec const piece{unreadable, size};
        EXPECT_FALSE((*a).send((*a).reach(b.name), head.data(), {&piece, 1}, {}, memory::borrow, &a));
        ASSERT_TRUE(until([&] { return !a.failures.empty() && (!at_once || !b.closings.empty()); }, a, b));
        EXPECT_EQ(a.failures, (std::map<void*, int>{{&a, EFAULT}}));
        EXPECT_EQ(a.closings, std::vector{EFAULT});
    }
    munmap(unreadable, size);
}

// A program's end, and one by hand that has a higher address and that it has called.
struct by_hand : testing::Test {
    by_hand() {
        do {
            if (listener >= 0) fds.push_back(listener);
            auto const at = any_port("lo");
            listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            EXPECT_EQ(bind(listener, as_sockaddr(at), length(at)), 0);
            name = bound_to(listener);
        } while (name < a.name);
        EXPECT_EQ(listen(listener, 8), 0);
        a.send(name, 9, {}, memory::copy);
        EXPECT_TRUE(until([&] { return (*a).counted().bytes_sent > 0; }, a));
        fds.push_back(called = accept(listener, nullptr, nullptr));
    }
    ~by_hand() override {
        close(listener);
        for (int const fd : fds) close(fd);
    }
    int call(std::uint32_t serial) {
        fds.push_back(assay::net::call(a));
        put(fds.back(), greeting(name, serial));
        return fds.back();
    }
    static std::string frame(char mark, std::string const& payload = {}) {
        std::uint64_t const size = payload.size();
        std::string bytes(reinterpret_cast<char const*>(&size), sizeof size);
        bytes += mark;
        bytes.resize(prefix_size);
        return bytes + payload;
    }
    static std::string moved(std::uint32_t serial) {
        std::string bytes(sizeof(std::uint64_t), '\xff');
        bytes.append(reinterpret_cast<char const*>(&serial), sizeof serial).resize(prefix_size);
        return bytes;
    }
    end a{make};
    address name;
    int listener = -1, called = -1;
    std::vector<int> fds;
};

TEST_F(by_hand, whatMovedComesBehindWhatWasSentBefore) {
    put(called, moved(3) + frame(2, "two") + frame(3));
    idle(a);
    EXPECT_TRUE(a.got.empty());
    int const own = call(3);
    put(own, frame(1, "one").substr(0, prefix_size + 1)); // the rest is on its way
    idle(a);
    put(called, frame(4));
    put(own, "ne");
    idle(a);
    EXPECT_EQ(a.got.size(), 1u); // more may come there
    shutdown(own, SHUT_WR);
    ASSERT_TRUE(until([&] { return a.got.size() == 4; }, a));
    for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(a.got[k].mark, k + 1);
    EXPECT_TRUE(until([&] { return descriptor_ends(own); }, a)) << "the connection that was left is not closed";
    // Now the end has been seen before.
    put(called, moved(3) + frame(5));
    EXPECT_TRUE(until([&] { return a.got.size() == 5; }, a));
    EXPECT_TRUE(a.closings.empty());
}

TEST_F(by_hand, whatMovedIsLostWithWhatWasSentBefore) {
    int const own = call(3);
    put(own, frame(1, "one").substr(0, prefix_size + 1));
    put(called, moved(3) + frame(2));
    idle(a);
    linger const at_once{1, 0};
    setsockopt(own, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    std::erase(fds, own);
    close(own); // a reset
    ASSERT_TRUE(until([&] { return !a.closings.empty(); }, a));
    EXPECT_EQ(a.closings, std::vector<int>{ECONNRESET});
    EXPECT_TRUE(a.got.empty());
}

TEST_F(by_hand, nobodyMovesToAConnectionOfItsOwn) {
    int const own = call(3);
    put(own, moved(2) + frame(1));
    ASSERT_TRUE(until([&] { return descriptor_ends(own); }, a));
    EXPECT_TRUE(a.got.empty());
}

} // namespace
} // namespace assay::net
