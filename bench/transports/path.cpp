// assay-bench-path: the processor time that a message costs over a provider of libfabric, in the program and in the system, with
// both ends in one thread. Nobody waits for anybody, so that it says the same on a busy machine, where latency and bandwidth
// say how busy it is.
//   FI_PROVIDER_PATH=FOLDER assay-bench-path PROVIDER [BYTES…]
#include "bench/transports/fabric.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using assay::bench::check, assay::bench::end, assay::bench::tag;

constexpr int rounds = 200; // the best of them

double processor_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class pair {
public:
    explicit pair(char const* provider) {
        assay::bench::domain const domain(provider);
        for (auto& one : ends_) one = std::make_unique<end>(domain);
        ends_[0]->meet(ends_[1]->name());
        ends_[1]->meet(ends_[0]->name());
    }

    double seconds(std::size_t size) {
        out_.resize(size);
        in_.resize(size);
        auto const turns = std::clamp<std::size_t>((4u << 20) / size, 4, 200);
        double best = 0;
        for (int round = 0; round < rounds; ++round) {
            auto const begin = processor_time();
            for (std::size_t k = 0; k < turns; ++k) {
                carry(*ends_[0], *ends_[1]);
                carry(*ends_[1], *ends_[0]);
            }
            auto const each = (processor_time() - begin) / (2.0 * static_cast<double>(turns));
            best = round == 0 ? each : std::min(best, each);
        }
        return best;
    }

private:
    void carry(end& from, end& to) {
        out_.front() = out_.back() = static_cast<char>(++number_);
        check(fi_trecv(to.ep, in_.data(), in_.size(), nullptr, to.peer, tag, 0, &receiving_), "fi_trecv");
        ssize_t begun = 0;
        while ((begun = fi_tsend(from.ep, out_.data(), out_.size(), nullptr, from.peer, tag, &sending_)) == -FI_EAGAIN)
            if (from.one_has_ended() || to.one_has_ended()) throw std::runtime_error("an end before the beginning");
        check(begun, "fi_tsend");
        for (bool sent = false, received = false; !sent || !received;) {
            received = received || to.one_has_ended();
            sent = sent || from.one_has_ended();
        }
        if (in_.front() != out_.front() || in_.back() != out_.back())
            throw std::runtime_error("a message of " + std::to_string(in_.size()) + " bytes arrived with other data");
    }

    std::array<std::unique_ptr<end>, 2> ends_;
    std::vector<char> out_, in_;
    fi_context2 sending_{}, receiving_{};
    unsigned char number_ = 0;
};

} // namespace

int main(int argc, char** argv) try {
    if (argc < 2) {
        std::fprintf(stderr, "usage: assay-bench-path PROVIDER [BYTES…]\n");
        return 2;
    }
    std::vector<std::string> sizes(argv + 2, argv + argc);
    if (sizes.empty()) sizes = {"8", "65536", "1048576"};
    pair both(argv[1]);
    for (auto const& size : sizes)
        std::printf("%s %s B: %.2f us\n", argv[1], size.c_str(),
                    1e6 * both.seconds(std::max<std::size_t>(1, std::stoul(size))));
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "assay-bench-path: %s\n", e.what());
    return 1;
}
