#include "transports/net/interfaces.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <system_error>

namespace assay::net {
namespace {

[[noreturn]] void fail(char const* what) { throw std::system_error(errno, std::generic_category(), what); }

} // namespace

address from_sockaddr(sockaddr const* where) {
    return {reinterpret_cast<char const*>(where),
            where->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in)};
}

address bound_to(int socket) {
    sockaddr_storage got{};
    socklen_t size = sizeof got;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&got), &size) < 0) fail("getsockname");
    return from_sockaddr(reinterpret_cast<sockaddr const*>(&got));
}

address from_text(std::string const& text) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    if (inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1)
        return from_sockaddr(reinterpret_cast<sockaddr const*>(&four));
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    if (inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1)
        return from_sockaddr(reinterpret_cast<sockaddr const*>(&six));
    return any_port(text);
}

address any_port(std::string const& interface, int wanted) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) < 0) fail("getifaddrs");
    std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> const owner(all, freeifaddrs);
    ifaddrs const* best = nullptr;
    auto const rank = [](ifaddrs const* one) { // IPv4 before IPv6, others before loopback
        return (one->ifa_flags & IFF_LOOPBACK ? 0 : 2) + (one->ifa_addr->sa_family == AF_INET ? 1 : 0);
    };
    for (auto const* one = all; one; one = one->ifa_next) {
        if (!one->ifa_addr || !(one->ifa_flags & IFF_UP)) continue;
        int const family = one->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        if (wanted != AF_UNSPEC && family != wanted) continue;
        // Link-local addresses need a scope that other machines do not share.
        if (family == AF_INET6 &&
            IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<sockaddr_in6 const*>(one->ifa_addr)->sin6_addr))
            continue;
        if (interface.empty() ? !best || rank(one) > rank(best) : interface == one->ifa_name && !best) best = one;
    }
    if (!best) {
        errno = ENODEV;
        fail(interface.empty() ? "no network interface with such an address is up" : interface.c_str());
    }
    return from_sockaddr(best->ifa_addr);
}

} // namespace assay::net
