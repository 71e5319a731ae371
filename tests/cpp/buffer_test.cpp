// Buffers: what was filled is accepted, and any single byte that is wrong is found, with its kind. All byte positions of
// every layout of the catalogue and every placement, by brute force against the type map itself.
#include "framework/check/buffer.hpp"
#include "framework/check/record.hpp"
#include "framework/mpi/catalogues.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>

namespace assay {
namespace {

constexpr std::uint64_t key = 0x1234567;

// What each byte of the elements is, relative to the buffer's address, worked out from the runs alone.
enum class kind { data, insignificant };
std::map<std::ptrdiff_t, kind> bytes_of(layout const& map, std::size_t count) {
    std::map<std::ptrdiff_t, kind> bytes;
    for (std::size_t e = 0; e < count; ++e)
        for (auto const& run : map.runs())
            for (std::size_t b = 0; b < run.count * run.type->size; ++b)
                bytes[static_cast<std::ptrdiff_t>(e) * map.extent() + run.offset + static_cast<std::ptrdiff_t>(b)] =
                    run.type->carries(b % run.type->size) ? kind::data : kind::insignificant;
    return bytes;
}

struct fixture {
    memory_pool pool;
    recorder findings;
    // The findings of one judgement, as texts.
    std::vector<std::string> judge(buffer& b, std::size_t elements) {
        findings.begin(0);
        b.expect(key, elements, "from rank 1");
        return findings.messages();
    }
};

std::vector<datatype const*> small_types() {
    std::vector<datatype const*> types;
    for (auto const& t : all_datatypes())
        if (t.map.extent() < 4096 && t.map.extent() > -4096 && t.map.true_extent() < 4096) types.push_back(&t);
    return types;
}

// alloc_mem needs MPI_Init: tried by every run of the suite.
constexpr placement without_mpi[] = {placement::heap, placement::page_end, placement::unaligned};

TEST(buffer, acceptsWhatItFilled) {
    fixture f;
    for (auto const& t : all_datatypes())
        for (auto where : without_mpi)
            for (std::size_t count : {0u, 1u, 3u, 17u}) {
                buffer b(f.pool, f.findings, t.map, count, where);
                b.fill(key);
                f.findings.begin(0);
                b.expect(key, count, "from rank 1");
                b.expect_unchanged();
                EXPECT_EQ(f.findings.messages(), std::vector<std::string>()) << t.name;
                b.poison();
                b.expect_untouched();
                EXPECT_EQ(f.findings.messages(), std::vector<std::string>()) << t.name;
                f.pool.take_back();
            }
}

// One byte after the other is flipped: data, gaps between elements and members, guards on both sides.
TEST(buffer, findsAnySingleWrongByte) {
    fixture f;
    constexpr std::size_t count = 2;
    ASSERT_GT(small_types().size(), 60u);
    for (auto const* t : small_types())
        for (auto where : without_mpi) {
            SCOPED_TRACE(t->name);
            buffer b(f.pool, f.findings, t->map, count, where);
            b.fill(key);
            auto const bytes = bytes_of(t->map, count);
            auto const low = bytes.empty() ? 0 : bytes.begin()->first,
                       high = bytes.empty() ? 0 : bytes.rbegin()->first + 1;
            // After a page end there is nothing to flip, and alignment may leave a few bytes of guard.
            std::ptrdiff_t const after = where == placement::page_end ? 0 : 32;
            int missed = 0, misnamed = 0;
            for (auto at = low - 32; at < high + after; ++at) {
                auto& byte = static_cast<unsigned char*>(b.address())[at];
                auto const found = bytes.find(at);
                bool const ignored = found != bytes.end() && found->second == kind::insignificant;
                std::string const wanted = at < low || at >= high ? "guard" : found == bytes.end() ? "gap" : "data";
                byte = static_cast<unsigned char>(byte ^ 0x10);
                auto const messages = f.judge(b, count);
                byte = static_cast<unsigned char>(byte ^ 0x10);
                missed += messages.size() != (ignored ? 0u : 1u);
                if (!ignored && !messages.empty()) misnamed += !messages[0].starts_with(wanted + " from rank 1: ");
            }
            EXPECT_EQ(missed, 0);
            EXPECT_EQ(misnamed, 0);
            f.pool.take_back();
        }
}

TEST(buffer, wantsPoisonBehindTheMessage) {
    fixture f;
    for (auto const* t : small_types()) {
        if (t->map.size() == 0) continue;
        buffer b(f.pool, f.findings, t->map, 3, placement::heap);
        b.fill(key);
        auto const messages = f.judge(b, 2); // the third element should not have been written
        ASSERT_EQ(messages.size(), 1u) << t->name;
        EXPECT_TRUE(messages[0].starts_with("data from rank 1: element 2 of 3 (beyond the end of the message)"))
            << messages[0];
        f.pool.take_back();
    }
}

TEST(buffer, saysWhereAByteIsWrong) {
    fixture f;
    auto const& ints =
        *std::find_if(all_datatypes().begin(), all_datatypes().end(), [](auto const& t) { return t.name == "int"; });
    buffer b(f.pool, f.findings, ints.map, 10, placement::heap);
    b.fill(key);
    auto& byte = static_cast<unsigned char*>(b.address())[4 * 7 + 2];
    auto const before = byte;
    byte = static_cast<unsigned char>(~before);
    auto const text = f.judge(b, 10).at(0);
    EXPECT_NE(text.find("element 7 of 10, byte 2 of it: byte 2 of a int"), std::string::npos) << text;
    EXPECT_NE(text.find(fmt::format("expected {:02x}, received {:02x}; 1 of 40 bytes wrong, from offset 30 to 30",
                                    before, static_cast<unsigned char>(~before))),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\n     +16 expected"), std::string::npos) << text;
    EXPECT_NE(text.find("^^"), std::string::npos) << text;
}

TEST(buffer, expectationsDifferForEachKey) {
    fixture f;
    for (auto const* t : small_types()) {
        if (t->map.size() < 4) continue; // one byte may agree by chance
        buffer b(f.pool, f.findings, t->map, 8, placement::heap);
        b.fill(key + 1);
        EXPECT_EQ(f.judge(b, 8).size(), 1u) << t->name;
        f.pool.take_back();
    }
}

// Two messages with a hole of one element between them, one of them given as a stream: every byte counts, also in the hole.
TEST(buffer, segmentsStandAtTheirPlacesWithPoisonBetween) {
    fixture f;
    for (auto const* t : small_types()) {
        if (t->map.size() == 0) continue;
        std::vector<unsigned char> stream;
        buffer::packed(t->map, key + 7, 2, stream);
        std::vector<segment> const segments = {{0, 2, key, nullptr, 3}, {3, 2, 0, stream.data(), 5}};
        buffer b(f.pool, f.findings, t->map, 6, placement::heap);
        b.fill(segments);
        auto const judge = [&] {
            f.findings.begin(0);
            b.expect(segments, "of a gather");
            return f.findings.messages();
        };
        ASSERT_TRUE(judge().empty()) << t->name;
        ASSERT_EQ(f.judge(b, 2).size(), 1u) << t->name; // the second segment lies where poison was expected
        auto const* const first = t->map.runs().front().type;
        auto const at = [&](std::ptrdiff_t element) {
            return static_cast<unsigned char*>(b.address()) + element * t->map.extent() + t->map.runs().front().offset;
        };
        for (std::ptrdiff_t element = 0; element < 6; ++element) {
            if (!first->carries(0)) continue;
            *at(element) ^= 1;
            auto const found = judge();
            ASSERT_EQ(found.size(), 1u) << t->name << " element " << element;
            auto const words = element < 2    ? fmt::format("(element {} from rank 3)", element)
                               : element == 3 ? "(element 0 from rank 5)"
                               : element == 4 ? "(element 1 from rank 5)"
                                              : "(between messages)";
            if (t->map.elements() == 1) {
                EXPECT_NE(found[0].find(words), std::string::npos) << t->name << ": " << found[0];
            }
            *at(element) ^= 1;
        }
        f.pool.take_back();
    }
}

TEST(buffer, judgesMemoryOfOthersFromEndToEnd) {
    fixture f;
    for (auto const* t : small_types()) {
        SCOPED_TRACE(t->name);
        auto const [low, high] = byte_range(t->map, 3);
        std::vector<unsigned char> memory(static_cast<std::size_t>(high - low) + 40);
        buffer b(f.pool, f.findings, t->map, 3, memory, memory.data() + 20 - low);
        b.fill(key);
        EXPECT_TRUE(f.judge(b, 3).empty());
        for (auto at : {memory.begin(), memory.end() - 1}) {
            *at ^= 1;
            EXPECT_EQ(f.judge(b, 3).size(), 1u);
            *at ^= 1;
        }
    }
}

TEST(buffer, isPlacedAsItSays) {
    fixture f;
    for (auto const& t : all_datatypes()) {
        buffer heap(f.pool, f.findings, t.map, 2, placement::heap);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(heap.address()) % 64, 0u) << t.name;
        buffer odd(f.pool, f.findings, t.map, 2, placement::unaligned);
        auto const alignment = t.map.alignment(), address = reinterpret_cast<std::uintptr_t>(odd.address());
        EXPECT_EQ(address % alignment, 0u) << t.name;
        if (alignment < 64) {
            EXPECT_NE(address % (2 * alignment), 0u) << t.name;
        }
        f.pool.take_back();
    }
}

// The next byte after the data of a page_end buffer, rounded up to the alignment, ends the process.
TEST(bufferDeathTest, pageEndFaultsBehindTheData) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    for (auto name : {"char", "int", "double", "vector_int"}) {
        auto const& t = *std::find_if(all_datatypes().begin(), all_datatypes().end(),
                                      [&](auto const& entry) { return entry.name == name; });
        fixture f;
        buffer b(f.pool, f.findings, t.map, 3, placement::page_end);
        b.fill(key);
        auto const bytes = bytes_of(t.map, 3);
        auto* behind = static_cast<unsigned char volatile*>(b.address()) + bytes.rbegin()->first + 1;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(behind) % 4096, 0u) << name;
        EXPECT_EXIT((void)*behind, testing::KilledBySignal(SIGSEGV), "") << name;
        EXPECT_EXIT(*behind = 1, testing::KilledBySignal(SIGSEGV), "") << name;
    }
}

} // namespace
} // namespace assay
