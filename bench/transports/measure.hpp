// How messages are timed between two processes, over whatever carries them: `assay bench transports`.
//
// Latency is half of a round trip. Bandwidth and rate come from windows of messages that are sent one after the other and
// answered by one byte. Every message carries its number at both ends of its data and is checked.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::bench {

inline constexpr std::size_t most_in_a_window = 64;

// Between this process and its partner. Messages arrive in the order in which they were sent.
class channel {
public:
    virtual ~channel() = default;
    virtual void send(std::byte const* data, std::size_t size) = 0;
    virtual void receive(std::byte* data, std::size_t size) = 0;
    // `count` messages of `size` bytes, each at its place in `data`, `stride` bytes apart.
    virtual void send_all(std::byte const* data, std::size_t stride, std::size_t size, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) send(data + i * stride, size);
    }
    virtual void receive_all(std::byte* data, std::size_t stride, std::size_t size, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) receive(data + i * stride, size);
    }
};

struct point {
    std::size_t size; // bytes
    double latency;   // seconds
    double bandwidth; // bytes a second
};

class measurement {
public:
    measurement(channel& c, bool first, std::size_t largest)
        : channel_(c), first_(first), stride_(largest), data_(std::max(largest * window(largest), small_memory)) {}

    point of(std::size_t size) {
        // Enough for a mean of some tens of milliseconds, on a slow transport for some tenths of a second.
        auto const turns = std::max<std::size_t>(20, std::min<std::size_t>(5000, (4u << 20) / size));
        auto const windows = std::max<std::size_t>(2, std::min<std::size_t>(20, (8u << 20) / (size * window(size))));
        stride_ = size;
        ping_pong(size, turns / 10);
        auto const latency = timed([&] { ping_pong(size, turns); }) / (2.0 * static_cast<double>(turns));
        stream(size, 1);
        auto const seconds = timed([&] { stream(size, windows); });
        return {size, latency, static_cast<double>(size * window(size) * windows) / seconds};
    }

private:
    static constexpr std::size_t small_memory = most_in_a_window << 16;
    static std::size_t window(std::size_t size) {
        return std::clamp<std::size_t>(small_memory / size, 4, most_in_a_window);
    }

    template <class Action> static double timed(Action action) {
        auto const begin = std::chrono::steady_clock::now();
        action();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    void mark(std::byte* data, std::size_t size) { data[0] = data[size - 1] = static_cast<std::byte>(++number_); }
    void check(std::byte const* data, std::size_t size) {
        auto const expected = static_cast<std::byte>(++number_);
        if (data[0] != expected || data[size - 1] != expected)
            throw std::runtime_error("a message of " + std::to_string(size) + " bytes arrived with other data");
    }

    void ping_pong(std::size_t size, std::size_t turns) {
        auto* const data = data_.data();
        auto const there = [&] {
            mark(data, size);
            channel_.send(data, size);
        };
        auto const back = [&] {
            channel_.receive(data, size);
            check(data, size);
        };
        for (std::size_t i = 0; i < turns; ++i)
            if (first_) there(), back();
            else back(), there();
    }
    void stream(std::size_t size, std::size_t windows) {
        auto const count = window(size);
        std::byte answer{};
        for (std::size_t w = 0; w < windows; ++w) {
            if (first_)
                for (std::size_t i = 0; i < count; ++i) mark(data_.data() + i * stride_, size);
            if (first_) {
                channel_.send_all(data_.data(), stride_, size, count);
                channel_.receive(&answer, 1);
            } else {
                channel_.receive_all(data_.data(), stride_, size, count);
                for (std::size_t i = 0; i < count; ++i) check(data_.data() + i * stride_, size);
                channel_.send(&answer, 1);
            }
        }
    }

    channel& channel_;
    bool first_;
    std::size_t stride_;
    std::uint8_t number_ = 0;
    std::vector<std::byte> data_;
};

// 2^k and 2^k ± 3 bytes from 8 to `largest`: what changes from one protocol to another does so near a power of two.
inline std::vector<std::size_t> sizes(std::size_t largest) {
    std::vector<std::size_t> all;
    for (std::size_t power = 8; power <= largest; power *= 2)
        for (auto const size : {power - 3, power, power + 3}) all.push_back(size);
    return all;
}

// Measures all sizes; the first process gets a line for each: bytes, nanoseconds, bytes a second.
inline std::string measure_all(channel& c, bool first, std::size_t largest) {
    std::string lines;
    measurement m(c, first, largest + 3);
    for (auto const size : sizes(largest)) {
        auto const p = m.of(size);
        lines +=
            std::to_string(p.size) + " " + std::to_string(1e9 * p.latency) + " " + std::to_string(p.bandwidth) + "\n";
    }
    return first ? lines : "";
}

} // namespace assay::bench
