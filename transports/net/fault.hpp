// Defects that can be planted: ASSAY_FAULT=NAME. Each is one line of a list (core/faults.hpp, tcp/tcp.hpp, sctp/sctp.hpp) and one
// question where it takes effect; tests/cpp/transports/CMakeLists.txt has the test that must find it.
#pragma once
#include <cstdlib>
#include <string>
#include <string_view>

namespace assay::net {

// Whether this defect is planted in this process. The environment is read once.
inline bool planted(std::string_view fault) {
    static std::string const name = [] {
        char const* const found = std::getenv("ASSAY_FAULT");
        return std::string(found ? found : "");
    }();
    return !name.empty() && name == fault;
}

} // namespace assay::net
