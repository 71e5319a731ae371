// assay-bench-tcp: the same over a plain TCP connection on the loopback interface, with nothing above it: the limit for
// every transport that uses TCP.
//   assay-bench-tcp FILE [LARGEST]
#include "bench/transports/measure.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace {

[[noreturn]] void fail(char const* what) { throw std::system_error(errno, std::generic_category(), what); }

// Sockets that are asked again and again, as transports do: a process that sleeps is woken too late to be compared.
class over_tcp : public assay::bench::channel {
public:
    explicit over_tcp(int fd) : fd_(fd) {}
    ~over_tcp() override { close(fd_); }
    over_tcp(over_tcp const&) = delete;
    over_tcp& operator=(over_tcp const&) = delete;

    void send(std::byte const* data, std::size_t size) override {
        while (size > 0) moved(::send(fd_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL), data, size);
    }
    void receive(std::byte* data, std::size_t size) override {
        while (size > 0) {
            auto const got = ::recv(fd_, data, size, MSG_DONTWAIT);
            if (got == 0) throw std::runtime_error("the other side has closed the connection");
            moved(got, data, size);
        }
    }

private:
    template <class Byte> static void moved(ssize_t done, Byte*& data, std::size_t& size) {
        if (done < 0 && errno != EAGAIN && errno != EINTR) fail("TCP");
        if (done <= 0) return;
        data += done;
        size -= static_cast<std::size_t>(done);
    }
    int fd_;
};

int with_nodelay(int fd) {
    int const on = 1;
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) fail("TCP");
    return fd;
}

} // namespace

int main(int argc, char** argv) try {
    if (argc < 2) {
        std::fprintf(stderr, "usage: assay-bench-tcp FILE [LARGEST]\n");
        return 2;
    }
    auto const largest = argc > 2 ? std::stoul(argv[2]) : 4u << 20;
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const address = reinterpret_cast<sockaddr*>(&where);
    socklen_t length = sizeof where;
    int const listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, address, length) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, address, &length) < 0)
        fail("listen");
    auto const child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        int const fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, address, length) < 0) fail("connect");
        over_tcp channel(with_nodelay(fd));
        assay::bench::measure_all(channel, false, largest);
        return 0;
    }
    {
        over_tcp channel(with_nodelay(accept(listener, nullptr, nullptr)));
        std::ofstream(argv[1]) << assay::bench::measure_all(channel, true, largest);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status == 0 ? 0 : 1;
} catch (std::exception const& e) {
    std::fprintf(stderr, "assay-bench-tcp: %s\n", e.what());
    return 1;
}
