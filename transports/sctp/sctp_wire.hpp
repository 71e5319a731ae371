// The wire of sctp.hpp, in parts: endpoint.cpp makes the socket and ends it, paths.cpp knows the addresses of peers and moves packets, and
// sctp.cpp makes frames of what associations bring, and the other way round.
#pragma once
#include "transports/net/interfaces.hpp"
#include "transports/sctp/association.hpp"
#include "transports/sctp/datagrams.hpp"
#include "transports/sctp/sctp.hpp"
#include "transports/sctp/stack.hpp"

#include <cerrno>
#include <chrono>
#include <deque>
#include <memory>
#include <netinet/in.h>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <usrsctp.h>
#include <vector>

namespace assay::sctp {

using net::address;
using net::memory;
using net::peer;
using std::chrono::milliseconds;

[[noreturn]] inline void fail(char const* what, int error = errno) {
    throw std::system_error(error, std::generic_category(), what);
}

inline in_port_t port_of(address const& where) { // at the same place in both kinds
    return reinterpret_cast<sockaddr_in const*>(where.data())->sin_port;
}

inline sockaddr_conn sconn_of(void* name, in_port_t port) {
    sockaddr_conn made{};
    made.sconn_family = AF_CONN;
    made.sconn_port = port;
    made.sconn_addr = name;
    return made;
}

class sctp_wire final : public net::wire, private client {
public:
    sctp_wire(net::sink& sink, options const& how);
    ~sctp_wire() override;

    address listen(address const& where) override;
    peer reach(address const& where) override;
    address const& address_of(peer who) const override;
    bool ready(peer to) override;
    bool send(peer to, void const* head, std::span<iovec const> payload, net::flow const& where, memory how,
              void* token) override;
    void withdraw(void* token) override;
    void keep(void* token) override {
        for (auto& one : peers_)
            if (one.link) one.link->out.keep(token);
    }
    void give_up(peer which, int error) override { break_off(which, error); }
    bool poll() override;
    int wait_fd() const override;
    bool flush(milliseconds limit) override;
    std::uint64_t backlog(peer to) const override {
        return to < peers_.size() && peers_[to].link ? peers_[to].link->out.waiting() : 0;
    }
    net::counters const& counted() const override;

private:
    // Of an association, from the moment it is wanted.
    struct association {
        sctp_assoc_t number = 0;
        bool up = false;
        bool leaving = false; // the other side takes no more
        std::uint16_t streams = 1;
        departures out;
        arrivals in;
    };
    struct peer_state {
        std::unique_ptr<association> link;
        int broken = 0; // to be reported by the next poll()
        bool refused = false;
    };
    // An address. The first one of a peer has the peer's number. With the stack's lock.
    struct path {
        address where;
        void* name; // what the stack calls it
        peer of;
        unsigned number = 0;   // among those of the peer
        bool refused = false;  // nobody listened there the last time
        bool stranger = false; // packets have come from there, and nothing else is known of it
    };
    // What came to this wire's own address.
    struct to_itself {
        std::array<std::byte, net::head_size> head;
        std::vector<std::byte> payload;
    };

    // With the stack's lock.
    void transmit(peer to, std::byte const* packet, std::size_t size) override;
    std::vector<void*> learn(peer from, std::span<std::byte const> parameters) override;
    bool tend() override { return receive(true); }
    bool pending() override;
    void wake() override;
    bool receive(bool all);
    peer find_path(address const& where);
    peer path_of_stranger(address const& where);
    void set_mtu(address const& to);
    void pass_on();
    void leave(path const& by, std::byte const* packet, std::size_t size);
    std::vector<peer> take_refused();
    void open(address const& at);
    template <typename Value> void set(int option, Value const& value);
    void abort(sctp_assoc_t number);

    association* connect(peer to);
    struct message_in {
        ssize_t size = 0; // of what is in scratch_; 0: there is none
        peer from = 0;
        int flags = 0;
    };
    message_in next_message();
    void take(message_in const& it);
    void notified(peer who, sctp_notification const& what);
    void begin_link(peer who, sctp_assoc_change const& change);
    void data(peer who, std::byte const* bytes, std::size_t size, bool last);
    void push(peer to);
    ssize_t hand_over(association const& to);
    void break_off(peer who, int error);
    void settle_broken();
    void finish(peer who, int error);
    void deliver_to_itself();
    std::uint16_t stream_of(association const& by, net::flow const& where) const;
    std::uint64_t unacknowledged();
    peer_state& about(peer who);
    void part();

    net::sink& sink_;
    options how_;
    stack& stack_ = stack::instance();
    struct socket* socket_ = nullptr;
    std::vector<std::unique_ptr<datagrams>> datagrams_; // one for each of our addresses
    std::unique_ptr<net::bad_network> network_;
    int epoll_ = -1, event_ = -1;
    mutable bool watched_ = false;
    bool woken_ = false;
    int packets_ = 0; // that the last receive() gave to the stack
    std::deque<path> paths_;
    std::unordered_map<peer, std::vector<peer>> aside_; // other paths to a peer
    std::unordered_map<address, peer> by_address_;
    std::deque<peer> strangers_; // paths, the oldest first
    address last_from_;          // whose packet came last: often it is the next one's, too
    peer last_path_ = 0;
    std::vector<peer_state> peers_; // by peer, only for whoever drives the wire
    std::vector<peer> broken_;
    std::unordered_set<peer> waiting_; // that have something to send
    std::deque<to_itself> to_itself_;
    peer self_ = ~peer{0};
    std::vector<std::byte> scratch_;
    mutable net::counters counted_;
    bool moved_ = false;
};

template <typename Value> void sctp_wire::set(int option, Value const& value) {
    if (usrsctp_setsockopt(socket_, IPPROTO_SCTP, option, &value, sizeof value) < 0) fail("usrsctp_setsockopt");
}

} // namespace assay::sctp
