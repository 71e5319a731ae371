// The provider assay_NAME: the core over one transport. Compiled once for each, with ASSAY_TRANSPORT=NAME.
#include "transports/core/ep.hpp"

#define ASSAY_TEXT_OF(name) #name
#define ASSAY_TEXT(name) ASSAY_TEXT_OF(name)

namespace assay::ASSAY_TRANSPORT {
extern net::transport const transport;
}

namespace assay::ofi {

net::transport const& transport = assay::ASSAY_TRANSPORT::transport;
char const provider_name[] = "assay_" ASSAY_TEXT(ASSAY_TRANSPORT);

} // namespace assay::ofi
