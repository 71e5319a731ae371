// The provider assay_sctp: the core over SCTP.
#include "transports/core/ep.hpp"
#include "transports/sctp/sctp.hpp"
#include "transports/wire/interfaces.hpp"

namespace assay::ofi {
namespace {

constexpr std::size_t most_streams = 2048; // of usrsctp

bool apply(sctp::options& to, std::string_view name, std::string_view value) {
    std::size_t number = 0;
    if (name == "map") {
        if (value == "tag_ctx") to.map = sctp::stream_map::tag_and_context;
        else if (value == "tag") to.map = sctp::stream_map::tag;
        else if (value == "ctx") to.map = sctp::stream_map::context;
        else if (value == "single") to.map = sctp::stream_map::single;
        else return false;
        return true;
    }
    if (to.network.apply(name, value)) return true;
    if (!read_number(value, number)) return false;
    if (name == "streams") {
        to.streams = static_cast<std::uint16_t>(number);
        return number >= 1 && number <= most_streams;
    }
    if (name == "order") {
        to.ordered = number == 1;
        return number <= 1;
    }
    if (name == "mtu") {
        to.mtu = number;
        return number >= 1280 && number <= 65'535;
    }
    if (name == "timeout") {
        to.timeout = std::chrono::milliseconds(number);
        return number >= 100 && number <= 3'600'000;
    }
    return false;
}

} // namespace

char const provider_name[] = "assay_sctp";

bool is_wire_switch(std::string_view name, std::string_view value) {
    sctp::options ignored;
    return apply(ignored, name, value);
}

std::unique_ptr<wire::wire> make_wire(wire::sink& sink, settings const& how) {
    sctp::options wish;
    for (auto const& [name, value] : how.wire) apply(wish, name, value);
    wish.pcap = how.pcap;
    wish.planted = sctp::fault_named(how.fault_name);
    return sctp::make(sink, wish);
}

wire::address default_address(settings const& how) { return wire::any_port(how.interface, how.family); }

} // namespace assay::ofi
