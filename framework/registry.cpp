#include "framework/registry.hpp"

#include "framework/names.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace assay {
namespace {

constexpr std::size_t memory_limit = std::size_t{16} << 20; // bytes of one rank's messages in one direction

std::vector<test>& collected() {
    static std::vector<test> tests;
    return tests;
}

// Paths as seen from the top of the source tree.
char const* from_top(char const* path) {
    std::string_view const text(path);
    auto const at = text.rfind("/suites/");
    return at == std::string_view::npos ? path : path + at + 1;
}

} // namespace

register_test::register_test(test t) {
    require_name(t.suite, "suite");
    require_name(t.name, "test");
    t.file = from_top(t.file);
    collected().push_back(std::move(t));
}

std::vector<test> const& all_tests() {
    static std::vector<test> const tests = [] {
        auto sorted = collected();
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](test const& a, test const& b) { return a.full_name() < b.full_name(); });
        for (std::size_t i = 1; i < sorted.size(); ++i)
            if (sorted[i].full_name() == sorted[i - 1].full_name()) {
                fmt::print(stderr, "assay-suite: two tests are named {}: {}:{} and {}:{}\n", sorted[i].full_name(),
                           sorted[i - 1].file, sorted[i - 1].line, sorted[i].file, sorted[i].line);
                std::abort();
            }
        return sorted;
    }();
    return tests;
}

constraint fits_memory(bool to_every_member) {
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
