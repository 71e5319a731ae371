#include "transports/core/settings.hpp"

#include "transports/core/ep.hpp"

#include <cstdlib>
#include <rdma/fi_domain.h>
#include <string_view>
#include <sys/socket.h>

namespace assay::ofi {
namespace {

bool apply(settings& to, std::string_view word) {
    auto const equal = word.find('=');
    auto const name = word.substr(0, equal);
    auto const value = equal == std::string_view::npos ? std::string_view{} : word.substr(equal + 1);
    if (equal != std::string_view::npos) {
        if (name == "eager") return net::read_number(value, to.eager);
        if (name == "credit") return net::read_number(value, to.window);
        if (name == "inject") return net::read_number(value, to.inject);
        if (name == "interface") {
            to.wire.interface = value;
            return !value.empty();
        }
        if (name == "ip") {
            to.wire.family = value == "4" ? AF_INET : AF_INET6;
            return value == "4" || value == "6";
        }
    }
    if (transport.takes(name, value)) {
        to.wire.switches.insert_or_assign(std::string(name), std::string(value));
        return true;
    }
    if (equal != std::string_view::npos) return false;
    struct part {
        std::string_view name;
        bool settings::*offered;
    };
    static constexpr part parts[] = {
        {"no_tagged", &settings::tagged},         {"no_rma", &settings::rma},
        {"no_atomic", &settings::atomic},         {"no_cq_data", &settings::cq_data},
        {"no_directed", &settings::directed},     {"no_source", &settings::source},
        {"no_multi_recv", &settings::multi_recv},
    };
    for (auto const& one : parts)
        if (name == one.name) {
            to.*one.offered = false;
            return true;
        }
    if (name == "mr_virt_addr") to.mr_mode |= FI_MR_VIRT_ADDR;
    else if (name == "mr_prov_key") to.mr_mode |= FI_MR_PROV_KEY;
    else if (name == "mr_allocated") to.mr_mode |= FI_MR_ALLOCATED;
    else if (name == "mr_local") to.mr_mode |= FI_MR_LOCAL;
    else return false;
    return true;
}

} // namespace

settings read_settings(char const* switches, char const* counters, char const* pcap) {
    settings found;
    if (counters) found.counters = counters;
    if (pcap) found.pcap = pcap;
    std::string_view left = switches ? switches : "";
    while (!left.empty()) {
        auto const end = left.find('+');
        auto const word = left.substr(0, end);
        if (!word.empty() && !apply(found, word))
            found.wrong = "ASSAY_TRANSPORT: " + std::string(word) + " is no switch";
        left = end == std::string_view::npos ? std::string_view{} : left.substr(end + 1);
    }
    return found;
}

settings const& configured() {
    static settings const found =
        read_settings(std::getenv("ASSAY_TRANSPORT"), std::getenv("ASSAY_COUNTERS"), std::getenv("ASSAY_PCAP"));
    return found;
}

} // namespace assay::ofi
