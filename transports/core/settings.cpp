#include "transports/core/settings.hpp"

#include "transports/core/ep.hpp"

#include <charconv>
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
        if (name == "eager") return read_number(value, to.eager);
        if (name == "credit") return read_number(value, to.window);
        if (name == "inject") return read_number(value, to.inject);
        if (name == "interface") {
            to.interface = value;
            return !value.empty();
        }
        if (name == "ip") {
            to.family = value == "4" ? AF_INET : AF_INET6;
            return value == "4" || value == "6";
        }
    }
    if (is_wire_switch(name, value)) {
        to.wire.insert_or_assign(std::string(name), std::string(value));
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

bool read_number(std::string_view text, std::size_t& value) {
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

settings read_settings(char const* switches, char const* fault_name, char const* counters, char const* pcap) {
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
    if (fault_name) found.fault_name = fault_name;
    std::string_view const name = found.fault_name;
    if (name == "stale_rematch") found.planted = fault::stale_rematch;
    else if (name == "inject_not_copied") found.planted = fault::inject_not_copied;
    else if (name == "cq_wrong_length") found.planted = fault::cq_wrong_length;
    else if (name == "wildcards_first") found.planted = fault::wildcards_first;
    else if (name == "unlocked") found.planted = fault::unlocked;
    else if (name == "answers_believed") found.planted = fault::answers_believed;
    else if (name == "atomic_late_fetch") found.planted = fault::atomic_late_fetch;
    else if (name == "access_unchecked") found.planted = fault::access_unchecked;
    else if (name == "local_unchecked") found.planted = fault::local_unchecked;
    else if (name == "progress_asleep") found.planted = fault::progress_asleep;
    return found; // other names may be faults of another layer
}

settings const& configured() {
    static settings const found = read_settings(std::getenv("ASSAY_TRANSPORT"), std::getenv("ASSAY_FAULT"),
                                                std::getenv("ASSAY_COUNTERS"), std::getenv("ASSAY_PCAP"));
    return found;
}

} // namespace assay::ofi
