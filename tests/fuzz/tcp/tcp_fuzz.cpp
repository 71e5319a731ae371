// TCP's wire between a program and peers that both do anything: a script says what peers write, whole or in parts, when they end, and what
// the program calls meanwhile. What the wire makes of a stream is compared with the bytes that were written to it.
//
// The sockets are of the Unix domain, with names as long as an IPv4 address: no ports that run out, and what is written is there.
#include "tests/fuzz/program.hpp"
#include "transports/tcp/tcp.hpp"

#include <deque>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace assay::fuzz {
namespace {

using net::address;
using net::peer;

constexpr std::size_t greeting_size = 80, prefix_size = 8 + net::head_size;
constexpr unsigned listening = 3; // peers that do; one more is not there
constexpr std::size_t most_streams = 6;

address name(unsigned k) {
    char text[14];
    std::snprintf(text, sizeof text, "fuzz%07x.%u", static_cast<unsigned>(getpid()), k);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path + 1, text, 13);
    return {reinterpret_cast<char const*>(&at), sizeof(sa_family_t) + 14};
}

int socket_of() { return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

// A connection, seen from the peer.
struct stream {
    int fd;
    std::string written; // frames, without the greeting
    address who;         // whom the wire takes it for
    bool greets;         // it begins with a greeting
    bool greeted = false, ended = false;
    std::size_t at = 0; // where the frame or the payload begins that the wire has to report next
    bool in_payload = false;
    std::uint64_t size = 0; // of that payload
};

class machine {
public:
    machine(std::uint8_t const* data, std::size_t size) : script_(data, size), program_(script_) {
        wire_ = tcp::make(program_, {.buffer = script_.below(2) ? 2048 : 0}); // then, writes are cut soon
        self_ = wire_->listen(name(9));
        for (unsigned k = 0; k < listening; ++k) {
            listeners_[k] = socket_of();
            auto const where = name(k);
            must(bind(listeners_[k], as_sockaddr(where), length(where)) == 0 && listen(listeners_[k], 8) == 0,
                 "a name is taken");
        }
        program_.on_begun = [this](program::frame const& it) { begun(it); };
        program_.on_arrived = [this](program::frame const& it) { arrived(it); };
        program_.on_closed = [this](peer which) { mixed_.push_back(wire_->address_of(which)); };
        program_.on_turn = [this](peer who) {
            if (script_.below(2)) program_.withdraw(*wire_);
            else if (ours(wire_->address_of(who))) send(who);
        };
    }
    ~machine() {
        while (wire_->poll()) {}
        for (auto const& one : streams_) must(!left(one), "a frame that came is not reported");
        wire_.reset();
        program_.nothing_is_left();
        for (auto const& one : streams_)
            if (one.fd >= 0) close(one.fd);
        for (int const fd : listeners_) close(fd);
    }
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;

    void run() {
        while (!script_.over()) {
            step();
            if (at_once_) wire_->poll();
        }
    }

private:
    static sockaddr const* as_sockaddr(address const& of) { return reinterpret_cast<sockaddr const*>(of.data()); }
    static socklen_t length(address const& of) { return static_cast<socklen_t>(of.size()); }
    // What a peer says of itself may lead anywhere; the fuzzer calls nobody else.
    bool ours(address const& of) const {
        if (of == self_) return true;
        for (unsigned k = 0; k <= listening; ++k)
            if (of == name(k)) return true;
        return false;
    }

    void step();
    void connect();
    void accept();
    void greet(stream& on);
    void frame(stream& on);
    void write(stream& on, std::string const& bytes);
    void send(peer to);
    stream* any() { return streams_.empty() ? nullptr : &streams_[script_.below(unsigned(streams_.size()))]; }
    stream* of(peer from);
    bool mixed(address const& who) const {
        return std::any_of(mixed_.begin(), mixed_.end(), [&](auto const& one) { return one.empty() || one == who; });
    }
    bool left(stream const& it) const;
    void begun(program::frame const& it);
    void arrived(program::frame const& it);

    script script_;
    program program_;
    std::unique_ptr<net::wire> wire_;
    address self_;
    std::array<int, listening> listeners_{};
    std::deque<stream> streams_;
    std::vector<address> mixed_; // that more than one stream has been of; an empty one stands for all
    bool at_once_ = true;
};

void machine::step() {
    auto* const on = any();
    switch (script_.below(14)) {
    case 0: connect(); break;
    case 1: accept(); break;
    case 2:
        if (on && on->greets && !on->greeted) greet(*on);
        break;
    case 3:
    case 4:
    case 5:
        if (on) frame(*on);
        break;
    case 6: // anything
        if (on) {
            std::string bytes;
            for (auto n = script_.below(24); n > 0; --n) bytes.push_back(static_cast<char>(script_.byte()));
            write(*on, bytes);
        }
        break;
    case 7: // much of it
        if (on) write(*on, std::string(script_.byte() * 512, 'x'));
        break;
    case 8:
        if (!on || on->fd < 0) break;
        shutdown(on->fd, SHUT_WR);
        on->ended = true;
        break;
    case 9:
        if (!on || on->fd < 0) break;
        close(std::exchange(on->fd, -1));
        on->ended = true;
        break;
    case 10: {
        auto const to = script_.below(listening + 2);
        send(wire_->reach(to > listening ? self_ : name(to)));
        break;
    }
    case 11: program_.withdraw(*wire_); break;
    case 12:
        if (on && on->fd >= 0) {
            std::array<char, 4096> taken;
            for (auto n = script_.byte(); n > 0 && recv(on->fd, taken.data(), taken.size(), 0) > 0; --n) {}
        }
        break;
    default: at_once_ = !at_once_;
    }
}

void machine::connect() {
    if (streams_.size() == most_streams) return;
    int const fd = socket_of();
    if (::connect(fd, as_sockaddr(self_), length(self_)) < 0) close(fd);
    else streams_.push_back({.fd = fd, .written = {}, .who = {}, .greets = true});
}

// The wire calls.
void machine::accept() {
    auto const k = script_.below(listening);
    int const fd = accept4(listeners_[k], nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    for (auto const& one : streams_)
        if (one.who == name(k)) mixed_.push_back(name(k));
    streams_.push_back({.fd = fd, .written = {}, .who = name(k), .greets = false});
}

void machine::greet(stream& on) {
    std::string bytes("assaytcp");
    auto const who = script_.below(listening + 4);
    if (who <= listening) on.who = name(who);
    else if (who == listening + 1) on.who = self_;
    else
        for (auto n = script_.below(net::longest_address + 1); n > 0; --n)
            on.who.push_back(static_cast<char>(script_.byte()));
    std::uint64_t size = on.who.size();
    if (who == listening + 3) size = ~std::uint64_t{0} >> script_.below(64); // longer than it is, and than it may be
    bytes.append(reinterpret_cast<char const*>(&size), sizeof size);
    bytes.append(on.who);
    bytes.resize(greeting_size);
    size &= 0xffff'ffff; // above: a serial number
    bool const good = size <= net::longest_address;
    on.who = good ? address(bytes, 16, static_cast<std::size_t>(size)) : address();
    for (auto const& one : streams_)
        if (&one != &on && one.who == on.who) mixed_.push_back(on.who);
    if (!good) on.ended = true;
    on.greeted = true;
    // In two parts.
    auto const cut = script_.below(greeting_size);
    for (auto const& part : {bytes.substr(0, cut), bytes.substr(cut)}) {
        if (on.fd >= 0 && ::send(on.fd, part.data(), part.size(), MSG_NOSIGNAL) != ssize_t(part.size()))
            on.ended = true;
        wire_->poll();
    }
}

void machine::frame(stream& on) {
    std::uint64_t size = script_.byte() * (script_.below(2) ? 300u : 1u), sent = size;
    auto const lie = script_.below(16);
    if (lie == 0) size = ~std::uint64_t{0} >> script_.below(64);
    if (lie == 1) sent /= 2;
    std::string bytes(reinterpret_cast<char const*>(&size), sizeof size);
    for (std::size_t k = 0; k < net::head_size + sent; ++k) bytes.push_back(static_cast<char>(k + k / 251));
    if (lie == 2) bytes.resize(script_.below(prefix_size));
    if (lie > 12) { // in two parts
        auto const cut = script_.below(100) % bytes.size();
        write(on, bytes.substr(0, cut));
        wire_->poll();
        bytes.erase(0, cut);
    }
    write(on, bytes);
}

// What comes before the greeting is it.
void machine::write(stream& on, std::string const& bytes) {
    if (on.fd < 0 || on.ended) return;
    if (on.greets && !on.greeted) {
        mixed_.emplace_back(); // from here on nobody knows who it is
        on.ended = true;
    }
    auto const n = ::send(on.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) on.written.append(bytes, 0, static_cast<std::size_t>(n));
    else if (!bytes.empty() && errno != EAGAIN) on.ended = true;
}

void machine::send(peer to) {
    auto const size = script_.byte() * (script_.below(2) ? 256u : 1u);
    program_.send(*wire_, to, size, script_.below(2) ? net::memory::copy : net::memory::borrow, {});
}

// The only stream of a peer; null when there may be another one.
stream* machine::of(peer from) {
    auto const& who = wire_->address_of(from);
    if (who.empty() || who == self_ || mixed(who)) return nullptr;
    for (auto& one : streams_)
        if (one.who == who) return &one;
    return nullptr; // a connection of the wire that was not accepted yet, and another before it
}

void machine::begun(program::frame const& it) {
    auto* const by = of(it.from);
    if (!by) return;
    must(!by->in_payload, "a frame within another");
    must(by->written.size() - by->at >= prefix_size, "a frame that nobody has written");
    must(std::memcmp(&it.size, by->written.data() + by->at, sizeof it.size) == 0, "another size than was written");
    must(std::memcmp(it.head.data(), by->written.data() + by->at + sizeof it.size, it.head.size()) == 0,
         "another head than was written");
    by->at += prefix_size;
    by->in_payload = true;
    by->size = it.size;
}

void machine::arrived(program::frame const& it) {
    auto* const by = of(it.from);
    if (!by) return;
    must(by->written.size() - by->at >= it.size, "a frame ends before it has come");
    must(it.withdrawn || std::memcmp(it.memory.get(), by->written.data() + by->at, it.room) == 0,
         "other bytes than were written");
    by->at += static_cast<std::size_t>(it.size);
    by->in_payload = false;
}

// Whether something has come whole that the wire has not reported.
bool machine::left(stream const& it) const {
    if (it.ended || it.fd < 0 || it.who.empty()) return false;
    if (it.who == self_ || mixed(it.who)) return false;
    auto const rest = it.written.size() - it.at;
    constexpr auto moved = ~std::uint64_t{0}; // no size: what comes next waits for another connection
    if (!it.in_payload && rest >= sizeof moved && std::memcmp(it.written.data() + it.at, &moved, sizeof moved) == 0)
        return false;
    return rest >= (it.in_payload ? it.size : prefix_size);
}

} // namespace
} // namespace assay::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) { return 0; }

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    assay::fuzz::machine it(data, size);
    it.run();
    return 0;
}
