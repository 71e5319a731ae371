// Address vector: numbers for addresses. Maps and tables are the same: a number is the position of an insertion.
#pragma once
#include "transports/core/domain.hpp"
#include "transports/net/wire.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace assay::ofi {

struct address_vector : fid_av {
    domain* in = nullptr;
    struct event_queue* events = nullptr;
    bool by_event = false;                             // insertions are reported there
    int users = 0;                                     // endpoints
    std::vector<net::address> entries;                 // "": removed
    std::unordered_map<net::address, fi_addr_t> first; // the first insertion of an address

    // FI_ADDR_NOTAVAIL if it is not here.
    fi_addr_t find(net::address const& where) const {
        auto const at = first.find(where);
        return at == first.end() ? FI_ADDR_NOTAVAIL : at->second;
    }
};

// Bytes of a socket address, from what a program passes; "" if it is none that can be reached.
net::address address_from(void const* bytes);
std::string to_text(net::address const& where); // fi_sockaddr_in://127.0.0.1:5000

int open_av(domain& in, fi_av_attr* attributes, fid_av** made, void* context);

} // namespace assay::ofi
