// Peers with several addresses: SCTP goes on over another path when one fails, and over all of them at once when it shall.
#include "tests/cpp/transports/net/wire_end.hpp"
#include "transports/net/interfaces.hpp"
#include "transports/sctp/addresses.hpp"
#include "transports/sctp/sctp.hpp"

#include <algorithm>
#include <utility>

namespace assay::sctp {
namespace {

using net::end;
using net::pattern;
using net::until;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// From 127.0.0.1, where ends of tests listen, and from one more address.
options two_paths() {
    options how;
    how.others = {net::from_text("127.0.0.2")};
    how.mtu = 1500;
    return how;
}

auto over(options const& how) {
    return [how](net::sink& to) { return make(to, how); };
}

constexpr std::size_t size = 100'000;
constexpr unsigned count = 60;

// Sends all of it and checks every byte. Returns how long that takes.
steady_clock::duration carry(end& a, end& b) {
    auto const started = steady_clock::now();
    for (unsigned k = 0; k < count; ++k)
        a.send(b.name, static_cast<unsigned char>(k), pattern(size, k), net::memory::copy, nullptr, {.tag = k % 5});
    EXPECT_TRUE(until([&] { return b.got.size() == count; }, a, b)) << b.got.size() << " of " << count;
    auto const took = steady_clock::now() - started;
    for (unsigned k = 0; k < b.got.size(); ++k) {
        EXPECT_EQ(b.got[k].mark, k);
        EXPECT_TRUE(b.got[k].payload == pattern(size, k)) << k;
    }
    EXPECT_TRUE(a.closings.empty());
    EXPECT_TRUE(b.closings.empty());
    return took;
}

TEST(paths, theFirstCarriesAllWhileItWorks) {
    end a(over(two_paths())), b(over(two_paths()));
    carry(a, b);
    auto const& counted = (*a).counted();
    EXPECT_GT(counted.bytes_sent, size * count);
    EXPECT_GT(counted.bytes_aside, 0u);                     // heartbeats
    EXPECT_LT(counted.bytes_aside, counted.bytes_sent / 2); // and what a busy machine has sent again
    EXPECT_EQ(counted.paths_lost, 0u);
}

TEST(paths, anotherTakesOverInTheMiddle) {
    auto how = two_paths();
    how.network.rate = 10; // 6 MB take 0.6 s: there is a middle
    how.network.down_at = milliseconds(100);
    how.network.down_for = std::chrono::seconds(100); // never comes back
    how.network.down_path = 0;
    end a(over(how)), b(over(how));
    auto last = steady_clock::now();
    steady_clock::duration longest{};
    b.on_arrival = [&](end::frame const&) {
        auto const now = steady_clock::now();
        longest = std::max(longest, now - std::exchange(last, now));
    };
    carry(a, b);
    RecordProperty("standstill", static_cast<int>(longest / milliseconds(1)));
    EXPECT_LT(longest, milliseconds(1000));
    auto const& counted = (*a).counted();
    EXPECT_GT(counted.bytes_aside, counted.bytes_sent / 4);
    EXPECT_GT(counted.bytes_sent - counted.bytes_aside, 200'000u);
    EXPECT_TRUE(until([&] { return (*a).counted().paths_lost > 0; }, a, b));
    // Also the other way, and what begins only now.
    b.send(a.name, 1, pattern(size, 1), net::memory::copy);
    ASSERT_TRUE(until([&] { return a.got.size() == 1; }, a, b));
    EXPECT_TRUE(a.got[0].payload == pattern(size, 1));
}

TEST(paths, theFirstIsTakenAgainWhenItWorks) {
    auto how = two_paths();
    how.network.rate = 10;
    how.network.down_path = 0;
    how.network.down_at = milliseconds(50);
    how.network.down_for = milliseconds(1000);
    end a(over(how)), b(over(how));
    carry(a, b);
    auto const aside = (*a).counted().bytes_aside;
    EXPECT_GT(aside, size);
    auto const late = steady_clock::now() + milliseconds(2500); // a heartbeat finds it, by and by
    while (steady_clock::now() < late) {
        (*a).poll();
        (*b).poll();
    }
    auto const before = (*a).counted().bytes_aside;
    b.got.clear();
    carry(a, b);
    EXPECT_LT((*a).counted().bytes_aside - before, size * count / 2);
}

TEST(paths, allAtOnceAreFaster) {
    std::array<steady_clock::duration, 2> took;
    for (bool const concurrent : {false, true}) {
        auto how = two_paths();
        how.concurrent = concurrent;
        how.mtu = 9000;
        how.network.rate = 12; // its queue holds what may be on its way: nothing is lost
        end a(over(how)), b(over(how));
        took[concurrent] = carry(a, b);
        auto const& counted = (*a).counted();
        auto const aside = static_cast<double>(counted.bytes_aside) / static_cast<double>(counted.bytes_sent);
        if (concurrent) EXPECT_NEAR(aside, 0.5, 0.2);
        else EXPECT_LT(aside, 0.2);
    }
    auto const gain = std::chrono::duration<double>(took[0]) / std::chrono::duration<double>(took[1]);
    RecordProperty("gain", std::to_string(gain));
    EXPECT_GT(gain, 1.4);
}

TEST(paths, onePeerMayHaveFewer) {
    auto one = two_paths();
    one.others.clear();
    end a(over(two_paths())), b(over(one)), c(over(two_paths()));
    carry(a, b);
    carry(b, c);
    EXPECT_EQ((*a).counted().bytes_aside, 0u);
}

TEST(paths, aPeerThatIsGoneIsGoneByAll) {
    end a(over(two_paths()));
    net::address gone;
    {
        end b(over(two_paths()));
        gone = b.name;
        a.send(b.name, 1, pattern(1000, 1), net::memory::copy);
        ASSERT_TRUE(until([&] { return b.got.size() == 1; }, a, b));
    }
    ASSERT_TRUE(until([&] { return !a.closings.empty(); }, a));
    EXPECT_EQ(a.closings[0], 0);
    int token = 0;
    a.send(gone, 1, pattern(1000, 1), net::memory::borrow, &token);
    auto const asked = steady_clock::now();
    ASSERT_TRUE(until([&] { return a.closings.size() == 2; }, a));
    EXPECT_LT(steady_clock::now() - asked, milliseconds(2000));
    EXPECT_NE(a.failures[&token], 0);
}

TEST(addresses, areWhatTheyWere) {
    std::vector<net::address> given;
    for (auto const* text : {"127.0.0.1", "::1", "192.0.2.7"}) given.push_back(net::from_text(text));
    auto parameters = as_parameters(given);
    EXPECT_EQ(parameters.size(), 8u + 20 + 8);
    EXPECT_EQ(from_parameters(parameters, 0), given);
    EXPECT_EQ(from_parameters({parameters.data(), 10}, 0).size(), 1u); // cut
    parameters[3] = std::byte{200};                                    // longer than there is
    EXPECT_TRUE(from_parameters(parameters, 0).empty());
    parameters[3] = std::byte{0}; // no length at all
    EXPECT_TRUE(from_parameters(parameters, 0).empty());
    EXPECT_TRUE(from_parameters(as_parameters(std::array{net::from_text("0.0.0.0"), net::from_text("224.0.0.1"),
                                                         net::from_text("255.255.255.255"), net::from_text("::"),
                                                         net::from_text("ff02::1")}),
                                0)
                    .empty());
    std::vector<net::address> const many(most_addresses + 5, given[0]);
    EXPECT_EQ(from_parameters(as_parameters(many), 0).size(), most_addresses);
}

} // namespace
} // namespace assay::sctp
