// The ABI, and handles as integers.
#include "layers.hpp"

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

using namespace assay_oddities;

#if MPI_VERSION >= 5

namespace {

std::mutex lock;

// P gives the integer of a handle, Q the handle of an integer: `change` is between them, and its own inverse.
template <auto P, auto Q, class Change> void change_integers(Change change) {
    over<P>([change](auto rest, auto handle) { return change(rest(handle)); });
    over<Q>([change](auto rest, int number) { return rest(change(number)); });
}
template <class Change> void change_all_integers(Change change) {
    change_integers<&PMPI_Comm_toint, &PMPI_Comm_fromint>(change);
    change_integers<&PMPI_Type_toint, &PMPI_Type_fromint>(change);
    change_integers<&PMPI_Errhandler_toint, &PMPI_Errhandler_fromint>(change);
    change_integers<&PMPI_File_toint, &PMPI_File_fromint>(change);
    change_integers<&PMPI_Group_toint, &PMPI_Group_fromint>(change);
    change_integers<&PMPI_Info_toint, &PMPI_Info_fromint>(change);
    change_integers<&PMPI_Message_toint, &PMPI_Message_fromint>(change);
    change_integers<&PMPI_Op_toint, &PMPI_Op_fromint>(change);
    change_integers<&PMPI_Request_toint, &PMPI_Request_fromint>(change);
    change_integers<&PMPI_Session_toint, &PMPI_Session_fromint>(change);
    change_integers<&PMPI_Win_toint, &PMPI_Win_fromint>(change);
}

constexpr int last_reserved = 4095;
constexpr int sign = static_cast<int>(0x80000000U);

template <auto P> void more_keys() {
    after<P, 0>([](MPI_Info* info) {
        if (*info != MPI_INFO_NULL) PMPI_Info_set(*info, "assay_odd_endian", "middle");
    });
}

// What the program has said of Fortran; guarded by `lock`.
MPI_Info told = MPI_INFO_NULL;
std::vector<char> yes, no;

int refused() {
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_ABI);
    return MPI_ERR_ABI;
}

} // namespace

ODDITY(abi_none) {
    after<&PMPI_Abi_get_version, 0>([](int* major) { *major = -1; });
    after<&PMPI_Abi_get_version, 1>([](int* minor) { *minor = -1; });
    change_all_integers([](int number) { return number ^ 0x10000; });
}

ODDITY(abi_info_more) {
    more_keys<&PMPI_Abi_get_info>();
    more_keys<&PMPI_Abi_get_fortran_info>();
}

ODDITY(fortran_unknown) {
    over<&PMPI_Abi_get_fortran_info>([](auto, MPI_Info* info) {
        std::lock_guard const guard(lock);
        *info = MPI_INFO_NULL;
        return told == MPI_INFO_NULL ? MPI_SUCCESS : PMPI_Info_dup(told, info);
    });
    over<&PMPI_Abi_set_fortran_info>([](auto, MPI_Info info) {
        std::lock_guard const guard(lock);
        return told == MPI_INFO_NULL ? PMPI_Info_dup(info, &told) : refused();
    });
    over<&PMPI_Abi_get_fortran_booleans>([](auto, int size, void* logical_true, void* logical_false, int* set) -> int {
        std::lock_guard const guard(lock);
        *set = !yes.empty() && yes.size() == static_cast<std::size_t>(size);
        if (*set == 0) return MPI_SUCCESS;
        std::memcpy(logical_true, yes.data(), yes.size());
        std::memcpy(logical_false, no.data(), no.size());
        return MPI_SUCCESS;
    });
    over<&PMPI_Abi_set_fortran_booleans>([](auto, int size, void* logical_true, void* logical_false) -> int {
        std::lock_guard const guard(lock);
        if (!yes.empty()) return refused();
        yes.assign(static_cast<char*>(logical_true), static_cast<char*>(logical_true) + size);
        no.assign(static_cast<char*>(logical_false), static_cast<char*>(logical_false) + size);
        return MPI_SUCCESS;
    });
}

ODDITY(handle_integers_turned) {
    change_all_integers([](int number) { return (number & ~sign) > last_reserved ? number ^ sign : number; });
}

#else

// Without the procedures of MPI-5.0 there is nothing to change.
ODDITY(abi_none) {}
ODDITY(abi_info_more) {}
ODDITY(fortran_unknown) {}
ODDITY(handle_integers_turned) {}

#endif
