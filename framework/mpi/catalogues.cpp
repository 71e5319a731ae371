#include "framework/mpi/catalogues.hpp"

#include "framework/plan/registry.hpp"

#include <algorithm>
#include <cstdlib>

namespace assay {

std::size_t count_value::of(layout const& map) const {
    if (kind == unit::elements) return n;
    auto const size = std::max<std::size_t>(map.size(), 1);
    auto const whole = n / size, rest = n % size;
    switch (kind) {
    case unit::bytes_ceil: return std::max<std::size_t>(whole + (rest != 0), 1);
    case unit::bytes_nearest: return std::max<std::size_t>(whole + (2 * rest >= size), 1);
    default: return std::max<std::size_t>(whole, 1);
    }
}

catalogue_axis<communicator> const& comm_axis() {
    static catalogue_axis<communicator> const axis("comm", all_communicators);
    return axis;
}

catalogue_axis<datatype> const& type_axis() {
    static catalogue_axis<datatype> const axis("type", all_datatypes);
    return axis;
}

count_axis::count_axis(std::string name) : axis_base(std::move(name)) {
    using unit = count_value::unit;
    for (std::size_t n : {0u, 1u, 2u, 3u, 7u, 17u})
        entries_.push_back({{std::to_string(n), std::to_string(n) + " elements"}, {unit::elements, n}});
    // Around the sizes at which libraries change their protocol.
    struct step {
        char const *below, *at, *above;
        std::size_t bytes;
    };
    for (step s : {step{"61b", "64b", "67b", 64}, step{"1021b", "1kib", "1027b", 1024},
                   step{"8189b", "8kib", "8195b", 8192}, step{"65533b", "64kib", "65539b", 65536}}) {
        entries_.push_back({{s.below, "as many elements as fit into 3 bytes less"}, {unit::bytes_floor, s.bytes - 3}});
        entries_.push_back({{s.at, "the number of elements nearest to this size"}, {unit::bytes_nearest, s.bytes}});
        entries_.push_back({{s.above, "enough elements for 3 bytes more"}, {unit::bytes_ceil, s.bytes + 3}});
    }
    entries_.push_back({{"1mib", "the number of elements nearest to this size"}, {unit::bytes_nearest, 1u << 20}});
}

bool count_axis::in_keller(std::size_t value) const {
    auto const& count = at(value);
    if (count.kind == count_value::unit::bytes_nearest) return count.n == 1024 || count.n == 8192;
    return count.kind == count_value::unit::elements && (count.n <= 1 || count.n >= 17);
}

std::size_t count_axis::value_named(std::string const& name) const {
    if (auto const there = axis_base::value_named(name); there != size()) return there;
    bool const number = !name.empty() && name.size() <= 9 &&
                        name.find_first_not_of("0123456789") == std::string::npos &&
                        (name.size() == 1 || name[0] != '0');
    if (number)
        entries_.push_back(
            {{name, name + " elements"}, {count_value::unit::elements, static_cast<std::size_t>(std::stoul(name))}});
    return number ? entries_.size() - 1 : entries_.size();
}

count_axis const& count_ladder() {
    static count_axis const axis("count");
    return axis;
}

axis<placement> const& placement_axis() {
    static axis<placement> const axis(
        "placement", {{{"heap", "guards on both sides, aligned to 64 bytes"}, placement::heap},
                      {{"page_end", "ends at a page that cannot be touched"}, placement::page_end},
                      {{"unaligned", "aligned no better than the datatype needs"}, placement::unaligned},
                      {{"alloc_mem", "memory from MPI_Alloc_mem"}, placement::alloc_mem}});
    return axis;
}

namespace {
template <class Better> int best_size(communicator const& comm, int np, bool remote, int start, Better better) {
    int best = start;
    for (int rank = 0; rank < np; ++rank) {
        auto const m = comm.layout(np, rank);
        if (!m.member) continue;
        best = better(best, m.size);
        if (remote && comm.kind == comm_kind::inter) best = better(best, m.remote_size);
    }
    return best;
}
} // namespace

int smallest_size(communicator const& comm, int np) {
    return best_size(comm, np, false, np, [](int a, int b) { return std::min(a, b); });
}

int largest_size(communicator const& comm, int np) {
    return best_size(comm, np, true, 1, [](int a, int b) { return std::max(a, b); });
}

constraint fits_memory(bool to_every_member) {
    constexpr std::size_t memory_limit = std::size_t{16} << 20; // bytes of one rank's messages in one direction
    return where(
        comm_axis(), type_axis(), count_ladder(),
        [to_every_member](job const& j, communicator const& comm, datatype const& type, count_value const& count) {
            auto const extent = std::max(std::abs(type.map.extent()), type.map.true_extent());
            auto const peers = to_every_member && comm.layout ? largest_size(comm, j.np) : 1;
            return static_cast<std::size_t>(extent) * count.of(type.map) * static_cast<std::size_t>(peers) <=
                   memory_limit;
        });
}

} // namespace assay
