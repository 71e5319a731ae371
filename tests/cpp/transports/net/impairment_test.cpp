// A bad network, and SCTP over it.
#include "tests/cpp/transports/net/wire_end.hpp"
#include "transports/net/impairment.hpp"
#include "transports/sctp/sctp.hpp"

#include <algorithm>

namespace assay::net {
namespace {

using std::chrono::milliseconds;
using clock = bad_network::clock;

std::vector<std::byte> numbered(unsigned number) {
    std::vector<std::byte> made(100);
    std::memcpy(made.data(), &number, sizeof number);
    return made;
}

// Numbers of the packets that arrive, one sent each 10 microseconds.
std::vector<unsigned> arriving(bad_network& network, unsigned count) {
    std::vector<unsigned> got;
    auto now = clock::time_point(std::chrono::hours(1));
    auto const look = [&] {
        for (auto const& one : network.take(now)) {
            unsigned number = 0;
            std::memcpy(&number, one.bytes.data(), sizeof number);
            got.push_back(number);
        }
    };
    for (unsigned k = 0; k < count; ++k) {
        auto const packet = numbered(k);
        network.put(0, packet.data(), packet.size(), now);
        look();
        now += std::chrono::microseconds(10);
    }
    now += std::chrono::seconds(10);
    look();
    EXPECT_TRUE(network.empty());
    return got;
}

TEST(bad_network, losesAndDoublesAsManyAsItShould) {
    bad_network losing({.loss = 5});
    auto const left = arriving(losing, 20'000);
    EXPECT_EQ(left.size(), 20'000 - losing.lost);
    EXPECT_NEAR(static_cast<double>(losing.lost), 1000, 150);
    bad_network doubling({.dup = 1});
    auto const more = arriving(doubling, 20'000);
    EXPECT_EQ(more.size(), 20'000 + doubling.doubled);
    EXPECT_NEAR(static_cast<double>(doubling.doubled), 200, 70);
}

TEST(bad_network, repeatsItself) {
    auto const run = [](std::uint64_t seed) {
        bad_network network({.loss = 5, .dup = 1, .reorder = 5, .seed = seed});
        return arriving(network, 1000);
    };
    EXPECT_EQ(run(1), run(1));
    EXPECT_NE(run(1), run(2));
}

TEST(bad_network, delaysAndReorders) {
    bad_network late({.delay = milliseconds(3)});
    auto const packet = numbered(1);
    clock::time_point const now(std::chrono::hours(1));
    late.put(0, packet.data(), packet.size(), now);
    EXPECT_TRUE(late.take(now + milliseconds(2)).empty());
    EXPECT_EQ(late.take(now + milliseconds(3)).size(), 1u);
    bad_network mixing({.reorder = 10});
    auto const got = arriving(mixing, 1000);
    EXPECT_EQ(got.size(), 1000u);
    EXPECT_FALSE(std::is_sorted(got.begin(), got.end()));
    EXPECT_GT(mixing.reordered, 0u);
}

TEST(bad_network, damagesOneBit) {
    bad_network network({.corrupt = 100});
    auto const packet = numbered(7);
    clock::time_point const now(std::chrono::hours(1));
    network.put(0, packet.data(), packet.size(), now);
    auto const got = network.take(now);
    ASSERT_EQ(got.size(), 1u);
    unsigned different = 0;
    for (std::size_t k = 0; k < packet.size(); ++k)
        different += static_cast<unsigned>(__builtin_popcount(std::to_integer<unsigned>(packet[k] ^ got[0].bytes[k])));
    EXPECT_EQ(different, 1u);
}

TEST(bad_network, goesDownForAWhile) {
    bad_network network({.down_at = milliseconds(2), .down_for = milliseconds(1)}); // packets 200 to 299
    auto const got = arriving(network, 1000);
    EXPECT_EQ(got.size(), 900u);
    EXPECT_EQ(got[199], 199u);
    EXPECT_EQ(got[200], 300u);
}

TEST(bad_network, goesDownOnOnePath) {
    bad_network network({.down_for = milliseconds(1), .down_path = 1});
    auto const packet = numbered(7);
    clock::time_point const now(std::chrono::hours(1));
    for (unsigned const path : {0, 1, 2}) network.put(path, packet.data(), packet.size(), now, path);
    auto const got = network.take(now);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].to, 0u);
    EXPECT_EQ(got[1].to, 2u);
}

TEST(bad_network, isAsSlowAsItShould) {
    bad_network network({.rate = 1}); // 100 bytes each 100 microseconds
    auto const packet = numbered(7);
    clock::time_point const now(std::chrono::hours(1));
    for (int k = 0; k < 10; ++k) network.put(0, packet.data(), packet.size(), now);
    EXPECT_EQ(network.take(now + std::chrono::microseconds(550)).size(), 5u);
    for (int k = 0; k < 2000; ++k) network.put(0, packet.data(), packet.size(), now);
    EXPECT_GT(network.lost, 900u); // a queue has an end
}

TEST(impairment, knowsItsWords) {
    impairment it;
    EXPECT_FALSE(it.any());
    for (auto const& [name, value] : std::map<std::string, std::string>{
             {"loss", "5"}, {"dup", "0.5"}, {"delay", "1.5"}, {"down", "100:50"}, {"seed", "7"}, {"rate", "2.5"}})
        EXPECT_TRUE(it.apply(name, value)) << name;
    EXPECT_TRUE(it.any());
    EXPECT_EQ(it.delay.count(), 1500);
    EXPECT_EQ(it.down_at, milliseconds(100));
    EXPECT_EQ(it.down_for, milliseconds(50));
    EXPECT_EQ(it.down_path, -1);
    EXPECT_TRUE(it.apply("down", "7:8.5:1"));
    EXPECT_EQ(it.down_for, std::chrono::microseconds(8500));
    EXPECT_EQ(it.down_path, 1);
    for (auto const& [name, value] : std::map<std::string, std::string>{{"loss", "101"},
                                                                        {"dup", "-1"},
                                                                        {"delay", "x"},
                                                                        {"down", "100"},
                                                                        {"down", "1:2:x"},
                                                                        {"down", "1:2:"},
                                                                        {"seed", ""},
                                                                        {"streams", "7"}})
        EXPECT_FALSE(it.apply(name, value)) << name;
}

// Every byte gets there, in order, whatever the network does: the seeds of the environment, or twenty.
TEST(sctp, survivesABadNetwork) {
    auto const* const wish = std::getenv("ASSAY_SEEDS");
    std::uint64_t const seeds = wish ? std::strtoull(wish, nullptr, 10) : 20;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        sctp::options how;
        how.mtu = 1500;
        how.network = {.loss = 5, .dup = 1, .reorder = 5, .corrupt = 1, .seed = seed};
        how.network.down_at = milliseconds(1); // in the middle, however fast the machine is
        how.network.down_for = milliseconds(50);
        auto const make = [how](sink& to) { return sctp::make(to, how); };
        end a(make), b(make);
        constexpr unsigned count = 100;
        auto const size = [](unsigned k) -> std::size_t { return k % 10 == 0 ? 50'000 : k * 13 % 2000; };
        for (unsigned k = 0; k < count; ++k) {
            flow const where{.tag = k % 5, .control = k % 7 == 0};
            a.send(b.name, static_cast<unsigned char>(k), pattern(size(k), k), memory::copy, nullptr, where);
            b.send(a.name, static_cast<unsigned char>(k), pattern(size(k), k + 1), memory::copy, nullptr, where);
        }
        auto const started = std::chrono::steady_clock::now();
        ASSERT_TRUE(until([&] { return a.got.size() == count && b.got.size() == count; }, a, b))
            << "seed " << seed << ": " << a.got.size() << " and " << b.got.size();
        EXPECT_GT(std::chrono::steady_clock::now() - started, milliseconds(50)); // there was an outage
        for (unsigned k = 0; k < count; ++k) {
            ASSERT_EQ(a.got[k].mark, k);
            ASSERT_EQ(b.got[k].payload, pattern(size(k), k)) << "seed " << seed << ", frame " << k;
            ASSERT_EQ(a.got[k].payload, pattern(size(k), k + 1)) << "seed " << seed << ", frame " << k;
        }
        EXPECT_TRUE(a.closings.empty());
        EXPECT_GT((*a).counted().dropped, 0u);
    }
}

} // namespace
} // namespace assay::net
