// The catalogue of datatypes without MPI_Init: names, Keller's table, and masks.
#include "datatypes/definition.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <stdexcept>

namespace assay {
namespace {

TEST(datatypes, areOrderedByNameAndUnique) {
    auto const& all = all_datatypes();
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.name >= b.name; }),
              all.end());
    for (auto const& t : all) EXPECT_FALSE(t.note.empty()) << t.name;
}

TEST(datatypes, haveAll31OfTable4_5) {
    std::set<std::string> const table = {"MPI_CHAR",
                                         "MPI_UNSIGNED_CHAR",
                                         "MPI_SIGNED_CHAR",
                                         "MPI_BYTE",
                                         "MPI_SHORT",
                                         "MPI_UNSIGNED_SHORT",
                                         "MPI_INT",
                                         "MPI_UNSIGNED",
                                         "MPI_LONG",
                                         "MPI_UNSIGNED_LONG",
                                         "MPI_FLOAT",
                                         "MPI_DOUBLE",
                                         "MPI_LONG_DOUBLE",
                                         "MPI_LONG_LONG",
                                         "MPI_FLOAT_INT",
                                         "MPI_DOUBLE_INT",
                                         "MPI_LONG_INT",
                                         "MPI_SHORT_INT",
                                         "MPI_2INT",
                                         "MPI_LONG_DOUBLE_INT",
                                         "MPI_CONTIGUOUS_INT",
                                         "MPI_VECTOR_INT",
                                         "MPI_HVECTOR_INT",
                                         "MPI_INDEXED_INT",
                                         "MPI_HINDEXED_INT",
                                         "MPI_STRUCT_INT",
                                         "MPI_TYPE_MIX",
                                         "MPI_TYPE_MIX_ARRAY",
                                         "MPI_TYPE_MIX_LB_UB",
                                         "Dup MPI_CHAR",
                                         "Dup MPI_TYPE_MIX_LB_UB"};
    std::multiset<std::string> titles;
    for (auto const& t : all_datatypes())
        if (!t.title.empty()) titles.insert(t.title);
    EXPECT_EQ(titles, (std::multiset<std::string>(table.begin(), table.end())));
}

TEST(datatypes, refuseTakenAndForeignNames) {
    auto const before = all_datatypes().size();
    for (auto const* name : {"int", "Int", "my type", "a/b", ""}) {
        datatype entry;
        entry.name = name;
        EXPECT_THROW(register_datatype{entry}, std::invalid_argument) << name;
    }
    EXPECT_EQ(all_datatypes().size(), before);
}

template <class T> void expect_normal(char const* name, std::size_t parts) {
    auto const& type = basic(name);
    ASSERT_EQ(type.size, sizeof(T) * parts);
    std::mt19937 random(1);
    for (int i = 0; i < 10000; ++i) {
        unsigned char bytes[32] = {};
        for (std::size_t k = 0; k < type.size; ++k)
            bytes[k] = static_cast<unsigned char>((random() & type.keep[k]) | type.set[k]);
        for (std::size_t p = 0; p < parts; ++p) {
            T value;
            std::memcpy(&value, bytes + p * sizeof(T), sizeof(T));
            ASSERT_TRUE(std::isnormal(value)) << name;
        }
    }
}

TEST(datatypes, masksMakeEveryFloatingNumberNormal) {
    expect_normal<float>("float", 1);
    expect_normal<double>("double", 1);
    expect_normal<long double>("long_double", 1);
    expect_normal<float>("c_float_complex", 2);
    expect_normal<double>("cxx_double_complex", 2);
    expect_normal<long double>("c_long_double_complex", 2);
}

TEST(datatypes, integersAreAllBitsAndBooleansOneBit) {
    EXPECT_TRUE(basic("int").plain());
    EXPECT_FALSE(basic("c_bool").plain());
    EXPECT_EQ(basic("c_bool").keep[0], 1);
    EXPECT_FALSE(basic("float").plain());
    EXPECT_TRUE(basic("double").carries(7));
#if defined(__x86_64__)
    auto const& complex = basic("c_long_double_complex"); // 10 + 6 padding + 10 + 6 padding
    EXPECT_EQ(complex.significant, 26u);
    EXPECT_TRUE(complex.carries(9) && !complex.carries(10) && complex.carries(16) && !complex.carries(26));
#endif
}

} // namespace
} // namespace assay
