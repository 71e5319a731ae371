// A peer of a wire over SCTP that does what a script says: its association is a true one, made by the same stack, but its messages are
// anything, and so is what becomes of its packets. Time passes when the script says so.
#pragma once
#include "transports/net/crc32c.hpp"
#include "transports/net/interfaces.hpp"
#include "transports/sctp/datagrams.hpp"
#include "transports/sctp/stack.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <netinet/in.h>
#include <span>
#include <usrsctp.h>
#include <vector>

namespace assay::fuzz {

// What becomes of a packet.
struct fate {
    enum { as_it_is, lost, twice, later, damaged, forged, cut } what = as_it_is;
    std::size_t where = 0;
    std::byte value{};
};

class puppet final : private sctp::client {
public:
    explicit puppet(net::address const& to) {
        std::unique_lock lock(stack_.mutex);
        socket_ = usrsctp_socket(AF_CONN, SOCK_SEQPACKET, IPPROTO_SCTP, nullptr, nullptr, 0, nullptr);
        usrsctp_set_non_blocking(socket_, 1);
        int const on = 1;
        for (int const option : {SCTP_NODELAY, SCTP_EXPLICIT_EOR})
            usrsctp_setsockopt(socket_, IPPROTO_SCTP, option, &on, sizeof on);
        sockaddr_conn self{};
        self.sconn_family = AF_CONN;
        do {
            datagrams_ = std::make_unique<sctp::datagrams>(net::any_port("lo"));
            self.sconn_port = port_of(datagrams_->self());
        } while (usrsctp_bind(socket_, reinterpret_cast<sockaddr*>(&self), sizeof self) < 0);
        usrsctp_listen(socket_, 1);
        peer_ = to;
        name_ = stack_.add_peer(*this, 0);
        lock.unlock();
        stack_.attach(*this);
    }
    ~puppet() {
        stack_.detach(*this);
        std::lock_guard const lock(stack_.mutex);
        fates_.clear();
        linger const at_once{.l_onoff = 1,
                             .l_linger = 0}; // an association in any state is aborted; else it may stay for minutes
        usrsctp_setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        usrsctp_close(socket_);
        stack_.remove_peer(name_);
    }
    puppet(puppet const&) = delete;
    puppet& operator=(puppet const&) = delete;

    net::address const& self() const { return datagrams_->self(); }

    void call() {
        std::lock_guard const lock(stack_.mutex);
        auto there = who();
        usrsctp_connect(socket_, reinterpret_cast<sockaddr*>(&there), sizeof there);
    }
    // A message, or a part of one; whether it was taken.
    bool message(std::span<std::byte const> bytes, unsigned stream, bool ends, bool unordered) {
        std::lock_guard const lock(stack_.mutex);
        return say(bytes, stream, (ends ? SCTP_EOR : 0) | (unordered ? SCTP_UNORDERED : 0));
    }
    void end(bool abort) {
        std::lock_guard const lock(stack_.mutex);
        say({}, 0, abort ? SCTP_ABORT : SCTP_EOF);
    }
    void decide(fate what) {
        std::lock_guard const lock(stack_.mutex);
        fates_.push_back(what);
    }
    // A packet of one's own, from this address; with the tag of the association and a right checksum, if it is to be heard.
    void packet(std::vector<std::byte> bytes, bool heard) {
        std::lock_guard const lock(stack_.mutex);
        if (heard) {
            bytes.insert(bytes.begin(), header_.begin(), header_.end());
            seal(bytes);
        }
        datagrams_->send(peer_, bytes.data(), bytes.size());
    }
    // Takes what has come, and throws it away.
    void listen() {
        std::lock_guard const lock(stack_.mutex);
        tend();
        static std::array<std::byte, 65536> taken;
        while (true) {
            sockaddr_conn from{};
            sctp_rcvinfo info{};
            socklen_t from_size = sizeof from, info_size = sizeof info;
            unsigned kind = 0;
            int flags = 0;
            if (usrsctp_recvv(socket_, taken.data(), taken.size(), reinterpret_cast<sockaddr*>(&from), &from_size,
                              &info, &info_size, &kind, &flags) <= 0)
                return;
        }
    }
    // For all that use the stack.
    void pass(unsigned milliseconds) {
        std::lock_guard const lock(stack_.mutex);
        usrsctp_handle_timers(milliseconds);
    }

private:
    static in_port_t port_of(net::address const& where) {
        return reinterpret_cast<sockaddr_in const*>(where.data())->sin_port;
    }
    sockaddr_conn who() const {
        sockaddr_conn made{};
        made.sconn_family = AF_CONN;
        made.sconn_port = port_of(peer_);
        made.sconn_addr = name_;
        return made;
    }
    bool say(std::span<std::byte const> bytes, unsigned stream, int flags) {
        auto there = who();
        sctp_sndinfo info{};
        info.snd_sid = static_cast<std::uint16_t>(stream);
        info.snd_flags = static_cast<std::uint16_t>(flags);
        info.snd_assoc_id = usrsctp_getassocid(socket_, reinterpret_cast<sockaddr*>(&there));
        if (info.snd_assoc_id == 0) return false;
        return usrsctp_sendv(socket_, bytes.data(), bytes.size(), nullptr, 0, &info, sizeof info, SCTP_SENDV_SNDINFO,
                             0) == static_cast<ssize_t>(bytes.size());
    }
    static void seal(std::vector<std::byte>& packet) {
        if (packet.size() < sctp::header_size) return;
        constexpr std::size_t at = 8;
        std::memset(packet.data() + at, 0, 4);
        auto const sum = net::crc32c(packet.data(), packet.size());
        for (unsigned k = 0; k < 4; ++k) packet[at + k] = static_cast<std::byte>(sum >> 8 * k);
    }

    void transmit(net::peer, std::byte const* bytes, std::size_t size) override {
        std::vector<std::byte> it(bytes, bytes + size);
        std::copy_n(it.begin(), std::min(size, header_.size()), header_.begin());
        fate what;
        if (!fates_.empty()) {
            what = fates_.front();
            fates_.pop_front();
        }
        switch (what.what) {
        case fate::lost: return;
        case fate::later: later_ = std::move(it); return;
        case fate::damaged: it[what.where % size] ^= what.value | std::byte{1}; break;
        case fate::forged:
            it[what.where % size] = what.value;
            seal(it);
            break;
        case fate::cut:
            it.resize(what.where % size);
            seal(it);
            break;
        default: break;
        }
        datagrams_->send(peer_, it.data(), it.size());
        if (what.what == fate::twice) datagrams_->send(peer_, it.data(), it.size());
        if (!later_.empty()) datagrams_->send(peer_, later_.data(), later_.size());
        later_.clear();
    }
    std::vector<void*> learn(net::peer, std::span<std::byte const>) override { return {}; }
    bool tend() override {
        return datagrams_->receive(true, [this](net::address const&, std::byte* packet, std::size_t size) {
            if (sctp::is_packet(packet, size)) stack_.input(name_, packet, size);
        });
    }
    bool pending() override { return false; }
    void wake() override {}

    sctp::stack& stack_ = sctp::stack::instance();
    struct socket* socket_ = nullptr;
    std::unique_ptr<sctp::datagrams> datagrams_;
    net::address peer_;
    void* name_ = nullptr;
    std::array<std::byte, sctp::header_size> header_{}; // of the last packet
    std::vector<std::byte> later_;
    std::deque<fate> fates_;
};

} // namespace assay::fuzz
