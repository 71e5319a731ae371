#include "transports/core/cq.hpp"

#include "transports/core/ep.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace assay::ofi {
namespace {

constexpr unsigned patience = 64; // idle reads before another process gets the core

completion_queue& of(fid_cq* it) { return static_cast<completion_queue&>(*it); }

std::size_t entry_size(fi_cq_format format) {
    switch (format) {
    case FI_CQ_FORMAT_CONTEXT: return sizeof(fi_cq_entry);
    case FI_CQ_FORMAT_MSG: return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA: return sizeof(fi_cq_data_entry);
    default: return sizeof(fi_cq_tagged_entry);
    }
}

int close(fid* it) {
    auto& queue = object_of<completion_queue, fid_cq>(it);
    auto& in = queue.in;
    locked const lock(in.mutex);
    if (queue.bound()) return -FI_EBUSY;
    --in.users;
    delete &queue;
    return 0;
}

int control(fid* it, int command, void* argument) {
    return object_of<completion_queue, fid_cq>(it).control(command, argument);
}

ssize_t read_from(fid_cq* it, void* buffer, std::size_t count, fi_addr_t* from) {
    return guarded([&]() -> ssize_t {
        auto& queue = of(it);
        locked const lock(queue.in.mutex);
        return queue.read(buffer, count, from);
    });
}

ssize_t read(fid_cq* it, void* buffer, std::size_t count) { return read_from(it, buffer, count, nullptr); }

ssize_t read_error(fid_cq* it, fi_cq_err_entry* to, std::uint64_t) {
    auto& queue = of(it);
    locked const lock(queue.in.mutex);
    return queue.read_error(to);
}

ssize_t wait_from(fid_cq* it, void* buffer, std::size_t count, fi_addr_t* from, void const*, int timeout) {
    return guarded([&]() -> ssize_t { return of(it).wait(buffer, count, from, timeout); });
}

ssize_t wait(fid_cq* it, void* buffer, std::size_t count, void const* condition, int timeout) {
    return wait_from(it, buffer, count, nullptr, condition, timeout);
}

int signal(fid_cq* it) {
    of(it).wake();
    return 0;
}

char const* text(fid_cq*, int error, void const*, char* buffer, std::size_t size) {
    return error_text(error, buffer, size);
}

fi_ops fid_ops{sizeof(fi_ops), close, not_offered, control, not_offered, not_offered, not_offered};
fi_ops_cq ops{sizeof(fi_ops_cq), read, read_from, read_error, wait, wait_from, signal, text};

} // namespace

completion_queue::completion_queue(domain& domain, fi_cq_attr const& attributes)
    : in(domain), format_(attributes.format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : attributes.format) {
    ops = &assay::ofi::ops;
    if (attributes.wait_obj == FI_WAIT_NONE) return;
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    epoll_event wanted{.events = EPOLLIN, .data = {}};
    if (epoll_ < 0 || event_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &wanted) < 0) {
        auto const error = errno;
        if (epoll_ >= 0) ::close(epoll_);
        if (event_ >= 0) ::close(event_);
        throw std::system_error(error, std::generic_category());
    }
}

completion_queue::~completion_queue() {
    if (epoll_ >= 0) ::close(epoll_);
    if (event_ >= 0) ::close(event_);
}

void completion_queue::bind(endpoint& one) {
    if (std::find(endpoints_.begin(), endpoints_.end(), &one) != endpoints_.end()) return;
    endpoints_.push_back(&one);
    epoll_event wanted{.events = EPOLLIN, .data = {}};
    if (epoll_ >= 0) epoll_ctl(epoll_, EPOLL_CTL_ADD, one.wait_fd(), &wanted);
}

void completion_queue::unbind(endpoint& one) {
    std::erase(endpoints_, &one);
    if (epoll_ >= 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, one.wait_fd(), nullptr);
}

void completion_queue::push(completion const& it) {
    entries_.push_back(it);
    std::uint64_t const one = 1;
    if (event_ >= 0 && entries_.size() == 1) (void)!::write(event_, &one, sizeof one);
}

void completion_queue::advance() {
    bool moved = false;
    for (auto* one : endpoints_) moved |= one->progress();
    if (moved || !entries_.empty()) idle_ = 0;
    else if (++idle_ > patience) sched_yield();
}

ssize_t completion_queue::read(void* buffer, std::size_t count, fi_addr_t* from) {
    // What is there already first: a program that reads one at a time does not ask the system each time.
    if (entries_.empty()) advance();
    if (entries_.empty()) return -FI_EAGAIN;
    if (entries_.front().error) return -FI_EAVAIL;
    auto const size = entry_size(format_);
    auto* at = static_cast<std::byte*>(buffer);
    std::size_t done = 0;
    for (; done < count && !entries_.empty() && !entries_.front().error; ++done) {
        auto const& first = entries_.front();
        // Each format begins with the one before it.
        fi_cq_tagged_entry const whole{first.context, first.flags, first.size, first.buffer, first.data, first.tag};
        std::memcpy(at, &whole, size);
        at += size;
        if (from) from[done] = first.from;
        entries_.pop_front();
    }
    return static_cast<ssize_t>(done);
}

// Field by field: the struct has grown since the headers that this is compiled with.
ssize_t completion_queue::read_error(fi_cq_err_entry* to) {
    if (entries_.empty() || !entries_.front().error) return -FI_EAGAIN;
    auto const& first = entries_.front();
    to->op_context = first.context;
    to->flags = first.flags;
    to->len = first.size;
    to->buf = first.buffer;
    to->data = first.data;
    to->tag = first.tag;
    to->olen = first.cut;
    to->err = errno_of(first.error);
    to->prov_errno = first.error;
    to->err_data_size = 0;
    entries_.pop_front();
    return 1;
}

int completion_queue::control(int command, void* argument) {
    if (command == FI_GETWAITOBJ) {
        *static_cast<fi_wait_obj*>(argument) = epoll_ < 0 ? FI_WAIT_NONE : FI_WAIT_FD;
        return 0;
    }
    if (command != FI_GETWAIT || epoll_ < 0) return -FI_ENOSYS;
    *static_cast<int*>(argument) = epoll_;
    return 0;
}

bool completion_queue::may_sleep() {
    locked const lock(in.mutex);
    if (epoll_ < 0) return true;
    advance();
    if (!entries_.empty() || woken_) {
        woken_ = false;
        return false;
    }
    std::uint64_t ignored = 0;
    (void)!::read(event_, &ignored, sizeof ignored);
    return true;
}

// timeout in milliseconds, negative: for ever.
ssize_t completion_queue::wait(void* buffer, std::size_t count, fi_addr_t* from, int timeout) {
    if (epoll_ < 0) return -FI_ENOSYS;
    using clock = std::chrono::steady_clock;
    auto const until = clock::now() + std::chrono::milliseconds(timeout);
    while (true) {
        {
            locked const lock(in.mutex);
            auto const got = read(buffer, count, from);
            if (got != -FI_EAGAIN) return got;
            if (std::exchange(woken_, false)) return -FI_EAGAIN;
            std::uint64_t ignored = 0;
            (void)!::read(event_, &ignored, sizeof ignored);
        }
        int left = -1;
        if (timeout >= 0) {
            auto const rest = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
            if (rest <= 0) return -FI_EAGAIN;
            left = static_cast<int>(rest);
        }
        pollfd one{epoll_, POLLIN, 0};
        ::poll(&one, 1, left);
    }
}

void completion_queue::wake() {
    locked const lock(in.mutex);
    woken_ = true;
    std::uint64_t const one = 1;
    if (event_ >= 0) (void)!::write(event_, &one, sizeof one);
}

int open_cq(domain& in, fi_cq_attr* attributes, fid_cq** made, void* context) {
    fi_cq_attr const wish = attributes ? *attributes : fi_cq_attr{};
    if (wish.wait_obj != FI_WAIT_NONE && wish.wait_obj != FI_WAIT_UNSPEC && wish.wait_obj != FI_WAIT_FD)
        return -FI_ENOSYS;
    if (wish.wait_cond != FI_CQ_COND_NONE && wish.wait_cond != FI_CQ_COND_THRESHOLD) return -FI_ENOSYS;
    auto* const queue = new completion_queue(in, wish);
    queue->fid = {FI_CLASS_CQ, context, &fid_ops};
    locked const lock(in.mutex);
    ++in.users;
    *made = queue;
    return 0;
}

} // namespace assay::ofi
