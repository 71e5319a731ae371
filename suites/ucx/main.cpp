// assay-ucx: every case about UCX over its own transports.
#include "framework/native/program.hpp"
#include "suites/ucx/run.hpp"

#include <fmt/format.h>
#include <ucp/api/ucp.h>

namespace {
std::string error_text(ssize_t code) {
    return code > 0 ? fmt::format("{}", code)
                    : fmt::format("{} ({})", code, ucs_status_string(static_cast<ucs_status_t>(code)));
}
} // namespace

int main(int argc, char** argv) {
    return assay::native::main_of(
        {"assay-ucx",
         "Assay: tests of UCX over its own transports. Options of GoogleTest (--gtest_filter=…) work as well.",
         fmt::format("{}.{}", UCP_API_MAJOR, UCP_API_MINOR),
         [] { return fmt::format("UCX {}", ucp_get_version_string()); }, error_text},
        argc, argv);
}
