// ASSAY_YIELD_POLLS for what waits for UCX, see yielding.hpp. Apart from the rest, because a program that calls UCX itself must not
// have it.
#include "framework/yielding/yielding.hpp"

// The dynamic linker finds this definition before UCX's.
extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
    using progress_call = unsigned (*)(void*);
    static auto const progress =
        reinterpret_cast<progress_call>(assay::hidden_by_us("ucp_worker_progress", __builtin_return_address(0)));
    unsigned const found = progress(worker);
    assay::polled(found != 0);
    return found;
}
