// Atomic operations through libfabric's interface. What is expected is computed otherwise than in the provider: integers byte by
// byte as at school, fractions as integers. The planted faults (ASSAY_FAULT) have to make one of these fail.
#include "tests/cpp/transports/core/side.hpp"

#include <array>
#include <complex>
#include <rdma/fi_atomic.h>
#include <set>

namespace assay::ofi {
namespace {

struct registered {
    registered(side& by, void* memory, std::size_t size, std::uint64_t access, std::uint64_t wish = 77)
        : base(by.about->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? reinterpret_cast<std::uintptr_t>(memory) : 0) {
        EXPECT_EQ(fi_mr_reg(by.domain, memory, size, access, 0, wish, 0, &region, nullptr), 0);
        key = fi_mr_key(region);
    }
    ~registered() {
        if (region) fi_close(&region->fid);
    }
    registered(registered const&) = delete;
    registered& operator=(registered const&) = delete;

    fid_mr* region = nullptr;
    std::uint64_t base, key = 0;
};

constexpr std::uint64_t full_access = FI_REMOTE_READ | FI_REMOTE_WRITE;

// One bit an operation, in the order of fi_op: which ones a kind of type has.
constexpr char const* integer_ops = "1111111111111111111"; // all
constexpr char const* real_ops = "1111110010111111110";    // no bits: BOR, BAND, BXOR, MSWAP
constexpr char const* complex_ops = "0011110010111100000"; // and no order
static_assert(FI_BOR == 6 && FI_BAND == 7 && FI_LXOR == 8 && FI_BXOR == 9 && FI_CSWAP == 12 && FI_MSWAP == 18);

bool is_compare(int op) { return op >= FI_CSWAP; }
bool is_offered(char const* ops, int op, form how) {
    if (ops[op] != '1' || is_compare(op) != (how == form::comparing)) return false;
    return op != FI_ATOMIC_READ || how == form::fetching;
}

// ---- integers, as bytes with the lowest first

bool less(bytes a, bytes b, bool with_sign) {
    if (with_sign) a.back() ^= 0x80, b.back() ^= 0x80;
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}
bytes truth(bool value, std::size_t size) {
    bytes found(size);
    found[0] = value;
    return found;
}
bool nonzero(bytes const& a) { return a != bytes(a.size()); }

bytes school(int op, bytes const& old, bytes const& given, bytes const& compare, bool with_sign) {
    auto const size = old.size();
    bytes found(size);
    auto const each = [&](auto function) {
        for (std::size_t k = 0; k < size; ++k) found[k] = static_cast<unsigned char>(function(k));
        return found;
    };
    auto const pick = [&](bool swap) { return swap ? given : old; };
    switch (op) {
    case FI_MIN: return pick(less(given, old, with_sign));
    case FI_MAX: return pick(less(old, given, with_sign));
    case FI_SUM: {
        unsigned carry = 0;
        return each([&](std::size_t k) { return carry = (carry >> 8) + old[k] + given[k]; });
    }
    case FI_PROD:
        for (std::size_t k = 0; k < size; ++k) {
            unsigned carry = 0;
            for (std::size_t i = 0; i + k < size; ++i) {
                carry = (carry >> 8) + old[k] * given[i] + found[i + k];
                found[i + k] = static_cast<unsigned char>(carry);
            }
        }
        return found;
    case FI_LOR: return truth(nonzero(old) || nonzero(given), size);
    case FI_LAND: return truth(nonzero(old) && nonzero(given), size);
    case FI_LXOR: return truth(nonzero(old) != nonzero(given), size);
    case FI_BOR: return each([&](std::size_t k) { return old[k] | given[k]; });
    case FI_BAND: return each([&](std::size_t k) { return old[k] & given[k]; });
    case FI_BXOR: return each([&](std::size_t k) { return old[k] ^ given[k]; });
    case FI_ATOMIC_READ: return old;
    case FI_ATOMIC_WRITE: return given;
    case FI_CSWAP: return pick(compare == old);
    case FI_CSWAP_NE: return pick(compare != old);
    case FI_CSWAP_LE: return pick(!less(old, compare, with_sign));
    case FI_CSWAP_LT: return pick(less(compare, old, with_sign));
    case FI_CSWAP_GE: return pick(!less(compare, old, with_sign));
    case FI_CSWAP_GT: return pick(less(old, compare, with_sign));
    default: return each([&](std::size_t k) { return (given[k] & compare[k]) | (old[k] & ~compare[k]); });
    }
}

// ---- fractions: quarters, as two integers (the second is 0 for what is not complex)

struct quarters {
    std::int64_t real = 0, imaginary = 0;
    bool operator==(quarters const&) const = default;
};

quarters by_hand(int op, quarters old, quarters given, quarters compare) {
    auto const pick = [&](bool swap) { return swap ? given : old; };
    auto const yes = [](bool value) { return quarters{value ? 4 : 0}; };
    bool const a = !(old == quarters{}), b = !(given == quarters{});
    switch (op) {
    case FI_MIN: return pick(given.real < old.real);
    case FI_MAX: return pick(given.real > old.real);
    case FI_SUM: return {old.real + given.real, old.imaginary + given.imaginary};
    case FI_PROD: // of two halves: all are, so that no product needs more than quarters
        return {(old.real * given.real - old.imaginary * given.imaginary) / 4,
                (old.real * given.imaginary + old.imaginary * given.real) / 4};
    case FI_LOR: return yes(a || b);
    case FI_LAND: return yes(a && b);
    case FI_LXOR: return yes(a != b);
    case FI_ATOMIC_READ: return old;
    case FI_ATOMIC_WRITE: return given;
    case FI_CSWAP: return pick(compare == old);
    case FI_CSWAP_NE: return pick(!(compare == old));
    case FI_CSWAP_LE: return pick(compare.real <= old.real);
    case FI_CSWAP_LT: return pick(compare.real < old.real);
    case FI_CSWAP_GE: return pick(compare.real >= old.real);
    default: return pick(compare.real > old.real);
    }
}

// ---- a kind of element: how the nth value of it looks, and what an operation makes of three of them

struct element {
    char const* name;
    fi_datatype type;
    std::size_t size;
    char const* ops;
    std::function<bytes(unsigned)> nth;
    std::function<bytes(int op, unsigned old, unsigned given, unsigned compare)> after;
};

void PrintTo(element const& it, std::ostream* to) { *to << it.name; }

element integer(char const* name, fi_datatype type, std::size_t size, bool with_sign) {
    auto const nth = [size](unsigned n) { // among them 0, 1, -1, the largest and the smallest, and equal ones
        bytes found(size);
        std::uint64_t mixed = n * 0x9e3779b97f4a7c15u;
        switch (n % 7) {
        case 0: return found;
        case 1: found[0] = 1; return found;
        case 2: return bytes(size, 0xff);
        case 3: found.back() = 0x80; return found;
        case 4: found.assign(size, 0xff), found.back() = 0x7f; return found;
        default:
            for (auto& each : found)
                each = static_cast<unsigned char>((mixed = mixed * 6364136223846793005u + 1) >> 56);
            return found;
        }
    };
    return {name, type, size, integer_ops, nth, [=](int op, unsigned old, unsigned given, unsigned compare) {
                return school(op, nth(old), nth(given), nth(compare), with_sign);
            }};
}

template <typename T> constexpr std::size_t significant = sizeof(T) == 16 ? 10 : sizeof(T); // of a long double

template <typename T> bytes encoded(quarters it, bool complex) {
    bytes found(complex ? 2 * sizeof(T) : sizeof(T));
    T const parts[] = {static_cast<T>(it.real) / 4, static_cast<T>(it.imaginary) / 4};
    constexpr std::size_t used = significant<T>;
    for (std::size_t k = 0; k * sizeof(T) < found.size(); ++k) std::memcpy(&found[k * sizeof(T)], &parts[k], used);
    return found;
}

template <typename T> element fraction(char const* name, fi_datatype type, bool complex) {
    auto const value = [complex](unsigned n) {
        auto const of = [](unsigned k) { return (static_cast<std::int64_t>(k * 7 % 13) - 6) * 2; }; // halves
        return quarters{of(n), complex ? of(n / 3) : 0};
    };
    return {name,
            type,
            complex ? 2 * sizeof(T) : sizeof(T),
            complex ? complex_ops : real_ops,
            [=](unsigned n) { return encoded<T>(value(n), complex); },
            [=](int op, unsigned old, unsigned given, unsigned compare) {
                auto const is = by_hand(op, value(old), value(given), value(compare));
                auto found = encoded<T>(is, complex);
                bool const negative = (value(old).real < 0) != (value(given).real < 0);
                if (op == FI_PROD && !complex && is.real == 0 && negative) found[significant<T> - 1] |= 0x80; // -0.0
                return found;
            }};
}

std::vector<element> elements() {
    return {integer("int8", FI_INT8, 1, true),
            integer("uint8", FI_UINT8, 1, false),
            integer("int16", FI_INT16, 2, true),
            integer("uint16", FI_UINT16, 2, false),
            integer("int32", FI_INT32, 4, true),
            integer("uint32", FI_UINT32, 4, false),
            integer("int64", FI_INT64, 8, true),
            integer("uint64", FI_UINT64, 8, false),
            integer("int128", FI_INT128, 16, true),
            integer("uint128", FI_UINT128, 16, false),
            fraction<float>("float", FI_FLOAT, false),
            fraction<double>("double", FI_DOUBLE, false),
            fraction<long double>("long_double", FI_LONG_DOUBLE, false),
            fraction<float>("float_complex", FI_FLOAT_COMPLEX, true),
            fraction<double>("double_complex", FI_DOUBLE_COMPLEX, true),
            fraction<long double>("long_double_complex", FI_LONG_DOUBLE_COMPLEX, true)};
}

struct atomics : two_sides {
    void SetUp() override {
        if (!configured().atomic) GTEST_SKIP();
    }
};

class atomic_types : public testing::TestWithParam<element> {};

TEST_P(atomic_types, doWhatTheirOperationsSay) {
    if (!configured().atomic) GTEST_SKIP();
    auto const& it = GetParam();
    side a, b;
    auto const to_b = a.meet(b.name);
    b.meet(a.name);
    constexpr std::size_t count = 60, guard = 5; // nothing is aligned
    bytes memory(guard + count * it.size + guard);
    registered const there(b, memory.data(), memory.size(), full_access);
    int one = 0;
    for (auto const how : {form::plain, form::fetching, form::comparing})
        for (int number = FI_MIN; number <= FI_MSWAP; ++number) {
            SCOPED_TRACE(std::string(it.name) + " op " + std::to_string(number) + " form " +
                         std::to_string(static_cast<int>(how)));
            auto const op = static_cast<fi_op>(number);
            bytes old(count * it.size), given(old), compare(old), expected(old), got(old.size(), 0x5a);
            bool const offered = is_offered(it.ops, number, how);
            for (unsigned k = 0; k < count; ++k) {
                unsigned const n[] = {k, k / 2 * 3, k % 3 == 0 ? k : k * 5 + 1};
                auto const put = [&](bytes& to, bytes const& value) {
                    std::copy(value.begin(), value.end(), to.begin() + static_cast<std::ptrdiff_t>(k * it.size));
                };
                put(old, it.nth(n[0]));
                put(given, it.nth(n[1]));
                put(compare, it.nth(n[2]));
                if (offered) put(expected, it.after(number, n[0], n[1], n[2]));
            }
            std::fill(memory.begin(), memory.end(), std::uint8_t{0xa5});
            std::copy(old.begin(), old.end(), memory.begin() + guard);
            std::size_t most = 0;
            fi_atomic_attr about{};
            ssize_t began = 0;
            int valid = 0;
            std::uint64_t flag = 0;
            switch (how) {
            case form::plain:
                valid = fi_atomicvalid(a.ep, it.type, op, &most);
                began = fi_atomic(a.ep, given.data(), count, nullptr, to_b, there.base + guard, there.key, it.type, op,
                                  &one);
                break;
            case form::fetching:
                valid = fi_fetch_atomicvalid(a.ep, it.type, op, &most);
                flag = FI_FETCH_ATOMIC;
                began = fi_fetch_atomic(a.ep, op == FI_ATOMIC_READ ? nullptr : given.data(), count, nullptr, got.data(),
                                        nullptr, to_b, there.base + guard, there.key, it.type, op, &one);
                break;
            case form::comparing:
                valid = fi_compare_atomicvalid(a.ep, it.type, op, &most);
                flag = FI_COMPARE_ATOMIC;
                began = fi_compare_atomic(a.ep, given.data(), count, nullptr, compare.data(), nullptr, got.data(),
                                          nullptr, to_b, there.base + guard, there.key, it.type, op, &one);
            }
            int const wanted = offered ? 0 : -FI_EOPNOTSUPP;
            EXPECT_EQ(valid, wanted);
            EXPECT_EQ(fi_query_atomic(a.domain, it.type, op, &about, flag), wanted);
            ASSERT_EQ(began, wanted);
            if (!offered) continue;
            EXPECT_GE(most, count);
            EXPECT_EQ(about.count, most);
            EXPECT_EQ(about.size, it.size);
            auto const done = a.wait(&one, b);
            ASSERT_EQ(done.error, 0);
            EXPECT_EQ(done.entry.flags, FI_ATOMIC | (how == form::plain ? FI_WRITE : FI_READ));
            EXPECT_EQ(bytes(memory.begin() + guard, memory.end() - guard), expected);
            EXPECT_EQ(bytes(memory.begin(), memory.begin() + guard), bytes(guard, 0xa5));
            EXPECT_EQ(bytes(memory.end() - guard, memory.end()), bytes(guard, 0xa5));
            EXPECT_EQ(got, how == form::plain ? bytes(got.size(), 0x5a) : old);
        }
}
INSTANTIATE_TEST_SUITE_P(all, atomic_types, testing::ValuesIn(elements()),
                         [](auto const& about) { return std::string(about.param.name); });

TEST_F(atomics, refuseWhatThereIsNot) {
    std::uint64_t value = 1;
    std::size_t count = 0;
    fi_atomic_attr about{};
    for (int const type : {FI_UINT128 + 1, 200, -1}) {
        EXPECT_EQ(fi_atomicvalid(a.ep, static_cast<fi_datatype>(type), FI_SUM, &count), -FI_EOPNOTSUPP) << type;
        EXPECT_EQ(fi_atomic(a.ep, &value, 1, nullptr, to_b, 0, 1, static_cast<fi_datatype>(type), FI_SUM, &one),
                  -FI_EOPNOTSUPP);
    }
    for (int const op : {FI_MSWAP + 1, 200, -1})
        EXPECT_EQ(fi_atomicvalid(a.ep, FI_UINT64, static_cast<fi_op>(op), &count), -FI_EOPNOTSUPP) << op;
    EXPECT_EQ(fi_query_atomic(a.domain, FI_UINT64, FI_SUM, &about, FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC), -FI_EBADFLAGS);
    EXPECT_EQ(fi_query_atomic(a.domain, FI_UINT64, FI_SUM, &about, FI_TAGGED), -FI_EOPNOTSUPP);
    ASSERT_EQ(fi_atomicvalid(a.ep, FI_UINT64, FI_SUM, &count), 0);
    std::vector<std::uint64_t> many(count + 1);
    EXPECT_EQ(fi_atomic(a.ep, many.data(), many.size(), nullptr, to_b, 0, 1, FI_UINT64, FI_SUM, &one), -FI_EMSGSIZE);
    EXPECT_EQ(fi_atomic(a.ep, many.data(), ~std::size_t{0} / 2, nullptr, to_b, 0, 1, FI_UINT64, FI_SUM, &one),
              -FI_EMSGSIZE);
    EXPECT_EQ(fi_atomic(a.ep, many.data(), 0, nullptr, to_b, 0, 1, FI_UINT64, FI_SUM, &one), -FI_EINVAL);
    EXPECT_EQ(fi_inject_atomic(a.ep, many.data(), configured().inject / 8 + 1, to_b, 0, 1, FI_UINT64, FI_SUM),
              -FI_EMSGSIZE);
    EXPECT_TRUE(a.events.empty());
}

TEST_F(atomics, takeAsManyAsTheySay) {
    std::size_t count = 0;
    ASSERT_EQ(fi_compare_atomicvalid(a.ep, FI_UINT64, FI_CSWAP, &count), 0);
    std::vector<std::uint64_t> memory(count), zeros(count), given(count), got(count, 9);
    for (std::size_t k = 0; k < count; ++k) memory[k] = k % 2, given[k] = k + 100;
    registered const there(b, memory.data(), count * 8, full_access);
    ASSERT_EQ(fi_compare_atomic(a.ep, given.data(), count, nullptr, zeros.data(), nullptr, got.data(), nullptr, to_b,
                                there.base, there.key, FI_UINT64, FI_CSWAP, &one),
              0);
    EXPECT_EQ(a.wait(&one, b).error, 0);
    for (std::size_t k = 0; k < count; ++k) {
        ASSERT_EQ(memory[k], k % 2 ? 1 : k + 100);
        ASSERT_EQ(got[k], k % 2);
    }
}

TEST_F(atomics, areRefusedWhereTheyMayNotBe) {
    std::uint64_t memory[2] = {7, 8}, value = 1, got = 0;
    auto const plain = [&](registered const& there, std::uint64_t offset, std::uint64_t key_off = 0) {
        EXPECT_EQ(fi_atomic(a.ep, &value, 1, nullptr, to_b, there.base + offset, there.key + key_off, FI_UINT64, FI_SUM,
                            &one),
                  0);
        return a.wait(&one, b).error;
    };
    auto const fetch = [&](registered const& there, fi_op op, std::uint64_t offset = 0) {
        EXPECT_EQ(fi_fetch_atomic(a.ep, &value, 1, nullptr, &got, nullptr, to_b, there.base + offset, there.key,
                                  FI_UINT64, op, &one),
                  0);
        return a.wait(&one, b).error;
    };
    auto const compare = [&](registered const& there) {
        EXPECT_EQ(fi_compare_atomic(a.ep, &value, 1, nullptr, &memory[0], nullptr, &got, nullptr, to_b, there.base,
                                    there.key, FI_UINT64, FI_CSWAP, &one),
                  0);
        return a.wait(&one, b).error;
    };
    {
        registered const there(b, memory, sizeof memory, full_access);
        EXPECT_EQ(plain(there, 0, 1), FI_EKEYREJECTED);
        EXPECT_EQ(plain(there, 9), FI_EINVAL); // its end is outside
        EXPECT_EQ(plain(there, 16), FI_EINVAL);
        EXPECT_EQ(plain(there, ~std::uint64_t{0}), FI_EINVAL); // one before the beginning
        EXPECT_EQ(fetch(there, FI_ATOMIC_READ, 9), FI_EINVAL);
    }
    {
        registered const to_read(b, memory, sizeof memory, FI_REMOTE_READ);
        EXPECT_EQ(plain(to_read, 0), FI_EACCES);
        EXPECT_EQ(fetch(to_read, FI_SUM), FI_EACCES);
        EXPECT_EQ(compare(to_read), FI_EACCES);
        EXPECT_EQ(got, 0u);
        EXPECT_EQ(fetch(to_read, FI_ATOMIC_READ), 0);
        EXPECT_EQ(got, 7u);
    }
    {
        registered const to_write(b, memory, sizeof memory, FI_REMOTE_WRITE);
        EXPECT_EQ(fetch(to_write, FI_SUM), FI_EACCES);
        EXPECT_EQ(fetch(to_write, FI_ATOMIC_READ), FI_EACCES);
        EXPECT_EQ(compare(to_write), FI_EACCES);
        EXPECT_EQ(memory[0], 7u);
        EXPECT_EQ(plain(to_write, 0), 0);
    }
    EXPECT_EQ(memory[0], 8u);
    EXPECT_EQ(memory[1], 8u);
    registered const gone(b, memory, sizeof memory, full_access);
    fi_close(&gone.region->fid);
    const_cast<registered&>(gone).region = nullptr;
    EXPECT_EQ(plain(gone, 0), FI_EKEYREJECTED);
}

// Pieces here and there that do not end at the same places.
TEST_F(atomics, gatherAndScatter) {
    std::array<std::uint32_t, 10> memory{}, given{}, got{};
    for (std::uint32_t k = 0; k < 10; ++k) memory[k] = 100 + k, given[k] = k * k;
    auto const old = memory;
    registered const there(b, memory.data(), sizeof memory, full_access);
    fi_ioc const from[] = {{&given[0], 3}, {&given[3], 0}, {&given[3], 6}, {&given[9], 1}};
    fi_ioc into[] = {{&got[0], 5}, {&got[5], 5}};
    fi_rma_ioc const remote[] = {{there.base + 5 * 4, 5, there.key}, {there.base, 5, there.key}};
    fi_msg_atomic said{};
    said.msg_iov = from;
    said.iov_count = 4;
    said.addr = to_b;
    said.rma_iov = remote;
    said.rma_iov_count = 2;
    said.datatype = FI_UINT32;
    said.op = FI_SUM;
    said.context = &one;
    ASSERT_EQ(fi_fetch_atomicmsg(a.ep, &said, into, nullptr, 2, 0), 0);
    ASSERT_EQ(a.wait(&one, b).error, 0);
    for (std::uint32_t k = 0; k < 10; ++k) {
        auto const at = (k + 5) % 10; // the second half is the first that is given
        EXPECT_EQ(got[k], old[at]);
        EXPECT_EQ(memory[at], old[at] + given[k]);
    }
    // The same pieces to compare with; nothing is equal but what is there.
    auto const now = memory;
    std::array<std::uint32_t, 10> compare{};
    for (std::uint32_t k = 0; k < 10; ++k) compare[k] = k < 5 ? now[k + 5] : 0;
    fi_ioc const with[] = {{&compare[0], 1}, {&compare[1], 9}};
    said.op = FI_CSWAP;
    ASSERT_EQ(fi_compare_atomicmsg(a.ep, &said, with, nullptr, 2, into, nullptr, 2, FI_DELIVERY_COMPLETE), 0);
    ASSERT_EQ(a.wait(&one, b).error, 0);
    for (std::uint32_t k = 0; k < 5; ++k) {
        EXPECT_EQ(memory[k + 5], given[k]);
        EXPECT_EQ(memory[k], now[k]);
    }
    // Without a result; and lengths that do not agree.
    said.op = FI_ATOMIC_WRITE;
    ASSERT_EQ(fi_atomicmsg(a.ep, &said, 0), 0);
    ASSERT_EQ(a.wait(&one, b).error, 0);
    for (std::uint32_t k = 0; k < 10; ++k) EXPECT_EQ(memory[(k + 5) % 10], given[k]);
    ASSERT_EQ(fi_atomicv(a.ep, from, nullptr, 4, to_b, there.base, there.key, FI_UINT32, FI_SUM, &one), 0);
    ASSERT_EQ(a.wait(&one, b).error, 0);
    EXPECT_EQ(memory[9], given[4] + given[9]);
    said.iov_count = 3;
    EXPECT_EQ(fi_atomicmsg(a.ep, &said, 0), -FI_EINVAL);
    said.iov_count = 4;
    into[1].count = 4;
    EXPECT_EQ(fi_fetch_atomicmsg(a.ep, &said, into, nullptr, 2, 0), -FI_EINVAL);
    EXPECT_EQ(fi_atomicmsg(a.ep, &said, FI_REMOTE_CQ_DATA), -FI_EOPNOTSUPP);
}

// All at once: each sees what the one before it left, also when others do the same.
TEST_F(atomics, areOneBehindTheOther) {
    side c;
    auto const c_to_b = c.meet(b.name);
    std::uint64_t memory = 0, step = 1;
    registered const there(b, &memory, sizeof memory, full_access);
    constexpr std::size_t count = 500;
    std::vector<std::uint64_t> seen(2 * count, ~0ull);
    for (std::size_t k = 0; k < count; ++k)
        for (auto* each : {&a, &c}) {
            auto* const result = &seen[k + (each == &c ? count : 0)];
            ASSERT_EQ(fi_fetch_atomic(each->ep, &step, 1, nullptr, result, nullptr, each == &a ? to_b : c_to_b,
                                      there.base, there.key, FI_UINT64, FI_SUM, result),
                      0);
        }
    for (std::size_t k = 0; k < 2 * count; ++k) ASSERT_EQ((k < count ? a : c).wait(&seen[k], b).error, 0);
    EXPECT_EQ(memory, 2 * count);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.begin() + count));
    EXPECT_TRUE(std::is_sorted(seen.begin() + count, seen.end()));
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 2 * count);
    // In order with writes and reads, which are told apart from them by the interface only.
    if (!configured().rma) return;
    std::uint64_t const fresh = 1000;
    std::uint64_t before = 0, after = 0;
    ASSERT_EQ(fi_write(a.ep, &fresh, 8, nullptr, to_b, there.base, there.key, &one), 0);
    ASSERT_EQ(fi_fetch_atomic(a.ep, &step, 1, nullptr, &before, nullptr, to_b, there.base, there.key, FI_UINT64, FI_SUM,
                              &two),
              0);
    ASSERT_EQ(fi_read(a.ep, &after, 8, nullptr, to_b, there.base, there.key, &three), 0);
    EXPECT_EQ(a.wait(&three, b).error, 0);
    EXPECT_EQ(before, 1000u);
    EXPECT_EQ(after, 1001u);
}

TEST_F(atomics, injectedMemoryIsFreeAtOnce) {
    std::vector<std::uint64_t> memory(8, 0), given(8);
    registered const there(b, memory.data(), 64, full_access);
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    std::size_t done = 0;
    while (done < 100 && std::chrono::steady_clock::now() < limit) {
        std::fill(given.begin(), given.end(), done);
        auto const result =
            fi_inject_atomic(a.ep, given.data(), given.size(), to_b, there.base, there.key, FI_UINT64, FI_SUM);
        std::fill(given.begin(), given.end(), ~0ull);
        if (result == 0) ++done;
        else ASSERT_EQ(result, -FI_EAGAIN); // a connection is made
    }
    ASSERT_EQ(done, 100u);
    EXPECT_TRUE(a.until([&] { return memory[7] == 4950; }, b));
    EXPECT_EQ(memory, std::vector<std::uint64_t>(8, 4950));
    EXPECT_TRUE(a.events.empty());
}

TEST_F(atomics, endWithAnErrorWhenThePeerIsGone) {
    side c;
    auto const a_to_c = a.meet(c.name);
    std::uint64_t memory = 0, step = 1, got = 5;
    {
        registered const there(c, &memory, 8, full_access);
        ASSERT_EQ(fi_atomic(a.ep, &step, 1, nullptr, a_to_c, there.base, there.key, FI_UINT64, FI_SUM, &one), 0);
        EXPECT_EQ(a.wait(&one, c).error, 0);
        EXPECT_EQ(memory, 1u);
        ASSERT_EQ(fi_fetch_atomic(a.ep, &step, 1, nullptr, &got, nullptr, a_to_c, there.base, there.key, FI_UINT64,
                                  FI_SUM, &two),
                  0);
    }
    c.close();
    EXPECT_GT(a.wait(&two, b).error, 0);
    EXPECT_EQ(got, 5u);
}

TEST(atomics_alone, areCountedAndReportedAsAskedFor) {
    if (!configured().atomic) GTEST_SKIP();
    struct counters {
        fid_cntr *write = nullptr, *read = nullptr, *remote_write = nullptr, *remote_read = nullptr;
        auto all() { return std::to_array({&write, &read, &remote_write, &remote_read}); }
        void open(side& by) {
            std::uint64_t const flags[] = {FI_WRITE, FI_READ, FI_REMOTE_WRITE, FI_REMOTE_READ};
            fi_cntr_attr wish{};
            auto const* flag = flags;
            for (auto* each : all()) {
                EXPECT_EQ(fi_cntr_open(by.domain, &wish, each, nullptr), 0);
                EXPECT_EQ(fi_ep_bind(by.ep, &(*each)->fid, *flag++), 0);
            }
        }
    } at_a, at_b;
    std::uint64_t memory = 1, step = 1, got = 0;
    int one = 0, two = 0;
    {
        side a(FI_SELECTIVE_COMPLETION, [&](side& it) { at_a.open(it); });
        side b(0, [&](side& it) { at_b.open(it); });
        auto const to_b = a.meet(b.name);
        b.meet(a.name);
        {
            registered const there(b, &memory, 8, full_access);
            ASSERT_EQ(fi_atomic(a.ep, &step, 1, nullptr, to_b, there.base, there.key, FI_UINT64, FI_SUM, &one), 0);
            ASSERT_EQ(fi_atomic(a.ep, &step, 1, nullptr, to_b, there.base, there.key, FI_UINT64, FI_SUM, &one), 0);
            ASSERT_EQ(fi_fetch_atomic(a.ep, &step, 1, nullptr, &got, nullptr, to_b, there.base, there.key, FI_UINT64,
                                      FI_SUM, &one),
                      0);
            ASSERT_EQ(fi_atomic(a.ep, &step, 1, nullptr, to_b, there.base + 1, there.key, FI_UINT64, FI_SUM, &two), 0);
            EXPECT_EQ(a.wait(&two, b).error, FI_EINVAL); // errors are always reported
            EXPECT_TRUE(a.events.empty());
            fi_ioc const from{&step, 1};
            fi_rma_ioc const remote{there.base, 1, there.key};
            fi_msg_atomic said{};
            said.msg_iov = &from;
            said.iov_count = said.rma_iov_count = 1;
            said.addr = to_b;
            said.rma_iov = &remote;
            said.datatype = FI_UINT64;
            said.op = FI_SUM;
            said.context = &one;
            ASSERT_EQ(fi_atomicmsg(a.ep, &said, FI_COMPLETION), 0);
            EXPECT_EQ(a.wait(&one, b).error, 0);
        }
        EXPECT_EQ(memory, 5u);
        EXPECT_EQ(got, 3u);
        EXPECT_EQ(fi_cntr_read(at_a.write), 3u);
        EXPECT_EQ(fi_cntr_readerr(at_a.write), 1u);
        EXPECT_EQ(fi_cntr_read(at_a.read), 1u);
        EXPECT_EQ(fi_cntr_read(at_b.remote_write), 3u);
        EXPECT_EQ(fi_cntr_readerr(at_b.remote_write), 1u);
        EXPECT_EQ(fi_cntr_read(at_b.remote_read), 1u);
        EXPECT_EQ(fi_cntr_read(at_b.write) + fi_cntr_read(at_a.remote_write), 0u);
        a.before_domain = [&] {
            for (auto* each : at_a.all()) EXPECT_EQ(fi_close(&(*each)->fid), 0);
        };
        b.before_domain = [&] {
            for (auto* each : at_b.all()) EXPECT_EQ(fi_close(&(*each)->fid), 0);
        };
    }
}

} // namespace
} // namespace assay::ofi
