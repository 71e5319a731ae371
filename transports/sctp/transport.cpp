// SCTP as one of the transports: its name, its switches and how its wires are made.
#include "transports/net/transport.hpp"
#include "transports/net/interfaces.hpp"
#include "transports/sctp/addresses.hpp"
#include "transports/sctp/sctp.hpp"

#include <system_error>

namespace assay::sctp {
namespace {

constexpr std::size_t most_streams = 2048; // of usrsctp

// Numbers or names of interfaces, with _ between them: launchers take other signs for their own. Empty: they are wrong.
std::vector<net::address> read_addresses(std::string_view value) {
    std::vector<net::address> found;
    for (std::size_t from = 0, to = 0; to != std::string_view::npos; from = to + 1) {
        to = value.find('_', from);
        try {
            found.push_back(net::from_text(std::string(value.substr(from, to - from))));
        } catch (std::system_error const&) {
            return {};
        }
    }
    return found.size() <= most_addresses ? found : std::vector<net::address>{};
}

bool apply(options& to, std::string_view name, std::string_view value) {
    std::size_t number = 0;
    if (name == "map") {
        if (value == "tag_ctx") to.map = stream_map::tag_and_context;
        else if (value == "tag") to.map = stream_map::tag;
        else if (value == "ctx") to.map = stream_map::context;
        else if (value == "single") to.map = stream_map::single;
        else return false;
        return true;
    }
    if (name == "addresses") {
        to.others = read_addresses(value);
        if (to.others.empty()) return false;
        to.others.erase(to.others.begin()); // the one to listen at
        return true;
    }
    if (to.network.apply(name, value)) return true;
    if (!net::read_number(value, number)) return false;
    if (name == "streams") {
        to.streams = static_cast<std::uint16_t>(number);
        return number >= 1 && number <= most_streams;
    }
    if (name == "order") {
        to.ordered = number == 1;
        return number <= 1;
    }
    if (name == "cmt") {
        to.concurrent = number == 1;
        return number <= 1;
    }
    if (name == "mtu") {
        to.mtu = number;
        return number >= 1280 && number <= 65'535;
    }
    if (name == "buffer") {
        to.buffer = static_cast<int>(number);
        return number >= 2 * fragment_size && number <= 1 << 30;
    }
    if (name == "timeout") {
        to.timeout = std::chrono::milliseconds(number);
        return number >= 100 && number <= 3'600'000;
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

net::address default_address(net::configuration const& how) {
    auto const several = how.switches.find("addresses");
    if (several != how.switches.end()) return read_addresses(several->second).at(0);
    return net::any_port(how.interface, how.family);
}

} // namespace

extern net::transport const transport;
net::transport const transport{.name = "sctp",
                               .takes = takes,
                               .make = make_configured,
                               .default_address = default_address,
                               .needs_live_peers = true};

} // namespace assay::sctp
