// Memory for usrsctp, which asks for the parts of a packet one by one: for 64 KiB about a hundred times on each side, more often than
// malloc() keeps at hand. That was a fifth of the time of a long message.
//
// CMakeLists.txt gives malloc and free these names in the archive. Whoever calls usrsctp has the stack's lock, and so has its own thread
// (locks.cpp): the pool needs none.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <utility>

namespace {

// AddressSanitizer would not see what is done to a piece after its end, and would take what only pieces point to for lost.
#ifdef __has_feature // clang's way to say so
constexpr bool none = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool none = true;
#else
constexpr bool none = false;
#endif
constexpr std::size_t most_of_a_size = 16 << 20;     // bytes; taken from the system when they are first used
constexpr std::size_t smallest = 16, largest = 2048; // a cluster of usrsctp
constexpr auto sizes = static_cast<std::size_t>(std::bit_width(largest / smallest));

// Pieces of one size, which are used again in the reverse order of their return: the last one is still in the cache.
struct pieces {
    std::byte *next = nullptr, *end = nullptr; // of what was never given away
    void* returned = nullptr;                  // each has the next one at its beginning
};

class pool {
public:
    pool() {
        if (none) return;
        void* const room =
            mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED) return;
        begin_ = static_cast<std::byte*>(room);
        for (std::size_t k = 0; k < sizes; ++k) {
            of_[k].next = begin_ + k * most_of_a_size;
            of_[k].end = of_[k].next + most_of_a_size;
        }
    }
    void* take(std::size_t size) {
        if (size > largest) return nullptr;
        auto const which = static_cast<std::size_t>(std::bit_width((size > smallest ? size - 1 : 0) / smallest));
        auto& from = of_[which];
        if (void* const last = from.returned) {
            from.returned = *static_cast<void**>(last);
            return last;
        }
        if (from.next == from.end) return nullptr;
        return std::exchange(from.next, from.next + (smallest << which));
    }
    // Whether it came from here.
    bool give_back(void* piece) {
        auto const offset = reinterpret_cast<std::uintptr_t>(piece) - reinterpret_cast<std::uintptr_t>(begin_);
        if (!begin_ || offset >= all) return false;
        auto& to = of_[offset / most_of_a_size];
        *static_cast<void**>(piece) = to.returned;
        to.returned = piece;
        return true;
    }

private:
    static constexpr std::size_t all = sizes * most_of_a_size;
    std::byte* begin_ = nullptr;
    std::array<pieces, sizes> of_;
};

pool& the_pool() {
    static pool one;
    return one;
}

} // namespace

extern "C" {
void* assay_sctp_malloc(std::size_t size);
void assay_sctp_free(void* piece);

void* assay_sctp_malloc(std::size_t size) {
    void* const found = the_pool().take(size);
    return found ? found : std::malloc(size);
}

void assay_sctp_free(void* piece) {
    if (!the_pool().give_back(piece)) std::free(piece);
}
}
