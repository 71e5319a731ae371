// Many peers: what they cost, and that those that are only known cost no connection.
#include "tests/cpp/transports/core/side.hpp"

#include <arpa/inet.h>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace assay::ofi {
namespace {

// Of the process, in bytes: what it has touched.
std::size_t resident() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, pages = 0;
    file >> all >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t descriptors() {
    auto const all = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(scale, aThousandEndpointsExchange) {
    constexpr std::size_t count = 1000, needed = 10'000, known = 100'000;
    if (configured().wire.switches.contains("streams")) GTEST_SKIP() << "each stream is a descriptor of its own";
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < needed) GTEST_SKIP() << "a process may have only " << limit.rlim_max << " descriptors here";
    limit.rlim_cur = limit.rlim_max;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);

    auto const open_at_first = descriptors();
    info about;
    ASSERT_EQ(ask([](fi_info&) {}, about), 0);
    fid_fabric* fabric = nullptr;
    fid_domain* domain = nullptr;
    fid_av* av = nullptr;
    fid_cq* cq = nullptr;
    fi_av_attr av_wish{};
    fi_cq_attr cq_wish{};
    cq_wish.format = FI_CQ_FORMAT_TAGGED;
    ASSERT_EQ(open_fabric(about->fabric_attr, &fabric, nullptr), 0);
    ASSERT_EQ(fi_domain(fabric, about.get(), &domain, nullptr), 0);
    ASSERT_EQ(fi_av_open(domain, &av_wish, &av, nullptr), 0);
    ASSERT_EQ(fi_cq_open(domain, &cq_wish, &cq, nullptr), 0);
    std::vector<fid_ep*> endpoints(count);
    std::vector<sockaddr_in> names(count);
    auto before = resident();
    for (std::size_t k = 0; k < count; ++k) {
        ASSERT_EQ(fi_endpoint(domain, about.get(), &endpoints[k], nullptr), 0) << k;
        ASSERT_EQ(fi_ep_bind(endpoints[k], &av->fid, 0), 0);
        ASSERT_EQ(fi_ep_bind(endpoints[k], &cq->fid, FI_TRANSMIT | FI_RECV), 0);
        ASSERT_EQ(fi_enable(endpoints[k]), 0);
        std::size_t size = sizeof names[k];
        ASSERT_EQ(fi_getname(&endpoints[k]->fid, &names[k], &size), 0);
    }
    auto const per_endpoint = (resident() - before) / count;
    ASSERT_EQ(fi_av_insert(av, names.data(), count, nullptr, 0, nullptr), static_cast<int>(count));
    auto const open_before = descriptors();

    // Peers that are only known.
    std::vector<sockaddr_in> others(known, names[0]);
    for (std::size_t k = 0; k < known; ++k)
        others[k].sin_addr.s_addr = htonl(0x0a000000 + static_cast<std::uint32_t>(k));
    before = allocated();
    ASSERT_EQ(fi_av_insert(av, others.data(), known, nullptr, 0, nullptr), static_cast<int>(known));
    auto const per_idle = (allocated() - before) / known;
    EXPECT_EQ(descriptors(), open_before);

    // Each sends to the next one and to the one on the other side.
    constexpr std::size_t steps[] = {1, count / 2 - 1};
    constexpr std::size_t messages = count * std::size(steps);
    std::vector<std::uint64_t> sent(messages), got(messages, ~std::uint64_t{0});
    before = allocated();
    for (std::size_t k = 0; k < messages; ++k) {
        auto const from = k % count, to = (from + steps[k / count]) % count;
        sent[k] = k * 3 + 1;
        ASSERT_EQ(fi_trecv(endpoints[to], &got[k], 8, nullptr, from, k, 0, &got[k]), 0);
        ASSERT_EQ(fi_tsend(endpoints[from], &sent[k], 8, nullptr, to, k, &sent[k]), 0);
    }
    std::size_t done = 0;
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (done < 2 * messages && std::chrono::steady_clock::now() < until) {
        fi_cq_tagged_entry entries[64];
        auto const some = fi_cq_read(cq, entries, 64);
        ASSERT_NE(some, -FI_EAVAIL);
        if (some > 0) done += static_cast<std::size_t>(some);
    }
    ASSERT_EQ(done, 2 * messages);
    EXPECT_EQ(got, sent);
    auto const per_connected = (allocated() - before) / (2 * messages); // both ends are here
    // TCP has a socket at each end of a connection; an endpoint over SCTP has one for all.
    bool const socket_each = std::string_view(provider_name) == "assay_tcp";
    EXPECT_EQ(descriptors(), open_before + (socket_each ? 2 * messages : 0));

    for (auto* one : endpoints) EXPECT_EQ(fi_close(&one->fid), 0);
    EXPECT_EQ(fi_close(&cq->fid), 0);
    EXPECT_EQ(fi_close(&av->fid), 0);
    EXPECT_EQ(fi_close(&domain->fid), 0);
    EXPECT_EQ(fi_close(&fabric->fid), 0);
    EXPECT_EQ(descriptors(), open_at_first);
    if (ASSAY_OTHER_MALLOC) return;
    std::printf("[ measured ] bytes for each endpoint %zu, for each peer that is known %zu, connected %zu more\n",
                per_endpoint, per_idle, per_connected);
    EXPECT_LT(per_endpoint, 65'536u);
    EXPECT_LT(per_idle, 512u);
    EXPECT_LT(per_connected, 8192u);
}

} // namespace
} // namespace assay::ofi
