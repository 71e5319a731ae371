// A provider through libfabric's interface, without its registry: what the core promises to programs.
//
// The tests run with the switches of the environment, too: with eager=0 every message is announced first, with credit=4096 most
// are, and the planted faults (ASSAY_FAULT) have to make one of them fail.
#include "tests/cpp/transports/core/side.hpp"

#include <array>
#include <poll.h>
#include <rdma/fi_atomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace assay::ofi {
namespace {

struct provider : two_sides {};

std::size_t const sizes[] = {0, 1, 8, 4096, 4097, 65536, 65537, 1'000'003};

TEST_F(provider, bringsMessagesOfAllSizesToPostedReceives) {
    for (auto const size : sizes) {
        auto const data = pattern(size, 1);
        bytes got(size + 1, 0xa5);
        ASSERT_EQ(fi_trecv(b.ep, got.data(), got.size(), nullptr, to_a, 7, 0, &two), 0);
        ASSERT_EQ(fi_tsend(a.ep, data.data(), size, nullptr, to_b, 7, &one), 0);
        auto const received = b.wait(&two, a);
        ASSERT_EQ(received.error, 0);
        EXPECT_EQ(received.entry.len, size);
        EXPECT_EQ(received.entry.tag, 7u);
        EXPECT_EQ(received.entry.flags, FI_RECV | FI_TAGGED);
        EXPECT_EQ(received.from, configured().source ? to_a : FI_ADDR_NOTAVAIL);
        auto const sent = a.wait(&one, b);
        EXPECT_EQ(sent.error, 0);
        EXPECT_EQ(sent.entry.flags, FI_SEND | FI_TAGGED);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), got.begin()));
        EXPECT_EQ(got.back(), 0xa5);
    }
}

TEST_F(provider, bringsUnexpectedMessagesOfAllSizes) {
    for (auto const size : sizes) {
        auto const data = pattern(size, 2);
        bytes got(size + 1, 0xa5);
        ASSERT_EQ(fi_tsend(a.ep, data.data(), size, nullptr, to_b, 9, &one), 0);
        for (int k = 0; k < 100; ++k) b.look(), a.look();
        ASSERT_EQ(fi_trecv(b.ep, got.data(), size, nullptr, FI_ADDR_UNSPEC, 1, 8, &two), 0); // tag 9 but for bit 3
        EXPECT_EQ(b.wait(&two, a).entry.len, size);
        EXPECT_EQ(a.wait(&one, b).error, 0);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), got.begin()));
    }
}

TEST_F(provider, sendsToItself) {
    auto const self = a.meet(a.name);
    for (auto const size : sizes) {
        auto const data = pattern(size, 3);
        bytes got(size);
        ASSERT_EQ(fi_recv(a.ep, got.data(), size, nullptr, self, &two), 0);
        ASSERT_EQ(fi_send(a.ep, data.data(), size, nullptr, self, &one), 0);
        EXPECT_EQ(a.wait(&two, b).error, 0);
        EXPECT_EQ(a.wait(&one, b).error, 0);
        EXPECT_EQ(got, data);
    }
}

bool const over_tcp = std::string_view(provider_name) == "assay_tcp";
bool const one_stream = over_tcp && !configured().wire.switches.contains("streams");

// Head first and body later, by hand: a receive that is posted in between gets the message.
TEST_F(provider, rematchesAMessageWhoseBodyIsOnItsWay) {
    if (!one_stream) GTEST_SKIP() << "speaks it";
    int const fd = socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr const*>(&b.name), sizeof b.name), 0);
    std::array<unsigned char, 80> greeting{};
    std::uint64_t number = sizeof(sockaddr_in);
    sockaddr_in nobody = a.name;
    nobody.sin_port = 1;
    std::memcpy(greeting.data(), "assaytcp", 8);
    std::memcpy(greeting.data() + 8, &number, 8);
    std::memcpy(greeting.data() + 16, &nobody, sizeof nobody);
    auto const data = pattern(1000, 4);
    packet head;
    head.what = kind::message;
    head.flags = is_tagged;
    head.tag = 5;
    head.size = number = data.size();
    ASSERT_EQ(write(fd, greeting.data(), greeting.size()), 80);
    ASSERT_EQ(write(fd, &number, 8), 8);
    ASSERT_EQ(write(fd, &head, sizeof head), static_cast<ssize_t>(sizeof head));
    ASSERT_EQ(write(fd, data.data(), 400), 400);
    for (int k = 0; k < 100; ++k) b.look();
    bytes got(1000);
    ASSERT_EQ(fi_trecv(b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 5, 0, &two), 0);
    for (int k = 0; k < 100; ++k) b.look();
    EXPECT_TRUE(b.events.empty());
    ASSERT_EQ(write(fd, data.data() + 400, 600), 600);
    EXPECT_EQ(b.wait(&two, a).error, 0);
    EXPECT_EQ(got, data);
    // The same, but the sender dies: an error, not silence.
    ASSERT_EQ(fi_trecv(b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 5, 0, &three), 0);
    ASSERT_EQ(write(fd, &number, 8), 8);
    ASSERT_EQ(write(fd, &head, sizeof head), static_cast<ssize_t>(sizeof head));
    close(fd);
    EXPECT_EQ(b.wait(&three, a).error, FI_ECONNRESET);
}

TEST_F(provider, refusesWhatIsNoPeerOfIts) {
    if (!over_tcp) GTEST_SKIP() << "speaks it";
    int const fd = socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr const*>(&b.name), sizeof b.name), 0);
    std::string const words(200, 'x');
    ASSERT_EQ(write(fd, words.data(), words.size()), 200);
    for (int k = 0; k < 1000; ++k) b.look();
    char got = 0;
    EXPECT_LE(recv(fd, &got, 1, 0), 0); // closed
    close(fd);
}

TEST_F(provider, takesTheFirstThatMatches) {
    unsigned char got[4] = {};
    ASSERT_EQ(fi_trecv(b.ep, &got[0], 1, nullptr, to_a, 1, 0, &got[0]), 0);
    ASSERT_EQ(fi_trecv(b.ep, &got[1], 1, nullptr, to_a, 2, 0, &got[1]), 0);
    ASSERT_EQ(fi_trecv(b.ep, &got[2], 1, nullptr, FI_ADDR_UNSPEC, 0, ~0ull, &got[2]), 0);
    ASSERT_EQ(fi_trecv(b.ep, &got[3], 1, nullptr, FI_ADDR_UNSPEC, 0, ~0ull, &got[3]), 0);
    for (auto const tag : std::to_array<unsigned char>({2, 3, 2, 1})) ASSERT_EQ(injected(a, to_b, &tag, 1, tag), 0);
    for (auto& each : got) EXPECT_EQ(b.wait(&each, a).error, 0);
    EXPECT_EQ(std::to_array(got), (std::array<unsigned char, 4>{1, 2, 3, 2}));
    EXPECT_TRUE(a.events.empty()); // injected: nothing is reported
}

TEST_F(provider, listensToWhomItIsDirected) {
    if (!configured().directed) GTEST_SKIP();
    side c;
    auto const from_c = b.meet(c.name);
    auto const c_to_b = c.meet(b.name);
    unsigned char got = 0, also = 0;
    ASSERT_EQ(fi_trecv(b.ep, &got, 1, nullptr, from_c, 1, 0, &got), 0);
    ASSERT_EQ(fi_trecv(b.ep, &also, 1, nullptr, to_a, 1, 0, &also), 0);
    unsigned char const from_a = 10, theirs = 20;
    ASSERT_EQ(injected(a, to_b, &from_a, 1, 1), 0);
    EXPECT_EQ(b.wait(&also, a).error, 0);
    ASSERT_EQ(injected(c, c_to_b, &theirs, 1, 1), 0);
    EXPECT_EQ(b.wait(&got, c).from, configured().source ? from_c : FI_ADDR_NOTAVAIL);
    EXPECT_EQ(got, 20);
    EXPECT_EQ(also, 10);
}

TEST_F(provider, cutsWhatIsTooLong) {
    for (std::size_t const size : {100, 200'000}) {
        auto const data = pattern(size, 5);
        bytes got(60, 0);
        ASSERT_EQ(fi_trecv(b.ep, got.data(), 50, nullptr, to_a, 3, 0, &two), 0);
        ASSERT_EQ(fi_tsend(a.ep, data.data(), size, nullptr, to_b, 3, &one), 0);
        auto const received = b.wait(&two, a);
        EXPECT_EQ(received.error, FI_ETRUNC);
        EXPECT_EQ(received.entry.len, 50u);
        EXPECT_EQ(received.entry.tag, 3u);
        EXPECT_EQ(received.cut, size - 50);
        EXPECT_EQ(a.wait(&one, b).error, 0);
        EXPECT_TRUE(std::equal(got.begin(), got.begin() + 50, data.begin()));
        EXPECT_EQ(got[50], 0);
    }
}

TEST_F(provider, peeksClaimsAndDiscards) {
    for (std::size_t const size : {10, 100'000}) {
        auto const data = pattern(size, 6);
        fi_context slot{};
        fi_msg_tagged said{};
        said.addr = to_a;
        said.tag = 4;
        said.context = &slot;
        ASSERT_EQ(fi_trecvmsg(b.ep, &said, FI_PEEK), 0);
        EXPECT_EQ(b.wait(&slot, a).error, FI_ENOMSG);
        for (int k = 0; k < 3; ++k) ASSERT_EQ(fi_tsend(a.ep, data.data(), size, nullptr, to_b, 4, &one), 0);
        auto const peek = [&](std::uint64_t flags) {
            side::event seen;
            auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
            do {
                EXPECT_EQ(fi_trecvmsg(b.ep, &said, FI_PEEK | flags), 0);
                seen = b.wait(&slot, a);
            } while (seen.error == FI_ENOMSG && std::chrono::steady_clock::now() < limit);
            return seen;
        };
        EXPECT_EQ(peek(0).entry.len, size);
        EXPECT_EQ(peek(FI_CLAIM).entry.len, size);
        bytes got(size), other(size);
        ASSERT_EQ(fi_trecv(b.ep, other.data(), size, nullptr, to_a, 4, 0, &two), 0); // gets the second
        EXPECT_EQ(b.wait(&two, a).error, 0);
        iovec const piece{got.data(), size};
        said.msg_iov = &piece;
        said.iov_count = 1;
        ASSERT_EQ(fi_trecvmsg(b.ep, &said, FI_CLAIM), 0);
        EXPECT_EQ(b.wait(&slot, a).error, 0);
        EXPECT_EQ(got, data);
        EXPECT_EQ(other, data);
        EXPECT_EQ(peek(FI_DISCARD).entry.len, size);
        ASSERT_EQ(fi_trecvmsg(b.ep, &said, FI_PEEK), 0);
        EXPECT_EQ(b.wait(&slot, a).error, FI_ENOMSG);
        for (int k = 0; k < 3; ++k) EXPECT_EQ(a.wait(&one, b).error, 0); // the discarded one, too
    }
}

TEST_F(provider, cancelsReceivesThatWait) {
    unsigned char got = 0;
    ASSERT_EQ(fi_trecv(b.ep, &got, 1, nullptr, to_a, 1, 0, &one), 0);
    ASSERT_EQ(fi_trecv(b.ep, &got, 1, nullptr, to_a, 1, 0, &two), 0);
    EXPECT_EQ(fi_cancel(&b.ep->fid, &one), 0);
    EXPECT_EQ(b.wait(&one, a).error, FI_ECANCELED);
    ASSERT_EQ(injected(a, to_b, "x", 1, 1), 0);
    EXPECT_EQ(b.wait(&two, a).error, 0);
    EXPECT_EQ(fi_cancel(&b.ep->fid, &two), -FI_ENOENT);
}

// Also when it has to wait for credit.
TEST_F(provider, injectedMemoryIsFreeAtOnce) {
    auto const size = std::min<std::size_t>(configured().inject, 4096);
    auto const count = configured().window / size + 3;
    bytes data(size);
    for (std::size_t k = 0; k < count; ++k) {
        std::fill(data.begin(), data.end(), static_cast<unsigned char>(k));
        ASSERT_EQ(injected(a, to_b, data.data(), size, 1), 0);
    }
    std::fill(data.begin(), data.end(), std::uint8_t{0xee});
    for (std::size_t k = 0; k < count; ++k) {
        bytes got(size);
        ASSERT_EQ(fi_trecv(b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, &two), 0);
        ASSERT_EQ(b.wait(&two, a).error, 0);
        ASSERT_EQ(got, bytes(size, static_cast<unsigned char>(k)));
    }
    bytes const much(configured().inject + 1);
    EXPECT_EQ(fi_inject(a.ep, much.data(), much.size(), to_b), -FI_EMSGSIZE);
}

// A program that injects and then stays away: the message is on its way all the same.
TEST_F(provider, injectedMessagesNeedNoMoreCalls) {
    if (configured().eager == 0) GTEST_SKIP() << "announced messages do";
    ASSERT_EQ(injected(a, to_b, "x", 1, 1), 0);
    unsigned char got = 0;
    ASSERT_EQ(fi_trecv(b.ep, &got, 1, nullptr, FI_ADDR_UNSPEC, 1, 0, &two), 0);
    EXPECT_EQ(b.wait(&two, b).error, 0);
    EXPECT_EQ(got, 'x');
}

// A program that injects and then closes: what waits for credit still arrives.
TEST_F(provider, injectedMessagesOutliveTheirEndpoint) {
    auto const size = std::min<std::size_t>(configured().inject, 4096);
    auto const count = configured().window / size + 300;
    for (std::size_t k = 0; k < count; ++k)
        ASSERT_EQ(injected(a, to_b, bytes(size, static_cast<unsigned char>(k)).data(), size, 1), 0);
    std::thread closer([&] { a.close(); });
    for (std::size_t k = 0; k < count; ++k) {
        bytes got(size);
        EXPECT_EQ(fi_trecv(b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, &two), 0);
        EXPECT_EQ(b.wait(&two, b).error, 0);
        EXPECT_EQ(got, bytes(size, static_cast<unsigned char>(k)));
        if (HasFailure()) break;
    }
    closer.join();
}

TEST_F(provider, handsOverData) {
    if (!configured().cq_data) GTEST_SKIP();
    for (std::size_t const size : {5, 100'000}) {
        bytes const data = pattern(size, 8);
        bytes got(size);
        ASSERT_EQ(fi_recv(b.ep, got.data(), size, nullptr, to_a, &two), 0);
        ASSERT_EQ(fi_senddata(a.ep, data.data(), size, nullptr, 0x123456789abcdef0u, to_b, &one), 0);
        auto const received = b.wait(&two, a);
        EXPECT_EQ(received.entry.data, 0x123456789abcdef0u);
        EXPECT_EQ(received.entry.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
        EXPECT_EQ(a.wait(&one, b).error, 0);
    }
}

TEST_F(provider, gathersAndScatters) {
    auto const data = pattern(90'000, 9);
    bytes got(90'000);
    auto* const from = const_cast<unsigned char*>(data.data());
    iovec const out[] = {{from, 1}, {from + 1, 0}, {from + 1, 79'999}, {from + 80'000, 10'000}};
    iovec const into[] = {{got.data(), 30'000}, {got.data() + 30'000, 60'000}};
    ASSERT_EQ(fi_trecvv(b.ep, into, nullptr, 2, to_a, 1, 0, &two), 0);
    ASSERT_EQ(fi_tsendv(a.ep, out, nullptr, 4, to_b, 1, &one), 0);
    EXPECT_EQ(b.wait(&two, a).entry.len, 90'000u);
    EXPECT_EQ(got, data);
}

TEST_F(provider, fillsOneBufferWithSeveralMessages) {
    std::size_t least = 512;
    ASSERT_EQ(fi_setopt(&b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), 0);
    bytes room(4096, 0xa5);
    iovec const piece{room.data(), room.size()};
    fi_msg said{};
    said.msg_iov = &piece;
    said.iov_count = 1;
    said.addr = FI_ADDR_UNSPEC;
    said.context = &two;
    ASSERT_EQ(fi_recvmsg(b.ep, &said, FI_MULTI_RECV), 0);
    auto const data = pattern(900, 10);
    for (int k = 0; k < 4; ++k) {
        ASSERT_EQ(fi_send(a.ep, data.data(), data.size(), nullptr, to_b, &one), 0);
        auto const received = b.wait(&two, a);
        EXPECT_EQ(received.error, 0);
        EXPECT_EQ(received.entry.len, data.size());
        EXPECT_EQ(std::memcmp(received.entry.buf, data.data(), data.size()), 0);
        EXPECT_EQ(!!(received.entry.flags & FI_MULTI_RECV), k == 3); // 4096 - 4 * 904 is less than 512
    }
    EXPECT_EQ(fi_cancel(&b.ep->fid, &two), -FI_ENOENT);
}

TEST_F(provider, confirmsDelivery) {
    for (std::size_t const size : {10, 100'000}) {
        bytes const data = pattern(size, 11);
        bytes got(size);
        iovec const piece{const_cast<unsigned char*>(data.data()), size};
        fi_msg_tagged said{};
        said.msg_iov = &piece;
        said.iov_count = 1;
        said.addr = to_b;
        said.tag = 1;
        said.context = &one;
        ASSERT_EQ(fi_tsendmsg(a.ep, &said, FI_DELIVERY_COMPLETE), 0);
        for (int k = 0; k < 200; ++k) a.look(), b.look();
        EXPECT_TRUE(a.events.empty());
        ASSERT_EQ(fi_trecv(b.ep, got.data(), size, nullptr, to_a, 1, 0, &two), 0);
        EXPECT_EQ(a.wait(&one, b).error, 0);
        EXPECT_EQ(got, data); // before b has looked for its own completion
        EXPECT_EQ(b.wait(&two, a).error, 0);
    }
}

// Both send far more than the credit before either receives; sends must not need receives to return.
TEST_F(provider, floodsWithoutReceives) {
    // More than there is credit for. With Nagle's algorithm what is announced then waits for delayed acknowledgements,
    // 40 ms each: less of that.
    auto const nodelay = configured().wire.switches.find("nodelay");
    int const count = nodelay != configured().wire.switches.end() && nodelay->second == "0" ? 2200 : 6000;
    bytes const data = pattern(2000, 12);
    for (int k = 0; k < count; ++k) {
        ASSERT_EQ(fi_tsend(a.ep, data.data(), data.size(), nullptr, to_b, static_cast<std::uint64_t>(k), &one), 0);
        ASSERT_EQ(fi_tsend(b.ep, data.data(), data.size(), nullptr, to_a, static_cast<std::uint64_t>(k), &one), 0);
    }
    bytes got(2000);
    for (int k = 0; k < count; ++k) {
        for (auto* each : {&a, &b}) {
            auto& other = each == &a ? b : a;
            ASSERT_EQ(fi_trecv(each->ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 0, ~0ull, &two), 0);
            ASSERT_EQ(each->wait(&two, other).entry.tag, static_cast<std::uint64_t>(k));
        }
    }
    EXPECT_EQ(got, data);
}

TEST_F(provider, readsAndWritesRemoteMemory) {
    if (!configured().rma) GTEST_SKIP();
    auto const at_b = pattern(300'000, 13);
    bytes memory = at_b;
    fid_mr* region = nullptr;
    constexpr std::uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE;
    ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), access, 0, 42, 0, &region, nullptr), 0);
    auto const key = fi_mr_key(region);
    bool const own_key = b.about->domain_attr->mr_mode & FI_MR_PROV_KEY;
    EXPECT_EQ(key == 42, !own_key);
    std::uint64_t const base =
        b.about->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0;
    for (std::size_t const size : {1, 5000, 250'000}) {
        bytes got(size);
        ASSERT_EQ(fi_read(a.ep, got.data(), size, nullptr, to_b, base + 100, key, &one), 0);
        auto const read = a.wait(&one, b);
        EXPECT_EQ(read.error, 0);
        EXPECT_EQ(read.entry.flags, FI_RMA | FI_READ);
        EXPECT_TRUE(std::equal(got.begin(), got.end(), memory.begin() + 100));
        auto const data = pattern(size, 77);
        ASSERT_EQ(fi_writedata(a.ep, data.data(), size, nullptr, 99, to_b, base + 200, key, &one), 0);
        EXPECT_EQ(a.wait(&one, b).error, 0);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), memory.begin() + 200));
        auto const told = b.wait(nullptr, a);
        EXPECT_EQ(told.entry.data, 99u);
        EXPECT_EQ(told.entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
    }
    // Past the end, before the beginning, with a key that nobody gave.
    unsigned char byte = 0;
    ASSERT_EQ(fi_write(a.ep, &byte, 1, nullptr, to_b, base + memory.size(), key, &one), 0);
    EXPECT_EQ(a.wait(&one, b).error, FI_EINVAL);
    ASSERT_EQ(fi_read(a.ep, &byte, 1, nullptr, to_b, base - 1, key, &one), 0);
    EXPECT_EQ(a.wait(&one, b).error, FI_EINVAL);
    ASSERT_EQ(fi_read(a.ep, &byte, 1, nullptr, to_b, base, key + 1, &one), 0);
    EXPECT_EQ(a.wait(&one, b).error, FI_EKEYREJECTED);
    // A region that may only be read.
    fid_mr* constant = nullptr;
    ASSERT_EQ(fi_mr_reg(b.domain, &byte, 1, FI_REMOTE_READ, 0, 43, 0, &constant, nullptr), 0);
    auto const there = base ? reinterpret_cast<std::uintptr_t>(&byte) : 0;
    ASSERT_EQ(fi_write(a.ep, &byte, 1, nullptr, to_b, there, fi_mr_key(constant), &one), 0);
    EXPECT_EQ(a.wait(&one, b).error, FI_EACCES);
    EXPECT_EQ(fi_close(&constant->fid), 0);
    EXPECT_EQ(fi_close(&region->fid), 0);
    ASSERT_EQ(fi_write(a.ep, &byte, 1, nullptr, to_b, base, key, &one), 0);
    EXPECT_EQ(a.wait(&one, b).error, FI_EKEYREJECTED);
}

TEST_F(provider, reportsAPeerThatIsGone) {
    side c;
    auto const a_to_c = a.meet(c.name);
    auto const c_to_a = c.meet(a.name);
    auto const data = pattern(1'000'000, 14);
    unsigned char got = 0;
    ASSERT_EQ(fi_trecv(c.ep, &got, 1, nullptr, c_to_a, 1, 0, &two), 0);
    ASSERT_EQ(injected(a, a_to_c, "x", 1, 1), 0);
    EXPECT_EQ(c.wait(&two, a).error, 0);
    ASSERT_EQ(fi_tsend(a.ep, data.data(), data.size(), nullptr, a_to_c, 2, &one), 0); // is offered and never taken
    ASSERT_EQ(fi_trecv(a.ep, &got, 1, nullptr, a_to_c, 3, 0, &three), 0);
    for (int k = 0; k < 100; ++k) a.look(), c.look();
    c.close();
    EXPECT_GT(a.wait(&one, b).error, 0);
    if (configured().directed) {
        EXPECT_GT(a.wait(&three, b).error, 0);
    }
    ASSERT_EQ(fi_tsend(a.ep, data.data(), 1, nullptr, a_to_c, 2, &two), 0); // nobody is there any more
    EXPECT_EQ(a.wait(&two, b).error, FI_ECONNREFUSED);
}

// The same as an event, for those who have no operation there.
TEST(provider_events, tellOfAPeerThatIsGone) {
    if (!one_stream) GTEST_SKIP() << "speaks it";
    fid_eq* events = nullptr;
    side a(0, [&](side& it) {
        fi_eq_attr wish{};
        EXPECT_EQ(fi_eq_open(it.fabric, &wish, &events, nullptr), 0);
        EXPECT_EQ(fi_ep_bind(it.ep, &events->fid, 0), 0);
    });
    a.before_domain = [&] { EXPECT_EQ(fi_close(&events->fid), 0); };
    EXPECT_EQ(fi_close(&events->fid), -FI_EBUSY);
    side b;
    auto const b_at_a = a.meet(b.name);
    int const fd = socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr const*>(&a.name), sizeof a.name), 0);
    std::array<unsigned char, 80> greeting{};
    std::uint64_t const size = sizeof b.name;
    std::memcpy(greeting.data(), "assaytcp", 8);
    std::memcpy(greeting.data() + 8, &size, 8);
    std::memcpy(greeting.data() + 16, &b.name, sizeof b.name);
    ASSERT_EQ(write(fd, greeting.data(), greeting.size()), 80);
    ASSERT_EQ(write(fd, greeting.data(), 10), 10); // in the middle of a frame
    std::uint32_t what = 0;
    fi_eq_entry entry{};
    for (int k = 0; k < 100; ++k) a.look();
    EXPECT_EQ(fi_eq_read(events, &what, &entry, sizeof entry, 0), -FI_EAGAIN);
    close(fd);
    EXPECT_TRUE(a.until([&] { return fi_eq_read(events, &what, &entry, sizeof entry, 0) == -FI_EAVAIL; }, b));
    fi_eq_err_entry error{};
    ASSERT_EQ(fi_eq_readerr(events, &error, 0), static_cast<ssize_t>(sizeof error));
    EXPECT_EQ(error.fid, &a.ep->fid);
    EXPECT_EQ(error.err, FI_ECONNRESET);
    EXPECT_EQ(error.data, configured().source ? b_at_a : FI_ADDR_NOTAVAIL);
    EXPECT_EQ(fi_eq_read(events, &what, &entry, sizeof entry, 0), -FI_EAGAIN);
}

TEST_F(provider, wantsMemoryThatIsThere) {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto* const pages = static_cast<unsigned char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(munmap(pages + page, page), 0);
    fid_mr* region = nullptr;
    bool const demanded = a.about->domain_attr->mr_mode & FI_MR_ALLOCATED;
    auto const reg = [&](std::size_t from, std::size_t size) {
        auto const result = fi_mr_reg(a.domain, pages + from, size, FI_REMOTE_READ, 0, 9, 0, &region, nullptr);
        if (result == 0) fi_close(&region->fid);
        return result;
    };
    EXPECT_EQ(reg(10, page - 10), 0);
    EXPECT_EQ(reg(10, page - 9), demanded ? -FI_EFAULT : 0);
    EXPECT_EQ(reg(page, 1), demanded ? -FI_EFAULT : 0);
    munmap(pages, page);
}

TEST_F(provider, countsWhatCompletes) {
    side c;
    fid_cntr* counter = nullptr;
    fi_cntr_attr wish{};
    ASSERT_EQ(fi_cntr_open(a.domain, &wish, &counter, nullptr), 0);
    EXPECT_EQ(fi_ep_bind(a.ep, &counter->fid, FI_SEND), -FI_EOPBADSTATE); // it is enabled already
    EXPECT_EQ(fi_cntr_add(counter, 3), 0);
    EXPECT_EQ(fi_cntr_read(counter), 3u);
    EXPECT_EQ(fi_cntr_wait(counter, 4, 1), -FI_ETIMEDOUT);
    EXPECT_EQ(fi_close(&counter->fid), 0);
}

// FI_RMA_EVENT: what others write into a region, and nothing else.
TEST_F(provider, countsWritesIntoARegion) {
    if (!configured().rma) GTEST_SKIP();
    std::uint64_t memory[2] = {};
    fid_mr* regions[2] = {};
    fid_cntr* counter = nullptr;
    fi_cntr_attr wish{};
    ASSERT_EQ(fi_cntr_open(b.domain, &wish, &counter, nullptr), 0);
    for (std::uint64_t k = 0; k < 2; ++k)
        ASSERT_EQ(fi_mr_reg(b.domain, &memory[k], 8, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, k, 0, &regions[k], nullptr),
                  0);
    EXPECT_EQ(fi_mr_bind(regions[0], &counter->fid, FI_REMOTE_READ), -FI_EINVAL);
    ASSERT_EQ(fi_mr_bind(regions[0], &counter->fid, FI_REMOTE_WRITE), 0);
    EXPECT_EQ(fi_mr_bind(regions[0], &counter->fid, FI_REMOTE_WRITE), -FI_EINVAL);
    EXPECT_EQ(fi_close(&counter->fid), -FI_EBUSY);
    auto const at = [&](int k) {
        return b.about->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? reinterpret_cast<std::uintptr_t>(&memory[k]) : 0;
    };
    std::uint64_t value = 7;
    for (int const k : {1, 0, 0}) {
        ASSERT_EQ(fi_write(a.ep, &value, 8, nullptr, to_b, at(k), fi_mr_key(regions[k]), &one), 0);
        ASSERT_EQ(a.wait(&one, b).error, 0);
    }
    ASSERT_EQ(fi_read(a.ep, &value, 8, nullptr, to_b, at(0), fi_mr_key(regions[0]), &one), 0);
    ASSERT_EQ(a.wait(&one, b).error, 0);
    ASSERT_EQ(fi_write(a.ep, &value, 8, nullptr, to_b, at(0) + 1, fi_mr_key(regions[0]), &one), 0); // too far
    ASSERT_EQ(a.wait(&one, b).error, FI_EINVAL);
    EXPECT_EQ(fi_cntr_read(counter), 2u);
    if (configured().atomic) {
        ASSERT_EQ(fi_atomic(a.ep, &value, 1, nullptr, to_b, at(0), fi_mr_key(regions[0]), FI_UINT64, FI_SUM, &one), 0);
        // Nobody else moves b: whoever reads the counter does.
        EXPECT_TRUE(a.until([&] { return fi_cntr_read(counter) == 3; }, a));
        EXPECT_EQ(a.wait(&one, b).error, 0);
    }
    for (auto* region : regions) EXPECT_EQ(fi_close(&region->fid), 0);
    EXPECT_EQ(fi_close(&counter->fid), 0);
}

TEST(provider_selective, reportsOnlyWhatIsAskedFor) {
    side a(FI_SELECTIVE_COMPLETION), b;
    auto const to_b = a.meet(b.name);
    auto const to_a = b.meet(a.name);
    int one = 0, two = 0;
    unsigned char got[2] = {};
    ASSERT_EQ(fi_recv(b.ep, &got[0], 1, nullptr, to_a, &got[0]), 0);
    ASSERT_EQ(fi_recv(b.ep, &got[1], 1, nullptr, to_a, &got[1]), 0);
    ASSERT_EQ(fi_send(a.ep, "x", 1, nullptr, to_b, &one), 0);
    char byte = 'y';
    iovec const piece{&byte, 1};
    fi_msg said{};
    said.msg_iov = &piece;
    said.iov_count = 1;
    said.addr = to_b;
    said.context = &two;
    ASSERT_EQ(fi_sendmsg(a.ep, &said, FI_COMPLETION), 0);
    EXPECT_EQ(b.wait(&got[1], a).error, 0);
    EXPECT_EQ(a.wait(&two, b).error, 0);
    EXPECT_TRUE(a.events.empty());
}

TEST_F(provider, sleepsUntilSomethingComes) {
    if (configured().eager == 0) GTEST_SKIP() << "the sender would have to look around meanwhile";
    int fd = -1;
    ASSERT_EQ(fi_control(&b.cq->fid, FI_GETWAIT, &fd), 0);
    unsigned char got = 0;
    ASSERT_EQ(fi_recv(b.ep, &got, 1, nullptr, FI_ADDR_UNSPEC, &two), 0);
    fid* fids[] = {&b.cq->fid};
    ASSERT_EQ(fi_trywait(b.fabric, fids, 1), 0);
    pollfd sleeper{fd, POLLIN, 0};
    EXPECT_EQ(poll(&sleeper, 1, 1), 0);
    while (fi_inject(a.ep, "z", 1, to_b) == -FI_EAGAIN) a.look();
    for (int k = 0; k < 10; ++k) a.look();
    EXPECT_EQ(poll(&sleeper, 1, 2000), 1);
    fi_cq_tagged_entry entry{};
    ASSERT_EQ(fi_cq_sread(b.cq, &entry, 1, nullptr, 2000), 1);
    EXPECT_EQ(entry.op_context, &two);
    EXPECT_EQ(fi_cq_sread(b.cq, &entry, 1, nullptr, 1), -FI_EAGAIN);
}

TEST_F(provider, numbersAddresses) {
    sockaddr_in there{};
    std::size_t size = sizeof there;
    ASSERT_EQ(fi_av_lookup(a.av, to_b, &there, &size), 0);
    EXPECT_EQ(size, sizeof there);
    EXPECT_EQ(there.sin_port, b.name.sin_port);
    char text[64];
    size = sizeof text;
    EXPECT_EQ(std::string(fi_av_straddr(a.av, &there, text, &size)).rfind("fi_sockaddr_in://", 0), 0u);
    EXPECT_EQ(fi_av_remove(a.av, &to_b, 1, 0), 0);
    EXPECT_EQ(fi_av_lookup(a.av, to_b, &there, &size), -FI_EINVAL);
    EXPECT_EQ(fi_tinject(a.ep, "x", 1, to_b, 1), -FI_EINVAL);
}

TEST(get_info, offersWhatItHasAndNothingElse) {
    info found;
    EXPECT_EQ(ask([](fi_info& wish) { wish.caps = FI_MSG | FI_TAGGED; }, found), configured().tagged ? 0 : -FI_ENODATA);
    EXPECT_EQ(ask([](fi_info& wish) { wish.caps = FI_ATOMIC; }, found), configured().atomic ? 0 : -FI_ENODATA);
    for (auto const& edit : std::initializer_list<std::function<void(fi_info&)>>{
             [](fi_info& wish) { wish.caps = FI_MULTICAST; },
             [](fi_info& wish) { wish.ep_attr->type = FI_EP_MSG; },
             [](fi_info& wish) { wish.tx_attr->inject_size = 1 << 30; },
             [](fi_info& wish) { wish.tx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_RAS; },
             [](fi_info& wish) { wish.addr_format = FI_ADDR_GNI; },
         })
        EXPECT_EQ(ask(edit, found), -FI_ENODATA);
    ASSERT_EQ(ask([](fi_info& wish) { wish.domain_attr->threading = FI_THREAD_DOMAIN; }, found), 0);
    EXPECT_EQ(found->domain_attr->threading, FI_THREAD_DOMAIN);
    EXPECT_EQ(found->domain_attr->control_progress, FI_PROGRESS_MANUAL);
    EXPECT_EQ(found->domain_attr->data_progress, FI_PROGRESS_MANUAL);
    EXPECT_EQ(found->fabric_attr->prov_name, nullptr);
    EXPECT_EQ(found->mode, 0u);
}

// Before 1.5 a program that says nothing of memory leaves the choice between two kinds to the provider.
TEST(get_info, answersInTheWordsOfOldPrograms) {
    if (configured().mr_mode & FI_MR_LOCAL) GTEST_SKIP() << "it has to be asked for";
    info found;
    auto const say_nothing = [](fi_info& wish) { wish.domain_attr->mr_mode = FI_MR_UNSPEC; };
    ASSERT_EQ(ask(say_nothing, found, FI_VERSION(1, 4)), 0);
    EXPECT_EQ(found->domain_attr->mr_mode, configured().mr_mode ? FI_MR_BASIC : FI_MR_SCALABLE);
    ASSERT_EQ(ask(say_nothing, found, FI_VERSION(1, 5)), configured().mr_mode ? -FI_ENODATA : 0);
    if (found) {
        EXPECT_EQ(found->domain_attr->mr_mode, 0);
    }
}

TEST(read_settings, knowsItsWords) {
    auto const set = read_settings("no_rma+eager=10", "/there");
    EXPECT_FALSE(set.rma);
    EXPECT_TRUE(set.tagged);
    EXPECT_EQ(set.eager, 10u);
    EXPECT_EQ(set.counters, "/there");
    EXPECT_TRUE(set.wrong.empty());
    if (over_tcp) {
        auto const own = read_settings("nodelay=0+streams=7+cork", nullptr);
        EXPECT_TRUE(own.wrong.empty());
        EXPECT_EQ(own.wire.switches.size(), 3u);
    } else EXPECT_FALSE(read_settings("nodelay=0", nullptr).wrong.empty()); // of another transport
    for (auto const* words : {"no_such", "eager", "eager=", "eager=1x", "nodelay=2", "cork=1", "ip=5", "streams=0",
                              "no_rma=1", "interface="})
        EXPECT_FALSE(read_settings(words, nullptr).wrong.empty()) << words;
}

} // namespace
} // namespace assay::ofi
