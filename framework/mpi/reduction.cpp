#include "framework/mpi/reduction.hpp"

#include "framework/check/data.hpp"
#include "framework/plan/registry.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace assay {
namespace {

enum class group { character, integer, floating, logical, complex, byte, multi_language }; // of section 6.9.2

// What is asked of a loop over one basic type: elements [from, from + n) of the result over `who`.
struct job_of_loop {
    op_kind op;
    std::uint64_t key;
    int contributors;
    std::span<int const> who;
    std::size_t from, n;
    unsigned char* out;
};

template <class T> struct part { using type = T; };
template <class T> struct part<std::complex<T>> { using type = T; };
template <class T> constexpr bool is_complex = !std::is_same_v<T, typename part<T>::type>;

// Bits of the integers that a type holds exactly.
template <class T> constexpr int value_bits() {
    if constexpr (std::is_same_v<T, bool>) return 1;
    else if constexpr (std::is_integral_v<T>) return 8 * sizeof(T);
    else return std::min(64, std::numeric_limits<T>::digits);
}
template <class T> constexpr bool has_sign = std::is_signed_v<T>;

constexpr std::uint64_t low_bits(int n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

// The u-th value of a type, in ascending order; u < 2^value_bits.
template <class T> T ordered(std::uint64_t u) {
    if constexpr (has_sign<T>)
        return static_cast<T>(static_cast<std::int64_t>(u - (std::uint64_t{1} << (value_bits<T>() - 1))));
    else return static_cast<T>(u);
}

// A random number below `end`, from 64 random bits.
std::uint64_t below(std::uint64_t end, std::uint64_t random) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random) * end) >> 64);
}

// The largest m with m^n <= limit.
std::uint64_t root(std::uint64_t limit, int n) {
    auto const fits = [&](std::uint64_t m) {
        unsigned __int128 power = 1;
        for (int i = 0; i < n && power <= limit; ++i) power *= m;
        return power <= limit;
    };
    if (n == 1) return limit;
    auto m = static_cast<std::uint64_t>(std::pow(static_cast<double>(limit), 1.0 / n));
    while (m > 1 && !fits(m)) --m;
    while (fits(m + 1)) ++m;
    return std::max<std::uint64_t>(m, 1);
}

// One element: what all contributors know of it, and what one of them draws.
struct draw {
    std::uint64_t shared, own;
    int who, contributors, winner; // the winner changes from element to element
    bool wins() const { return who == winner; }
    int turn() const { return who >= winner ? who - winner : who - winner + contributors; } // 0 for the winner
};

// The winner is the only maximum. Half of the elements compare across the sign bit, the others differ in the last byte
// only. `loc`: in some elements the next contributor has the maximum, too.
template <class T> T extreme(draw const& d, bool maximum, bool loc) {
    constexpr int bits = value_bits<T>();
    bool const tie = loc && (d.shared & 2) != 0 && d.turn() == 1;
    bool const wins = d.wins() || tie;
    auto const random = loc && wins ? splitmix64(d.shared) : d.own;
    std::uint64_t u;
    if ((d.shared & 1) != 0 || bits <= 8) u = (random & low_bits(bits - 1)) | (std::uint64_t{wins} << (bits - 1));
    else u = (d.shared & low_bits(bits) & ~std::uint64_t{0xff}) | (random & 0x7f) | (wins ? 0x80 : 0);
    return ordered<T>(maximum ? u : ~u & low_bits(bits));
}

// Whole numbers: what sums and products may reach.
template <class T> constexpr std::uint64_t limit() { return low_bits(value_bits<T>() - (has_sign<T> ? 1 : 0)); }

template <class T> T summand(draw const& d) {
    auto const n = static_cast<std::uint64_t>(d.contributors);
    if (static_cast<std::uint64_t>(d.turn()) >= limit<T>()) return T(0); // more ranks than a char can count
    auto const value = static_cast<T>(1 + below(std::max<std::uint64_t>(limit<T>() / n, 1), d.own));
    return has_sign<T> && (d.own & 1) != 0 ? static_cast<T>(-value) : value;
}

// Never 1, so that a lost one shows; `most` is the root of the limit.
template <class T> T factor(draw const& d, std::uint64_t most) {
    if constexpr (has_sign<T>) {
        auto const value = static_cast<T>(1 + below(most, d.own));
        return value == T(1) || (d.own & 1) != 0 ? static_cast<T>(-value) : value;
    } else {
        if (most >= 2) return static_cast<T>(2 + below(most - 1, d.own));
        return d.turn() < value_bits<T>() - 1 ? T(2) : T(1); // more ranks than bits
    }
}

// Gaussian integers of a modulus of at most `most`. Their angles, but for turns by 90°, add up to less than 90°: no product of
// some of them has a part that is zero, as the sign of a zero depends on the order.
constexpr int turning = 6; // so many contributors multiply; at most this many have room for it
template <class T> std::complex<T> complex_factor(draw const& d, int contributors, std::uint64_t most) {
    if (d.turn() >= contributors) return {T(1), T(0)};
    auto const n = static_cast<std::uint64_t>(contributors), least = (2 * n + 2) / 3, largest = most * 2 / 3;
    auto const re = least + below(largest - least + 1, d.own), im = 1 + below(3 * re / (2 * n), splitmix64(d.own));
    std::complex<T> const value(static_cast<T>(re), static_cast<T>(im));
    switch (d.own & 3) {
    case 0: return value;
    case 1: return {-value.imag(), value.real()};
    case 2: return -value;
    default: return {value.imag(), -value.real()};
    }
}

// Each contributor has another bit for true: a bitwise operation or a comparison in place of a logical one shows.
template <class T> T truth(draw const& d, op_kind op) {
    bool const second = op == op_kind::lor && d.turn() == 1 && (d.shared & 2) != 0; // lor is not lxor
    bool const special = (d.wins() || second) && ((d.shared & 1) != 0 || op == op_kind::lxor);
    bool const holds = op == op_kind::land ? !special : op == op_kind::lor ? special : special || (d.own & 1) != 0;
    if (!holds) return T(0);
    auto const bit = (static_cast<std::uint64_t>(d.turn()) + (d.shared >> 8)) % static_cast<unsigned>(value_bits<T>());
    return static_cast<T>(std::uint64_t{1} << bit);
}

// Each bit is decided by one contributor alone, in every other element by two.
std::uint64_t bits_of_turn(draw const& d) {
    if (d.contributors == 1) return ~std::uint64_t{0};
    std::uint64_t mask = 0;
    for (int bit = d.turn(); bit < 64; bit += d.contributors) mask |= std::uint64_t{1} << bit;
    if ((d.shared & 1) != 0) mask |= std::rotl(mask, 1);
    return mask;
}

template <class T, class Operand, class Combine> void fold(job_of_loop const& j, Operand operand, Combine combine) {
    auto const n = static_cast<std::uint64_t>(j.contributors);
    int winner = static_cast<int>((splitmix64(j.key) + j.from) % n);
    auto* out = j.out;
    for (std::size_t e = j.from; e < j.from + j.n; ++e) {
        auto const shared = splitmix64(j.key + e);
        T value{};
        bool first = true;
        for (int who : j.who) {
            draw const d{shared, splitmix64(shared + static_cast<std::uint64_t>(who) + 1), who, j.contributors, winner};
            value = first ? operand(d) : combine(value, operand(d));
            first = false;
        }
        std::memcpy(out, &value, sizeof value);
        out += sizeof value;
        if (++winner == j.contributors) winner = 0;
    }
}

// Our own operations work on unsigned integers, as which any value of ours can be read.
std::uint64_t combine_bits(op_kind op, std::uint64_t x, std::uint64_t y, int bits) {
    if (op == op_kind::quadsum) {
        // The top bit tells a sum of squares from a contribution that is still to be squared: that makes the sum of
        // squares associative. The numbers below it are counted modulo a power of two.
        if (bits == 1) return x ^ y; // modulo 2
        auto const mark = std::uint64_t{1} << (bits - 1);
        auto const square = [mark](std::uint64_t v) { return (v & mark) != 0 ? v : v * v; };
        return ((square(x) + square(y)) & (mark - 1)) | mark;
    }
    // x -> a*x + b modulo 2^(bits of b), a odd; the upper half holds a/2, the lower one b. First y, then x.
    int const low = bits - bits / 2;
    auto const mask = low_bits(low);
    auto const a = [&](std::uint64_t v) { return 2 * (bits > 1 ? v >> low : 0) + 1; };
    auto const product = a(x) * a(y), shift = a(x) * (y & mask) + (x & mask);
    return (((product / 2) & low_bits(bits / 2)) << (bits > 1 ? low : 0)) | (shift & mask);
}

template <class T> std::uint64_t to_bits(T value) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return static_cast<std::make_unsigned_t<T>>(value);
    else return static_cast<std::uint64_t>(value);
}
template <class T> T own_operand(op_kind op, std::uint64_t random) {
    auto u = random & low_bits(value_bits<T>());
    if (op == op_kind::quadsum && value_bits<T>() > 1) u &= low_bits(value_bits<T>() - 1); // not squared yet
    return static_cast<T>(u);
}
template <class T> T own_combine(op_kind op, T x, T y) {
    if constexpr (is_complex<T>) return {own_combine(op, x.real(), y.real()), own_combine(op, x.imag(), y.imag())};
    else return static_cast<T>(combine_bits(op, to_bits(x), to_bits(y), value_bits<T>()));
}

template <class T> void loop(job_of_loop const& j) {
    using P = typename part<T>::type;
    auto const both = [](auto value, draw const& d) -> T { // complex: two draws
        if constexpr (is_complex<T>) {
            auto other = d;
            other.own = splitmix64(d.own);
            return {value(d), value(other)};
        } else return value(d);
    };
    auto const random = [&](draw const& d) {
        return both([](draw const& x) { return ordered<P>(x.own & low_bits(value_bits<P>())); }, d);
    };
    switch (j.op) {
    case op_kind::replace: return fold<T>(j, random, [](T, T b) { return b; });
    case op_kind::no_op: return fold<T>(j, random, [](T a, T) { return a; });
    case op_kind::quadsum:
    case op_kind::affine:
        return fold<T>(
            j, [&](draw const& d) { return both([&](draw const& x) { return own_operand<P>(j.op, x.own); }, d); },
            [&](T a, T b) { return own_combine(j.op, a, b); });
    default: break;
    }
    if constexpr (!std::is_same_v<T, bool>) {
        if (j.op == op_kind::sum)
            return fold<T>(
                j, [&](draw const& d) { return both(summand<P>, d); }, [](T a, T b) { return static_cast<T>(a + b); });
        if (j.op == op_kind::prod) {
            if constexpr (is_complex<T>) {
                int const n = std::min(j.contributors, turning);
                auto const most = root(limit<P>() / 2, n);
                return fold<T>(
                    j, [=](draw const& d) { return complex_factor<P>(d, n, most); }, [](T a, T b) { return a * b; });
            } else {
                auto const most = root(limit<T>(), j.contributors);
                return fold<T>(
                    j, [most](draw const& d) { return factor<T>(d, most); },
                    [](T a, T b) { return static_cast<T>(a * b); });
            }
        }
    }
    if constexpr (!is_complex<T> && !std::is_same_v<T, bool>) {
        if (j.op == op_kind::max)
            return fold<T>(
                j, [](draw const& d) { return extreme<T>(d, true, false); }, [](T a, T b) { return std::max(a, b); });
        if (j.op == op_kind::min)
            return fold<T>(
                j, [](draw const& d) { return extreme<T>(d, false, false); }, [](T a, T b) { return std::min(a, b); });
    }
    if constexpr (std::is_integral_v<T>) {
        auto const logical = [&](draw const& d) { return truth<T>(d, j.op); };
        // A single contribution is not combined with anything: it stays what it is.
        switch (j.op) {
        case op_kind::land: return fold<T>(j, logical, [](T a, T b) { return static_cast<T>(a && b); });
        case op_kind::lor: return fold<T>(j, logical, [](T a, T b) { return static_cast<T>(a || b); });
        case op_kind::lxor: return fold<T>(j, logical, [](T a, T b) { return static_cast<T>(!a != !b); });
        case op_kind::band:
            return fold<T>(
                j, [](draw const& d) { return static_cast<T>(~(bits_of_turn(d) & d.own)); },
                [](T a, T b) { return static_cast<T>(a & b); });
        case op_kind::bor:
            return fold<T>(
                j, [](draw const& d) { return static_cast<T>(bits_of_turn(d) & d.own); },
                [](T a, T b) { return static_cast<T>(a | b); });
        case op_kind::bxor:
            return fold<T>(
                j, [](draw const& d) { return static_cast<T>(d.own); }, [](T a, T b) { return static_cast<T>(a ^ b); });
        default: break;
        }
    }
}

// The packed stream of a pair type has no gaps, whatever the struct has.
template <class T> void loop_of_pairs(job_of_loop const& j) {
#pragma pack(push, 1)
    struct pair {
        T value;
        int index;
    };
#pragma pack(pop)
    bool const maximum = j.op == op_kind::maxloc;
    fold<pair>(
        j,
        [&](draw const& d) {
            return pair{extreme<T>(d, maximum, true), static_cast<int>(splitmix64(d.own) & 0x7fffffff)};
        },
        [&](pair const& a, pair const& b) {
            T const x = a.value, y = b.value;
            if (x == y) return a.index <= b.index ? a : b;
            return (x > y) == maximum ? a : b;
        });
}

template <class T> void apply_to(op_kind op, void const* in, void* inout, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        T x, y;
        std::memcpy(&x, static_cast<char const*>(in) + i * sizeof(T), sizeof(T));
        auto* at = static_cast<char*>(inout) + i * sizeof(T);
        std::memcpy(&y, at, sizeof(T));
        y = own_combine(op, x, y);
        std::memcpy(at, &y, sizeof(T));
    }
}

struct arithmetic {
    char const* name; // of the basic type
    assay::group group;
    void (*loop)(job_of_loop const&);
    void (*apply)(op_kind, void const*, void*, std::size_t);
};
template <class T> constexpr arithmetic row(char const* name, assay::group g) {
    return {name, g, loop<T>, apply_to<T>};
}

arithmetic const& arithmetic_of(basic_type const& type) {
    using enum group;
    static std::array const table{
        row<char>("char", character),
        row<wchar_t>("wchar", character),
        row<unsigned char>("packed", character),
        row<unsigned char>("unsigned_char", integer),
        row<signed char>("signed_char", integer),
        row<unsigned char>("byte", byte),
        row<short>("short", integer),
        row<unsigned short>("unsigned_short", integer),
        row<int>("int", integer),
        row<unsigned>("unsigned", integer),
        row<long>("long", integer),
        row<unsigned long>("unsigned_long", integer),
        row<long long>("long_long", integer),
        row<unsigned long long>("unsigned_long_long", integer),
        row<std::int8_t>("int8_t", integer),
        row<std::int16_t>("int16_t", integer),
        row<std::int32_t>("int32_t", integer),
        row<std::int64_t>("int64_t", integer),
        row<std::uint8_t>("uint8_t", integer),
        row<std::uint16_t>("uint16_t", integer),
        row<std::uint32_t>("uint32_t", integer),
        row<std::uint64_t>("uint64_t", integer),
        row<float>("float", floating),
        row<double>("double", floating),
        row<long double>("long_double", floating),
        row<bool>("c_bool", logical),
        row<bool>("cxx_bool", logical),
        row<std::complex<float>>("c_float_complex", complex),
        row<std::complex<double>>("c_double_complex", complex),
        row<std::complex<long double>>("c_long_double_complex", complex),
        row<std::complex<float>>("cxx_float_complex", complex),
        row<std::complex<double>>("cxx_double_complex", complex),
        row<std::complex<long double>>("cxx_long_double_complex", complex),
        row<MPI_Aint>("aint", multi_language),
        row<MPI_Offset>("offset", multi_language),
        row<MPI_Count>("count", multi_language),
    };
    auto const found = std::find_if(table.begin(), table.end(), [&](auto const& r) { return type.name == r.name; });
    if (found == table.end()) throw std::invalid_argument("no arithmetic is known for the basic type " + type.name);
    return *found;
}

// nullptr: not a pair type of section 6.9.4.
void (*pair_loop(datatype const& type))(job_of_loop const&) {
    if (type.name == "float_int") return loop_of_pairs<float>;
    if (type.name == "double_int") return loop_of_pairs<double>;
    if (type.name == "long_int") return loop_of_pairs<long>;
    if (type.name == "short_int") return loop_of_pairs<short>;
    if (type.name == "2int") return loop_of_pairs<int>;
    if (type.name == "long_double_int") return loop_of_pairs<long double>;
    return nullptr;
}

// The basic type of all components, or nullptr.
basic_type const* only_component(layout const& map) {
    if (map.runs().empty()) return nullptr;
    auto const* type = map.runs()[0].type;
    for (auto const& run : map.runs())
        if (run.type != type) return nullptr;
    return type;
}

bool is_loc(op_kind op) { return op == op_kind::maxloc || op == op_kind::minloc; }

} // namespace

axis<operation> const& operations() {
#define ASSAY_OP(name) [] { return MPI_Op(name); }
    static axis<operation> const axis(
        "op",
        {{value_info("max", "MPI_MAX").in_thesis("Reduce Max"), {op_kind::max, ASSAY_OP(MPI_MAX)}},
         {value_info("min", "MPI_MIN").in_thesis("Reduce Min"), {op_kind::min, ASSAY_OP(MPI_MIN)}},
         {value_info("sum", "MPI_SUM").in_thesis("Allreduce Sum"), {op_kind::sum, ASSAY_OP(MPI_SUM)}},
         {{"prod", "MPI_PROD"}, {op_kind::prod, ASSAY_OP(MPI_PROD)}},
         {{"land", "MPI_LAND"}, {op_kind::land, ASSAY_OP(MPI_LAND)}},
         {{"band", "MPI_BAND"}, {op_kind::band, ASSAY_OP(MPI_BAND)}},
         {{"lor", "MPI_LOR"}, {op_kind::lor, ASSAY_OP(MPI_LOR)}},
         {{"bor", "MPI_BOR"}, {op_kind::bor, ASSAY_OP(MPI_BOR)}},
         {{"lxor", "MPI_LXOR"}, {op_kind::lxor, ASSAY_OP(MPI_LXOR)}},
         {{"bxor", "MPI_BXOR"}, {op_kind::bxor, ASSAY_OP(MPI_BXOR)}},
         {{"maxloc", "MPI_MAXLOC"}, {op_kind::maxloc, ASSAY_OP(MPI_MAXLOC)}},
         {{"minloc", "MPI_MINLOC"}, {op_kind::minloc, ASSAY_OP(MPI_MINLOC)}},
         {{"replace", "MPI_REPLACE"}, {op_kind::replace, ASSAY_OP(MPI_REPLACE)}},
         {{"no_op", "MPI_NO_OP"}, {op_kind::no_op, ASSAY_OP(MPI_NO_OP)}},
         {value_info("quadsum", "user-defined and commutative: the sum of squares").in_thesis("Allreduce Quadsum"),
          {op_kind::quadsum, nullptr}},
         {{"affine", "user-defined and not commutative: composition of affine maps"}, {op_kind::affine, nullptr}}});
#undef ASSAY_OP
    return axis;
}

bool defined_for(operation const& op, datatype const& type) {
    if (!op.predefined()) return true;
    if (pair_loop(type) != nullptr) return is_loc(op.kind) || !op.for_collectives();
    auto const* component = only_component(type.map);
    if (component == nullptr) return false;
    using enum group;
    auto const g = arithmetic_of(*component).group;
    switch (op.kind) {
    case op_kind::max:
    case op_kind::min: return g == integer || g == floating || g == multi_language;
    case op_kind::sum:
    case op_kind::prod: return g == integer || g == floating || g == complex || g == multi_language;
    case op_kind::land:
    case op_kind::lor:
    case op_kind::lxor: return g == integer || g == logical;
    case op_kind::band:
    case op_kind::bor:
    case op_kind::bxor: return g == integer || g == byte || g == multi_language;
    case op_kind::replace:
    case op_kind::no_op: return true;
    default: return false;
    }
}

constraint defined_operation() { return where(operations(), type_axis(), defined_for); }

std::vector<unsigned char> reduction::result(std::span<int const> who, std::size_t first, std::size_t n) const {
    auto const& map = type_.map;
    std::vector<unsigned char> out(map.size() * n);
    if (out.empty()) return out;
    job_of_loop j{op_, key_, contributors_, who, first, n, out.data()};
    if (is_loc(op_)) {
        pair_loop(type_)(j);
        return out;
    }
    if (auto const* component = only_component(map)) {
        j.from = first * map.elements();
        j.n = n * map.elements();
        arithmetic_of(*component).loop(j);
        return out;
    }
    std::vector<arithmetic const*> rows;
    for (auto const& run : map.runs()) rows.push_back(&arithmetic_of(*run.type));
    j.from = first * map.elements();
    for (std::size_t e = 0; e < n; ++e)
        for (std::size_t r = 0; r < rows.size(); ++r) {
            j.n = map.runs()[r].count;
            rows[r]->loop(j);
            j.from += j.n;
            j.out += j.n * map.runs()[r].type->size;
        }
    return out;
}

void apply(op_kind op, layout const& map, void const* in, void* inout, std::size_t n) {
    auto const& runs = map.runs();
    if (runs.size() == 1 && static_cast<std::size_t>(map.extent()) == map.size()) {
        arithmetic_of(*runs[0].type)
            .apply(op, static_cast<char const*>(in) + runs[0].offset, static_cast<char*>(inout) + runs[0].offset,
                   n * runs[0].count);
        return;
    }
    for (auto const& run : runs) {
        auto const& row = arithmetic_of(*run.type);
        for (std::size_t e = 0; e < n; ++e) {
            auto const at = run.offset + static_cast<std::ptrdiff_t>(e) * map.extent();
            row.apply(op, static_cast<char const*>(in) + at, static_cast<char*>(inout) + at, run.count);
        }
    }
}

} // namespace assay
