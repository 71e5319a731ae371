// One rank's append-only record of what happened, outside MPI. Format: docs/formats.md section 4.
#pragma once
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace assay {

class event_log {
public:
    // Without open() nothing is written: that is a run by hand.
    void open(std::string const& path);
    bool active() const { return fd_ >= 0; }

    void hello(std::string_view json);
    void begin(long index);
    void finding(long index, std::string_view json);
    // Kept back until the next event, so that a case costs one write.
    void end(long index, char status, std::string_view reason);
    void erroneous();            // what comes next in the open case is no correct use of MPI
    void announce_end(int code); // what comes next has to end this process; code < 0: with any exit code
    void done();
    void bye();

    // From a signal handler: writes what was kept back, then the line. Async-signal-safe.
    void dying(char const* line, std::size_t size);
    long current() const { return current_; } // index of the open case, -1 outside any

    static long long now(); // CLOCK_MONOTONIC in nanoseconds

private:
    void append(std::string_view text, bool flush);
    void write_out();

    int fd_ = -1;
    volatile long current_ = -1;
    std::mutex mutex_;
    char pending_[4096];
    volatile std::size_t pending_size_ = 0;
};

event_log& events();

} // namespace assay
