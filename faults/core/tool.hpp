// What the wrappers of the tools interface share. While a fault of the model (preload/tool_model.hpp) is planted, the model answers
// in place of the MPI library.
#pragma once
#include "core.hpp"
#include "preload/tool_model.hpp"

namespace assay_faults {

// Whether the planted fault is one of the model: from the first to the last of them in tool.toml and tool_events.toml.
bool modelled();

} // namespace assay_faults

// Ends the wrapper with what the MPI library says, or gives `code`, what the model says.
#define MODEL(name, arguments)                                                                                         \
    if (!modelled()) return PMPI_T_##name arguments;                                                                   \
    int const code = tool_model::name arguments
