// What a transport brings: assay::NAME::transport, defined in NAME/transport.cpp. The provider assay_NAME, the tests of all
// wires and the programs that measure take it from there (assay_transport() in transports/CMakeLists.txt).
#pragma once
#include "transports/net/wire.hpp"

#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::net {

// How one wire is to be made.
struct configuration {
    std::map<std::string, std::string, std::less<>> switches = {}; // those of the transport: NAME to VALUE, or to ""
    std::string interface = {};                                    // to listen at; empty: the transport chooses
    int family = 0;                                                // AF_INET, AF_INET6; 0: the transport chooses
    std::string pcap = {};                                         // the file for what goes over the wire; empty: none
};

struct transport {
    char const* name;
    // Whether this is one of its switches, with a value that it can have. NAME/transport.toml lists them for users.
    bool (*takes)(std::string_view name, std::string_view value);
    // Throws std::system_error, here and below.
    std::unique_ptr<wire> (*make)(sink& to, configuration const& how);
    // Where a wire listens when nobody says where.
    address (*default_address)(configuration const& how);
    // A peer whose process stands still counts as gone, although its system would answer.
    bool needs_live_peers = false;
};

// A transport with some of its switches ("streams=4", several with a plus between them).
struct variant {
    transport const* of;
    char const* switches;
};
// All that there are, each first without switches: transport.cmake makes the table, for tests.
std::vector<variant> const& transports();

// False unless all of the text is a number that the type holds.
template <typename Number> bool read_number(std::string_view text, Number& value) {
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

} // namespace assay::net
