#include "framework/native/patience.hpp"

#include <chrono>
#include <ctime>
#include <sched.h>

namespace assay::native {
namespace {

// CPU time of this thread: on a busy machine waiting takes longer, not more of it.
double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
constexpr double long_patience = 1.5, short_patience = 0.1;
constexpr auto wall_patience = std::chrono::seconds(8); // where the library sleeps in its calls

} // namespace

bool patience::until(std::function<bool()> const& holds, std::function<void()> const& progress) {
    auto const begin = cpu_seconds();
    auto const limit = std::chrono::steady_clock::now() + wall_patience;
    while (!holds()) {
        progress();
        if (cpu_seconds() - begin > (late_ ? short_patience : long_patience) ||
            std::chrono::steady_clock::now() > limit) {
            late_ = true;
            return false;
        }
        sched_yield();
    }
    return true;
}

} // namespace assay::native
