// Counters of completed operations.
#pragma once
#include "transports/core/domain.hpp"

#include <rdma/fi_eq.h>
#include <vector>

namespace assay::ofi {

class endpoint;

struct counter : fid_cntr {
    domain* in = nullptr;
    std::uint64_t good = 0, bad = 0;
    std::vector<endpoint*> endpoints;
    int regions = 0; // whose writes it counts, whichever endpoint of the domain takes them
};

int open_cntr(domain& in, fi_cntr_attr* attributes, fid_cntr** made, void* context);

} // namespace assay::ofi
