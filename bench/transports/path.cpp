// assay-bench-path: the processor time that a message costs over a provider of libfabric, in the program and in the system, with
// both ends in one thread. Nobody waits for anybody, so that it says the same on a busy machine, where latency and bandwidth
// say how busy it is.
//   FI_PROVIDER_PATH=FOLDER assay-bench-path PROVIDER [BYTES…]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int rounds = 200; // the best of them
constexpr std::uint64_t tag = 5;

void check(ssize_t result, char const* what) {
    if (result < 0) throw std::runtime_error(std::string(what) + ": " + fi_strerror(static_cast<int>(-result)));
}

double processor_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What the provider offers is asked for as MPI libraries do; never freed, as all that is opened here.
fi_info* find(char const* provider) {
    fi_info* const hints = fi_allocinfo();
    hints->caps = FI_MSG | FI_TAGGED;
    hints->mode = FI_CONTEXT;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    fi_info* found = nullptr;
    check(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &found), "fi_getinfo");
    return found;
}

struct end {
    end(fid_domain* in, fi_info* how) {
        check(fi_endpoint(in, how, &ep, nullptr), "fi_endpoint");
        fi_cq_attr queue{};
        queue.format = FI_CQ_FORMAT_TAGGED;
        check(fi_cq_open(in, &queue, &cq, nullptr), "fi_cq_open");
        fi_av_attr addresses{};
        check(fi_av_open(in, &addresses, &av, nullptr), "fi_av_open");
        check(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
        check(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
        check(fi_enable(ep), "fi_enable");
    }
    void meet(end const& other) {
        std::array<char, 256> name{};
        std::size_t size = name.size();
        check(fi_getname(&other.ep->fid, name.data(), &size), "fi_getname");
        if (fi_av_insert(av, name.data(), 1, &peer, 0, nullptr) != 1) throw std::runtime_error("fi_av_insert failed");
    }
    // Takes one completion, if there is one.
    bool one_has_ended() {
        fi_cq_tagged_entry it{};
        auto const got = fi_cq_read(cq, &it, 1);
        if (got != -FI_EAGAIN) check(got, "fi_cq_read");
        return got == 1;
    }

    fid_ep* ep = nullptr;
    fid_cq* cq = nullptr;
    fid_av* av = nullptr;
    fi_addr_t peer = FI_ADDR_UNSPEC;
    fi_context2 context{};
};

class pair {
public:
    explicit pair(char const* provider) {
        auto* const how = find(provider);
        fid_fabric* fabric = nullptr;
        fid_domain* domain = nullptr;
        check(fi_fabric(how->fabric_attr, &fabric, nullptr), "fi_fabric");
        check(fi_domain(fabric, how, &domain, nullptr), "fi_domain");
        for (auto& one : ends_) one = std::make_unique<end>(domain, how);
        ends_[0]->meet(*ends_[1]);
        ends_[1]->meet(*ends_[0]);
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
        check(fi_trecv(to.ep, in_.data(), in_.size(), nullptr, to.peer, tag, 0, &to.context), "fi_trecv");
        ssize_t begun = 0;
        while ((begun = fi_tsend(from.ep, out_.data(), out_.size(), nullptr, from.peer, tag, &from.context)) ==
               -FI_EAGAIN)
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
