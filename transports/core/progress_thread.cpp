#include "transports/core/progress_thread.hpp"

#include "transports/core/domain.hpp"
#include "transports/core/ep.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace assay::ofi {

progress_thread::progress_thread(domain& in) : in_(in) {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    end_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    epoll_event wanted{.events = EPOLLIN, .data = {}};
    if (epoll_ < 0 || end_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, end_, &wanted) < 0) {
        auto const error = errno;
        if (epoll_ >= 0) ::close(epoll_);
        if (end_ >= 0) ::close(end_);
        throw std::system_error(error, std::generic_category());
    }
    sigset_t all, before; // signals are for the program's threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

progress_thread::~progress_thread() {
    std::uint64_t const one = 1;
    (void)!::write(end_, &one, sizeof one);
    thread_.join();
    ::close(epoll_);
    ::close(end_);
}

void progress_thread::watch(endpoint& one) {
    epoll_event wanted{.events = EPOLLIN, .data = {.ptr = &one}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, one.wait_fd(), &wanted) < 0)
        throw std::system_error(errno, std::generic_category());
}

void progress_thread::leave(endpoint& one) { epoll_ctl(epoll_, EPOLL_CTL_DEL, one.wait_fd(), nullptr); }

void progress_thread::run() {
    while (true) {
        std::array<epoll_event, 16> events;
        int const count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
        for (int k = 0; k < count; ++k)
            if (!events[static_cast<std::size_t>(k)].data.ptr) return; // end_
        locked const lock(in_.mutex);
        if (net::planted(fault::progress_asleep)) continue;
        // All of them: one that an event was for may be gone since.
        for (auto* one : in_.endpoints) one->progress();
    }
}

} // namespace assay::ofi
