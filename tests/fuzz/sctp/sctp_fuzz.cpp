// SCTP's wire between a program and a peer that both do anything: a script says what the peer's messages are, what becomes of its packets
// (lost, doubled, late, damaged, forged), which packets it makes up, when it ends or begins again, and what the program calls
// meanwhile. As long as the peer is honest, its frames have to come in their order and with their bytes.
//
// The stack is not compiled for the fuzzer: what is looked at is all above it, and what it is given to read.
#include "tests/fuzz/program.hpp"
#include "tests/fuzz/sctp/puppet.hpp"
#include "transports/sctp/association.hpp"
#include "transports/sctp/sctp.hpp"

namespace assay::fuzz {
namespace {

using sctp::front;

constexpr unsigned streams = 8;

std::byte pattern(std::uint32_t number, std::size_t k) {
    return static_cast<std::byte>(k * 7 + (k >> 8) + number * 11);
}

class bystander final : public sctp::client {
    void transmit(net::peer, std::byte const*, std::size_t) override {}
    std::vector<void*> learn(net::peer, std::span<std::byte const>) override { return {}; }
    bool tend() override { return false; }
    bool pending() override { return false; }
    void wake() override {}
};

class machine {
public:
    machine(std::uint8_t const* data, std::size_t size) : script_(data, size), program_(script_) {
        sctp::options how;
        how.streams = streams;
        how.ordered = script_.below(4) > 0;
        wire_ = sctp::make(program_, how);
        auto const self = wire_->listen(net::any_port("lo"));
        peer_ = std::make_unique<puppet>(self);
        to_ = wire_->reach(peer_->self());
        ordered_ = how.ordered;
        program_.on_arrived = [this](program::frame const& it) { arrived(it); };
        program_.on_turn = [this](net::peer) {
            if (script_.below(2)) program_.withdraw(*wire_);
            else send();
        };
    }
    ~machine() {
        peer_.reset();
        for (int k = 0; k < 3; ++k) wire_->poll(); // it hears that the peer is gone, and need not part with it
        wire_.reset();
        program_.nothing_is_left();
    }
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;

    void run() {
        if (script_.below(2)) peer_->call();
        else send();
        settle();
        while (!script_.over()) {
            step();
            if (at_once_) settle();
        }
    }

private:
    void step();
    void settle() {
        for (int k = 0; k < 4; ++k) {
            wire_->poll();
            peer_->listen();
        }
    }
    void frame();
    void message();
    void packet();
    fate any_fate();
    void send();
    void arrived(program::frame const& it);
    std::vector<std::byte> some(std::size_t size) {
        std::vector<std::byte> bytes(size);
        for (auto& one : bytes) one = static_cast<std::byte>(script_.byte());
        return bytes;
    }

    script script_;
    program program_;
    std::unique_ptr<net::wire> wire_;
    std::unique_ptr<puppet> peer_;
    net::peer to_ = 0;
    std::uint32_t number_ = 0, next_ = 0; // of the frames that were sent, and that came
    bool honest_ = true, ordered_ = true, at_once_ = true;
};

void machine::step() {
    switch (script_.below(16)) {
    case 0:
    case 1:
    case 2: frame(); break;
    case 3:
    case 4: message(); break;
    case 5: packet(); break;
    case 6:
    case 7: peer_->decide(any_fate()); break;
    case 8:
        honest_ = false; // counts from 0 in its next association
        peer_->end(script_.below(2));
        break;
    case 9:
        if (number_ > 0) honest_ = false;
        peer_->call();
        break;
    case 10: peer_->pass(script_.byte()); break;
    case 11: send(); break;
    case 12: program_.withdraw(*wire_); break;
    case 13: settle(); break;
    case 14: wire_->ready(to_); break;
    default: at_once_ = !at_once_;
    }
}

// As the wire itself would send it, but that each fragment may have a stream of its own.
void machine::frame() {
    std::vector<std::byte> payload(script_.byte() * (script_.below(8) == 7 ? 512u : 1u));
    auto const number = number_++;
    for (std::size_t k = 0; k < payload.size(); ++k) payload[k] = pattern(number, k);
    sctp::departures out;
    std::array<std::byte, net::head_size> head{};
    std::memcpy(head.data(), &number, sizeof number);
    iovec const piece{payload.data(), payload.size()};
    out.add(head.data(), {&piece, 1}, {});
    auto const stream = script_.below(streams);
    while (out.fill([](net::flow const&) { return std::uint16_t{0}; })) {
        std::vector<std::byte> fragment(out.data(), out.data() + out.rest());
        out.advance(out.rest());
        front it;
        std::memcpy(&it, fragment.data(), sizeof it);
        it.number = number;
        std::memcpy(fragment.data(), &it, sizeof it);
        if (!peer_->message(fragment, stream, true, false)) honest_ = false; // nor can what follows be
    }
}

void machine::message() {
    honest_ = false;
    front it;
    it.number = number_ + script_.below(4) - 1;
    it.unordered = script_.below(8) == 7 ? script_.byte() : script_.below(2);
    it.size = script_.byte();
    if (it.size > 250) it.size = ~std::uint64_t{0} >> script_.below(64);
    it.from = script_.below(4) == 3 ? script_.byte() : 0;
    auto const sent = script_.below(4) == 3 ? script_.byte() * 512u : script_.byte();
    std::vector<std::byte> bytes(sizeof it + sent);
    std::memcpy(bytes.data(), &it, sizeof it);
    if (script_.below(8) == 7) bytes.resize(script_.below(sizeof it));
    peer_->message(bytes, script_.below(streams), script_.below(8) != 7, script_.below(8) == 7);
}

void machine::packet() {
    bool const heard = script_.below(4) > 0;
    if (heard) honest_ = false;
    auto bytes = some(script_.below(64));
    if (heard && bytes.size() >= 4 && script_.below(4)) { // a chunk with a length that is right
        bytes[2] = std::byte{0};
        bytes[3] = static_cast<std::byte>(bytes.size());
        bytes.resize((bytes.size() + 3) & ~std::size_t{3});
    }
    peer_->packet(bytes, heard);
}

fate machine::any_fate() {
    fate it;
    switch (script_.below(8)) {
    case 0: it.what = fate::lost; break;
    case 1: it.what = fate::twice; break;
    case 2: it.what = fate::later; break;
    case 3: it.what = fate::damaged; break;
    case 4: it.what = fate::cut; break;
    case 5: it.what = fate::as_it_is; break;
    default: it.what = fate::forged;
    }
    if (it.what == fate::forged || it.what == fate::cut) honest_ = false;
    it.where = script_.byte();
    it.value = static_cast<std::byte>(script_.byte());
    return it;
}

void machine::send() {
    static constexpr std::size_t times[] = {1, 1, 300, 5000};
    auto const size = script_.byte() * times[script_.below(4)];
    net::flow const where{
        .tag = script_.below(streams), .control = script_.below(4) == 3, .unordered = script_.below(4) == 3};
    program_.send(*wire_, to_, size, script_.below(2) ? net::memory::copy : net::memory::borrow, where);
}

void machine::arrived(program::frame const& it) {
    if (!honest_) return;
    std::uint32_t number = 0;
    std::memcpy(&number, it.head.data(), sizeof number);
    if (ordered_) must(number == next_++, "frames out of order");
    for (std::size_t k = 0; !it.withdrawn && k < it.room; ++k)
        must(it.memory[k] == pattern(number, k), "other bytes than were sent");
}

} // namespace
} // namespace assay::fuzz

// The stack's thread stays: to begin and end it takes longer than all the rest.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    static auto* const one = new assay::fuzz::bystander; // that thread looks at it until the end
    assay::sctp::stack::instance().attach(*one);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    assay::fuzz::machine it(data, size);
    it.run();
    return 0;
}
