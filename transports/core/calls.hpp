// What msg.cpp, tagged.cpp, rma.cpp and atomic.cpp share: a call of a program becomes one of an endpoint.
#pragma once
#include "transports/core/ep.hpp"

namespace assay::ofi {

// Runs with the domain's lock, on an endpoint that is enabled.
template <typename Function> ssize_t on(fid_ep* it, Function function) noexcept {
    return guarded([&]() -> ssize_t {
        auto& one = endpoint_of(it);
        std::unique_lock lock(one.in.mutex, std::defer_lock);
        if (configured().planted != fault::unlocked) lock.lock();
        if (!one.ready()) return -FI_EOPBADSTATE;
        return function(one);
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

} // namespace assay::ofi
