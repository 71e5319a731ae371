// The socket of a wire: how it is made, with what SCTP is told, and how it is closed.
#include "transports/sctp/sctp_wire.hpp"

#include "transports/sctp/addresses.hpp"

#include <algorithm>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace assay::sctp {
namespace {

constexpr milliseconds farewell{500};                                   // for peers to take note that a wire is closed
constexpr std::uint32_t rto_min = 10, rto_max = 1000, rto_initial = 50; // milliseconds
constexpr std::uint32_t sack_delay = 1;                                 // milliseconds
// Where there is another path it is taken at the first timeout, which therefore must not be that of a busy machine; after more of
// them the first path counts as lost. In milliseconds: the shortest timeout, and how often a path is asked whether it works.
constexpr std::uint16_t path_doubts = 0, path_attempts = 2;
constexpr std::uint32_t path_rto_min = 50, path_look = 100;
constexpr int cmt_on_off = 0x1200; // usrsctp installs no name for it

address with_port(address where, in_port_t port) {
    reinterpret_cast<sockaddr_in*>(where.data())->sin_port = port;
    return where;
}

} // namespace

sctp_wire::sctp_wire(net::sink& sink, options const& how) : sink_(sink), how_(how), scratch_(fragment_size) {
    if (how.network.any()) network_ = std::make_unique<net::bad_network>(how.network);
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    epoll_event event{.events = EPOLLIN, .data = {}};
    if (epoll_ < 0 || event_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &event) < 0) fail("epoll");
}

address sctp_wire::listen(address const& where) {
    address const at = where.empty() ? net::any_port() : where;
    std::unique_lock lock(stack_.mutex);
    bool const several = !how_.others.empty();
    // There is no option for it: sockets take what the system has.
    auto const doubts = usrsctp_sysctl_get_sctp_path_pf_threshold();
    if (several) usrsctp_sysctl_set_sctp_path_pf_threshold(path_doubts);
    if (how_.concurrent) usrsctp_sysctl_set_sctp_cmt_on_off(1); // allows the option
    socket_ = usrsctp_socket(AF_CONN, SOCK_SEQPACKET, IPPROTO_SCTP, nullptr, nullptr, 0, nullptr);
    usrsctp_sysctl_set_sctp_path_pf_threshold(doubts);
    if (!socket_) fail("usrsctp_socket");
    usrsctp_set_non_blocking(socket_, 1);
    for (int const buffer : {SO_SNDBUF, SO_RCVBUF})
        usrsctp_setsockopt(socket_, SOL_SOCKET, buffer, &how_.buffer, sizeof how_.buffer);
    int const on = 1;
    set(SCTP_NODELAY, on);
    set(SCTP_RECVRCVINFO, on);
    set(SCTP_EXPLICIT_EOR, on);
    set(SCTP_FRAGMENT_INTERLEAVE, on);
    for (auto const type :
         std::to_array<std::uint16_t>({SCTP_ASSOC_CHANGE, SCTP_SHUTDOWN_EVENT, SCTP_PEER_ADDR_CHANGE})) {
        sctp_event event{};
        event.se_assoc_id = SCTP_FUTURE_ASSOC;
        event.se_type = type;
        event.se_on = 1;
        set(SCTP_EVENT, event);
    }
    // Half of the time for what is not acknowledged, however slow a busy machine has made the retransmissions. Who is idle is asked
    // now and then, which takes as long again.
    auto const patience = static_cast<std::uint32_t>(how_.timeout.count() / 2);
    auto const longest_rto = std::clamp(patience / 4, rto_min, rto_max);
    auto const limit = static_cast<std::uint16_t>(std::max(patience / longest_rto, 1u));
    sctp_initmsg begin{};
    begin.sinit_num_ostreams = begin.sinit_max_instreams = std::max<std::uint16_t>(how_.streams, 2);
    begin.sinit_max_attempts = limit;
    begin.sinit_max_init_timeo = static_cast<std::uint16_t>(longest_rto);
    set(SCTP_INITMSG, begin);
    sctp_rtoinfo times{};
    times.srto_initial = std::min(rto_initial, longest_rto);
    times.srto_min = several ? std::min(path_rto_min, longest_rto) : rto_min;
    times.srto_max = longest_rto;
    set(SCTP_RTOINFO, times);
    sctp_assocparams limits{};
    limits.sasoc_asocmaxrxt = limit;
    set(SCTP_ASSOCINFO, limits);
    sctp_sack_info sack{};
    sack.sack_delay = sack_delay;
    sack.sack_freq = 2;
    set(SCTP_DELAYED_SACK, sack);
    sctp_paddrparams wish{};
    wish.spp_address.ss_family = AF_CONN;
    wish.spp_flags = SPP_HB_ENABLE;
    wish.spp_hbinterval = several ? std::min(longest_rto, path_look) : longest_rto;
    wish.spp_pathmaxrxt = several ? std::min(limit, path_attempts) : limit;
    set(SCTP_PEER_ADDR_PARAMS, wish);
    sctp_assoc_value cmt{};
    cmt.assoc_value = how_.concurrent ? 1 : 0;
    if (usrsctp_setsockopt(socket_, IPPROTO_SCTP, cmt_on_off, &cmt, sizeof cmt) < 0 && how_.concurrent) fail("CMT");
    // SCTP's port is that of UDP, which two wires of a process may share when they have different addresses.
    for (int attempt = 0;; ++attempt) {
        try {
            open(at);
            auto self = sconn_of(nullptr, port_of(datagrams_[0]->self()));
            if (usrsctp_bind(socket_, reinterpret_cast<sockaddr*>(&self), sizeof self) == 0) break;
            if (errno != EADDRINUSE) fail("usrsctp_bind");
        } catch (std::system_error const& error) { // the port may be taken at another of the addresses
            if (error.code() != std::errc::address_in_use || port_of(at) != 0 || attempt == 16) throw;
        }
    }
    std::vector<address> ours;
    auto const file = how_.pcap.empty() ? nullptr : std::make_shared<net::pcap>(how_.pcap);
    for (auto const& one : datagrams_) {
        ours.push_back(one->self());
        one->show(file);
    }
    if (several) addresses = as_parameters(ours);
    if (usrsctp_listen(socket_, 1) < 0) fail("usrsctp_listen");
    self_ = find_path(ours[0]);
    for (unsigned k = 1; k < ours.size(); ++k) paths_[find_path(ours[k])].of = self_;
    lock.unlock();
    stack_.attach(*this);
    return ours[0];
}

// The sockets of all addresses, with the port of the first.
void sctp_wire::open(address const& at) {
    datagrams_.clear();
    datagrams_.push_back(std::make_unique<datagrams>(at));
    auto const port = port_of(datagrams_[0]->self());
    for (auto const& one : how_.others) datagrams_.push_back(std::make_unique<datagrams>(with_port(one, port)));
}

sctp_wire::~sctp_wire() {
    for (auto& one : peers_) {
        if (!one.link) continue;
        one.link->in.each_begun([&](arriving const& it) { sink_.lost(it.token); });
        one.link->out.each_token([&](void* token) { sink_.failed(token, ECANCELED); });
    }
    if (self_ != ~peer{0}) {
        part();
        stack_.detach(*this);
    }
    if (socket_) {
        std::lock_guard const lock(stack_.mutex);
        usrsctp_close(socket_);
        for (auto const& one : paths_) stack_.remove_peer(one.name);
    }
    datagrams_.clear();
    ::close(event_);
    ::close(epoll_);
}

// Tells all peers that nothing more comes, and waits a little until they know.
void sctp_wire::part() {
    auto const until = std::chrono::steady_clock::now() + farewell;
    {
        std::lock_guard const lock(stack_.mutex);
        for (auto const& one : peers_) {
            if (!one.link) continue;
            if (!one.link->up || one.link->out.rest() > 0) { // the message that was begun has no end
                abort(one.link->number);
                continue;
            }
            sctp_sndinfo info{};
            info.snd_flags = SCTP_EOF;
            info.snd_assoc_id = one.link->number;
            usrsctp_sendv(socket_, "", 0, nullptr, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0);
        }
    }
    while (std::chrono::steady_clock::now() < until) {
        {
            std::lock_guard const lock(stack_.mutex);
            stack_.tend_all();
            sockaddr_conn from{};
            sctp_rcvinfo info{};
            while (true) { // what comes is not wanted any more, but unread it would turn the farewell into an abort
                socklen_t from_size = sizeof from, info_size = sizeof info;
                unsigned kind = 0;
                int flags = 0;
                if (usrsctp_recvv(socket_, scratch_.data(), scratch_.size(), reinterpret_cast<sockaddr*>(&from),
                                  &from_size, &info, &info_size, &kind, &flags) <= 0)
                    break;
            }
            for (auto const who : take_refused())
                if (who < peers_.size() && peers_[who].link) abort(peers_[who].link->number);
            bool left = false;
            for (auto const& one : peers_) {
                sctp_status status{};
                socklen_t size = sizeof status;
                status.sstat_assoc_id = one.link ? one.link->number : 0;
                left |= one.link && usrsctp_getsockopt(socket_, IPPROTO_SCTP, SCTP_STATUS, &status, &size) == 0;
            }
            if (!left) return;
        }
        pollfd one{datagrams_[0]->fd(), POLLIN, 0};
        ::poll(&one, 1, 1);
    }
    std::lock_guard const lock(stack_.mutex);
    for (auto const& one : peers_)
        if (one.link) abort(one.link->number);
}

void sctp_wire::abort(sctp_assoc_t number) {
    sctp_sndinfo info{};
    info.snd_flags = SCTP_ABORT;
    info.snd_assoc_id = number;
    // It does not wait, but on a socket that must not it would be refused while the send buffer is full.
    usrsctp_set_non_blocking(socket_, 0);
    usrsctp_sendv(socket_, "", 0, nullptr, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0);
    usrsctp_set_non_blocking(socket_, 1);
}

} // namespace assay::sctp
