#include "framework/check/buffer.hpp"

#include "framework/check/data.hpp"
#include "framework/check/record.hpp"
#include "framework/plan/subject.hpp"
#include "framework/process/layer.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>
#include <tuple>
#include <unistd.h>
#include <xxhash.h>
#if defined __x86_64__ && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> // the same hashes, by what the processor can do
#endif

namespace assay {
namespace {

constexpr std::size_t guard_size = 64, chunk_size = std::size_t{1} << 20;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

// Whether the elements of a layout lie back to back.
bool contiguous(layout const& map) {
    return map.runs().size() == 1 && static_cast<std::size_t>(map.extent()) == map.size();
}
// The same, and any bytes are valid data.
bool simple(layout const& map) { return contiguous(map) && map.runs()[0].type->plain(); }

// Plain data are masked for truth values only: bytes below 160 in rising order are no NaN, and a program makes them easily.
bool is_masked(basic_type const& type) { return !recorded || type.keep[0] <= 1; }

bool all_poison(unsigned char const* from, unsigned char const* to) {
    static auto const block = [] {
        std::array<unsigned char, 4096> bytes{};
        bytes.fill(poison_byte);
        return bytes;
    }();
    while (from < to) {
        auto const n = std::min<std::size_t>(static_cast<std::size_t>(to - from), block.size());
        if (std::memcmp(from, block.data(), n) != 0) return false;
        from += n;
    }
    return true;
}

// To the layer that records: what the buffer holds and, at `expected`, what should stand at its address. From the address, or the
// first byte if that comes before it, to the last: both have to be there in a program of its own.
void tell(unsigned char const* address, std::ptrdiff_t low, std::ptrdiff_t high,
          unsigned char const* expected = nullptr) {
    low = std::min<std::ptrdiff_t>(low, 0);
    tell_layer({.event = expected == nullptr ? "content" : "expected",
                .memory = address + low,
                .expected = expected == nullptr ? nullptr : expected + low,
                .size = static_cast<std::size_t>(std::max<std::ptrdiff_t>(high, 0) - low)});
}

} // namespace

memory_pool::~memory_pool() {
    for (auto const& r : regions_) munmap(r.base, r.size + static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

std::span<unsigned char> memory_pool::take(std::size_t size) {
    size = round_up(size, 64);
    for (auto& c : chunks_)
        if (c.used + size <= c.bytes.size() - 64) {
            auto* start = c.bytes.data() + c.used;
            c.used += size;
            return {start, size};
        }
    auto& c = chunks_.emplace_back();
    c.bytes.resize(std::max(size + 128, chunk_size));
    c.used = (64 - reinterpret_cast<std::uintptr_t>(c.bytes.data()) % 64) % 64;
    auto* start = c.bytes.data() + c.used;
    c.used += size;
    return {start, size};
}

std::span<unsigned char> memory_pool::take_page_end(std::size_t size) {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto const whole = round_up(size, page);
    region* best = nullptr;
    for (auto& r : regions_)
        if (!r.used && r.size >= whole && (best == nullptr || r.size < best->size)) best = &r;
    if (best == nullptr) {
        void* base = mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED) throw std::bad_alloc();
        mprotect(static_cast<unsigned char*>(base) + whole, page, PROT_NONE);
        best = &regions_.emplace_back(region{static_cast<unsigned char*>(base), whole, false});
    }
    best->used = true;
    return {best->base + best->size - size, size};
}

std::span<unsigned char> memory_pool::take_from_library(std::size_t size) {
    void* const base = the_subject().allocate(size);
    if (base == nullptr) throw std::bad_alloc();
    from_library_.push_back(base);
    return {static_cast<unsigned char*>(base), size};
}

void memory_pool::take_back() {
    for (auto& c : chunks_) c.used = (64 - reinterpret_cast<std::uintptr_t>(c.bytes.data()) % 64) % 64;
    for (auto& r : regions_) r.used = false;
    for (auto* base : from_library_) the_subject().release(base);
    from_library_.clear();
}

std::pair<std::ptrdiff_t, std::ptrdiff_t> byte_range(layout const& map, std::size_t count) {
    if (count == 0 || map.size() == 0) return {0, 0};
    auto const last = static_cast<std::ptrdiff_t>(count - 1) * map.extent();
    return {map.true_lb() + std::min<std::ptrdiff_t>(last, 0),
            map.true_lb() + map.true_extent() + std::max<std::ptrdiff_t>(last, 0)};
}

buffer::buffer(memory_pool& pool, recorder& findings, layout const& map, std::size_t count, placement where)
    : pool_(pool), findings_(findings), map_(map), count_(count) {
    std::tie(low_, high_) = byte_range(map, count);
    auto const span = static_cast<std::size_t>(high_ - low_);
    // The address itself must lie inside the storage, whatever the lower bound, so that it is a valid pointer.
    auto const before = static_cast<std::size_t>(std::max<std::ptrdiff_t>(-low_, 0)),
               after = static_cast<std::size_t>(std::max<std::ptrdiff_t>(low_, 0));
    auto const alignment = map.alignment();
    switch (where) {
    case placement::page_end: {
        storage_ = pool.take_page_end(guard_size + span + after + alignment);
        auto const end = reinterpret_cast<std::uintptr_t>(storage_.data()) + storage_.size();
        address_ = reinterpret_cast<unsigned char*>(
            (end - static_cast<std::uintptr_t>(std::max<std::ptrdiff_t>(high_, 0))) / alignment * alignment);
        break;
    }
    case placement::heap:
    case placement::unaligned:
    case placement::alloc_mem: {
        auto const size = 2 * guard_size + span + before + after + 128;
        storage_ = where == placement::alloc_mem ? pool.take_from_library(size) : pool.take(size);
        auto const first = reinterpret_cast<std::uintptr_t>(storage_.data()) + guard_size + before;
        address_ = reinterpret_cast<unsigned char*>(round_up(first, 64));
        if (where == placement::unaligned) address_ += alignment % 64;
        break;
    }
    }
}

buffer::buffer(memory_pool& pool, recorder& findings, layout const& map, std::size_t count,
               std::span<unsigned char> memory, void* address)
    : pool_(pool),
      findings_(findings),
      map_(map),
      count_(count),
      storage_(memory),
      address_(static_cast<unsigned char*>(address)) {
    std::tie(low_, high_) = byte_range(map, count);
}

void buffer::poison() {
    std::memset(storage_.data(), poison_byte, storage_.size());
    filled_.clear();
    filled_hash_ = 0;
    if (recorded) tell(address_, low_, high_);
}

void buffer::packed(layout const& map, std::uint64_t key, std::size_t elements, std::vector<unsigned char>& out) {
    out.resize(map.size() * elements);
    stream_bytes(key, 0, out.data(), out.size());
    bool plain = true;
    for (auto const& run : map.runs()) plain &= run.type->plain();
    if (plain || out.empty()) return;
    // What makes random bytes valid, for as many elements as make a loop worth while.
    auto const block = map.size() * std::min(elements, 1 + 512 / map.size());
    std::vector<unsigned char> keep, set;
    while (keep.size() < block)
        for (auto const& run : map.runs())
            for (std::size_t i = 0; i < run.count; ++i) {
                auto const& type = *run.type;
                if (!is_masked(type)) {
                    keep.insert(keep.end(), type.size, 0xff);
                    set.insert(set.end(), type.size, 0);
                    continue;
                }
                keep.insert(keep.end(), type.keep.begin(), type.keep.begin() + static_cast<std::ptrdiff_t>(type.size));
                set.insert(set.end(), type.set.begin(), type.set.begin() + static_cast<std::ptrdiff_t>(type.size));
            }
    for (std::size_t from = 0; from < out.size(); from += block) {
        auto* const at = out.data() + from;
        auto const n = std::min(block, out.size() - from);
        for (std::size_t k = 0; k < n; ++k) at[k] = static_cast<unsigned char>((at[k] & keep[k]) | set[k]);
    }
}

namespace {

// How many elements are written or judged at a time: a multiple of 8, about as much as stays in the first cache.
std::size_t block_elements(layout const& map) {
    auto const bytes = std::max<std::size_t>(map.size(), static_cast<std::size_t>(map.extent()));
    return std::max<std::size_t>(8192 / bytes / 8, 1) * 8;
}

// n times `size` bytes from one stride to another. Most pieces are small: then the size is better known to the compiler.
template <std::size_t size>
void copy_fixed(unsigned char* to, std::size_t to_stride, unsigned char const* from, std::size_t from_stride,
                std::size_t n) {
    for (; n > 0; --n, to += to_stride, from += from_stride) std::memcpy(to, from, size);
}
void copy(unsigned char* to, std::size_t to_stride, unsigned char const* from, std::size_t from_stride,
          std::size_t size, std::size_t n) {
    if (to_stride == size && from_stride == size) {
        std::memcpy(to, from, n * size);
        return;
    }
    switch (size) {
    case 1: return copy_fixed<1>(to, to_stride, from, from_stride, n);
    case 2: return copy_fixed<2>(to, to_stride, from, from_stride, n);
    case 4: return copy_fixed<4>(to, to_stride, from, from_stride, n);
    case 6: return copy_fixed<6>(to, to_stride, from, from_stride, n);
    case 8: return copy_fixed<8>(to, to_stride, from, from_stride, n);
    case 12: return copy_fixed<12>(to, to_stride, from, from_stride, n);
    case 16: return copy_fixed<16>(to, to_stride, from, from_stride, n);
    default:
        for (; n > 0; --n, to += to_stride, from += from_stride) std::memcpy(to, from, size);
    }
}

} // namespace

void buffer::scatter_block(unsigned char* element, segment const& what, std::size_t first, std::size_t n) const {
    auto const& form = *map_.form();
    auto const size = map_.size();
    auto const* from = what.stream != nullptr ? what.stream + first * size : nullptr;
    if (from == nullptr) {
        auto& block = pool_.stream;
        if (block.size() < n * size) block.resize(n * size);
        stream_bytes(what.key, first * size, block.data(), n * size);
        for (std::size_t at = 0; at < n * size && !form.keep.empty(); at += form.keep.size()) {
            auto const bytes = std::min(form.keep.size(), n * size - at);
            auto* const b = block.data() + at;
            auto const *const keep = form.keep.data(), *const set = form.set.data();
            for (std::size_t k = 0; k < bytes; ++k) b[k] = static_cast<unsigned char>((b[k] & keep[k]) | set[k]);
        }
        from = block.data();
    }
    auto const extent = static_cast<std::size_t>(map_.extent());
    for (auto const& piece : form.pieces) copy(element + piece.offset, extent, from + piece.from, size, piece.size, n);
}

// Writes the data of a segment; `origin` is where the buffer's address would be.
void buffer::scatter(unsigned char* origin, segment const& what) const {
    auto const bytes_of_all = what.count * map_.size();
    if (bytes_of_all == 0) return;
    auto const extent = map_.extent();
    auto* element = origin + static_cast<std::ptrdiff_t>(what.first) * extent;
    if (map_.form() != nullptr && !recorded) {
        auto const at_once = block_elements(map_);
        for (std::size_t e = 0; e < what.count; e += at_once)
            scatter_block(element + static_cast<std::ptrdiff_t>(e) * extent, what, e,
                          std::min(at_once, what.count - e));
        return;
    }
    auto const* from = what.stream;
    if (from == nullptr) {
        packed(map_, what.key, what.count, pool_.stream);
        from = pool_.stream.data();
    }
    for (std::size_t e = 0; e < what.count; ++e, element += extent)
        for (auto const& run : map_.runs()) {
            auto const bytes = run.count * run.type->size;
            std::memcpy(element + run.offset, from, bytes);
            from += bytes;
        }
}

void buffer::fill(std::span<segment const> segments) {
    if (segments.size() == 1 && segments[0].stream == nullptr && segments[0].count == count_ && high_ > low_ &&
        simple(map_)) {
        auto *begin = storage_.data(), *end = begin + storage_.size();
        std::memset(begin, poison_byte, static_cast<std::size_t>(address_ + low_ - begin));
        stream_bytes(segments[0].key, 0, address_ + low_, static_cast<std::size_t>(high_ - low_));
        std::memset(address_ + high_, poison_byte, static_cast<std::size_t>(end - (address_ + high_)));
    } else {
        poison();
        for (auto const& s : segments) scatter(address_, s);
    }
    filled_.assign(segments.begin(), segments.end());
    filled_hash_ = XXH3_64bits(storage_.data(), storage_.size());
    if (recorded) tell(address_, low_, high_);
}

// Bytes that carry no value may hold anything: take them as they came.
void buffer::ignore_insignificant(unsigned char* origin, segment const& what) const {
    auto const extent = map_.extent();
    for (auto const& run : map_.runs()) {
        auto const& type = *run.type;
        for (std::size_t k = 0; k < type.size; ++k) {
            if (type.carries(k)) continue;
            for (std::size_t e = what.first; e < what.first + what.count; ++e)
                for (std::size_t i = 0; i < run.count; ++i) {
                    auto const offset = static_cast<std::ptrdiff_t>(e) * extent + run.offset +
                                        static_cast<std::ptrdiff_t>(i * type.size + k);
                    origin[offset] = address_[offset];
                }
        }
    }
}

// Both judge a segment and the poison between `at` and it, and move `at` after it. False: something is wrong.
// Piece by piece against the stream, where memory is the stream.
bool buffer::holds_simply(segment const& s, unsigned char const*& at) const {
    auto const* const begin = address_ + map_.runs()[0].offset + static_cast<std::ptrdiff_t>(s.first * map_.size());
    if (begin < at || !all_poison(at, begin)) return false;
    auto const total = s.count * map_.size();
    at = begin + total;
    if (s.stream != nullptr) return std::memcmp(s.stream, begin, total) == 0;
    std::array<unsigned char, 4096> block;
    for (std::size_t done = 0; done < total; done += block.size()) {
        auto const n = std::min(block.size(), total - done);
        stream_bytes(s.key, done, block.data(), n);
        if (std::memcmp(block.data(), begin + done, n) != 0) return false;
    }
    return true;
}

// Block by block against an image that never leaves the cache.
bool buffer::holds_by_blocks(segment const& s, unsigned char const*& at) const {
    auto const extent = static_cast<std::size_t>(map_.extent());
    auto const at_once = block_elements(map_);
    auto& image = pool_.scratch;
    if (image.size() < at_once * extent) image.resize(at_once * extent);
    auto const *const first_byte = storage_.data(), *const end = first_byte + storage_.size();
    for (std::size_t e = 0; e < s.count; e += at_once) {
        auto const n = std::min(at_once, s.count - e);
        auto* const element = address_ + static_cast<std::ptrdiff_t>((s.first + e) * extent);
        // From the lower bound of the first element to the upper bound of the last, as far as there is memory.
        auto const* const lower = element + map_.lb();
        auto const *const from = std::max<unsigned char const*>(lower, first_byte), *const to = std::min(
                                                                                        lower + n * extent, end);
        if (e == 0 && (from < at || !all_poison(at, from))) return false;
        std::memset(image.data(), poison_byte, n * extent);
        auto* const origin = image.data() - map_.lb();
        scatter_block(origin, s, e, n);
        for (auto const& piece : map_.form()->insignificant)
            copy(origin + piece.offset, extent, element + piece.offset, extent, piece.size, n);
        if (std::memcmp(image.data() + (from - lower), from, static_cast<std::size_t>(to - from)) != 0) return false;
        at = to;
    }
    return true;
}

bool buffer::holds_quickly(std::span<segment const> segments) const {
    auto const* at = static_cast<unsigned char const*>(storage_.data());
    for (auto const& s : segments) {
        if (s.count == 0 || map_.size() == 0) continue;
        if (simple(map_) ? !holds_simply(s, at) : recorded || map_.form() == nullptr || !holds_by_blocks(s, at))
            return false;
    }
    return all_poison(at, storage_.data() + storage_.size());
}

// What the storage has to hold; bytes without a value are what they are.
std::vector<unsigned char> const& buffer::whole(std::span<segment const> segments) const {
    auto& image = pool_.scratch;
    image.assign(storage_.size(), poison_byte);
    auto* origin = image.data() + (address_ - storage_.data());
    for (auto const& s : segments) {
        scatter(origin, s);
        ignore_insignificant(origin, s);
    }
    return image;
}

bool buffer::holds(std::span<segment const> segments) const {
    return holds_quickly(segments) || std::memcmp(whole(segments).data(), storage_.data(), storage_.size()) == 0;
}

void buffer::expect(std::span<segment const> segments, std::string const& who, std::source_location where) {
    if (recorded) tell(address_, low_, high_, whole(segments).data() + (address_ - storage_.data()));
    if (!holds(segments)) report(whole(segments).data(), segments, who, where);
}

void buffer::expect_unchanged(std::source_location where) {
    if (XXH3_64bits(storage_.data(), storage_.size()) == filled_hash_) return;
    expect(filled_, "of the send buffer, which MPI may not change", where);
}
void buffer::expect_untouched(std::source_location where) {
    expect(std::span<segment const>(), "of a buffer that nothing was to be written to", where);
}

std::string buffer::position(std::ptrdiff_t offset, std::span<segment const> segments, finding& kind) const {
    kind = finding::guard;
    if (offset < low_) return fmt::format("{} bytes before the first byte of the buffer", low_ - offset);
    if (offset >= high_) return fmt::format("{} bytes after the last byte of the buffer", offset - high_ + 1);
    for (std::size_t e = 0; e < count_; ++e) {
        auto const in_element = offset - static_cast<std::ptrdiff_t>(e) * map_.extent();
        if (map_.extent() > 0 && in_element >= map_.extent() + map_.true_extent()) continue; // far ahead: skip quickly
        for (std::size_t r = 0; r < map_.runs().size(); ++r) {
            auto const& run = map_.runs()[r];
            auto const in_run = in_element - run.offset;
            if (in_run < 0 || static_cast<std::size_t>(in_run) >= run.count * run.type->size) continue;
            kind = finding::data;
            auto const in = std::find_if(segments.begin(), segments.end(),
                                         [e](segment const& s) { return e >= s.first && e < s.first + s.count; });
            std::string whose;
            if (in == segments.end())
                whose = segments.size() > 1 ? " (between messages)" : " (beyond the end of the message)";
            else if (in->from >= 0) whose = fmt::format(" (element {} from rank {})", e - in->first, in->from);
            return fmt::format("element {} of {}{}, byte {} of it: byte {} of a {}", e, count_, whose,
                               in_element - map_.lb(), static_cast<std::size_t>(in_run) % run.type->size,
                               run.type->name);
        }
    }
    kind = finding::gap;
    return fmt::format("offset {} from the buffer's address, a gap between data", offset);
}

void buffer::report(unsigned char const* expected, std::span<segment const> segments, std::string const& who,
                    std::source_location where) {
    auto const* got = storage_.data();
    std::size_t first = storage_.size(), last = 0, wrong = 0;
    for (std::size_t i = 0; i < storage_.size(); ++i)
        if (expected[i] != got[i]) {
            first = std::min(first, i);
            last = i;
            ++wrong;
        }
    auto const offset = (got + first) - address_;
    auto kind = finding::data;
    auto const place = position(offset, segments, kind);
    auto text = fmt::format("{} {}: {}: expected {:02x}, received {:02x}; {} of {} bytes wrong, from offset {} to {}",
                            name_of(kind), who, place, expected[first], got[first], wrong, high_ - low_, offset,
                            (got + last) - address_);
    // Two lines of 16 bytes from the line in which the first wrong byte lies.
    for (std::size_t line = first / 16 * 16, n = 0; line < storage_.size() && n < 2; line += 16, ++n) {
        std::string e, g, marks;
        for (std::size_t i = line; i < std::min(line + 16, storage_.size()); ++i) {
            e += fmt::format(" {:02x}", expected[i]);
            g += fmt::format(" {:02x}", got[i]);
            marks += expected[i] == got[i] ? "   " : " ^^";
        }
        text += fmt::format("\n{:>+8} expected{}\n         received{}\n                 {}", (got + line) - address_, e,
                            g, marks);
    }
    findings_.add(kind, std::move(text), where);
}

} // namespace assay
