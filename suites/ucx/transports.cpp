#include "suites/ucx/transports.hpp"

#include <fmt/format.h>
#include <map>

#include "suites/ucx/calls.hpp"

namespace assay::ucx {
namespace {

// Why UCX does not offer the transport on this machine, or "".
std::string absent(std::string const& name) {
    static std::map<std::string, std::string> known;
    auto const [at, fresh] = known.try_emplace(name);
    if (!fresh) return at->second;
    ucp_config_t* config = nullptr;
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_RMA;
    ucp_context_h context = nullptr;
    ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
    if (status == UCS_OK) {
        status = ucp_config_modify(config, "TLS", name.c_str());
        if (status == UCS_OK) status = ucp_init(&params, config, &context);
        ucp_config_release(config);
    }
    if (status == UCS_OK) ucp_cleanup(context);
    else
        at->second = fmt::format("is not there: ucp_init with UCX_TLS={} says: {} (`ucx_info -d` lists what is)", name,
                                 ucs_status_string(status));
    return at->second;
}

axis<transport>::entry entry(char const* name, char const* note, transport it) {
    return {{name, note, [needs = it.needs](job const&) { return absent(needs); }}, std::move(it)};
}

} // namespace

axis<transport> const& transports() {
    static axis<transport> const axis(
        "transport",
        {entry("tcp", "sockets", {"tcp", "tcp"}), entry("sysv", "shared memory of System V", {"sysv", "sysv"}),
         entry("posix", "shared memory of POSIX", {"posix", "posix"}),
         entry("self", "each process talks to itself only", {"self", "self", false}),
         // It only reads and writes the memory of other processes: messages need another one beside it.
         entry("cma", "process_vm_readv and process_vm_writev, beside posix", {"cma", "posix,cma"})});
    return axis;
}

axis_use to_others() {
    return only(transports(), [](transport const& one) { return one.to_others; });
}

} // namespace assay::ucx
