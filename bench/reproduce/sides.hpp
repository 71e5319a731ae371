// Where the two sides of an experiment are. `assay reproduce` may have given them a network of their own: ASSAY_HERE and ASSAY_THERE
// are their addresses, comma lists where there are several links, and ASSAY_THERE_NAMESPACE the file of the network namespace that the
// other side enters. Without them both are on the loopback interface.
#pragma once
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::reproduce {

inline constexpr int unsupported = 77; // exit code: this machine cannot do it; standard error says why

[[noreturn]] inline void fail(char const* what) { throw std::system_error(errno, std::generic_category(), what); }

inline std::vector<std::string> addresses(char const* variable) {
    auto const* const given = std::getenv(variable);
    std::istringstream words(given ? given : "127.0.0.1");
    std::vector<std::string> found;
    for (std::string word; std::getline(words, word, ',');) found.push_back(word);
    return found;
}

inline sockaddr_in address_of(std::string const& text, std::uint16_t port = 0) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    if (inet_pton(AF_INET, text.c_str(), &where.sin_addr) != 1)
        throw std::runtime_error(text + " is no address of IPv4");
    return where;
}

// This process goes over to the network of the other side.
inline void go_there() {
    auto const* const file = std::getenv("ASSAY_THERE_NAMESPACE");
    if (!file) return;
    int const fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0) fail(file);
    close(fd);
}

// Runs `other` in a process on the other side, and `here` in this one. They fail together.
template <typename Here, typename Other> void on_both_sides(Here here, Other other) {
    std::fflush(nullptr); // else both would print what is there already
    auto const child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        int code = 0;
        try {
            go_there();
            other();
        } catch (std::exception const& e) {
            std::fprintf(stderr, "the other side: %s\n", e.what());
            code = 1;
        }
        _exit(code);
    }
    struct reaper {
        pid_t pid;
        ~reaper() {
            if (pid > 0) kill(pid, SIGKILL), waitpid(pid, nullptr, 0);
        }
    } waits{child};
    here();
    int status = 0;
    waitpid(std::exchange(waits.pid, 0), &status, 0);
    if (status != 0) throw std::runtime_error("the other side has failed");
}

// A socket, as long as it is needed.
struct connected {
    explicit connected(int it) : fd(it) {}
    ~connected() { close(fd); }
    connected(connected const&) = delete;
    connected& operator=(connected const&) = delete;
    int fd;
};

inline void send_all(int fd, char const* data, std::size_t size) {
    while (size > 0) {
        auto const n = ::send(fd, data, size, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) fail("send");
        if (n <= 0) continue;
        data += n;
        size -= static_cast<std::size_t>(n);
    }
}
inline void receive_all(int fd, char* data, std::size_t size) {
    while (size > 0) {
        auto const n = ::recv(fd, data, size, 0);
        if (n == 0) throw std::runtime_error("the other side has closed the connection");
        if (n < 0 && errno != EINTR) fail("recv");
        if (n <= 0) continue;
        data += n;
        size -= static_cast<std::size_t>(n);
    }
}

} // namespace assay::reproduce
