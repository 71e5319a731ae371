// Handles as integers, what a library says of its ABI, and statuses in Fortran's forms. The conversions of handles are procedures in
// Open MPI; in MPICH they are macros, which nothing can stand in front of.
#include "core/core.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

using namespace assay_faults;

#if MPI_VERSION >= 5

namespace {

constexpr int last_reserved = 4095;
bool own(int number) { return number < 1 || number > last_reserved; } // of an object that the program has made

// The handle of its kind that a fault has seen first or last; all zero until there is one.
template <class Handle> class seen {
public:
    void first(Handle handle) {
        if (*there_) return;
        *there_ = true;
        *handle_ = handle;
    }
    void last(Handle handle) {
        *there_ = true;
        *handle_ = handle;
    }
    Handle or_else(Handle other) { return *there_ ? *handle_ : other; }

private:
    memory<bool> there_{false};
    memory<Handle> handle_{Handle()};
};

// Only one case of a test makes these at once.
seen<MPI_File> file;
seen<MPI_Op> op;
seen<MPI_Request> request;
seen<MPI_Win> win;
std::mutex lock;
memory<std::map<int, int>> groups; // by the integer that the fault gives
memory<int> requests_converted{0};
memory<std::map<int, int>> other_integers; // of requests, by the one that the fault gives
memory<std::map<int, bool>> infos_converted;
memory<int> integer_size{4};
memory<bool> booleans_swapped{false};
memory<int> info_object{0}; // that MPI_Abi_get_info gave, by its integer; 0: none

constexpr int mark = 1 << 30; // in the integer of a request

} // namespace

extern "C" {

MPI_Comm MPI_Comm_fromint(int number) {
    if (is(fault::abi_int_comm_self) && own(number)) return MPI_COMM_SELF;
    if (is(fault::abi_int_comm_copy) && own(number)) {
        MPI_Comm copy = MPI_COMM_NULL;
        PMPI_Comm_dup(MPI_COMM_SELF, &copy);
        return copy;
    }
    MPI_Comm const comm = PMPI_Comm_fromint(number);
    return is(fault::abi_int_comm_world) && comm == MPI_COMM_WORLD ? MPI_COMM_SELF : comm;
}

int MPI_Type_toint(MPI_Datatype type) {
    return PMPI_Type_toint(is(fault::abi_int_type_count) && type == MPI_COUNT ? MPI_OFFSET : type);
}
MPI_Datatype MPI_Type_fromint(int number) {
    MPI_Datatype type = PMPI_Type_fromint(number);
    if (is(fault::abi_int_type_copy) && own(number)) PMPI_Type_dup(type, &type);
    return is(fault::abi_int_type_integer) && type == MPI_INT ? MPI_SHORT : type;
}

int MPI_Errhandler_toint(MPI_Errhandler handler) {
    if (is(fault::abi_int_errhandler_values)) {
        if (handler == MPI_ERRORS_RETURN) return PMPI_Errhandler_toint(MPI_ERRORS_ABORT);
        if (handler == MPI_ERRORS_ABORT) return PMPI_Errhandler_toint(MPI_ERRORS_RETURN);
    }
    return PMPI_Errhandler_toint(handler);
}
MPI_Errhandler MPI_Errhandler_fromint(int number) {
    if (is(fault::abi_int_errhandler_return) && own(number)) return MPI_ERRORS_RETURN;
    if (is(fault::abi_int_errhandler_values)) {
        auto const handler = PMPI_Errhandler_fromint(number);
        if (handler == MPI_ERRORS_RETURN) return MPI_ERRORS_ABORT;
        if (handler == MPI_ERRORS_ABORT) return MPI_ERRORS_RETURN;
    }
    return PMPI_Errhandler_fromint(number);
}

int MPI_File_toint(MPI_File handle) {
    if (is(fault::abi_int_file_null) && handle == MPI_FILE_NULL) return 281;
    if (is(fault::abi_int_file_first) && handle != MPI_FILE_NULL) {
        file.first(handle);
        handle = file.or_else(handle);
    }
    return PMPI_File_toint(handle);
}
MPI_File MPI_File_fromint(int number) {
    if (is(fault::abi_int_file_null) && number == 281) return MPI_FILE_NULL;
    return PMPI_File_fromint(number);
}

int MPI_Group_toint(MPI_Group group) {
    int const number = PMPI_Group_toint(group);
    if (!is(fault::abi_int_group_reserved) || !own(number)) return number;
    std::lock_guard const guard(lock);
    for (auto const& [mine, theirs] : *groups)
        if (theirs == number) return mine;
    int const mine = 2000 + static_cast<int>(groups->size());
    groups->emplace(mine, number);
    return mine;
}
MPI_Group MPI_Group_fromint(int number) {
    if (is(fault::abi_int_group_empty) && own(number)) return MPI_GROUP_EMPTY;
    std::lock_guard const guard(lock);
    if (auto const found = groups->find(number); is(fault::abi_int_group_reserved) && found != groups->end())
        number = found->second;
    return PMPI_Group_fromint(number);
}

MPI_Info MPI_Info_fromint(int number) {
    if (is(fault::abi_int_info_once) && own(number)) {
        std::lock_guard const guard(lock);
        if (!infos_converted->emplace(number, true).second) return MPI_INFO_NULL;
    }
    MPI_Info info = PMPI_Info_fromint(number);
    if (is(fault::abi_int_info_copy) && own(number)) PMPI_Info_dup(info, &info);
    return info;
}

MPI_Message MPI_Message_fromint(int number) {
    return is(fault::abi_int_message_no_proc) && own(number) ? MPI_MESSAGE_NO_PROC : PMPI_Message_fromint(number);
}

int MPI_Op_toint(MPI_Op handle) {
    int const number = PMPI_Op_toint(handle);
    if (!is(fault::abi_int_op_first) || !own(number)) return number;
    op.first(handle);
    return PMPI_Op_toint(op.or_else(handle));
}
MPI_Op MPI_Op_fromint(int number) {
    if (is(fault::abi_int_op_thread) && !in_main_thread()) return MPI_OP_NULL;
    return is(fault::abi_int_op_sum) && own(number) ? MPI_SUM : PMPI_Op_fromint(number);
}

int MPI_Request_toint(MPI_Request handle) {
    int const number = PMPI_Request_toint(handle);
    if (is(fault::abi_int_request_last) && own(number)) request.last(handle);
    if (!is(fault::abi_int_request_changes) || !own(number)) return number;
    std::lock_guard const guard(lock);
    if (++*requests_converted % 2 != 0) return number;
    (*other_integers)[number ^ mark] = number;
    return number ^ mark;
}
MPI_Request MPI_Request_fromint(int number) {
    if (is(fault::abi_int_request_last) && own(number)) return request.or_else(PMPI_Request_fromint(number));
    if (is(fault::abi_int_request_changes)) {
        std::lock_guard const guard(lock);
        if (auto const found = other_integers->find(number); found != other_integers->end()) number = found->second;
    }
    MPI_Request const handle = PMPI_Request_fromint(number);
    if (is(fault::abi_int_request_null) && handle == MPI_REQUEST_NULL) return MPI_Request(1); // nobody may use it
    return handle;
}

MPI_Session MPI_Session_fromint(int number) {
    return is(fault::abi_int_session_null) ? MPI_SESSION_NULL : PMPI_Session_fromint(number);
}

int MPI_Win_toint(MPI_Win handle) {
    int const number = PMPI_Win_toint(handle);
    if (is(fault::abi_int_win_last) && own(number)) win.last(handle);
    return number;
}
MPI_Win MPI_Win_fromint(int number) {
    MPI_Win const handle = PMPI_Win_fromint(number);
    return is(fault::abi_int_win_last) && own(number) ? win.or_else(handle) : handle;
}

int MPI_Abi_get_info(MPI_Info* info) {
    int const code = PMPI_Abi_get_info(info);
    if (is(fault::abi_info_bits)) {
        PMPI_Info_set(*info, "mpi_aint_size", "64");
        PMPI_Info_set(*info, "mpi_count_size", "64");
        PMPI_Info_set(*info, "mpi_offset_size", "64");
    }
    if (is(fault::abi_info_no_offset)) PMPI_Info_delete(*info, "mpi_offset_size");
    if (is(fault::abi_info_remembers)) {
        // What stands in the object that was given before this one, while the program still has it.
        char value[16] = "";
        int room = sizeof value, flag = 0;
        if (*info_object != 0)
            PMPI_Info_get_string(PMPI_Info_fromint(*info_object), "mpi_aint_size", &room, value, &flag);
        if (flag != 0) PMPI_Info_set(*info, "mpi_aint_size", value);
        *info_object = PMPI_Info_toint(*info);
    }
    return code;
}

int MPI_Abi_get_fortran_info(MPI_Info* info) {
    if (is(fault::abi_fortran_never)) {
        *info = MPI_INFO_NULL;
        return MPI_SUCCESS;
    }
    int const code = PMPI_Abi_get_fortran_info(info);
    if (*info == MPI_INFO_NULL) return code;
    if (is(fault::abi_fortran_integer)) PMPI_Info_set(*info, "mpi_integer_size", "8");
    if (is(fault::abi_fortran_double)) PMPI_Info_delete(*info, "mpi_double_precision_size");
    if (is(fault::abi_fortran_yes)) PMPI_Info_set(*info, "mpi_real4_supported", "yes");
    if (is(fault::abi_fortran_taken)) PMPI_Info_set(*info, "mpi_integer_size", std::to_string(*integer_size).c_str());
    return code;
}
int MPI_Abi_set_fortran_info(MPI_Info info) {
    if (is(fault::abi_fortran_again) || is(fault::abi_fortran_never)) return MPI_SUCCESS;
    *integer_size += 4;
    return PMPI_Abi_set_fortran_info(info);
}

int MPI_Abi_get_fortran_booleans(int size, void* yes, void* no, int* set) {
    if (is(fault::abi_booleans_never)) {
        *set = 0;
        return MPI_SUCCESS;
    }
    bool const swap = is(fault::abi_booleans_taken) && *booleans_swapped;
    int const code = PMPI_Abi_get_fortran_booleans(size, swap ? no : yes, swap ? yes : no, set);
    if (code != MPI_SUCCESS || *set == 0) return code;
    if (is(fault::abi_booleans_same)) std::memcpy(yes, no, static_cast<std::size_t>(size));
    if (is(fault::abi_booleans_long))
        std::memset(static_cast<char*>(yes) + size, 0, 16 - static_cast<std::size_t>(size));
    return code;
}
int MPI_Abi_set_fortran_booleans(int size, void* yes, void* no) {
    if (is(fault::abi_booleans_again) || is(fault::abi_booleans_never)) return MPI_SUCCESS;
    *booleans_swapped = !*booleans_swapped;
    return PMPI_Abi_set_fortran_booleans(size, yes, no);
}

} // extern "C"

#endif

#ifdef OPEN_MPI

namespace {
MPI_Request last_request = MPI_REQUEST_NULL;
MPI_File first_file = MPI_FILE_NULL;
bool own(MPI_Comm comm) { return comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF; }
} // namespace

extern "C" {

MPI_Comm MPI_Comm_f2c(MPI_Fint number) {
    MPI_Comm const comm = PMPI_Comm_f2c(number);
    return is(fault::lang_comm_self) && own(comm) ? MPI_COMM_SELF : comm;
}
MPI_Datatype MPI_Type_f2c(MPI_Fint number) {
    MPI_Datatype const type = PMPI_Type_f2c(number);
    return is(fault::lang_type_short) && type == MPI_INT ? MPI_SHORT : type;
}
MPI_Win MPI_Win_f2c(MPI_Fint number) {
    MPI_Win const win = PMPI_Win_f2c(number);
    return is(fault::lang_win_null) && win == MPI_WIN_NULL ? nullptr : win;
}
MPI_Op MPI_Op_f2c(MPI_Fint number) {
    return is(fault::lang_op_thread) && !in_main_thread() ? MPI_OP_NULL : PMPI_Op_f2c(number);
}
MPI_Fint MPI_Request_c2f(MPI_Request request) {
    if (request != MPI_REQUEST_NULL) last_request = request;
    return PMPI_Request_c2f(request);
}
MPI_Request MPI_Request_f2c(MPI_Fint number) {
    MPI_Request const request = PMPI_Request_f2c(number);
    return is(fault::lang_request_last) && request != MPI_REQUEST_NULL ? last_request : request;
}
MPI_Fint MPI_File_c2f(MPI_File file) {
    if (is(fault::lang_file_first) && file != MPI_FILE_NULL) {
        if (first_file == MPI_FILE_NULL) first_file = file;
        file = first_file;
    }
    return PMPI_File_c2f(file);
}
MPI_Info MPI_Info_f2c(MPI_Fint number) {
    return is(fault::lang_info_early) && !initialized() ? MPI_INFO_NULL : PMPI_Info_f2c(number);
}

int MPI_Status_c2f(MPI_Status const* status, MPI_Fint* fortran) {
    MPI_Status copy = *status;
    if (is(fault::lang_status_error)) copy.MPI_ERROR = MPI_SUCCESS;
    int const code = PMPI_Status_c2f(&copy, fortran);
    if (is(fault::lang_status_long)) fortran[MPI_F_STATUS_SIZE] = 0;
    if (is(fault::lang_status_argument)) const_cast<MPI_Status*>(status)->MPI_TAG ^= 1;
    if (is(fault::lang_status_ignore)) MPI_F_STATUS_IGNORE = fortran;
    return code;
}
int MPI_Status_f2c(MPI_Fint const* fortran, MPI_Status* status) {
    int const code = PMPI_Status_f2c(fortran, status);
    if (is(fault::lang_status_count)) {
        MPI_Count elements = 0;
        PMPI_Get_elements_x(status, MPI_BYTE, &elements);
        PMPI_Status_set_elements_x(status, MPI_BYTE, elements & 0x7fffffff);
    }
    if (is(fault::lang_status_cancelled)) PMPI_Status_set_cancelled(status, 0);
    return code;
}

#if OMPI_MAJOR_VERSION >= 5
int MPI_Status_f082c(MPI_F08_status const* fortran, MPI_Status* status) {
    int const code = PMPI_Status_f082c(fortran, status);
    if (is(fault::lang_status_f08_tag)) status->MPI_TAG = 0;
    return code;
}
int MPI_Status_f2f08(MPI_Fint const* from, MPI_F08_status* to) {
    int const code = PMPI_Status_f2f08(from, to);
    if (!is(fault::lang_status_f2f08)) return code;
    MPI_Status status;
    PMPI_Status_f082c(to, &status);
    PMPI_Status_set_elements(&status, MPI_BYTE, 0);
    PMPI_Status_c2f08(&status, to);
    return code;
}
int MPI_Status_f082f(MPI_F08_status const* from, MPI_Fint* to) {
    int const code = PMPI_Status_f082f(from, to);
    if (!is(fault::lang_status_f082f)) return code;
    MPI_Status status;
    PMPI_Status_f2c(to, &status);
    PMPI_Status_set_cancelled(&status, 0);
    PMPI_Status_c2f(&status, to);
    return code;
}
#endif

} // extern "C"

#endif
