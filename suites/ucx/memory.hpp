// Axes of remote memory.
#pragma once
#include "suites/ucx/worker.hpp"

namespace assay::ucx {

enum class origin { heap, allocated, hint, fixed };
axis<origin> const& origins(); // axis memory: whose it is

axis<bool> const& flushes(); // axis flush: of the whole worker?

} // namespace assay::ucx
