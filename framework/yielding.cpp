#include "framework/yielding.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>

namespace assay {

yielding::yielding() {
    char const* text = std::getenv("ASSAY_YIELD");
    if (text == nullptr) return;
    int const number = SIGRTMIN + 7;
    struct sigaction action {};
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    action.sa_handler = [](int) {
        int const saved = errno;
        sched_yield();
        errno = saved;
    };
    sigaction(number, &action, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = number;
    event._sigev_un._tid = gettid(); // what newer C libraries call sigev_notify_thread_id
    timer_t made{};
    if (timer_create(CLOCK_MONOTONIC, &event, &made) != 0) return; // then it is slow
    timer_ = made;
    itimerspec spec{};
    spec.it_interval.tv_nsec = 1000 * std::clamp(std::atol(text), 20L, 100'000L);
    spec.it_value = spec.it_interval;
    timer_settime(made, 0, &spec, nullptr);
}

yielding::~yielding() {
    if (timer_) timer_delete(*timer_);
}

} // namespace assay
