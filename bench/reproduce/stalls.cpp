// assay-reproduce-stalls: a request that is written in parts (a header, a body, blocks of data) and answered, over a TCP connection
// as the system makes it (plain), with TCP_NODELAY, and with TCP_NODELAY and TCP_CORK around each message (tuned). That is how JULEA's
// messages go over sockets. Prints lines of a name and a number.
//   assay-reproduce-stalls turns|bulk
#include "bench/reproduce/sides.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <netinet/tcp.h>

namespace {

using namespace assay::reproduce;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t header_size = 32, body_size = 64;
constexpr std::size_t most = 4u << 20;

enum class how { plain, nodelay, tuned };
struct kind {
    char const* name;
    how sockets;
};
constexpr kind kinds[] = {{"plain", how::plain}, {"nodelay", how::nodelay}, {"tuned", how::tuned}};

// A request of `blocks` times `size` bytes, and an answer in so many parts.
struct pattern {
    char const* name;
    std::size_t size, blocks;
    int answer;
    int warm, turns; // turns before it counts: a new connection acknowledges at once for a while
};
constexpr pattern turns[] = {{"item", 4096, 1, 1, 20, 15}, {"twice", 4096, 1, 2, 20, 15}};
constexpr pattern bulk[] = {{"batch", 4096, 10'000, 2, 1, 3}, {"large", most, 1, 2, 3, 9}};

void set(int fd, int option, int value) {
    if (setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value) < 0) fail("setsockopt");
}

class talk {
public:
    talk(int fd, how sockets) : fd_(fd), sockets_(sockets), data_(most) {
        if (sockets != how::plain) set(fd, TCP_NODELAY, 1);
    }
    // Each part by a call of its own.
    void request(pattern const& it) {
        cork(1);
        send_all(fd_, data_.data(), header_size);
        send_all(fd_, data_.data(), body_size);
        for (std::size_t k = 0; k < it.blocks; ++k) {
            std::memcpy(data_.data(), &k, sizeof k);
            send_all(fd_, data_.data(), it.size);
        }
        cork(0);
    }
    void take(pattern const& it) {
        receive_all(fd_, data_.data(), header_size);
        receive_all(fd_, data_.data(), body_size);
        for (std::size_t k = 0; k < it.blocks; ++k) {
            receive_all(fd_, data_.data(), it.size);
            std::size_t number = 0;
            std::memcpy(&number, data_.data(), sizeof number);
            if (number != k) throw std::runtime_error("a block is not the one that was sent");
        }
    }
    void answer(pattern const& it) {
        cork(1);
        send_all(fd_, data_.data(), header_size);
        if (it.answer == 2) send_all(fd_, data_.data(), body_size);
        cork(0);
    }
    void take_answer(pattern const& it) {
        receive_all(fd_, data_.data(), header_size);
        if (it.answer == 2) receive_all(fd_, data_.data(), body_size);
    }

private:
    void cork(int on) {
        if (sockets_ == how::tuned) set(fd_, TCP_CORK, on);
    }
    int fd_;
    how sockets_;
    std::vector<char> data_;
};

// The median turn: one that was disturbed says nothing.
double milliseconds(talk& with, pattern const& it) {
    std::vector<double> each;
    for (int k = 0; k < it.warm + it.turns; ++k) {
        auto const begin = clock_type::now();
        with.request(it);
        with.take_answer(it);
        if (k >= it.warm) each.push_back(std::chrono::duration<double, std::milli>(clock_type::now() - begin).count());
    }
    std::nth_element(each.begin(), each.begin() + it.turns / 2, each.end());
    return each[static_cast<std::size_t>(it.turns / 2)];
}

template <std::size_t N> void measure(pattern const (&patterns)[N]) {
    auto where = address_of(addresses("ASSAY_HERE")[0]);
    auto* const address = reinterpret_cast<sockaddr*>(&where);
    socklen_t length = sizeof where;
    connected listener{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (listener.fd < 0 || bind(listener.fd, address, length) < 0 || listen(listener.fd, 1) < 0 ||
        getsockname(listener.fd, address, &length) < 0)
        fail("listen");
    for (auto const& it : patterns)
        for (auto const& one : kinds)
            on_both_sides(
                [&] {
                    connected const with{accept(listener.fd, nullptr, nullptr)};
                    if (with.fd < 0) fail("accept");
                    talk side(with.fd, one.sockets);
                    std::printf("%s.%s %.4f\n", it.name, one.name, milliseconds(side, it));
                },
                [&] {
                    connected const with{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
                    if (connect(with.fd, address, length) < 0) fail("connect");
                    talk side(with.fd, one.sockets);
                    for (int k = 0; k < it.warm + it.turns; ++k) {
                        side.take(it);
                        side.answer(it);
                    }
                });
}

} // namespace

int main(int argc, char** argv) try {
    std::string const what = argc == 2 ? argv[1] : "";
    if (what == "turns") measure(turns);
    else if (what == "bulk") measure(bulk);
    else {
        std::fprintf(stderr, "usage: assay-reproduce-stalls turns|bulk\n");
        return 2;
    }
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "assay-reproduce-stalls: %s\n", e.what());
    return 1;
}
