#include "framework/check/data.hpp"

#include "framework/process/layer.hpp"

#include <cstring>
#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace assay {
namespace {

constexpr std::uint64_t weyl = 0x9e3779b97f4a7c15u; // x grows by it from word to word

[[gnu::always_inline]] inline std::uint64_t word(std::uint64_t x) {
    std::uint64_t const p = (x & 0xffffffffu) * (x >> 32);
    return (p ^ (p << 32 | p >> 32)) + x;
}

// n words from the one whose x is given.
using words_function = void (*)(std::uint64_t x, unsigned char* out, std::size_t n);

void words(std::uint64_t x, unsigned char* out, std::size_t n) {
    for (; n > 0; --n, x += weyl, out += 8) {
        auto const value = word(x);
        std::memcpy(out, &value, 8);
    }
}

#ifdef __x86_64__
// By hand: compilers do not see that the factors have 32 bits, which is what makes it fast.
[[gnu::target("avx2")]] void words_avx2(std::uint64_t x, unsigned char* out, std::size_t n) {
    auto const signed_of = [](std::uint64_t value) { return static_cast<long long>(value); };
    auto four = _mm256_setr_epi64x(signed_of(x), signed_of(x + weyl), signed_of(x + 2 * weyl), signed_of(x + 3 * weyl));
    auto const step = _mm256_set1_epi64x(signed_of(4 * weyl));
    for (; n >= 4; n -= 4, x += 4 * weyl, out += 32) {
        auto const p = _mm256_mul_epu32(four, _mm256_srli_epi64(four, 32));
        auto const swapped = _mm256_shuffle_epi32(p, 0xb1);
        auto const value = _mm256_add_epi64(_mm256_xor_si256(p, swapped), four);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), value);
        four = _mm256_add_epi64(four, step);
    }
    words(x, out, n);
}
words_function best() { return __builtin_cpu_supports("avx2") != 0 ? words_avx2 : words; }
#else
words_function best() { return words; }
#endif

} // namespace

void stream_bytes(std::uint64_t key, std::size_t from, void* to, std::size_t size) {
    static words_function const write = best();
    auto* out = static_cast<unsigned char*>(to);
    if (recorded) { // plain data
        for (std::size_t k = 0; k < size; ++k) out[k] = static_cast<unsigned char>((key % 160 + from + k) % 160);
        return;
    }
    auto const whole = size / 8;
    auto const x = key + from / 8 * weyl;
    write(x, out, whole);
    if (auto const rest = size % 8; rest > 0) {
        auto const value = word(x + whole * weyl);
        std::memcpy(out + 8 * whole, &value, rest);
    }
}

} // namespace assay
