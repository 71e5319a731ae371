// Files of packets: whole after each packet, with sums that are right in both versions of IP. The rest is for tshark to say.
#include "transports/net/interfaces.hpp"
#include "transports/net/pcap.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <netinet/in.h>
#include <numeric>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace assay::net {
namespace {

using bytes = std::vector<unsigned char>;

address of(char const* number, std::uint16_t port) {
    sockaddr_in four{};
    sockaddr_in6 six{};
    if (inet_pton(AF_INET, number, &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
        four.sin_port = htons(port);
        return from_sockaddr(reinterpret_cast<sockaddr const*>(&four));
    }
    inet_pton(AF_INET6, number, &six.sin6_addr);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    return from_sockaddr(reinterpret_cast<sockaddr const*>(&six));
}

struct pcaps : testing::Test {
    ~pcaps() override { std::filesystem::remove(path); }
    // The packets that are in the file now.
    std::vector<bytes> read() const {
        std::ifstream file(path, std::ios::binary);
        bytes const all{std::istreambuf_iterator<char>(file), {}};
        std::vector<bytes> found;
        for (std::size_t at = 24; at < all.size();) {
            std::uint32_t size = 0;
            std::memcpy(&size, all.data() + at + 8, sizeof size);
            at += 16;
            EXPECT_LE(at + size, all.size());
            if (at + size > all.size()) break;
            found.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                               all.begin() + static_cast<std::ptrdiff_t>(at + size));
            at += size;
        }
        return found;
    }
    std::string const path =
        (std::filesystem::temp_directory_path() / ("pcap_test." + std::to_string(getpid()))).string();
};

// What RFC 1071 says of a right packet: its words and those of the pseudo-header have the sum 0xffff.
unsigned sum(bytes const& packet) {
    bool const six = packet[0] >> 4 == 6;
    std::size_t const head = six ? 40 : 20, numbers = six ? 8 : 12;
    bytes all(packet.begin() + static_cast<std::ptrdiff_t>(numbers),
              packet.end()); // both addresses come last in the head
    auto const size = packet.size() - head;
    if (size % 2) all.push_back(0);
    for (unsigned const word : {static_cast<unsigned>(size), static_cast<unsigned>(packet[six ? 6 : 9])}) {
        all.push_back(static_cast<unsigned char>(word >> 8));
        all.push_back(static_cast<unsigned char>(word));
    }
    unsigned total = 0;
    for (std::size_t k = 0; k < all.size(); k += 2) total += all[k] << 8u | all[k + 1];
    while (total >> 16) total = (total & 0xffff) + (total >> 16);
    return total;
}

TEST_F(pcaps, areWholeAfterEachPacket) {
    pcap file(path);
    EXPECT_TRUE(read().empty());
    bytes data(1001);
    std::iota(data.begin(), data.end(), static_cast<unsigned char>(7));
    std::size_t count = 0;
    for (auto const* number : {"192.0.2.1", "2001:db8::1"})
        for (std::size_t const size : {0, 1, 2, 1000, 1001}) {
            auto const here = of(number, 1000), there = of(number, 2000);
            file.datagram(here, there, reinterpret_cast<std::byte const*>(data.data()), size);
            iovec const pieces[] = {{data.data(), size / 3}, {data.data() + size / 3, size - size / 3}};
            file.segment(here, there, {.number = 5, .acknowledged = 6, .flags = 0x18}, pieces);
            count += 2;
            auto const packets = read();
            ASSERT_EQ(packets.size(), count);
            for (auto const& one : {packets[count - 2], packets[count - 1]}) {
                EXPECT_EQ(sum(one), 0xffffu) << number << ' ' << size;
                EXPECT_TRUE(std::equal(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size),
                                       one.end() - static_cast<std::ptrdiff_t>(size)));
            }
        }
}

TEST_F(pcaps, haveSegmentsAsLongAsIpAllows) {
    pcap file(path);
    pcap_connection it(file, of("192.0.2.1", 1), of("192.0.2.2", 2), true);
    bytes data(2 * pcap::longest_segment + 3);
    iovec const pieces[] = {{data.data(), 10}, {data.data() + 10, data.size() - 10}};
    it.sent(pieces, data.size());
    it.sent(pieces, 10); // less than there is
    std::vector<std::size_t> sizes;
    std::vector<unsigned> flags;
    for (auto const& one : read()) {
        sizes.push_back(one.size() - 40);
        flags.push_back(one[33]);
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{0, 0, 0, pcap::longest_segment, pcap::longest_segment, 3, 10}));
    EXPECT_EQ(flags, (std::vector<unsigned>{2, 0x12, 0x10, 0x10, 0x10, 0x18, 0x18}));
}

TEST_F(pcaps, needAFolder) { EXPECT_THROW(pcap("/no/such/folder/file"), std::system_error); }

} // namespace
} // namespace assay::net
