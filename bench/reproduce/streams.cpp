// assay-reproduce-streams: the rate of one, two and four TCP connections as one stream of frames (transports/tcp), where a window of
// the size of these sockets' buffers does not fill the pipe. Prints lines of a name and MB/s. The receiver checks the frames and their order.
#include "bench/reproduce/long_pipe.hpp"
#include "transports/net/interfaces.hpp"
#include "transports/tcp/tcp.hpp"

#include <memory>

namespace {

using namespace assay;
using reproduce::address_of;
using reproduce::long_pipe;
using clock_type = std::chrono::steady_clock;

constexpr auto delay = std::chrono::milliseconds(10); // of a packet: a round trip takes 20 ms
constexpr int buffer = 64 * 1024;                     // of a socket: the most that a window had without RFC 1323
constexpr std::size_t frame_size = 256 * 1024;
constexpr unsigned frames = 32;

net::address name(char const* where, std::uint16_t port) {
    auto const at = address_of(where, port);
    return net::from_sockaddr(reinterpret_cast<sockaddr const*>(&at));
}

class side : public net::sink {
public:
    side(unsigned streams, char const* where, std::uint16_t port)
        : room_(frame_size), wire_(tcp::make(*this, {.streams = streams, .buffer = buffer})) {
        wire_->listen(name(where, port));
    }
    ~side() override { wire_.reset(); }
    side(side const&) = delete;
    side& operator=(side const&) = delete;

    void send_all(net::address const& to) {
        auto const peer = wire_->reach(to);
        for (unsigned k = 0; k < frames; ++k) {
            std::array<unsigned char, net::head_size> const head{static_cast<unsigned char>(k)};
            std::fill(room_.begin(), room_.end(), static_cast<char>(k));
            iovec const piece{room_.data(), room_.size()};
            sent_ = wire_->send(peer, head.data(), {&piece, 1}, {}, net::memory::borrow, this);
            until([&] { return sent_; });
        }
        until([&] { return closed_; }); // the other side has all
    }
    // MB/s, from the first byte of the first frame to the last byte of the last one.
    double receive_all() {
        until([&] { return come_ == frames; });
        auto const seconds = std::chrono::duration<double>(clock_type::now() - first_).count();
        return 1e-6 * static_cast<double>(frames * frame_size) / seconds;
    }

    net::destination begun(net::peer, std::byte const* head, std::uint64_t size) override {
        if (static_cast<unsigned>(head[0]) != come_ || size != frame_size)
            throw std::runtime_error("a frame is not the one whose turn it is");
        if (come_ == 0) first_ = clock_type::now();
        place_ = {room_.data(), room_.size()};
        return {{&place_, 1}, this};
    }
    void arrived(net::peer, void*) override {
        auto const expected = static_cast<char>(come_++);
        if (std::any_of(room_.begin(), room_.end(), [&](char it) { return it != expected; }))
            throw std::runtime_error("a frame arrived with other data");
    }
    void lost(void*) override {}
    void sent(void*) override { sent_ = true; }
    void failed(void*, int error) override { failed_ = error; }
    void closed(net::peer, int error) override {
        closed_ = true;
        failed_ = error;
    }

private:
    template <typename Holds> void until(Holds holds) {
        while (!holds()) {
            if (!wire_->poll()) {
                pollfd one{wire_->wait_fd(), POLLIN, 0};
                ::poll(&one, 1, 1);
            }
            if (failed_) throw std::system_error(failed_, std::generic_category(), "a connection");
        }
    }

    std::vector<char> room_;
    iovec place_{};
    clock_type::time_point first_;
    unsigned come_ = 0;
    bool sent_ = false, closed_ = false;
    int failed_ = 0;
    std::unique_ptr<net::wire> wire_;
};

} // namespace

int main() try {
    if (!std::getenv("ASSAY_THERE_NAMESPACE")) {
        std::fprintf(stderr, "assay-reproduce-streams: on one network there is no long way; it needs one of its own\n");
        return reproduce::unsupported;
    }
    if (access("/dev/net/tun", R_OK | W_OK) < 0) {
        std::fprintf(stderr, "assay-reproduce-streams: a long way between two networks needs /dev/net/tun\n");
        return reproduce::unsupported;
    }
    long_pipe const way(delay);
    std::uint16_t port = 7000;
    for (unsigned const streams : {1u, 2u, 4u}) {
        ++port;
        auto receiver = std::make_unique<side>(streams, long_pipe::here, port);
        reproduce::on_both_sides(
            [&] {
                std::printf("streams.%u %.3f\n", streams, receiver->receive_all());
                receiver.reset(); // that tells the other side
            },
            [&] { side(streams, long_pipe::there, port).send_all(name(long_pipe::here, port)); });
    }
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "assay-reproduce-streams: %s\n", e.what());
    return 1;
}
