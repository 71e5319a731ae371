#include "framework/process/calls.hpp"

#include <atomic>
#include <unistd.h>

namespace assay {
namespace {

struct slot {
    std::atomic<bool> taken{false};
    std::atomic<pid_t> thread{0};
    std::atomic<call_trace*> trace{nullptr};
};
constinit slot slots[128]; // --threads goes up to 64

} // namespace

thread_of_case::thread_of_case() : slot_(-1) {
    for (int k = 0; k < static_cast<int>(std::size(slots)); ++k)
        if (!slots[k].taken.exchange(true)) {
            slot_ = k;
            slots[k].trace = &last_call;
            slots[k].thread = gettid();
            return;
        }
}

thread_of_case::~thread_of_case() {
    if (slot_ < 0) return;
    slots[slot_].thread = 0;
    slots[slot_].trace = nullptr;
    slots[slot_].taken = false;
}

int thread_inside_a_call() {
    for (auto const& s : slots)
        if (pid_t const thread = s.thread; thread != 0)
            if (auto const* const trace = s.trace.load(); trace != nullptr && trace->inside) return thread;
    return 0;
}

} // namespace assay
