// Stateless message data: any rank can compute what any other rank sends.
#pragma once
#include <cstddef>
#include <cstdint>

namespace assay {

// The finalizer of SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
// splitmix64(0) = 0xe220a8397b1dcdaf, the first output of the reference generator seeded with 0.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Names one message; the same on sender and receiver.
constexpr std::uint64_t message_key(std::uint64_t case_key, std::uint64_t sender, std::uint64_t receiver,
                                    std::uint64_t serial) {
    return splitmix64(case_key ^ splitmix64(sender ^ splitmix64((receiver << 20) ^ serial)));
}

// Writes bytes [from, from + size) of the endless stream of a key. `from` is a multiple of 8. Word k of 8 bytes is
// x = key + k × an odd constant (so that no two words of a stream have the same), plus the product of the two halves of x,
// whose own halves are mixed: a few instructions for 32 bytes, since each message is made twice, to be sent and to be judged.
void stream_bytes(std::uint64_t key, std::size_t from, void* to, std::size_t size);

} // namespace assay
