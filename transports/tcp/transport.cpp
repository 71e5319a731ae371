// TCP as one of the transports: its name, its switches and how its wires are made.
#include "transports/net/transport.hpp"
#include "transports/net/interfaces.hpp"
#include "transports/tcp/tcp.hpp"

namespace assay::tcp {
namespace {

bool apply(options& to, std::string_view name, std::string_view value) {
    if (name == "cork") {
        to.cork = true;
        return value.empty();
    }
    unsigned number = 0;
    if (!net::read_number(value, number)) return false;
    if (name == "nodelay") {
        to.nodelay = number == 1;
        return number <= 1;
    }
    if (name == "streams") {
        to.streams = number;
        return number >= 1 && number <= most_streams;
    }
    if (name == "buffer") {
        to.buffer = static_cast<int>(number);
        return number >= 1024 && number <= 1 << 30;
    }
    if (name == "timeout") {
        to.timeout = std::chrono::milliseconds(number);
        return number >= 1000 && number <= 3'600'000;
    }
    return false;
}

bool takes(std::string_view name, std::string_view value) {
    options ignored;
    return apply(ignored, name, value);
}

std::unique_ptr<net::wire> make_configured(net::sink& to, net::configuration const& how) {
    options wish;
    for (auto const& [name, value] : how.switches) apply(wish, name, value);
    wish.pcap = how.pcap;
    return make(to, wish);
}

net::address default_address(net::configuration const& how) { return net::any_port(how.interface, how.family); }

} // namespace

extern net::transport const transport;
net::transport const transport{
    .name = "tcp", .takes = takes, .make = make_configured, .default_address = default_address};

} // namespace assay::tcp
