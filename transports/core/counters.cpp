#include "transports/core/counters.hpp"

#include <cstdio>
#include <unistd.h>

namespace assay::ofi {

std::string file_of_endpoint(std::string const& folder, char const* provider, unsigned number, char const* ending) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    return folder + '/' + provider + '.' + host + '.' + std::to_string(getpid()) + '.' + std::to_string(number) +
           ending;
}

void traffic::write(net::counters const& wire, bool closed) const {
    if (path.empty()) return;
    auto const unfinished = path + ".new";
    auto* const file = std::fopen(unfinished.c_str(), "we");
    if (!file) return; // a folder that is gone is no reason to fail an operation
    auto const entry = [file](char const* name, std::uint64_t value) {
        std::fprintf(file, "\"%s\": %llu, ", name, static_cast<unsigned long long>(value));
    };
    std::fputs("{", file);
    entry("remote", remote);
    entry("eager", eager);
    entry("offered", offered);
    entry("bulk", bulk);
    entry("writes", writes);
    entry("reads", reads);
    entry("atomics", atomics);
    entry("bytes", bytes);
    entry("received", received);
    entry("unexpected", unexpected);
    entry("received_bytes", received_bytes);
    entry("credits", credits);
    entry("cut", cut);
    entry("failed", failed);
    entry("wire_frames_sent", wire.frames_sent);
    entry("wire_frames_received", wire.frames_received);
    entry("wire_bytes_sent", wire.bytes_sent);
    entry("wire_bytes_received", wire.bytes_received);
    entry("wire_connections", wire.connections);
    entry("wire_accepted", wire.accepted);
    entry("wire_writes", wire.writes);
    entry("wire_reads", wire.reads);
    entry("wire_held", wire.held);
    entry("wire_dropped", wire.dropped);
    entry("wire_bytes_aside", wire.bytes_aside);
    entry("wire_paths_lost", wire.paths_lost);
    std::fprintf(file, "\"closed\": %s}\n", closed ? "true" : "false");
    if (std::fclose(file) == 0) (void)std::rename(unfinished.c_str(), path.c_str());
}

} // namespace assay::ofi
