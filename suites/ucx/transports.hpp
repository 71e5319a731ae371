// The axis `transport`: UCX's own transports on one machine.
#pragma once
#include "framework/plan/axis.hpp"

#include <string>

namespace assay::ucx {

struct transport {
    std::string needs; // what has to be there
    std::string tls;   // the value of UCX_TLS
    bool to_others = true;
};
axis<transport> const& transports();
axis_use to_others(); // those with which a process reaches others

} // namespace assay::ucx
