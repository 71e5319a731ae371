// ASSAY_YIELD_POLLS, see yielding.hpp. Apart from the rest, because a program that calls UCX itself must not have it.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sched.h>

namespace assay {
namespace {

using progress_call = unsigned (*)(void*);

// UCX's own procedure, as the library that calls finds it: it need not be among the program's own libraries.
progress_call progress_of(void const* caller) {
    Dl_info where{};
    if (dladdr(caller, &where) != 0)
        if (void* const library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD))
            if (void* const found = dlsym(library, "ucp_worker_progress"))
                return reinterpret_cast<progress_call>(found);
    std::fprintf(stderr, "assay: ucp_worker_progress was called by %s, which has none\n", where.dli_fname);
    std::abort();
}

long polls_before_yield() {
    char const* const text = std::getenv("ASSAY_YIELD_POLLS");
    return text != nullptr ? std::atol(text) : 0;
}

} // namespace
} // namespace assay

// The dynamic linker finds this definition before UCX's.
extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
    static assay::progress_call const progress = assay::progress_of(__builtin_return_address(0));
    static long const most = assay::polls_before_yield();
    thread_local long idle = 0;
    unsigned const found = progress(worker);
    if (found != 0) idle = 0;
    else if (most > 0 && ++idle > most) sched_yield();
    return found;
}
