// CRC32c (Castagnoli), as SCTP and MPA have it: reflected, begun and ended with all bits set. The library leaves that to its caller.
#pragma once
#include <cstddef>
#include <cstdint>
#include <isa-l/crc.h>

namespace assay::net {

// Goes on from the value of what comes before: crc32c(b, crc32c(a)) is that of a and b. Of less than 2 GiB.
inline std::uint32_t crc32c(std::byte const* data, std::size_t size, std::uint32_t before = 0) {
    auto* const begin = const_cast<unsigned char*>(reinterpret_cast<unsigned char const*>(data)); // it only reads them
    return ~crc32_iscsi(begin, static_cast<int>(size), ~before);
}

} // namespace assay::net
