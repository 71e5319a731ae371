// The frames of one association: how they go out in fragments, and how fragments become frames again.
#pragma once
#include "transports/net/pieces.hpp"
#include "transports/sctp/sctp.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::sctp {

// Before the data of each fragment, in this machine's byte order: both sides run the same code.
struct front {
    std::uint32_t number = 0;    // counts the frames whose order matters, and the others
    std::uint32_t unordered = 0; // 1: of the others
    std::uint64_t size = 0;      // of the payload of the whole frame
    std::uint64_t from = 0;      // where in it this fragment begins; at 0 the head of the frame comes first
};

// Of what came before its turn, with so much for the record of each frame: a lost packet comes again long before there is more.
inline constexpr std::uint64_t most_held = 16 * 1024 * 1024, record_size = 256;

inline std::uint64_t key_of(front const& it) { return std::uint64_t{it.unordered} << 32 | it.number; }

// The memory of a fragment. A vector would fill it with zeros each time: more work than all else with a short message.
class message {
public:
    std::byte* make(std::size_t size) {
        if (room_ < size) {
            bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
            room_ = size;
        }
        size_ = size;
        return bytes_.get();
    }
    std::byte const* data() const { return bytes_.get(); }
    std::size_t size() const { return size_; }

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0, room_ = 0;
};

// A frame on its way out, with what is left of it.
struct departing {
    departing(front const& what, void const* head_bytes, std::span<iovec const> data, net::flow const& by)
        : next(what), where(by), payload(data) {
        next.size = payload.left();
        std::memcpy(head.data(), head_bytes, head.size());
    }
    // Makes the next fragment, and goes on after it.
    void write(message& fragment) {
        std::size_t const front_size = sizeof next + (next.from == 0 ? head.size() : 0);
        auto const part = static_cast<std::size_t>(std::min<std::uint64_t>(payload.left(), fragment_size - front_size));
        auto* const bytes = fragment.make(front_size + part);
        std::memcpy(bytes, &next, sizeof next);
        if (next.from == 0) std::memcpy(bytes + sizeof next, head.data(), head.size());
        next.from += payload.take(bytes + front_size, part);
    }

    front next;
    net::flow where;
    std::array<std::byte, net::head_size> head;
    net::outgoing payload;
    void* token = nullptr;
};

// What goes to one peer. Frames whose order matters go one after the other; the others take turns with them, fragment by
// fragment, so that a long one holds up nothing.
class departures {
public:
    void add(void const* head, std::span<iovec const> payload, net::flow const& where) {
        front first;
        first.unordered = where.unordered ? 1 : 0;
        first.number = where.unordered ? next_unordered_++ : next_ordered_++;
        (where.unordered ? unordered_ : ordered_).emplace_back(first, head, payload, where);
    }
    // The same where nothing is on its way and one fragment is enough: that is made at once, without a queue. False: it is not so.
    template <typename Pick>
    bool add_whole(void const* head, std::span<iovec const> payload, net::flow const& where, Pick pick) {
        front only;
        std::size_t const front_size = sizeof only + net::head_size;
        only.size = net::bytes_of(payload);
        if (only.size > fragment_size - front_size || !empty()) return false;
        only.unordered = where.unordered ? 1 : 0;
        only.number = where.unordered ? next_unordered_++ : next_ordered_++;
        auto const size = static_cast<std::size_t>(only.size);
        auto* const bytes = fragment_.make(front_size + size);
        std::memcpy(bytes, &only, sizeof only);
        std::memcpy(bytes + sizeof only, head, net::head_size);
        net::gather(payload, bytes + front_size, size);
        stream_ = pick(where);
        first_ = true;
        sent_ = 0;
        return true;
    }
    // The frame that was added last; null when all of it has been made into fragments.
    departing* last(bool unordered) {
        auto& queue = unordered ? unordered_ : ordered_;
        return queue.empty() ? nullptr : &queue.back();
    }
    bool empty() const { return ordered_.empty() && unordered_.empty() && rest() == 0; }

    // The fragment that is to be sent, with what is left of it; made when there is none. False: nothing to send.
    // pick(flow) says its stream.
    template <typename Pick> bool fill(Pick pick) {
        if (rest() > 0) return true;
        if (ordered_.empty() && unordered_.empty()) return false;
        bool const other = !unordered_.empty() && (ordered_.empty() || turn_);
        turn_ = !turn_;
        auto& queue = other ? unordered_ : ordered_;
        auto& one = queue.front();
        stream_ = pick(one.where);
        first_ = one.next.from == 0;
        one.write(fragment_);
        sent_ = 0;
        if (one.payload.empty()) {
            ending_ = one.token;
            queue.pop_front();
        } else if (other) {
            queue.push_back(std::move(one));
            queue.pop_front();
        }
        return true;
    }
    std::byte const* data() const { return fragment_.data() + sent_; }
    std::size_t rest() const { return fragment_.size() - sent_; }
    std::uint16_t stream() const { return stream_; }
    bool first() const { return first_; } // of its frame
    // So much of it has gone. Returns the token of the frame that has gone completely by that. Not earlier, though its memory
    // is free: its sender may never poll again, and only what the stack has goes without.
    void* advance(std::size_t size) {
        sent_ += size;
        return rest() == 0 ? std::exchange(ending_, nullptr) : nullptr;
    }
    // Copies what is left of a frame whose memory is about to vanish.
    void keep(void* token) {
        for (auto* queue : {&ordered_, &unordered_})
            for (auto& one : *queue)
                if (one.token == token) one.payload.own();
    }
    // For a frame whose last fragment has been made, and has not gone.
    void tell_when_gone(void* token) { ending_ = token; }

    std::uint64_t waiting() const {
        std::uint64_t sum = rest();
        each([&](departing const& one) { sum += one.payload.left() + net::head_size; });
        return sum;
    }
    // Tokens of what has not gone.
    template <typename Visit> void each_token(Visit visit) const {
        if (ending_) visit(ending_);
        each([&](departing const& one) {
            if (one.token) visit(one.token);
        });
    }

private:
    template <typename Visit> void each(Visit visit) const {
        for (auto const* queue : {&ordered_, &unordered_})
            for (auto const& one : *queue) visit(one);
    }

    std::deque<departing> ordered_, unordered_;
    std::uint32_t next_ordered_ = 0, next_unordered_ = 0;
    bool turn_ = false, first_ = false;
    message fragment_;
    std::size_t sent_ = 0;
    std::uint16_t stream_ = 0;
    void* ending_ = nullptr; // token of the frame that ends with this fragment
};

// A frame that is coming in.
struct arriving {
    std::array<std::byte, net::head_size> head;
    std::uint64_t size = 0, received = 0;
    bool begun = false; // its place is known
    void* token = nullptr;
    net::incoming payload;
    std::vector<std::byte> held; // what came before its turn
};

// What comes from one peer. Segments are begun, and end, in the order of their numbers.
class arrivals {
public:
    // Begin(head, size) → net::destination, End(token). False: it is no fragment, or one is missing.
    template <typename Begin, typename End>
    bool take(std::byte const* data, std::size_t size, bool in_order, Begin begin, End end) {
        front what;
        if (size < sizeof what) return false;
        std::memcpy(&what, data, sizeof what);
        data += sizeof what;
        size -= sizeof what;
        if (what.unordered > 1) return false;
        auto const ahead = static_cast<std::int32_t>(what.number - next_);
        bool const any_time = what.unordered || !in_order;
        if (!any_time && ahead < 0) return false;
        if (what.from == 0 && size >= net::head_size && what.size == size - net::head_size &&
            (any_time || ahead == 0) && !frames_.contains(key_of(what))) { // all of it, in its turn: nothing to keep
            auto const placed = begin(data, what.size);
            void* const token = placed.token; // the places may be gone once they are full
            net::scatter(data + net::head_size, size - net::head_size, placed.places);
            end(token);
            if (!any_time) follow(begin, end);
            return true;
        }
        auto const [at, fresh] = frames_.try_emplace(key_of(what));
        auto& one = at->second;
        if (fresh) {
            if (what.from != 0 || size < net::head_size) return false;
            std::memcpy(one.head.data(), data, net::head_size);
            data += net::head_size;
            size -= net::head_size;
            one.size = what.size;
        }
        if (what.from != one.received || what.size != one.size || size > one.size - one.received) return false;
        if (fresh && (any_time || ahead == 0)) start(one, begin);
        one.received += size;
        if (one.begun) one.payload.store(data, size);
        else {
            if (fresh) ++held;
            held_bytes_ += size + (fresh ? record_size : 0);
            if (held_bytes_ > most_held) return false;
            one.held.insert(one.held.end(), data, data + size);
        }
        if (!one.begun || one.received < one.size) return true;
        finish(key_of(what), end);
        if (!any_time) follow(begin, end);
        return true;
    }
    template <typename Visit> void each_begun(Visit visit) {
        for (auto& [key, one] : frames_)
            if (one.begun) visit(one);
    }

    std::vector<std::byte> partial; // of a message whose end has not come
    std::uint64_t held = 0;         // frames that came before their turn

private:
    template <typename Begin> void start(arriving& one, Begin begin) {
        net::destination const placed = begin(one.head.data(), one.size);
        one.token = placed.token;
        one.payload.expect(one.size, placed.places);
        one.begun = true;
    }
    // Goes on with the frames after the one that has ended, as far as they have come.
    template <typename Begin, typename End> void follow(Begin begin, End end) {
        for (++next_;; ++next_) {
            auto const next = frames_.find(next_);
            if (next == frames_.end()) return;
            auto& it = next->second;
            start(it, begin);
            it.payload.store(it.held.data(), it.held.size());
            held_bytes_ -= it.held.size() + record_size;
            std::vector<std::byte>().swap(it.held);
            if (it.received < it.size) return;
            finish(next_, end);
        }
    }
    template <typename End> void finish(std::uint64_t key, End end) {
        void* const token = frames_.at(key).token;
        frames_.erase(key);
        end(token);
    }

    std::unordered_map<std::uint64_t, arriving> frames_;
    std::uint32_t next_ = 0;
    std::uint64_t held_bytes_ = 0; // of frames that came before their turn
};

} // namespace assay::sctp
