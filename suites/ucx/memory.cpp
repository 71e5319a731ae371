#include "suites/ucx/memory.hpp"

namespace assay::ucx {

axis<origin> const& origins() {
    static axis<origin> const axis(
        "memory", {{{"heap", "", "memory of the program", nullptr}, origin::heap},
                   {{"allocated", "", "UCP_MEM_MAP_ALLOCATE", nullptr}, origin::allocated},
                   {{"hint", "", "UCP_MEM_MAP_ALLOCATE with an address", nullptr}, origin::hint},
                   {{"fixed", "", "UCP_MEM_MAP_ALLOCATE and UCP_MEM_MAP_FIXED", nullptr}, origin::fixed}});
    return axis;
}

axis<bool> const& flushes() {
    static axis<bool> const axis("flush", {{{"endpoint", "", "ucp_ep_flush_nbx", nullptr}, false},
                                           {{"worker", "", "ucp_worker_flush_nbx", nullptr}, true}});
    return axis;
}

} // namespace assay::ucx
