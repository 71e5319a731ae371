// assay-bench-fabric: latency and bandwidth of a provider of libfabric between two processes, with no MPI library above it.
//   FI_PROVIDER_PATH=FOLDER assay-bench-fabric FILE PROVIDER [LARGEST]
#include "bench/transports/fabric.hpp"
#include "bench/transports/measure.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace {

using assay::bench::check, assay::bench::tag;

[[noreturn]] void fail(char const* what) { throw std::system_error(errno, std::generic_category(), what); }

class over_fabric final : public assay::bench::channel {
public:
    // `partner` is a socket to the other process, on which they say their names and wait for each other.
    over_fabric(char const* provider, int partner)
        : domain_(provider), end_(domain_), injected_(domain_.info->tx_attr->inject_size), partner_(partner) {
        auto const mine = end_.name();
        if (::send(partner_, mine.data(), mine.size(), MSG_NOSIGNAL) < 0) fail("the other process");
        std::array<char, 256> name{};
        auto const size = ::recv(partner_, name.data(), name.size(), 0);
        if (size < 0) fail("the other process");
        if (size == 0) throw std::runtime_error("the other process has gone");
        end_.meet({name.data(), static_cast<std::size_t>(size)});
        meet(); // some providers drop what comes from an address that they do not know yet
    }

    void send(std::byte const* data, std::size_t size) override { send_all(data, 0, size, 1); }
    void receive(std::byte* data, std::size_t size) override { receive_all(data, 0, size, 1); }
    void send_all(std::byte const* data, std::size_t stride, std::size_t size, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            if (size <= injected_)
                begin("fi_tinject", [&] { return fi_tinject(end_.ep, data + i * stride, size, end_.peer, tag); });
            else
                begin("fi_tsend", [&] {
                    return fi_tsend(end_.ep, data + i * stride, size, nullptr, end_.peer, tag, &contexts_[i]);
                });
        if (size > injected_) until_ended(count);
    }
    void receive_all(std::byte* data, std::size_t stride, std::size_t size, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            begin("fi_trecv", [&] {
                return fi_trecv(end_.ep, data + i * stride, size, nullptr, end_.peer, tag, 0, &contexts_[i]);
            });
        until_ended(count);
    }

    void meet() {
        if (!assay::bench::meet(partner_, [this] { get_on(); })) throw std::runtime_error("the other process has gone");
    }

private:
    template <class Call> void begin(char const* what, Call call) {
        ssize_t begun = 0;
        while ((begun = call()) == -FI_EAGAIN) get_on();
        check(begun, what);
    }
    void until_ended(std::size_t count) {
        while (ended_ < count) get_on();
        ended_ = 0;
    }
    void get_on() {
        if (end_.one_has_ended()) ++ended_;
    }

    assay::bench::domain domain_;
    assay::bench::end end_;
    std::size_t injected_; // bytes: up to so many are sent without a completion
    int partner_;
    std::size_t ended_ = 0;
    std::array<fi_context2, assay::bench::most_in_a_window> contexts_{};
};

void measure(char const* file, char const* provider, int partner, bool first, std::size_t largest) {
    over_fabric channel(provider, partner);
    auto const lines = assay::bench::measure_all(channel, first, largest);
    if (first) std::ofstream(file) << lines;
    channel.meet();
}

} // namespace

// Both processes are children, so that this one sees when either ends; libfabric is not made for a fork in between.
int main(int argc, char** argv) try {
    if (argc < 3) {
        std::fprintf(stderr, "usage: assay-bench-fabric FILE PROVIDER [LARGEST]\n");
        return 2;
    }
    auto const largest = argc > 3 ? std::stoul(argv[3]) : 4u << 20;
    std::array<int, 2> sockets{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) < 0) fail("socketpair");
    for (std::size_t const side : {0, 1}) {
        auto const process = fork();
        if (process < 0) fail("fork");
        if (process > 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL); // it would wait for ever
        close(sockets[1 - side]);
        measure(argv[1], argv[2], sockets[side], side == 0, largest);
        return 0;
    }
    for (int ended = 0; ended < 2; ++ended) {
        int status = 0;
        if (wait(&status) < 0) fail("wait");
        if (WIFSIGNALED(status)) std::fprintf(stderr, "assay-bench-fabric: %s\n", strsignal(WTERMSIG(status)));
        if (status != 0) return 1;
    }
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "assay-bench-fabric: %s\n", e.what());
    return 1;
}
