// What msg.cpp, tagged.cpp, rma.cpp and atomic.cpp share: a call of a program becomes one of an endpoint.
#pragma once
#include "transports/core/ep.hpp"
#include "transports/core/mr.hpp"

namespace assay::ofi {

// Runs with the domain's lock, on an endpoint that is enabled.
template <typename Function> ssize_t on(fid_ep* it, Function function) noexcept {
    return guarded([&]() -> ssize_t {
        auto& one = endpoint_of(it);
        std::unique_lock lock(one.in.mutex, std::defer_lock);
        if (!net::planted(fault::unlocked)) lock.lock();
        if (!one.ready()) return -FI_EOPBADSTATE;
        return function(one);
    });
}

// The same, with the memory of the call.
template <typename Function> ssize_t on(fid_ep* it, local_memory const& memory, Function function) noexcept {
    if (memory.pieces.size() > most_pieces) return -FI_EINVAL;
    return on(it, [&](endpoint& one) -> ssize_t {
        if (one.in.local && !described(one.in, memory)) return -FI_EINVAL;
        return function(one, pieces(memory.pieces));
    });
}

// How calls without flags send: as the endpoint was set up.
inline manner usual_send(endpoint const& by, fi_addr_t to, void* context) {
    auto const flags = by.usual_send_flags();
    return {.peer = to, .context = context, .flags = flags, .report = by.reports_send(flags)};
}

inline manner usual_receive(endpoint const& by, fi_addr_t from, void* context) {
    auto const flags = by.usual_receive_flags();
    return {.peer = from, .context = context, .flags = flags, .report = by.reports_receive(flags)};
}

// fi_inject and its kin: copied, and never reported.
inline manner injected(fi_addr_t to) { return {.peer = to, .flags = FI_INJECT, .report = false}; }

inline manner with(manner how, std::uint64_t data) {
    how.with_data = true;
    how.data = data;
    return how;
}

// Calls with flags of their own.
template <typename Message> manner said_send(endpoint const& by, Message const& it, std::uint64_t flags) {
    return {.peer = it.addr,
            .context = it.context,
            .flags = flags,
            .report = by.reports_send(flags),
            .with_data = (flags & FI_REMOTE_CQ_DATA) != 0,
            .data = it.data};
}

template <typename Message> manner said_receive(endpoint const& by, Message const& it, std::uint64_t flags) {
    return {.peer = it.addr, .context = it.context, .flags = flags, .report = by.reports_receive(flags)};
}

// The memory that a call with flags sends from: what is copied at once needs no descriptor.
template <typename Message> local_memory sent_from(Message const& it, std::uint64_t flags, std::uint64_t access) {
    return {{it.msg_iov, it.iov_count}, it.desc, flags & FI_INJECT ? 0 : access};
}

// The memory that a call with flags receives into. Looking for a message and dropping it need none, whatever stands there.
template <typename Message> local_memory received_into(Message const& it, std::uint64_t flags) {
    if (flags & (FI_PEEK | FI_DISCARD)) return {};
    return {{it.msg_iov, it.iov_count}, it.desc, FI_RECV};
}

} // namespace assay::ofi
