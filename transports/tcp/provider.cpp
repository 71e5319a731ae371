// The provider assay_tcp: the core over stream sockets.
#include "transports/core/ep.hpp"
#include "transports/tcp/tcp.hpp"
#include "transports/wire/interfaces.hpp"

namespace assay::ofi {

char const provider_name[] = "assay_tcp";

bool is_wire_switch(std::string_view name, std::string_view value) {
    return name == "nodelay" && (value == "0" || value == "1");
}

std::unique_ptr<wire::wire> make_wire(wire::sink& sink, settings const& how) {
    auto const nodelay = how.wire.find("nodelay");
    return tcp::make(sink, {.nodelay = nodelay == how.wire.end() || nodelay->second == "1", .pcap = how.pcap});
}

wire::address default_address(settings const& how) { return wire::any_port(how.interface); }

} // namespace assay::ofi
