// A provider of libfabric without an MPI library above it, asked for what MPI libraries ask for.
#pragma once
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <system_error>

namespace assay::bench {

inline constexpr std::uint64_t tag = 5;

inline void check(ssize_t result, char const* what) {
    if (result < 0) throw std::runtime_error(std::string(what) + ": " + fi_strerror(static_cast<int>(-result)));
}

// Returns when the other process, at the end of a socket, is here, too; get_on() meanwhile gives it what it still waits for. False: it has
// gone.
template <class GetOn> bool meet(int partner, GetOn get_on) {
    char word = 0;
    auto const fail = [] { throw std::system_error(errno, std::generic_category(), "the other process"); };
    if (::send(partner, &word, 1, MSG_NOSIGNAL) < 0) fail();
    ssize_t got = 0;
    while ((got = ::recv(partner, &word, 1, MSG_DONTWAIT)) < 0) {
        if (errno != EAGAIN && errno != EINTR) fail();
        get_on();
    }
    return got > 0;
}

inline fi_info* find(char const* provider) {
    fi_info* const hints = fi_allocinfo();
    hints->caps = FI_MSG | FI_TAGGED;
    hints->mode = FI_CONTEXT;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    fi_info* found = nullptr;
    check(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &found), "fi_getinfo");
    auto const instead = std::string(found->fabric_attr->prov_name);
    while (found && std::strcmp(found->fabric_attr->prov_name, provider) != 0) found = found->next;
    if (!found) throw std::runtime_error("instead of " + std::string(provider) + " this libfabric has " + instead);
    return found;
}

// Never closed: it lasts as long as the process.
struct domain {
    explicit domain(char const* provider) : info(find(provider)) {
        fid_fabric* fabric = nullptr;
        check(fi_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
        check(fi_domain(fabric, info, &it, nullptr), "fi_domain");
    }

    fi_info* info;
    fid_domain* it = nullptr;
};

struct end {
    explicit end(domain const& in) {
        check(fi_endpoint(in.it, in.info, &ep, nullptr), "fi_endpoint");
        fi_cq_attr queue{};
        queue.format = FI_CQ_FORMAT_TAGGED;
        check(fi_cq_open(in.it, &queue, &cq, nullptr), "fi_cq_open");
        fi_av_attr addresses{};
        check(fi_av_open(in.it, &addresses, &av, nullptr), "fi_av_open");
        check(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
        check(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
        check(fi_enable(ep), "fi_enable");
    }
    ~end() { fi_close(&ep->fid); } // an endpoint of ours then writes what it has counted
    end(end const&) = delete;
    end& operator=(end const&) = delete;

    std::string name() const {
        std::array<char, 256> bytes{};
        std::size_t size = bytes.size();
        check(fi_getname(&ep->fid, bytes.data(), &size), "fi_getname");
        return {bytes.data(), size};
    }
    void meet(std::string const& other) {
        if (fi_av_insert(av, other.data(), 1, &peer, 0, nullptr) != 1) throw std::runtime_error("fi_av_insert failed");
    }
    // Takes one completion, if there is one.
    bool one_has_ended() {
        fi_cq_tagged_entry it{};
        auto const got = fi_cq_read(cq, &it, 1);
        if (got == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            check(fi_cq_readerr(cq, &error, 0), "fi_cq_readerr");
            throw std::runtime_error(std::string("a message failed: ") + fi_strerror(error.err));
        }
        if (got != -FI_EAGAIN) check(got, "fi_cq_read");
        return got == 1;
    }

    fid_ep* ep = nullptr;
    fid_cq* cq = nullptr;
    fid_av* av = nullptr;
    fi_addr_t peer = FI_ADDR_UNSPEC;
};

} // namespace assay::bench
