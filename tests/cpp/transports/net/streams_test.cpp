// Several connections to a peer, with a peer that is made of sockets: it says what comes over which of them, and when. And what
// TCP_CORK holds back.
#include "tests/cpp/transports/net/tcp_by_hand.hpp"

#include <cerrno>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace assay::net {
namespace {

constexpr unsigned streams = 3;

std::unique_ptr<wire> make(sink& to) {
    tcp::options how;
    how.streams = streams;
    return tcp::make(to, how);
}
std::unique_ptr<wire> corked(sink& to) {
    tcp::options how;
    how.cork = true;
    return tcp::make(to, how);
}

class raw {
public:
    raw() {
        auto const at = any_port("lo");
        listener_ = socket(as_sockaddr(at)->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(bind(listener_, as_sockaddr(at), length(at)), 0);
        EXPECT_EQ(listen(listener_, 8), 0);
        name = bound_to(listener_);
    }
    ~raw() {
        for (int const fd : fds) close(fd);
        close(listener_);
    }
    raw(raw const&) = delete;
    raw& operator=(raw const&) = delete;

    void call(end const& other) {
        for (unsigned k = 0; k < streams; ++k) {
            fds.push_back(assay::net::call(other));
            put(k, greeting(name + static_cast<char>(k)));
        }
    }
    // `count` connections.
    void take(unsigned count, end& other) {
        while (fds.size() < count) {
            pollfd one{listener_, POLLIN, 0};
            (*other).poll();
            if (::poll(&one, 1, 1) == 1) fds.push_back(accept(listener_, nullptr, nullptr));
        }
    }
    void put(unsigned stream, std::string const& bytes) { assay::net::put(fds[stream], bytes); }
    // A fragment: bytes [from, from + part) of a frame's payload.
    void fragment(unsigned stream, std::uint32_t number, bytes const& payload, std::uint64_t from, std::uint64_t part) {
        fragment(stream, number, payload.size(), from, std::string(payload.begin(), payload.end()).substr(from, part));
    }
    void fragment(unsigned stream, std::uint32_t number, std::uint64_t whole, std::uint64_t from,
                  std::string const& part) {
        put(stream, bytes_of(number, whole, from, part));
    }
    static std::string bytes_of(std::uint32_t number, std::uint64_t whole, std::uint64_t from,
                                std::string const& part) {
        std::string out(prefix_size + (from == 0 ? head_size : 0), '\0');
        std::uint64_t const size = out.size() - prefix_size + part.size();
        std::memcpy(out.data(), &size, sizeof size);
        std::memcpy(out.data() + 8, &number, sizeof number);
        std::memcpy(out.data() + 16, &whole, sizeof whole);
        std::memcpy(out.data() + 24, &from, sizeof from);
        if (from == 0) out[prefix_size] = static_cast<char>(number + 1); // the mark
        return out + part;
    }
    // What has come over a connection, up to 1 MB of it.
    std::size_t taken(unsigned stream) const {
        std::vector<char> bytes(1'000'000);
        auto const n = recv(fds[stream], bytes.data(), bytes.size(), MSG_DONTWAIT);
        return n > 0 ? static_cast<std::size_t>(n) : 0;
    }

    address name;
    std::vector<int> fds;

private:
    int listener_;
};

TEST(streams, framesComeInTheOrderOfTheirNumbers) {
    end b(make);
    raw a;
    a.call(b);
    a.fragment(2, 2, bytes{}, 0, 0);
    a.fragment(1, 1, pattern(100, 1), 0, 100);
    idle(b);
    EXPECT_TRUE(b.got.empty());
    a.fragment(0, 0, pattern(5, 0), 0, 5);
    ASSERT_TRUE(until([&] { return b.got.size() == 3; }, b));
    for (unsigned k = 0; k < 3; ++k) EXPECT_EQ(b.got[k].mark, k + 1);
    EXPECT_EQ(b.got[1].payload, pattern(100, 1));
    EXPECT_EQ((*b).address_of(b.got[0].from), a.name);
    EXPECT_EQ((*b).counted().held, 2u);
    EXPECT_EQ((*b).counted().frames_received, 3u);
}

TEST(streams, fragmentsComeInAnyOrder) {
    end b(make);
    raw a;
    a.call(b);
    auto const one = pattern(10'000, 1), two = pattern(20'000, 2);
    a.fragment(1, 1, two, 15'000, 5'000);
    a.fragment(1, 0, one, 6'000, 4'000);
    idle(b);
    a.fragment(2, 1, two, 0, 5'000);
    a.fragment(0, 0, one, 0, 1'000);
    idle(b);
    EXPECT_TRUE(b.got.empty());
    a.fragment(2, 0, one, 1'000, 5'000); // its place is known now
    a.fragment(2, 1, two, 5'000, 10'000);
    ASSERT_TRUE(until([&] { return b.got.size() == 2; }, b));
    EXPECT_EQ(b.got[0].payload, one);
    EXPECT_EQ(b.got[1].payload, two);
}

TEST(streams, whatComesForAWithdrawnSegmentIsDropped) {
    struct stopping : end {
        using end::end;
        destination begun(peer from, std::byte const* head, std::uint64_t size) override {
            auto const it = end::begun(from, head, size);
            token = it.token;
            return it;
        }
        void* token = nullptr;
    } b(make);
    raw a;
    a.call(b);
    auto const data = pattern(10'000, 1);
    a.fragment(0, 0, data, 0, 1'000);
    ASSERT_TRUE(until([&] { return b.token != nullptr; }, b));
    (*b).withdraw(b.token);
    a.fragment(1, 0, data, 1'000, 9'000);
    ASSERT_TRUE(until([&] { return b.got.size() == 1; }, b));
    EXPECT_EQ(b.got[0].payload[999], data[999]);
    EXPECT_EQ(b.got[0].payload[1'000], 0xa5);
}

// Over all connections, and over those that have room when one has not.
TEST(streams, aConnectionThatIsStuckDoesNotHoldUpTheOthers) {
    end a(make);
    raw b;
    constexpr std::size_t size = 64'000'000; // far more than the system takes for one connection
    auto const data = pattern(size, 1);
    a.send(b.name, 1, data, memory::borrow, &a);
    b.take(streams, a);
    std::size_t got = 0;
    EXPECT_TRUE(until([&] { return (got += b.taken(0) + b.taken(2)) > size / 2; }, a)) << got;
    EXPECT_TRUE(a.freed.empty());
    EXPECT_TRUE(until(
        [&] {
            for (unsigned k = 0; k < streams; ++k) b.taken(k);
            return !a.freed.empty();
        },
        a));
}

// Only so much is kept of what comes over other connections than the one that is waited for; nothing of it is lost.
TEST(streams, whatIsFarAheadIsTakenLater) {
    end b(make);
    raw a;
    a.call(b);
    constexpr std::uint32_t count = 1000;
    auto const data = pattern(64 * 1024, 1);
    std::string rest;
    std::uint32_t made = 1;
    std::size_t sent = 0;
    // Sends frames 1, 2, … over one connection until the other side takes no more for a while.
    auto const send = [&] {
        for (int idle_polls = 0; idle_polls < 200;) {
            if (rest.empty() && made < count) rest = raw::bytes_of(made++, data.size(), 0, {data.begin(), data.end()});
            if (rest.empty()) return;
            auto const n = ::send(a.fds[1], rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n > 0) {
                sent += static_cast<std::size_t>(n);
                rest.erase(0, static_cast<std::size_t>(n));
                idle_polls = 0;
            } else ++idle_polls;
            (*b).poll();
        }
    };
    send();
    EXPECT_LT(sent, 32u << 20); // what is kept, and what the system has room for
    a.fragment(0, 0, bytes{}, 0, 0);
    EXPECT_TRUE(until(
        [&] {
            send();
            return b.got.size() == count;
        },
        b))
        << b.got.size();
    for (std::uint32_t k = 0; k < b.got.size(); ++k) EXPECT_EQ(b.got[k].mark, static_cast<unsigned char>(k + 1));
    EXPECT_EQ(b.got.back().payload, data);
    EXPECT_TRUE(b.closings.empty());
}

TEST(streams, onePeerEndsWithOneOfItsConnections) {
    end b(make);
    raw a;
    a.call(b);
    a.fragment(0, 0, pattern(10'000, 1), 0, 100); // begun, and never complete
    ASSERT_TRUE(until([&] { return (*b).counted().frames_received == 1; }, b));
    linger const at_once{1, 0};
    setsockopt(a.fds[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(a.fds[0]); // a reset
    a.fds.erase(a.fds.begin());
    ASSERT_TRUE(until([&] { return !b.closings.empty(); }, b));
    idle(b);
    EXPECT_EQ(b.closings, std::vector<int>{ECONNRESET});
    EXPECT_EQ(b.losses, 1);
    raw again; // and others are heard
    again.call(b);
    again.fragment(1, 0, bytes{}, 0, 0);
    EXPECT_TRUE(until([&] { return b.got.size() == 1; }, b));
}

TEST(streams, whatIsNoFragmentEndsThePeer) {
    struct lie {
        std::uint32_t number;
        std::uint64_t whole, from;
        std::size_t part;
    };
    for (auto const& it : {lie{0, 100, 200, 0}, lie{0, 100, 50, 60}, lie{0, 10, 0, 11}, lie{0xffff'fff0, 10, 0, 10}}) {
        end b(make);
        raw a;
        a.call(b);
        a.fragment(1, it.number, it.whole, it.from, std::string(it.part, 'x'));
        ASSERT_TRUE(until([&] { return !b.closings.empty(); }, b)) << it.number << " " << it.from;
        EXPECT_EQ(b.closings[0], EPROTO);
        EXPECT_TRUE(b.got.empty());
    }
    end b(make);
    raw a;
    a.call(b);
    a.fragment(0, 0, pattern(100, 1), 0, 50);
    a.fragment(0, 0, pattern(100, 1), 0, 50); // twice
    ASSERT_TRUE(until([&] { return !b.closings.empty(); }, b));
    EXPECT_EQ(b.closings[0], EPROTO);
    raw again;
    again.call(b);
    std::uint64_t const long_one[] = {1 << 30, 0, 1 << 30, 1}; // more than a fragment has
    std::string out(prefix_size, '\0');
    std::memcpy(out.data(), long_one, sizeof long_one);
    again.put(0, out);
    ASSERT_TRUE(until([&] { return b.closings.size() == 2; }, b));
    EXPECT_EQ(b.closings[1], EPROTO);
}

TEST(cork, holdsBackUntilTheNextPoll) {
    end a(corked);
    raw b;
    a.send(b.name, 0, {}, memory::copy);
    b.take(1, a);
    idle(a);
    EXPECT_EQ(b.taken(0), greeting_size + prefix_size);
    for (unsigned char k = 0; k < 3; ++k) a.send(b.name, k, {}, memory::copy);
    usleep(20'000); // it would be there at once
    EXPECT_EQ(b.taken(0), 0u);
    (*a).poll();
    usleep(20'000);
    EXPECT_EQ(b.taken(0), 3 * prefix_size);
}

} // namespace
} // namespace assay::net
