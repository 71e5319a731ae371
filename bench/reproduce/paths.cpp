// assay-reproduce-paths: what SCTP's streams and paths are good for, over transports/sctp without MPI. Prints lines of a name and a number.
//   order     messages with several tags, of which a bad network loses some: on a stream each, and all on one
//   cmt       two links of the same rate: one path, and both at once
//   failover  the same, and the first link is down for a while
//   tcp       the same messages over TCP and SCTP, between the two sides of a network
// The first three have both ends in one thread, with links of the impairment layer between them.
#include "bench/reproduce/sides.hpp"
#include "transports/net/interfaces.hpp"
#include "transports/sctp/sctp.hpp"
#include "transports/tcp/tcp.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sched.h>

namespace {

using namespace assay;
using reproduce::on_both_sides;
using clock_type = std::chrono::steady_clock;
using std::chrono::milliseconds;

double since(clock_type::time_point begin) { return std::chrono::duration<double>(clock_type::now() - begin).count(); }

// One end of a wire. Payloads go nowhere: what they were is tested elsewhere.
class side final : public net::sink {
public:
    template <typename Make>
    side(Make make, net::address const& where) : wire_(make(*this)), name(wire_->listen(where)) {}

    ~side() override { wire_.reset(); } // it may report

    // What a message says in its head.
    struct label {
        std::uint64_t number = 0;
        clock_type::time_point sent{};
    };
    void send(net::address const& to, std::uint64_t number, std::size_t size, std::uint32_t tag = 0) {
        static std::vector<std::byte> const data(1 << 20);
        std::array<std::byte, net::head_size> head{};
        label const it{number, clock_type::now()};
        std::memcpy(head.data(), &it, sizeof it);
        iovec const piece{const_cast<std::byte*>(data.data()), size};
        wire_->send(wire_->reach(to), head.data(), {&piece, 1}, {.tag = tag}, net::memory::copy, nullptr);
    }
    void poll() {
        if (!wire_->poll()) sched_yield();
        if (error) throw std::runtime_error(std::string("a connection has ended: ") + std::strerror(error));
    }
    std::uint64_t backlog(net::address const& to) { return wire_->backlog(wire_->reach(to)); }
    void flush() { wire_->flush(milliseconds(2000)); }

    net::destination begun(net::peer, std::byte const* head, std::uint64_t size) override {
        label it;
        std::memcpy(&it, head, sizeof it);
        coming_.insert_or_assign(it.number, std::pair(it, size));
        return {{}, reinterpret_cast<void*>(it.number + 1)};
    }
    void arrived(net::peer, void* token) override {
        auto const at = coming_.find(reinterpret_cast<std::uint64_t>(token) - 1);
        auto const [it, size] = at->second;
        coming_.erase(at);
        ++count;
        bytes += size;
        if (on_arrival) on_arrival(it);
    }
    void lost(void*) override {}
    void sent(void*) override {}
    void failed(void*, int) override {}
    void closed(net::peer, int why) override { error = why; }

private:
    std::map<std::uint64_t, std::pair<label, std::uint64_t>> coming_;
    std::unique_ptr<net::wire> wire_;

public:
    net::address name;
    std::uint64_t count = 0, bytes = 0;
    int error = 0;
    std::function<void(label const&)> on_arrival;
};

auto over(sctp::options const& how) {
    return [how](net::sink& to) { return sctp::make(to, how); };
}

net::address const loopback = net::from_text("127.0.0.1");

void order() {
    struct kind {
        char const* name;
        sctp::stream_map map;
        bool ordered;
    };
    for (auto const& one :
         {kind{"single", sctp::stream_map::single, false}, kind{"streams", sctp::stream_map::tag, false},
          kind{"restored", sctp::stream_map::tag, true}}) {
        constexpr unsigned count = 1500, tags = 10; // as many as MPICH's channel had streams
        constexpr milliseconds pace{2};             // far less than the association can carry with such losses
        sctp::options how;
        how.map = one.map;
        how.ordered = one.ordered;
        how.mtu = 1500;
        how.network = {.loss = 2, .delay = milliseconds(5)};
        side a(over(how), loopback), b(over(how), loopback);
        std::vector<double> took;
        std::uint64_t latest = 0, late = 0;
        b.on_arrival = [&](side::label const& it) {
            took.push_back(since(it.sent) * 1000);
            if (it.number < latest) ++late;
            latest = std::max(latest, it.number);
        };
        auto next = clock_type::now();
        auto const limit = next + std::chrono::seconds(30);
        for (unsigned sent = 0; b.count < count;) {
            auto const now = clock_type::now();
            if (now > limit) throw std::runtime_error("messages are missing");
            if (sent < count && now >= next) {
                a.send(b.name, sent, 1000, sent % tags);
                ++sent;
                next += pace;
            }
            a.poll();
            b.poll();
        }
        auto const least = *std::ranges::min_element(took);
        auto const sum = std::accumulate(took.begin(), took.end(), 0.0);
        std::printf("held.%s %.4f\n", one.name, sum / count - least);
        std::printf("late.%s %.4f\n", one.name, 1000.0 * static_cast<double>(late) / count);
    }
}

struct outcome {
    double rate = 0, standstill = 0; // MB/s, and the longest time in which nothing came, in s
};

// As much as gets through two links in some seconds.
outcome through(bool concurrent, net::impairment const& network, double seconds) {
    sctp::options how;
    how.others = {net::from_text("127.0.0.2")};
    how.concurrent = concurrent;
    how.mtu = 9000; // as theirs
    how.network = network;
    side a(over(how), loopback), b(over(how), loopback);
    outcome found;
    std::uint64_t number = 0, before = 0;
    a.send(b.name, number++, 0);
    while (b.count == 0) {
        a.poll();
        b.poll();
    }
    auto const begin = clock_type::now();
    auto last = begin;
    while (since(begin) < seconds) {
        while (a.backlog(b.name) < 500'000) a.send(b.name, number++, 16 * 1024);
        a.poll();
        b.poll();
        if (b.bytes == before) continue;
        before = b.bytes;
        found.standstill = std::max(found.standstill, since(last));
        last = clock_type::now();
    }
    found.standstill = std::max(found.standstill, since(last));
    found.rate = static_cast<double>(b.bytes) / 1e6 / seconds;
    return found;
}

constexpr double link_rate = 12; // MB/s: what a busy machine can send, too

void cmt() {
    std::printf("one %.4f\n", through(false, {.rate = link_rate}, 4).rate);
    std::printf("both %.4f\n", through(true, {.rate = link_rate}, 4).rate);
}

void failover() {
    net::impairment network{.rate = link_rate};
    network.down_path = 0;
    network.down_at = milliseconds(2000);
    network.down_for = milliseconds(2000); // 1 of 3 seconds, as theirs
    for (bool const concurrent : {false, true}) {
        auto const found = through(concurrent, network, 6);
        auto const* const name = concurrent ? "both" : "one";
        std::printf("%s %.4f\nstandstill.%s %.4f\n", name, found.rate, name, found.standstill);
    }
}

// Ping-pong and a stream of long messages.
void measure(char const* kind, std::function<std::unique_ptr<net::wire>(net::sink&)> const& make) {
    struct pattern {
        char const* name;
        std::size_t size;
        unsigned turns, together; // together: messages one way before the answer
    };
    static constexpr pattern patterns[] = {
        {"short", 8, 1000, 1}, {"middle", 16 * 1024, 200, 1}, {"long", 1 << 20, 4, 16}};
    auto const at = [](char const* variable, std::uint16_t port) {
        auto const where = reproduce::address_of(reproduce::addresses(variable)[0], port);
        return net::from_sockaddr(reinterpret_cast<sockaddr const*>(&where));
    };
    auto const here = at("ASSAY_HERE", 40'001), there = at("ASSAY_THERE", 40'002);
    auto const wait = [](side& by, std::uint64_t count) {
        auto const limit = clock_type::now() + std::chrono::seconds(60);
        while (by.count < count) {
            by.poll();
            if (clock_type::now() > limit) throw std::runtime_error("messages are missing");
        }
    };
    int listens[2] = {-1, -1}; // nobody can call who is not there
    if (pipe2(listens, O_CLOEXEC) < 0) reproduce::fail("pipe2");
    char ready = 0;
    on_both_sides(
        [&] {
            side it(make, here);
            if (write(listens[1], &ready, 1) != 1) reproduce::fail("write");
            wait(it, 1); // the other side is there
            std::uint64_t sent = 0, expected = 1;
            for (auto const& one : patterns) {
                auto const turn = [&] {
                    for (unsigned k = 0; k < one.together; ++k) it.send(there, sent++, one.size);
                    wait(it, ++expected);
                };
                for (unsigned k = 0; k < one.turns / 4 + 1; ++k) turn();
                std::vector<double> each;
                for (unsigned k = 0; k < one.turns; ++k) {
                    auto const begin = clock_type::now();
                    turn();
                    each.push_back(since(begin));
                }
                std::ranges::nth_element(each, each.begin() + one.turns / 2);
                auto const seconds = each[one.turns / 2];
                if (one.together == 1) std::printf("%s.%s %.4f\n", one.name, kind, seconds / 2 * 1e6);
                else
                    std::printf("%s.%s %.4f\n", one.name, kind,
                                static_cast<double>(one.size * one.together) / seconds / 1e6);
            }
            it.send(there, sent++, 0);
            it.flush();
        },
        [&] {
            side it(make, there);
            if (read(listens[0], &ready, 1) != 1) reproduce::fail("read");
            std::uint64_t sent = 0, expected = 0;
            it.send(here, sent++, 0);
            for (auto const& one : patterns)
                for (unsigned k = 0; k < one.turns + one.turns / 4 + 1; ++k) {
                    wait(it, expected += one.together);
                    it.send(here, sent++, one.together == 1 ? one.size : 0);
                }
            wait(it, expected + 1);
        });
    for (int const one : listens) close(one);
}

void beside_tcp() {
    measure("tcp", [](net::sink& to) { return tcp::make(to, {}); });
    measure("sctp", over({}));
}

} // namespace

int main(int argc, char** argv) try {
    static std::map<std::string, void (*)()> const experiments = {
        {"order", order}, {"cmt", cmt}, {"failover", failover}, {"tcp", beside_tcp}};
    auto const wanted = experiments.find(argc == 2 ? argv[1] : "");
    if (wanted == experiments.end()) {
        std::fprintf(stderr, "usage: assay-reproduce-paths order|cmt|failover|tcp\n");
        return 2;
    }
    wanted->second();
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "assay-reproduce-paths: %s\n", e.what());
    return 1;
}
