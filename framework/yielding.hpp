// The time slices of ranks that share a core. Some libraries spin while they wait, so that a message takes as long as the
// slices of all other ranks of the core together: milliseconds instead of microseconds.
//
// With ASSAY_YIELD_POLLS=N a rank yields its core once UCX or libfabric has found nothing N times in a row: this costs nothing while
// there are messages. It works where one of them is what the library waits for: ucx_yielding.cpp and ofi_yielding.cpp stand
// between the two.
#pragma once

namespace assay {

void polled(bool found); // whether this thread's poll has found anything
bool yields_polls();     // ASSAY_YIELD_POLLS is set

// What is hidden by our procedure of that name, as the library that called finds it: it need not be among the program's own.
void* hidden_by_us(char const* name, void const* caller);

} // namespace assay
