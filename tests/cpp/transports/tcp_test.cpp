// Stream sockets behind the wire interface, without libfabric.
#include "transports/tcp/tcp.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

namespace assay::tcp {
namespace {

using bytes = std::vector<unsigned char>;

bytes pattern(std::size_t size, unsigned seed) {
    bytes data(size);
    for (std::size_t k = 0; k < size; ++k) data[k] = static_cast<unsigned char>(k * 7 + seed + (k >> 8));
    return data;
}

// A wire and all that it reported.
class end : public wire::sink {
public:
    explicit end(options const& how = {}) : wire_(make(*this, how)), name(wire_->listen(any_port("lo"))) {}
    ~end() override { wire_.reset(); }

    struct segment {
        wire::peer from;
        unsigned char mark; // first byte of the head
        bytes payload;
    };

    bool send(wire::address const& to, unsigned char mark, bytes const& payload,
              wire::memory how = wire::memory::borrow, void* token = nullptr) {
        std::array<unsigned char, wire::head_size> head{mark};
        iovec const pieces[] = {
            {const_cast<unsigned char*>(payload.data()), payload.size() / 3},
            {const_cast<unsigned char*>(payload.data()) + payload.size() / 3, payload.size() - payload.size() / 3}};
        return wire_->send(wire_->reach(to), head.data(), pieces, how, token);
    }

    wire::placement begun(wire::peer from, std::byte const* head, std::uint64_t size) override {
        auto it = std::make_unique<segment>(segment{from, static_cast<unsigned char>(head[0]), bytes(size, 0xa5)});
        auto& data = it->payload;
        places_.clear();
        auto const room = std::min<std::size_t>(size, room_for);
        places_.push_back({data.data(), room / 2});
        places_.push_back({data.data() + room / 2, room - room / 2});
        return {places_, it.release()};
    }
    void arrived(wire::peer from, void* token) override {
        std::unique_ptr<segment> const it(static_cast<segment*>(token));
        EXPECT_EQ(it->from, from);
        got.push_back(std::move(*it));
        if (on_arrival) on_arrival(got.back());
    }
    void lost(void* token) override {
        delete static_cast<segment*>(token);
        ++losses;
    }
    void sent(void* token) override { freed.push_back(token); }
    void failed(void* token, int error) override { failures[token] = error; }
    void closed(wire::peer, int error) override { closings.push_back(error); }

private:
    std::vector<iovec> places_;
    std::unique_ptr<wire::wire> wire_;

public:
    wire::wire& operator*() { return *wire_; }
    wire::address name;
    std::size_t room_for = ~std::size_t{0};
    std::function<void(segment const&)> on_arrival;
    std::vector<segment> got;
    std::vector<void*> freed;
    std::map<void*, int> failures;
    std::vector<int> closings;
    int losses = 0;
};

// Polls until it holds; false after two seconds.
template <typename... Ends> bool until(std::function<bool()> const& holds, Ends&... ends) {
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!holds()) {
        ((*ends).poll(), ...);
        if (std::chrono::steady_clock::now() > limit) return false;
    }
    return true;
}

TEST(tcp_wire, carriesAllSizesInOrder) {
    end a, b;
    std::vector<bytes> sent;
    for (std::size_t const size : {0, 1, 2, 55, 56, 57, 4096, 65535, 262144, 262145, 3'000'001, 0, 17})
        sent.push_back(pattern(size, static_cast<unsigned>(sent.size())));
    for (std::size_t k = 0; k < sent.size(); ++k) a.send(b.name, static_cast<unsigned char>(k), sent[k]);
    ASSERT_TRUE(until([&] { return b.got.size() == sent.size(); }, a, b));
    for (std::size_t k = 0; k < sent.size(); ++k) {
        EXPECT_EQ(b.got[k].mark, k);
        EXPECT_EQ(b.got[k].payload, sent[k]) << k;
    }
}

TEST(tcp_wire, answersOnTheConnectionItWasCalledBy) {
    end a, b;
    b.on_arrival = [&](end::segment const& it) { b.send((*b).address_of(it.from), 2, {9, 8, 7}, wire::memory::copy); };
    a.send(b.name, 1, {});
    ASSERT_TRUE(until([&] { return a.got.size() == 1; }, a, b));
    EXPECT_EQ(a.got[0].payload, (bytes{9, 8, 7}));
    EXPECT_EQ((*a).address_of(a.got[0].from), b.name);
    EXPECT_EQ((*b).counted().connections, 0u);
    EXPECT_EQ((*b).counted().accepted, 1u);
}

TEST(tcp_wire, keepsOrderWhenBothConnectAtOnce) {
    end a, b;
    for (unsigned char k = 0; k < 100; ++k) {
        a.send(b.name, k, pattern(k, k), wire::memory::copy);
        b.send(a.name, k, pattern(k, k), wire::memory::copy);
    }
    ASSERT_TRUE(until([&] { return a.got.size() == 100 && b.got.size() == 100; }, a, b));
    for (unsigned char k = 0; k < 100; ++k) {
        EXPECT_EQ(a.got[k].mark, k);
        EXPECT_EQ(b.got[k].payload, pattern(k, k));
    }
}

TEST(tcp_wire, reachesItself) {
    end a;
    auto const data = pattern(100'000, 3);
    a.send(a.name, 1, data, wire::memory::copy);
    ASSERT_TRUE(until([&] { return a.got.size() == 1; }, a));
    EXPECT_EQ(a.got[0].payload, data);
    EXPECT_EQ((*a).address_of(a.got[0].from), a.name);
}

TEST(tcp_wire, saysWhenBorrowedMemoryIsFree) {
    end a, b;
    auto const data = pattern(20'000'000, 1); // more than the system takes at once
    int token = 0;
    EXPECT_FALSE(a.send(b.name, 1, data, wire::memory::borrow, &token));
    EXPECT_TRUE(a.freed.empty());
    ASSERT_TRUE(until([&] { return b.got.size() == 1 && a.freed.size() == 1; }, a, b));
    EXPECT_EQ(a.freed[0], &token);
    EXPECT_EQ(b.got[0].payload, data);
}

TEST(tcp_wire, copiesWhatItCannotSendAtOnce) {
    end a, b;
    auto data = pattern(20'000'000, 1);
    auto const kept = data;
    EXPECT_TRUE(a.send(b.name, 1, data, wire::memory::copy));
    std::fill(data.begin(), data.end(), std::uint8_t{0});
    ASSERT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
    EXPECT_EQ(b.got[0].payload, kept);
}

TEST(tcp_wire, dropsWhatHasNoPlace) {
    end a, b;
    b.room_for = 1000;
    auto const data = pattern(1'000'000, 5);
    a.send(b.name, 1, data);
    a.send(b.name, 2, {42}, wire::memory::copy);
    ASSERT_TRUE(until([&] { return b.got.size() == 2; }, a, b));
    EXPECT_TRUE(std::equal(data.begin(), data.begin() + 1000, b.got[0].payload.begin()));
    EXPECT_EQ(b.got[0].payload[1000], 0xa5);
    EXPECT_EQ(b.got[1].payload, bytes{42});
}

TEST(tcp_wire, reportsAPeerThatIsNotThere) {
    wire::address gone;
    {
        end b;
        gone = b.name;
    }
    end a;
    int token = 0;
    bytes const data{1, 2, 3};
    a.send(gone, 1, data, wire::memory::borrow, &token);
    ASSERT_TRUE(until([&] { return !a.closings.empty(); }, a));
    EXPECT_EQ(a.failures[&token], ECONNREFUSED);
    EXPECT_EQ(a.closings[0], ECONNREFUSED);
}

TEST(tcp_wire, reportsAPeerThatCloses) {
    end a;
    {
        end b;
        b.send(a.name, 1, {5}, wire::memory::copy);
        a.send(b.name, 1, {5}, wire::memory::copy);
        ASSERT_TRUE(until([&] { return a.got.size() == 1 && b.got.size() == 1; }, a, b));
    }
    ASSERT_TRUE(until([&] { return !a.closings.empty(); }, a));
    EXPECT_EQ(a.closings, std::vector<int>{0});
}

TEST(tcp_wire, flushWaitsForTheSystem) {
    end a, b;
    auto const data = pattern(20'000'000, 1);
    a.send(b.name, 1, data, wire::memory::copy);
    EXPECT_FALSE((*a).flush(std::chrono::milliseconds(1))); // nobody reads
    EXPECT_GT((*a).backlog((*a).reach(b.name)), 0u);
    ASSERT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
    EXPECT_TRUE((*a).flush(std::chrono::milliseconds(0)));
}

TEST(tcp_wire, takesAnyAddressInTheList) {
    EXPECT_NO_THROW(any_port());
    EXPECT_THROW(any_port("no-such-interface"), std::system_error);
}

} // namespace
} // namespace assay::tcp
