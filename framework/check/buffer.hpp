// Message buffers that notice every wrong byte: data, gaps between the data, guards around them.
#pragma once
#include "framework/check/layout.hpp"
#include "framework/check/placement.hpp"

#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace assay {

enum class finding;
class recorder;

constexpr unsigned char poison_byte = 0xa5;

// Memory for the buffers of one thread; what a case took is taken back at its end.
class memory_pool {
public:
    memory_pool() = default;
    ~memory_pool();
    memory_pool(memory_pool const&) = delete;
    memory_pool& operator=(memory_pool const&) = delete;

    std::span<unsigned char> take(std::size_t size);          // aligned to 64 bytes
    std::span<unsigned char> take_page_end(std::size_t size); // ends where a page that cannot be touched begins
    std::span<unsigned char> take_from_library(std::size_t size);
    void take_back();

    std::vector<unsigned char> scratch, stream; // for expectations: what a buffer and what a message should hold

private:
    struct chunk {
        std::vector<unsigned char> bytes;
        std::size_t used = 0;
    };
    struct region {
        unsigned char* base;
        std::size_t size; // without the closed page
        bool used;
    };
    std::vector<chunk> chunks_;
    std::vector<region> regions_;
    std::vector<void*> from_library_;
};

// What a stretch of a buffer holds: the message of a key, or a packed stream that the caller computed, such as the
// result of a reduction.
struct segment {
    std::size_t first = 0, count = 0; // elements of the buffer's layout
    std::uint64_t key = 0;
    unsigned char const* stream = nullptr; // count × size bytes that count instead of the key; must outlive the buffer
    int from = -1;                         // the rank whose data this is, for reports; -1: does not matter
};

// The bytes that `count` elements of a layout span, relative to the address given to MPI: the first and one past the last.
std::pair<std::ptrdiff_t, std::ptrdiff_t> byte_range(layout const& map, std::size_t count);

// `count` elements of a layout, between guards; holds nothing defined before fill() or poison().
class buffer {
public:
    buffer(memory_pool& pool, recorder& findings, layout const& map, std::size_t count, placement where);
    // In memory that is there already, such as that of a window: the first element is at `address`, all else is guard.
    buffer(memory_pool& pool, recorder& findings, layout const& map, std::size_t count, std::span<unsigned char> memory,
           void* address);

    operator void*() const { return address_; } // what to hand to MPI
    void* address() const { return address_; }
    std::size_t count() const { return count_; }

    void poison();                                                  // every byte, gaps and guards included
    void fill(std::uint64_t key) { fill(segment{0, count_, key}); } // every element; gaps and guards are poison
    void fill(segment const& all) { fill(std::span(&all, 1)); }
    void fill(std::span<segment const> segments); // segments do not overlap; what lies between them is poison

    // Judges the whole buffer: the first `elements` hold the message, everything else is poison. `who` names the
    // message in a report ("from rank 2"). Each finding says the element, offset and kind of the first wrong byte.
    void expect(std::uint64_t key, std::size_t elements, std::string const& who,
                std::source_location where = std::source_location::current()) {
        expect(segment{0, elements, key}, who, where);
    }
    void expect(segment const& only, std::string const& who,
                std::source_location where = std::source_location::current()) {
        expect(std::span(&only, 1), who, where);
    }
    // The same with several segments, and poison between them.
    void expect(std::span<segment const> segments, std::string const& who,
                std::source_location where = std::source_location::current());
    bool holds(std::span<segment const> segments) const;                                 // the same, only asked
    void expect_unchanged(std::source_location where = std::source_location::current()); // after fill or poison
    void expect_untouched(std::source_location where = std::source_location::current()); // all poison

    // The first `size` bytes of the message of this key, as they stand in the packed stream.
    static void packed(layout const& map, std::uint64_t key, std::size_t elements, std::vector<unsigned char>& out);

private:
    void scatter(unsigned char* origin, segment const& what) const;
    // Writes elements [first, first + n) of a segment; `element` is the address of the first of them. first is a
    // multiple of 8, and the layout has a form.
    void scatter_block(unsigned char* element, segment const& what, std::size_t first, std::size_t n) const;
    void ignore_insignificant(unsigned char* origin, segment const& what) const;
    bool holds_quickly(std::span<segment const> segments) const; // false: look closer
    bool holds_simply(segment const& what, unsigned char const*& at) const;
    bool holds_by_blocks(segment const& what, unsigned char const*& at) const;
    std::vector<unsigned char> const& whole(std::span<segment const> segments) const;
    void report(unsigned char const* expected, std::span<segment const> segments, std::string const& who,
                std::source_location where);
    std::string position(std::ptrdiff_t offset, std::span<segment const> segments, finding& kind) const;

    memory_pool& pool_;
    recorder& findings_;
    layout const& map_;
    std::size_t count_;
    std::span<unsigned char> storage_; // guards included
    unsigned char* address_ = nullptr;
    std::ptrdiff_t low_ = 0, high_ = 0; // the bytes of all elements, relative to address_
    std::vector<segment> filled_;       // what fill() put there
    std::uint64_t filled_hash_ = 0;     // of the storage after fill()
};

} // namespace assay
