// What a library says of itself and of its objects.
#include "core.hpp"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

using namespace assay_faults;

namespace {

bool in_finalize = false;
bool in_session = false;
bool tools_closed = false; // once, since it was opened last

std::map<void*, void*> moved; // address given to the user → that of MPI_Alloc_mem
void* first_block = nullptr;

[[noreturn]] void hang() {
    for (;;) pause(); // signals end it: the runner asks hanging processes where they are
}

// The value of a key of an info as a number, 0 if it is not there.
long number_in(MPI_Info info, char const* key) {
    char value[64] = "";
    int flag = 0;
    if (info != MPI_INFO_NULL) PMPI_Info_get(info, key, sizeof value - 1, value, &flag);
    return flag != 0 ? std::atol(value) : 0;
}

} // namespace

extern "C" {

int MPI_Get_version(int* version, int* subversion) {
    int const code = PMPI_Get_version(version, subversion);
    if (planted == fault::version_unknown) *subversion = 7;
    return code;
}

int MPI_Get_library_version(char* text, int* length) {
    int const code = PMPI_Get_library_version(text, length);
    if (planted == fault::library_version_length) *length += 1;
    if (planted == fault::library_version_overflow) text[MPI_MAX_LIBRARY_VERSION_STRING] = '\0';
    return code;
}

int MPI_Type_dup(MPI_Datatype old, MPI_Datatype* copy) {
    if (planted == fault::type_dup_extent) {
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_extent(old, &lb, &extent);
        PMPI_Type_create_resized(old, lb, extent + 64, copy);
        return PMPI_Type_commit(copy);
    }
    if (planted == fault::dup_loses_lower_bound) {
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_extent(old, &lb, &extent);
        if (lb < 0) {
            PMPI_Type_create_resized(old, 0, extent, copy);
            return PMPI_Type_commit(copy);
        }
    }
    int const code = PMPI_Type_dup(old, copy);
    if (planted == fault::dup_keeps_name && code == MPI_SUCCESS) {
        char name[MPI_MAX_OBJECT_NAME];
        int length = 0;
        PMPI_Type_get_name(old, name, &length);
        PMPI_Type_set_name(*copy, name);
    }
    return code;
}

int MPI_Cart_map(MPI_Comm comm, int dimensions, int const dims[], int const periods[], int* rank) {
    int const code = PMPI_Cart_map(comm, dimensions, dims, periods, rank);
    if (planted == fault::cart_map_same && *rank != MPI_UNDEFINED) *rank = 0;
    if (planted == fault::cart_map_everybody && *rank == MPI_UNDEFINED) MPI_Comm_rank(comm, rank);
    return code;
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int dimensions, int coordinates[]) {
    int const code = PMPI_Cart_coords(comm, rank, dimensions, coordinates);
    if (planted == fault::cart_coords_plus_one && dimensions > 0) coordinates[0] += 1;
    return code;
}

int MPI_Initialized(int* flag) {
    int const code = PMPI_Initialized(flag);
    if (is(fault::initialized_early)) *flag = 1;
    if (is(fault::initialized_forgets) && finalized()) *flag = 0;
    if (is(fault::initialized_by_session) && in_session) *flag = 1;
    return code;
}

int MPI_Finalized(int* flag) {
    int const code = PMPI_Finalized(flag);
    if (is(fault::finalized_early) && initialized()) *flag = 1;
    if (is(fault::finalized_never)) *flag = 0;
    if (is(fault::finalized_in_callbacks) && in_finalize) *flag = 1;
    return code;
}

int MPI_Finalize() {
    if (is(fault::finalize_calls_in_order))
        for (int key : keys_of_self) PMPI_Comm_delete_attr(MPI_COMM_SELF, key);
    in_finalize = true;
    int const code = PMPI_Finalize();
    in_finalize = false;
    if (is(fault::finalize_returns_error)) return MPI_ERR_OTHER;
    if (is(fault::finalize_hangs) && world_rank == 0) hang();
    return code;
}

int MPI_Abort(MPI_Comm comm, int error) {
    if (is(fault::abort_returns)) return MPI_SUCCESS;
    if (is(fault::abort_of_self_returns) && comm == MPI_COMM_SELF) return MPI_SUCCESS;
    if (is(fault::abort_of_copy_hangs) && comm != MPI_COMM_SELF && comm != MPI_COMM_WORLD) hang();
    return PMPI_Abort(comm, is(fault::abort_other_code) ? error + 1 : error);
}

double MPI_Wtime() {
    static int calls = 0;
    double const now = PMPI_Wtime();
    if (is(fault::wtime_milliseconds)) return now * 1000;
    if (is(fault::wtime_goes_back) && ++calls % 100 == 0) return now - 1;
    if (is(fault::wtime_coarse)) return std::floor(now / 1000) * 1000;
    if (is(fault::wtime_pretends) && world_rank == 1) return now - 100;
    return now;
}

double MPI_Wtick() { return is(fault::wtick_zero) ? 0 : PMPI_Wtick(); }

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* base) {
    auto** const address = static_cast<void**>(base);
    if (is(fault::alloc_mem_error_class) && size < 0) return MPI_ERR_OTHER;
    if (is(fault::alloc_mem_exhausted_crashes) && size > MPI_Aint(1) << 50) raise(SIGSEGV);
    long const wanted = number_in(info, "mpi_minimum_memory_alignment");
    if (is(fault::alloc_mem_again) && size == 24) {
        if (first_block == nullptr) PMPI_Alloc_mem(size, MPI_INFO_NULL, &first_block);
        *address = first_block;
        return MPI_SUCCESS;
    }
    long const shift = is(fault::alloc_mem_odd) && size == 4099                ? 1
                       : is(fault::alloc_mem_alignment_ignored) && wanted > 64 ? 64
                                                                               : 0;
    if (shift == 0) return PMPI_Alloc_mem(size, info, base);
    void* whole = nullptr;
    int const code = PMPI_Alloc_mem(size + shift, info, &whole);
    if (code != MPI_SUCCESS) return code;
    *address = static_cast<char*>(whole) + shift;
    moved[*address] = whole;
    return code;
}

int MPI_Free_mem(void* base) {
    if (is(fault::free_mem_leaks)) return MPI_SUCCESS;
    if (base == first_block && base != nullptr) return MPI_SUCCESS;
    if (auto const found = moved.find(base); found != moved.end()) {
        base = found->second;
        moved.erase(found);
    }
    return PMPI_Free_mem(base);
}

int MPI_Get_processor_name(char* name, int* length) {
    int const code = PMPI_Get_processor_name(name, length);
    if (is(fault::processor_name_length)) *length += 1;
    if (is(fault::processor_name_overflow)) name[MPI_MAX_PROCESSOR_NAME] = '\0';
    if (is(fault::processor_name_unprintable)) name[0] = '\t';
    return code;
}

int MPI_Pcontrol(int const level, ...) {
    return is(fault::pcontrol_refuses) && level == 17 ? MPI_ERR_ARG : MPI_SUCCESS;
}

int MPI_T_init_thread(int required, int* provided) {
    tools_closed = false;
    return PMPI_T_init_thread(required, provided);
}

int MPI_T_finalize(void) {
    tools_closed = true;
    return PMPI_T_finalize();
}

int MPI_T_cvar_get_num(int* n) {
    return is(fault::tools_closed_at_once) && tools_closed ? MPI_T_ERR_NOT_INITIALIZED : PMPI_T_cvar_get_num(n);
}

#if ASSAY_MPI4
int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
    if (is(fault::session_init_handler)) handler = MPI_ERRORS_ARE_FATAL;
    in_session = true;
    return PMPI_Session_init(info, handler, session);
}

int MPI_Session_finalize(MPI_Session* session) {
    auto const before = *session;
    int const code = PMPI_Session_finalize(session);
    if (is(fault::session_finalize_keeps_handle)) *session = before;
    return code;
}

int MPI_Session_get_info(MPI_Session session, MPI_Info* used) {
    int const code = PMPI_Session_get_info(session, used);
    if (is(fault::session_kinds_of_nobody) && code == MPI_SUCCESS)
        PMPI_Info_set(*used, "mpi_memory_alloc_kinds", "mpi,system,mpi:alloc_mem,assay_has_no_such_kind");
    return code;
}
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int MPI_Get_hw_resource_info(MPI_Info* info) {
    static MPI_Info only = MPI_INFO_NULL;
    if (is(fault::hw_resources_same_object) && only != MPI_INFO_NULL) return PMPI_Info_dup(only, info);
    int const code = PMPI_Get_hw_resource_info(info);
    if (is(fault::hw_resources_same_object)) only = *info;
    if (is(fault::hw_resources_maybe)) PMPI_Info_set(*info, "hwloc://Core", "maybe");
    if (is(fault::hw_resources_no_uri)) PMPI_Info_set(*info, "Core", "false");
    return code;
}

#endif

#if MPI_VERSION >= 5
int MPI_Abi_get_version(int* major, int* minor) {
    int const code = PMPI_Abi_get_version(major, minor);
    if (is(fault::abi_version_zero)) *major = 0;
    return code;
}
#endif

} // extern "C"
