// What the checks of a case found. Checks record and go on: no rank leaves a communication early.
#pragma once
#include "framework/check/requirement.hpp"

#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace assay {

// What kind of thing is wrong: its name in the code, its name in event logs, cases.jsonl and reports (docs/formats.md section 4
// lists the same), and what it means.
#define ASSAY_FINDINGS(F)                                                                                              \
    F(data, "data", "data that arrived, or that must stay, is not what it must be")                                    \
    F(gap, "gap", "memory between the elements of a datatype was written")                                             \
    F(guard, "guard", "memory before or after a buffer or text was written")                                           \
    F(source, "source", "the source in a status")                                                                      \
    F(tag, "tag", "the tag in a status")                                                                               \
    F(count, "count", "a number of elements or bytes: in a status, of a counter")                                      \
    F(cancelled, "cancelled", "what is said of cancellation")                                                          \
    F(error, "error", "an error code or class: returned, in a status, or given to a handler")                          \
    F(return_, "return", "what a call returned: an error where none may be, or none where one must be")                \
    F(request, "request", "a request, message or flag of completion")                                                  \
    F(order, "order", "an order: of messages, processes or numbers")                                                   \
    F(value, "value", "any other value, handle or text that a call gave")                                              \
    F(info, "info", "an info object, or what a library says of itself in one")                                         \
    F(window, "window", "a window or what it says of itself")                                                          \
    F(file, "file", "what a file holds or says of itself")                                                             \
    F(position, "position", "a position in a file or packed buffer")                                                   \
    F(leftover, "leftover", "a message that nobody received, or a call of which nobody was told")                      \
    F(fd, "fd", "file descriptors that stay open")                                                                     \
    F(stderr_, "stderr", "output on stderr")                                                                           \
    F(end, "end", "a process that goes on where it had to end")
enum class finding {
#define F(kind, name, about) kind,
    ASSAY_FINDINGS(F)
#undef F
};
char const* name_of(finding kind); // as in an event log

class recorder {
public:
    // `declared`: the requirements of the test. A finding that names none rests on those of them that are must, or on all
    // where none is. Without any (tests of ourselves) it is must.
    void begin(long index, std::vector<requirement> declared = {});

    // Any thread of the case.
    void add(finding kind, std::string message, std::source_location where, int thread = 0) {
        add(std::nullopt, kind, std::move(message), where, thread);
    }
    void add(std::optional<requirement> rests_on, finding kind, std::string message, std::source_location where,
             int thread = 0);

    bool failed(bool strict) const { return must_ > 0 || (strict && advisory_ > 0); }
    std::vector<std::string> const& messages() const { return messages_; } // those that are advisory say so
    // By hand, where no event log is open: prints what was found in a case that passed, all of it advisory.
    void print_advice(std::string const& case_name) const;
    // What bytes outside of buffers rest on, whatever the test declares: set once, by programs of MPI.
    std::optional<requirement> memory;

private:
    std::mutex mutex_;
    long index_ = -1;
    std::vector<requirement> default_;
    int must_ = 0, advisory_ = 0;
    std::vector<std::string> messages_;
};

// "suites/p2p/ring.cpp:31"
std::string place(std::source_location where);

} // namespace assay
