// The matcher against one that does nothing but search, over random histories.
#include "transports/core/match.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace assay::ofi {
namespace {

using matching::few;

// Both queues as plain vectors of numbers; -1: nothing.
struct reference {
    std::vector<std::pair<wanted, int>> receives;
    std::vector<std::pair<label, int>> messages;

    static bool fits(wanted const& want, label const& it) {
        if (want.from != any_peer && want.from != it.from) return false;
        for (int bit = 0; bit < 64; ++bit) {
            auto const mask = std::uint64_t{1} << bit;
            if (!(want.ignore & mask) && (want.tag & mask) != (it.tag & mask)) return false;
        }
        return true;
    }
    int arrive(label const& it, int number) {
        for (auto at = receives.begin(); at != receives.end(); ++at)
            if (fits(at->first, it)) {
                int const found = at->second;
                receives.erase(at);
                return found;
            }
        messages.emplace_back(it, number);
        return -1;
    }
    int post(wanted const& want, int number) {
        for (auto at = messages.begin(); at != messages.end(); ++at)
            if (fits(want, at->first)) {
                int const found = at->second;
                messages.erase(at);
                return found;
            }
        receives.emplace_back(want, number);
        return -1;
    }
};

struct item {
    int number;
};

class matcher : public testing::TestWithParam<unsigned> {};

TEST_P(matcher, isThatOfALinearSearch) {
    std::mt19937_64 random(GetParam());
    auto const below = [&](std::uint64_t n) { return random() % n; };
    std::uint64_t const ignores[] = {0, ~std::uint64_t{0}, 0xff, std::uint64_t{3} << 62, 1,
                                     2}; // more kinds than are hashed
    reference expected;
    posted<item> receives;
    unexpected<item> messages;
    std::vector<std::unique_ptr<item>> items;
    std::size_t longest = 0;
    for (int step = 0; step < 20'000; ++step) {
        auto const from = static_cast<std::uint32_t>(below(3));
        std::uint64_t const tag = below(4) | below(2) << 62 | below(3) << 8;
        auto* const it = items.emplace_back(std::make_unique<item>(item{step})).get();
        // The queues grow for a while, now the one and now the other, and shrink: long ones are hashed, short ones searched.
        bool const comes = below(8) < (step / 500 % 4 < 2 ? 5u : 3u);
        if (comes) {
            label const what{from, tag};
            int found = -1;
            if (auto* const receive = receives.find(what)) {
                found = receive->number;
                receives.remove(receive);
            } else messages.add(what, it);
            ASSERT_EQ(found, expected.arrive(what, step)) << "step " << step;
        } else {
            wanted const what{below(3) == 0 ? any_peer : from, tag, ignores[below(step / 2000 % 2 ? 6 : 1)]};
            int found = -1;
            if (auto* const message = messages.find(what)) {
                found = message->number;
                messages.remove(message);
            } else receives.add(what, it);
            ASSERT_EQ(found, expected.post(what, step)) << "step " << step;
        }
        longest = std::max({longest, receives.size(), messages.size()});
        ASSERT_EQ(receives.size(), expected.receives.size());
        ASSERT_EQ(messages.size(), expected.messages.size());
        if (below(100) == 0) { // receives from one peer are taken out, as when it dies
            std::vector<int> taken, wished;
            receives.take_all([&](wanted const& what, item const*) { return what.from == from; },
                              [&](item* one) { taken.push_back(one->number); });
            std::erase_if(expected.receives, [&](auto const& entry) {
                if (entry.first.from == from) wished.push_back(entry.second);
                return entry.first.from == from;
            });
            ASSERT_EQ(taken, wished);
        }
    }
    EXPECT_GT(longest, 10 * few);
}
INSTANTIATE_TEST_SUITE_P(seeds, matcher, testing::Values(1u, 2u, 3u));

// As many as a rank of a large job has, of the kinds that MPI libraries make of exact receives, MPI_ANY_SOURCE and MPI_ANY_TAG; what
// comes first is wanted last. A search would look at half of them each time.
TEST(matching_long_queues, costNoSearch) {
    constexpr std::uint32_t count = 10'000, kinds = 4;
    constexpr std::uint64_t protocol_bits = std::uint64_t{7} << 60, tags = 0xffffffff;
    std::vector<item> items(count);
    auto const want = [](std::uint32_t k) {
        switch (k % kinds) {
        case 0: return wanted{k, k, protocol_bits};
        case 1: return wanted{any_peer, k, protocol_bits};
        case 2: return wanted{k, 0, protocol_bits | tags};
        default: return wanted{k, k, 0};
        }
    };
    auto const name = [](std::uint32_t k) { return label{k, k}; };
    posted<item> receives;
    for (std::uint32_t k = 0; k < count; ++k) receives.add(want(k), &items[k]);
    for (std::uint32_t k = count; k-- > 0;) {
        auto* const found = receives.find(name(k));
        ASSERT_EQ(found, &items[k]);
        receives.remove(found);
    }
    EXPECT_EQ(receives.size(), 0u);
    EXPECT_LE(receives.looked_at(), count * kinds);
    unexpected<item> messages;
    for (std::uint32_t k = 0; k < count; ++k) messages.add(name(k), &items[k]);
    for (std::uint32_t k = count; k-- > 0;) {
        auto* const found = messages.find(want(k));
        ASSERT_EQ(found, &items[k]);
        messages.remove(found);
    }
    EXPECT_EQ(messages.size(), 0u);
    EXPECT_LE(messages.looked_at(), count + few * few);
    RecordProperty("looked_at_for_each_receive", std::to_string(receives.looked_at() / count));
}

} // namespace
} // namespace assay::ofi
