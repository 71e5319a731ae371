// Processes as the tests of the provider see them: everything from a fabric to an endpoint, several in one real process.
#pragma once
#include "transports/core/ep.hpp"
#include "transports/core/info.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_OTHER_MALLOC 1
#else
#define ASSAY_OTHER_MALLOC 0
#endif

namespace assay::ofi {

// Bytes that malloc has given out; 0 where a sanitizer has another malloc.
inline std::size_t allocated() { return ASSAY_OTHER_MALLOC ? 0 : mallinfo2().uordblks + mallinfo2().hblkhd; }

using bytes = std::vector<unsigned char>;

inline bytes pattern(std::size_t size, unsigned seed) {
    bytes data(size);
    for (std::size_t k = 0; k < size; ++k) data[k] = static_cast<unsigned char>(k * 13 + seed + (k >> 8));
    return data;
}

struct info_deleter {
    void operator()(fi_info* it) const { fi_freeinfo(it); }
};
using info = std::unique_ptr<fi_info, info_deleter>;

constexpr int mr_modes = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_LOCAL;

inline int ask(std::function<void(fi_info&)> const& edit, info& found, std::uint32_t version = FI_VERSION(1, 17)) {
    info const hints(fi_allocinfo());
    hints->domain_attr->mr_mode = mr_modes;
    edit(*hints);
    fi_info* raw = nullptr;
    int const result = get_info(version, nullptr, nullptr, 0, hints.get(), &raw);
    found.reset(raw);
    return result;
}

struct side {
    struct event {
        fi_cq_tagged_entry entry{};
        fi_addr_t from = FI_ADDR_NOTAVAIL;
        int error = 0;
        std::size_t cut = 0;
        int detail = 0; // prov_errno
    };

    // `prepare` binds what else the endpoint needs, before it is enabled; `edit` what is asked of the provider.
    explicit side(
        std::uint64_t queue_flags = 0, std::function<void(side&)> const& prepare = [](side&) {},
        std::function<void(fi_info&)> const& edit = [](fi_info&) {}) {
        EXPECT_EQ(ask(edit, about), 0);
        EXPECT_EQ(open_fabric(about->fabric_attr, &fabric, nullptr), 0);
        EXPECT_EQ(fi_domain(fabric, about.get(), &domain, nullptr), 0);
        fi_av_attr av_wish{};
        EXPECT_EQ(fi_av_open(domain, &av_wish, &av, nullptr), 0);
        fi_cq_attr cq_wish{};
        cq_wish.format = FI_CQ_FORMAT_TAGGED;
        cq_wish.wait_obj = FI_WAIT_FD;
        EXPECT_EQ(fi_cq_open(domain, &cq_wish, &cq, nullptr), 0);
        EXPECT_EQ(fi_endpoint(domain, about.get(), &ep, nullptr), 0);
        EXPECT_EQ(fi_ep_bind(ep, &av->fid, 0), 0);
        EXPECT_EQ(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV | queue_flags), 0);
        prepare(*this);
        EXPECT_EQ(fi_enable(ep), 0);
        std::size_t size = sizeof name;
        EXPECT_EQ(fi_getname(&ep->fid, &name, &size), 0);
        EXPECT_EQ(size, sizeof name);
    }
    ~side() { close(); }
    void close() {
        if (!ep) return;
        EXPECT_EQ(fi_close(&cq->fid), -FI_EBUSY);
        EXPECT_EQ(fi_close(&ep->fid), 0);
        EXPECT_EQ(fi_close(&cq->fid), 0);
        EXPECT_EQ(fi_close(&av->fid), 0);
        if (before_domain) before_domain();
        EXPECT_EQ(fi_close(&domain->fid), 0);
        EXPECT_EQ(fi_close(&fabric->fid), 0);
        ep = nullptr;
    }
    fi_addr_t meet(sockaddr_in const& other) {
        fi_addr_t number = FI_ADDR_NOTAVAIL;
        EXPECT_EQ(fi_av_insert(av, &other, 1, &number, 0, nullptr), 1);
        return number;
    }
    void look() {
        event it;
        auto const got = fi_cq_readfrom(cq, &it.entry, 1, &it.from);
        if (got == 1) events.push_back(it);
        if (got != -FI_EAVAIL) return;
        fi_cq_err_entry error{};
        EXPECT_EQ(fi_cq_readerr(cq, &error, 0), 1);
        it.entry = {error.op_context, error.flags, error.len, error.buf, error.data, error.tag};
        it.error = error.err;
        it.cut = error.olen;
        it.detail = error.prov_errno;
        events.push_back(it);
    }
    // The event of an operation, taken out; one with error -1 when it does not come within two seconds.
    event wait(void const* context, side& other) {
        auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        while (true) {
            auto const at = std::find_if(events.begin(), events.end(),
                                         [&](event const& it) { return it.entry.op_context == context; });
            if (at != events.end()) {
                event const found = *at;
                events.erase(at);
                return found;
            }
            look();
            other.look();
            if (std::chrono::steady_clock::now() > limit) {
                event none;
                none.error = -1;
                return none;
            }
        }
    }
    // Looks around until it holds; false after two seconds.
    bool until(std::function<bool()> const& holds, side& other) {
        auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        while (!holds()) {
            look();
            other.look();
            if (std::chrono::steady_clock::now() > limit) return false;
        }
        return true;
    }

    info about;
    fid_fabric* fabric = nullptr;
    fid_domain* domain = nullptr;
    fid_av* av = nullptr;
    fid_cq* cq = nullptr;
    fid_ep* ep = nullptr;
    sockaddr_in name{};
    std::vector<event> events;
    std::function<void()> before_domain; // closes what prepare() made
};

// fi_tinject, as often as it asks for: a connection may have to be made first.
inline ssize_t injected(side& by, fi_addr_t to, void const* data, std::size_t size, std::uint64_t tag) {
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (true) {
        auto const result = fi_tinject(by.ep, data, size, to, tag);
        if (result != -FI_EAGAIN || std::chrono::steady_clock::now() > limit) return result;
    }
}

struct two_sides : testing::Test {
    side a, b;
    fi_addr_t to_b = a.meet(b.name), to_a = b.meet(a.name);
    int one = 0, two = 0, three = 0; // their addresses are contexts
};

} // namespace assay::ofi
