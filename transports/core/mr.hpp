// Registered memory, and who may do what with it.
#pragma once
#include "transports/core/domain.hpp"

#include <sys/uio.h>
#include <vector>

namespace assay::ofi {

class endpoint;

struct region : fid_mr {
    domain* in = nullptr;
    std::byte* base = nullptr;
    std::size_t size = 0;
    std::uint64_t offset = 0; // remote address of the first byte
    std::uint64_t access = 0;
    // Writes into it that are on their way, with the endpoint that takes them.
    std::vector<std::pair<endpoint*, void*>> arriving;
};

// The memory that `key` and `address` name, if `size` bytes of it may be used for `access` (FI_REMOTE_READ or
// FI_REMOTE_WRITE). Otherwise null, and `error` says why.
std::byte* find_memory(domain& in, std::uint64_t key, std::uint64_t address, std::uint64_t size, std::uint64_t access,
                       int& error);

extern fi_ops_mr mr_ops;

} // namespace assay::ofi
