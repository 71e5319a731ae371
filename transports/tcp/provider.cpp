// The provider assay_tcp: the core over stream sockets.
#include "transports/core/ep.hpp"
#include "transports/tcp/tcp.hpp"
#include "transports/wire/interfaces.hpp"

namespace assay::ofi {
namespace {

bool apply(tcp::options& to, std::string_view name, std::string_view value) {
    if (name == "cork") {
        to.cork = true;
        return value.empty();
    }
    std::size_t number = 0;
    if (!read_number(value, number)) return false;
    if (name == "nodelay") {
        to.nodelay = number == 1;
        return number <= 1;
    }
    if (name == "streams") {
        to.streams = static_cast<unsigned>(number);
        return number >= 1 && number <= tcp::most_streams;
    }
    return false;
}

} // namespace

char const provider_name[] = "assay_tcp";

bool is_wire_switch(std::string_view name, std::string_view value) {
    tcp::options ignored;
    return apply(ignored, name, value);
}

std::unique_ptr<wire::wire> make_wire(wire::sink& sink, settings const& how) {
    tcp::options wish;
    for (auto const& [name, value] : how.wire) apply(wish, name, value);
    wish.pcap = how.pcap;
    wish.planted = tcp::fault_named(how.fault_name);
    return tcp::make(sink, wish);
}

wire::address default_address(settings const& how) { return wire::any_port(how.interface, how.family); }

} // namespace assay::ofi
