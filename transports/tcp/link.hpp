// One connection: what is on its way in, and the queue of what goes out.
#pragma once
#include "transports/wire/wire.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

namespace assay::tcp {

// A segment on its way out, with what is left of it.
class outgoing {
public:
    static constexpr std::size_t most_pieces = 16;

    outgoing(void const* head, std::span<iovec const> payload) : payload_(payload.begin(), payload.end()) {
        std::uint64_t size = 0;
        for (auto const& piece : payload) size += piece.iov_len;
        std::memcpy(front_.data(), &size, sizeof size);
        std::memcpy(front_.data() + sizeof size, head, wire::head_size);
        front_size_ = sizeof size + wire::head_size;
        left_ = size + front_size_;
    }
    // The greeting: bytes without a payload.
    explicit outgoing(std::span<std::byte const> bytes) : front_size_(bytes.size()), left_(bytes.size()) {
        std::copy(bytes.begin(), bytes.end(), front_.begin());
    }

    // Writes what is left to at most `most` pieces; returns how many.
    std::size_t rest(iovec* pieces, std::size_t most) const {
        std::size_t count = 0;
        if (begun_ < front_size_)
            pieces[count++] = {const_cast<std::byte*>(front_.data()) + begun_, front_size_ - begun_};
        for (auto const& piece : payload_)
            if (piece.iov_len > 0 && count < most) pieces[count++] = piece;
        return count;
    }
    void advance(std::size_t size) {
        left_ -= size;
        auto const front = std::min(size, front_size_ - begun_);
        begun_ += front;
        size -= front;
        for (auto& piece : payload_) {
            auto const part = std::min(size, piece.iov_len);
            piece.iov_base = static_cast<std::byte*>(piece.iov_base) + part;
            piece.iov_len -= part;
            size -= part;
        }
    }
    bool empty() const { return left_ == 0; }
    std::uint64_t left() const { return left_; }

    // Keeps a copy of what is left, so that the memory it came from is free.
    void own() {
        std::size_t size = 0;
        for (auto const& piece : payload_) size += piece.iov_len;
        copy_ = std::make_unique<std::byte[]>(size);
        auto* at = copy_.get();
        for (auto const& piece : payload_) {
            if (piece.iov_len == 0) continue;
            std::memcpy(at, piece.iov_base, piece.iov_len);
            at += piece.iov_len;
        }
        payload_.assign(1, {copy_.get(), size});
    }

    void* token = nullptr;

private:
    std::array<std::byte, 80> front_; // size and head, or the greeting
    std::size_t front_size_ = 0, begun_ = 0;
    std::vector<iovec> payload_;
    std::unique_ptr<std::byte[]> copy_;
    std::uint64_t left_ = 0;
};

struct link {
    static constexpr std::size_t prefix_size = sizeof(std::uint64_t) + wire::head_size;
    static constexpr std::size_t greeting_size = 80;
    static constexpr char magic[9] = "assaytcp"; // 8 characters
    static constexpr int ended = -1;             // the other side said that nothing more comes

    int fd = -1;
    std::size_t number = 0;
    int error = 0;
    bool connecting = false, watched = false;
    bool known = false;   // `from` is valid
    bool greeted = false; // what comes next is a segment
    wire::peer from = 0;

    std::array<std::byte, greeting_size> partial; // of a greeting or of a size and head
    std::size_t partial_size = 0;
    bool in_payload = false;
    std::uint64_t missing = 0; // bytes of the payload that have not come
    std::vector<iovec> places; // for these, as far as they have a place
    void* token = nullptr;

    std::deque<outgoing> queue;

    std::uint64_t waiting() const {
        std::uint64_t sum = 0;
        for (auto const& segment : queue) sum += segment.left();
        return sum;
    }

    void greet(wire::address const& self) {
        std::array<std::byte, greeting_size> bytes{};
        std::uint64_t const size = self.size();
        std::memcpy(bytes.data(), magic, 8);
        std::memcpy(bytes.data() + 8, &size, sizeof size);
        std::memcpy(bytes.data() + 16, self.data(), self.size());
        queue.emplace_back(bytes);
        greeted = true; // the other side never greets on this connection
    }
    static bool understand(std::byte const* bytes, wire::address& who) {
        std::uint64_t size = 0;
        std::memcpy(&size, bytes + 8, sizeof size);
        if (std::memcmp(bytes, magic, 8) != 0 || size > wire::longest_address) return false;
        who.assign(reinterpret_cast<char const*>(bytes) + 16, size);
        return true;
    }

    void push(outgoing&& segment) { queue.push_back(std::move(segment)); }

    template <typename Sent> void written(std::size_t size, Sent sent) {
        while (size > 0) {
            auto& first = queue.front();
            auto const part = static_cast<std::size_t>(std::min<std::uint64_t>(size, first.left()));
            first.advance(part);
            size -= part;
            if (!first.empty()) return;
            void* const done = first.token;
            queue.pop_front();
            if (done) sent(done); // may send more
        }
    }

    // Takes places for a payload, as many of them as it can fill.
    void place(std::span<iovec const> given) {
        places.clear();
        auto left = missing;
        for (auto const& one : given) {
            auto const part = std::min<std::uint64_t>(one.iov_len, left);
            if (part > 0) places.push_back({one.iov_base, static_cast<std::size_t>(part)});
            left -= part;
        }
    }
    // `size` bytes of the payload have come to their places.
    void fill(std::size_t size) {
        missing -= size;
        std::size_t full = 0;
        for (auto& one : places) {
            auto const part = std::min(size, one.iov_len);
            one.iov_base = static_cast<std::byte*>(one.iov_base) + part;
            one.iov_len -= part;
            size -= part;
            if (one.iov_len == 0) ++full;
        }
        places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(full));
    }
    void copy(std::byte const* data, std::size_t size) {
        std::size_t placed = 0;
        for (auto const& one : places) {
            auto const part = std::min(size - placed, one.iov_len);
            std::memcpy(one.iov_base, data + placed, part);
            placed += part;
        }
        fill(placed);
        missing -= size - placed; // has no place
    }
};

} // namespace assay::tcp
