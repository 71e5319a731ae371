// Memory in pieces (iovec): payloads are sent from it and received into it, part by part.
#pragma once
#include "transports/net/wire.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace assay::net {

// Calls visit(iovec) for each piece of the part [from, from + size) of some pieces, as far as they go.
template <typename Visit>
void each_of_part(std::span<iovec const> pieces, std::uint64_t from, std::uint64_t size, Visit visit) {
    for (auto const& one : pieces) {
        if (from >= one.iov_len) {
            from -= one.iov_len;
            continue;
        }
        auto const part = static_cast<std::size_t>(std::min<std::uint64_t>(one.iov_len - from, size));
        if (part == 0) return;
        visit(iovec{static_cast<std::byte*>(one.iov_base) + from, part});
        size -= part;
        from = 0;
    }
}

// Appends that part to a list.
inline void slice(std::span<iovec const> pieces, std::uint64_t from, std::uint64_t size, std::vector<iovec>& to) {
    each_of_part(pieces, from, size, [&](iovec const& one) { to.push_back(one); });
}

// Copies the first `size` bytes of some pieces, as far as they go; returns how many.
inline std::size_t gather(std::span<iovec const> pieces, std::byte* to, std::size_t size) {
    std::size_t done = 0;
    for (auto const& one : pieces) {
        auto const part = std::min(size - done, one.iov_len);
        if (part > 0) std::memcpy(to + done, one.iov_base, part); // else there may be no data either
        done += part;
    }
    return done;
}

// Copies `size` bytes to some places, as far as they go; returns how many.
inline std::size_t scatter(std::byte const* data, std::size_t size, std::span<iovec const> places) {
    std::size_t done = 0;
    for (auto const& one : places) {
        auto const part = std::min(size - done, one.iov_len);
        if (part > 0) std::memcpy(one.iov_base, data + done, part); // else there may be no data either
        done += part;
    }
    return done;
}

inline std::uint64_t bytes_of(std::span<iovec const> pieces) {
    std::uint64_t sum = 0;
    for (auto const& one : pieces) sum += one.iov_len;
    return sum;
}

// A payload on its way out, with what is left of it.
class outgoing {
public:
    explicit outgoing(std::span<iovec const> payload)
        : pieces_(payload.begin(), payload.end()), left_(bytes_of(payload)) {}

    // Writes what is left to at most `most` pieces; returns how many.
    std::size_t rest(iovec* pieces, std::size_t most) const {
        std::size_t count = 0;
        for (auto const& one : pieces_)
            if (one.iov_len > 0 && count < most) pieces[count++] = one;
        return count;
    }
    void advance(std::uint64_t size) {
        left_ -= size;
        for (auto& one : pieces_) {
            auto const part = static_cast<std::size_t>(std::min<std::uint64_t>(size, one.iov_len));
            one.iov_base = static_cast<std::byte*>(one.iov_base) + part;
            one.iov_len -= part;
            size -= part;
        }
    }
    // Copies the next `size` bytes, as far as there are any, and goes on after them. Returns how many.
    std::size_t take(std::byte* to, std::size_t size) {
        auto const done = gather(pieces_, to, size);
        advance(done);
        return done;
    }
    bool empty() const { return left_ == 0; }
    std::uint64_t left() const { return left_; }

    // Keeps a copy of what is left, so that the memory it came from is free.
    void own() {
        auto const size = static_cast<std::size_t>(left_);
        auto copy = std::make_unique<std::byte[]>(size);
        take(copy.get(), size);
        copy_ = std::move(copy);
        pieces_.assign(1, {copy_.get(), size});
        left_ = size;
    }

private:
    std::vector<iovec> pieces_;
    std::unique_ptr<std::byte[]> copy_;
    std::uint64_t left_;
};

// A payload that comes in: how many bytes are missing, and the places for those that have one.
class incoming {
public:
    // Takes places for a payload of `size` bytes, as many of them as it can fill.
    void expect(std::uint64_t size, std::span<iovec const> given = {}) {
        missing_ = size;
        places_.clear();
        for (auto const& one : given) {
            auto const part = static_cast<std::size_t>(std::min<std::uint64_t>(one.iov_len, size));
            if (part > 0) places_.push_back({one.iov_base, part});
            size -= part;
        }
    }
    // `size` bytes have come to their places.
    void fill(std::size_t size) {
        missing_ -= size;
        std::size_t full = 0;
        for (auto& one : places_) {
            auto const part = std::min(size, one.iov_len);
            one.iov_base = static_cast<std::byte*>(one.iov_base) + part;
            one.iov_len -= part;
            size -= part;
            if (one.iov_len == 0) ++full;
        }
        places_.erase(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(full));
    }
    // Puts the next `size` bytes, at most as many as are missing, into their places. Bytes without a place are dropped.
    void store(std::byte const* data, std::size_t size) {
        auto const placed = scatter(data, size, places_);
        fill(placed);
        missing_ -= size - placed;
    }
    void drop_places() { places_.clear(); }

    std::uint64_t missing() const { return missing_; }
    std::span<iovec const> places() const { return places_; }

private:
    std::uint64_t missing_ = 0;
    std::vector<iovec> places_;
};

} // namespace assay::net
