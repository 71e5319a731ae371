// Registered memory, and who may do what with it.
#pragma once
#include "transports/core/domain.hpp"

#include <span>
#include <sys/uio.h>
#include <vector>

namespace assay::ofi {

class endpoint;
struct counter;
struct reply;

struct region : fid_mr {
    domain* in = nullptr;
    std::byte* base = nullptr;
    std::size_t size = 0;
    std::uint64_t offset = 0; // remote address of the first byte
    std::uint64_t access = 0;
    // Writes into it that are on their way, with the endpoint that takes them.
    std::vector<std::pair<endpoint*, void*>> arriving;
    // Answers that take their data from it, with the endpoint that sends them.
    std::vector<std::pair<endpoint*, reply*>> leaving;
    counter* writes = nullptr; // counts those that have changed it
};

// The memory that `key` and `address` name, if `size` bytes of it may be used for `access` (FI_REMOTE_READ or
// FI_REMOTE_WRITE). Otherwise null, and `error` says why.
std::byte* find_memory(domain& in, std::uint64_t key, std::uint64_t address, std::uint64_t size, std::uint64_t access,
                       int& error);

// Memory of a call that uses it here, with the descriptors that the program passes: one for each piece, or none.
struct local_memory {
    std::span<iovec const> pieces;
    void* const* descriptors = nullptr;
    std::uint64_t access = 0; // FI_SEND, FI_RECV, FI_READ or FI_WRITE; 0: none are asked for
};

// Whether each piece lies in the region that its descriptor stands for. Says on stderr what is wrong.
bool described(domain const& in, local_memory const& what);

extern fi_ops_mr mr_ops;

} // namespace assay::ofi
