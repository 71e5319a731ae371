// What a library says of itself and of its objects.
#include "core/core.hpp"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

using namespace assay_faults;

namespace {

bool in_finalize = false;
memory<bool> in_session;

// What MPI_Alloc_mem gave, by the address that the user has.
struct block {
    void* whole;
    MPI_Aint size;
};
std::mutex blocks_lock;
std::map<void const*, block> blocks;
constexpr MPI_Aint small = 64; // bytes
memory<void*> first_block;

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

// What the predefined communicators begin with.
void initialized_handlers() {
    if (planted == fault::world_returns_errors) PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (planted == fault::self_returns_errors) PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

} // namespace

bool assay_faults::is_allocated(void const* address) {
    std::lock_guard const lock(blocks_lock);
    auto const next = blocks.upper_bound(address);
    if (next == blocks.begin()) return false;
    auto const& [start, found] = *std::prev(next);
    return static_cast<char const*>(address) < static_cast<char const*>(start) + found.size;
}

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    read_environment();
    if (planted == fault::init_null_refused && argc == nullptr) return MPI_ERR_ARG;
    static bool before = false;
    if (planted == fault::init_again_crashes && before) raise(SIGSEGV);
    if (planted == fault::init_again_succeeds && before) return MPI_SUCCESS;
    before = true;
    int const code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS && !idle()) learn_rank();
    initialized_handlers();
    return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    read_environment();
    int const code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS && !idle()) learn_rank();
    initialized_handlers();
    if (planted == fault::init_thread_no_level && required == MPI_THREAD_SERIALIZED) *provided = 1 << 20;
    if (planted == fault::init_thread_asked && required == MPI_THREAD_FUNNELED)
        *provided = *provided == MPI_THREAD_MULTIPLE ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
    return code;
}

int MPI_Get_version(int* version, int* subversion) {
    int const code = PMPI_Get_version(version, subversion);
    if (planted == fault::version_unknown) {
        *version = 3;
        *subversion = 7;
    }
    return code;
}

int MPI_Get_library_version(char* text, int* length) {
    int const code = PMPI_Get_library_version(text, length);
    if (planted == fault::library_version_length) *length += 1;
    if (planted == fault::library_version_overflow) text[MPI_MAX_LIBRARY_VERSION_STRING] = '\0';
    return code;
}

int MPI_Initialized(int* flag) {
    int const code = PMPI_Initialized(flag);
    if (is(fault::initialized_early)) *flag = 1;
    if (is(fault::initialized_forgets) && finalized()) *flag = 0;
    if (is(fault::initialized_by_session) && *in_session) *flag = 1;
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
    static memory<int> calls;
    double const now = PMPI_Wtime();
    if (is(fault::wtime_milliseconds)) return now * 1000;
    if (is(fault::wtime_goes_back) && ++*calls % 100 == 0) return now - 1;
    if (is(fault::wtime_coarse)) return std::floor(now / 1000) * 1000;
    if (is(fault::wtime_pretends) && world_rank == 1) return now - 100;
    return now;
}

double MPI_Wtick() { return is(fault::wtick_zero) ? 0 : PMPI_Wtick(); }

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* base) {
    if (idle()) return PMPI_Alloc_mem(size, info, base);
    auto** const address = static_cast<void**>(base);
    if (is(fault::alloc_mem_error_class) && size < 0) return MPI_ERR_OTHER;
    if (is(fault::alloc_mem_exhausted_crashes) && size > MPI_Aint(1) << 50) raise(SIGSEGV);
    long const wanted = number_in(info, "mpi_minimum_memory_alignment");
    if (is(fault::alloc_mem_again) && size <= small) {
        if (*first_block == nullptr) PMPI_Alloc_mem(small, MPI_INFO_NULL, &*first_block);
        *address = *first_block;
        return MPI_SUCCESS;
    }
    long const shift = is(fault::alloc_mem_odd) && size % 8 != 0               ? 1
                       : is(fault::alloc_mem_alignment_ignored) && wanted > 64 ? 64
                                                                               : 0;
    void* whole = nullptr;
    int const code = PMPI_Alloc_mem(size + shift, info, &whole);
    if (code != MPI_SUCCESS) return code;
    *address = static_cast<char*>(whole) + shift;
    std::lock_guard const lock(blocks_lock);
    blocks[*address] = {whole, size};
    return code;
}

int MPI_Free_mem(void* base) {
    if (is(fault::free_mem_leaks)) return MPI_SUCCESS;
    if (base == *first_block && base != nullptr) return MPI_SUCCESS;
    {
        std::lock_guard const lock(blocks_lock);
        if (auto const found = blocks.find(base); found != blocks.end()) {
            base = found->second.whole;
            blocks.erase(found);
        }
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

int MPI_Pcontrol(int const level, ...) { return is(fault::pcontrol_refuses) && level > 2 ? MPI_ERR_ARG : MPI_SUCCESS; }

#if ASSAY_MPI4
int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
    if (is(fault::session_init_handler)) handler = MPI_ERRORS_ARE_FATAL;
    *in_session = true;
    return PMPI_Session_init(info, handler, session);
}

int MPI_Session_finalize(MPI_Session* session) {
    auto const before = *session;
    int const code = PMPI_Session_finalize(session);
    if (is(fault::session_finalize_keeps_handle)) *session = before;
    return code;
}

int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* sets) {
    int const code = PMPI_Session_get_num_psets(session, info, sets);
    if (is(fault::psets_one_too_few)) --*sets;
    return code;
}

int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* length, char* name) {
    int const room = *length;
    int needed = 0;
    if (is(fault::pset_name_without_end)) PMPI_Session_get_nth_pset(session, info, n, &needed, name);
    int const code = PMPI_Session_get_nth_pset(session, info, n, length, name);
    if (room > 0 && room < needed) name[room - 1] = 'x';
    return code;
}

int MPI_Session_get_pset_info(MPI_Session session, char const* name, MPI_Info* info) {
    int const code = PMPI_Session_get_pset_info(session, name, info);
    if (is(fault::pset_size_one) && code == MPI_SUCCESS) PMPI_Info_set(*info, "mpi_size", "1");
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
    static memory<MPI_Info> only(MPI_INFO_NULL);
    if (is(fault::hw_resources_same_object) && *only != MPI_INFO_NULL) return PMPI_Info_dup(*only, info);
    int const code = PMPI_Get_hw_resource_info(info);
    if (is(fault::hw_resources_same_object)) *only = *info;
    if (is(fault::hw_resources_maybe)) PMPI_Info_set(*info, "hwloc://Core", "maybe");
    if (is(fault::hw_resources_no_uri)) PMPI_Info_set(*info, "Core", "false");
    return code;
}

#endif

#if MPI_VERSION >= 5
int MPI_Abi_get_version(int* major, int* minor) {
    int const code = PMPI_Abi_get_version(major, minor);
    if (is(fault::abi_version_zero) || (is(fault::abi_version_thread) && !in_main_thread())) *major = 0;
    if (is(fault::abi_version_half)) *minor = -1;
    if (is(fault::abi_version_two)) *major = 2;
    return code;
}
#endif

} // extern "C"
