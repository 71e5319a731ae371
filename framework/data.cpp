#include "framework/data.hpp"

#include <cstring>

namespace assay {

void stream_bytes(std::uint64_t key, std::size_t from, void* to, std::size_t size) {
    auto* out = static_cast<unsigned char*>(to);
    std::uint64_t word = from / 8;
    for (; size >= 8; size -= 8, out += 8, ++word) {
        auto const value = splitmix64(key + word);
        std::memcpy(out, &value, 8);
    }
    if (size > 0) {
        auto const value = splitmix64(key + word);
        std::memcpy(out, &value, size);
    }
}

} // namespace assay
