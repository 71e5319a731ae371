#include "framework/plan/axis.hpp"

#include "framework/plan/names.hpp"

#include <algorithm>

namespace assay {
namespace {
std::vector<axis_base const*>& registered() {
    static std::vector<axis_base const*> axes;
    return axes;
}
} // namespace

axis_base::axis_base(std::string name) : name_(std::move(name)) {
    require_name(name_, "axis");
    registered().push_back(this);
}

std::vector<axis_base const*> all_axes() {
    auto axes = registered();
    std::stable_sort(axes.begin(), axes.end(), [](auto a, auto b) { return a->name() < b->name(); });
    return axes;
}

std::size_t axis_base::value_named(std::string const& name) const {
    for (std::size_t value = 0; value < size(); ++value)
        if (name_of(value) == name) return value;
    return size();
}

bool axis_base::in_keller(std::size_t value) const {
    bool titled = false;
    for (std::size_t i = 0; i < size() && !titled; ++i) titled = !info(i).title.empty();
    return titled ? !info(value).title.empty() : value == 0;
}

} // namespace assay
