// The matcher against one that does nothing but search, over random histories.
#include "transports/core/match.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace assay::ofi {
namespace {

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

class matching : public testing::TestWithParam<unsigned> {};

TEST_P(matching, isThatOfALinearSearch) {
    std::mt19937_64 random(GetParam());
    auto const below = [&](std::uint64_t n) { return random() % n; };
    std::uint64_t const ignores[] = {0, ~std::uint64_t{0}, 0xff, std::uint64_t{3} << 62, 1};
    reference expected;
    posted<item> receives;
    unexpected<item> messages;
    std::vector<std::unique_ptr<item>> items;
    for (int step = 0; step < 20'000; ++step) {
        auto const from = static_cast<std::uint32_t>(below(3));
        std::uint64_t const tag = below(4) | below(2) << 62 | below(3) << 8;
        auto* const it = items.emplace_back(std::make_unique<item>(item{step})).get();
        if (below(2) == 0) {
            label const what{from, tag};
            int found = -1;
            if (auto* const receive = receives.find(what)) {
                found = receive->number;
                receives.remove(receive);
            } else messages.add(what, it);
            ASSERT_EQ(found, expected.arrive(what, step)) << "step " << step;
        } else {
            wanted const what{below(3) == 0 ? any_peer : from, tag, ignores[below(5)]};
            int found = -1;
            if (auto* const message = messages.find(what)) {
                found = message->number;
                messages.remove(message);
            } else receives.add(what, it);
            ASSERT_EQ(found, expected.post(what, step)) << "step " << step;
        }
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
}
INSTANTIATE_TEST_SUITE_P(seeds, matching, testing::Values(1u, 2u, 3u));

} // namespace
} // namespace assay::ofi
