// What every wire promises, without libfabric: the same tests for all of them.
#include "tests/cpp/transports/net/wire_end.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <thread>

namespace assay::net {
namespace {

struct wires : testing::TestWithParam<variant> {
    std::function<std::unique_ptr<wire>(sink&)> make = maker(*GetParam().of, GetParam().switches);
};
INSTANTIATE_TEST_SUITE_P(, wires, testing::ValuesIn(transports()), [](auto const& it) { return name_of(it.param); });

TEST_P(wires, carriesAllSizesInOrder) {
    end a(make), b(make);
    std::vector<bytes> sent;
    for (std::size_t const size : {0, 1, 2, 55, 56, 57, 4096, 65535, 262144, 262145, 3'000'001, 0, 17})
        sent.push_back(pattern(size, static_cast<unsigned>(sent.size())));
    for (std::size_t k = 0; k < sent.size(); ++k) a.send(b.name, static_cast<unsigned char>(k), sent[k]);
    ASSERT_TRUE(until([&] { return b.got.size() == sent.size(); }, a, b));
    for (std::size_t k = 0; k < sent.size(); ++k) {
        EXPECT_EQ(b.got[k].mark, k);
        EXPECT_EQ(b.got[k].payload, sent[k]) << k;
    }
}

TEST_P(wires, carriesOverIPv6) {
    end a(make, AF_INET6), b(make, AF_INET6);
    ASSERT_EQ(as_sockaddr(b.name)->sa_family, AF_INET6);
    b.on_arrival = [&](end::frame const& it) { b.send((*b).address_of(it.from), 2, it.payload, memory::copy); };
    auto const data = pattern(500'000, 1);
    a.send(b.name, 1, data);
    ASSERT_TRUE(until([&] { return a.got.size() == 1; }, a, b));
    EXPECT_EQ(a.got[0].payload, data);
}

TEST_P(wires, answersOnTheConnectionItWasCalledBy) {
    end a(make), b(make);
    b.on_arrival = [&](end::frame const& it) { b.send((*b).address_of(it.from), 2, {9, 8, 7}, memory::copy); };
    a.send(b.name, 1, {});
    ASSERT_TRUE(until([&] { return a.got.size() == 1; }, a, b));
    EXPECT_EQ(a.got[0].payload, (bytes{9, 8, 7}));
    EXPECT_EQ((*a).address_of(a.got[0].from), b.name);
    EXPECT_EQ((*b).counted().connections, 0u);
    EXPECT_EQ((*b).counted().accepted, (*a).counted().connections);
}

TEST_P(wires, keepsOrderWhenBothConnectAtOnce) {
    end a(make), b(make);
    for (unsigned char k = 0; k < 100; ++k) {
        a.send(b.name, k, pattern(k, k), memory::copy);
        b.send(a.name, k, pattern(k, k), memory::copy);
    }
    ASSERT_TRUE(until([&] { return a.got.size() == 100 && b.got.size() == 100; }, a, b));
    for (unsigned char k = 0; k < 100; ++k) {
        EXPECT_EQ(a.got[k].mark, k);
        EXPECT_EQ(b.got[k].payload, pattern(k, k));
    }
}

TEST_P(wires, keepsOrderAcrossFlows) {
    end a(make), b(make);
    constexpr unsigned count = 3000;
    for (unsigned k = 0; k < count; ++k)
        a.send(b.name, static_cast<unsigned char>(k), pattern(k % 50 == 0 ? 100'000 : k % 300, k), memory::copy,
               nullptr, {.context = k % 3, .tag = k % 7, .control = k % 11 == 0});
    ASSERT_TRUE(until([&] { return b.got.size() == count; }, a, b));
    for (unsigned k = 0; k < count; ++k) {
        ASSERT_EQ(b.got[k].mark, static_cast<unsigned char>(k)) << k;
        ASSERT_EQ(b.got[k].payload, pattern(k % 50 == 0 ? 100'000 : k % 300, k)) << k;
    }
}

// Whoever has something all the time is not the only one who is heard.
TEST_P(wires, hearsAllWhileOneTalks) {
    end busy(make), quiet(make), b(make);
    quiet.send(b.name, 1, {});
    ASSERT_TRUE(until([&] { return b.got.size() == 1; }, quiet, b)); // both are connected
    busy.send(b.name, 1, {});
    ASSERT_TRUE(until([&] { return b.got.size() == 2; }, busy, b));
    for (unsigned k = 0; k < 100; ++k) { // so that it is the one to be expected
        busy.send(b.name, 1, {}, memory::copy);
        ASSERT_TRUE(until([&] { return b.got.size() == 3 + k; }, busy, b));
    }
    quiet.send(b.name, 2, {}, memory::copy);
    (*quiet).poll(); // what it may have held back goes
    bool heard = false;
    for (unsigned k = 0; k < 1000 && !heard; ++k) {
        busy.send(b.name, 1, {}, memory::copy);
        ASSERT_TRUE(until([&] { return b.got.size() >= 103 + k; }, busy, b));
        heard = std::any_of(b.got.begin(), b.got.end(), [](end::frame const& it) { return it.mark == 2; });
    }
    EXPECT_TRUE(heard);
}

TEST_P(wires, reachesItself) {
    end a(make);
    auto const data = pattern(100'000, 3);
    a.send(a.name, 1, data, memory::copy);
    ASSERT_TRUE(until([&] { return a.got.size() == 1; }, a));
    EXPECT_EQ(a.got[0].payload, data);
    EXPECT_EQ((*a).address_of(a.got[0].from), a.name);
}

TEST_P(wires, saysWhenBorrowedMemoryIsFree) {
    end a(make), b(make);
    auto const data = pattern(20'000'000, 1); // more than the system takes at once
    int token = 0;
    EXPECT_FALSE(a.send(b.name, 1, data, memory::borrow, &token));
    EXPECT_TRUE(a.freed.empty());
    ASSERT_TRUE(until([&] { return b.got.size() == 1 && a.freed.size() == 1; }, a, b));
    EXPECT_EQ(a.freed[0], &token);
    EXPECT_EQ(b.got[0].payload, data);
}

// Whoever is told that a frame is sent may turn to something else.
TEST_P(wires, whatIsSentNeedsNoMorePolling) {
    for (std::size_t const size : {900'000, 1'048'576, 1'100'000, 3'000'000}) {
        end a(make), b(make);
        a.send(b.name, 1, {}, memory::copy);
        ASSERT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
        auto const data = pattern(size, 1);
        if (!a.send(b.name, 2, data, memory::borrow, &a)) {
            ASSERT_TRUE(until([&] { return !a.freed.empty(); }, a, b));
        }
        ASSERT_TRUE(until([&] { return b.got.size() == 2; }, b)) << size;
        EXPECT_EQ(b.got[1].payload, data);
    }
}

TEST_P(wires, copiesWhatItCannotSendAtOnce) {
    end a(make), b(make);
    auto data = pattern(20'000'000, 1);
    auto const kept = data;
    EXPECT_TRUE(a.send(b.name, 1, data, memory::copy));
    std::fill(data.begin(), data.end(), std::uint8_t{0});
    ASSERT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
    EXPECT_EQ(b.got[0].payload, kept);
}

TEST_P(wires, takesAnyNumberOfPieces) {
    for (unsigned const pieces : {1u, 14u, 15u, 16u, 17u, 40u, 300u}) {
        end a(make), b(make);
        a.pieces = b.pieces = pieces;
        std::vector<bytes> sent;
        for (std::size_t const size : {5, 3000, 70'000, 3'000'000})
            sent.push_back(pattern(size, static_cast<unsigned>(sent.size())));
        for (auto const& one : sent) a.send(b.name, 1, one);
        ASSERT_TRUE(until([&] { return b.got.size() == sent.size(); }, a, b)) << pieces;
        for (std::size_t k = 0; k < sent.size(); ++k) EXPECT_EQ(b.got[k].payload, sent[k]) << pieces << " pieces";
    }
}

// Borrowed memory that has to be given back before all of it is sent.
TEST_P(wires, keepsWhatIsLeft) {
    for (std::size_t const size : {3'000'000, 20'000'000}) {
        end a(make), b(make);
        auto data = pattern(size, 1);
        auto const before = data;
        int token = 0;
        bool const at_once = a.send(b.name, 1, data, memory::borrow, &token);
        (*a).poll();
        (*a).keep(&token);
        std::fill(data.begin(), data.end(), std::uint8_t{0});
        ASSERT_TRUE(until([&] { return b.got.size() == 1 && (at_once || !a.freed.empty()); }, a, b));
        EXPECT_EQ(b.got[0].payload, before);
        EXPECT_EQ(a.freed.size(), at_once ? 0u : 1u);
    }
}

TEST_P(wires, givesUpAPeer) {
    end a(make), b(make);
    a.send(b.name, 1, {5}, memory::copy);
    ASSERT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
    int token = 0;
    auto const data = pattern(20'000'000, 1);
    a.send(b.name, 2, data, memory::borrow, &token);
    (*a).give_up((*a).reach(b.name), EPROTO);
    EXPECT_TRUE(a.closings.empty()); // not before the next poll()
    ASSERT_TRUE(until([&] { return !a.closings.empty() && !b.closings.empty(); }, a, b));
    EXPECT_EQ(a.closings, std::vector<int>{EPROTO});
    EXPECT_EQ(a.failures, (std::map<void*, int>{{&token, EPROTO}}));
    a.send(b.name, 3, {6}, memory::copy); // another connection
    EXPECT_TRUE(until([&] { return b.got.size() == 2; }, a, b));
}

TEST_P(wires, dropsWhatHasNoPlace) {
    end a(make), b(make);
    b.room_for = 1000;
    auto const data = pattern(1'000'000, 5);
    a.send(b.name, 1, data);
    a.send(b.name, 2, {42}, memory::copy);
    ASSERT_TRUE(until([&] { return b.got.size() == 2; }, a, b));
    EXPECT_TRUE(std::equal(data.begin(), data.begin() + 1000, b.got[0].payload.begin()));
    EXPECT_EQ(b.got[0].payload[1000], 0xa5);
    EXPECT_EQ(b.got[1].payload, bytes{42});
}

TEST_P(wires, reportsAPeerThatIsNotThere) {
    address gone;
    {
        end b(make);
        gone = b.name;
    }
    end a(make);
    int token = 0;
    bytes const data{1, 2, 3};
    a.send(gone, 1, data, memory::borrow, &token);
    ASSERT_TRUE(until([&] { return !a.closings.empty(); }, a));
    EXPECT_EQ(a.failures[&token], ECONNREFUSED);
    EXPECT_EQ(a.closings[0], ECONNREFUSED);
}

TEST_P(wires, reportsAPeerThatCloses) {
    end a(make);
    {
        end b(make);
        b.send(a.name, 1, {5}, memory::copy);
        a.send(b.name, 1, {5}, memory::copy);
        ASSERT_TRUE(until([&] { return a.got.size() == 1 && b.got.size() == 1; }, a, b));
    }
    ASSERT_TRUE(until([&] { return !a.closings.empty(); }, a));
    EXPECT_EQ(a.closings, std::vector<int>{0});
}

TEST_P(wires, flushWaitsForTheSystem) {
    end a(make), b(make);
    auto const data = pattern(20'000'000, 1);
    a.send(b.name, 1, data, memory::copy);
    EXPECT_FALSE((*a).flush(std::chrono::milliseconds(1))); // nobody reads
    EXPECT_GT((*a).backlog((*a).reach(b.name)), 0u);
    ASSERT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
    EXPECT_TRUE((*a).flush(std::chrono::milliseconds(500))); // the other side may have to acknowledge it
    EXPECT_EQ((*a).backlog((*a).reach(b.name)), 0u);
}

// The other side is slow, and has something to say that nobody hears any more.
// Programs that are reached at a port that others know open it again.
TEST_P(wires, listensAgainWhereItListened) {
    end a(make);
    address name;
    {
        end b(make);
        name = b.name;
        a.send(name, 1, {});
        ASSERT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
    }
    EXPECT_EQ(make(a)->listen(name), name); // a has not looked yet: it takes the connection for open
}

TEST_P(wires, whatWasSentArrivesThoughTheSenderCloses) {
    constexpr std::size_t count = 300;
    auto a = std::make_unique<end>(make);
    end b(make);
    a->send(b.name, 0, {}, memory::copy);
    ASSERT_TRUE(until([&] { return b.got.size() == 1; }, *a, b));
    auto const name = a->name;
    std::thread sender([&] {
        for (std::size_t k = 0; k < count; ++k)
            a->send(b.name, static_cast<unsigned char>(k), pattern(50'000, static_cast<unsigned>(k)), memory::copy);
        EXPECT_TRUE((**a).flush(std::chrono::seconds(2)));
        a.reset();
    });
    EXPECT_TRUE(until(
        [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            if (b.closings.empty()) b.send(name, 1, {1}, memory::copy);
            return b.got.size() == 1 + count && !b.closings.empty();
        },
        b));
    sender.join();
    ASSERT_EQ(b.got.size(), 1 + count);
    for (std::size_t k = 0; k < count; ++k)
        ASSERT_EQ(b.got[1 + k].payload, pattern(50'000, static_cast<unsigned>(k))) << k;
    EXPECT_EQ(b.closings, std::vector<int>{0});
}

TEST(any_port, isOfAnInterface) {
    EXPECT_NO_THROW(any_port());
    EXPECT_THROW(any_port("no-such-interface"), std::system_error);
    EXPECT_THROW(any_port("lo", AF_UNIX), std::system_error);
    EXPECT_EQ(as_sockaddr(any_port("lo", AF_INET6))->sa_family, AF_INET6);
}

} // namespace
} // namespace assay::net
