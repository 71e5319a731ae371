// FI_THREAD_SAFE: any thread calls anything, and gets what others have begun. ThreadSanitizer looks at this:
//   cmake --preset tsan -S transports && cmake --build build/tsan/transports --target assay-provider-tcp-tests
//   build/tsan/transports/assay-provider-tcp-tests --gtest_filter='threads.*'
#include "tests/cpp/transports/core/side.hpp"

#include <atomic>
#include <rdma/fi_atomic.h>
#include <thread>

namespace assay::ofi {
namespace {

constexpr unsigned count = 4;

struct threads : testing::Test {
    struct operation {
        std::atomic<int> ended = 0; // times
        std::atomic<int> error = 0;
    };

    static void by_itself(fi_info& wish) { wish.domain_attr->data_progress = FI_PROGRESS_AUTO; }

    // Whoever looks ends the operations of all.
    static void end_some(side& at) {
        fi_cq_tagged_entry entries[4];
        auto const got = fi_cq_read(at.cq, entries, 4);
        for (ssize_t k = 0; k < got; ++k) ++static_cast<operation*>(entries[k].op_context)->ended;
        if (got != -FI_EAVAIL) return;
        fi_cq_err_entry error{};
        if (fi_cq_readerr(at.cq, &error, 0) != 1) return; // another thread has it
        auto& ended = *static_cast<operation*>(error.op_context);
        ended.error = error.err;
        ++ended.ended;
    }
};

void post_and_read(side& a, side& b) {
    using operation = threads::operation;
    auto const to_b = a.meet(b.name), to_a = b.meet(a.name);
    constexpr unsigned rounds = 150;
    std::uint64_t counter = 0;
    fid_mr* region = nullptr;
    ASSERT_EQ(
        fi_mr_reg(b.domain, &counter, sizeof counter, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 5, 0, &region, nullptr), 0);
    auto const base = b.about->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? reinterpret_cast<std::uintptr_t>(&counter) : 0;
    auto const key = fi_mr_key(region);
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::atomic<unsigned> wrong = 0, late = 0;
    std::vector<operation> operations(count * rounds * 3); // outlive the threads: each ends those of others
    auto const work = [&](unsigned self) {
        std::uint64_t const step = 1;
        for (unsigned round = 0; round < rounds; ++round) {
            auto* const mine = &operations[(self * rounds + round) * 3];
            // Small ones are sent at once, large ones are announced; both ways.
            std::size_t const size = round % 10 == 0 ? 100'000 : 1 + round;
            auto& from = round % 2 ? a : b;
            auto& to = round % 2 ? b : a;
            auto const data = pattern(size, self * 1000 + round);
            bytes got(size);
            std::uint64_t const tag = std::uint64_t{self} << 32 | round;
            std::uint64_t before = 0;
            bool const add = configured().atomic;
            wrong += fi_trecv(to.ep, got.data(), size, nullptr, FI_ADDR_UNSPEC, tag, 0, &mine[0]) != 0;
            wrong += fi_tsend(from.ep, data.data(), size, nullptr, round % 2 ? to_b : to_a, tag, &mine[1]) != 0;
            if (add)
                wrong += fi_fetch_atomic(a.ep, &step, 1, nullptr, &before, nullptr, to_b, base, key, FI_UINT64, FI_SUM,
                                         &mine[2]) != 0;
            while (!mine[0].ended || !mine[1].ended || (add && !mine[2].ended)) {
                threads::end_some(a);
                threads::end_some(b);
                if (std::chrono::steady_clock::now() > limit) {
                    ++late;
                    return; // what was posted still uses the memory; the test has failed
                }
            }
            for (unsigned k = 0; k < 3; ++k) wrong += mine[k].error != 0 || mine[k].ended > 1;
            wrong += got != data;
        }
    };
    std::vector<std::thread> all;
    for (unsigned k = 0; k < count; ++k) all.emplace_back(work, k);
    for (auto& each : all) each.join();
    EXPECT_EQ(late, 0u);
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(counter, configured().atomic ? count * rounds : 0u);
    EXPECT_EQ(fi_close(&region->fid), 0);
}

TEST_F(threads, fourPostAndReadAtOnce) {
    side a, b;
    post_and_read(a, b);
}

TEST_F(threads, fourPostAndReadBesideTheDomains) {
    side a(
        0, [](side&) {}, by_itself),
        b(
            0, [](side&) {}, by_itself);
    post_and_read(a, b);
}

// Everything else that may be called at any time: what is opened and closed, looked up and waited for.
TEST_F(threads, fourOpenAndCloseAtOnce) {
    constexpr unsigned rounds = 40;
    side a, b;
    auto const to_b = a.meet(b.name), to_a = b.meet(a.name);
    std::atomic<unsigned> wrong = 0;
    std::atomic<bool> done = false;
    auto const work = [&](unsigned self) {
        for (unsigned round = 0; round < rounds; ++round) {
            unsigned char byte = 0;
            operation cancelled;
            fid_mr* region = nullptr;
            fid_cntr* counter = nullptr;
            fid_ep* other = nullptr;
            fi_addr_t number = 0;
            fi_cntr_attr plain{};
            std::uint64_t const key = self * rounds + round;
            wrong += fi_mr_reg(a.domain, &byte, 1, FI_REMOTE_WRITE, 0, key, 0, &region, nullptr) != 0;
            wrong += fi_cntr_open(a.domain, &plain, &counter, nullptr) != 0;
            wrong += fi_mr_bind(region, &counter->fid, FI_REMOTE_WRITE) != 0;
            wrong += fi_endpoint(a.domain, a.about.get(), &other, nullptr) != 0;
            wrong += fi_ep_bind(other, &a.av->fid, 0) != 0;
            wrong += fi_ep_bind(other, &a.cq->fid, FI_TRANSMIT | FI_RECV) != 0;
            wrong += fi_enable(other) != 0;
            wrong += fi_av_insert(a.av, &b.name, 1, &number, 0, nullptr) != 1;
            wrong += fi_trecv(other, &byte, 1, nullptr, FI_ADDR_UNSPEC, key, 0, &cancelled) != 0;
            wrong += fi_cancel(&other->fid, &cancelled) != 0;
            while (!cancelled.ended) end_some(a);
            wrong += cancelled.error != FI_ECANCELED;
            wrong += fi_cntr_read(counter) != 0;
            wrong += fi_close(&other->fid) != 0;
            wrong += fi_av_remove(a.av, &number, 1, 0) != 0;
            wrong += fi_close(&region->fid) != 0;
            wrong += fi_close(&counter->fid) != 0;
        }
    };
    // Meanwhile there is somebody who sleeps until a message comes, and somebody who sends it.
    std::atomic<unsigned> asked = 0;
    std::thread sleeper([&] {
        unsigned char byte = 0;
        do {
            operation received;
            wrong += fi_trecv(b.ep, &byte, 1, nullptr, to_a, 1, 0, &received) != 0;
            ++asked;
            while (!received.ended) {
                fi_cq_tagged_entry entry{};
                if (fi_cq_sread(b.cq, &entry, 1, nullptr, 100) == 1) ++static_cast<operation*>(entry.op_context)->ended;
            }
        } while (!done);
        asked = ~0u;
    });
    std::thread sender([&] {
        unsigned char const byte = 1;
        // A long message is asked for, and moves only while its sender looks.
        for (unsigned sent = 0; asked != ~0u; end_some(a))
            if (sent != asked) {
                wrong += injected(a, to_b, &byte, 1, 1) != 0;
                ++sent;
            }
    });
    std::vector<std::thread> all;
    for (unsigned k = 0; k < count; ++k) all.emplace_back(work, k);
    for (auto& each : all) each.join();
    done = true;
    sleeper.join();
    sender.join();
    EXPECT_EQ(wrong, 0u);
}

} // namespace
} // namespace assay::ofi
