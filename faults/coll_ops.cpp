// The operations of reductions: what they compute, and their objects.
#include "core/coll.hpp"

#include <cstdint>
#include <list>
#include <set>
#include <type_traits>
#include <vector>

using namespace assay_faults;

namespace {

// The function that MPI_Op_create was told about. One at a time is enough.
memory<MPI_User_function*> user_function;

// Calls a function of the user with both sides exchanged.
template <auto& of_user, class Length> void swapped(void* in, void* inout, Length* length, MPI_Datatype* type) {
    area const a{in, 0, static_cast<int>(*length), *type}, b{inout, 0, static_cast<int>(*length), *type};
    auto const left = load(a), right = load(b);
    store(right, a);
    store(left, b);
    (*of_user)(in, inout, length, type);
    store(left, a);
}
void dropped(void*, void*, int*, MPI_Datatype*) {}
void other_type(void* in, void* inout, int* length, MPI_Datatype*) {
    MPI_Datatype other = MPI_DATATYPE_NULL;
    (*user_function)(in, inout, length, &other);
}

memory<bool> alive(true); // the operation that MPI_Op_create made last has not been freed
void while_alive(void* in, void* inout, int* length, MPI_Datatype* type) {
    if (*alive) (*user_function)(in, inout, length, type);
}

std::set<std::uintptr_t>
    large_operations; // made by MPI_Op_create_c; as numbers: handles of some libraries are pointers
template <class Handle> std::uintptr_t number(Handle op) {
    if constexpr (std::is_pointer_v<Handle>) return reinterpret_cast<std::uintptr_t>(op);
    else return static_cast<std::uintptr_t>(op);
}

template <class T> struct with_index {
    T value;
    int index;
};
// MPI_MAXLOC and MPI_MINLOC that give the highest index of a tie.
template <bool maximum, class Pair> void last_of_tie(void* in, void* inout, int* length, MPI_Datatype*) {
    auto* a = static_cast<Pair*>(in);
    auto* b = static_cast<Pair*>(inout);
    for (int i = 0; i < *length; ++i) {
        bool const a_wins = a[i].value == b[i].value ? a[i].index > b[i].index : (a[i].value > b[i].value) == maximum;
        if (a_wins) b[i] = a[i];
    }
}
struct two_floats {
    float value, index;
};
bool made_by(MPI_Datatype type, int combiner) {
    int integers = 0, addresses = 0, types = 0, how = 0;
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &how) == MPI_SUCCESS && how == combiner;
}
void float_sum(void* in, void* inout, int* length, MPI_Datatype*) {
    auto* a = static_cast<double*>(in);
    auto* b = static_cast<double*>(inout);
    for (int i = 0; i < *length; ++i) b[i] = static_cast<double>(static_cast<float>(a[i]) + static_cast<float>(b[i]));
}

MPI_Op made_of(MPI_User_function* function) {
    MPI_Op op = MPI_OP_NULL;
    PMPI_Op_create(function, 1, &op); // never freed: the process ends soon
    return op;
}

// Contributions of zeros that live as long as the process.
void const* zeros(std::size_t size) {
    static std::list<std::vector<char>> kept;
    return kept.emplace_back(size).data();
}

#if MPI_VERSION >= 4
// The same for MPI_Op_create_c.
memory<MPI_User_function_c*> user_function_c;
void shortened_c(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
    auto fewer = *length;
    shorten(fewer);
    (*user_function_c)(in, inout, &fewer, type);
}
#endif

} // namespace

void assay_faults::change(void const*& out, int count, MPI_Datatype& type, MPI_Op& op) {
    struct pair {
        MPI_Op from, to;
    };
    switch (planted) {
    case fault::op_other:
        for (auto const& p : {pair{MPI_MAX, MPI_MIN}, pair{MPI_MIN, MPI_MAX}, pair{MPI_SUM, MPI_PROD},
                              pair{MPI_PROD, MPI_SUM}, pair{MPI_LAND, MPI_LOR}, pair{MPI_LOR, MPI_LAND},
                              pair{MPI_LXOR, MPI_LOR}, pair{MPI_BAND, MPI_BOR}, pair{MPI_BOR, MPI_BAND},
                              pair{MPI_BXOR, MPI_BOR}, pair{MPI_MAXLOC, MPI_MINLOC}, pair{MPI_MINLOC, MPI_MAXLOC}})
            if (op == p.from) {
                op = p.to;
                return;
            }
        return;
    case fault::op_bitwise:
        if (op == MPI_LAND && type == MPI_INT) op = MPI_BAND;
        else if (op == MPI_LOR && type == MPI_INT) op = MPI_BOR;
        else if (op == MPI_LXOR && type == MPI_INT) op = MPI_BXOR;
        return;
    case fault::op_signed:
        if (op != MPI_MAX && op != MPI_MIN) return;
        if (type == MPI_UNSIGNED_CHAR || type == MPI_UINT8_T) type = MPI_SIGNED_CHAR;
        else if (type == MPI_UNSIGNED) type = MPI_INT;
        return;
    case fault::op_unsigned:
        if (op != MPI_MAX && op != MPI_MIN) return;
        if (type == MPI_INT) type = MPI_UNSIGNED;
        else if (type == MPI_SHORT) type = MPI_UNSIGNED_SHORT;
        return;
    case fault::op_float:
        if (op == MPI_SUM && type == MPI_DOUBLE) op = made_of(float_sum);
        return;
    case fault::op_tie:
        if (type != MPI_2INT) return;
        if (op == MPI_MAXLOC) op = made_of(last_of_tie<true, with_index<int>>);
        else if (op == MPI_MINLOC) op = made_of(last_of_tie<false, with_index<int>>);
        return;
    case fault::op_large_dropped:
        if (large_operations.contains(number(op))) op = made_of(dropped);
        return;
    case fault::fortran_logical:
        if (type == MPI_LOGICAL && op == MPI_LAND) op = MPI_LOR;
        return;
    case fault::fortran_complex:
        if (type == MPI_COMPLEX && op == MPI_PROD) op = MPI_SUM;
        return;
    case fault::fortran_integer2:
        if (type == MPI_INTEGER2 && op == MPI_SUM) op = MPI_BOR;
        return;
    case fault::fortran_tie:
        if (type == MPI_2REAL && op == MPI_MAXLOC) op = made_of(last_of_tie<true, two_floats>);
        return;
    case fault::f90_integer:
        if (made_by(type, MPI_COMBINER_F90_INTEGER) && op == MPI_MAX) op = MPI_MIN;
        return;
    case fault::op_contribution:
        if (op == MPI_SUM && type == MPI_INT && world_rank == 1 && out != MPI_IN_PLACE && count > 0)
            out = zeros(static_cast<std::size_t>(count) * sizeof(int));
        return;
    default: return;
    }
}

extern "C" {

int MPI_Op_create(MPI_User_function* function, int commute, MPI_Op* op) {
    *user_function = function;
    switch (planted) {
    case fault::op_order:
        if (!commute) function = swapped<user_function, int>;
        break;
    case fault::op_dropped: function = dropped; break;
    case fault::op_handle: function = other_type; break;
    case fault::op_free_early:
        function = while_alive;
        *alive = true;
        break;
    default: break;
    }
    return PMPI_Op_create(function, commute, op);
}

#if MPI_VERSION >= 4
int MPI_Op_create_c(MPI_User_function_c* function, int commute, MPI_Op* op) {
    *user_function_c = function;
    switch (planted) {
    case fault::op_large_order:
        if (!commute) function = swapped<user_function_c, MPI_Count>;
        break;
    case fault::op_large_short: function = shortened_c; break;
    default: break;
    }
    int const code = PMPI_Op_create_c(function, commute, op);
    if (code == MPI_SUCCESS) large_operations.insert(number(*op));
    return code;
}
#endif

int MPI_Op_free(MPI_Op* op) {
    auto const before = *op;
    large_operations.erase(number(before));
    *alive = false;
    int const code = PMPI_Op_free(op);
    if (planted == fault::op_free_keeps) *op = before;
    operation_freed();
    return code;
}

int MPI_Op_commutative(MPI_Op op, int* commute) {
    int const code = PMPI_Op_commutative(op, commute);
    if (planted == fault::op_commutative) *commute = !*commute;
    if (planted == fault::op_commutative_always) *commute = 1;
    if (planted == fault::op_commutative_loc && op == MPI_MINLOC) *commute = 0;
    return code;
}

} // extern "C"
