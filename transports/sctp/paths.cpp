// The addresses of peers, and the packets that go there and come from there.
#include "transports/sctp/sctp_wire.hpp"

#include "transports/net/fault.hpp"
#include "transports/sctp/addresses.hpp"

#include <algorithm>
#include <sys/epoll.h>
#include <unistd.h>

namespace assay::sctp {
namespace {

constexpr std::size_t most_strangers = 1024;
constexpr std::byte init{1}, cookie_echo{10}; // types of a packet's first chunk

} // namespace

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

} // namespace assay::sctp
