#include "framework/data.hpp"

#include <cstring>

namespace assay {
namespace {

[[gnu::always_inline]] inline std::uint32_t word(std::uint64_t key, std::uint32_t k) {
    std::uint32_t x = static_cast<std::uint32_t>(key) + k * 0x9e3779b9u;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16) ^ static_cast<std::uint32_t>(key >> 32);
}

[[gnu::always_inline]] inline void words(std::uint64_t key, std::uint32_t first, unsigned char* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        auto const value = word(key, first + static_cast<std::uint32_t>(i));
        std::memcpy(out + 4 * i, &value, 4);
    }
}

using words_function = void (*)(std::uint64_t, std::uint32_t, unsigned char*, std::size_t);

#ifdef __clang__ // vectorizes at -O2
#define ASSAY_VECTORIZED
#else
#define ASSAY_VECTORIZED [[gnu::optimize("O3")]]
#endif

ASSAY_VECTORIZED void words_anywhere(std::uint64_t key, std::uint32_t first, unsigned char* out, std::size_t n) {
    words(key, first, out, n);
}
#ifdef __x86_64__
ASSAY_VECTORIZED [[gnu::target("avx2")]] void words_avx2(std::uint64_t key, std::uint32_t first, unsigned char* out,
                                                         std::size_t n) {
    words(key, first, out, n);
}
words_function best() { return __builtin_cpu_supports("avx2") != 0 ? words_avx2 : words_anywhere; }
#else
words_function best() { return words_anywhere; }
#endif

} // namespace

void stream_bytes(std::uint64_t key, std::size_t from, void* to, std::size_t size) {
    static words_function const write = best();
    auto* out = static_cast<unsigned char*>(to);
    auto const first = static_cast<std::uint32_t>(from / 4);
    auto const whole = size / 4;
    write(key, first, out, whole);
    if (auto const rest = size % 4; rest > 0) {
        auto const value = word(key, first + static_cast<std::uint32_t>(whole));
        std::memcpy(out + 4 * whole, &value, rest);
    }
}

} // namespace assay
