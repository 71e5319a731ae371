#include "suites/ofi/providers.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <new>
#include <sstream>

#include "suites/ofi/calls.hpp"

namespace assay::fabric {
namespace {

constexpr std::uint32_t version = FI_VERSION(1, 17); // that the suite is written for

// Demands that the suite meets, so that no provider is left out for its own.
void accept_demands(fi_info& hints) {
    hints.mode = FI_CONTEXT | FI_CONTEXT2;
    hints.ep_attr->type = FI_EP_RDM;
    if (hints.domain_attr->mr_mode == 0)
        hints.domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
}

std::string name_of_case(std::string const& provider) {
    std::string name;
    for (char c : provider)
        name += c == ';' ? '+' : (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ? c : '_';
    return name;
}

struct found {
    std::vector<std::string> names, for_cases;
    std::vector<bool> there;
};

found const& what_there_is() {
    static found const it = [] {
        found f;
        f.names = {"tcp", "tcp;ofi_rxm", "shm", "udp;ofi_rxd", "sockets"};
        std::istringstream ours(ASSAY_PROVIDERS); // CMakeLists.txt
        for (std::string name; ours >> name;) f.names.push_back(name);
        std::vector<std::string> offered;
        auto hints = empty_hints();
        fi_info* list = nullptr;
        if (fi_getinfo(version, nullptr, nullptr, 0, hints.get(), &list) == 0) {
            info_list const owner(list);
            for (auto const* one = list; one != nullptr; one = one->next)
                offered.emplace_back(one->fabric_attr->prov_name);
        }
        for (auto const& name : offered)
            if (std::find(f.names.begin(), f.names.end(), name) == f.names.end()) f.names.push_back(name);
        for (auto const& name : f.names) {
            f.for_cases.push_back(name_of_case(name));
            f.there.push_back(std::find(offered.begin(), offered.end(), name) != offered.end());
        }
        return f;
    }();
    return it;
}

} // namespace

void freed_by_libfabric::operator()(fi_info* it) const { fi_freeinfo(it); }

info_list empty_hints() {
    info_list hints(fi_allocinfo());
    if (!hints) throw std::bad_alloc();
    accept_demands(*hints);
    return hints;
}

info_list ask(std::string const& provider, info_list hints) {
    hints->fabric_attr->prov_name = strdup(provider.c_str()); // fi_freeinfo frees it
    fi_info* list = nullptr;
    if (fi_getinfo(version, nullptr, nullptr, 0, hints.get(), &list) != 0) return nullptr;
    info_list const all(list);
    // Providers that are layered over the named one answer, too.
    for (auto const* one = list; one != nullptr; one = one->next)
        if (one->fabric_attr->prov_name == provider) {
            info_list copy(fi_dupinfo(one));
            if (!copy) throw std::bad_alloc();
            return copy;
        }
    return nullptr;
}

std::vector<std::string> const& provider_axis::names() const { return what_there_is().names; }
std::string const& provider_axis::name_of(std::size_t value) const { return what_there_is().for_cases[value]; }

value_info provider_axis::info(std::size_t value) const {
    auto const& all = what_there_is();
    return {all.for_cases[value], "libfabric's provider " + all.names[value], [value](job const&) {
                auto const& known = what_there_is();
                return known.there[value] ? std::string()
                                          : fmt::format("is not there: fi_getinfo offers no FI_EP_RDM endpoint of the "
                                                        "provider {} (fi_info -l lists what is)",
                                                        known.names[value]);
            }};
}

provider_axis const& providers() {
    static provider_axis const axis;
    return axis;
}

} // namespace assay::fabric
