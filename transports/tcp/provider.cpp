// The provider assay_tcp: the core over stream sockets.
#include "transports/core/ep.hpp"
#include "transports/tcp/tcp.hpp"

namespace assay::ofi {

char const provider_name[] = "assay_tcp";

std::unique_ptr<wire::wire> make_wire(wire::sink& sink, settings const& how) {
    return tcp::make(sink, {.nodelay = how.nodelay});
}

wire::address default_address(settings const& how) { return tcp::any_port(how.interface); }

} // namespace assay::ofi
