// The provider assay_sctp: the core over SCTP.
#include "transports/core/ep.hpp"
#include "transports/sctp/addresses.hpp"
#include "transports/sctp/sctp.hpp"
#include "transports/wire/interfaces.hpp"

#include <system_error>

namespace assay::ofi {
namespace {

constexpr std::size_t most_streams = 2048; // of usrsctp

// Numbers or names of interfaces, with _ between them: launchers take other signs for their own. Empty: they are wrong.
std::vector<wire::address> read_addresses(std::string_view value) {
    std::vector<wire::address> found;
    for (std::size_t from = 0, to = 0; to != std::string_view::npos; from = to + 1) {
        to = value.find('_', from);
        try {
            found.push_back(wire::from_text(std::string(value.substr(from, to - from))));
        } catch (std::system_error const&) {
            return {};
        }
    }
    return found.size() <= sctp::most_addresses ? found : std::vector<wire::address>{};
}

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
    if (name == "addresses") {
        to.others = read_addresses(value);
        if (to.others.empty()) return false;
        to.others.erase(to.others.begin()); // the one to listen at
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
    if (name == "cmt") {
        to.concurrent = number == 1;
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

wire::address default_address(settings const& how) {
    auto const several = how.wire.find("addresses");
    if (several != how.wire.end()) return read_addresses(several->second).at(0);
    return wire::any_port(how.interface, how.family);
}

} // namespace assay::ofi
