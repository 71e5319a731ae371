#include "framework/native/run.hpp"

#include "framework/process/calls.hpp"

#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <xxhash.h>

namespace assay {
namespace {

layout const& byte_layout() {
    static basic_type const byte = [] {
        basic_type type{"byte", 1, 1, 1, {}, {}};
        type.keep[0] = 0xff;
        return type;
    }();
    static layout const map = [] {
        auto made = layout::of(byte);
        made.prepare();
        return made;
    }();
    return map;
}

} // namespace

native_run::native_run(job const& j, planned_case const& planned, recorder& to, memory_pool& pool, int rank_)
    : the_job(j),
      rank(rank_),
      size(j.np),
      findings(to),
      planned_(planned),
      pool_(pool),
      key_(splitmix64(j.seed ^ XXH3_64bits(planned.name().data(), planned.name().size()))),
      where_(placement::heap) {
    for (std::size_t a = 0; a < planned.values.size(); ++a)
        if (planned.test->axes[a].axis == &native::placements()) where_ = native::placements().at(planned.values[a]);
}

std::size_t native_run::value_of(axis_base const& axis) const {
    for (std::size_t a = 0; a < planned_.values.size(); ++a)
        if (planned_.test->axes[a].axis == &axis) return planned_.values[a];
    fmt::print(stderr, "{}: {} asks for its value of {}, which it does not cross\n", program_invocation_short_name,
               case_name(), axis.name());
    std::abort();
}

std::uint64_t native_run::key(int from, int to, int serial) const {
    return message_key(key_, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to),
                       static_cast<std::uint64_t>(serial));
}

buffer& native_run::outgoing(int to, std::size_t bytes, int serial) {
    auto& out = buffers_.emplace_back(pool_, findings, byte_layout(), bytes, where_);
    out.fill(key(rank, to, serial));
    return out;
}

buffer& native_run::incoming(std::size_t bytes) {
    auto& in = buffers_.emplace_back(pool_, findings, byte_layout(), bytes, where_);
    in.poison();
    return in;
}

buffer& native_run::in_memory(std::span<unsigned char> memory, std::size_t first, std::size_t bytes) {
    auto& in = buffers_.emplace_back(pool_, findings, byte_layout(), bytes, memory, memory.data() + first);
    in.poison();
    return in;
}

void native_run::expect(buffer& in, int from, std::size_t bytes, int serial, std::source_location where) {
    in.expect(key(from, rank, serial), bytes, fmt::format("from rank {}", from), where);
}

bool native_run::check(bool holds, finding kind, std::string const& message, std::source_location where) {
    if (!holds) findings.add(kind, message, where);
    return holds;
}

bool native_run::check(requirement rests_on, bool holds, finding kind, std::string const& message,
                       std::source_location where) {
    if (!holds) findings.add(rests_on, kind, message, where);
    return holds;
}

bool native_run::ok(ssize_t code, std::source_location where) {
    return check(code == 0, finding::return_, fmt::format("{} returned {}", last_call.name, native::error_text(code)),
                 where);
}

void native_run::unsupported(std::string reason) { throw unsupported_here{std::move(reason)}; }

} // namespace assay

namespace assay::native {

size_axis::size_axis() : axis_base("count") {
    // Around the sizes at which transports change their protocol.
    for (std::size_t n : {0u, 1u, 17u, 64u, 65u, 1024u, 4096u, 4097u, 16384u, 65536u, 65539u, 1048576u})
        entries_.emplace_back(std::to_string(n), n);
}

value_info size_axis::info(std::size_t value) const {
    return {entries_[value].first, entries_[value].first + " bytes"};
}

std::size_t size_axis::value_named(std::string const& name) const {
    if (auto const there = axis_base::value_named(name); there != size()) return there;
    bool const number = !name.empty() && name.size() <= 9 && name[0] != '0' &&
                        name.find_first_not_of("0123456789") == std::string::npos;
    if (number) entries_.emplace_back(name, std::stoul(name));
    return number ? entries_.size() - 1 : entries_.size();
}

size_axis const& sizes() {
    static size_axis const axis;
    return axis;
}

axis_use few_sizes() {
    return only(sizes(), [](std::size_t n) { return n == 0 || n == 17 || n == 65539; });
}

axis<placement> const& placements() {
    static axis<placement> const axis("placement",
                                      {{{"heap", "guards on both sides, aligned to 64 bytes"}, placement::heap},
                                       {{"page_end", "ends at a page that cannot be touched"}, placement::page_end},
                                       {{"unaligned", "at an odd address"}, placement::unaligned}});
    return axis;
}

} // namespace assay::native
