// fi_getinfo: what is offered, and whether that is what a program wants.
#pragma once
#include <cstdint>
#include <rdma/fabric.h>

namespace assay::ofi {

int get_info(std::uint32_t version, char const* node, char const* service, std::uint64_t flags, fi_info const* hints,
             fi_info** found);

} // namespace assay::ofi
