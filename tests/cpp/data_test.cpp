// The message data: reference values, and that any piece of a stream is the same however it is asked for.
#include "framework/check/data.hpp"

#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace assay {
namespace {

TEST(splitmix64, isTheReferenceGenerator) {
    // The first outputs for seed 1234567 that Rosetta Code and Vigna's splitmix64.c give; its state grows by a constant.
    std::uint64_t const expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                      4593380528125082431u, 16408922859458223821u};
    std::uint64_t state = 1234567;
    for (auto value : expected) {
        EXPECT_EQ(splitmix64(state), value);
        state += 0x9e3779b97f4a7c15u;
    }
    EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafu);
}

TEST(stream_bytes, isContinuous) {
    std::vector<unsigned char> whole(1000);
    stream_bytes(42, 0, whole.data(), whole.size());
    for (std::size_t from : {std::size_t{8}, std::size_t{64}, std::size_t{992}})
        for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}}) {
            std::vector<unsigned char> piece(size + 1, 0x77);
            stream_bytes(42, from, piece.data(), size);
            for (std::size_t k = 0; k < size; ++k) EXPECT_EQ(piece[k], whole[from + k]);
            EXPECT_EQ(piece[size], 0x77) << "wrote after its end";
        }
}

// Ranks may run on different processors, for which different code is chosen. Worked out by a program of its own.
TEST(stream_bytes, isTheSameOnEveryProcessor) {
    std::vector<std::uint64_t> words(1000);
    stream_bytes(0x123456789abcdef0u, 0, words.data(), 8 * words.size());
    EXPECT_EQ(words[0], 0x41622146c9eaa9beu);
    EXPECT_EQ(words[1], 0x4bf6a25db5922d30u);
    EXPECT_EQ(words[17], 0x50fce675cbc89700u);
    EXPECT_EQ(words[999], 0x7087c3844a3e7f0eu);
}

// At each place of a word on its own: a message that is misplaced by words would else look like the right one.
TEST(stream_bytes, isBalanced) {
    std::vector<unsigned char> bytes(8 * 256 * 400);
    stream_bytes(7, 0, bytes.data(), bytes.size());
    for (std::size_t place = 0; place < 8; ++place) {
        std::vector<int> seen(256);
        for (auto k = place; k < bytes.size(); k += 8) ++seen[bytes[k]];
        for (int n : seen) { // 400 expected, standard deviation 20
            EXPECT_GT(n, 280);
            EXPECT_LT(n, 520);
        }
    }
}

TEST(stream_bytes, agreesWithAnotherOnlyByChance) {
    std::vector<unsigned char> one(256 * 400), other(one.size());
    stream_bytes(message_key(1, 0, 1, 0), 0, one.data(), one.size());
    auto const same = [&one](unsigned char const* bytes, std::size_t n) {
        int equal = 0;
        for (std::size_t k = 0; k < n; ++k) equal += one[k] == bytes[k];
        return equal;
    };
    stream_bytes(message_key(1, 1, 0, 0), 0, other.data(), other.size());
    EXPECT_LT(same(other.data(), other.size()), 520); // 400 expected, standard deviation 20
    for (std::size_t shift : {1u, 2u, 3u, 4u, 8u, 12u, 16u, 24u, 64u, 1024u})
        EXPECT_LT(same(one.data() + shift, one.size() - shift), 600) << "its own bytes, " << shift << " further";
}

TEST(message_key, differsForEveryMessage) {
    std::set<std::uint64_t> keys;
    std::size_t made = 0;
    for (std::uint64_t sender = 0; sender < 16; ++sender)
        for (std::uint64_t receiver = 0; receiver < 16; ++receiver)
            for (std::uint64_t serial = 0; serial < 8; ++serial, ++made)
                keys.insert(message_key(12345, sender, receiver, serial));
    EXPECT_EQ(keys.size(), made);
    EXPECT_NE(message_key(1, 2, 3, 4), message_key(2, 2, 3, 4));
}

} // namespace
} // namespace assay
