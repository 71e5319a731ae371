// Atomic operations on remote memory: every operation on numbers that the provider says it has, against our own arithmetic.
#include "suites/ofi/messages.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

struct number {
    fi_datatype type;
    std::size_t size;
};
axis<number> const& numbers() {
    static axis<number> const axis("type", {{{"int32", "FI_INT32"}, {FI_INT32, 4}},
                                            {{"uint32", "FI_UINT32"}, {FI_UINT32, 4}},
                                            {{"int64", "FI_INT64"}, {FI_INT64, 8}},
                                            {{"uint64", "FI_UINT64"}, {FI_UINT64, 8}},
                                            {{"float", "FI_FLOAT"}, {FI_FLOAT, 4}},
                                            {{"double", "FI_DOUBLE"}, {FI_DOUBLE, 8}}});
    return axis;
}

axis<fi_op> const& operations() {
    static axis<fi_op> const axis("op", {{{"min", "FI_MIN"}, FI_MIN},
                                         {{"max", "FI_MAX"}, FI_MAX},
                                         {{"sum", "FI_SUM"}, FI_SUM},
                                         {{"prod", "FI_PROD"}, FI_PROD},
                                         {{"bor", "FI_BOR"}, FI_BOR},
                                         {{"band", "FI_BAND"}, FI_BAND},
                                         {{"bxor", "FI_BXOR"}, FI_BXOR},
                                         {{"read", "FI_ATOMIC_READ"}, FI_ATOMIC_READ},
                                         {{"write", "FI_ATOMIC_WRITE"}, FI_ATOMIC_WRITE},
                                         {{"cswap", "FI_CSWAP"}, FI_CSWAP},
                                         {{"cswap_lt", "FI_CSWAP_LT"}, FI_CSWAP_LT},
                                         {{"mswap", "FI_MSWAP"}, FI_MSWAP}});
    return axis;
}
bool compares(fi_op op) { return op == FI_CSWAP || op == FI_CSWAP_LT || op == FI_MSWAP; }
bool on_bits(fi_op op) { return op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP; }

enum class kind { base, fetch, compare };

constexpr std::size_t many = 3; // elements

// What the target holds after the operation, by its definition in fi_atomic(3): `a` is the target, `b` the operand, `c` what is
// compared with.
template <class T> T result(fi_op op, T a, T b, T c) {
    if constexpr (std::is_integral_v<T>) {
        switch (op) {
        case FI_BOR: return a | b;
        case FI_BAND: return a & b;
        case FI_BXOR: return a ^ b;
        case FI_MSWAP: return (b & c) | (a & ~c);
        default: break;
        }
    }
    switch (op) {
    case FI_MIN: return b < a ? b : a;
    case FI_MAX: return b > a ? b : a;
    case FI_SUM: return a + b;
    case FI_PROD: return a * b;
    case FI_ATOMIC_WRITE: return b;
    case FI_CSWAP: return c == a ? b : a;
    case FI_CSWAP_LT: return c < a ? b : a;
    default: return a;
    }
}

template <class T> std::array<T, many> values(int which) {
    // Small numbers: sums and products are exact in every type. The second operand equals the first in one element.
    static constexpr std::array<std::array<int, many>, 3> all = {{{12, 7, 9}, {5, 7, 21}, {12, 3, 14}}};
    std::array<T, many> found{};
    for (std::size_t n = 0; n < many; ++n) found[n] = static_cast<T>(all[static_cast<std::size_t>(which)][n]);
    return found;
}

template <class T> void run(native_run& ofi, kind how, fi_op op, fi_datatype type) {
    wish what;
    what.caps = FI_MSG | FI_ATOMIC;
    endpoint end(ofi, ofi.at(providers()), what);
    std::size_t most = 0;
    int const valid = how == kind::base    ? fi_atomicvalid(end.ep.get(), type, op, &most)
                      : how == kind::fetch ? fi_fetch_atomicvalid(end.ep.get(), type, op, &most)
                                           : fi_compare_atomicvalid(end.ep.get(), type, op, &most);
    if (valid != 0 || most < many)
        ofi.unsupported(fmt::format("the provider has no such operation on {} numbers of this type: {}, {} elements",
                                    many, error_text(valid), most));
    alignas(64) auto target = values<T>(0);
    alignas(64) auto operand = values<T>(1);
    alignas(64) auto compared = values<T>(2);
    alignas(64) std::array<T, many> fetched{};
    constexpr std::size_t bytes = sizeof target;
    auto* const region = end.expose(target.data(), bytes, FI_REMOTE_READ | FI_REMOTE_WRITE);
    auto mine = end.where(region, target.data());
    std::string text(sizeof mine, '\0');
    std::memcpy(text.data(), &mine, sizeof mine);
    remote_memory there;
    std::memcpy(&there, end.exchange(text)[static_cast<std::size_t>(ofi.right())].data(), sizeof there);
    auto const peer = end.peers[static_cast<std::size_t>(ofi.right())];
    void* const d_operand = end.descriptor(operand.data(), bytes);
    void* const d_compared = end.descriptor(compared.data(), bytes);
    void* const d_fetched = end.descriptor(fetched.data(), bytes);
    auto& started = end.start("fi_atomic");
    bool const went = end.post([&] {
        switch (how) {
        case kind::base:
            return fi_atomic(end.ep.get(), operand.data(), many, d_operand, peer, there.address, there.key, type, op,
                             &started);
        case kind::fetch:
            return fi_fetch_atomic(end.ep.get(), operand.data(), many, d_operand, fetched.data(), d_fetched, peer,
                                   there.address, there.key, type, op, &started);
        case kind::compare: break;
        }
        return fi_compare_atomic(end.ep.get(), operand.data(), many, d_operand, compared.data(), d_compared,
                                 fetched.data(), d_fetched, peer, there.address, there.key, type, op, &started);
    });
    if (went) end.complete(started).done(FI_ATOMIC);
    // Fetched once more: after it the first one is done, whatever its completion means.
    end.meet();
    auto const before = values<T>(0), other = values<T>(1), third = values<T>(2);
    bool done = false;
    end.until([&] { // progress, where the target has to do it
        done = true;
        for (std::size_t n = 0; n < many; ++n)
            done = done && static_cast<T volatile&>(target[n]) == result(op, before[n], other[n], third[n]);
        return done;
    });
    for (std::size_t n = 0; n < many; ++n) {
        auto const expected = result(op, before[n], other[n], third[n]);
        ofi.check(target[n] == expected, finding::data,
                  fmt::format("element {} of the target is {}, expected {} ({} before, operand {}, compared {})", n,
                              target[n], expected, before[n], other[n], third[n]));
        if (how != kind::base)
            ofi.check(fetched[n] == before[n], finding::data,
                      fmt::format("element {} was {} and {} was fetched", n, before[n], fetched[n]));
    }
    end.finish();
}

void run_of_type(native_run& ofi, kind how) {
    auto const op = ofi.at(operations());
    auto const [type, size] = ofi.at(numbers());
    switch (type) {
    case FI_INT32: return run<std::int32_t>(ofi, how, op, type);
    case FI_UINT32: return run<std::uint32_t>(ofi, how, op, type);
    case FI_INT64: return run<std::int64_t>(ofi, how, op, type);
    case FI_UINT64: return run<std::uint64_t>(ofi, how, op, type);
    case FI_FLOAT: return run<float>(ofi, how, op, type);
    default: return run<double>(ofi, how, op, type);
    }
}

constraint no_bits_of_floats() {
    return where(numbers(), operations(),
                 [](number n, fi_op op) { return !on_bits(op) || (n.type != FI_FLOAT && n.type != FI_DOUBLE); });
}

} // namespace

OFI_TEST(atomic, requirements{"ofi.atomic.result"},
         over(axis_use{&providers()}, axis_use{&numbers()},
              only(operations(), [](fi_op op) { return !compares(op) && op != FI_ATOMIC_READ; })),
         no_bits_of_floats()) {
    run_of_type(ofi, kind::base);
}

OFI_TEST(fetch_atomic, requirements{"ofi.atomic.result", "ofi.atomic.fetch"},
         over(axis_use{&providers()}, axis_use{&numbers()}, only(operations(), [](fi_op op) { return !compares(op); })),
         no_bits_of_floats()) {
    run_of_type(ofi, kind::fetch);
}

OFI_TEST(compare_atomic, requirements{"ofi.atomic.result", "ofi.atomic.fetch"},
         over(axis_use{&providers()}, axis_use{&numbers()}, only(operations(), compares)), no_bits_of_floats()) {
    run_of_type(ofi, kind::compare);
}
