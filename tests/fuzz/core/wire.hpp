// A wire without another side: what the core sends is thrown away, and what it hears is what a script says. It keeps to the
// contract of wire.hpp and to nothing else.
#pragma once
#include "transports/net/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::fuzz {

class wire final : public net::wire {
public:
    using peer = net::peer;

    // A frame on its way to the core.
    struct arriving {
        peer from;
        void* token;
        std::vector<iovec> places; // for the payload, as far as it has places
        std::uint64_t size;
    };
    // One on its way out, in memory that the core may not free yet.
    struct leaving {
        peer to;
        void* token;
        std::vector<iovec> payload;
    };

    explicit wire(net::sink& sink) : sink_(sink) { current = this; }
    ~wire() override {
        while (!in.empty()) lose(0);
        while (!out.empty()) fail(0);
        current = nullptr;
    }

    net::address listen(net::address const& where) override { return where; }
    peer reach(net::address const& where) override {
        auto const [at, added] = numbers_.try_emplace(where, static_cast<peer>(numbers_.size()));
        if (added) addresses_.push_back(&at->first);
        return at->second;
    }
    net::address const& address_of(peer who) const override { return *addresses_[who]; }
    bool ready(peer) override { return connected; }
    bool send(peer to, void const*, std::span<iovec const> payload, net::flow const&, net::memory how,
              void* token) override {
        touch(payload);
        if (!slow || how == net::memory::copy) return true;
        out.push_back({to, token, {payload.begin(), payload.end()}});
        return false;
    }
    void withdraw(void* token) override {
        for (auto& one : in)
            if (one.token == token) one.places.clear();
    }
    void keep(void* token) override {
        for (auto& one : out)
            if (one.token == token) {
                touch(one.payload);
                one.payload.clear();
            }
    }
    void give_up(peer which, int error) override {
        given_up_.insert_or_assign(which, error);
        for (auto& one : out)
            if (one.to == which) one.payload.clear();
    }
    // What the script wants to happen next.
    bool poll() override {
        auto const now = std::exchange(next, nullptr);
        if (now) now();
        for (auto const& [which, error] : std::exchange(given_up_, {})) close(which, error);
        return now != nullptr;
    }
    int wait_fd() const override { return STDIN_FILENO; }
    bool flush(std::chrono::milliseconds) override { return true; }
    std::uint64_t backlog(peer) const override { return 0; }
    net::counters const& counted() const override { return counted_; }

    // For `next`. begin() returns false when nothing more is taken from there.
    bool begin(peer from, std::byte const* head, std::uint64_t size) {
        if (given_up_.contains(from)) return false;
        auto const placed = sink_.begun(from, head, size);
        in.push_back({from, placed.token, {placed.places.begin(), placed.places.end()}, size});
        return true;
    }
    // The payload comes: bytes of one value, in all of its places.
    void finish(std::size_t k, unsigned char value) {
        auto const one = take(in, k);
        auto left = one.size;
        for (auto const& place : one.places) {
            auto const part = std::min<std::uint64_t>(left, place.iov_len);
            std::fill_n(static_cast<unsigned char*>(place.iov_base), part, value);
            left -= part;
        }
        sink_.arrived(one.from, one.token);
    }
    void lose(std::size_t k) { sink_.lost(take(in, k).token); }
    void sent(std::size_t k) {
        auto const one = take(out, k);
        touch(one.payload);
        sink_.sent(one.token);
    }
    void fail(std::size_t k) { sink_.failed(take(out, k).token, ECONNRESET); }
    void close(peer which, int error) {
        for (std::size_t k = in.size(); k-- > 0;)
            if (in[k].from == which) lose(k);
        for (std::size_t k = out.size(); k-- > 0;)
            if (out[k].to == which) fail(k);
        sink_.closed(which, error);
    }

    inline static wire* current = nullptr; // there is one endpoint at a time
    std::vector<arriving> in;
    std::vector<leaving> out;
    std::function<void()> next;
    bool slow = false, connected = true;

private:
    template <typename T> static T take(std::vector<T>& from, std::size_t k) {
        T one = std::move(from[k]);
        from.erase(from.begin() + static_cast<std::ptrdiff_t>(k));
        return one;
    }
    // Reads all of it, for the sanitizer to see.
    static void touch(std::span<iovec const> payload) {
        unsigned sum = 0;
        for (auto const& piece : payload)
            for (std::size_t k = 0; k < piece.iov_len; ++k) sum += static_cast<unsigned char const*>(piece.iov_base)[k];
        static volatile unsigned seen;
        seen = seen + sum;
    }

    net::sink& sink_;
    std::map<net::address, peer> numbers_;
    std::map<peer, int> given_up_;
    std::vector<net::address const*> addresses_;
    net::counters counted_;
};

} // namespace assay::fuzz
