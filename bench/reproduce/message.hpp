// JULEA's messages over sockets: a header, a body and blocks of data, each written by a call of its own, and an answer.
#pragma once
#include "bench/reproduce/sides.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <netinet/tcp.h>

namespace assay::reproduce {

inline constexpr std::size_t header_size = 32, body_size = 64;
inline constexpr std::size_t largest_block = 4u << 20;

// A request of `blocks` times `size` bytes, and an answer in so many parts.
struct pattern {
    char const* name;
    std::size_t size, blocks;
    int answer;
    int warm, turns; // turns before it counts: a new connection acknowledges at once for a while
};

// How the system is told to send.
enum class how { plain, nodelay, tuned };

inline void set(int fd, int option, int value) {
    if (setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value) < 0) fail("setsockopt");
}

class talk {
public:
    talk(int fd, how sockets) : fd_(fd), sockets_(sockets), data_(largest_block) {
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

// Milliseconds of the median turn: one that was disturbed says nothing.
template <typename Turn> double median_turn(pattern const& it, Turn turn) {
    std::vector<double> each;
    for (int k = 0; k < it.warm + it.turns; ++k) {
        auto const begin = std::chrono::steady_clock::now();
        turn();
        std::chrono::duration<double, std::milli> const taken = std::chrono::steady_clock::now() - begin;
        if (k >= it.warm) each.push_back(taken.count());
    }
    std::nth_element(each.begin(), each.begin() + it.turns / 2, each.end());
    return each[static_cast<std::size_t>(it.turns / 2)];
}

// A listening socket on this side, and a connection to it from the other one.
class meeting {
public:
    meeting() : where_(address_of(addresses("ASSAY_HERE")[0])) {
        socklen_t length = sizeof where_;
        if (listener_.fd < 0 || bind(listener_.fd, address(), length) < 0 || listen(listener_.fd, 1) < 0 ||
            getsockname(listener_.fd, address(), &length) < 0)
            fail("listen");
    }
    connected take() {
        int const fd = accept4(listener_.fd, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) fail("accept");
        return connected{fd};
    }
    connected call() {
        int const fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, address(), sizeof where_) < 0) fail("connect");
        return connected{fd};
    }

private:
    sockaddr* address() { return reinterpret_cast<sockaddr*>(&where_); }
    sockaddr_in where_;
    connected listener_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

// The median turn over a connection that is made for it. All processes of it have ended then.
inline double measure(meeting& at, how sockets, pattern const& it) {
    double found = 0;
    on_both_sides(
        [&] {
            auto const with = at.take();
            talk side(with.fd, sockets);
            found = median_turn(it, [&] {
                side.request(it);
                side.take_answer(it);
            });
        },
        [&] {
            auto const with = at.call();
            talk side(with.fd, sockets);
            for (int k = 0; k < it.warm + it.turns; ++k) {
                side.take(it);
                side.answer(it);
            }
        });
    return found;
}

} // namespace assay::reproduce
