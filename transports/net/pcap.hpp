// What goes over a wire, in a file that others can read: pcap with packets of IP (LINKTYPE_RAW). Each packet is written at once and by
// itself, so that a process that dies leaves all of them but perhaps the last.
#pragma once
#include "transports/net/wire.hpp"

#include <array>

namespace assay::net {

class pcap {
public:
    explicit pcap(std::string const& path); // throws std::system_error
    ~pcap();
    pcap(pcap const&) = delete;
    pcap& operator=(pcap const&) = delete;

    // A packet of UDP, as it is.
    void datagram(address const& from, address const& to, std::byte const* data, std::size_t size);

    // A packet of TCP with at most longest_segment bytes.
    static constexpr std::size_t longest_segment = 65'535 - 60;
    struct place {
        std::uint32_t number = 0, acknowledged = 0;
        std::uint8_t flags = 0;
    };
    void segment(address const& from, address const& to, place const& where, std::span<iovec const> data);

private:
    void write(address const& from, address const& to, std::uint8_t protocol, std::span<std::byte> front,
               std::size_t sum_at, std::span<iovec const> data);

    int fd_ = -1;
    std::string path_;
};

// A connection of TCP. The system does not show its segments, so these are made of what was written and read: each write is one segment, or
// as many as IP needs, of which the last has PSH, and so is each read.
class pcap_connection {
public:
    // With its handshake. `called`: from here.
    pcap_connection(pcap& to, address here, address there, bool called);
    void sent(std::span<iovec const> pieces, std::size_t size) { data(0, pieces, size); }
    void received(std::span<iovec const> pieces, std::size_t size) { data(1, pieces, size); }
    void ended(bool here);

private:
    void data(unsigned by, std::span<iovec const> pieces, std::size_t size);
    void put(unsigned by, std::uint8_t flags, std::span<iovec const> pieces = {}, std::size_t size = 0);

    pcap& to_;
    std::array<address, 2> ends_; // here, there
    std::array<std::uint32_t, 2> next_{};
    std::array<bool, 2> ended_{};
};

} // namespace assay::net
