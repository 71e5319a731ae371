#include "framework/yielding/yielding.hpp"

#include "framework/process/calls.hpp"

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

long number(char const* variable) {
    char const* const text = std::getenv(variable);
    return text != nullptr ? std::atol(text) : 0;
}

yield_settings const& settings() {
    static yield_settings const of_process = settings_of_environment();
    return of_process;
}
long polls_before_yield() { return settings().polls; }

} // namespace

yield_settings settings_of_environment() { return {number("ASSAY_YIELD_POLLS"), number("ASSAY_YIELD_EVERY")}; }

bool yields_polls() { return polls_before_yield() > 0; }

void polled(bool found) {
    thread_local long idle = 0;
    if (found) idle = 0;
    else if (yields_polls() && ++idle > polls_before_yield()) {
        idle = 0;
        sched_yield();
    }
}

void yield_among_threads() { among_threads = true; }

void keep_to_a_core(int rank) {
    cpu_set_t allowed;
    if (!yields_polls() || among_threads || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    int skipped = rank % CPU_COUNT(&allowed), core = 0;
    while (!CPU_ISSET(core, &allowed) || skipped-- > 0) ++core;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    sched_setaffinity(0, sizeof own, &own); // where it may not, it runs where the kernel likes, as before
}

int give_core_away() {
    constexpr long yields_before_sleep = 128;
    long const looks = settings().every > 0 ? settings().every : 1;
    if (looks == 1 && !yields_polls()) return static_cast<int>(syscall(SYS_sched_yield)); // as without us
    thread_local long calls = 0;
    thread_local char const* waits_in = nullptr;
    if (char const* const procedure = last_call.name; procedure != waits_in) {
        waits_in = procedure;
        calls = 0;
    }
    if (!among_threads && ++calls % looks != 0) return 0;
    bool const sleeps = yields_polls() && (among_threads || calls % (looks * yields_before_sleep) == 0);
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
