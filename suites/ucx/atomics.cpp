// Atomic operations on remote memory: each against our own arithmetic, and many ranks at one number.
#include "suites/ucx/memory.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "suites/ucx/calls.hpp"

using namespace assay;
using namespace assay::ucx;

namespace {

axis<std::size_t> const& widths() {
    static axis<std::size_t> const axis("type",
                                        {{{"uint32", "UCP_FEATURE_AMO32"}, 4}, {{"uint64", "UCP_FEATURE_AMO64"}, 8}});
    return axis;
}

axis<ucp_atomic_op_t> const& operators() {
    static axis<ucp_atomic_op_t> const axis("op", {{{"add", "UCP_ATOMIC_OP_ADD"}, UCP_ATOMIC_OP_ADD},
                                                   {{"and", "UCP_ATOMIC_OP_AND"}, UCP_ATOMIC_OP_AND},
                                                   {{"or", "UCP_ATOMIC_OP_OR"}, UCP_ATOMIC_OP_OR},
                                                   {{"xor", "UCP_ATOMIC_OP_XOR"}, UCP_ATOMIC_OP_XOR},
                                                   {{"swap", "UCP_ATOMIC_OP_SWAP"}, UCP_ATOMIC_OP_SWAP},
                                                   {{"cswap", "UCP_ATOMIC_OP_CSWAP"}, UCP_ATOMIC_OP_CSWAP}});
    return axis;
}
bool only_fetches(ucp_atomic_op_t op) { return op == UCP_ATOMIC_OP_SWAP || op == UCP_ATOMIC_OP_CSWAP; }

axis<bool> const& fetches() {
    static axis<bool> const axis("fetch",
                                 {{{"no", "without reply_buffer"}, false}, {{"yes", "with reply_buffer"}, true}});
    return axis;
}

// Numbers in memory of the program, or of UCX: some transports reach only the latter without the other side's help.
axis_use both_origins() {
    return only(origins(), [](origin from) { return from == origin::heap || from == origin::allocated; });
}

// As many numbers of others as fit, mapped.
template <class T> struct numbers {
    alignas(64) std::array<T, 3> own{};
    region mapped;
    T volatile* at;

    explicit numbers(worker& w) {
        mapped = w.ucx.at(origins()) == origin::heap ? w.map(own.data(), sizeof own)
                                                     : w.map(nullptr, sizeof own, UCP_MEM_MAP_ALLOCATE);
        at = static_cast<T*>(mapped.address);
    }
};

// The operands: Y at the target, X, and Z, which is the reply buffer before the call. Wide numbers use all their bytes.
template <class T> constexpr T target_before = static_cast<T>(0xfedcba98f0f0f0f1);
template <class T> constexpr T operand = static_cast<T>(0x123456780ff00ff3);
template <class T> constexpr T third = static_cast<T>(0xa5a5a5a55a5a5a5c);

template <class T> T result(ucp_atomic_op_t op, T y, T x, T z) {
    switch (op) {
    case UCP_ATOMIC_OP_ADD: return static_cast<T>(y + x);
    case UCP_ATOMIC_OP_AND: return y & x;
    case UCP_ATOMIC_OP_OR: return y | x;
    case UCP_ATOMIC_OP_XOR: return y ^ x;
    case UCP_ATOMIC_OP_SWAP: return x;
    case UCP_ATOMIC_OP_CSWAP: return x == y ? z : y;
    default: return y;
    }
}

template <class T> wish amo_only() {
    wish what;
    what.features = sizeof(T) == 4 ? UCP_FEATURE_AMO32 : UCP_FEATURE_AMO64;
    return what;
}

template <class T>
operation& post(worker& w, int to, ucp_atomic_op_t op, T const& x, T* reply, remote_memory there, std::size_t at,
                completion how) {
    auto& made = w.start("ucp_atomic_op_nbx", kind::send, how);
    made.param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    made.param.datatype = ucp_dt_make_contig(sizeof(T));
    if (reply != nullptr) {
        made.param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        made.param.reply_buffer = reply;
    }
    w.posted(made, ucp_atomic_op_nbx(w.to(to), op, &x, 1, there.address + at, there.key, &made.param));
    return made;
}

// `equal`: what is compared with the target agrees with it.
template <class T> void run(native_run& ucx, ucp_atomic_op_t op, bool fetch, bool equal, completion how) {
    worker w(ucx, ucx.at(transports()), amo_only<T>());
    T const y = target_before<T>, x = equal ? y : operand<T>, z = third<T>, around = static_cast<T>(0x9999999999999999);
    numbers<T> mine(w);
    auto* const target = mine.at; // the one in the middle
    target[0] = around;
    target[2] = around;
    target[1] = y;
    auto const all = w.exchange(w.pack(mine.mapped));
    auto const there = w.unpack(w.right(), all[static_cast<std::size_t>(w.right())]);
    alignas(64) std::array<T, 3> reply = {around, z, around};
    auto& started = post(w, w.right(), op, x, fetch ? &reply[1] : nullptr, there, sizeof(T), how);
    w.complete(started).ok();
    w.flush(ucx.at(flushes()), w.right());
    w.meet();
    T const expected = result<T>(op, y, x, z);
    ucx.check(target[1] == expected, finding::data,
              fmt::format("the target is {:#x}, expected {:#x}: Y={:#x}, X={:#x}, Z={:#x}", static_cast<T>(target[1]),
                          expected, y, x, z));
    ucx.check(target[0] == around && target[2] == around, finding::guard, "what lies beside the target has changed");
    ucx.check(reply[1] == (fetch ? y : z), finding::data,
              fmt::format("the reply buffer is {:#x}, expected {:#x}", reply[1], fetch ? y : z));
    ucx.check(reply[0] == around && reply[2] == around, finding::guard,
              "what lies beside the reply buffer has changed");
    w.finish();
}

} // namespace

UCX_TEST(atomic, requirements{"ucx.atomic.result", "ucx.atomic.fetch", "ucx.rma.flush"},
         over(axis_use{&transports()}, axis_use{&widths()}, axis_use{&operators()}, axis_use{&fetches()},
              axis_use{&flushes()}, both_origins(), axis_use{&completions()}),
         where(operators(), fetches(), [](ucp_atomic_op_t op, bool fetch) { return fetch || !only_fetches(op); })) {
    auto const op = ucx.at(operators());
    auto* const body = ucx.at(widths()) == 4 ? run<std::uint32_t> : run<std::uint64_t>;
    body(ucx, op, ucx.at(fetches()), op == UCP_ATOMIC_OP_CSWAP, ucx.at(completions()));
}

// What does not agree is not swapped.
UCX_TEST(cswap_unequal, requirements{"ucx.atomic.result", "ucx.atomic.fetch"},
         over(axis_use{&transports()}, axis_use{&widths()}, axis_use{&flushes()}, both_origins(),
              axis_use{&completions()})) {
    auto* const body = ucx.at(widths()) == 4 ? run<std::uint32_t> : run<std::uint64_t>;
    body(ucx, UCP_ATOMIC_OP_CSWAP, true, false, ucx.at(completions()));
}

namespace {

// All ranks add to one number of rank 0: no addition is lost, and everybody sees another value.
template <class T> void add_together(native_run& ucx, bool fetch) {
    constexpr std::size_t each = 100;
    worker w(ucx, ucx.at(transports()), amo_only<T>());
    numbers<T> mine(w);
    auto& counter = *mine.at;
    counter = 0;
    int const home = w.right() == ucx.rank ? ucx.rank : 0; // over a transport that reaches no others each has its own
    auto const all = w.exchange(w.pack(mine.mapped));
    auto const there = w.unpack(home, all[static_cast<std::size_t>(home)]);
    T const one = 1;
    std::vector<T> seen(each);
    std::vector<operation*> posted;
    for (std::size_t n = 0; n < each; ++n)
        posted.push_back(
            &post(w, home, UCP_ATOMIC_OP_ADD, one, fetch ? &seen[n] : nullptr, there, 0, completion::poll));
    for (auto* op : posted) w.complete(*op).ok();
    w.flush(true, home);
    w.meet();
    std::size_t const adders = home == ucx.rank && w.right() == ucx.rank ? 1 : static_cast<std::size_t>(ucx.size);
    if (ucx.rank == home)
        ucx.check(counter == each * adders, finding::data,
                  fmt::format("{} ranks added 1 each {} times: the sum is {}", adders, each, static_cast<T>(counter)));
    if (fetch) {
        std::sort(seen.begin(), seen.end());
        ucx.check(std::adjacent_find(seen.begin(), seen.end()) == seen.end() && seen.back() < each * adders,
                  finding::data, "two of the fetched values are equal, or larger than the sum");
    }
    w.finish();
}

} // namespace

UCX_TEST(atomic_together, requirements{"ucx.atomic.result", "ucx.atomic.fetch"},
         over(axis_use{&transports()}, axis_use{&widths()}, axis_use{&fetches()}, both_origins())) {
    auto* const body = ucx.at(widths()) == 4 ? add_together<std::uint32_t> : add_together<std::uint64_t>;
    body(ucx, ucx.at(fetches()));
}
