#include "transports/sctp/stack.hpp"

#include "transports/net/crc32c.hpp"
#include "transports/sctp/addresses.hpp"

#include <csignal>
#include <netinet/in.h>
#include <usrsctp.h>
#include <utility>

// Of usrsctp 0.9.5, which installs no header for them.
struct sctp_tcb;
struct sctp_nets;
struct mbuf;
extern "C" {
int sctp_add_remote_addr(sctp_tcb*, sockaddr*, sctp_nets**, std::uint16_t port, int set_scope, int from);
void* sctp_m_getptr(mbuf*, int offset, int size, std::uint8_t* room);
int __real_sctp_load_addresses_from_init(sctp_tcb*, mbuf*, int offset, int limit, sockaddr* source,
                                         sockaddr* destination, sockaddr* instead, std::uint16_t port);
int __wrap_sctp_load_addresses_from_init(sctp_tcb*, mbuf*, int offset, int limit, sockaddr* source,
                                         sockaddr* destination, sockaddr* instead, std::uint16_t port);
// The archive's objects may not refer to the C library's own from a shared library.
extern const in6_addr in6addr_any;
const in6_addr in6addr_any{};
}

// Where usrsctp takes the peer's addresses from INIT, INIT ACK or the cookie into the association, it passes over all that are not
// AF_CONN; what it does with them from then on (heartbeats, failover, CMT) is the same for all kinds. The linker puts this in its
// place (--wrap), and only an archive can be linked so.
int __wrap_sctp_load_addresses_from_init(sctp_tcb* association, mbuf* packet, int offset, int limit, sockaddr* source,
                                         sockaddr* destination, sockaddr* instead, std::uint16_t port) {
    int const error =
        __real_sctp_load_addresses_from_init(association, packet, offset, limit, source, destination, instead, port);
    auto const* const from = instead ? instead : source;
    if (error || limit <= offset || from->sa_family != AF_CONN) return error;
    std::vector<std::byte> room(static_cast<std::size_t>(limit - offset));
    auto const* const parameters = static_cast<std::byte const*>(
        sctp_m_getptr(packet, offset, limit - offset, reinterpret_cast<std::uint8_t*>(room.data())));
    if (!parameters) return error;
    auto one = *reinterpret_cast<sockaddr_conn const*>(from);
    for (void* const name : assay::sctp::stack::instance().learn(one.sconn_addr, {parameters, room.size()})) {
        constexpr int unconfirmed = 4; // until it has answered a heartbeat
        one.sconn_addr = name;
        sctp_add_remote_addr(association, reinterpret_cast<sockaddr*>(&one), nullptr, port, 0, unconfirmed);
    }
    return error;
}

namespace assay::sctp {
namespace {

constexpr std::chrono::milliseconds patience{10}; // how long the keeper lets a wire alone
constexpr std::size_t checksum_at = 8;

} // namespace

stack& stack::instance() {
    static auto* const one = new stack; // lives as long as the process: packets may come until the end
    return *one;
}

stack::stack() {
    usrsctp_init_nothreads(0, output, nullptr);
    usrsctp_enable_crc32c_offload(); // here, with the processor's instructions for it
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_asconf_enable(0);
    usrsctp_sysctl_set_sctp_auth_enable(0);
    usrsctp_sysctl_set_sctp_pr_enable(0);
}

void stack::attach(client& one) {
    std::lock_guard const lock(mutex);
    clients_.push_back(&one);
    if (clients_.size() > 1) return;
    end_ = false;
    sigset_t all, before; // signals are for the program's threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    keeper_ = std::thread([this] { keep(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void stack::detach(client& one) {
    std::thread last;
    {
        std::lock_guard const lock(mutex);
        std::erase(clients_, &one);
        if (!clients_.empty()) return;
        end_ = true;
        last = std::move(keeper_);
    }
    ending_.notify_all();
    last.join();
}

void stack::keep() {
    std::unique_lock lock(mutex);
    while (!ending_.wait_for(lock, patience, [this] { return end_; })) {
        pass_time();
        for (auto* one : clients_)
            if (!std::exchange(one->polled, false) && (one->tend() || one->pending())) one->wake();
    }
}

void* stack::add_peer(client& of, net::peer number) {
    void* const name = reinterpret_cast<void*>(next_++); // never used again: a late packet finds nobody
    peers_[name] = {&of, number};
    usrsctp_register_address(name);
    return name;
}

void stack::remove_peer(void* name) {
    peers_.erase(name);
    usrsctp_deregister_address(name);
}

bool stack::knows(void* name, net::peer& number) const {
    auto const at = peers_.find(name);
    if (at == peers_.end()) return false;
    number = at->second.number;
    return true;
}

std::vector<void*> stack::learn(void* from, std::span<std::byte const> parameters) {
    auto const at = peers_.find(from);
    if (at == peers_.end()) return {};
    auto const [of, number] = at->second; // more names may come
    return of->learn(number, parameters);
}

void stack::pass_time() {
    auto const now = std::chrono::steady_clock::now();
    auto const elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - passed_);
    if (elapsed.count() <= 0) return;
    passed_ += elapsed;
    usrsctp_handle_timers(static_cast<std::uint32_t>(elapsed.count()));
    for (auto* one : clients_) one->look = true;
}

void stack::tend_all() {
    for (auto* one : clients_) one->tend();
    pass_time();
}

int stack::output(void* name, void* packet, std::size_t size, std::uint8_t, std::uint8_t) {
    auto& self = instance();
    auto const at = self.peers_.find(name);
    if (at == self.peers_.end()) return 0;
    auto* bytes = static_cast<std::byte*>(packet);
    auto& of = *at->second.of;
    std::vector<std::byte> longer;
    if (!of.addresses.empty() && lists_addresses(bytes, size)) {
        longer = with_parameters(bytes, size, of.addresses);
        bytes = longer.data();
        size = longer.size();
    }
    auto const sum = net::crc32c(bytes, size); // the place of the checksum is 0
    for (std::size_t k = 0; k < sizeof sum; ++k) bytes[checksum_at + k] = static_cast<std::byte>(sum >> 8 * k);
    of.transmit(at->second.number, bytes, size);
    return 0;
}

void stack::input(void* from, std::byte const* packet, std::size_t size) { usrsctp_conninput(from, packet, size, 0); }

bool is_packet(std::byte* packet, std::size_t size) {
    if (size < header_size) return false;
    std::uint32_t said = 0;
    for (std::size_t k = 0; k < sizeof said; ++k) {
        auto& byte = packet[checksum_at + k];
        said |= std::to_integer<std::uint32_t>(std::exchange(byte, std::byte{})) << 8 * k;
    }
    return said == net::crc32c(packet, size);
}

} // namespace assay::sctp
