#include "transports/core/operation.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>

namespace assay::ofi {
namespace {

using int128 = __int128;
using uint128 = unsigned __int128;

enum class sort { integer, real, complex };

// Calls function.template operator()<Type, sort>(); false if there is no such type.
template <typename Function> bool with_type(fi_datatype type, Function function) {
    switch (static_cast<int>(type)) { // newer versions of libfabric have more than those that this is compiled with
    case FI_INT8: function.template operator()<std::int8_t, sort::integer>(); return true;
    case FI_UINT8: function.template operator()<std::uint8_t, sort::integer>(); return true;
    case FI_INT16: function.template operator()<std::int16_t, sort::integer>(); return true;
    case FI_UINT16: function.template operator()<std::uint16_t, sort::integer>(); return true;
    case FI_INT32: function.template operator()<std::int32_t, sort::integer>(); return true;
    case FI_UINT32: function.template operator()<std::uint32_t, sort::integer>(); return true;
    case FI_INT64: function.template operator()<std::int64_t, sort::integer>(); return true;
    case FI_UINT64: function.template operator()<std::uint64_t, sort::integer>(); return true;
    case FI_INT128: function.template operator()<int128, sort::integer>(); return true;
    case FI_UINT128: function.template operator()<uint128, sort::integer>(); return true;
    case FI_FLOAT: function.template operator()<float, sort::real>(); return true;
    case FI_DOUBLE: function.template operator()<double, sort::real>(); return true;
    case FI_LONG_DOUBLE: function.template operator()<long double, sort::real>(); return true;
    case FI_FLOAT_COMPLEX: function.template operator()<std::complex<float>, sort::complex>(); return true;
    case FI_DOUBLE_COMPLEX: function.template operator()<std::complex<double>, sort::complex>(); return true;
    case FI_LONG_DOUBLE_COMPLEX: function.template operator()<std::complex<long double>, sort::complex>(); return true;
    default: return false;
    }
}

template <typename T> T load(std::byte const* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Only the bytes that make the value: the rest of a long double belongs to nobody and is left as it is.
template <typename T> void store(std::byte* to, T const& value) {
    constexpr bool padded = std::is_same_v<T, long double> && std::numeric_limits<long double>::digits == 64;
    std::memcpy(to, &value, padded ? 10 : sizeof value);
}
template <typename T> void store(std::byte* to, std::complex<T> const& value) {
    store(to, value.real());
    store(to + sizeof(T), value.imag());
}

// Wide enough not to be made an int, and without a sign: what is too large wraps around.
template <typename T> struct wrapping {
    using type =
        std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::conditional_t<sizeof(T) == 8, std::uint64_t, uint128>>;
};

template <typename T, sort Sort> T sum(T a, T b) {
    if constexpr (Sort == sort::integer) {
        using wide = typename wrapping<T>::type;
        return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
    } else return a + b;
}

template <typename T, sort Sort> T product(T a, T b) {
    if constexpr (Sort == sort::integer) {
        using wide = typename wrapping<T>::type;
        return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
    } else return a * b;
}

// Whether FI_CSWAP… replaces `old`.
template <typename T, sort Sort> bool swaps(fi_op op, T const& compare, T const& old) {
    if (op == FI_CSWAP) return compare == old;
    if (op == FI_CSWAP_NE) return compare != old;
    if constexpr (Sort != sort::complex) switch (op) {
        case FI_CSWAP_LE: return compare <= old;
        case FI_CSWAP_LT: return compare < old;
        case FI_CSWAP_GE: return compare >= old;
        case FI_CSWAP_GT: return compare > old;
        default: break;
        }
    return false;
}

template <typename T, sort Sort>
void change(fi_op op, std::byte* target, std::byte const* operand, std::byte const* compare) {
    if (op == FI_ATOMIC_READ) return;
    auto const old = load<T>(target), given = load<T>(operand);
    switch (op) {
    case FI_SUM: return store(target, sum<T, Sort>(old, given));
    case FI_PROD: return store(target, product<T, Sort>(old, given));
    case FI_LOR: return store(target, static_cast<T>(old != T{} || given != T{}));
    case FI_LAND: return store(target, static_cast<T>(old != T{} && given != T{}));
    case FI_LXOR: return store(target, static_cast<T>((old != T{}) != (given != T{})));
    case FI_ATOMIC_WRITE: std::memcpy(target, operand, sizeof(T)); return;
    default: break;
    }
    if constexpr (Sort != sort::complex) {
        if (op == FI_MIN || op == FI_MAX) {
            if (op == FI_MIN ? given < old : given > old) std::memcpy(target, operand, sizeof(T));
            return;
        }
    }
    if constexpr (Sort == sort::integer) switch (op) {
        case FI_BOR: return store(target, static_cast<T>(old | given));
        case FI_BAND: return store(target, static_cast<T>(old & given));
        case FI_BXOR: return store(target, static_cast<T>(old ^ given));
        case FI_MSWAP: {
            auto const mask = load<T>(compare);
            return store(target, static_cast<T>((given & mask) | (old & ~mask)));
        }
        default: break;
        }
    if (swaps<T, Sort>(op, load<T>(compare), old)) std::memcpy(target, operand, sizeof(T));
}

} // namespace

std::size_t size_of(fi_datatype type) {
    std::size_t size = 0;
    with_type(type, [&]<typename T, sort>() { size = sizeof(T); });
    return size;
}

bool defined(fi_datatype type, fi_op op, form how) {
    int const number = op;
    if (number < FI_MIN || number > FI_MSWAP) return false;
    bool const compares = number >= FI_CSWAP;
    if (compares != (how == form::comparing)) return false;
    if (op == FI_ATOMIC_READ && how != form::fetching) return false;
    bool const bitwise = op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
    bool const ordering = op == FI_MIN || op == FI_MAX || (number >= FI_CSWAP_LE && number <= FI_CSWAP_GT);
    bool there = false;
    with_type(type, [&]<typename, sort Sort>() {
        there = Sort == sort::integer || (!bitwise && (Sort == sort::real || !ordering));
    });
    return there;
}

std::uint64_t needed_access(fi_op op, form how) {
    if (op == FI_ATOMIC_READ) return FI_REMOTE_READ;
    return how == form::plain ? FI_REMOTE_WRITE : FI_REMOTE_READ | FI_REMOTE_WRITE;
}

void perform(fi_datatype type, fi_op op, std::size_t count, std::byte* target, std::byte const* operand,
             std::byte const* compare, std::byte* result) {
    // Domains of one name are one actor, however often they are open: their own locks are not enough.
    static std::mutex one_at_a_time;
    std::lock_guard const lock(one_at_a_time);
    with_type(type, [&]<typename T, sort Sort>() {
        if (result) std::memcpy(result, target, count * sizeof(T));
        for (std::size_t k = 0; k < count * sizeof(T); k += sizeof(T))
            change<T, Sort>(op, target + k, operand ? operand + k : nullptr, compare ? compare + k : nullptr);
    });
}

} // namespace assay::ofi
