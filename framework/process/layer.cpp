#include "framework/process/layer.hpp"

#include <dlfcn.h>

namespace assay {
namespace {
using setter = void (*)(char const* words);
setter found() {
    static auto const function = reinterpret_cast<setter>(dlsym(RTLD_DEFAULT, "assay_layer_setting"));
    return function;
}
} // namespace

bool has_layer() { return found() != nullptr; }

void set_layer(std::string const& words) { found()(words.c_str()); }

} // namespace assay
