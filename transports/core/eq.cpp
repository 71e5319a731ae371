#include "transports/core/eq.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace assay::ofi {
namespace {

event_queue& of(fid_eq* it) { return static_cast<event_queue&>(*it); }

int close(fid* it) {
    auto& queue = object_of<event_queue, fid_eq>(it);
    if (queue.users > 0) return -FI_EBUSY;
    --queue.in->users;
    delete &queue;
    return 0;
}

// With the lock held.
ssize_t take(event_queue& queue, std::uint32_t* what, void* buffer, std::size_t size, std::uint64_t flags) {
    if (queue.events.empty()) return -FI_EAGAIN;
    auto const& first = queue.events.front();
    if (first.error) return -FI_EAVAIL;
    if (size < first.entry.size()) return -FI_ETOOSMALL;
    *what = first.what;
    std::memcpy(buffer, first.entry.data(), first.entry.size());
    auto const got = static_cast<ssize_t>(first.entry.size());
    if (!(flags & FI_PEEK)) queue.events.pop_front();
    return got;
}

ssize_t read(fid_eq* it, std::uint32_t* what, void* buffer, std::size_t size, std::uint64_t flags) {
    auto& queue = of(it);
    locked const lock(queue.mutex);
    return take(queue, what, buffer, size, flags);
}

// timeout in milliseconds, negative: for ever.
ssize_t wait_and_read(fid_eq* it, std::uint32_t* what, void* buffer, std::size_t size, int timeout,
                      std::uint64_t flags) {
    auto& queue = of(it);
    std::unique_lock lock(queue.mutex);
    auto const there = [&] { return !queue.events.empty(); };
    if (timeout < 0) queue.filled.wait(lock, there);
    else queue.filled.wait_for(lock, std::chrono::milliseconds(timeout), there);
    return take(queue, what, buffer, size, flags);
}

ssize_t read_error(fid_eq* it, fi_eq_err_entry* to, std::uint64_t flags) {
    auto& queue = of(it);
    locked const lock(queue.mutex);
    if (queue.events.empty() || !queue.events.front().error) return -FI_EAGAIN;
    fi_eq_entry entry;
    std::memcpy(&entry, queue.events.front().entry.data(), sizeof entry);
    to->fid = entry.fid;
    to->context = entry.context;
    to->data = entry.data;
    to->err = queue.events.front().error;
    to->prov_errno = to->err;
    to->err_data = nullptr;
    to->err_data_size = 0;
    if (!(flags & FI_PEEK)) queue.events.pop_front();
    return sizeof(fi_eq_err_entry);
}

ssize_t write(fid_eq* it, std::uint32_t what, void const* buffer, std::size_t size, std::uint64_t) {
    return guarded([&]() -> ssize_t {
        auto& queue = of(it);
        queue.add(what, buffer, size, 0);
        return static_cast<ssize_t>(size);
    });
}

char const* text(fid_eq*, int error, void const*, char* buffer, std::size_t size) {
    return error_text(error, buffer, size);
}

fi_ops fid_ops{sizeof(fi_ops), close, not_offered, not_offered, not_offered, not_offered, not_offered};
fi_ops_eq ops{sizeof(fi_ops_eq), read, read_error, write, wait_and_read, text};

} // namespace

void event_queue::add(std::uint32_t what, void const* entry, std::size_t size, int error) {
    auto const* const bytes = static_cast<std::byte const*>(entry);
    locked const lock(mutex);
    events.push_back({what, {bytes, bytes + size}, error});
    filled.notify_all();
}

void event_queue::tell(std::uint32_t what, fi_eq_entry const& entry) { add(what, &entry, sizeof entry, 0); }

void event_queue::report(::fid* about, void* context, std::uint64_t data, int error) {
    fi_eq_entry const entry{about, context, data};
    add(0, &entry, sizeof entry, error);
}

int open_eq(fid_fabric* in, fi_eq_attr* attributes, fid_eq** made, void* context) {
    return guarded([&] {
        if (attributes && attributes->wait_obj != FI_WAIT_NONE && attributes->wait_obj != FI_WAIT_UNSPEC)
            return -FI_ENOSYS;
        auto* const queue = new event_queue;
        initialize(static_cast<fid_eq&>(*queue), FI_CLASS_EQ, context, fid_ops);
        queue->ops = &ops;
        queue->in = &static_cast<fabric&>(*in);
        ++queue->in->users;
        *made = queue;
        return 0;
    });
}

} // namespace assay::ofi
