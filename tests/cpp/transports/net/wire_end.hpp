// For tests of wires: one end, and all that it reported.
#pragma once
#include "transports/net/interfaces.hpp"
#include "transports/net/transport.hpp"

#include <array>
#include <cctype>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

namespace assay::net {

using bytes = std::vector<unsigned char>;

inline bytes pattern(std::size_t size, unsigned seed) {
    bytes data(size);
    for (std::size_t k = 0; k < size; ++k) data[k] = static_cast<unsigned char>(k * 7 + seed + (k >> 8));
    return data;
}

class end : public sink {
public:
    template <typename Make>
    explicit end(Make make, int family = AF_INET) : wire_(make(*this)), name(wire_->listen(any_port("lo", family))) {}
    ~end() override { wire_.reset(); }

    struct frame {
        peer from;
        unsigned char mark; // first byte of the head
        bytes payload;
    };

    bool send(address const& to, unsigned char mark, bytes const& payload, memory how = memory::borrow,
              void* token = nullptr, flow const& where = {}) {
        std::array<unsigned char, head_size> head{mark};
        auto const parts = split(const_cast<unsigned char*>(payload.data()), payload.size());
        return wire_->send(wire_->reach(to), head.data(), parts, where, how, token);
    }

    destination begun(peer from, std::byte const* head, std::uint64_t size) override {
        auto it = std::make_unique<frame>(frame{from, static_cast<unsigned char>(head[0]), bytes(size, 0xa5)});
        auto& data = it->payload;
        places_ = split(data.data(), std::min<std::size_t>(size, room_for));
        return {places_, it.release()};
    }
    void arrived(peer from, void* token) override {
        std::unique_ptr<frame> const it(static_cast<frame*>(token));
        EXPECT_EQ(it->from, from);
        got.push_back(std::move(*it));
        if (on_arrival) on_arrival(got.back());
    }
    void lost(void* token) override {
        delete static_cast<frame*>(token);
        ++losses;
    }
    void sent(void* token) override { freed.push_back(token); }
    void failed(void* token, int error) override { failures[token] = error; }
    void closed(peer, int error) override { closings.push_back(error); }

private:
    // Memory as so many pieces, of different lengths.
    std::vector<iovec> split(unsigned char* memory, std::size_t size) const {
        std::vector<iovec> made;
        for (unsigned k = 0; k < pieces; ++k) {
            auto const part = k + 1 == pieces ? size : std::min(size, size / (pieces - k) + k);
            made.push_back({memory, part});
            memory += part;
            size -= part;
        }
        return made;
    }

    std::vector<iovec> places_;
    std::unique_ptr<wire> wire_;

public:
    wire& operator*() { return *wire_; }
    address name;
    std::size_t room_for = ~std::size_t{0};
    unsigned pieces = 2; // of a payload, sent or received
    std::function<void(frame const&)> on_arrival;
    std::vector<frame> got;
    std::vector<void*> freed;
    std::map<void*, int> failures;
    std::vector<int> closings;
    int losses = 0;
};

// A way to make wires: a transport with some of its switches, NAME=VALUE+…
inline auto maker(transport const& of, std::string_view switches) {
    configuration how;
    while (!switches.empty()) {
        auto const end = switches.find('+');
        auto const word = switches.substr(0, end);
        auto const equal = word.find('=');
        auto const value = equal == word.npos ? std::string_view{} : word.substr(equal + 1);
        EXPECT_TRUE(of.takes(word.substr(0, equal), value)) << word;
        how.switches.emplace(word.substr(0, equal), value);
        switches = end == switches.npos ? std::string_view{} : switches.substr(end + 1);
    }
    return [&of, how](sink& to) { return of.make(to, how); };
}

// In names of tests: tcp_streams_4.
inline std::string name_of(variant const& one) {
    std::string name = one.of->name;
    if (*one.switches) name += std::string("_") + one.switches;
    for (auto& letter : name)
        if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
    return name;
}

// Polls until it holds; false when it takes too long.
template <typename... Ends> bool until(std::function<bool()> const& holds, Ends&... ends) {
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!holds()) {
        ((*ends).poll(), ...);
        if (std::chrono::steady_clock::now() > limit) return false;
    }
    return true;
}

// Open ones of this process.
inline std::size_t descriptors() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

} // namespace assay::net
