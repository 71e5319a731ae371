#include "framework/process/layer.hpp"

#include <dlfcn.h>

namespace assay {
namespace {
using setter = void (*)(char const* words);
setter found() {
    static auto const function = reinterpret_cast<setter>(dlsym(RTLD_DEFAULT, "assay_layer_setting"));
    return function;
}
using listener = void (*)(char const* event, void const* memory, void const* expected, std::size_t size,
                          char const* text);
listener listening() {
    static auto const function = reinterpret_cast<listener>(dlsym(RTLD_DEFAULT, "assay_layer_hears"));
    return function;
}
} // namespace

bool has_layer() { return found() != nullptr; }

void set_layer(std::string const& words) {
    found()(words.c_str());
    recorded = !words.empty() && listening() != nullptr;
}

void tell_layer(heard const& what) { listening()(what.event, what.memory, what.expected, what.size, what.text); }

} // namespace assay
