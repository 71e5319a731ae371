// The time slices of ranks that share a core. Some libraries spin while they wait, so that a message takes as long as the
// slices of all other ranks of the core together: milliseconds instead of microseconds.
//
// With ASSAY_YIELD_POLLS=N a rank yields its core once UCX has found nothing N times in a row: this costs nothing while there
// are messages, but works only where UCX is what the library waits for. Any of the others takes what follows.
#pragma once

#include <ctime>
#include <optional>

namespace assay {

// While it lives, its thread yields the core every ASSAY_YIELD microseconds, if that is set.
class yielding {
public:
    yielding();
    ~yielding();
    yielding(yielding const&) = delete;
    yielding& operator=(yielding const&) = delete;

private:
    std::optional<timer_t> timer_;
};

} // namespace assay
