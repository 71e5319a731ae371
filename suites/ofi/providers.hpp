// The axis `transport`: libfabric's providers of reliable datagram endpoints (FI_EP_RDM), those that everybody knows and
// whatever else is there.
#pragma once
#include "framework/plan/axis.hpp"

#include <memory>
#include <optional>
#include <rdma/fabric.h>

namespace assay::fabric {

class provider_axis : public axis_base {
public:
    provider_axis() : axis_base("transport") {}
    std::size_t size() const override { return names().size(); }
    value_info info(std::size_t value) const override;
    std::string const& name_of(std::size_t value) const override;
    // The name that libfabric knows: "tcp;ofi_rxm".
    std::string const& at(std::size_t value) const { return names()[value]; }

private:
    std::vector<std::string> const& names() const; // libfabric is asked when somebody wants to know
};
provider_axis const& providers();

struct freed_by_libfabric {
    void operator()(fi_info* it) const;
};
using info_list = std::unique_ptr<fi_info, freed_by_libfabric>;

// What the provider of this name offers for the hints, which are those of fi_allocinfo; its first offer only, or nothing.
info_list empty_hints();
info_list ask(std::string const& provider, info_list hints);

} // namespace assay::fabric
