// CRC32c (Castagnoli), as SCTP and MPA have it: reflected, begun and ended with all bits set.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace assay::wire {

namespace crc32c_detail {

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t k = 0; k < 256; ++k) {
        std::uint32_t value = k;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0u);
        table[k] = value;
    }
    return table;
}

inline std::uint32_t by_table(std::uint32_t value, std::byte const* data, std::size_t size) {
    static constexpr auto table = make_table();
    for (std::size_t k = 0; k < size; ++k)
        value = value >> 8 ^ table[(value ^ std::to_integer<std::uint32_t>(data[k])) & 0xff];
    return value;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) inline std::uint32_t by_processor(std::uint32_t begin, std::byte const* data,
                                                                    std::size_t size) {
    std::uint64_t value = begin;
    for (; size >= 8; size -= 8, data += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, data, sizeof word);
        value = __builtin_ia32_crc32di(value, word);
    }
    auto left = static_cast<std::uint32_t>(value);
    for (; size > 0; --size, ++data) left = __builtin_ia32_crc32qi(left, std::to_integer<unsigned char>(*data));
    return left;
}
#endif

} // namespace crc32c_detail

// Goes on from the value of what comes before: crc32c(b, crc32c(a)) is that of a and b.
inline std::uint32_t crc32c(std::byte const* data, std::size_t size, std::uint32_t before = 0) {
#ifdef __x86_64__
    static bool const fast = __builtin_cpu_supports("sse4.2");
    if (fast) return ~crc32c_detail::by_processor(~before, data, size);
#endif
    return ~crc32c_detail::by_table(~before, data, size);
}

} // namespace assay::wire
