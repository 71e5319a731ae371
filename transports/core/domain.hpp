// fabric and domain. A domain has one lock, which every function that a program calls takes first.
#pragma once
#include "transports/core/fid.hpp"
#include "transports/core/progress_thread.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <rdma/fi_domain.h>
#include <unordered_map>
#include <vector>

namespace assay::ofi {

class endpoint;
struct region;

struct fabric : fid_fabric {
    std::atomic<int> users{0}; // domains and event queues that are open
};

struct domain : fid_domain {
    fabric* in = nullptr;
    int users = 0;          // objects that are open
    bool virt_addr = false; // remote addresses are those of the target, not offsets in the region
    bool prov_key = false;  // keys are ours
    bool allocated = false; // there must be memory where a program registers some
    bool local = false;     // a program registers what it sends from and receives into, too
    std::uint64_t next_key = 1;
    std::unordered_map<std::uint64_t, region*> regions; // by key
    std::uint64_t next_descriptor = 1;
    std::unordered_map<void const*, region*> descriptors; // if programs have to pass them
    std::vector<endpoint*> endpoints;                     // that are open
    std::mutex mutex;
    std::unique_ptr<progress_thread> mover; // FI_PROGRESS_AUTO
};

using locked = std::lock_guard<std::mutex>;

int open_fabric(fi_fabric_attr* attributes, fid_fabric** made, void* context);
int open_domain(fid_fabric* in, fi_info* info, fid_domain** made, void* context);

} // namespace assay::ofi
