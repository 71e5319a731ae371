// FI_PROGRESS_AUTO: a thread of the domain moves its endpoints whenever something has come for them, so that no peer waits for a
// program that computes. Only programs that ask for it get the thread: the others are faster without.
#pragma once
#include <thread>

namespace assay::ofi {

struct domain;
class endpoint;

class progress_thread {
public:
    explicit progress_thread(domain& in);
    ~progress_thread(); // without the domain's lock
    progress_thread(progress_thread const&) = delete;
    progress_thread& operator=(progress_thread const&) = delete;

    // With the domain's lock. Which of its endpoints have something to do.
    void watch(endpoint& one);
    void leave(endpoint& one);

private:
    void run();

    domain& in_;
    int epoll_ = -1, end_ = -1; // end_ becomes readable
    std::thread thread_;
};

} // namespace assay::ofi
