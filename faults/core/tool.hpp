// What the wrappers of the tools interface share. While a fault of the model (preload/tool_model/) is planted, the model answers
// in place of the MPI library.
#pragma once
#include "core.hpp"
#include "preload/tool_model/tool_model.hpp"

#include <cstring>
#include <string>

namespace assay_faults {

// Whether the planted fault is one of the model: from the first to the last of them in tool.toml and tool_events.toml.
bool modelled();

extern memory<int> asked; // how often a procedure that changes its mind was called
inline bool second_time() { return ++*asked % 2 == 0; }
inline int fewer(fault one, int n) { return is(one) && ++*asked > 1 && n > 0 ? n - 1 : n; }

// What a procedure gives, where the caller wants to know it.
template <class T> void set(T* to, T value) {
    if (to != nullptr) *to = value;
}
inline void set(char* text, int* length, std::string const& to) {
    if (text != nullptr && length != nullptr && *length > static_cast<int>(to.size()))
        std::memcpy(text, to.c_str(), to.size() + 1);
}

} // namespace assay_faults

// Ends the wrapper with what the MPI library says, or gives `code`, what the model says.
#define MODEL(name, arguments)                                                                                         \
    if (!modelled()) return PMPI_T_##name arguments;                                                                   \
    int const code = tool_model::name arguments
