#include "framework/check/body.hpp"

#include "framework/process/calls.hpp"

#include <fmt/format.h>

namespace assay {

void end_of_body::record_in(recorder& findings, int thread) const {
    calls_of_the_framework const then_as_before;
    if (call_ != nullptr) last_call.name = call_; // others may have been called since, to clean up
    findings.add(finding::return_, text_, where_, thread);
}

std::string run_body(recorder& findings, int thread, std::function<void()> const& body) {
    last_call.name = ""; // not those of the case before
    try {
        body();
    } catch (unsupported_here const& why) {
        return why.reason;
    } catch (cannot_go_on const&) {
        // a finding says why
    } catch (end_of_body const& end) {
        end.record_in(findings, thread);
    } catch (std::exception const& e) {
        findings.add(finding::return_, fmt::format("exception in the test: {}", e.what()),
                     std::source_location::current(), thread);
    }
    return "";
}

} // namespace assay
