// A network whose packets are on their way for some time, between the two sides of an experiment: what a loopback interface and tc's
// token bucket do not have. Two TUN devices, and a process between them that holds each packet back. Needs namespaces.
#pragma once
#include "bench/reproduce/sides.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>

namespace assay::reproduce {

class long_pipe {
public:
    static constexpr char const* here = "10.232.0.1";
    static constexpr char const* there = "10.232.0.2";

    // `delay`: of a packet, so half of the time of a round trip.
    explicit long_pipe(std::chrono::microseconds delay) {
        ends_[0] = device("pipe", here);
        int const own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        if (own < 0) fail("/proc/self/ns/net");
        go_there();
        ends_[1] = device("pipe", there);
        if (setns(own, CLONE_NEWNET) < 0) fail("setns");
        close(own);
        auto const parent = getpid();
        carrier_ = fork();
        if (carrier_ < 0) fail("fork");
        if (carrier_ > 0) return;
        while (getppid() == parent) carry(delay);
        _exit(0);
    }
    ~long_pipe() {
        kill(carrier_, SIGKILL);
        waitpid(carrier_, nullptr, 0);
        for (int const fd : ends_) close(fd);
    }
    long_pipe(long_pipe const&) = delete;
    long_pipe& operator=(long_pipe const&) = delete;

private:
    using clock = std::chrono::steady_clock;
    static constexpr int mtu = 9000; // few packets, so that the process between them is not what limits
    struct packet {
        clock::time_point due;
        std::vector<char> bytes;
    };

    static int device(char const* name, char const* at) {
        int const fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
        int const any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        ifreq request{};
        std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
        request.ifr_flags = IFF_TUN | IFF_NO_PI;
        if (fd < 0 || any < 0 || ioctl(fd, TUNSETIFF, &request) < 0) fail("/dev/net/tun");
        auto const ask = [&](unsigned long what) {
            if (ioctl(any, what, &request) < 0) fail("configuring a TUN device");
        };
        auto const where = address_of(at), mask = address_of("255.255.255.0");
        std::memcpy(&request.ifr_addr, &where, sizeof where);
        ask(SIOCSIFADDR);
        std::memcpy(&request.ifr_netmask, &mask, sizeof mask);
        ask(SIOCSIFNETMASK);
        request.ifr_mtu = mtu;
        ask(SIOCSIFMTU);
        request.ifr_flags = IFF_UP | IFF_RUNNING;
        ask(SIOCSIFFLAGS);
        close(any);
        return fd;
    }
    // Until nothing is due, and then until something is or comes.
    void carry(std::chrono::microseconds delay) {
        std::array<char, 2 * mtu> room;
        for (std::size_t from = 0; from < 2; ++from)
            for (ssize_t n = 0; (n = read(ends_[from], room.data(), room.size())) > 0;)
                waiting_[1 - from].push_back({clock::now() + delay, {room.data(), room.data() + n}});
        auto next = clock::now() + std::chrono::milliseconds(100);
        for (std::size_t to = 0; to < 2; ++to) {
            auto& queue = waiting_[to];
            for (; !queue.empty() && queue.front().due <= clock::now(); queue.pop_front())
                if (write(ends_[to], queue.front().bytes.data(), queue.front().bytes.size()) < 0)
                    continue; // it is lost
            if (!queue.empty()) next = std::min(next, queue.front().due);
        }
        auto const left = std::chrono::nanoseconds(next - clock::now()).count();
        std::array<pollfd, 2> both{{{ends_[0], POLLIN, 0}, {ends_[1], POLLIN, 0}}};
        timespec const limit{0, std::max<long>(left, 0)};
        ppoll(both.data(), both.size(), &limit, nullptr);
    }

    std::array<int, 2> ends_{-1, -1};
    std::array<std::deque<packet>, 2> waiting_;
    pid_t carrier_ = -1;
};

} // namespace assay::reproduce
