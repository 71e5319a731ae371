#include "framework/plan/axis.hpp"

#include "framework/plan/names.hpp"

#include <algorithm>
#include <stdexcept>

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

axis_use named(axis_base const& of, std::vector<std::string> names) {
    return {&of, [&of, names = std::move(names)](std::size_t value) {
                // Catalogues are complete only once main has begun: whether the names exist is seen here, once per plan.
                for (std::size_t i = 0; value == 0 && i < names.size(); ++i)
                    if (of.value_named(names[i]) == of.size())
                        throw std::logic_error("axis " + of.name() + " has no value " + names[i]);
                return std::find(names.begin(), names.end(), of.name_of(value)) != names.end();
            }};
}

} // namespace assay
