// Fragments of SCTP's frames: a script says which frames go out, in which order the streams bring the fragments, and what a peer
// that lies makes of them. As long as none does, every frame has to arrive, in its order and with its bytes.
#include "tests/fuzz/program.hpp"
#include "transports/sctp/association.hpp"

#include <vector>

namespace assay::fuzz {
namespace {

using sctp::front;

constexpr unsigned streams = 4;

std::byte pattern(std::uint32_t number, bool unordered, std::size_t k) {
    return static_cast<std::byte>(k * 7 + (k >> 8) + number * 11 + unordered);
}

class machine {
public:
    machine(std::uint8_t const* data, std::size_t size) : script_(data, size), program_(script_) {
        in_order_ = script_.below(4) > 0;
        program_.on_arrived = [this](program::frame const& it) { arrived(it); };
    }
    ~machine() {
        for (auto& queue : on_the_way_)
            while (!queue.empty()) deliver(queue);
        if (honest_) must(arrived_ == added_[0] + added_[1], "a frame does not arrive");
        in_->each_begun([this](sctp::arriving const& it) { program_.lost(it.token); });
        in_.reset();
        program_.nothing_is_left();
    }
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;

    void run() {
        while (!script_.over()) step();
    }

private:
    using fragment = std::vector<std::byte>;

    void step();
    void add();
    void lie(std::deque<fragment>& queue);
    void deliver(std::deque<fragment>& queue);
    void arrived(program::frame const& it);

    script script_;
    program program_;
    std::unique_ptr<sctp::arrivals> in_ = std::make_unique<sctp::arrivals>();
    sctp::departures out_;
    std::array<std::deque<fragment>, streams> on_the_way_;
    std::uint32_t added_[2] = {}, next_ = 0, arrived_ = 0;
    bool in_order_ = true, honest_ = true, broken_ = false;
};

void machine::step() {
    auto& queue = on_the_way_[script_.below(streams)];
    switch (script_.below(8)) {
    case 0:
    case 1: add(); break;
    case 2: lie(queue); break;
    case 3:
        program_.withdraw([this](void* token) {
            in_->each_begun([token](sctp::arriving& it) {
                if (it.token == token) it.payload.drop_places();
            });
        });
        break;
    default: deliver(queue);
    }
}

// Some frames, which share the wire.
void machine::add() {
    std::vector<fragment> payloads;
    for (auto count = 1 + script_.below(3); count > 0; --count) {
        net::flow const where{.tag = script_.below(streams), .unordered = script_.below(4) == 3};
        auto const number = added_[where.unordered]++;
        auto& payload = payloads.emplace_back(script_.byte() * (script_.below(8) == 7 ? 1024u : 1u));
        for (std::size_t k = 0; k < payload.size(); ++k) payload[k] = pattern(number, where.unordered, k);
        std::array<std::byte, net::head_size> head{};
        std::memcpy(head.data(), &number, sizeof number);
        head[sizeof number] = std::byte{where.unordered};
        iovec const piece{payload.data(), payload.size()};
        out_.add(head.data(), {&piece, 1}, where);
        if (auto* const rest = out_.last(where.unordered)) rest->payload.own();
    }
    while (out_.fill([](net::flow const& where) { return static_cast<std::uint16_t>(where.tag); })) {
        on_the_way_[out_.stream()].emplace_back(out_.data(), out_.data() + out_.rest());
        out_.advance(out_.rest());
    }
}

void machine::lie(std::deque<fragment>& queue) {
    honest_ = false;
    fragment made(script_.below(100)); // none at all
    if (!queue.empty() && script_.below(8) > 0) made = queue[script_.below(static_cast<unsigned>(queue.size()))];
    front it;
    if (made.size() >= sizeof it) {
        std::memcpy(&it, made.data(), sizeof it);
        auto const any = std::uint64_t{script_.byte()};
        switch (script_.below(8)) {
        case 0: it.number += static_cast<std::uint32_t>(any) - 128; break;
        case 1: it.unordered ^= static_cast<std::uint32_t>(any) & 3; break;
        case 2: it.size += any - 128; break;
        case 3: it.size = ~std::uint64_t{0} >> (any & 63); break;
        case 4: it.from += any - 128; break;
        case 5: it.from = ~std::uint64_t{0} >> (any & 63); break;
        case 6: made.resize(made.size() * any / 256); break;
        default: made.resize(made.size() + any);
        }
        std::memcpy(made.data(), &it, std::min(sizeof it, made.size()));
    }
    if (script_.below(2) && !queue.empty()) queue.front() = made;
    else queue.push_front(made);
}

void machine::deliver(std::deque<fragment>& queue) {
    if (queue.empty()) return;
    auto const it = std::make_unique<std::byte[]>(queue.front().size()); // of just that size
    std::copy(queue.front().begin(), queue.front().end(), it.get());
    auto const size = queue.front().size();
    queue.pop_front();
    if (broken_) return; // the association has ended
    broken_ = !in_->take(
        it.get(), size, in_order_,
        [this](std::byte const* head, std::uint64_t length) { return program_.begun(0, head, length); },
        [this](void* token) { program_.arrived(0, token); });
    must(!broken_ || !honest_, "a fragment is refused");
}

void machine::arrived(program::frame const& it) {
    ++arrived_;
    if (!honest_) return;
    std::uint32_t number = 0;
    std::memcpy(&number, it.head.data(), sizeof number);
    bool const unordered = it.head[sizeof number] != std::byte{0};
    if (in_order_ && !unordered) must(number == next_++, "frames out of order");
    for (std::size_t k = 0; !it.withdrawn && k < it.room; ++k)
        must(it.memory[k] == pattern(number, unordered, k), "other bytes than were sent");
}

} // namespace
} // namespace assay::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) { return 0; }

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    assay::fuzz::machine it(data, size);
    it.run();
    return 0;
}
