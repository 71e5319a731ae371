// Remote memory: reads and writes by every call, what they must not touch, and what is refused.
#include "suites/ofi/messages.hpp"

#include <array>
#include <cstring>
#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

enum class verb { write, writev, writemsg, writedata, inject_write, inject_writedata, read, readv, readmsg };
axis<verb> const& verbs() {
    static axis<verb> const axis("call", {{{"write", "fi_write"}, verb::write},
                                          {{"writev", "fi_writev"}, verb::writev},
                                          {{"writemsg", "fi_writemsg"}, verb::writemsg},
                                          {{"writedata", "fi_writedata"}, verb::writedata},
                                          {{"inject_write", "fi_inject_write"}, verb::inject_write},
                                          {{"inject_writedata", "fi_inject_writedata"}, verb::inject_writedata},
                                          {{"read", "fi_read"}, verb::read},
                                          {{"readv", "fi_readv"}, verb::readv},
                                          {{"readmsg", "fi_readmsg"}, verb::readmsg}});
    return axis;
}
bool reads(verb v) { return v >= verb::read; }
bool injects(verb v) { return v == verb::inject_write || v == verb::inject_writedata; }
bool has_data(verb v) { return v == verb::writedata || v == verb::inject_writedata; }

wish needs_of(verb v, std::size_t bytes) {
    wish what;
    what.caps = FI_MSG | FI_RMA;
    what.cq_data = has_data(v);
    if (injects(v)) what.inject = bytes;
    return what;
}

// Every rank's window in the memory of the others: what each told.
std::vector<remote_memory> tell(endpoint& end, remote_memory mine) {
    std::string text(sizeof mine, '\0');
    std::memcpy(text.data(), &mine, sizeof mine);
    std::vector<remote_memory> all;
    for (auto const& one : end.exchange(text)) std::memcpy(&all.emplace_back(), one.data(), sizeof mine);
    return all;
}

// Starts the call; nullptr for those without a completion.
operation* start(endpoint& end, verb v, void* local, std::size_t bytes, int rank, remote_memory there,
                 ssize_t* returned = nullptr) {
    auto* const ep = end.ep.get();
    auto const peer = end.peers[static_cast<std::size_t>(rank)];
    auto* const op = injects(v) ? nullptr : &end.start(reads(v) ? "fi_read" : "fi_write");
    void* descriptor = end.descriptor(local, bytes);
    auto* const memory = static_cast<char*>(local);
    std::size_t const first = end.info->tx_attr->iov_limit > 1 && bytes > 1 ? bytes / 3 + 1 : bytes;
    std::array<iovec, 2> const pieces = {iovec{memory, first}, iovec{memory + first, bytes - first}};
    std::array<void*, 2> descriptors = {descriptor, descriptor};
    std::size_t const n = first < bytes ? 2 : 1;
    fi_rma_iov const target{there.address, bytes, there.key};
    fi_msg_rma const message{pieces.data(), descriptors.data(), n, peer, &target, 1, op, 0};
    auto const call = [&]() -> ssize_t {
        switch (v) {
        case verb::write: return fi_write(ep, local, bytes, descriptor, peer, there.address, there.key, op);
        case verb::writev:
            return fi_writev(ep, pieces.data(), descriptors.data(), n, peer, there.address, there.key, op);
        case verb::writemsg: return fi_writemsg(ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
        case verb::writedata:
            return fi_writedata(ep, local, bytes, descriptor, immediate, peer, there.address, there.key, op);
        case verb::inject_write: return fi_inject_write(ep, local, bytes, peer, there.address, there.key);
        case verb::inject_writedata:
            return fi_inject_writedata(ep, local, bytes, immediate, peer, there.address, there.key);
        case verb::read: return fi_read(ep, local, bytes, descriptor, peer, there.address, there.key, op);
        case verb::readv: return fi_readv(ep, pieces.data(), descriptors.data(), n, peer, there.address, there.key, op);
        case verb::readmsg: return fi_readmsg(ep, &message, FI_COMPLETION);
        }
        return -FI_EINVAL;
    };
    if (returned != nullptr) *returned = end.attempt(call);
    else end.post(call);
    return op;
}

// Waits until all that this rank has written is there, by reading it back: reads come after writes (FI_ORDER_RAW).
void read_back(endpoint& end, buffer& into, int rank, remote_memory there) {
    if (into.count() == 0) return;
    auto* const op = start(end, verb::read, into.address(), into.count(), rank, there);
    end.complete(*op).done(FI_RMA | FI_READ);
}

} // namespace

// Everybody writes to, or reads from, the right neighbour. Memory around what is meant stays as it was.
OFI_TEST(rma, requirements{"ofi.rma.data", "ofi.rma.cq_data"},
         over(axis_use{&providers()}, axis_use{&verbs()}, axis_use{&sizes()})) {
    auto const v = ofi.at(verbs());
    auto const bytes = ofi.at(sizes());
    auto what = needs_of(v, bytes);
    what.order = reads(v) ? 0 : FI_ORDER_RAW;
    endpoint end(ofi, ofi.at(providers()), what);
    auto& window = reads(v) ? ofi.outgoing(ofi.left(), bytes) : ofi.incoming(bytes);
    auto* const memory = static_cast<unsigned char*>(window.address());
    // Registered with the guards of the buffer, which a wrong offset would hit.
    constexpr std::size_t guard = 32;
    auto* const region =
        end.expose(memory - guard, bytes + 2 * guard, reads(v) ? FI_REMOTE_READ : FI_REMOTE_WRITE | FI_REMOTE_READ);
    auto mine = end.where(region, memory - guard);
    mine.address += guard;
    auto const windows = tell(end, mine);
    auto const there = windows[static_cast<std::size_t>(ofi.right())];
    auto& local = reads(v) ? ofi.incoming(bytes) : ofi.outgoing(ofi.right(), bytes);
    auto* const op = start(end, v, local.address(), bytes, ofi.right(), there);
    if (op != nullptr) end.complete(*op).done(FI_RMA | (reads(v) ? FI_READ : FI_WRITE));
    if (injects(v)) local.poison();
    if (reads(v)) local.expect(ofi.key(ofi.right(), ofi.rank), bytes, "read from the right neighbour");
    else read_back(end, ofi.incoming(bytes), ofi.right(), there);
    if (has_data(v)) end.complete(end.written).done(FI_REMOTE_WRITE).data(immediate);
    end.meet();
    if (!reads(v)) ofi.expect(window, ofi.left(), bytes);
    else window.expect_unchanged();
    end.finish();
}

namespace {

enum class mistake { key, too_far, no_write, no_read };
axis<mistake> const& mistakes() {
    static axis<mistake> const axis("mistake",
                                    {{{"key", "a key that nobody has"}, mistake::key},
                                     {{"too_far", "one byte beyond the end"}, mistake::too_far},
                                     {{"no_write", "a write where only reads are allowed"}, mistake::no_write},
                                     {{"no_read", "a read where only writes are allowed"}, mistake::no_read}});
    return axis;
}

} // namespace

// What is not allowed changes nothing and ends in an error: at once or in the completion.
OFI_TEST(rma_refused, requirements{"ofi.mr.access"}, over(axis_use{&providers()}, axis_use{&mistakes()})) {
    constexpr std::size_t bytes = 64;
    auto const wrong = ofi.at(mistakes());
    wish what;
    what.caps = FI_MSG | FI_RMA;
    endpoint end(ofi, ofi.at(providers()), what);
    auto& window = wrong == mistake::no_read ? ofi.outgoing(ofi.left(), bytes) : ofi.incoming(bytes);
    std::uint64_t const access = wrong == mistake::no_write  ? FI_REMOTE_READ
                                 : wrong == mistake::no_read ? FI_REMOTE_WRITE
                                                             : FI_REMOTE_READ | FI_REMOTE_WRITE;
    auto* const region = end.expose(window.address(), bytes, access);
    auto there = tell(end, end.where(region, window.address()))[static_cast<std::size_t>(ofi.right())];
    if (wrong == mistake::key) there.key ^= 0x5a5a00;
    if (wrong == mistake::too_far) there.address += 1;
    bool const is_read = wrong == mistake::no_read;
    auto& local = is_read ? ofi.incoming(bytes) : ofi.outgoing(ofi.right(), bytes);
    ssize_t returned = 0;
    // Only with FI_DELIVERY_COMPLETE, which is asked for here, does a completion tell what became of a write at the target.
    auto* const op =
        start(end, is_read ? verb::read : verb::writemsg, local.address(), bytes, ofi.right(), there, &returned);
    if (returned == 0) {
        auto const said = end.complete(*op);
        ofi.check(!said || said->error != 0, finding::error, "a completion without an error of what is not allowed");
    }
    end.meet();
    if (wrong == mistake::no_read) {
        window.expect_unchanged();
        local.expect_untouched();
    } else {
        window.expect_untouched();
    }
    end.finish();
}

namespace {

struct mode_set {
    int bits;
};
axis<mode_set> const& mr_modes() {
    static axis<mode_set> const axis("mr_mode",
                                     {{{"none", "no demand is met"}, {0}},
                                      {{"virt_addr", "FI_MR_VIRT_ADDR"}, {FI_MR_VIRT_ADDR}},
                                      {{"prov_key", "FI_MR_PROV_KEY"}, {FI_MR_PROV_KEY}},
                                      {{"allocated", "FI_MR_ALLOCATED"}, {FI_MR_ALLOCATED}},
                                      {{"local", "FI_MR_LOCAL"}, {FI_MR_LOCAL}},
                                      {{"endpoint", "FI_MR_ENDPOINT"}, {FI_MR_ENDPOINT}},
                                      {{"verbs", "FI_MR_VIRT_ADDR, FI_MR_PROV_KEY, FI_MR_ALLOCATED, FI_MR_LOCAL"},
                                       {FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_LOCAL}}});
    return axis;
}

} // namespace

// A provider demands no more of whoever registers memory than the program says it can do; keys and addresses are then as it says.
OFI_TEST(mr_modes, requirements{"ofi.mr.modes", "ofi.rma.data"}, over(axis_use{&providers()}, axis_use{&mr_modes()})) {
    constexpr std::size_t bytes = 4096;
    auto const [bits] = ofi.at(mr_modes());
    wish what;
    what.caps = FI_MSG | FI_RMA;
    what.mr_mode = bits;
    endpoint end(ofi, ofi.at(providers()), what);
    int const demanded = end.info->domain_attr->mr_mode;
    ofi.check((demanded & ~bits) == 0, finding::value,
              fmt::format("the provider demands mr_mode {:#x} of a program that can do {:#x}", demanded, bits));
    auto& window = ofi.outgoing(ofi.left(), bytes);
    fid_mr* const region = end.expose(window.address(), bytes, FI_REMOTE_READ);
    auto const all = tell(end, end.where(region, window.address()));
    if (!(demanded & FI_MR_PROV_KEY))
        ofi.check(fi_mr_key(region) == end.last_key(), finding::value,
                  fmt::format("the key is {:#x}, asked for was {:#x}", fi_mr_key(region), end.last_key()));
    auto& local = ofi.incoming(bytes);
    auto* const op =
        start(end, verb::read, local.address(), bytes, ofi.right(), all[static_cast<std::size_t>(ofi.right())]);
    end.complete(*op).done(FI_RMA | FI_READ);
    local.expect(ofi.key(ofi.right(), ofi.rank), bytes, "read from the right neighbour");
    end.finish();
}

// Two regions at once are two: each has its own key, and closing one leaves the other.
OFI_TEST(mr_regions, requirements{"ofi.mr.close", "ofi.rma.data"}, over(axis_use{&providers()})) {
    constexpr std::size_t bytes = 256;
    wish what;
    what.caps = FI_MSG | FI_RMA;
    endpoint end(ofi, ofi.at(providers()), what);
    auto& first = ofi.outgoing(ofi.left(), bytes, 1);
    auto& second = ofi.outgoing(ofi.left(), bytes, 2);
    auto* const one = end.expose(first.address(), bytes, FI_REMOTE_READ);
    auto* const two = end.expose(second.address(), bytes, FI_REMOTE_READ);
    auto const firsts = tell(end, end.where(one, first.address()));
    auto const seconds = tell(end, end.where(two, second.address()));
    auto const right = static_cast<std::size_t>(ofi.right());
    ofi.check(firsts[right].key != seconds[right].key, finding::value, "two regions have the same key");
    auto& local = ofi.incoming(bytes);
    end.complete(*start(end, verb::read, local.address(), bytes, ofi.right(), firsts[right])).done(FI_RMA | FI_READ);
    local.expect(ofi.key(ofi.right(), ofi.rank, 1), bytes, "read from the first region");
    end.meet();
    end.withdraw(one);
    end.meet();
    local.poison();
    end.complete(*start(end, verb::read, local.address(), bytes, ofi.right(), seconds[right])).done(FI_RMA | FI_READ);
    local.expect(ofi.key(ofi.right(), ofi.rank, 2), bytes, "read from the second region");
    auto& late = ofi.incoming(bytes);
    ssize_t returned = 0;
    auto* const op = start(end, verb::read, late.address(), bytes, ofi.right(), firsts[right], &returned);
    if (returned == 0) {
        auto const said = end.complete(*op);
        ofi.check(!said || said->error != 0, finding::error, "a read of a region that has been closed succeeds");
    }
    end.finish();
}
