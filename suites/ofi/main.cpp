// assay-ofi: every case about libfabric's providers.
#include "framework/native/program.hpp"
#include "suites/ofi/run.hpp"
#include "suites/ofi/victim.hpp"

#include <fmt/format.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

namespace {
std::string error_text(ssize_t code) {
    return code >= 0 ? fmt::format("{}", code) : fmt::format("{} ({})", code, fi_strerror(static_cast<int>(-code)));
}
std::string version_text(std::uint32_t version) { return fmt::format("{}.{}", FI_MAJOR(version), FI_MINOR(version)); }
} // namespace

int main(int argc, char** argv) {
    if (assay::fabric::is_victim()) return assay::fabric::run_victim();
    return assay::native::main_of(
        {"assay-ofi", "Assay: tests of libfabric's providers. Options of GoogleTest (--gtest_filter=…) work as well.",
         version_text(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)),
         [] { return fmt::format("libfabric {}", version_text(fi_version())); }, error_text},
        argc, argv);
}
