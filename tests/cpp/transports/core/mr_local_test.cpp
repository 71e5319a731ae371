// mr_local: memory that a call uses here needs a descriptor, too. ctest runs these with that switch; all other tests pass none.
#include "tests/cpp/transports/core/side.hpp"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

namespace assay::ofi {
namespace {

constexpr std::uint64_t all_uses =
    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE; // of registered memory

struct mr_local : two_sides {
    static constexpr std::size_t size = 64;
    bytes memory = pattern(size, 1), there = pattern(size, 2);
    std::vector<fid_mr*> regions;
    fid_mr* remote = nullptr;

    void SetUp() override {
        if (!(configured().mr_mode & FI_MR_LOCAL)) GTEST_SKIP() << "ASSAY_TRANSPORT=mr_local demands it";
        ASSERT_EQ(fi_mr_reg(b.domain, there.data(), size, all_uses, 0, 5, 0, &remote, nullptr), 0);
        b.before_domain = [this] { EXPECT_EQ(fi_close(&remote->fid), 0); };
        a.before_domain = [this] {
            for (auto* region : regions) EXPECT_EQ(fi_close(&region->fid), 0);
        };
    }
    // What has begun uses the memory until then.
    void TearDown() override {
        a.close();
        b.close();
    }
    void* descriptor(void* from, std::size_t length, std::uint64_t access) {
        fid_mr* region = nullptr;
        EXPECT_EQ(fi_mr_reg(a.domain, from, length, access, 0, regions.size(), 0, &region, nullptr), 0);
        regions.push_back(region);
        return fi_mr_desc(region);
    }

    // A call with this descriptor for its memory; others of it, if it has some, are good.
    struct call {
        char const* name;
        std::uint64_t use;
        std::function<ssize_t(void*)> make;
    };
    std::vector<call> calls() {
        void* const at = memory.data();
        auto* const ep = a.ep;
        auto const to = to_b;
        auto const base = b.about->domain_attr->mr_mode & FI_MR_VIRT_ADDR
                              ? reinterpret_cast<std::uintptr_t>(there.data())
                              : std::uintptr_t{0};
        auto const key = fi_mr_key(remote);
        void* const good = descriptor(at, size, all_uses);
        static iovec piece;
        static fi_ioc element;
        static fi_rma_iov target;
        static fi_rma_ioc elements;
        piece = {at, size};
        element = {at, 1};
        target = {base, size, key};
        elements = {base, 1, key};
        auto const plain = [=, this](void** desc) { return fi_msg{&piece, desc, 1, to, &one, 0}; };
        auto const tagged = [=, this](void** desc) { return fi_msg_tagged{&piece, desc, 1, to, 1, 0, &one, 0}; };
        auto const rma = [=, this](void** desc) { return fi_msg_rma{&piece, desc, 1, to, &target, 1, &one, 0}; };
        auto const atomic = [=, this](void** desc) {
            return fi_msg_atomic{&element, desc, 1, to, &elements, 1, FI_UINT64, FI_SUM, &one, 0};
        };
        return {
            {"recv", FI_RECV, [=, this](void* d) { return fi_recv(ep, at, size, d, to, &one); }},
            {"recvv", FI_RECV, [=, this](void* d) { return fi_recvv(ep, &piece, &d, 1, to, &one); }},
            {"recvmsg", FI_RECV,
             [=](void* d) {
                 auto const said = plain(&d);
                 return fi_recvmsg(ep, &said, 0);
             }},
            {"trecv", FI_RECV, [=, this](void* d) { return fi_trecv(ep, at, size, d, to, 1, 0, &one); }},
            {"trecvv", FI_RECV, [=, this](void* d) { return fi_trecvv(ep, &piece, &d, 1, to, 1, 0, &one); }},
            {"trecvmsg", FI_RECV,
             [=](void* d) {
                 auto const said = tagged(&d);
                 return fi_trecvmsg(ep, &said, 0);
             }},
            {"send", FI_SEND, [=, this](void* d) { return fi_send(ep, at, size, d, to, &one); }},
            {"sendv", FI_SEND, [=, this](void* d) { return fi_sendv(ep, &piece, &d, 1, to, &one); }},
            {"sendmsg", FI_SEND,
             [=](void* d) {
                 auto const said = plain(&d);
                 return fi_sendmsg(ep, &said, 0);
             }},
            {"senddata", FI_SEND, [=, this](void* d) { return fi_senddata(ep, at, size, d, 3, to, &one); }},
            {"tsend", FI_SEND, [=, this](void* d) { return fi_tsend(ep, at, size, d, to, 1, &one); }},
            {"tsendv", FI_SEND, [=, this](void* d) { return fi_tsendv(ep, &piece, &d, 1, to, 1, &one); }},
            {"tsendmsg", FI_SEND,
             [=](void* d) {
                 auto const said = tagged(&d);
                 return fi_tsendmsg(ep, &said, 0);
             }},
            {"tsenddata", FI_SEND, [=, this](void* d) { return fi_tsenddata(ep, at, size, d, 3, to, 1, &one); }},
            {"read", FI_READ, [=, this](void* d) { return fi_read(ep, at, size, d, to, base, key, &one); }},
            {"readv", FI_READ, [=, this](void* d) { return fi_readv(ep, &piece, &d, 1, to, base, key, &one); }},
            {"readmsg", FI_READ,
             [=](void* d) {
                 auto const said = rma(&d);
                 return fi_readmsg(ep, &said, 0);
             }},
            {"write", FI_WRITE, [=, this](void* d) { return fi_write(ep, at, size, d, to, base, key, &one); }},
            {"writev", FI_WRITE, [=, this](void* d) { return fi_writev(ep, &piece, &d, 1, to, base, key, &one); }},
            {"writemsg", FI_WRITE,
             [=](void* d) {
                 auto const said = rma(&d);
                 return fi_writemsg(ep, &said, 0);
             }},
            {"writedata", FI_WRITE,
             [=, this](void* d) { return fi_writedata(ep, at, size, d, 3, to, base, key, &one); }},
            {"atomic", FI_WRITE,
             [=, this](void* d) { return fi_atomic(ep, at, 1, d, to, base, key, FI_UINT64, FI_SUM, &one); }},
            {"atomicv", FI_WRITE,
             [=, this](void* d) { return fi_atomicv(ep, &element, &d, 1, to, base, key, FI_UINT64, FI_SUM, &one); }},
            {"atomicmsg", FI_WRITE,
             [=](void* d) {
                 auto const said = atomic(&d);
                 return fi_atomicmsg(ep, &said, 0);
             }},
            {"fetch_atomic, operand", FI_WRITE,
             [=, this](void* d) {
                 return fi_fetch_atomic(ep, at, 1, d, at, good, to, base, key, FI_UINT64, FI_SUM, &one);
             }},
            {"fetch_atomic, result", FI_READ,
             [=, this](void* d) {
                 return fi_fetch_atomic(ep, at, 1, good, at, d, to, base, key, FI_UINT64, FI_SUM, &one);
             }},
            {"fetch_atomicmsg, result", FI_READ,
             [=](void* d) {
                 void* ours = good;
                 auto const said = atomic(&ours);
                 return fi_fetch_atomicmsg(ep, &said, &element, &d, 1, 0);
             }},
            {"compare_atomic, operand", FI_WRITE,
             [=, this](void* d) {
                 return fi_compare_atomic(ep, at, 1, d, at, good, at, good, to, base, key, FI_UINT64, FI_CSWAP, &one);
             }},
            {"compare_atomic, compare", FI_WRITE,
             [=, this](void* d) {
                 return fi_compare_atomic(ep, at, 1, good, at, d, at, good, to, base, key, FI_UINT64, FI_CSWAP, &one);
             }},
            {"compare_atomic, result", FI_READ,
             [=, this](void* d) {
                 return fi_compare_atomic(ep, at, 1, good, at, good, at, d, to, base, key, FI_UINT64, FI_CSWAP, &one);
             }},
        };
    }
};

TEST_F(mr_local, refusesMemoryThatIsNotDescribed) {
    auto* const begin = memory.data();
    void* const late = descriptor(begin, size, all_uses);
    ASSERT_EQ(fi_close(&regions.back()->fid), 0);
    regions.pop_back();
    struct mistake {
        void* descriptor;
        char const* said;
    };
    auto const all = calls();
    std::vector<mistake> const mistakes = {
        {nullptr, "there is no descriptor"},
        {late, "none of a region"},
        {this, "none of a region"},
        {descriptor(begin + 1, size - 1, all_uses), "does not hold all of it"},
        {descriptor(begin, 7, all_uses), "does not hold all of it"},
    };
    for (auto const& [name, use, make] : all) {
        auto expected = mistakes;
        expected.push_back({descriptor(begin, size, all_uses & ~use), "not registered for this use"});
        for (auto const& wrong : expected) {
            testing::internal::CaptureStderr();
            EXPECT_EQ(make(wrong.descriptor), -FI_EINVAL) << name;
            auto const said = testing::internal::GetCapturedStderr();
            EXPECT_NE(said.find("mr_local: "), std::string::npos) << name;
            EXPECT_NE(said.find(wrong.said), std::string::npos) << name << ": " << said;
        }
    }
}

TEST_F(mr_local, takesMemoryThatIsDescribed) {
    for (auto const& [name, use, make] : calls()) {
        auto* const enough = descriptor(memory.data(), size, use);
        EXPECT_TRUE(a.until([&] { return make(enough) == 0; }, b)) << name;
    }
}

// What is copied at once, and what is nothing at all.
TEST_F(mr_local, asksForNoMoreThanIsUsed) {
    EXPECT_EQ(injected(a, to_b, memory.data(), size, 1), 0);
    iovec const piece{memory.data(), size};
    fi_msg const said{&piece, nullptr, 1, to_b, &one, 0};
    EXPECT_EQ(fi_sendmsg(a.ep, &said, FI_INJECT), 0);
    EXPECT_EQ(fi_send(a.ep, memory.data(), 0, nullptr, to_b, &one), 0);
    EXPECT_EQ(fi_recv(a.ep, nullptr, 0, nullptr, to_b, &one), 0);
    fi_msg_tagged const asked{nullptr, nullptr, 0, to_b, 1, 0, &two, 0};
    EXPECT_EQ(fi_trecvmsg(a.ep, &asked, FI_PEEK), 0);
    EXPECT_EQ(a.wait(&two, b).error, FI_ENOMSG);
}

TEST_F(mr_local, isOfferedToThoseWhoCan) {
    info found;
    auto const answer = [&](int mr_mode, std::uint64_t mode) {
        return ask([&](fi_info& wish) { wish.domain_attr->mr_mode = mr_mode, wish.mode = mode; }, found);
    };
    EXPECT_EQ(answer(mr_modes & ~FI_MR_LOCAL, 0), -FI_ENODATA);
    EXPECT_EQ(answer(mr_modes & ~FI_MR_LOCAL, FI_LOCAL_MR), -FI_ENODATA); // the old word counts only with old modes
    ASSERT_EQ(answer(FI_MR_LOCAL, 0), 0);
    EXPECT_EQ(found->domain_attr->mr_mode, FI_MR_LOCAL);
    EXPECT_EQ(found->mode, 0u);
    for (auto const old : {FI_MR_BASIC, FI_MR_SCALABLE}) {
        EXPECT_EQ(answer(old, 0), -FI_ENODATA);
        ASSERT_EQ(answer(old, FI_LOCAL_MR), 0);
        EXPECT_EQ(found->domain_attr->mr_mode, old);
        EXPECT_EQ(found->mode, FI_LOCAL_MR);
    }
}

} // namespace
} // namespace assay::ofi
