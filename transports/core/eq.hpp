// Event queue: insertions into address vectors, and peers that were lost.
#pragma once
#include "transports/core/domain.hpp"

#include <condition_variable>
#include <deque>
#include <rdma/fi_eq.h>
#include <vector>

namespace assay::ofi {

struct event_queue : fid_eq {
    struct event {
        std::uint32_t what = 0;
        std::vector<std::byte> entry;
        int error = 0; // then entry is a fi_eq_entry
    };

    fabric* in = nullptr;
    std::atomic<int> users{0}; // endpoints and address vectors that report here
    std::mutex mutex;          // of its own: it belongs to no domain
    std::condition_variable filled;
    std::deque<event> events;

    void add(std::uint32_t what, void const* entry, std::size_t size, int error);
    void tell(std::uint32_t what, fi_eq_entry const& entry);
    void report(::fid* about, void* context, std::uint64_t data, int error);
};

int open_eq(fid_fabric* in, fi_eq_attr* attributes, fid_eq** made, void* context);

} // namespace assay::ofi
