// What a peer can make us keep, and how operations end whose peer is gone or has no memory.
#include "tests/cpp/transports/core/side.hpp"
#include "transports/core/mr.hpp"
#include "transports/core/packet.hpp"

#include <array>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <netinet/tcp.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_LIMITED_MEMORY 0 // sanitizers map more than any limit allows
#else
#define ASSAY_LIMITED_MEMORY 1
#endif

namespace assay::ofi {
namespace {

bool by_hand() {
    return std::string_view(provider_name) == "assay_tcp" && !configured().wire.switches.contains("streams");
}

std::uint64_t address_of(side const& target, void const* memory) {
    return target.about->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? reinterpret_cast<std::uintptr_t>(memory) : 0;
}

// A peer that does whatever the test wants, over TCP (transports/tcp/tcp.hpp).
class rogue {
public:
    // With a small buffer of its system, most of what it does not read stays where it comes from.
    explicit rogue(side& against, bool small_buffer = false) : against_(against) {
        fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int const at_once = 1, size_of_buffer = 64 * 1024;
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
        if (small_buffer) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &size_of_buffer, sizeof size_of_buffer);
        EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr const*>(&against.name), sizeof against.name), 0);
        std::array<unsigned char, 80> greeting{};
        std::uint64_t const size = sizeof(sockaddr_in);
        auto nobody = against.name;
        nobody.sin_port = 1;
        std::memcpy(greeting.data(), "assaytcp", 8);
        std::memcpy(greeting.data() + 8, &size, 8);
        std::memcpy(greeting.data() + 16, &nobody, sizeof nobody);
        EXPECT_EQ(::write(fd_, greeting.data(), greeting.size()), static_cast<ssize_t>(greeting.size()));
        fcntl(fd_, F_SETFL, O_NONBLOCK);
    }
    ~rogue() { ::close(fd_); }
    rogue(rogue const&) = delete;
    rogue& operator=(rogue const&) = delete;

    static bytes frame_of(packet const& head, bytes const& payload) {
        std::uint64_t const size = payload.size();
        bytes frame(sizeof size + sizeof head);
        std::memcpy(frame.data(), &size, sizeof size);
        std::memcpy(frame.data() + sizeof size, &head, sizeof head);
        frame.insert(frame.end(), payload.begin(), payload.end());
        return frame;
    }
    // Sends the frame, however long the other side takes. False: it has closed the connection.
    bool put(packet const& head, bytes const& payload = {}) { return put(frame_of(head, payload)); }
    bool put(bytes const& frame) {
        for (std::size_t done = 0; done < frame.size();) {
            auto const n = ::send(fd_, frame.data() + done, frame.size() - done, MSG_NOSIGNAL);
            if (n > 0) done += static_cast<std::size_t>(n);
            else if (errno != EAGAIN) return false;
            against_.look();
        }
        return true;
    }
    // So many bytes of what it is sent; fewer when they do not come.
    bytes take(std::size_t size) {
        bytes found(size);
        std::size_t done = 0;
        auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (done < size && std::chrono::steady_clock::now() < limit) {
            auto const n = recv(fd_, found.data() + done, size - done, 0);
            if (n > 0) done += static_cast<std::size_t>(n);
            else if (n == 0 || errno != EAGAIN) break;
            against_.look();
        }
        found.resize(done);
        return found;
    }
    bool closed() {
        for (int k = 0; k < 100; ++k) against_.look();
        bytes answers(1 << 20);
        ssize_t got = 0;
        while ((got = recv(fd_, answers.data(), answers.size(), 0)) > 0) against_.look();
        return got == 0 || (errno != EAGAIN && errno != EINTR);
    }

private:
    side& against_;
    int fd_ = -1;
};

packet tagged_message(std::size_t size) {
    packet head;
    head.what = kind::message;
    head.flags = is_tagged;
    head.tag = 5;
    head.size = size;
    return head;
}

struct limits : two_sides {
    void SetUp() override {
        if (!by_hand()) GTEST_SKIP() << "speaks TCP's wire itself";
    }
};

TEST_F(limits, ofWhatIsSentWithoutCredit) {
    rogue peer(b);
    bytes const payload(64 * 1024);
    std::size_t sent = 0;
    auto const most = 2 * configured().window + (8 << 20); // and what the system has room for
    while (sent < most && peer.put(tagged_message(payload.size()), payload)) sent += payload.size();
    EXPECT_LT(sent, most);
    EXPECT_TRUE(peer.closed());
}

TEST_F(limits, ofAnnouncements) {
    rogue peer(b);
    auto head = tagged_message(1 << 20);
    head.what = kind::offer;
    std::uint64_t sent = 0;
    auto const most = 4 * most_awaited;
    while (sent < most && peer.put(head)) ++sent;
    EXPECT_LT(sent, most);
    EXPECT_TRUE(peer.closed());
}

TEST_F(limits, ofAnswersThatNobodyReads) {
    if (!configured().rma) GTEST_SKIP();
    bytes memory(4096);
    fid_mr* region = nullptr;
    ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), FI_REMOTE_READ, 0, 9, 0, &region, nullptr), 0);
    {
        rogue peer(b);
        packet head;
        head.what = kind::read;
        head.id = 1;
        head.tag = address_of(b, memory.data());
        head.other = fi_mr_key(region);
        head.size = memory.size();
        std::uint64_t sent = 0;
        auto const most = 4 * most_replies();
        while (sent < most && peer.put(head)) ++sent;
        EXPECT_LT(sent, most);
    }
    for (int k = 0; k < 100; ++k) b.look();
    EXPECT_EQ(fi_close(&region->fid), 0);
}

// Each write changes what the reads before it have to show, so that it has to be kept for them.
TEST_F(limits, ofWhatIsKeptForReads) {
    if (!configured().rma) GTEST_SKIP();
    bytes memory(1 << 20);
    fid_mr* region = nullptr;
    constexpr std::uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE;
    ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), access, 0, 9, 0, &region, nullptr), 0);
    {
        rogue peer(b);
        auto const before = allocated();
        packet head;
        head.id = 1;
        head.tag = address_of(b, memory.data());
        head.other = fi_mr_key(region);
        int rounds = 0;
        for (; rounds < 100; ++rounds) {
            head.what = kind::read;
            head.size = memory.size();
            if (!peer.put(head)) break;
            head.what = kind::write;
            head.size = 1;
            if (!peer.put(head, {1})) break;
            for (int k = 0; k < 10; ++k) b.look();
        }
        EXPECT_TRUE(peer.closed());
        EXPECT_LE(allocated(), before + 2 * configured().window);
    }
    for (int k = 0; k < 100; ++k) b.look();
    EXPECT_EQ(fi_close(&region->fid), 0);
}

// FI_ORDER_WAR, for what has not been sent when the write comes.
TEST_F(limits, readsShowWhatWasThereBefore) {
    if (!configured().rma) GTEST_SKIP();
    constexpr std::size_t size = 1 << 20;
    if (configured().window < 2 * size) GTEST_SKIP() << "so much is not kept";
    auto memory = pattern(size, 1);
    auto const before = memory, other = pattern(size, 77);
    fid_mr* region = nullptr;
    constexpr std::uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE;
    ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), access, 0, 9, 0, &region, nullptr), 0);
    {
        rogue peer(b, true);
        packet head;
        head.id = 1;
        head.tag = address_of(b, memory.data());
        head.other = fi_mr_key(region);
        head.size = size;
        head.what = kind::read;
        std::size_t count = 0;
        auto const& unsent = static_cast<domain&>(*b.domain).regions.at(head.other)->leaving;
        for (; unsent.size() < 2; ++count) {
            ASSERT_LT(count, 64u);
            ASSERT_TRUE(peer.put(head));
            for (int k = 0; k < 100; ++k) b.look();
        }
        head.what = kind::write;
        ASSERT_TRUE(peer.put(head, other));
        EXPECT_TRUE(b.until([&] { return memory == other; }, a));
        for (std::size_t k = 0; k < count; ++k) {
            EXPECT_EQ(peer.take(sizeof(std::uint64_t) + sizeof head).size(), sizeof(std::uint64_t) + sizeof head);
            EXPECT_TRUE(peer.take(size) == before) << k;
        }
    }
    EXPECT_EQ(fi_close(&region->fid), 0);
}

// Answers to atomic operations are copies.
TEST_F(limits, ofResultsOfAtomicOperations) {
    if (!configured().rma || !configured().atomic) GTEST_SKIP();
    std::vector<std::uint64_t> memory(most_atomic / 8);
    fid_mr* region = nullptr;
    constexpr std::uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE;
    ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), most_atomic, access, 0, 9, 0, &region, nullptr), 0);
    {
        rogue peer(b);
        auto const before = allocated();
        packet head;
        head.what = kind::atomic;
        head.type = FI_UINT64;
        head.op = FI_ATOMIC_READ;
        head.flags = fetches;
        head.id = 1;
        head.tag = address_of(b, memory.data());
        head.other = fi_mr_key(region);
        head.size = most_atomic;
        int sent = 0;
        while (sent < 1000 && peer.put(head)) ++sent;
        EXPECT_TRUE(peer.closed());
        EXPECT_LE(allocated(), before + 2 * configured().window);
    }
    for (int k = 0; k < 100; ++k) b.look();
    EXPECT_EQ(fi_close(&region->fid), 0);
}

// The memory of a program is its own again at once, whatever others still want to read of it.
TEST_F(limits, ofReadsOfARegionThatIsClosed) {
    if (!configured().rma) GTEST_SKIP();
    bytes memory(1 << 20);
    fid_mr* region = nullptr;
    ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), FI_REMOTE_READ, 0, 9, 0, &region, nullptr), 0);
    rogue peer(b);
    packet head;
    head.what = kind::read;
    head.id = 1;
    head.tag = address_of(b, memory.data());
    head.other = fi_mr_key(region);
    head.size = memory.size();
    auto const frame = rogue::frame_of(head, {});
    bytes many;
    for (int k = 0; k < 100; ++k) many.insert(many.end(), frame.begin(), frame.end());
    ASSERT_TRUE(peer.put(many));
    for (int k = 0; k < 100; ++k) b.look();
    auto const before = allocated();
    EXPECT_EQ(fi_close(&region->fid), 0);
    EXPECT_LE(allocated(), before + 2 * configured().window + memory.size());
    EXPECT_TRUE(peer.closed());
}

// A buffer for many messages takes any number of empty ones, and each is to be confirmed.
TEST_F(limits, ofConfirmationsThatNobodyReads) {
    if (!configured().multi_recv) GTEST_SKIP();
    bytes memory(4096);
    iovec const piece{memory.data(), memory.size()};
    fi_msg posted{};
    posted.msg_iov = &piece;
    posted.iov_count = 1;
    posted.addr = FI_ADDR_UNSPEC;
    ASSERT_EQ(fi_recvmsg(b.ep, &posted, FI_MULTI_RECV), 0);
    rogue peer(b);
    packet head;
    head.what = kind::message;
    head.flags = wants_done;
    auto const frame = rogue::frame_of(head, {});
    bytes many;
    for (int k = 0; k < 1000; ++k) many.insert(many.end(), frame.begin(), frame.end());
    int sent = 0;
    for (; sent < 1000 && peer.put(many); ++sent) b.events.clear();
    EXPECT_LT(sent, 1000);
    EXPECT_TRUE(peer.closed());
}

// Whoever keeps to the limits notices none of them.
TEST_F(two_sides, anyNumberOfSendsMayWaitForReceives) {
    constexpr std::size_t count = most_awaited + 4000;
    std::vector<std::uint64_t> sent(count), got(count, ~std::uint64_t{0});
    std::vector<char> contexts(count);
    for (std::size_t k = 0; k < count; ++k) {
        sent[k] = k;
        ASSERT_EQ(fi_tsend(a.ep, &sent[k], 8, nullptr, to_b, 7, &contexts[k]), 0);
    }
    for (int k = 0; k < 1000; ++k) b.look();
    for (std::size_t k = 0; k < count; ++k)
        ASSERT_EQ(fi_trecv(b.ep, &got[k], 8, nullptr, FI_ADDR_UNSPEC, 7, 0, &got[k]), 0);
    std::size_t received = 0, done = 0;
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while ((received < count || done < count) && std::chrono::steady_clock::now() < limit) {
        a.look();
        b.look();
        for (auto const& it : a.events) EXPECT_EQ(it.error, 0);
        for (auto const& it : b.events) EXPECT_EQ(it.error, 0);
        done += std::exchange(a.events, {}).size();
        received += std::exchange(b.events, {}).size();
    }
    EXPECT_EQ(received, count);
    EXPECT_EQ(done, count);
    EXPECT_EQ(got, sent);
}

TEST_F(two_sides, anyNumberOfReadsMayWaitForAnswers) {
    if (!configured().rma) GTEST_SKIP() << "there is no remote memory";
    if (configured().mr_mode & FI_MR_LOCAL) GTEST_SKIP() << "passes no descriptors";
    constexpr std::size_t count = most_awaited + 1000;
    std::vector<std::uint64_t> memory(count), got(count, ~std::uint64_t{0});
    for (std::size_t k = 0; k < count; ++k) memory[k] = 3 * k;
    fid_mr* region = nullptr;
    ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), 8 * count, FI_REMOTE_READ, 0, 9, 0, &region, nullptr), 0);
    auto const base = address_of(b, memory.data());
    for (std::size_t k = 0; k < count; ++k)
        ASSERT_EQ(fi_read(a.ep, &got[k], 8, nullptr, to_b, base + 8 * k, fi_mr_key(region), &got[k]), 0);
    std::size_t done = 0;
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (done < count && std::chrono::steady_clock::now() < limit) {
        a.look();
        b.look();
        for (auto const& it : a.events) EXPECT_EQ(it.error, 0);
        done += std::exchange(a.events, {}).size();
    }
    EXPECT_EQ(got, memory);
    EXPECT_EQ(fi_close(&region->fid), 0);
}

TEST_F(two_sides, anyNumberOfAtomicOperationsMayWaitForAnswers) {
    if (!configured().rma || !configured().atomic) GTEST_SKIP() << "there are none";
    if (configured().mr_mode & FI_MR_LOCAL) GTEST_SKIP() << "passes no descriptors";
    constexpr std::size_t count = 200, words = most_atomic / 8; // together more than any credit
    std::vector<std::uint64_t> memory(words), ones(words, 1);
    std::vector<std::vector<std::uint64_t>> got(count, std::vector<std::uint64_t>(words, 77));
    fid_mr* region = nullptr;
    constexpr std::uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE;
    ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), most_atomic, access, 0, 9, 0, &region, nullptr), 0);
    auto const base = address_of(b, memory.data());
    for (auto& result : got)
        ASSERT_EQ(fi_fetch_atomic(a.ep, ones.data(), words, nullptr, result.data(), nullptr, to_b, base,
                                  fi_mr_key(region), FI_UINT64, FI_SUM, &result),
                  0);
    std::size_t done = 0;
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (done < count && std::chrono::steady_clock::now() < limit) {
        b.look();
        a.look();
        for (auto const& it : a.events) EXPECT_EQ(it.error, 0);
        done += std::exchange(a.events, {}).size();
    }
    EXPECT_EQ(done, count);
    for (std::size_t k = 0; k < count; ++k) EXPECT_EQ(got[k], std::vector<std::uint64_t>(words, k));
    EXPECT_EQ(fi_close(&region->fid), 0);
}

// ---- peers that are gone

std::string words_of(side& by, side::event const& it) {
    char text[256] = "";
    fi_cq_strerror(by.cq, it.detail, nullptr, text, sizeof text);
    return text;
}

TEST_F(two_sides, aReceiveFromAPeerThatIsGoneEnds) {
    if (!configured().directed) GTEST_SKIP() << "receives name no sender";
    std::uint64_t word = 1, got = 0;
    ASSERT_EQ(fi_trecv(a.ep, &got, 8, nullptr, to_b, 1, 0, &one), 0);
    ASSERT_EQ(fi_tsend(b.ep, &word, 8, nullptr, to_a, 1, &two), 0);
    EXPECT_EQ(a.wait(&one, b).error, 0);
    EXPECT_EQ(b.wait(&two, a).error, 0);
    side c; // somebody to wait with
    bool const at_once =
        configured().eager >= sizeof word; // otherwise the message is only announced, and goes with its sender
    if (at_once) {
        ASSERT_EQ(fi_tsend(b.ep, &word, 8, nullptr, to_a, 2, &two), 0);
        EXPECT_EQ(b.wait(&two, a).error, 0);
    }
    ASSERT_EQ(fi_trecv(a.ep, &got, 8, nullptr, to_b, 3, 0, &one), 0);
    b.close();
    auto const before = a.wait(&one, c);
    EXPECT_EQ(before.error, FI_ECONNRESET);
    EXPECT_NE(words_of(a, before).find("has closed its endpoint"), std::string::npos) << words_of(a, before);
    for (bool const with_tag : {true, false}) {
        auto const posted = with_tag ? fi_trecv(a.ep, &got, 8, nullptr, to_b, 4, 0, &three)
                                     : fi_recv(a.ep, &got, 8, nullptr, to_b, &three);
        ASSERT_EQ(posted, 0);
        EXPECT_EQ(a.wait(&three, c).error, FI_ECONNRESET) << (with_tag ? "fi_trecv" : "fi_recv");
    }
    if (at_once) { // what the peer had sent before is not lost
        ASSERT_EQ(fi_trecv(a.ep, &got, 8, nullptr, to_b, 2, 0, &one), 0);
        EXPECT_EQ(a.wait(&one, c).error, 0);
    }
    // Others may still send.
    ASSERT_EQ(fi_trecv(a.ep, &got, 8, nullptr, FI_ADDR_UNSPEC, 5, 0, &one), 0);
    ASSERT_EQ(fi_tsend(c.ep, &word, 8, nullptr, c.meet(a.name), 5, &two), 0);
    EXPECT_EQ(a.wait(&one, c).error, 0);
    EXPECT_EQ(c.wait(&two, a).error, 0);
}

TEST_F(two_sides, aCallThatNobodyAnswersIsExplained) {
    std::uint64_t word = 1;
    b.close();
    side c;
    ASSERT_EQ(fi_tsend(a.ep, &word, 8, nullptr, to_b, 1, &one), 0);
    auto const said = a.wait(&one, c);
    EXPECT_EQ(said.error, FI_ECONNREFUSED);
    EXPECT_NE(words_of(a, said).find("nobody listens"), std::string::npos) << words_of(a, said);
}

// ---- reads

struct long_reads : two_sides {
    static constexpr std::size_t size = 24 << 20;
    bytes memory = pattern(size, 1), before = memory, got = bytes(size);
    fid_mr* region = nullptr;

    void SetUp() override {
        if (!configured().rma) GTEST_SKIP() << "there is no remote memory";
        if (configured().mr_mode & FI_MR_LOCAL) GTEST_SKIP() << "passes no descriptors";
        expose();
    }
    void expose() {
        constexpr std::uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE;
        ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), size, access, 0, 9, 0, &region, nullptr), 0);
    }
    void TearDown() override {
        if (region) {
            EXPECT_EQ(fi_close(&region->fid), 0);
        }
    }
    void start() {
        ASSERT_EQ(fi_read(a.ep, got.data(), size, nullptr, to_b, address_of(b, memory.data()), fi_mr_key(region), &one),
                  0);
    }
    side::event finish(void const* context) {
        for (int k = 0; k < 10; ++k) {
            auto const it = a.wait(context, b);
            if (it.error != -1) return it;
        }
        return {.error = -1};
    }
};

#if ASSAY_LIMITED_MEMORY
// No more memory than now, and so much.
struct little_memory {
    explicit little_memory(std::size_t more) {
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        getrlimit(RLIMIT_AS, &before_);
        auto limit = before_;
        limit.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + more;
        EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    }
    ~little_memory() { setrlimit(RLIMIT_AS, &before_); }

private:
    rlimit before_{};
};

TEST_F(long_reads, needNoMemoryAtTheTarget) {
    start();
    int error = 0;
    {
        little_memory const limit(8 << 20);
        error = finish(&one).error;
    }
    EXPECT_EQ(error, 0);
    EXPECT_TRUE(got == before);
}

// What a write must not change for a read before it is not kept there either: the write waits.
TEST_F(long_reads, needNoMemoryAtTheTargetWhenAWriteFollows) {
    auto const other = pattern(size, 77);
    start();
    int error = 0;
    {
        little_memory const limit(8 << 20);
        ASSERT_EQ(
            fi_write(a.ep, other.data(), size, nullptr, to_b, address_of(b, memory.data()), fi_mr_key(region), &two),
            0);
        error = finish(&one).error;
    }
    EXPECT_EQ(error, 0);
    EXPECT_EQ(finish(&two).error, 0);
    EXPECT_TRUE(got == before);
    EXPECT_TRUE(memory == other);
}

// A message that there is no memory for is lost, and the receive that it goes to says so.
TEST_F(limits, ofMemoryForAMessage) {
    if (configured().window < (4 << 20)) GTEST_SKIP() << "it would have been announced";
    bytes const frame = rogue::frame_of(tagged_message(3 << 20), bytes(3 << 20));
    bytes got(3 << 20);
    rogue peer(b);
    for (int k = 0; k < 100; ++k) b.look();
    {
        std::vector<std::unique_ptr<char[]>> taken; // what the heap has in reserve
        taken.reserve(4096);
        little_memory const limit(0);
        while (taken.size() < taken.capacity()) {
            std::unique_ptr<char[]> more(new (std::nothrow) char[1 << 20]);
            if (!more) break;
            taken.push_back(std::move(more));
        }
        EXPECT_TRUE(peer.put(frame));
        for (int k = 0; k < 100; ++k) b.look();
    }
    ASSERT_EQ(fi_trecv(b.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 5, 0, &one), 0);
    EXPECT_EQ(b.wait(&one, a).error, FI_ENOMEM);
    EXPECT_FALSE(peer.closed()); // others of its messages may fit
}
#endif

// FI_ORDER_WAR: a read that was begun before a write returns what was there before it.
TEST_F(long_reads, showWhatWasThereBeforeALaterWrite) {
    auto const other = pattern(size, 77);
    start();
    ASSERT_EQ(fi_write(a.ep, other.data(), size, nullptr, to_b, address_of(b, memory.data()), fi_mr_key(region), &two),
              0);
    EXPECT_EQ(finish(&one).error, 0);
    EXPECT_EQ(finish(&two).error, 0);
    EXPECT_TRUE(got == before);
    EXPECT_TRUE(memory == other);
}

// Memory that is taken back while a read of it is on its way belongs to the program at once.
TEST_F(long_reads, surviveTheEndOfTheRegion) {
    start();
    for (int k = 0; k < 50; ++k) {
        if (k < 5) a.look(); // it connects
        b.look();
    }
    EXPECT_EQ(fi_close(&std::exchange(region, nullptr)->fid), 0);
    std::fill(memory.begin(), memory.end(), 0);
    auto const it = finish(&one);
    EXPECT_TRUE(it.error == 0 || it.error == FI_EKEYREJECTED) << it.error;
    if (it.error == 0) {
        EXPECT_TRUE(got == before);
    }
}

} // namespace
} // namespace assay::ofi
