// What the environment says. ASSAY_TRANSPORT=WORD+WORD… switches parts of the provider off or to another value,
// ASSAY_COUNTERS=DIR has each endpoint write its counters there, ASSAY_PCAP=DIR all that goes over its wire; ASSAY_FAULT=NAME plants a fault.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace assay::ofi {

// Defects that can be planted, each for a test to find.
enum class fault {
    none,
    stale_rematch,     // a receive that is posted while the body of its message is on its way does not get it
    inject_not_copied, // what fi_inject may not send yet, for want of credit, is read after it has returned
    cq_wrong_length,   // the completion of a receive says one byte too few
    wildcards_first,   // a receive from anybody gets what an older one from the sender should get
    unlocked,          // operations are begun without the domain's lock
    answers_believed,  // an answer that comes twice is taken twice
    atomic_late_fetch, // what an atomic operation returns is what it has made, not what was there
    access_unchecked,  // remote memory that may only be read is written
    local_unchecked,   // nobody looks at the descriptors that mr_local demands
    progress_asleep,   // FI_PROGRESS_AUTO: what has come waits for the program's next call
};

struct settings {
    // no_tagged, no_rma, no_atomic, no_cq_data, no_directed, no_source, no_multi_recv: not offered then.
    bool tagged = true, rma = true, atomic = true, cq_data = true, directed = true, source = true, multi_recv = true;
    // mr_virt_addr, mr_prov_key, mr_allocated: demanded of whoever registers memory. mr_local: of all that use some.
    int mr_mode = 0;
    std::size_t eager = 64 * 1024;        // eager=BYTES: longer messages are announced before they are sent
    std::size_t window = 4 * 1024 * 1024; // credit=BYTES: eager bytes for one peer that wait for a receive there
    std::size_t inject = 4 * 1024;        // inject=BYTES: the longest message that fi_inject takes
    std::string interface;                // interface=NAME: to listen at; default one that is not loopback
    int family = 0;                       // ip=4, ip=6: AF_INET, AF_INET6; default IPv4 where there is some
    std::string counters, pcap;           // folders; for a wire, its file
    fault planted = fault::none;
    std::string fault_name;                  // may be one of the transport's
    std::map<std::string, std::string> wire; // the transport's own switches, NAME=VALUE or NAME
    std::string wrong;                       // why nothing is offered: a word that is none of these
};

settings const& configured(); // read once
settings read_settings(char const* switches, char const* fault_name, char const* counters, char const* pcap = nullptr);

bool read_number(std::string_view text, std::size_t& value);

} // namespace assay::ofi
