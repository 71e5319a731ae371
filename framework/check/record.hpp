// What the checks of a case found. Checks record and go on: no rank leaves a communication early.
#pragma once
#include <mutex>
#include <source_location>
#include <string>
#include <vector>

namespace assay {

enum class level { must, advisory }; // advisory: fails the case only under --strict

class recorder {
public:
    // Any thread of the case.
    void add(char const* check, level severity, std::string message, std::source_location where, int thread = 0);

    void begin(long index);
    bool failed(bool strict) const { return must_ > 0 || (strict && advisory_ > 0); }
    std::vector<std::string> const& messages() const { return messages_; }

private:
    std::mutex mutex_;
    long index_ = -1;
    int must_ = 0, advisory_ = 0;
    std::vector<std::string> messages_;
};

// "suites/p2p/ring.cpp:31"
std::string place(std::source_location where);

} // namespace assay
