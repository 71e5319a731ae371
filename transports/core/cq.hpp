// Completion queue: what has ended, in any of libfabric's formats. Reading it moves the endpoints that are bound to it.
#pragma once
#include "transports/core/domain.hpp"

#include <deque>
#include <rdma/fi_eq.h>
#include <vector>

namespace assay::ofi {

class endpoint;

struct completion {
    void* context = nullptr;
    std::uint64_t flags = 0;
    std::size_t size = 0;
    void* buffer = nullptr;
    std::uint64_t data = 0;
    std::uint64_t tag = 0;
    fi_addr_t from = FI_ADDR_NOTAVAIL;
    std::size_t cut = 0; // bytes that had no room
    int error = 0;
};

class completion_queue : public fid_cq {
public:
    completion_queue(domain& in, fi_cq_attr const& attributes);
    ~completion_queue();

    // All but may_sleep(), wait() and wake() with the domain's lock held.
    void push(completion const& it);
    void bind(endpoint& one);
    void unbind(endpoint& one);
    bool bound() const { return !endpoints_.empty(); }
    ssize_t read(void* buffer, std::size_t count, fi_addr_t* from);
    ssize_t read_error(fi_cq_err_entry* to);
    int control(int command, void* argument);

    bool may_sleep(); // nothing is here, and the descriptor becomes readable when that changes
    ssize_t wait(void* buffer, std::size_t count, fi_addr_t* from, int timeout);
    void wake();

    domain& in;

private:
    void advance();

    fi_cq_format format_;
    std::deque<completion> entries_;
    std::vector<endpoint*> endpoints_;
    int epoll_ = -1, event_ = -1; // to sleep on, where the program wants to
    bool woken_ = false;          // by wake()
    unsigned idle_ = 0;           // reads in a row without anything
};

int open_cq(domain& in, fi_cq_attr* attributes, fid_cq** made, void* context);

} // namespace assay::ofi
