// What an endpoint has done, as one JSON object in a file of its own: <folder>/<provider>.<host>.<process>.<number>.json.
//
// It is written when the endpoint is closed, and whenever the number of frames has doubled, so that a process that is
// killed leaves it, too.
#pragma once
#include "transports/net/wire.hpp"

#include <cstdint>
#include <string>

namespace assay::ofi {

// What the endpoint itself has begun or received. `remote` counts frames that were sent to other endpoints than itself.
struct traffic {
    std::uint64_t eager = 0, offered = 0, bulk = 0, writes = 0, reads = 0, atomics = 0, bytes = 0; // sent
    std::uint64_t received = 0, unexpected = 0, received_bytes = 0;
    std::uint64_t credits = 0, remote = 0, cut = 0, failed = 0;

    std::uint64_t next_note = 1; // number of remote frames at which it is written again
    std::string path;

    void write(net::counters const& wire, bool closed) const;
};

// A file of one endpoint in a folder; the same number for all that it writes.
std::string file_of_endpoint(std::string const& folder, char const* provider, unsigned number, char const* ending);

} // namespace assay::ofi
