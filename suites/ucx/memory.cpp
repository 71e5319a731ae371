#include "suites/ucx/memory.hpp"

namespace assay::ucx {

axis<origin> const& origins() {
    static axis<origin> const axis("memory",
                                   {{{"heap", "memory of the program"}, origin::heap},
                                    {{"allocated", "UCP_MEM_MAP_ALLOCATE"}, origin::allocated},
                                    {{"hint", "UCP_MEM_MAP_ALLOCATE with an address"}, origin::hint},
                                    {{"fixed", "UCP_MEM_MAP_ALLOCATE and UCP_MEM_MAP_FIXED"}, origin::fixed}});
    return axis;
}

axis<bool> const& flushes() {
    static axis<bool> const axis(
        "flush", {{{"endpoint", "ucp_ep_flush_nbx"}, false}, {{"worker", "ucp_worker_flush_nbx"}, true}});
    return axis;
}

} // namespace assay::ucx
