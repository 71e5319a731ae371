// Tests of what a library says to wrong use. It may be unable to handle what generates a trap (MPI-5.0 section 9.3): a SIGSEGV, SIGBUS,
// SIGILL or SIGFPE after erroneous_from_here() is advisory for the rest of the case, on the rank that called it. What ends the
// process by exit() or abort() was noticed, and the error handler says what comes of that.
#pragma once
#include "framework/process/event_log.hpp"

namespace assay {

inline void erroneous_from_here() { events().erroneous(); }

} // namespace assay
