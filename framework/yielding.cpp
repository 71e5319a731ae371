#include "framework/yielding.hpp"

#include "framework/calls.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace assay {
namespace {

bool among_threads = false;

long polls_before_yield() {
    static long const most = [] {
        char const* const text = std::getenv("ASSAY_YIELD_POLLS");
        return text != nullptr ? std::atol(text) : 0;
    }();
    return most;
}

} // namespace

bool yields_polls() { return polls_before_yield() > 0; }

void polled(bool found) {
    thread_local long idle = 0;
    if (found) idle = 0;
    else if (yields_polls() && ++idle > polls_before_yield()) {
        idle = 0;
        sched_yield();
    }
}

void yield_among_threads() { among_threads = yields_polls(); }

int give_core_away() {
    constexpr int every = 128;
    thread_local int yields = 0;
    thread_local char const* waits_in = nullptr;
    if (char const* const procedure = last_call.name; procedure != waits_in) {
        waits_in = procedure;
        yields = 0;
    }
    bool const sleeps = among_threads || (yields_polls() && ++yields % every == 0);
    if (!sleeps) return static_cast<int>(syscall(SYS_sched_yield));
    timespec const shortest{0, 1};
    nanosleep(&shortest, nullptr); // a signal may end it: all the better
    return 0;
}

void* hidden_by_us(char const* name, void const* caller) {
    Dl_info where{};
    if (dladdr(caller, &where) != 0)
        if (void* const library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD))
            if (void* const found = dlsym(library, name)) return found;
    std::fprintf(stderr, "assay: %s was called by %s, which has none\n", name, where.dli_fname);
    std::abort();
}

} // namespace assay

// The dynamic linker finds this definition before the C library's. Weak, for programs that have one of their own.
extern "C" __attribute__((visibility("default"), weak)) int sched_yield() noexcept { return assay::give_core_away(); }
