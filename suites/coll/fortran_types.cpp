// Reductions of the predefined Fortran datatypes, called from C (MPI-5.0 sections 6.9.2 and 6.9.4). A library built without
// Fortran does not have them.
#include "framework/mpi/run.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

using namespace assay;

namespace {

constexpr int elements = 37;
enum class what { max, min, sum, prod, land, lor, lxor, band, bor, bxor, maxloc, minloc };

// What process `who` brings as element e: small numbers, so that all sums and products are exact.
int number(int who, int e) { return 1 + (who * 5 + e * 3) % 7; }

template <class T> T combine(what op, T a, T b) {
    if constexpr (std::is_integral_v<T>) switch (op) {
        case what::band: return static_cast<T>(a & b);
        case what::bor: return static_cast<T>(a | b);
        case what::bxor: return static_cast<T>(a ^ b);
        case what::land: return static_cast<T>(a && b);
        case what::lor: return static_cast<T>(a || b);
        case what::lxor: return static_cast<T>(!a != !b);
        default: break;
        }
    if constexpr (std::is_arithmetic_v<T>) {
        if (op == what::max) return std::max(a, b);
        if (op == what::min) return std::min(a, b);
    }
    return op == what::sum ? static_cast<T>(a + b) : static_cast<T>(a * b);
}

// An element as its bytes, for the four families of types.
template <class T> T plain(int who, int e) { return static_cast<T>(number(who, e)); }
template <class T> T truth(int who, int e) { return static_cast<T>((who + e) % 3 != 0 ? 1 : 0); }
template <class T> T gaussian(int who, int e) {
    using part = typename T::value_type;
    return {static_cast<part>(number(who, e) % 3), static_cast<part>(1 + number(e, who) % 2)};
}
template <class T> struct located { T value, index; };

struct type_entry {
    MPI_Datatype (*handle)();
    std::size_t size;
    bool logical, pair, bits, ordered;
    void (*operand)(int who, unsigned char* out);           // `elements` of them
    void (*result)(what op, int ranks, unsigned char* out); // over processes 0 to ranks - 1
    bool (*same)(unsigned char const* found, unsigned char const* right, int e);
};

template <class T, T (*Make)(int, int)> void operand_of(int who, unsigned char* out) {
    for (int e = 0; e < elements; ++e) {
        T const value = Make(who, e);
        std::memcpy(out + static_cast<std::size_t>(e) * sizeof(T), &value, sizeof value);
    }
}
template <class T, T (*Make)(int, int)> void result_of(what op, int ranks, unsigned char* out) {
    for (int e = 0; e < elements; ++e) {
        T value = Make(0, e);
        for (int who = 1; who < ranks; ++who) value = combine(op, value, Make(who, e));
        std::memcpy(out + static_cast<std::size_t>(e) * sizeof(T), &value, sizeof value);
    }
}
template <class T> bool same_value(unsigned char const* found, unsigned char const* right, int e) {
    T a, b;
    std::memcpy(&a, found + static_cast<std::size_t>(e) * sizeof(T), sizeof a);
    std::memcpy(&b, right + static_cast<std::size_t>(e) * sizeof(T), sizeof b);
    return a == b;
}
template <class T> bool same_truth(unsigned char const* found, unsigned char const* right, int e) {
    T a, b;
    std::memcpy(&a, found + static_cast<std::size_t>(e) * sizeof(T), sizeof a);
    std::memcpy(&b, right + static_cast<std::size_t>(e) * sizeof(T), sizeof b);
    return (a != 0) == (b != 0);
}

// Pairs: in every second element all values are equal, so that the index decides.
template <class T> located<T> pair_of(int who, int e) {
    return {static_cast<T>((who * (e % 2) + e) % 3), static_cast<T>((who * 7 + e) % 11)};
}
template <class T> void pairs(int who, unsigned char* out) { operand_of<located<T>, pair_of<T>>(who, out); }
template <class T> void extreme_pairs(what op, int ranks, unsigned char* out) {
    for (int e = 0; e < elements; ++e) {
        auto best = pair_of<T>(0, e);
        for (int who = 1; who < ranks; ++who) {
            auto const next = pair_of<T>(who, e);
            bool const better = op == what::maxloc ? next.value > best.value : next.value < best.value;
            if (better || (next.value == best.value && next.index < best.index)) best = next;
        }
        std::memcpy(out + static_cast<std::size_t>(e) * sizeof best, &best, sizeof best);
    }
}
template <class T> bool same_pair(unsigned char const* found, unsigned char const* right, int e) {
    return same_value<T>(found, right, 2 * e) && same_value<T>(found, right, 2 * e + 1);
}

template <class T> type_entry integer(MPI_Datatype (*handle)()) {
    return {handle,       sizeof(T), false, false, true, true, operand_of<T, plain<T>>, result_of<T, plain<T>>,
            same_value<T>};
}
template <class T> type_entry real(MPI_Datatype (*handle)()) {
    return {handle,       sizeof(T), false, false, false, true, operand_of<T, plain<T>>, result_of<T, plain<T>>,
            same_value<T>};
}
template <class T> type_entry complex(MPI_Datatype (*handle)()) {
    using C = std::complex<T>;
    return {handle,       sizeof(C), false, false, false, false, operand_of<C, gaussian<C>>, result_of<C, gaussian<C>>,
            same_value<C>};
}
template <class T> type_entry logical(MPI_Datatype (*handle)()) {
    return {handle,       sizeof(T), true, false, false, false, operand_of<T, truth<T>>, result_of<T, truth<T>>,
            same_truth<T>};
}
template <class T> type_entry pair(MPI_Datatype (*handle)()) {
    return {handle, 2 * sizeof(T), false, true, false, false, pairs<T>, extreme_pairs<T>, same_pair<T>};
}

// MPI_DATATYPE_NULL where the library, built without Fortran, makes no such datatype or lacks the procedure altogether.
MPI_Datatype f90(int (*make)(MPI_Datatype*)) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (!has_procedure("MPI_Type_create_f90_real") || make(&type) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
    if (type == MPI_DATATYPE_NULL) throw std::runtime_error("a Fortran datatype was made that is MPI_DATATYPE_NULL");
    return type;
}

#define ASSAY_FORTRAN(name) [] { return MPI_Datatype(name); }
axis<type_entry> const
    types("fortran",
          {{{"integer", "MPI_INTEGER"}, integer<int>(ASSAY_FORTRAN(MPI_INTEGER))},
           {{"integer1", "MPI_INTEGER1"}, integer<std::int8_t>(ASSAY_FORTRAN(MPI_INTEGER1))},
           {{"integer2", "MPI_INTEGER2"}, integer<std::int16_t>(ASSAY_FORTRAN(MPI_INTEGER2))},
           {{"integer4", "MPI_INTEGER4"}, integer<std::int32_t>(ASSAY_FORTRAN(MPI_INTEGER4))},
           {{"integer8", "MPI_INTEGER8"}, integer<std::int64_t>(ASSAY_FORTRAN(MPI_INTEGER8))},
           {{"f90_integer", "MPI_Type_create_f90_integer of 9 digits"}, integer<std::int32_t>([] {
                return f90([](MPI_Datatype* made) -> int { return MPI_Type_create_f90_integer(9, made); });
            })},
           {{"f90_integer18", "MPI_Type_create_f90_integer of 18 digits"}, integer<std::int64_t>([] {
                return f90([](MPI_Datatype* made) -> int { return MPI_Type_create_f90_integer(18, made); });
            })},
           {{"real", "MPI_REAL"}, real<float>(ASSAY_FORTRAN(MPI_REAL))},
           {{"double_precision", "MPI_DOUBLE_PRECISION"}, real<double>(ASSAY_FORTRAN(MPI_DOUBLE_PRECISION))},
           {{"real4", "MPI_REAL4"}, real<float>(ASSAY_FORTRAN(MPI_REAL4))},
           {{"real8", "MPI_REAL8"}, real<double>(ASSAY_FORTRAN(MPI_REAL8))},
           {{"f90_real", "MPI_Type_create_f90_real of 6 digits and range 37"}, real<float>([] {
                return f90([](MPI_Datatype* made) -> int { return MPI_Type_create_f90_real(6, 37, made); });
            })},
           {{"f90_real15", "MPI_Type_create_f90_real of 15 digits and range 307"}, real<double>([] {
                return f90([](MPI_Datatype* made) -> int { return MPI_Type_create_f90_real(15, 307, made); });
            })},
           {{"complex", "MPI_COMPLEX"}, complex<float>(ASSAY_FORTRAN(MPI_COMPLEX))},
           {{"double_complex", "MPI_DOUBLE_COMPLEX"}, complex<double>(ASSAY_FORTRAN(MPI_DOUBLE_COMPLEX))},
           {{"complex8", "MPI_COMPLEX8"}, complex<float>(ASSAY_FORTRAN(MPI_COMPLEX8))},
           {{"complex16", "MPI_COMPLEX16"}, complex<double>(ASSAY_FORTRAN(MPI_COMPLEX16))},
           {{"f90_complex", "MPI_Type_create_f90_complex of 6 digits and range 37"}, complex<float>([] {
                return f90([](MPI_Datatype* made) -> int { return MPI_Type_create_f90_complex(6, 37, made); });
            })},
           {{"logical", "MPI_LOGICAL"}, logical<int>(ASSAY_FORTRAN(MPI_LOGICAL))},
           {{"2integer", "MPI_2INTEGER"}, pair<int>(ASSAY_FORTRAN(MPI_2INTEGER))},
           {{"2real", "MPI_2REAL"}, pair<float>(ASSAY_FORTRAN(MPI_2REAL))},
           {{"2double_precision", "MPI_2DOUBLE_PRECISION"}, pair<double>(ASSAY_FORTRAN(MPI_2DOUBLE_PRECISION))}});
#undef ASSAY_FORTRAN

struct op_entry {
    MPI_Op (*handle)();
    what op;
};
#define ASSAY_OP(name) [] { return MPI_Op(name); }
axis<op_entry> const ops("operation", {{{"max", "MPI_MAX"}, {ASSAY_OP(MPI_MAX), what::max}},
                                       {{"min", "MPI_MIN"}, {ASSAY_OP(MPI_MIN), what::min}},
                                       {{"sum", "MPI_SUM"}, {ASSAY_OP(MPI_SUM), what::sum}},
                                       {{"prod", "MPI_PROD"}, {ASSAY_OP(MPI_PROD), what::prod}},
                                       {{"land", "MPI_LAND"}, {ASSAY_OP(MPI_LAND), what::land}},
                                       {{"lor", "MPI_LOR"}, {ASSAY_OP(MPI_LOR), what::lor}},
                                       {{"lxor", "MPI_LXOR"}, {ASSAY_OP(MPI_LXOR), what::lxor}},
                                       {{"band", "MPI_BAND"}, {ASSAY_OP(MPI_BAND), what::band}},
                                       {{"bor", "MPI_BOR"}, {ASSAY_OP(MPI_BOR), what::bor}},
                                       {{"bxor", "MPI_BXOR"}, {ASSAY_OP(MPI_BXOR), what::bxor}},
                                       {{"maxloc", "MPI_MAXLOC"}, {ASSAY_OP(MPI_MAXLOC), what::maxloc}},
                                       {{"minloc", "MPI_MINLOC"}, {ASSAY_OP(MPI_MINLOC), what::minloc}}});
#undef ASSAY_OP

// The table of section 6.9.2, and section 6.9.4 for the pairs.
bool allowed(op_entry const& o, type_entry const& t) {
    switch (o.op) {
    case what::max:
    case what::min: return t.ordered;
    case what::sum:
    case what::prod: return !t.logical && !t.pair;
    case what::land:
    case what::lor:
    case what::lxor: return t.logical;
    case what::band:
    case what::bor:
    case what::bxor: return t.bits;
    default: return t.pair;
    }
}

enum class call { allreduce, reduce_local, scan };
axis<call> const calls("call", {{{"allreduce", "MPI_Allreduce"}, call::allreduce},
                                {{"reduce_local", "MPI_Reduce_local"}, call::reduce_local},
                                {{"scan", "MPI_Scan"}, call::scan}});

} // namespace

ASSAY_TEST(coll, fortran_types, requirements{"coll.op.fortran", "coll.op.fortran_loc", "coll.op.f90"},
           over(axis_use{&calls}, axis_use{&types}, axis_use{&ops}, communicators::world()),
           where(types, ops, [](type_entry const& t, op_entry const& o) { return allowed(o, t); }), thread_safe{}) {
    auto const& t = mpi.at(types);
    auto const& o = mpi.at(ops);
    auto const type = t.handle();
    int size = 0;
    if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0)
        mpi.unsupported("the MPI library has no such Fortran datatype");
    if (static_cast<std::size_t>(size) != t.size)
        mpi.unsupported(fmt::format("the Fortran datatype has {} bytes here, not {}", size, t.size));
    auto const bytes = elements * t.size;
    constexpr unsigned char poison = 0xa5;
    std::vector<unsigned char> out(bytes), in(bytes, poison), right(bytes);
    bool const local = mpi.at(calls) == call::reduce_local;
    t.operand(local ? 0 : mpi.rank, out.data());
    auto const before = out;
    int ranks = mpi.size;
    switch (mpi.at(calls)) {
    case call::allreduce: mpi.ok(MPI_Allreduce(out.data(), in.data(), elements, type, o.handle(), mpi.comm)); break;
    case call::scan:
        mpi.ok(MPI_Scan(out.data(), in.data(), elements, type, o.handle(), mpi.comm));
        ranks = mpi.rank + 1;
        break;
    case call::reduce_local:
        t.operand(1, in.data());
        mpi.ok(MPI_Reduce_local(out.data(), in.data(), elements, type, o.handle()));
        ranks = 2;
        break;
    }
    t.result(o.op, ranks, right.data());
    int wrong = 0;
    while (wrong < elements && t.same(in.data(), right.data(), wrong)) ++wrong;
    mpi.check(
        wrong == elements, finding::data,
        fmt::format("element {} of the reduction over {} processes is not what the operation gives", wrong, ranks));
    mpi.check(out == before, finding::data, "the reduction changed its input");
}
