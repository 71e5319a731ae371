// assay-bench-sctp: the same over a plain association of usrsctp in UDP on the loopback interface, with nothing above it: the
// limit for a transport that uses SCTP.
//   assay-bench-sctp FILE [LARGEST]
//
// usrsctp has no threads here, as the processors are taken: this program carries its packets, as large as they may be, and makes
// their checksums with the processor's instruction.
#include "bench/transports/measure.hpp"
#include "transports/net/crc32c.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <netinet/in.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <usrsctp.h>

namespace {

constexpr std::size_t longest = 64 * 1024;       // of a message of SCTP: longer ones would have to fit into its buffer
constexpr int buffer = 1024 * 1024;              // as much as our transport has
constexpr std::uint32_t largest_packet = 65'492; // of chunks: what is left in IPv4, after the headers of UDP and SCTP
constexpr in_port_t sctp_port = 5000;            // of SCTP, in UDP sockets that are connected

[[noreturn]] void fail(char const* what) { throw std::system_error(errno, std::generic_category(), what); }

template <class Value> void set(struct socket* s, int level, int option, Value const& value) {
    if (usrsctp_setsockopt(s, level, option, &value, sizeof value) < 0) fail("usrsctp_setsockopt");
}

sockaddr_in at_port(in_port_t port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = port;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return where;
}

template <class Address> sockaddr* general(Address& where) { return reinterpret_cast<sockaddr*>(&where); }

struct udp_socket {
    int fd;
    in_port_t port;
};

udp_socket make_udp() {
    auto where = at_port(0);
    socklen_t length = sizeof where;
    int const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, general(where), length) < 0 || getsockname(fd, general(where), &length) < 0) fail("UDP");
    int const room = 4 * buffer; // what the system drops has to be sent again
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
    return {fd, where.sin_port};
}

// usrsctp with an association to the partner process.
class over_sctp final : public assay::bench::channel {
public:
    over_sctp(udp_socket mine, in_port_t partner, bool first) : fd_(mine.fd) {
        auto const there = at_port(partner);
        if (connect(fd_, reinterpret_cast<sockaddr const*>(&there), sizeof there) < 0) fail("UDP");
        usrsctp_init_nothreads(0, output, nullptr);
        usrsctp_enable_crc32c_offload();
        usrsctp_register_address(this);
        auto* const s = make_socket();
        sockaddr_conn address{};
        address.sconn_family = AF_CONN;
        address.sconn_port = htons(sctp_port);
        address.sconn_addr = this;
        if (usrsctp_bind(s, general(address), sizeof address) < 0) fail("usrsctp_bind");
        meet(s, first, general(address), sizeof address);
    }
    ~over_sctp() override { usrsctp_close(socket_); }
    over_sctp(over_sctp const&) = delete;
    over_sctp& operator=(over_sctp const&) = delete;

    void send(std::byte const* data, std::size_t size) override {
        while (size > 0)
            moved(usrsctp_sendv(socket_, data, std::min(size, longest), nullptr, 0, nullptr, 0, SCTP_SENDV_NOINFO, 0),
                  data, size);
    }
    void receive(std::byte* data, std::size_t size) override {
        while (size > 0) {
            sockaddr_storage from{};
            socklen_t length = sizeof from, no_length = 0;
            unsigned kind = 0;
            int flags = 0;
            auto const got =
                usrsctp_recvv(socket_, data, size, general(from), &length, nullptr, &no_length, &kind, &flags);
            if (got == 0) throw std::runtime_error("the other side has closed the association");
            moved(got, data, size);
        }
    }

private:
    struct socket* make_socket() {
        auto* const s = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, nullptr, nullptr, 0, nullptr);
        if (!s) fail("usrsctp_socket");
        set(s, SOL_SOCKET, SO_SNDBUF, buffer);
        set(s, SOL_SOCKET, SO_RCVBUF, buffer);
        set(s, IPPROTO_SCTP, SCTP_NODELAY, 1);
        sctp_sack_info sack{};
        sack.sack_delay = 1;
        sack.sack_freq = 2;
        set(s, IPPROTO_SCTP, SCTP_DELAYED_SACK, sack);
        sctp_paddrparams path{};
        path.spp_address.ss_family = AF_CONN;
        path.spp_flags = SPP_PMTUD_DISABLE;
        path.spp_pathmtu = largest_packet;
        set(s, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, path);
        usrsctp_set_non_blocking(s, 1);
        return s;
    }
    // One side listens, the other one connects; the socket of the association.
    void meet(struct socket* s, bool first, sockaddr* there, socklen_t length) {
        if (first) {
            if (usrsctp_listen(s, 1) < 0) fail("usrsctp_listen");
            while (!(socket_ = usrsctp_accept(s, nullptr, nullptr))) {
                if (errno != EAGAIN) fail("usrsctp_accept");
                wait();
            }
            usrsctp_set_non_blocking(socket_, 1);
            usrsctp_close(s);
        } else {
            if (usrsctp_connect(s, there, length) < 0 && errno != EINPROGRESS) fail("usrsctp_connect");
            socket_ = s;
        }
    }
    template <class Byte> void moved(ssize_t done, Byte*& data, std::size_t& size) {
        if (done < 0 && errno != EAGAIN && errno != EINTR && errno != ENOTCONN) fail("SCTP");
        if (done <= 0) return wait();
        data += done;
        size -= static_cast<std::size_t>(done);
    }
    static int output(void* self, void* packet, std::size_t size, std::uint8_t, std::uint8_t) {
        auto* const bytes = static_cast<std::byte*>(packet);
        auto const sum = assay::net::crc32c(bytes, size);
        std::memcpy(bytes + 8, &sum, sizeof sum);
        ::send(static_cast<over_sctp*>(self)->fd_, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        return 0;
    }
    // Until usrsctp may have got on.
    void wait() {
        for (int k = 0; k < 16; ++k) {
            auto const got = recv(fd_, packet_.data(), packet_.size(), MSG_DONTWAIT);
            if (got <= 0) {
                if (k == 0) sched_yield(); // as MPI libraries do
                break;
            }
            auto const size = static_cast<std::size_t>(got);
            std::uint32_t said = 0;
            std::memcpy(&said, packet_.data() + 8, sizeof said);
            std::memset(packet_.data() + 8, 0, sizeof said);
            if (said == assay::net::crc32c(packet_.data(), size)) usrsctp_conninput(this, packet_.data(), size, 0);
        }
        auto const now = std::chrono::steady_clock::now();
        auto const elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - passed_);
        if (elapsed.count() <= 0) return;
        passed_ += elapsed;
        usrsctp_handle_timers(static_cast<std::uint32_t>(elapsed.count()));
    }

    struct socket* socket_ = nullptr;
    int fd_;
    std::array<std::byte, 64 * 1024> packet_;
    std::chrono::steady_clock::time_point passed_ = std::chrono::steady_clock::now();
};

void measure(char const* file, udp_socket mine, in_port_t partner, bool first, std::size_t largest) {
    over_sctp channel(mine, partner, first);
    std::byte greeting{}; // there is an association
    if (first) channel.receive(&greeting, 1);
    else channel.send(&greeting, 1);
    auto const lines = assay::bench::measure_all(channel, first, largest);
    if (first) {
        std::ofstream(file) << lines;
        channel.send(&greeting, 1); // the other side stays until all has been received
        channel.receive(&greeting, 1);
    } else {
        channel.receive(&greeting, 1);
        channel.send(&greeting, 1);
        usleep(50'000); // and so does the last answer's sender
    }
}

} // namespace

int main(int argc, char** argv) try {
    if (argc < 2) {
        std::fprintf(stderr, "usage: assay-bench-sctp FILE [LARGEST]\n");
        return 2;
    }
    auto const largest = argc > 2 ? std::stoul(argv[2]) : 4u << 20;
    auto const here = make_udp(), there = make_udp();
    auto const child = fork();
    if (child < 0) fail("fork");
    if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL); // it would wait for ever
    auto const mine = child == 0 ? there : here;
    auto const other = child == 0 ? here : there;
    close(other.fd);
    measure(argv[1], mine, other.port, child != 0, largest);
    if (child == 0) _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    return status == 0 ? 0 : 1;
} catch (std::exception const& e) {
    std::fprintf(stderr, "assay-bench-sctp: %s\n", e.what());
    return 1;
}
