// For tests that speak TCP's wire themselves (transports/tcp/tcp.hpp).
#pragma once
#include "tests/cpp/transports/net/wire_end.hpp"
#include "transports/tcp/tcp.hpp"

#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace assay::net {

inline constexpr std::size_t greeting_size = 80, prefix_size = 8 + head_size;

// What a connection begins with. `serial`: its number among those of its maker.
inline std::string greeting(std::string const& who, std::uint32_t serial = 0) {
    std::string text("assaytcp");
    std::uint64_t const size = who.size() | std::uint64_t{serial} << 32;
    text.append(reinterpret_cast<char const*>(&size), sizeof size).append(who).resize(greeting_size);
    return text;
}

inline int call(end const& other) {
    int const fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, as_sockaddr(other.name), length(other.name)), 0);
    return fd;
}

inline void put(int fd, std::string const& text) {
    EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

inline void idle(end& it) { // nothing more comes
    for (int k = 0; k < 20; ++k) {
        (*it).poll();
        usleep(1000);
    }
}

} // namespace assay::net
