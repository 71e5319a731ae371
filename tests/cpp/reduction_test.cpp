// The operands and results of reductions: exact, independent of the order, and different as soon as anything is wrong.
#include "framework/mpi/reduction.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

namespace assay {
namespace {

using bytes = std::vector<unsigned char>;

datatype const& type_named(std::string const& name) {
    for (auto const& t : all_datatypes())
        if (t.name == name) return t;
    throw std::invalid_argument(name);
}

std::vector<int> first(int n) {
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

template <class T> std::vector<T> as(bytes const& stream) {
    std::vector<T> values(stream.size() / sizeof(T));
    std::memcpy(values.data(), stream.data(), values.size() * sizeof(T));
    return values;
}

// Without bytes that carry nothing.
bytes value_of(datatype const& type, bytes stream) {
    for (std::size_t at = 0; at < stream.size();)
        for (auto const& run : type.map.runs())
            for (std::size_t i = 0; i < run.count; ++i, at += run.type->size)
                for (std::size_t k = 0; k < run.type->size; ++k)
                    if (!run.type->carries(k)) stream[at + k] = 0;
    return stream;
}

template <class Function> void for_each(Function function) {
    for (std::size_t o = 0; o < operations().size(); ++o)
        for (auto const& type : all_datatypes())
            if (defined_for(operations().at(o), type) && type.map.size() > 0)
                function(operations().at(o), operations().name_of(o), type);
}

TEST(reduction, doesNotDependOnTheOrder) {
    for_each([](operation const& op, std::string const& name, datatype const& type) {
        if (op.kind == op_kind::replace || op.kind == op_kind::no_op || op.kind == op_kind::affine) return;
        for (int n : {2, 3, 8, 33}) {
            reduction const r(op, type, 42, n);
            auto order = first(n);
            auto const expected = value_of(type, r.result(order, 0, 20));
            for (int i = 0; i < 5; ++i) {
                std::next_permutation(order.begin(), order.end());
                std::rotate(order.begin(), order.begin() + i % n, order.end());
                EXPECT_EQ(value_of(type, r.result(order, 0, 20)), expected)
                    << name << " of " << type.name << " by " << n;
            }
        }
    });
}

TEST(reduction, showsEveryLostContribution) {
    for_each([](operation const& op, std::string const& name, datatype const& type) {
        if (op.kind == op_kind::replace || op.kind == op_kind::no_op) return;
        for (int n : {2, 3, 4, 8}) {
            reduction const r(op, type, 7, n);
            auto const all = first(n);
            auto const elements = static_cast<std::size_t>(32 * n);
            auto const expected = value_of(type, r.result(all, 0, elements));
            for (int lost = 0; lost < n; ++lost) {
                auto others = all;
                std::erase(others, lost);
                EXPECT_NE(value_of(type, r.result(others, 0, elements)), expected)
                    << name << " of " << type.name << " by " << n << " without " << lost;
            }
        }
    });
}

TEST(reduction, showsAnotherOperation) {
    for_each([](operation const& op, std::string const& name, datatype const& type) {
        if (!op.predefined() || !op.for_collectives() || type.name != "int") return;
        reduction const r(op, type, 3, 2);
        auto const a = as<int>(r.operand(0, 0, 64)), b = as<int>(r.operand(1, 0, 64)),
                   is = as<int>(r.result(first(2), 0, 64));
        auto const agrees = [&](auto other) {
            std::size_t same = 0;
            for (std::size_t i = 0; i < a.size(); ++i)
                same += static_cast<std::int64_t>(
                            other(static_cast<std::int64_t>(a[i]), static_cast<std::int64_t>(b[i]))) == is[i];
            return same == a.size();
        };
        using i64 = std::int64_t;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return std::max(x, y); }), op.kind == op_kind::max) << name;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return std::min(x, y); }), op.kind == op_kind::min) << name;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return x + y; }), op.kind == op_kind::sum) << name;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return x * y; }), op.kind == op_kind::prod) << name;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return x && y; }), op.kind == op_kind::land) << name;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return x || y; }), op.kind == op_kind::lor) << name;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return !x != !y; }), op.kind == op_kind::lxor) << name;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return x & y; }), op.kind == op_kind::band) << name;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return x | y; }), op.kind == op_kind::bor) << name;
        EXPECT_EQ(agrees([](i64 x, i64 y) { return x ^ y; }), op.kind == op_kind::bxor) << name;
    });
}

// In a type of the double width (or the same value in a wider float) nothing changes: no overflow, no rounding.
template <class T, class Wide> void fits(std::string const& type_name) {
    auto const& type = type_named(type_name);
    for (std::size_t o = 0; o < operations().size(); ++o) {
        auto const& op = operations().at(o);
        if (op.kind != op_kind::sum && op.kind != op_kind::prod) continue;
        for (int n : {1, 2, 3, 5, 8, 16, 40, 200, 300}) {
            reduction const r(op, type, 11, n);
            std::vector<Wide> wide;
            for (int who = 0; who < n; ++who) {
                auto const values = as<T>(r.operand(who, 0, 50));
                if (who == 0) wide.assign(values.begin(), values.end());
                else
                    for (std::size_t i = 0; i < values.size(); ++i)
                        wide[i] = op.kind == op_kind::sum ? wide[i] + Wide(values[i]) : wide[i] * Wide(values[i]);
            }
            auto const is = as<T>(r.result(first(n), 0, 50));
            for (std::size_t i = 0; i < is.size(); ++i) EXPECT_TRUE(wide[i] == Wide(is[i])) << type_name << " by " << n;
        }
    }
}
TEST(reduction, fitsIntoItsType) {
    fits<signed char, long>("signed_char");
    fits<unsigned char, long>("unsigned_char");
    fits<short, long>("short");
    fits<unsigned short, long>("unsigned_short");
    fits<int, long>("int");
    fits<long, __int128>("long");
    fits<unsigned long, unsigned __int128>("unsigned_long");
    fits<float, double>("float");
    fits<double, long double>("double");
    fits<std::complex<float>, std::complex<double>>("c_float_complex");
    fits<std::complex<double>, std::complex<long double>>("c_double_complex");
}

// Not even in the sign of a zero.
TEST(reduction, complexProductsDoNotDependOnTheOrder) {
    using value = std::complex<float>;
    constexpr std::size_t elements = 100'000;
    for (std::size_t o = 0; o < operations().size(); ++o) {
        auto const& op = operations().at(o);
        if (op.kind != op_kind::prod) continue;
        for (int n : {4, 8}) {
            reduction const r(op, type_named("c_float_complex"), 13, n);
            auto const is = r.result(first(n), 0, elements);
            auto const half = [&](int from, int to) {
                auto product = as<value>(r.operand(from, 0, elements));
                for (int who = from + 1; who < to; ++who) {
                    auto const more = as<value>(r.operand(who, 0, elements));
                    for (std::size_t i = 0; i < elements; ++i) product[i] *= more[i];
                }
                return product;
            };
            auto product = half(0, n / 2);
            auto const other = half(n / 2, n);
            for (std::size_t i = 0; i < elements; ++i) product[i] *= other[i];
            EXPECT_EQ(std::memcmp(product.data(), is.data(), elements * sizeof(value)), 0) << "by " << n;
        }
    }
}

TEST(reduction, comparesWithTheRightSign) {
    for (auto op_index : {0u, 1u}) { // max, min
        auto const& op = operations().at(op_index);
        reduction const r(op, type_named("unsigned_char"), 5, 2);
        auto const a = as<signed char>(r.operand(0, 0, 4)), b = as<signed char>(r.operand(1, 0, 4)),
                   is = as<signed char>(r.result(first(2), 0, 4));
        for (std::size_t i = 0; i < a.size(); ++i)
            EXPECT_NE(is[i], op.kind == op_kind::max ? std::max(a[i], b[i]) : std::min(a[i], b[i]));
    }
}

TEST(reduction, minlocTakesTheLowestIndexOfATie) {
    struct pair {
        int value, index;
    };
    for (std::size_t o = 0; o < operations().size(); ++o) {
        auto const kind = operations().at(o).kind;
        if (kind != op_kind::minloc && kind != op_kind::maxloc) continue;
        reduction const r(operations().at(o), type_named("2int"), 5, 3);
        std::vector<std::vector<pair>> brought;
        for (int who = 0; who < 3; ++who) brought.push_back(as<pair>(r.operand(who, 0, 100)));
        auto const is = as<pair>(r.result(first(3), 0, 100));
        int ties = 0;
        for (std::size_t i = 0; i < is.size(); ++i) {
            std::vector<std::pair<std::int64_t, int>> keys; // lexicographic minimum
            for (auto const& b : brought)
                keys.emplace_back(kind == op_kind::minloc ? b[i].value : -std::int64_t{b[i].value}, b[i].index);
            std::sort(keys.begin(), keys.end());
            EXPECT_EQ(is[i].value, kind == op_kind::minloc ? keys[0].first : -keys[0].first);
            EXPECT_EQ(is[i].index, keys[0].second);
            ties += keys[0].first == keys[1].first;
        }
        EXPECT_GT(ties, 25);
        EXPECT_LT(ties, 75);
    }
}

TEST(reduction, anyPieceIsAPieceOfTheWhole) {
    for_each([](operation const& op, std::string const& name, datatype const& type) {
        reduction const r(op, type, 99, 3);
        auto const whole = value_of(type, r.result(first(3), 0, 11)), piece = value_of(type, r.result(first(3), 4, 5));
        auto const size = static_cast<std::ptrdiff_t>(type.map.size());
        EXPECT_EQ(piece, bytes(whole.begin() + 4 * size, whole.begin() + 9 * size)) << name << " of " << type.name;
        EXPECT_NE(r.operand(1, 0, 20), reduction(op, type, 100, 3).operand(1, 0, 20)) << name << " of " << type.name;
    });
}

// The function of a user-defined operation computes what result() says, in any grouping, and touches no gap.
TEST(reduction, userFunctionsAgreeWithTheResult) {
    for_each([](operation const& op, std::string const& name, datatype const& type) {
        if (op.predefined()) return;
        constexpr std::size_t n = 5;
        auto const& map = type.map;
        reduction const r(op, type, 1, 4);
        auto const low = std::min<std::ptrdiff_t>(0, map.true_lb() + std::min<std::ptrdiff_t>(0, map.extent() * 5));
        auto const high = map.true_lb() + map.true_extent() + std::max<std::ptrdiff_t>(0, map.extent() * 5);
        auto const place = [&](bytes const& stream) {
            bytes memory(static_cast<std::size_t>(high - low), 0xa5);
            auto const* from = stream.data();
            for (std::size_t e = 0; e < n; ++e)
                for (auto const& run : map.runs()) {
                    auto const size = run.count * run.type->size;
                    std::memcpy(memory.data() - low + static_cast<std::ptrdiff_t>(e) * map.extent() + run.offset, from,
                                size);
                    from += size;
                }
            return memory;
        };
        auto const take = [&](bytes const& memory) {
            bytes stream;
            for (std::size_t e = 0; e < n; ++e)
                for (auto const& run : map.runs()) {
                    auto const* at = memory.data() - low + static_cast<std::ptrdiff_t>(e) * map.extent() + run.offset;
                    stream.insert(stream.end(), at, at + run.count * run.type->size);
                }
            return value_of(type, stream);
        };
        std::vector<bytes> x;
        for (int who = 0; who < 4; ++who) x.push_back(place(r.operand(who, 0, n)));
        auto const run = [&](bytes const& in, bytes inout) {
            apply(op.kind, map, in.data() - low, inout.data() - low, n);
            return inout;
        };
        auto const expected = value_of(type, r.result(first(4), 0, n));
        auto const left = run(run(run(x[0], x[1]), x[2]), x[3]), tree = run(run(x[0], x[1]), run(x[2], x[3])),
                   swapped = run(run(x[2], x[3]), run(x[0], x[1]));
        EXPECT_EQ(take(left), expected) << name << " of " << type.name;
        EXPECT_EQ(take(tree), expected) << name << " of " << type.name;
        bool const order_matters = op.kind == op_kind::affine && type.map.runs()[0].type->name != "c_bool" &&
                                   type.map.runs()[0].type->name != "cxx_bool";
        EXPECT_EQ(take(swapped) != expected, order_matters) << name << " of " << type.name;
        auto const zeros = place(bytes(expected.size(), 0)), ones = place(bytes(expected.size(), 1));
        for (std::size_t i = 0; i < zeros.size(); ++i)
            if (zeros[i] == 0xa5 && ones[i] == 0xa5 && left[i] != 0xa5) {
                ADD_FAILURE() << name << " of " << type.name << " touches a gap";
                break;
            }
    });
}

TEST(reduction, ofOneContributionIsTheContribution) {
    for_each([](operation const& op, std::string const& name, datatype const& type) {
        reduction const r(op, type, 6, 1);
        EXPECT_EQ(value_of(type, r.operand(0, 0, 9)), value_of(type, r.result(first(1), 0, 9)))
            << name << " of " << type.name;
    });
}

} // namespace
} // namespace assay
