// Datatypes of selected kinds in use (MPI-5.0 section 19.1.9.1): reductions, matching, and what no compiler has. How they are made and
// decoded: suites/datatype/fortran.cpp.
#include "framework/mpi/run.hpp"
#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <fmt/format.h>

using namespace assay;

namespace {

// Element i of rank r is a small whole number in every format, so that sums are exact.
int number(int rank, std::size_t i) { return rank + 2 * static_cast<int>(i) + 1; }
constexpr std::size_t elements = 5;

// Of any type, complex ones, too.
template <class T> T of(int whole) { return static_cast<T>(static_cast<float>(whole)); }

enum class operation { sum, most, bits };
template <class T> bool reduce(test_run& mpi, MPI_Datatype type, operation what) {
    std::array<T, elements> out{}, in{}, expected{};
    for (std::size_t i = 0; i < elements; ++i) {
        out[i] = of<T>(number(mpi.rank, i));
        int sum = 0, bits = -1;
        for (int r = 0; r < mpi.size; ++r) {
            sum += number(r, i);
            bits &= number(r, i);
        }
        expected[i] = of<T>(what == operation::sum ? sum : what == operation::most ? number(mpi.size - 1, i) : bits);
    }
    auto const op = what == operation::sum ? MPI_SUM : what == operation::most ? MPI_MAX : MPI_BAND;
    return mpi.ok(MPI_Allreduce(out.data(), in.data(), elements, type, op, mpi.comm)) && in == expected;
}

struct kind {
    int (*make)(MPI_Datatype*);
    bool (*reduce)(test_run&, MPI_Datatype, operation);
    bool ordered, integer; // MPI_MAX; MPI_BAND
};
template <int P, int R> int real(MPI_Datatype* made) { return MPI_Type_create_f90_real(P, R, made); }
template <int P, int R> int complex_of(MPI_Datatype* made) { return MPI_Type_create_f90_complex(P, R, made); }
template <int R> int integer(MPI_Datatype* made) { return MPI_Type_create_f90_integer(R, made); }
axis<kind> const
    kinds("kind", {{{"real.6.37", "4 bytes"}, {real<6, 37>, reduce<float>, true, false}},
                   {{"real.15.307", "8 bytes"}, {real<15, 307>, reduce<double>, true, false}},
                   {{"real.any.30", "4 bytes"}, {real<MPI_UNDEFINED, 30>, reduce<float>, true, false}},
                   {{"complex.6.37", "8 bytes"}, {complex_of<6, 37>, reduce<std::complex<float>>, false, false}},
                   {{"complex.15.307", "16 bytes"}, {complex_of<15, 307>, reduce<std::complex<double>>, false, false}},
                   {{"integer.2", "1 byte"}, {integer<2>, reduce<std::int8_t>, true, true}},
                   {{"integer.4", "2 bytes"}, {integer<4>, reduce<std::int16_t>, true, true}},
                   {{"integer.9", "4 bytes"}, {integer<9>, reduce<std::int32_t>, true, true}},
                   {{"integer.18", "8 bytes"}, {integer<18>, reduce<std::int64_t>, true, true}}});

struct named_operation {
    char const* name;
    operation what;
};
constexpr std::array<named_operation, 3> operations = {
    {{"MPI_SUM", operation::sum}, {"MPI_MAX", operation::most}, {"MPI_BAND", operation::bits}}};

void needs_fortran(test_run& mpi) {
    MPI_Datatype single = MPI_DATATYPE_NULL;
    mpi.needs_procedure("MPI_Type_create_f90_real");
    mpi.needs_procedure("MPI_Type_create_f90_complex");
    mpi.needs_procedure("MPI_Type_create_f90_integer");
    if (MPI_Type_create_f90_real(6, 37, &single) != MPI_SUCCESS)
        mpi.unsupported("the library was built without Fortran");
}

// What no compiler has.
using impossible = int (*)(MPI_Datatype*);
axis<impossible> const
    impossibles("wanted", {{{"real_precision", "1000 digits"}, real<1000, MPI_UNDEFINED>},
                           {{"real_range", "exponents of 100000 digits"}, real<6, 100000>},
                           {{"real_nothing", "neither precision nor range"}, real<MPI_UNDEFINED, MPI_UNDEFINED>},
                           {{"complex_precision", "1000 digits"}, complex_of<1000, MPI_UNDEFINED>},
                           {{"integer", "1000 digits"}, integer<1000>}});

} // namespace

ASSAY_TEST(abi, f90_reduce, requirements{"lang.f90.reduce"},
           over(axis_use{&kinds}, communicators::of({"world", "reversed"}))) {
    needs_fortran(mpi);
    auto const& kind = mpi.at(kinds);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (!mpi.ok(kind.make(&type))) return;
    for (auto const& [name, what] : operations)
        if ((what != operation::most || kind.ordered) && (what != operation::bits || kind.integer))
            mpi.check(kind.reduce(mpi, type, what), finding::data, fmt::format("{} gives a wrong result", name));
}

ASSAY_TEST(abi, f90_match, requirements{"lang.f90.match"}, over(axis_use{&kinds}), thread_safe{}) {
    needs_fortran(mpi);
    auto const& kind = mpi.at(kinds);
    MPI_Datatype first = MPI_DATATYPE_NULL, second = MPI_DATATYPE_NULL, copy = MPI_DATATYPE_NULL;
    if (!mpi.ok(kind.make(&first)) || !mpi.ok(kind.make(&second)) || !mpi.ok(MPI_Type_dup(first, &copy))) return;
    int size = -7;
    mpi.ok(MPI_Type_size(first, &size));
    std::array<unsigned char, 64> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<unsigned char>(i + 1);
    for (auto const received : {second, copy}) {
        std::array<unsigned char, 64> in{};
        mpi.ok(MPI_Sendrecv(out.data(), 3, first, 0, mpi.tag(), in.data(), 3, received, 0, mpi.tag(), MPI_COMM_SELF,
                            MPI_STATUS_IGNORE));
        mpi.check(size > 0 && size <= 16 && std::equal(out.begin(), out.begin() + 3 * size, in.begin()) &&
                      std::all_of(in.begin() + 3 * size, in.end(), [](auto c) { return c == 0; }),
                  finding::data, "three elements arrived changed");
    }
    mpi.ok(MPI_Type_free(&copy));
}

ASSAY_TEST(abi, f90_unsupported, requirements{"lang.f90.unsupported"}, over(axis_use{&impossibles})) {
    needs_fortran(mpi);
    erroneous_from_here();
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int const code = mpi.at(impossibles)(&type);
    mpi.check(code != MPI_SUCCESS, finding::error, "the datatype is given without an error");
}
