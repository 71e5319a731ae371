// The wire of connections.hpp, in parts: calls.cpp makes and takes connections, incoming.cpp reads from them, and tcp.cpp does the rest.
#pragma once
#include "transports/net/interfaces.hpp"
#include "transports/tcp/connections.hpp"
#include "transports/tcp/link.hpp"

#include <cerrno>
#include <chrono>
#include <deque>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::tcp {

using net::address;
using net::as_sockaddr;
using net::length;
using net::memory;
using net::peer;

// What one read takes at most beyond a payload's place: many short messages, but little of a long one, because that is
// copied once more.
inline constexpr std::size_t scratch_size = 16 * 1024;

[[noreturn]] inline void fail(char const* what) { throw std::system_error(errno, std::generic_category(), what); }

inline msghdr message_of(iovec* pieces, std::size_t count) {
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    return message;
}

// An option of IPPROTO_TCP.
inline void set(int fd, int option, int value) { setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value); }

class tcp_wire final : public connections {
public:
    tcp_wire(net::sink& sink, options const& how, std::size_t suffix) : sink_(sink), how_(how), suffix_(suffix) {
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) fail("epoll_create1");
        take_spare();
        scratch_ = std::make_unique_for_overwrite<std::byte[]>(scratch_size); // takes memory when it is first used
        if (!how.pcap.empty()) pcap_ = std::make_unique<net::pcap>(how.pcap);
    }
    ~tcp_wire() override {
        for (auto& one : links_) {
            if (!one) continue;
            shut(*one);
            if (one->in_payload) sink_.lost(one->token);
            for (auto const& frame : one->queue)
                if (frame.token) sink_.failed(frame.token, ECANCELED);
        }
        if (listener_ >= 0) ::close(listener_);
        if (spare_ >= 0) ::close(spare_);
        ::close(epoll_);
    }

    address listen(address const& where) override;
    peer reach(address const& where) override;
    address const& address_of(peer who) const override { return *peers_[who].where; }
    bool ready(peer to) override;
    bool send(peer to, void const* head, std::span<iovec const> payload, net::flow const& where, memory how,
              void* token) override;
    void withdraw(void* token) override;
    void keep(void* token) override;
    void give_up(peer which, int error) override;
    bool poll() override;
    int wait_fd() const override { return epoll_; }
    bool flush(std::chrono::milliseconds limit) override;
    std::uint64_t backlog(peer to) const override {
        auto const* const out = peers_[to].out;
        return out ? out->waiting() : 0;
    }
    net::counters const& counted() const override { return counted_; }

    bool has(peer who) const override { return peers_[who].out; }
    void call(peer who) override {
        if (!peers_[who].out) connect(who);
    }
    void drop(peer who, int error) override;
    void pause(peer who, bool on) override;
    std::uint64_t unacknowledged() const override;

private:
    struct peer_state {
        address const* where = nullptr; // the key in by_address_
        link* out = nullptr;            // the connection that frames for this peer go by
        unsigned links = 0;             // connections that are open
        std::uint32_t ended = 0;        // the serial number of the last of its connections over which all has come
        bool refused = false;           // the last one that was tried
    };

    link& add(int fd, int error = 0);
    link* connect(peer to);
    void accept_all();
    int accept_one();
    void take_calls(bool all);
    void take_spare();
    void take_calls_again();
    void end_mute();
    void show(link& one, address const& there, bool called);
    void watch(link& one);
    ssize_t write_new(link& to, void const* head, std::span<iovec const> payload);
    void read(link& one);
    void write(link& one);
    bool read_hot();
    void parse(link& one, std::byte const* data, std::size_t size);
    bool greeted(link& one);
    bool begin(link& one);
    void move(link& from, link& to);
    void not_written(link& one, int error);
    void write_off(link& one);
    void order_after(link const& gone, int error);
    void go_on(link& one);
    void take_up();
    void end_payload(link& one);
    void drop(link& one, int error);
    void mark_broken(link& one, int error);
    void settle_broken();
    void shut(link& one);
    void cork(link& one);
    void uncork();

    net::sink& sink_;
    options how_;
    std::size_t suffix_; // bytes after the socket address in the name of a peer
    int epoll_ = -1, listener_ = -1;
    int spare_ = -1;           // a descriptor for when there is no other: -1 while a connection has it
    bool passing_ = false;     // there is one
    bool takes_calls_ = false; // the listener is watched
    // Connections that others have made and that have not said yet whose they are, the oldest first.
    std::deque<std::pair<std::chrono::steady_clock::time_point, std::uint64_t>> mute_;
    std::uint64_t accepted_ = 0; // numbers them
    address self_;
    std::vector<std::unique_ptr<link>> links_;
    std::vector<std::size_t> free_links_;
    std::vector<link*> broken_;         // to be reported by the next poll()
    std::vector<std::size_t> unpaused_; // numbers of those that are read again, and may have something in their stash
    std::vector<std::size_t> corked_;   // numbers of those that hold back what makes no full packet
    std::vector<peer_state> peers_;
    std::unordered_map<address, peer> by_address_;
    std::unique_ptr<std::byte[]> scratch_;
    link* hot_ = nullptr; // the connection that brought something last
    int hot_polls_ = 0, cold_polls_ = 0;
    std::uint32_t serial_ = 0; // of the last connection that was made here
    std::unique_ptr<net::pcap> pcap_;
    net::counters counted_;
    bool moved_ = false;
};

} // namespace assay::tcp
