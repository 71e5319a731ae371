// What the environment says. ASSAY_TRANSPORT=WORD+WORD… switches parts of the provider off or to another value,
// ASSAY_COUNTERS=DIR has each endpoint write its counters there, ASSAY_PCAP=DIR all that goes over its wire.
#pragma once
#include "transports/net/transport.hpp"

#include <cstddef>
#include <string>

namespace assay::ofi {

struct settings {
    // no_tagged, no_rma, no_atomic, no_cq_data, no_directed, no_source, no_multi_recv: not offered then.
    bool tagged = true, rma = true, atomic = true, cq_data = true, directed = true, source = true, multi_recv = true;
    // mr_virt_addr, mr_prov_key, mr_allocated: demanded of whoever registers memory. mr_local: of all that use some.
    int mr_mode = 0;
    std::size_t eager = 64 * 1024;        // eager=BYTES: longer messages are announced before they are sent
    std::size_t window = 4 * 1024 * 1024; // credit=BYTES: eager bytes for one peer that wait for a receive there
    std::size_t inject = 4 * 1024;        // inject=BYTES: the longest message that fi_inject takes
    std::string counters, pcap;           // folders
    // interface=NAME: to listen at; default one that is not loopback. ip=4, ip=6: default IPv4 where there is some. And the
    // transport's own switches.
    net::configuration wire;
    std::string wrong; // why nothing is offered: a word that is none of these
};

settings const& configured(); // read once
settings read_settings(char const* switches, char const* counters, char const* pcap = nullptr);

} // namespace assay::ofi
