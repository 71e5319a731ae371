// Operations as objects (MPI-5.0 section 6.9.5 and 6.9.7): what a user-defined function is handed, the order of its operands,
// both widths of its length argument, and what is said of pairs of operation and datatype that are not defined.
#include "framework/check/logical.hpp"
#include "framework/mpi/run.hpp"
#include "framework/process/erroneous.hpp"
#include "suites/coll/operation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <fmt/format.h>

using namespace assay;

namespace {

// 2×2 matrices of unsigned numbers modulo 2^32: associative, not commutative.
using matrix = std::array<unsigned, 4>;
matrix product(matrix const& a, matrix const& b) {
    return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
}
matrix matrix_of(int who, std::size_t e) {
    auto const w = static_cast<unsigned>(who), i = static_cast<unsigned>(e);
    return {2 + w + i, 3 * w + 1, i + 5, 7 * w + 2 * i + 3};
}
matrix sum(matrix a, matrix const& b) {
    for (std::size_t k = 0; k < 4; ++k) a[k] += b[k];
    return a;
}

// What the functions saw. No thread runs these tests beside another.
struct {
    MPI_Datatype type;
    long long calls, elements, longest;
    int odd; // calls with another datatype or without elements
} seen;

template <bool commutes, class Length> void function(void* in, void* inout, Length* length, MPI_Datatype* type) {
    ++seen.calls;
    seen.elements += *length;
    seen.longest = std::max<long long>(seen.longest, *length);
    if (!coll::same_datatype(*type, seen.type) || *length < 0) ++seen.odd;
    auto* a = static_cast<matrix*>(in);
    auto* b = static_cast<matrix*>(inout);
    for (Length i = 0; i < *length; ++i) b[i] = commutes ? sum(a[i], b[i]) : product(a[i], b[i]);
}

axis<bool> const commutes("commute", {{{"no", "matrix products"}, false}, {{"yes", "matrix sums"}, true}});

auto const lacks_large = needs_procedures({"MPI_Op_create_c"}); // a library has all of this form, or none
axis<bool> const creators("create", {{{"op_create", "MPI_Op_create"}, false},
                                     {{"op_create_c", "MPI_Op_create_c; since MPI-4.0", lacks_large}, true}});

enum class call {
    reduce_local,
    reduce,
    allreduce,
    scan,
    exscan,
    reduce_scatter_block,
    iallreduce,
    reduce_local_c,
    reduce_c,
    allreduce_c,
    scan_c,
    exscan_c,
    iallreduce_c
};
axis<call> const calls("call", {{{"reduce_local", "MPI_Reduce_local"}, call::reduce_local},
                                {{"reduce", "MPI_Reduce to the last process"}, call::reduce},
                                {{"allreduce", "MPI_Allreduce"}, call::allreduce},
                                {{"scan", "MPI_Scan"}, call::scan},
                                {{"exscan", "MPI_Exscan"}, call::exscan},
                                {{"reduce_scatter_block", "MPI_Reduce_scatter_block"}, call::reduce_scatter_block},
                                {{"iallreduce", "MPI_Iallreduce"}, call::iallreduce},
                                {{"reduce_local_c", "MPI_Reduce_local_c", lacks_large}, call::reduce_local_c},
                                {{"reduce_c", "MPI_Reduce_c to the last process", lacks_large}, call::reduce_c},
                                {{"allreduce_c", "MPI_Allreduce_c", lacks_large}, call::allreduce_c},
                                {{"scan_c", "MPI_Scan_c", lacks_large}, call::scan_c},
                                {{"exscan_c", "MPI_Exscan_c", lacks_large}, call::exscan_c},
                                {{"iallreduce_c", "MPI_Iallreduce_c", lacks_large}, call::iallreduce_c}});
axis<std::size_t> const lengths("length", {{{"1", "one element"}, 1},
                                           {{"17", "17 elements"}, 17},
                                           {{"5000", "5,000 elements"}, 5000},
                                           {{"0", "no elements"}, 0}});

} // namespace

ASSAY_TEST(coll, user_function,
           requirements{"coll.op.user_length", "coll.op.user_datatype", "coll.op.rank_order", "coll.op.widths",
                        "coll.op.commutative_user", "coll.op.free"},
           over(axis_use{&calls}, axis_use{&creators}, axis_use{&commutes}, axis_use{&lengths},
                communicators::few_intra())) {
    bool const commute = mpi.at(commutes);
    auto const c = mpi.at(calls);
    int const n = static_cast<int>(mpi.at(lengths)), root = mpi.size - 1;
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_contiguous(4, MPI_UNSIGNED, &type));
    mpi.ok(MPI_Type_commit(&type));
    if (mpi.at(creators))
        mpi.ok(MPI_Op_create_c(commute ? function<true, MPI_Count> : function<false, MPI_Count>, commute, &op));
    else mpi.ok(MPI_Op_create(commute ? function<true, int> : function<false, int>, commute, &op));
    int says = opposite(commute);
    mpi.ok(MPI_Op_commutative(op, &says));
    mpi.check(logical(says) == commute, finding::value,
              fmt::format("MPI_Op_commutative gives {} for an operation created with commute = {}", says, commute));
    seen = {type, 0, 0, 0, 0};

    bool const local = c == call::reduce_local || c == call::reduce_local_c;
    bool const scatters = c == call::reduce_scatter_block;
    auto const mine = static_cast<std::size_t>(n), total = scatters ? mine * static_cast<std::size_t>(mpi.size) : mine;
    int const me = local ? 0 : mpi.rank;
    // One element more than is reduced: it must stay.
    std::vector<matrix> out(total + 1), in(mine + 1, matrix{7, 7, 7, 7});
    for (std::size_t e = 0; e < total; ++e) out[e] = matrix_of(me, e);
    auto const before = out;
    if (local)
        for (std::size_t e = 0; e < mine; ++e) in[e] = matrix_of(1, e);
    MPI_Request request = MPI_REQUEST_NULL;
    void const* const send = out.data();
    void* const receive = in.data();
    switch (c) {
    case call::reduce_local: mpi.ok(MPI_Reduce_local(send, receive, n, type, op)); break;
    case call::reduce: mpi.ok(MPI_Reduce(send, receive, n, type, op, root, mpi.comm)); break;
    case call::allreduce: mpi.ok(MPI_Allreduce(send, receive, n, type, op, mpi.comm)); break;
    case call::scan: mpi.ok(MPI_Scan(send, receive, n, type, op, mpi.comm)); break;
    case call::exscan: mpi.ok(MPI_Exscan(send, receive, n, type, op, mpi.comm)); break;
    case call::reduce_scatter_block: mpi.ok(MPI_Reduce_scatter_block(send, receive, n, type, op, mpi.comm)); break;
    case call::iallreduce: mpi.ok(MPI_Iallreduce(send, receive, n, type, op, mpi.comm, &request)); break;
    case call::reduce_local_c: mpi.ok(MPI_Reduce_local_c(send, receive, n, type, op)); break;
    case call::reduce_c: mpi.ok(MPI_Reduce_c(send, receive, n, type, op, root, mpi.comm)); break;
    case call::allreduce_c: mpi.ok(MPI_Allreduce_c(send, receive, n, type, op, mpi.comm)); break;
    case call::scan_c: mpi.ok(MPI_Scan_c(send, receive, n, type, op, mpi.comm)); break;
    case call::exscan_c: mpi.ok(MPI_Exscan_c(send, receive, n, type, op, mpi.comm)); break;
    case call::iallreduce_c: mpi.ok(MPI_Iallreduce_c(send, receive, n, type, op, mpi.comm, &request)); break;
    }
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));

    bool const exclusive = c == call::exscan || c == call::exscan_c,
               scans = exclusive || c == call::scan || c == call::scan_c;
    int const ranks = local ? 2 : exclusive ? mpi.rank : scans ? mpi.rank + 1 : mpi.size;
    bool const defined = (c != call::reduce && c != call::reduce_c) || mpi.rank == root;
    for (std::size_t e = 0; e < mine && defined && ranks > 0; ++e) {
        auto const at = scatters ? e + mine * static_cast<std::size_t>(mpi.rank) : e;
        auto right = matrix_of(0, at);
        for (int who = 1; who < ranks; ++who)
            right = commute ? sum(right, matrix_of(who, at)) : product(right, matrix_of(who, at));
        if (!mpi.check(
                in[e] == right, finding::data,
                fmt::format("element {} is [{} {} {} {}], expected [{} {} {} {}]: the operands of ranks 0 to {} in "
                            "ascending order",
                            e, in[e][0], in[e][1], in[e][2], in[e][3], right[0], right[1], right[2], right[3],
                            ranks - 1)))
            break;
    }
    mpi.check(in[mine] == matrix{7, 7, 7, 7}, finding::guard, "the reduction wrote after the receive buffer");
    mpi.check(out == before, finding::data, "the reduction changed its send buffer");
    mpi.check(
        seen.odd == 0, finding::value,
        fmt::format("{} of {} calls of the function had another datatype than the call that reduces, or a negative "
                    "length",
                    seen.odd, seen.calls));
    mpi.check(seen.longest <= static_cast<long long>(total), finding::value,
              fmt::format("the function was called for {} elements where the call reduces {}", seen.longest, total));
    if (local)
        mpi.check(seen.elements == static_cast<long long>(mine), finding::value,
                  fmt::format("the function was called for {} elements altogether, expected {}", seen.elements, mine));
    mpi.ok(MPI_Op_free(&op));
    mpi.check(op == MPI_OP_NULL, finding::value, "MPI_Op_free must set the handle to MPI_OP_NULL");
    mpi.ok(MPI_Type_free(&type));
}

namespace {
struct named_op {
    char const* name;
    MPI_Op op;
};
struct pairing {
    MPI_Op (*op)();
    MPI_Datatype (*type)();
};
#define ASSAY_PAIR(op, type)                                                                                           \
    {                                                                                                                  \
        [] { return MPI_Op(op); }, [] { return MPI_Datatype(type); }                                                   \
    }
axis<pairing> const
    pairings("pair",
             {{{"max_complex", "MPI_MAX of MPI_C_DOUBLE_COMPLEX"}, ASSAY_PAIR(MPI_MAX, MPI_C_DOUBLE_COMPLEX)},
              {{"min_complex", "MPI_MIN of MPI_C_FLOAT_COMPLEX"}, ASSAY_PAIR(MPI_MIN, MPI_C_FLOAT_COMPLEX)},
              {{"band_double", "MPI_BAND of MPI_DOUBLE"}, ASSAY_PAIR(MPI_BAND, MPI_DOUBLE)},
              {{"bor_float", "MPI_BOR of MPI_FLOAT"}, ASSAY_PAIR(MPI_BOR, MPI_FLOAT)},
              {{"bxor_complex", "MPI_BXOR of MPI_C_DOUBLE_COMPLEX"}, ASSAY_PAIR(MPI_BXOR, MPI_C_DOUBLE_COMPLEX)},
              {{"land_complex", "MPI_LAND of MPI_C_DOUBLE_COMPLEX"}, ASSAY_PAIR(MPI_LAND, MPI_C_DOUBLE_COMPLEX)},
              {{"sum_pair", "MPI_SUM of MPI_DOUBLE_INT"}, ASSAY_PAIR(MPI_SUM, MPI_DOUBLE_INT)},
              {{"max_pair", "MPI_MAX of MPI_2INT"}, ASSAY_PAIR(MPI_MAX, MPI_2INT)},
              {{"maxloc_double", "MPI_MAXLOC of MPI_DOUBLE"}, ASSAY_PAIR(MPI_MAXLOC, MPI_DOUBLE)},
              {{"minloc_int", "MPI_MINLOC of MPI_INT"}, ASSAY_PAIR(MPI_MINLOC, MPI_INT)},
              {{"null_op", "MPI_OP_NULL of MPI_INT"}, ASSAY_PAIR(MPI_OP_NULL, MPI_INT)}});
#undef ASSAY_PAIR
} // namespace

// Wrong use: nothing is promised, but a library that notices says so with an error class and leaves the output alone.
ASSAY_TEST(coll, op_forbidden, requirements{"coll.op.forbidden"}, over(axis_use{&pairings}), thread_safe{}) {
    auto const& p = mpi.at(pairings);
    std::vector<double> in(64, 1.5), inout(64, 2.5);
    auto const before = in;
    erroneous_from_here();
    int const code = MPI_Reduce_local(in.data(), inout.data(), 2, p.type(), p.op());
    int error = -7;
    mpi.ok(MPI_Error_class(code, &error));
    mpi.check(error == MPI_ERR_OP, finding::return_,
              fmt::format("an operation that is not defined for the datatype: expected MPI_ERR_OP, got {}",
                          error_text(code)));
    mpi.check(in == before, finding::data, "the input of the operation was changed");
}

ASSAY_TEST(coll, op_commutative, requirements{"coll.op.commutative"}, over(communicators::world()), thread_safe{}) {
    named_op const all[] = {{"MPI_MAX", MPI_MAX},   {"MPI_MIN", MPI_MIN},       {"MPI_SUM", MPI_SUM},
                            {"MPI_PROD", MPI_PROD}, {"MPI_LAND", MPI_LAND},     {"MPI_BAND", MPI_BAND},
                            {"MPI_LOR", MPI_LOR},   {"MPI_BOR", MPI_BOR},       {"MPI_LXOR", MPI_LXOR},
                            {"MPI_BXOR", MPI_BXOR}, {"MPI_MAXLOC", MPI_MAXLOC}, {"MPI_MINLOC", MPI_MINLOC}};
    for (auto const& o : all) {
        int commute = 0;
        mpi.ok(MPI_Op_commutative(o.op, &commute));
        mpi.check(logical(commute), finding::value,
                  fmt::format("MPI_Op_commutative gives {} for {}, which commutes", commute, o.name));
    }
}
