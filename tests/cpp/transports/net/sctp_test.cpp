// What SCTP has beyond what every wire promises: streams, fragments, checksums.
#include "tests/cpp/transports/net/wire_end.hpp"
#include "transports/net/crc32c.hpp"
#include "transports/sctp/association.hpp"

#include <algorithm>
#include <malloc.h>
#include <netinet/in.h>
#include <random>
#include <unistd.h>
#include <utility>

namespace assay::sctp {
namespace {

using net::bytes;
using net::pattern;
using net::until;

auto over(options const& how) {
    return [how](net::sink& to) { return make(to, how); };
}

// Segments of several flows; the numbers of those that arrived, in that order.
std::vector<unsigned> sent_over(options const& how, net::counters& counted) {
    net::end a(over(how)), b(over(how));
    constexpr unsigned count = 250; // marks are bytes
    for (unsigned k = 0; k < count; ++k)
        a.send(b.name, static_cast<unsigned char>(k), pattern(5000, k), net::memory::copy, nullptr, {.tag = k});
    EXPECT_TRUE(until([&] { return b.got.size() == count; }, a, b));
    counted = (*b).counted();
    std::vector<unsigned> order;
    for (auto const& one : b.got) {
        order.push_back(one.mark);
        EXPECT_EQ(one.payload, pattern(5000, one.mark));
    }
    return order;
}

TEST(sctp, ordersWhatCameOnDifferentStreams) {
    net::counters counted;
    auto const restored = sent_over({}, counted);
    EXPECT_TRUE(std::is_sorted(restored.begin(), restored.end()));
    EXPECT_GT(counted.held, 0u); // else there was nothing to order
    auto const as_they_came = sent_over({.ordered = false}, counted);
    EXPECT_FALSE(std::is_sorted(as_they_came.begin(), as_they_came.end()));
    auto const one_stream = sent_over({.map = stream_map::single, .ordered = false}, counted);
    EXPECT_TRUE(std::is_sorted(one_stream.begin(), one_stream.end()));
    auto const by_context = sent_over({.map = stream_map::context, .ordered = false}, counted);
    EXPECT_TRUE(std::is_sorted(by_context.begin(), by_context.end())); // all of one context
}

TEST(sctp, longOnesHoldNothingUpThatMayOvertake) {
    net::end a(over({})), b(over({}));
    auto const much = pattern(20'000'000, 1);
    a.send(b.name, 1, much, net::memory::borrow, &a, {.tag = 1, .unordered = true});
    a.send(b.name, 2, {7}, net::memory::copy, nullptr, {.tag = 2});
    ASSERT_TRUE(until([&] { return b.got.size() == 2; }, a, b));
    EXPECT_EQ(b.got[0].mark, 2);
    EXPECT_EQ(b.got[1].payload, much);
}

TEST(sctp, portsAreThoseOfUdp) {
    net::end a(over({})), b(over({}));
    EXPECT_NE(a.name, b.name);
    EXPECT_THROW(make(a, {})->listen(b.name), std::system_error);
}

// Fragments by hand.
struct assembled : testing::Test {
    bool take(front const& what, std::size_t size) {
        bytes data(sizeof what + (what.from == 0 ? net::head_size : 0) + size);
        std::memcpy(data.data(), &what, sizeof what);
        return in.take(
            reinterpret_cast<std::byte const*>(data.data()), data.size(), true,
            [&](std::byte const*, std::uint64_t length) {
                begun.push_back(length);
                return net::destination{{}, nullptr};
            },
            [&](void*) { ++ended; });
    }
    arrivals in;
    std::vector<std::uint64_t> begun;
    int ended = 0;
};

TEST_F(assembled, takesWhatComesInItsOrder) {
    EXPECT_TRUE(take({.number = 1, .size = 10}, 10));
    EXPECT_TRUE(take({.number = 2, .size = 20}, 5));
    EXPECT_EQ(ended, 0);
    EXPECT_TRUE(take({.number = 0, .unordered = 1, .size = 30}, 30));
    EXPECT_EQ(begun, std::vector<std::uint64_t>{30});
    EXPECT_TRUE(take({.number = 0, .size = 0}, 0));
    EXPECT_EQ(begun, (std::vector<std::uint64_t>{30, 0, 10, 20}));
    EXPECT_EQ(ended, 3);
    EXPECT_TRUE(take({.number = 2, .size = 20, .from = 5}, 15));
    EXPECT_EQ(ended, 4);
    EXPECT_EQ(in.held, 2u);
}

TEST_F(assembled, refusesWhatIsNoFragment) {
    std::byte const few[8]{};
    auto const nothing = [](auto...) { return net::destination{}; };
    EXPECT_FALSE(in.take(few, sizeof few, true, nothing, [](void*) {}));
    EXPECT_FALSE(take({.number = 0, .size = 10, .from = 5}, 5)); // its beginning is missing
    in = {};
    EXPECT_TRUE(take({.number = 0, .size = 10}, 4));
    EXPECT_FALSE(take({.number = 0, .size = 10, .from = 5}, 5)); // a byte is missing
    EXPECT_FALSE(take({.number = 0, .size = 11, .from = 4}, 5)); // another size
    EXPECT_FALSE(take({.number = 0, .size = 10, .from = 4}, 7)); // too long
    EXPECT_FALSE(take({.number = 0, .unordered = 2, .size = 1}, 1));
    EXPECT_TRUE(take({.number = 0, .size = 10, .from = 4}, 6));
    EXPECT_FALSE(take({.number = 0, .size = 10}, 4)); // again
}

TEST(crc32c, hasTheValuesOfRfc3720) { // B.4
    bytes up(32), down(32);
    for (unsigned char k = 0; k < 32; ++k) up[k] = down[31 - k] = k;
    bytes const read_command = {0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0,
                                0x14, 0,    0, 0, 0, 0, 4, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18,
                                0x28, 0,    0, 0, 0, 0, 0, 0, 2, 0, 0, 0,    0, 0, 0, 0};
    for (auto const& [data, sum] : {std::pair<bytes, std::uint32_t>{bytes(32, 0), 0x8a9136aa},
                                    {bytes(32, 0xff), 0x62a8ab43},
                                    {up, 0x46dd794e},
                                    {down, 0x113fdb5c},
                                    {read_command, 0xd9963a56}})
        EXPECT_EQ(net::crc32c(reinterpret_cast<std::byte const*>(data.data()), data.size()), sum);
}

// Its definition, bit by bit.
std::uint32_t castagnolis(std::byte const* data, std::size_t size) {
    auto value = ~std::uint32_t{0};
    for (std::size_t k = 0; k < size; ++k) {
        value ^= std::to_integer<std::uint32_t>(data[k]);
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0u);
    }
    return ~value;
}

TEST(crc32c, isOfAllSizesAndPlaces) {
    std::mt19937 random(1);
    std::vector<std::byte> much(3000);
    for (auto& one : much) one = static_cast<std::byte>(random());
    for (std::size_t size = 0; size < much.size() - 8; size += size < 600 ? 1 : 97)
        for (std::size_t at = 0; at < 8; ++at) {
            auto const* const data = much.data() + at;
            ASSERT_EQ(net::crc32c(data, size), castagnolis(data, size)) << size << " at " << at;
            auto const cut = size / 3;
            ASSERT_EQ(net::crc32c(data + cut, size - cut, net::crc32c(data, cut)), castagnolis(data, size)) << size;
        }
}

// A packet with a good checksum may come from any address, and costs nothing for long.
TEST(sctp, strangersAreForgotten) {
    net::end b(over({}));
    std::array<std::byte, 16> packet{}; // a chunk without an association: ABORT
    packet[12] = std::byte{6};
    packet[15] = std::byte{4};
    auto const port = reinterpret_cast<sockaddr_in const*>(net::as_sockaddr(b.name))->sin_port;
    std::memcpy(packet.data(), &port, sizeof port);
    std::memcpy(packet.data() + 2, &port, sizeof port);
    auto const sum = net::crc32c(packet.data(), packet.size());
    for (std::size_t k = 0; k < sizeof sum; ++k) packet[8 + k] = static_cast<std::byte>(sum >> 8 * k);
    auto const send_from = [&](std::uint32_t from, std::uint32_t to) {
        for (auto k = from; k < to; ++k) {
            sockaddr_in at{};
            at.sin_family = AF_INET;
            at.sin_addr.s_addr = htonl(0x7f020000 + k);
            int const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr const*>(&at), sizeof at), 0);
            EXPECT_EQ(::sendto(fd, packet.data(), packet.size(), 0, net::as_sockaddr(b.name), net::length(b.name)),
                      static_cast<ssize_t>(packet.size()));
            close(fd);
            (*b).poll();
        }
        for (int k = 0; k < 100; ++k) (*b).poll();
    };
    send_from(1, 3000); // more than are remembered
    auto const read = (*b).counted().reads;
    auto const used = mallinfo2().uordblks;
    send_from(3000, 23'000);
    EXPECT_GT((*b).counted().reads, read + 15'000); // else there was nothing to remember
    EXPECT_LT(static_cast<double>(mallinfo2().uordblks) - static_cast<double>(used), 1'000'000);
    // Others are still heard.
    net::end a(over({}));
    a.send(b.name, 1, {5}, net::memory::copy);
    EXPECT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
}

// A peer that leaves out one frame and sends the rest does not make this side keep all of it.
TEST(sctp, framesAheadOfTheirTurnAreKeptWithinALimit) {
    arrivals in;
    bytes const data(fragment_size - sizeof(front) - net::head_size, 1);
    std::vector<std::byte> fragment(fragment_size);
    std::size_t kept = 0;
    for (std::uint32_t number = 1; kept < (64u << 20); ++number) {
        front const what{.number = number, .size = data.size()};
        std::memcpy(fragment.data(), &what, sizeof what);
        std::memcpy(fragment.data() + sizeof what + net::head_size, data.data(), data.size());
        bool const good = in.take(
            fragment.data(), fragment.size(), true, [](auto const&...) { return net::destination{}; }, [](void*) {});
        if (!good) break;
        kept += data.size();
    }
    EXPECT_LT(kept, 64u << 20);
}

} // namespace
} // namespace assay::sctp
