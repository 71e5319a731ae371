// Where libfabric enters: it loads lib<name>-fi.so and calls fi_prov_ini.
#include "transports/core/domain.hpp"
#include "transports/core/ep.hpp"
#include "transports/core/info.hpp"

#include <rdma/providers/fi_prov.h>

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini(void);

extern "C" fi_provider* fi_prov_ini(void) {
    static fi_provider provider{
        .version = FI_VERSION(0, 1),
        // That of the library at hand: it refuses providers older than what the program asks for.
        .fi_version = fi_version(),
        .context = {},
        .name = assay::ofi::provider_name,
        .getinfo = assay::ofi::get_info,
        .fabric = assay::ofi::open_fabric,
        .cleanup = [] {},
    };
    return &provider;
}
