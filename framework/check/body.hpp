// The body of a test, run so that whatever it throws becomes the outcome of its case.
#pragma once
#include "framework/check/record.hpp"

#include <exception>
#include <functional>
#include <source_location>
#include <string>

namespace assay {

// Thrown by a body: the case is not for this library or job.
struct unsupported_here {
    std::string reason;
};

// Thrown by a body that has recorded why.
struct cannot_go_on {};

// Thrown by a body that cannot go on: what() is the finding.
class end_of_body : public std::exception {
public:
    // `call` is a literal, the call that the finding is about; nullptr: the last one. `where`: in the source.
    end_of_body(char const* call, std::string text, std::source_location where)
        : call_(call), text_(std::move(text)), where_(where) {}
    char const* what() const noexcept override { return text_.c_str(); }
    void record_in(recorder& findings, int thread = 0) const; // a finding "return"

private:
    char const* call_;
    std::string text_;
    std::source_location where_;
};

// Runs the body. An exception that leaves it is a finding "return". Returns why the case is unsupported, or "".
std::string run_body(recorder& findings, int thread, std::function<void()> const& body);

} // namespace assay
