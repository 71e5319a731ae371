// The program above a wire that is fuzzed. It gives payloads as much room as a script says, in memory of just that size, frees memory as
// soon as it may, so that whoever still reads or writes there is caught, and knows which reports cannot be.
#pragma once
#include "tests/fuzz/script.hpp"
#include "transports/net/wire.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace assay::fuzz {

class program final : public net::sink {
public:
    struct frame {
        net::peer from;
        std::array<std::byte, net::head_size> head;
        std::uint64_t size;
        std::size_t room; // for so much of the payload, in `memory`
        std::unique_ptr<std::byte[]> memory;
        bool withdrawn = false;
    };

    explicit program(script& says) : says_(says) {}

    net::destination begun(net::peer from, std::byte const* head, std::uint64_t size) override {
        static constexpr std::size_t rooms[] = {0, 5, 4096, std::size_t{1} << 17};
        auto it = std::make_unique<frame>();
        it->from = from;
        std::memcpy(it->head.data(), head, it->head.size());
        it->size = size;
        it->room = static_cast<std::size_t>(std::min<std::uint64_t>(size, rooms[3 - says_.below(4)]));
        it->memory = std::make_unique<std::byte[]>(it->room);
        // In up to three places, some of them empty.
        auto const first = std::min<std::size_t>(it->room, says_.below(4) * 3);
        auto const second = (it->room - first) / 2;
        auto* const memory = it->memory.get();
        places_ = {{{memory, first}, {memory + first, second}, {memory + first + second, it->room - first - second}}};
        auto* const token = it.get();
        in_.emplace(token, std::move(it));
        if (on_begun) on_begun(*token);
        return {places_, token};
    }
    void arrived(net::peer from, void* token) override {
        auto const it = end(token);
        must(it->from == from, "a frame arrives from somebody else");
        if (on_arrived) on_arrived(*it);
        react(from);
    }
    void lost(void* token) override { end(token); }
    void sent(void* token) override { free(token); }
    void failed(void* token, int error) override {
        must(error != 0, "a failure without a reason");
        free(token);
    }
    void closed(net::peer which, int) override {
        if (on_closed) on_closed(which);
        react(which);
    }

    void send(net::wire& over, net::peer to, std::size_t size, net::memory how, net::flow const& where) {
        auto made = std::make_unique<std::byte[]>(size);
        auto* const data = made.get();
        out_.emplace(data, std::move(made));
        std::array<std::byte, net::head_size> const head{};
        iovec const pieces[] = {{data, size / 3}, {data + size / 3, size - size / 3}};
        if (over.send(to, head.data(), pieces, where, how, data)) free(data);
        else must(how == net::memory::borrow, "what was to be copied is borrowed");
    }
    // Memory that a payload goes to vanishes, when from(token) has been told.
    void withdraw(std::function<void(void*)> const& from) {
        for (auto& [token, it] : in_) {
            if (it->withdrawn) continue;
            from(token);
            it->withdrawn = true;
            it->memory.reset();
            return;
        }
    }
    void withdraw(net::wire& over) {
        withdraw([&over](void* token) { over.withdraw(token); });
    }
    // When the wire is gone.
    void nothing_is_left() const {
        must(in_.empty(), "a frame that has begun neither arrives nor is lost");
        must(out_.empty(), "a frame is neither sent nor failed");
    }

    std::function<void(frame const&)> on_begun, on_arrived;
    std::function<void(net::peer)> on_closed, on_turn; // on_turn: from within a report, what a program may call there

private:
    std::unique_ptr<frame> end(void* token) {
        auto const at = in_.find(token);
        must(at != in_.end(), "the end of a frame that has not begun");
        auto it = std::move(at->second);
        in_.erase(at);
        return it;
    }
    void free(void* token) { must(out_.erase(token) == 1, "memory that is free is freed"); }
    void react(net::peer who) {
        if (on_turn && says_.below(4) == 3) on_turn(who);
    }

    script& says_;
    std::array<iovec, 3> places_{};
    std::map<void*, std::unique_ptr<frame>> in_;
    std::map<void*, std::unique_ptr<std::byte[]>> out_;
};

} // namespace assay::fuzz
