#include "framework/axis.hpp"

#include "framework/names.hpp"

#include <algorithm>
#include <dlfcn.h>

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

bool has_procedure(char const* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; }

} // namespace assay
