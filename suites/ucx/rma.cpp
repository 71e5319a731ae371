// Remote memory: put and get, when they are complete where, and memory that is mapped in every way.
#include "suites/ucx/memory.hpp"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <thread>

#include "suites/ucx/calls.hpp"

using namespace assay;
using namespace assay::ucx;

namespace {

constexpr std::size_t page = 4096;

wish rma_only() {
    wish what;
    what.features = UCP_FEATURE_RMA;
    return what;
}

// An address at which nothing is, for as long as nobody else maps something; and not the one that the system would choose next.
void* free_address(std::size_t size) {
    std::size_t const around = std::size_t{1} << 28;
    void* const there = mmap(nullptr, 2 * around + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (there == MAP_FAILED) throw std::bad_alloc();
    munmap(there, 2 * around + size);
    return static_cast<char*>(there) + around;
}

// A window for others, in memory of the given origin: `bytes` with guards around them.
struct window {
    region mapped;
    buffer* bytes;
    std::string packed; // for others

    window(worker& w, origin from, std::size_t size) {
        if (from == origin::heap) {
            bytes = &w.ucx.incoming(size);
            mapped = w.map(bytes->address(), std::max<std::size_t>(size, 1));
        } else {
            std::size_t const whole = (size + 2 * page) / page * page;
            void* const wanted = from == origin::allocated ? nullptr : free_address(whole);
            unsigned const fixed = from == origin::fixed ? static_cast<unsigned>(UCP_MEM_MAP_FIXED) : 0;
            mapped = w.map(wanted, whole, UCP_MEM_MAP_ALLOCATE | fixed);
            if (from == origin::fixed)
                w.ucx.check(mapped.address == wanted, finding::value,
                            fmt::format("ucp_mem_map with UCP_MEM_MAP_FIXED maps {}, not {}", mapped.address, wanted));
            bytes = &w.ucx.in_memory({static_cast<unsigned char*>(mapped.address), whole}, 64, size);
        }
        auto const begin = static_cast<char*>(mapped.address), at = static_cast<char*>(bytes->address());
        w.ucx.check(mapped.address != nullptr && begin <= at && begin + mapped.length >= at + size, finding::value,
                    fmt::format("ucp_mem_query says {} and {} bytes; mapped were {} bytes at {}", mapped.address,
                                mapped.length, size, bytes->address()));
        region part = mapped;
        part.address = bytes->address();
        packed = w.pack(part);
    }
};

enum class call { nbx, nbi };
axis<call> const& calls() {
    static axis<call> const axis(
        "mode", {{{"nbx", "ucp_put_nbx, ucp_get_nbx"}, call::nbx}, {{"nbi", "ucp_put_nbi, ucp_get_nbi"}, call::nbi}});
    return axis;
}

// Starts a put; nullptr where the call has no request.
operation* put(worker& w, call how, completion done, void const* from, std::size_t bytes, remote_memory to,
               std::size_t at = 0) {
    if (how == call::nbi) {
        ucs_status_t const status = ucp_put_nbi(w.to(w.right()), from, bytes, to.address + at, to.key);
        w.ucx.ok(status == UCS_INPROGRESS ? UCS_OK : status);
        return nullptr;
    }
    auto& op = w.start("ucp_put_nbx", kind::send, done);
    w.posted(op, ucp_put_nbx(w.to(w.right()), from, bytes, to.address + at, to.key, &op.param));
    return &op;
}

operation* get(worker& w, call how, completion done, void* into, std::size_t bytes, remote_memory from,
               std::size_t at = 0) {
    if (how == call::nbi) {
        ucs_status_t const status = ucp_get_nbi(w.to(w.right()), into, bytes, from.address + at, from.key);
        w.ucx.ok(status == UCS_INPROGRESS ? UCS_OK : status);
        return nullptr;
    }
    auto& op = w.start("ucp_get_nbx", kind::send, done);
    w.posted(op, ucp_get_nbx(w.to(w.right()), into, bytes, from.address + at, from.key, &op.param));
    return &op;
}

remote_memory of_right(worker& w, window const& mine) {
    auto const all = w.exchange(mine.packed);
    return w.unpack(w.right(), all[static_cast<std::size_t>(w.right())]);
}

// The right neighbour's window is to hold what was put as soon as this rank says so: the flush is complete at both sides.
void look_when_flushed(worker& w, buffer& window, std::size_t bytes) {
    // Without progress here for a while: what is flushed by then has arrived without it.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    w.until([&] { return board::of_job().has_said(w.left()); });
    if (board::of_job().has_said(w.left()))
        window.expect(w.ucx.key(w.left(), w.ucx.rank), bytes, "put by the left neighbour");
}

} // namespace

UCX_TEST(put, requirements{"ucx.rma.put", "ucx.rma.flush", "ucx.mem.allocate", "ucx.mem.fixed", "ucx.mem.query"},
         over(axis_use{&transports()}, axis_use{&origins()}, axis_use{&calls()}, axis_use{&flushes()},
              axis_use{&completions()}, axis_use{&sizes()})) {
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), rma_only());
    window mine(w, ucx.at(origins()), bytes);
    auto const there = of_right(w, mine);
    auto& out = ucx.outgoing(w.right(), bytes);
    if (auto* const op = put(w, ucx.at(calls()), ucx.at(completions()), out.address(), bytes, there))
        w.complete(*op).ok();
    w.flush(ucx.at(flushes()), w.right());
    board::of_job().say();
    out.expect_unchanged();
    w.until([&] { return board::of_job().has_said(w.left()); });
    mine.bytes->expect(ucx.key(w.left(), ucx.rank), bytes, "put by the left neighbour");
    w.finish();
}

// A flush that is complete means complete at the target: one rank puts, the other looks as soon as it is told.
UCX_TEST(put_flush, requirements{"ucx.rma.flush"},
         over(to_others(), axis_use{&calls()}, axis_use{&flushes()}, few_sizes())) {
    constexpr int many = 64; // more than the system takes at once
    auto const bytes = std::max<std::size_t>(ucx.at(sizes()), 1);
    worker w(ucx, ucx.at(transports()), rma_only());
    window mine(w, origin::heap, bytes * many);
    auto const there = of_right(w, mine);
    auto& out = ucx.outgoing(w.right(), bytes * many);
    bool const puts = ucx.rank % 2 == 0 && ucx.rank + 1 < ucx.size;
    // The way is open before: what follows takes no time for that.
    if (puts) {
        if (auto* const op = put(w, call::nbx, completion::poll, out.address(), 1, there)) w.complete(*op).ok();
        w.flush(false, w.right());
    }
    w.meet();
    if (puts) {
        for (std::size_t n = 0; n < many; ++n)
            put(w, ucx.at(calls()), completion::poll, static_cast<char*>(out.address()) + n * bytes, bytes, there,
                n * bytes);
        w.flush(ucx.at(flushes()), w.right());
        board::of_job().say();
        for (auto& op : w.operations) w.complete(op).ok();
    } else if (ucx.rank % 2 == 1) {
        look_when_flushed(w, *mine.bytes, bytes * many);
    }
    w.finish();
}

UCX_TEST(get, requirements{"ucx.rma.get", "ucx.rma.flush", "ucx.mem.allocate", "ucx.mem.fixed", "ucx.mem.query"},
         over(axis_use{&transports()}, axis_use{&origins()}, axis_use{&calls()}, axis_use{&flushes()},
              axis_use{&completions()}, axis_use{&sizes()}, axis_use{&placements()})) {
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), rma_only());
    window mine(w, ucx.at(origins()), bytes);
    mine.bytes->fill(ucx.key(ucx.rank, w.left()));
    auto const there = of_right(w, mine);
    auto& in = ucx.incoming(bytes);
    if (auto* const op = get(w, ucx.at(calls()), ucx.at(completions()), in.address(), bytes, there))
        w.complete(*op).ok();
    else w.flush(ucx.at(flushes()), w.right());
    in.expect(ucx.key(w.right(), ucx.rank), bytes, "read from the right neighbour");
    w.meet();
    mine.bytes->expect_unchanged();
    w.finish();
}

// Parts of a window, many at once; nothing between them is touched.
UCX_TEST(put_parts, requirements{"ucx.rma.put", "ucx.rma.flush"},
         over(axis_use{&transports()}, axis_use{&calls()}, axis_use{&flushes()}, axis_use{&origins()})) {
    static constexpr std::array<std::pair<std::size_t, std::size_t>, 6> parts = {
        {{0, 1},
         {8, 64},
         {1000, 3000},
         {5000, 9},
         {10'000, 70'000},
         {99'992, 8}}}; // first, count; multiples of 8 at first
    constexpr std::size_t whole = 100'000;
    worker w(ucx, ucx.at(transports()), rma_only());
    window mine(w, ucx.at(origins()), whole);
    auto const there = of_right(w, mine);
    std::vector<operation*> puts;
    int serial = 0;
    for (auto const& [first, count] : parts) {
        auto& out = ucx.outgoing(w.right(), count, serial++);
        puts.push_back(put(w, ucx.at(calls()), completion::poll, out.address(), count, there, first));
    }
    w.flush(ucx.at(flushes()), w.right());
    for (auto* one : puts)
        if (one != nullptr) w.complete(*one).ok();
    w.meet();
    std::vector<segment> expected;
    serial = 0;
    for (auto const& [first, count] : parts)
        expected.push_back({first, count, ucx.key(w.left(), ucx.rank, serial++), nullptr, w.left()});
    mine.bytes->expect(expected, "put by the left neighbour");
    w.finish();
}

// What comes after a fence is not seen before what came before it.
UCX_TEST(fence, requirements{"ucx.rma.fence"}, over(to_others(), axis_use{&origins()}, few_sizes())) {
    constexpr std::size_t flag_at = 8;
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), rma_only());
    window mine(w, ucx.at(origins()), 128 + bytes);
    window flag(w, ucx.at(origins()), 64);
    auto const there = of_right(w, mine), flag_there = of_right(w, flag);
    auto& out = ucx.outgoing(w.right(), 128 + bytes);
    static constexpr std::uint64_t set = 0x0123456789abcdef;
    std::uint64_t const value = set;
    w.meet();
    put(w, call::nbx, completion::poll, out.address(), 128 + bytes, there);
    ucx.ok(ucp_worker_fence(w.handle));
    put(w, call::nbx, completion::poll, &value, sizeof value, flag_there, flag_at);
    auto const* const seen =
        reinterpret_cast<std::uint64_t volatile const*>(static_cast<char*>(flag.bytes->address()) + flag_at);
    ucx.check(w.until([&] { return *seen == set; }), finding::request, "what was put after the fence does not arrive");
    mine.bytes->expect(ucx.key(w.left(), ucx.rank), 128 + bytes, "put before the fence");
    w.flush(true, w.right());
    for (auto& op : w.operations)
        if (!op.complete) w.complete(op).ok();
    w.finish();
}

// A pointer to the memory of another process is one only with shared memory; then it shows what is there.
UCX_TEST(rkey_ptr, requirements{"ucx.rkey.pointer"}, over(axis_use{&transports()}, axis_use{&origins()})) {
    constexpr std::size_t bytes = 4096;
    auto const& over = ucx.at(transports());
    worker w(ucx, over, rma_only());
    window mine(w, ucx.at(origins()), bytes);
    mine.bytes->fill(ucx.key(ucx.rank, w.left()));
    auto const there = of_right(w, mine);
    void* local = nullptr;
    ucs_status_t const status = ucp_rkey_ptr(there.key, there.address, &local);
    ucx.check(status != UCS_OK || over.tls != "tcp", finding::return_,
              "ucp_rkey_ptr returned UCS_OK over sockets, which reach no memory");
    if (status == UCS_OK) {
        auto& in = ucx.incoming(bytes);
        std::memcpy(in.address(), local, bytes);
        in.expect(ucx.key(w.right(), ucx.rank), bytes, "seen at the right neighbour's");
    }
    w.finish();
}

namespace {

struct mistake {
    unsigned flags;
    bool address, length;
};
axis<mistake> const& mistakes() {
    static axis<mistake> const axis(
        "mistake", {{{"nothing", "neither an address nor UCP_MEM_MAP_ALLOCATE"}, {0, false, true}},
                    {{"fixed", "UCP_MEM_MAP_FIXED alone"}, {UCP_MEM_MAP_FIXED, false, true}},
                    {{"fixed_nowhere", "UCP_MEM_MAP_ALLOCATE and UCP_MEM_MAP_FIXED without an address"},
                     {UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED, false, true}},
                    {{"fixed_register", "UCP_MEM_MAP_FIXED with an address, not to be allocated"},
                     {UCP_MEM_MAP_FIXED, true, true}},
                    {{"no_length", "no length"}, {UCP_MEM_MAP_ALLOCATE, false, false}}});
    return axis;
}

} // namespace

// What the table of ucp_mem_map calls an error is one.
UCX_TEST(mem_map_refused, requirements{"ucx.mem.errors"}, over(axis_use{&transports()}, axis_use{&mistakes()})) {
    auto const wrong = ucx.at(mistakes());
    worker w(ucx, ucx.at(transports()), rma_only());
    auto& memory = ucx.incoming(2 * page);
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    if (wrong.length) params.field_mask |= UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    if (wrong.address) params.field_mask |= UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
    params.address = memory.address();
    params.length = page;
    params.flags = wrong.flags;
    ucp_mem_h made = nullptr;
    ucs_status_t const status = ucp_mem_map(w.context, &params, &made);
    ucx.check(status != UCS_OK, finding::return_,
              "ucp_mem_map returned UCS_OK for parameters that its table calls an error");
    if (status == UCS_OK) ucp_mem_unmap(w.context, made);
    memory.expect_untouched();
    w.finish();
}
