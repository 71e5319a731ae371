#include "transports/sctp/sctp.hpp"

#include "transports/net/fault.hpp"
#include "transports/net/interfaces.hpp"
#include "transports/net/linger.hpp"
#include "transports/sctp/addresses.hpp"
#include "transports/sctp/association.hpp"
#include "transports/sctp/datagrams.hpp"
#include "transports/sctp/stack.hpp"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <unordered_set>
#include <usrsctp.h>

namespace assay::sctp {
namespace {

using net::address;
using net::memory;
using net::peer;
using std::chrono::milliseconds;

constexpr int messages_per_poll = 64;
constexpr std::size_t most_strangers = 1024;
constexpr milliseconds farewell{500};                                   // for peers to take note that a wire is closed
constexpr std::uint32_t rto_min = 10, rto_max = 1000, rto_initial = 50; // milliseconds
constexpr std::uint32_t sack_delay = 1;                                 // milliseconds
constexpr std::uint32_t payload_protocol = 0x41535359;                  // for whoever looks at the packets: ASSY
constexpr std::byte init{1}, cookie_echo{10};                           // types of a packet's first chunk
// Where there is another path it is taken at the first timeout, which therefore must not be that of a busy machine; after more of
// them the first path counts as lost. In milliseconds: the shortest timeout, and how often a path is asked whether it works.
constexpr std::uint16_t path_doubts = 0, path_attempts = 2;
constexpr std::uint32_t path_rto_min = 50, path_look = 100;
constexpr int cmt_on_off = 0x1200; // usrsctp installs no name for it

[[noreturn]] void fail(char const* what, int error = errno) {
    throw std::system_error(error, std::generic_category(), what);
}

in_port_t port_of(address const& where) { // at the same place in both kinds
    return reinterpret_cast<sockaddr_in const*>(where.data())->sin_port;
}

address with_port(address where, in_port_t port) {
    reinterpret_cast<sockaddr_in*>(where.data())->sin_port = port;
    return where;
}

sockaddr_conn sconn_of(void* name, in_port_t port) {
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

sctp_wire::sctp_wire(net::sink& sink, options const& how) : sink_(sink), how_(how), scratch_(fragment_size) {
    if (how.network.any()) network_ = std::make_unique<net::bad_network>(how.network);
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    epoll_event event{.events = EPOLLIN, .data = {}};
    if (epoll_ < 0 || event_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &event) < 0) fail("epoll");
}

template <typename Value> void sctp_wire::set(int option, Value const& value) {
    if (usrsctp_setsockopt(socket_, IPPROTO_SCTP, option, &value, sizeof value) < 0) fail("usrsctp_setsockopt");
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

peer sctp_wire::find_path(address const& where) {
    auto const [at, added] = by_address_.try_emplace(where, static_cast<peer>(paths_.size()));
    if (added) paths_.push_back({where, stack_.add_peer(*this, at->second), at->second});
    return at->second;
}

std::vector<void*> sctp_wire::learn(peer from, std::span<std::byte const> parameters) {
    auto const who = paths_[from].of;
    paths_[from].stranger = paths_[who].stranger = false;
    auto& others = aside_[who];
    others.clear();
    std::vector<void*> names;
    unsigned number = 0;
    if (!net::planted(fault::deaf_to_paths))
        for (auto const& where : from_parameters(parameters, port_of(paths_[from].where))) {
            auto const known = by_address_.size();
            auto const one = find_path(where);
            bool const fresh = by_address_.size() > known;
            auto& it = paths_[one];
            it.stranger = false;
            auto const place = number++;
            if (fresh) it.of = who;
            if (it.of != who) continue; // somebody else is there
            it.number = place;
            names.push_back(it.name);
            if (one != who) others.push_back(one);
        }
    if (others.empty()) aside_.erase(who);
    return names;
}

// Of an address that a packet came from. Anybody can send packets in the name of any address, so those that nothing comes of are
// forgotten when there are many.
peer sctp_wire::path_of_stranger(address const& where) {
    if (auto const at = by_address_.find(where); at != by_address_.end()) return at->second;
    while (strangers_.size() >= most_strangers) {
        auto const oldest = strangers_.front();
        strangers_.pop_front();
        auto& it = paths_[oldest];
        if (!it.stranger) continue; // it has become a peer
        stack_.remove_peer(it.name);
        by_address_.erase(it.where);
        by_address_.emplace(where, oldest);
        it = {where, stack_.add_peer(*this, oldest), oldest};
        it.stranger = true;
        strangers_.push_back(oldest);
        return oldest;
    }
    auto const made = find_path(where);
    paths_[made].stranger = true;
    strangers_.push_back(made);
    return made;
}

peer sctp_wire::reach(address const& where) {
    std::lock_guard const lock(stack_.mutex);
    auto& it = paths_[find_path(where)];
    it.stranger = false;
    return it.of;
}

address const& sctp_wire::address_of(peer who) const {
    std::lock_guard const lock(stack_.mutex);
    return paths_[who].where;
}

sctp_wire::peer_state& sctp_wire::about(peer who) {
    if (peers_.size() <= who) peers_.resize(who + 1);
    return peers_[who];
}

void sctp_wire::transmit(peer to, std::byte const* packet, std::size_t size) {
    auto const& by = paths_[to];
    if (!network_) return leave(by, packet, size);
    network_->put(to, packet, size, std::chrono::steady_clock::now(), by.number);
    pass_on();
}

void sctp_wire::leave(path const& by, std::byte const* packet, std::size_t size) {
    auto const& from = by.number == 0 ? datagrams_[0] : datagrams_[by.number % datagrams_.size()];
    from->send(by.where, packet, size);
    if (by.number > 0) counted_.bytes_aside += size;
}

// What the bad network has let through.
void sctp_wire::pass_on() {
    for (auto const& one : network_->take(std::chrono::steady_clock::now()))
        leave(paths_[one.to], one.bytes.data(), one.bytes.size());
}

// Peers at none of whose addresses anybody listens.
std::vector<peer> sctp_wire::take_refused() {
    std::vector<peer> found;
    for (auto const& by : datagrams_)
        for (auto const& where : by->take_refused()) {
            auto const at = by_address_.find(where);
            if (at == by_address_.end()) continue; // a stranger that has been forgotten
            auto& it = paths_[at->second];
            it.refused = true;
            auto const others = aside_.find(it.of);
            bool const up = it.of < peers_.size() && peers_[it.of].link && peers_[it.of].link->up;
            auto const none = [this](peer one) { return paths_[one].refused; };
            // An association begins by the first address alone.
            if (!up || others == aside_.end() || (none(it.of) && std::ranges::all_of(others->second, none)))
                found.push_back(it.of);
        }
    return found;
}

// Associations that begin from now on, with this peer.
void sctp_wire::set_mtu(address const& to) {
    sctp_paddrparams wish{};
    wish.spp_address.ss_family = AF_CONN;
    wish.spp_flags = SPP_PMTUD_DISABLE;
    wish.spp_pathmtu = static_cast<std::uint32_t>(path_mtu(to, how_.mtu) - header_size); // it counts chunks only
    set(SCTP_PEER_ADDR_PARAMS, wish);
}

// What has come; who asks again at once need not get all of it.
bool sctp_wire::receive(bool all) {
    if (network_) pass_on();
    bool any = false;
    packets_ = 0;
    for (auto const& at : datagrams_)
        any |= at->receive(all, [this](address const& from, std::byte* packet, std::size_t size) {
            if (!is_packet(packet, size)) return;
            ++packets_;
            look = true;
            if (from != last_from_) {
                last_from_ = from;
                last_path_ = path_of_stranger(from);
            }
            auto& by = paths_[last_path_];
            by.refused = false;
            if (size > header_size && (packet[header_size] == init || packet[header_size] == cookie_echo))
                set_mtu(from);
            stack_.input(by.name, packet, size);
        });
    return any;
}

bool sctp_wire::pending() { return usrsctp_get_events(socket_) & SCTP_EVENT_READ; }

// A socket that is watched costs each of its packets a third of a microsecond: only who wants to sleep has that done.
int sctp_wire::wait_fd() const {
    std::lock_guard const lock(stack_.mutex);
    if (watched_) return epoll_;
    for (auto const& one : datagrams_) {
        epoll_event event{.events = EPOLLIN, .data = {}};
        if (epoll_ctl(epoll_, EPOLL_CTL_ADD, one->fd(), &event) < 0) fail("epoll_ctl");
    }
    watched_ = !datagrams_.empty();
    return epoll_;
}

void sctp_wire::wake() {
    woken_ = true;
    std::uint64_t const one = 1;
    (void)!::write(event_, &one, sizeof one);
}

// Begins an association; it may turn out later that nobody is there.
sctp_wire::association* sctp_wire::connect(peer to) {
    auto& it = about(to);
    it.link = std::make_unique<association>();
    it.refused = false;
    ++counted_.connections;
    std::lock_guard const lock(stack_.mutex);
    auto const& where = paths_[to];
    set_mtu(where.where);
    auto there = sconn_of(where.name, port_of(where.where));
    // It may be that the other side has begun meanwhile: then this is the same association.
    if (usrsctp_connect(socket_, reinterpret_cast<sockaddr*>(&there), sizeof there) < 0 && errno != EINPROGRESS &&
        errno != EALREADY && errno != EISCONN)
        break_off(to, errno);
    it.link->number = usrsctp_getassocid(socket_, reinterpret_cast<sockaddr*>(&there));
    return it.link.get();
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

bool sctp_wire::ready(peer to) {
    auto const& it = about(to);
    if (it.refused || to == self_) return true;
    auto const& link = it.link ? *it.link : *connect(to);
    return link.up || it.broken;
}

std::uint16_t sctp_wire::stream_of(association const& by, net::flow const& where) const {
    if (where.control || by.streams < 2) return 0;
    std::uint64_t mixed = 0;
    switch (net::planted(fault::one_stream) ? stream_map::single : how_.map) {
    case stream_map::tag_and_context: mixed = std::uint64_t{where.context} << 32 | where.tag; break;
    case stream_map::tag: mixed = where.tag; break;
    case stream_map::context: mixed = where.context; break;
    case stream_map::single: break;
    }
    mixed *= 0x9e3779b97f4a7c15; // neighbours go to different streams
    return static_cast<std::uint16_t>(1 + (mixed >> 32) % (by.streams - 1u));
}

bool sctp_wire::send(peer to, void const* head, std::span<iovec const> payload, net::flow const& where, memory how,
                     void* token) {
    ++counted_.frames_sent;
    if (to == self_) {
        auto& kept = to_itself_.emplace_back();
        std::memcpy(kept.head.data(), head, kept.head.size());
        for (auto const& piece : payload) {
            auto const* const bytes = static_cast<std::byte const*>(piece.iov_base);
            kept.payload.insert(kept.payload.end(), bytes, bytes + piece.iov_len);
        }
        return true;
    }
    auto* link = about(to).link.get();
    if (!link) link = connect(to);
    bool const at_once = link->up && link->out.empty() && !peers_[to].broken;
    auto const pick = [&](net::flow const& flow) { return stream_of(*link, flow); };
    if (!at_once || !link->out.add_whole(head, payload, where, pick)) link->out.add(head, payload, where);
    if (at_once) push(to);
    if (link->out.empty()) return true;
    waiting_.insert(to);
    auto* const rest = link->out.last(where.unordered);
    if (how == memory::copy) {
        if (rest) rest->payload.own();
        return true;
    }
    if (rest) rest->token = token;
    else link->out.tell_when_gone(token);
    return false;
}

// Sends what the association takes now. Whoever waits for borrowed memory is told: only poll() may have such.
void sctp_wire::push(peer to) {
    auto& one = *peers_[to].link;
    auto& to_send = one.out;
    if (!one.up || one.leaving || peers_[to].broken) return;
    auto const pick = [&](net::flow const& where) { return stream_of(one, where); };
    while (to_send.fill(pick)) {
        void* gone = nullptr;
        if (net::planted(fault::lost_fragment) && !to_send.first()) gone = to_send.advance(to_send.rest());
        else {
            auto const sent = hand_over(one);
            if (sent <= 0) {
                // An association that is gone is reported by the stack, after what came before its end.
                if (errno == EINVAL || errno == EMSGSIZE) break_off(to, errno);
                return;
            }
            moved_ = true;
            gone = to_send.advance(static_cast<std::size_t>(sent));
        }
        if (gone) sink_.sent(gone);
    }
    waiting_.erase(to);
}

// Gives the stack the next fragment; returns how much of it it took.
ssize_t sctp_wire::hand_over(association const& to) {
    sctp_sndinfo info{};
    info.snd_sid = to.out.stream();
    info.snd_flags = SCTP_EOR;
    info.snd_ppid = htonl(payload_protocol);
    info.snd_assoc_id = to.number; // not the address: that would make a new association of one that is gone
    std::lock_guard const lock(stack_.mutex);
    return usrsctp_sendv(socket_, to.out.data(), to.out.rest(), nullptr, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0);
}

void sctp_wire::withdraw(void* token) {
    for (auto& one : peers_)
        if (one.link)
            one.link->in.each_begun([token](arriving& it) {
                if (it.token == token) it.payload.drop_places();
            });
}

bool sctp_wire::poll() {
    moved_ = !broken_.empty() || !to_itself_.empty();
    std::vector<peer> refused;
    message_in next;
    // What comes first is on its way to the program before the stack is asked whether that was all: the next poll does that.
    int most = messages_per_poll;
    {
        std::lock_guard const lock(stack_.mutex);
        polled = true;
        if (std::exchange(woken_, false)) {
            std::uint64_t ignored = 0;
            (void)!::read(event_, &ignored, sizeof ignored);
        }
        bool const asked = !look;
        bool const came = receive(false);
        if (asked && came) most = packets_;
        moved_ |= came;
        stack_.pass_time();
        refused = take_refused();
        if (look) next = next_message();
    }
    deliver_to_itself();
    // What a peer has sent before it went is taken first.
    for (int count = 1; next.size > 0; ++count) {
        moved_ = true;
        take(next);
        next.size = 0;
        if (count >= most && refused.empty()) break;
        std::lock_guard const lock(stack_.mutex);
        next = next_message();
    }
    for (auto const who : refused) break_off(who, ECONNREFUSED);
    settle_broken();
    for (auto const to : std::vector<peer>(waiting_.begin(), waiting_.end()))
        if (peers_[to].link) push(to);
    settle_broken();
    return moved_;
}

void sctp_wire::deliver_to_itself() {
    for (auto left = to_itself_.size(); left > 0; --left) {
        auto const it = std::move(to_itself_.front());
        to_itself_.pop_front();
        ++counted_.frames_received;
        auto const placed = sink_.begun(self_, it.head.data(), it.payload.size());
        auto* const token = placed.token;
        net::incoming place;
        place.expect(it.payload.size(), placed.places);
        place.store(it.payload.data(), it.payload.size());
        sink_.arrived(self_, token);
    }
}

// With the stack's lock.
sctp_wire::message_in sctp_wire::next_message() {
    sockaddr_conn from{};
    sctp_rcvinfo info{};
    socklen_t from_size = sizeof from, info_size = sizeof info;
    unsigned kind = 0;
    message_in found;
    peer by = 0;
    do {
        from_size = sizeof from, info_size = sizeof info;
        found.size = usrsctp_recvv(socket_, scratch_.data(), scratch_.size(), reinterpret_cast<sockaddr*>(&from),
                                   &from_size, &info, &info_size, &kind, &found.flags);
        look = found.size > 0;
    } while (look && !stack_.knows(from.sconn_addr, by)); // of a stranger that has been forgotten
    if (look) {
        paths_[by].stranger = false; // from here on the program may know its number
        found.from = paths_[by].of;
    }
    return found;
}

void sctp_wire::take(message_in const& it) {
    auto const size = static_cast<std::size_t>(it.size);
    if (it.flags & MSG_NOTIFICATION) {
        sctp_notification what{};
        std::memcpy(&what, scratch_.data(), std::min(size, sizeof what));
        notified(it.from, what);
    } else data(it.from, scratch_.data(), size, it.flags & MSG_EOR);
}

void sctp_wire::notified(peer who, sctp_notification const& what) {
    auto* link = about(who).link.get();
    if (what.sn_header.sn_type == SCTP_SHUTDOWN_EVENT) {
        if (link && link->number == what.sn_shutdown_event.sse_assoc_id) link->leaving = true;
        return;
    }
    if (what.sn_header.sn_type == SCTP_PEER_ADDR_CHANGE && what.sn_paddr_change.spc_state == SCTP_ADDR_UNREACHABLE)
        ++counted_.paths_lost;
    if (what.sn_header.sn_type != SCTP_ASSOC_CHANGE) return;
    auto const& change = what.sn_assoc_change;
    switch (change.sac_state) {
    case SCTP_RESTART: // somebody else at the same address
        if (link) finish(who, ECONNRESET);
        [[fallthrough]];
    case SCTP_COMM_UP: begin_link(who, change); break;
    case SCTP_COMM_LOST:
    case SCTP_CANT_STR_ASSOC:
    case SCTP_SHUTDOWN_COMP: {
        if (!link || link->number != change.sac_assoc_id) return; // one that was given up here
        if (change.sac_state == SCTP_SHUTDOWN_COMP || (link->leaving && change.sac_state == SCTP_COMM_LOST))
            finish(who, 0);
        else finish(who, link->up ? ECONNRESET : ETIMEDOUT);
        break;
    }
    default: break;
    }
}

void sctp_wire::begin_link(peer who, sctp_assoc_change const& change) {
    auto& it = peers_[who];
    if (!it.link) {
        it.link = std::make_unique<association>();
        ++counted_.accepted;
    }
    it.refused = false;
    it.link->up = true;
    it.link->number = change.sac_assoc_id;
    it.link->streams = std::min(how_.streams, change.sac_outbound_streams);
    if (!it.link->out.empty()) waiting_.insert(who);
}

void sctp_wire::data(peer who, std::byte const* bytes, std::size_t size, bool last) {
    auto& it = about(who);
    if (!it.link || it.broken) return; // of an association that was given up
    auto& in = it.link->in;
    if (!last || !in.partial.empty()) {
        in.partial.insert(in.partial.end(), bytes, bytes + size);
        if (in.partial.size() > fragment_size) return break_off(who, EPROTO);
        if (!last) return;
    }
    auto const whole = std::exchange(in.partial, {});
    if (!whole.empty()) {
        bytes = whole.data();
        size = whole.size();
    }
    auto const held = in.held;
    bool const in_order = how_.ordered && !net::planted(fault::overtaking);
    bool const good = in.take(
        bytes, size, in_order,
        [&](std::byte const* head, std::uint64_t length) {
            ++counted_.frames_received;
            return sink_.begun(who, head, length);
        },
        [&](void* token) { sink_.arrived(who, token); });
    counted_.held += in.held - held;
    if (!good) break_off(who, EPROTO);
}

// Errors are found where nobody may be told of them.
void sctp_wire::break_off(peer who, int error) {
    auto& it = about(who);
    if (!it.link || it.broken) return;
    it.broken = error;
    broken_.push_back(who);
}

void sctp_wire::settle_broken() {
    while (!broken_.empty()) {
        auto const who = broken_.back();
        broken_.pop_back();
        auto& it = peers_[who];
        int const error = std::exchange(it.broken, 0);
        if (!it.link || !error) continue;
        moved_ = true;
        {
            std::lock_guard const lock(stack_.mutex);
            abort(it.link->number);
        }
        // Who was there and is not any more has not refused.
        finish(who, error == ECONNREFUSED && it.link->up ? ECONNRESET : error);
    }
}

void sctp_wire::finish(peer who, int error) {
    auto const gone = std::move(peers_[who].link);
    peers_[who].refused = error != 0;
    waiting_.erase(who);
    gone->in.each_begun([&](arriving const& it) { sink_.lost(it.token); });
    gone->out.each_token([&](void* token) { sink_.failed(token, error ? error : ECONNRESET); });
    sink_.closed(who, error);
}

// Pieces and chunks that other sides have not acknowledged.
std::uint64_t sctp_wire::unacknowledged() {
    std::lock_guard const lock(stack_.mutex);
    std::uint64_t sum = to_itself_.size();
    for (auto const& one : peers_) {
        if (!one.link) continue;
        sum += one.link->out.waiting();
        sctp_status status{};
        socklen_t size = sizeof status;
        status.sstat_assoc_id = one.link->number;
        if (usrsctp_getsockopt(socket_, IPPROTO_SCTP, SCTP_STATUS, &status, &size) == 0)
            sum += status.sstat_unackdata + status.sstat_penddata;
    }
    return sum;
}

bool sctp_wire::flush(milliseconds limit) {
    poll();
    return net::linger(
        wait_fd(), limit, [this] { return unacknowledged(); }, [this] { poll(); });
}

net::counters const& sctp_wire::counted() const {
    std::lock_guard const lock(stack_.mutex);
    counted_.writes = counted_.bytes_sent = counted_.reads = counted_.bytes_received = 0;
    for (auto const& one : datagrams_) {
        counted_.writes += one->sent;
        counted_.bytes_sent += one->sent_bytes;
        counted_.reads += one->received;
        counted_.bytes_received += one->received_bytes;
    }
    if (network_) counted_.dropped = network_->lost;
    return counted_;
}

} // namespace

std::unique_ptr<net::wire> make(net::sink& sink, options const& how) { return std::make_unique<sctp_wire>(sink, how); }

} // namespace assay::sctp
