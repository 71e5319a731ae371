// One connection: what is on its way in, and the queue of what goes out.
#pragma once
#include "transports/net/pcap.hpp"
#include "transports/net/pieces.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <sys/epoll.h>
#include <vector>

namespace assay::tcp {

// A frame on its way out, with what is left of it.
class queued_frame {
public:
    static constexpr std::size_t most_pieces = 16;

    queued_frame(void const* head, std::span<iovec const> payload) : payload_(payload) {
        std::uint64_t const size = payload_.left();
        std::memcpy(front_.data(), &size, sizeof size);
        std::memcpy(front_.data() + sizeof size, head, net::head_size);
        front_size_ = sizeof size + net::head_size;
    }
    // The greeting: bytes without a payload.
    explicit queued_frame(std::span<std::byte const> bytes) : front_size_(bytes.size()), payload_({}) {
        std::copy(bytes.begin(), bytes.end(), front_.begin());
    }

    // Writes what is left to at most `most` pieces; returns how many.
    std::size_t rest(iovec* pieces, std::size_t most) const {
        std::size_t count = 0;
        if (begun_ < front_size_)
            pieces[count++] = {const_cast<std::byte*>(front_.data()) + begun_, front_size_ - begun_};
        return count + payload_.rest(pieces + count, most - count);
    }
    void advance(std::size_t size) {
        auto const front = std::min(size, front_size_ - begun_);
        begun_ += front;
        payload_.advance(size - front);
    }
    bool empty() const { return left() == 0; }
    std::uint64_t left() const { return front_size_ - begun_ + payload_.left(); }

    // Keeps a copy of what is left, so that the memory it came from is free.
    void own() { payload_.own(); }

    void* token = nullptr;

private:
    std::array<std::byte, 80> front_; // size and head, or the greeting
    std::size_t front_size_ = 0, begun_ = 0;
    net::outgoing payload_;
};

struct link {
    static constexpr std::size_t prefix_size = sizeof(std::uint64_t) + net::head_size;
    static constexpr std::size_t greeting_size = 80;
    static constexpr char magic[9] = "assaytcp"; // 8 characters
    static constexpr int ended = -1;             // the other side said that nothing more comes
    // In place of a frame's size: what follows was sent after all that goes over the sender's own connection whose serial number is
    // the beginning of the head.
    static constexpr std::uint64_t moved = ~std::uint64_t{0};

    int fd = -1;
    std::size_t number = 0;
    int error = 0;
    int deaf = 0; // why nothing more can be written; what the other side has sent before is still read
    bool connecting = false, corked = false;
    unsigned watched = EPOLLIN; // the events that are asked for
    bool listed = true;         // with epoll
    bool known = false;         // `from` is valid
    bool greeted = false;       // what comes next is a frame
    bool ours = false;          // this side has made it
    bool leaving = false;       // nothing is added to the queue any more
    bool written_off = false;   // the other side has been told so
    std::uint64_t accepted = 0; // its number among those that others have made; 0: it is none of these
    bool passing = false;       // there is no descriptor for it: it is only read until its maker ends it
    net::peer from = 0;
    std::uint32_t serial = 0; // its number among those that its maker has made
    // What comes here was sent after all that comes over the peer's connection of this serial number (0: of none).
    std::uint32_t waits_for = 0;
    bool paused = false;          // nothing is read for now
    std::vector<std::byte> stash; // what came so far, and waits for either
    bool blocked() const { return waits_for != 0 || paused; }

    std::array<std::byte, greeting_size> partial; // of a greeting or of a size and head
    std::size_t partial_size = 0;
    bool in_payload = false;
    net::incoming payload;
    void* token = nullptr;

    std::deque<queued_frame> queue;
    std::unique_ptr<net::pcap_connection> shown;

    std::uint64_t waiting() const {
        std::uint64_t sum = 0;
        for (auto const& frame : queue) sum += frame.left();
        return sum;
    }

    void greet(net::address const& self) {
        std::array<std::byte, greeting_size> bytes{};
        std::uint64_t const size = self.size() | std::uint64_t{serial} << 32;
        std::memcpy(bytes.data(), magic, 8);
        std::memcpy(bytes.data() + 8, &size, sizeof size);
        std::memcpy(bytes.data() + 16, self.data(), self.size());
        queue.emplace_back(bytes);
        greeted = true; // the other side never greets on this connection
    }
    bool understand(std::byte const* bytes, net::address& who) {
        std::uint64_t size = 0;
        std::memcpy(&size, bytes + 8, sizeof size);
        serial = static_cast<std::uint32_t>(size >> 32);
        size &= 0xffff'ffff;
        if (std::memcmp(bytes, magic, 8) != 0 || size > net::longest_address) return false;
        who.assign(reinterpret_cast<char const*>(bytes) + 16, size);
        return true;
    }

    void push(queued_frame&& frame) { queue.push_back(std::move(frame)); }

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
};

} // namespace assay::tcp
