// Waits for peers that may be slow, but not for peers that make no progress at all.
#pragma once
#include <chrono>
#include <poll.h>

namespace assay::net {

// Waits until left() is 0; gives up when it has not become less for `limit`. Between two looks it sleeps until `fd` is readable, for at
// most 1 ms (no event announces acknowledgements), and calls move(). Returns whether nothing is left.
template <typename Left, typename Move> bool linger(int fd, std::chrono::milliseconds limit, Left left, Move move) {
    using clock = std::chrono::steady_clock;
    auto until = clock::now() + limit;
    for (auto least = left(); least > 0;) {
        if (clock::now() >= until) return false;
        pollfd one{fd, POLLIN, 0};
        ::poll(&one, 1, 1);
        move();
        if (auto const now = left(); now < least) {
            least = now;
            until = clock::now() + limit;
        }
    }
    return true;
}

} // namespace assay::net
