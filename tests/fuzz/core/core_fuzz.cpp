// The core between a program and peers that both do anything: a script of bytes says what comes over the wire, whole or in halves, and
// what the program calls meanwhile. Sanitizers watch, and so do some rules of libfabric: nothing completes twice or with more
// than was posted, and the memory of what has completed is freed at once, so that whoever still writes there is caught. However often
// peers repeat themselves, no more is kept than their credit and a fixed sum.
#include "tests/fuzz/core/wire.hpp"
#include "tests/fuzz/script.hpp"
#include "transports/core/ep.hpp"
#include "transports/core/info.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <netinet/in.h>
#include <utility>

// sanitizer/allocator_interface.h, which GCC's packages leave out: bytes that malloc has given out.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes(); // NOLINT(bugprone-reserved-identifier)

namespace assay::ofi {

char const provider_name[] = "assay_fuzz";

namespace {

net::address default_address(net::configuration const&) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(1);
    return {reinterpret_cast<char const*>(&at), sizeof at};
}

net::transport const scripted{
    .name = "fuzz",
    .takes = [](std::string_view, std::string_view) { return false; },
    .make = [](net::sink& to, net::configuration const&) -> std::unique_ptr<net::wire> {
        return std::make_unique<fuzz::wire>(to);
    },
    .default_address = default_address,
};

} // namespace

net::transport const& transport = scripted;

} // namespace assay::ofi

namespace assay::fuzz {
namespace {

using namespace assay::ofi;

// Something that the program has asked for.
struct operation {
    fi_context slot{};
    std::unique_ptr<unsigned char[]> memory, result;
    std::size_t size = 0;
    bool pending = false, multi = false, claims = false, claimed = false;
};

constexpr unsigned peers = 4; // the last is in no address vector
constexpr std::size_t region_size = 256;
constexpr std::size_t most_beside_credit = 64 * 1024 * 1024; // bytes that all peers together make the core keep

class machine {
public:
    machine(std::uint8_t const* data, std::size_t size) : script_(data, size) {
        fi_info* raw = nullptr;
        must(get_info(FI_VERSION(1, 17), nullptr, nullptr, 0, nullptr, &raw) == 0, "nothing is offered");
        std::unique_ptr<fi_info, decltype(&fi_freeinfo)> const about(raw, fi_freeinfo);
        fi_av_attr av{};
        fi_cq_attr cq{};
        cq.format = FI_CQ_FORMAT_TAGGED;
        must(open_fabric(about->fabric_attr, &fabric_, nullptr) == 0 &&
                 fi_domain(fabric_, about.get(), &domain_, nullptr) == 0 &&
                 fi_av_open(domain_, &av, &av_, nullptr) == 0 && fi_cq_open(domain_, &cq, &cq_, nullptr) == 0 &&
                 fi_endpoint(domain_, about.get(), &ep_, nullptr) == 0 && fi_ep_bind(ep_, &av_->fid, 0) == 0 &&
                 fi_ep_bind(ep_, &cq_->fid, FI_TRANSMIT | FI_RECV) == 0 && fi_enable(ep_) == 0,
             "no endpoint");
        for (unsigned k = 0; k < peers; ++k) {
            auto const where = address(k);
            wire::current->reach({reinterpret_cast<char const*>(&where), sizeof where}); // its number is k
            if (k + 1 < peers) fi_av_insert(av_, &where, 1, nullptr, 0, nullptr);
        }
    }
    ~machine() {
        must(fi_close(&ep_->fid) == 0, "the endpoint does not close");
        unregister();
        must(fi_close(&cq_->fid) == 0 && fi_close(&av_->fid) == 0 && fi_close(&domain_->fid) == 0 &&
                 fi_close(&fabric_->fid) == 0,
             "something is still in use");
    }
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;

    void run() {
        while (!script_.over()) {
            step();
            look();
        }
    }

private:
    static sockaddr_in address(unsigned k) {
        sockaddr_in found{};
        found.sin_family = AF_INET;
        found.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        found.sin_port = htons(static_cast<std::uint16_t>(100 + k));
        return found;
    }

    void step();
    void heard(bool often);
    packet head();
    operation& make(std::size_t size);
    void check(operation& it, ssize_t began);
    void receive();
    void send();
    void remote();
    void peek();
    void register_or_not();
    void unregister() {
        if (region_) fi_close(&region_->fid);
        region_ = nullptr;
        memory_.reset();
    }
    void look();
    void ended(void* context, std::uint64_t flags, std::size_t size, int error);

    script script_;
    std::size_t before_ = __sanitizer_get_current_allocated_bytes();
    fid_fabric* fabric_ = nullptr;
    fid_domain* domain_ = nullptr;
    fid_av* av_ = nullptr;
    fid_cq* cq_ = nullptr;
    fid_ep* ep_ = nullptr;
    fid_mr* region_ = nullptr;
    std::unique_ptr<unsigned char[]> memory_;
    std::deque<operation> operations_;
};

void machine::step() {
    auto& wire = *wire::current;
    auto const what = script_.byte();
    switch (what % 16) {
    case 0:
    case 1:
    case 2: heard(what >= 0xf0); break;
    case 3: // the rest of one that has begun
        if (!wire.in.empty())
            wire.next = [&wire, k = script_.below(static_cast<unsigned>(wire.in.size())), value = script_.byte()] {
                wire.finish(k, static_cast<unsigned char>(value));
            };
        break;
    case 4:
        if (!wire.in.empty())
            wire.next = [&wire, k = script_.below(static_cast<unsigned>(wire.in.size()))] { wire.lose(k); };
        break;
    case 5:
        if (!wire.out.empty())
            wire.next = [&wire, k = script_.below(static_cast<unsigned>(wire.out.size())), fails = script_.below(2)] {
                if (fails) wire.fail(k);
                else wire.sent(k);
            };
        break;
    case 6:
        wire.next = [&wire, k = script_.below(peers), error = script_.below(2)] {
            wire.close(k, error ? ECONNRESET : 0);
        };
        break;
    case 7: wire.slow = !wire.slow; break;
    case 8: wire.connected = !wire.connected; break;
    case 9:
    case 10: receive(); break;
    case 11: send(); break;
    case 12: remote(); break;
    case 13: peek(); break;
    case 14:
        if (!operations_.empty())
            fi_cancel(&ep_->fid, &operations_[script_.below(static_cast<unsigned>(operations_.size()))].slot);
        break;
    default: register_or_not();
    }
}

// Numbers are small, so that a script finds those that mean something; sizes may also be beyond all reason.
packet machine::head() {
    packet it;
    auto const number = [this] {
        auto const value = script_.byte();
        return std::uint64_t{value >> 4} << 32 | (value & 15);
    };
    it.what = static_cast<ofi::kind>(script_.below(12));
    it.flags = static_cast<std::uint8_t>(script_.byte());
    it.type = static_cast<std::uint8_t>(script_.byte());
    it.op = static_cast<std::uint8_t>(script_.byte());
    it.credit = script_.byte() << script_.below(8);
    it.tag = script_.byte();
    it.data = script_.byte();
    it.size = script_.byte();
    if (it.size > 250) it.size = ~std::uint64_t{0} >> script_.below(64);
    else if (it.size > 128) it.size *= 64;
    it.id = number();
    it.other = number();
    it.status = static_cast<std::int32_t>(script_.below(4));
    return it;
}

void machine::heard(bool often) {
    auto& wire = *wire::current;
    auto const from = script_.below(peers);
    auto const it = head();
    // Mostly as long as it says; the rest is anything.
    auto const lie = script_.below(8);
    auto const size = lie == 0 ? script_.byte() * 8ull : lie == 1 ? ~std::uint64_t{0} >> script_.below(64) : it.size;
    bool const whole = script_.below(2) && size < 1 << 20;
    auto const count = often ? 1u << script_.below(19) : 1u;
    wire.next = [this, &wire, from, it, size, whole, count] {
        for (unsigned k = 0; k < count && wire.begin(from, reinterpret_cast<std::byte const*>(&it), size); ++k)
            if (whole) wire.finish(wire.in.size() - 1, 0x77);
        must(__sanitizer_get_current_allocated_bytes() < before_ + peers * configured().window + most_beside_credit,
             "peers make the core keep more than is theirs");
    };
}

operation& machine::make(std::size_t size) {
    auto& it = operations_.emplace_back();
    it.size = size;
    it.memory = std::make_unique<unsigned char[]>(size);
    it.result = std::make_unique<unsigned char[]>(size);
    return it;
}

void machine::check(operation& it, ssize_t began) {
    it.pending = began == 0;
    if (it.pending) return;
    it.memory.reset();
    it.result.reset();
}

void machine::receive() {
    static constexpr std::uint64_t ignored[] = {0, 1, 0xf0, ~0ull};
    auto& it = make(script_.byte() * (script_.below(2) ? 16 : 1));
    auto const kind = script_.below(4);
    fi_addr_t const from = script_.below(2) ? FI_ADDR_UNSPEC : script_.below(peers);
    if (kind > 1) {
        auto const tag = script_.byte();
        check(it, fi_trecv(ep_, it.memory.get(), it.size, nullptr, from, tag, ignored[script_.below(4)], &it.slot));
        return;
    }
    iovec const piece{it.memory.get(), it.size};
    fi_msg said{};
    said.msg_iov = &piece;
    said.iov_count = 1;
    said.addr = from;
    said.context = &it.slot;
    it.multi = kind == 1;
    check(it, fi_recvmsg(ep_, &said, it.multi ? FI_MULTI_RECV : 0));
}

void machine::send() {
    static constexpr std::uint64_t flags[] = {0, FI_INJECT, FI_DELIVERY_COMPLETE, FI_REMOTE_CQ_DATA};
    auto& it = make(script_.byte() * (script_.below(2) ? 32 : 1)); // above the eager limit, and below
    iovec const piece{it.memory.get(), it.size};
    auto const flag = flags[script_.below(4)];
    bool const tagged = script_.below(2);
    fi_msg_tagged said{};
    said.msg_iov = &piece;
    said.iov_count = 1;
    said.addr = script_.below(peers);
    said.tag = 1;
    said.context = &it.slot;
    fi_msg plain{};
    plain.msg_iov = &piece;
    plain.iov_count = 1;
    plain.addr = said.addr;
    plain.context = &it.slot;
    check(it, tagged ? fi_tsendmsg(ep_, &said, flag) : fi_sendmsg(ep_, &plain, flag));
    if (flag == FI_INJECT) it.memory.reset(); // it is free at once
}

void machine::remote() {
    auto const to = script_.below(peers);
    auto const what = script_.below(5);
    auto& it = make(8 + script_.below(32) * 8u);
    auto* const memory = it.memory.get();
    auto const count = it.size / 8;
    switch (what) {
    case 0: check(it, fi_write(ep_, memory, it.size, nullptr, to, 0, 1, &it.slot)); break;
    case 1: { // two answers
        iovec const piece{memory, it.size};
        fi_rma_iov const there[] = {{0, 8, 1}, {64, it.size - 8, 1}};
        fi_msg_rma said{};
        said.msg_iov = &piece;
        said.iov_count = 1;
        said.addr = to;
        said.rma_iov = there;
        said.rma_iov_count = 2;
        said.context = &it.slot;
        check(it, fi_readmsg(ep_, &said, 0));
        break;
    }
    case 2: check(it, fi_atomic(ep_, memory, count, nullptr, to, 0, 1, FI_UINT64, FI_SUM, &it.slot)); break;
    case 3:
        check(it, fi_fetch_atomic(ep_, memory, count, nullptr, it.result.get(), nullptr, to, 0, 1, FI_UINT64, FI_SUM,
                                  &it.slot));
        break;
    default:
        check(it, fi_compare_atomic(ep_, memory, count, nullptr, memory, nullptr, it.result.get(), nullptr, to, 0, 1,
                                    FI_UINT64, FI_CSWAP, &it.slot));
    }
}

void machine::peek() {
    static constexpr std::uint64_t flags[] = {0, FI_CLAIM, FI_DISCARD};
    fi_msg_tagged said{};
    said.addr = FI_ADDR_UNSPEC;
    said.ignore = ~0ull;
    // What was claimed is received or thrown away.
    for (auto& one : operations_)
        if (one.claimed) {
            one.claimed = false;
            one.size = script_.byte();
            one.memory = std::make_unique<unsigned char[]>(one.size);
            iovec const piece{one.memory.get(), one.size};
            said.msg_iov = &piece;
            said.iov_count = 1;
            said.context = &one.slot;
            check(one, fi_trecvmsg(ep_, &said, FI_CLAIM | (script_.below(2) ? FI_DISCARD : 0)));
            return;
        }
    auto& it = make(0);
    auto const flag = flags[script_.below(3)];
    it.claims = flag == FI_CLAIM;
    said.context = &it.slot;
    it.size = ~std::size_t{0}; // says how long the message is, whatever that is
    check(it, fi_trecvmsg(ep_, &said, FI_PEEK | flag));
}

void machine::register_or_not() {
    if (region_) return unregister();
    static constexpr std::uint64_t access[] = {FI_REMOTE_READ | FI_REMOTE_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};
    memory_ = std::make_unique<unsigned char[]>(region_size);
    must(fi_mr_reg(domain_, memory_.get(), region_size, access[script_.below(3)], 0, script_.below(16), 0, &region_,
                   nullptr) == 0,
         "memory is not registered");
}

// Reads until nothing is left: then, and only then, the wire is polled.
void machine::look() {
    while (true) {
        fi_cq_tagged_entry entry{};
        auto const got = fi_cq_read(cq_, &entry, 1);
        if (got == 1) ended(entry.op_context, entry.flags, entry.len, 0);
        else if (got == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            must(fi_cq_readerr(cq_, &error, 0) == 1, "no error where one was announced");
            must(error.err > 0, "an error without a number");
            ended(error.op_context, error.flags, error.len, error.err);
        } else if (!wire::current->next) return;
    }
}

void machine::ended(void* context, std::uint64_t flags, std::size_t size, int error) {
    if (!context) { // a write with data, at its target
        must(flags & FI_REMOTE_WRITE, "a completion of nothing");
        return;
    }
    auto& it = *reinterpret_cast<operation*>(context);
    must(it.pending, "a second completion");
    must(!(flags & FI_RECV) || size <= it.size, "more than was posted");
    if (it.multi && !(flags & FI_MULTI_RECV)) return; // its memory is still in use
    it.pending = false;
    it.claimed = std::exchange(it.claims, false) && !error;
    it.memory.reset();
    it.result.reset();
}

} // namespace
} // namespace assay::fuzz

// Small limits, so that a short script reaches what lies beyond them.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    setenv("ASSAY_TRANSPORT", "eager=1024+credit=8192+inject=256", 0);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    assay::fuzz::machine it(data, size);
    it.run();
    return 0;
}
