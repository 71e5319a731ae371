// Who moves what has come: the program's calls, or a thread of the domain (FI_PROGRESS_AUTO).
#include "tests/cpp/transports/core/side.hpp"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <thread>

namespace assay::ofi {
namespace {

struct progress : testing::Test {
    static void by_itself(fi_info& wish) { wish.domain_attr->data_progress = FI_PROGRESS_AUTO; }
    static void by_calls(fi_info&) {}

    // Two seconds are long enough for what comes; what does not come is waited for for a tenth of one.
    static bool comes(side& at, void const* context, std::chrono::milliseconds limit) {
        auto const end = std::chrono::steady_clock::now() + limit;
        while (std::chrono::steady_clock::now() < end) {
            at.look();
            for (auto const& it : at.events)
                if (it.entry.op_context == context) {
                    EXPECT_EQ(it.error, 0);
                    return true;
                }
        }
        return false;
    }
    static constexpr std::chrono::milliseconds soon{100}, at_last{2000};
    int one = 0, two = 0;
};

TEST_F(progress, isOfferedAsItIsAskedFor) {
    info found;
    ASSERT_EQ(ask([](fi_info& wish) { wish.domain_attr->control_progress = FI_PROGRESS_AUTO; }, found), 0);
    EXPECT_EQ(found->domain_attr->control_progress, FI_PROGRESS_AUTO);
    EXPECT_EQ(found->domain_attr->data_progress, FI_PROGRESS_MANUAL);
    ASSERT_EQ(ask(by_itself, found), 0);
    EXPECT_EQ(found->domain_attr->control_progress, FI_PROGRESS_MANUAL);
    EXPECT_EQ(found->domain_attr->data_progress, FI_PROGRESS_AUTO);
}

// A target that stays away answers reads; without the thread it does not before it looks.
TEST_F(progress, answersForATargetThatStaysAway) {
    if (!configured().rma) GTEST_SKIP();
    for (bool const automatic : {true, false}) {
        side a;
        side b(
            0, [](side&) {}, automatic ? by_itself : by_calls);
        auto const to_b = a.meet(b.name);
        auto memory = pattern(100'000, 1);
        fid_mr* region = nullptr;
        ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), FI_REMOTE_READ, 0, 5, 0, &region, nullptr), 0);
        auto const base =
            b.about->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0;
        bytes got(memory.size());
        ASSERT_EQ(fi_read(a.ep, got.data(), got.size(), nullptr, to_b, base, fi_mr_key(region), &one), 0);
        if (automatic) {
            EXPECT_TRUE(comes(a, &one, at_last));
        } else {
            EXPECT_FALSE(comes(a, &one, soon));
            EXPECT_EQ(a.wait(&one, b).error, 0);
        }
        EXPECT_EQ(got, memory);
        EXPECT_EQ(fi_close(&region->fid), 0);
    }
}

// A message that is announced needs both sides twice; here neither calls anything until the receiver asks what has come.
TEST_F(progress, bringsAnnouncedMessages) {
    side a(
        0, [](side&) {}, by_itself);
    side b;
    auto const to_b = a.meet(b.name);
    auto const data = pattern(2'000'000, 2);
    bytes got(data.size());
    ASSERT_EQ(fi_trecv(b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, &two), 0);
    ASSERT_EQ(fi_tsend(a.ep, data.data(), data.size(), nullptr, to_b, 1, &one), 0);
    EXPECT_TRUE(comes(b, &two, at_last));
    EXPECT_EQ(got, data);
    EXPECT_TRUE(comes(a, &one, at_last));
}

// Somebody who sleeps on the queue is woken by what the thread has moved.
TEST_F(progress, wakesWhoSleeps) {
    side a(
        0, [](side&) {}, by_itself),
        b(
            0, [](side&) {}, by_itself);
    auto const to_b = a.meet(b.name);
    auto const data = pattern(2'000'000, 3);
    bytes got(data.size());
    ASSERT_EQ(fi_trecv(b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, &two), 0);
    ASSERT_EQ(fi_tsend(a.ep, data.data(), data.size(), nullptr, to_b, 1, &one), 0);
    for (auto const& [at, context] : {std::pair<side*, int*>{&b, &two}, {&a, &one}}) {
        fi_cq_tagged_entry entry{};
        ASSERT_EQ(fi_cq_sread(at->cq, &entry, 1, nullptr, 5000), 1);
        EXPECT_EQ(entry.op_context, context);
    }
    EXPECT_EQ(got, data);
}

// Endpoints of one domain come and go while the thread moves the others.
TEST_F(progress, outlivesEndpoints) {
    side a(
        0, [](side&) {}, by_itself);
    side b;
    auto const to_b = a.meet(b.name);
    for (int round = 0; round < 20; ++round) {
        fid_ep* other = nullptr;
        ASSERT_EQ(fi_endpoint(a.domain, a.about.get(), &other, nullptr), 0);
        ASSERT_EQ(fi_ep_bind(other, &a.av->fid, 0), 0);
        ASSERT_EQ(fi_ep_bind(other, &a.cq->fid, FI_TRANSMIT | FI_RECV), 0);
        ASSERT_EQ(fi_enable(other), 0);
        unsigned char got = 0, sent = 3;
        ASSERT_EQ(fi_trecv(b.ep, &got, 1, nullptr, FI_ADDR_UNSPEC, 1, 0, &two), 0);
        ASSERT_EQ(fi_tsend(round % 2 ? other : a.ep, &sent, 1, nullptr, to_b, 1, &one), 0);
        EXPECT_TRUE(comes(b, &two, at_last));
        b.events.clear();
        EXPECT_TRUE(comes(a, &one, at_last));
        a.events.clear();
        EXPECT_EQ(fi_close(&other->fid), 0);
    }
}

} // namespace
} // namespace assay::ofi
