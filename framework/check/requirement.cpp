#include "framework/check/requirement.hpp"

#include "standard.inc"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace assay {
namespace {

struct row {
    std::string_view id;
    char const* section;
    level severity;
};
constexpr row rows[] = { // sorted by id
#define R(id_, section_, level_, since, procedures) {id_, section_, level::level_},
    ASSAY_REQUIREMENTS(R)
#undef R
};

row const* find(std::string_view id) {
    auto const* at = std::lower_bound(std::begin(rows), std::end(rows), id,
                                      [](row const& r, std::string_view wanted) { return r.id < wanted; });
    return at != std::end(rows) && at->id == id ? at : nullptr;
}

row const& row_of(char const* id) {
    if (auto const* found = find(id)) return *found;
    throw std::logic_error(fmt::format("no file of standard/ has the requirement {}", id));
}

} // namespace

bool requirement::is_known() const { return find(id_) != nullptr; }
char const* requirement::section() const { return row_of(id_).section; }
level requirement::severity() const { return row_of(id_).severity; }

} // namespace assay
