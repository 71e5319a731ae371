#include "framework/plan/registry.hpp"

#include "framework/plan/names.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace assay {
namespace {

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
        for (auto const& t : sorted)
            for (auto const r : t.rests_on)
                if (!r.is_known()) {
                    fmt::print(stderr,
                               "assay-suite: no file of standard/ has the requirement {} of the test {}: {}:{}\n",
                               r.id(), t.full_name(), t.file, t.line);
                    std::abort();
                }
        return sorted;
    }();
    return tests;
}

} // namespace assay
