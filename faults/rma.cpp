// One-sided communication: windows, accesses and their synchronization. Each wrapper goes straight to PMPI when no fault
// of rma.toml is planted.
#include "core/core.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

using namespace assay_faults;

namespace {

// Accesses that are held back until the epoch ends. They are rank-local, and legal: an access may happen as late as that.
std::mutex held_lock;
memory<std::vector<std::function<int()>>> held;

int hold(std::function<int()> access) {
    std::lock_guard const lock(held_lock);
    held->push_back(std::move(access));
    return MPI_SUCCESS;
}

void release(bool drop = false) {
    std::lock_guard const lock(held_lock);
    if (!drop)
        for (auto const& access : *held) access();
    held->clear();
}

bool holds_back() {
    return is(fault::flush_too_early) || is(fault::fence_asserts_drop) || is(fault::nocheck_lock_drops) ||
           is(fault::win_test_early);
}

memory<bool> locked_without_check;

// A request that does not become MPI_REQUEST_NULL when it completes.
int lasting_request(MPI_Request* request) {
    return PMPI_Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

struct access_arguments {
    void* origin;
    int origin_count;
    MPI_Datatype origin_type;
    int rank;
    MPI_Aint at;
    int target_count;
    MPI_Datatype target_type;
    MPI_Win win;

    bool small_displacement() const { return at >= 0 && at < MPI_Aint{1} << 32; } // not an address
};

// What both puts and gets do wrong.
void spoil_arguments(access_arguments& a) {
    if (is(fault::displacement_32_bits) && a.at > 0 && (a.at >> 32) < 1024) a.at &= 0xffffffff; // no address
    if (is(fault::access_last_element_lost) && a.origin_type == a.target_type && a.origin_count > 0) {
        --a.origin_count;
        --a.target_count;
    }
    if (is(fault::target_type_ignored)) {
        a.target_type = a.origin_type;
        a.target_count = a.origin_count;
    }
    if (is(fault::no_data_moves) && a.rank != MPI_PROC_NULL) {
        int size = 0;
        PMPI_Type_size(a.target_type, &size);
        if (size == 0 || a.target_count == 0) {
            static char const zero = 0;
            PMPI_Put(&zero, 1, MPI_BYTE, a.rank, a.at - 1, 1, MPI_BYTE, a.win);
        }
    }
    if (is(fault::displacement_off) && a.rank != MPI_PROC_NULL && a.small_displacement()) a.at -= 1;
}

int put(access_arguments a, std::function<int(access_arguments const&)> const& call) {
    spoil_arguments(a);
    if (is(fault::put_lost)) return MPI_SUCCESS;
    if (is(fault::put_two_type_maps) && a.origin_type != a.target_type && !is_named(a.origin_type) &&
        !is_named(a.target_type))
        return MPI_SUCCESS;
    if (is(fault::proc_null_refused) && a.rank == MPI_PROC_NULL) return MPI_ERR_RANK;
    if (holds_back()) return hold([=] { return call(a); });
    int const code = call(a);
    if (is(fault::put_spoils_origin) && a.origin_count > 0) {
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_true_extent(a.origin_type, &lb, &extent);
        if (extent > 0) spoil(static_cast<char*>(a.origin) + lb);
    }
    if (is(fault::put_writes_beside) && a.rank != MPI_PROC_NULL) {
        static char const zero = 0;
        PMPI_Put(&zero, 1, MPI_BYTE, a.rank, a.at - 1, 1, MPI_BYTE, a.win);
    }
    return code;
}

int get(access_arguments a, std::function<int(access_arguments const&)> const& call) {
    spoil_arguments(a);
    if (is(fault::proc_null_writes) && a.rank == MPI_PROC_NULL && a.origin_count > 0) spoil(a.origin);
    if (holds_back()) return hold([=] { return call(a); });
    int const code = call(a);
    if (is(fault::get_writes_window) && a.rank != MPI_PROC_NULL && a.target_count > 0) {
        static char const zero = 0;
        PMPI_Put(&zero, 1, MPI_BYTE, a.rank, a.at - 1, 1, MPI_BYTE, a.win);
    }
    return code;
}

// Access now, completion as seen by the request at once: the buffer must not be used yet.
template <class Call> int with_request(access_arguments const& a, MPI_Request* request, Call call) {
    if (is(fault::request_too_early)) {
        *request = MPI_REQUEST_NULL;
        return hold([=] { return call(a); });
    }
    if (is(fault::access_request_kept)) {
        int const code = call(a);
        PMPI_Win_flush(a.rank, a.win);
        return code == MPI_SUCCESS ? lasting_request(request) : code;
    }
    return MPI_UNDEFINED;
}

MPI_Op changed(MPI_Op op) {
    if (is(fault::accumulate_replaces) && op != MPI_NO_OP) return MPI_REPLACE;
    return op;
}

} // namespace

extern "C" {

// ---- Accesses

int MPI_Put(void const* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win win) {
    return put({const_cast<void*>(origin), origin_count, origin_type, rank, at, target_count, target_type, win},
               [](access_arguments const& a) {
                   return PMPI_Put(a.origin, a.origin_count, a.origin_type, a.rank, a.at, a.target_count, a.target_type,
                                   a.win);
               });
}

int MPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win win) {
    return get({origin, origin_count, origin_type, rank, at, target_count, target_type, win},
               [](access_arguments const& a) {
                   return PMPI_Get(a.origin, a.origin_count, a.origin_type, a.rank, a.at, a.target_count, a.target_type,
                                   a.win);
               });
}

int MPI_Rput(void const* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at, int target_count,
             MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
    access_arguments const a{
        const_cast<void*>(origin), origin_count, origin_type, rank, at, target_count, target_type, win};
    int const code = with_request(a, request, [](access_arguments const& b) {
        return PMPI_Put(b.origin, b.origin_count, b.origin_type, b.rank, b.at, b.target_count, b.target_type, b.win);
    });
    if (code != MPI_UNDEFINED) return code;
    return PMPI_Rput(origin, origin_count, origin_type, rank, at, target_count, target_type, win, request);
}

int MPI_Rget(void* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at, int target_count,
             MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
    access_arguments const a{origin, origin_count, origin_type, rank, at, target_count, target_type, win};
    int const code = with_request(a, request, [](access_arguments const& b) {
        return PMPI_Get(b.origin, b.origin_count, b.origin_type, b.rank, b.at, b.target_count, b.target_type, b.win);
    });
    if (code != MPI_UNDEFINED) return code;
    return PMPI_Rget(origin, origin_count, origin_type, rank, at, target_count, target_type, win, request);
}

int MPI_Accumulate(void const* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
                   int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
    if (is(fault::accumulate_lost) && world_rank == 1) return MPI_SUCCESS;
    if (is(fault::accumulate_twice) && op != MPI_REPLACE)
        PMPI_Accumulate(origin, origin_count, origin_type, rank, at, target_count, target_type, op, win);
    return PMPI_Accumulate(origin, origin_count, origin_type, rank, at, target_count, target_type, changed(op), win);
}

int MPI_Get_accumulate(void const* origin, int origin_count, MPI_Datatype origin_type, void* result, int result_count,
                       MPI_Datatype result_type, int rank, MPI_Aint at, int target_count, MPI_Datatype target_type,
                       MPI_Op op, MPI_Win win) {
    if (is(fault::fetch_after_update) && op != MPI_NO_OP && rank != MPI_PROC_NULL) {
        PMPI_Accumulate(origin, origin_count, origin_type, rank, at, target_count, target_type, op, win);
        op = MPI_NO_OP;
    }
    return PMPI_Get_accumulate(origin, origin_count, origin_type, result, result_count, result_type, rank, at,
                               target_count, target_type, changed(op), win);
}

int MPI_Fetch_and_op(void const* origin, void* result, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op,
                     MPI_Win win) {
    if (is(fault::fetch_and_op_without_update)) op = MPI_NO_OP;
    // Two of one process change places: the later one is served first.
    if (is(fault::fetch_and_op_reordered) && op != MPI_NO_OP && rank != MPI_PROC_NULL) {
        bool second = false;
        {
            std::lock_guard const lock(held_lock);
            second = !held->empty();
        }
        if (!second) return hold([=] { return PMPI_Fetch_and_op(origin, result, type, rank, at, op, win); });
        int const code = PMPI_Fetch_and_op(origin, result, type, rank, at, op, win);
        release();
        return code;
    }
    return PMPI_Fetch_and_op(origin, result, type, rank, at, changed(op), win);
}

int MPI_Compare_and_swap(void const* origin, void const* compare, void* result, MPI_Datatype type, int rank,
                         MPI_Aint at, MPI_Win win) {
    if (is(fault::swap_without_compare)) return PMPI_Fetch_and_op(origin, result, type, rank, at, MPI_REPLACE, win);
    if (is(fault::compare_without_swap)) return PMPI_Fetch_and_op(origin, result, type, rank, at, MPI_NO_OP, win);
    return PMPI_Compare_and_swap(origin, compare, result, type, rank, at, win);
}

// ---- Synchronization

int MPI_Win_fence(int assertion, MPI_Win win) {
    release(is(fault::fence_asserts_drop) && assertion != 0);
    return PMPI_Win_fence(assertion, win);
}

int MPI_Win_complete(MPI_Win win) {
    if (is(fault::win_test_early)) usleep(20000);
    release();
    return PMPI_Win_complete(win);
}

int MPI_Win_test(MPI_Win win, int* flag) {
    if (!is(fault::win_test_early)) return PMPI_Win_test(win, flag);
    *flag = 1; // whoever frees the window waits in earnest
    std::lock_guard const lock(held_lock);
    held->push_back([win] { return PMPI_Win_wait(win); });
    return MPI_SUCCESS;
}

int MPI_Win_lock(int kind, int rank, int assertion, MPI_Win win) {
    *locked_without_check = (assertion & MPI_MODE_NOCHECK) != 0;
    if (is(fault::exclusive_lock_shared)) kind = MPI_LOCK_SHARED;
    return PMPI_Win_lock(kind, rank, assertion, win);
}

int MPI_Win_unlock(int rank, MPI_Win win) {
    release(is(fault::nocheck_lock_drops) && *locked_without_check);
    return PMPI_Win_unlock(rank, win);
}

int MPI_Win_unlock_all(MPI_Win win) {
    release();
    return PMPI_Win_unlock_all(win);
}

int MPI_Win_flush(int rank, MPI_Win win) {
    if (is(fault::exclusive_lock_shared)) {
        int const code = PMPI_Win_flush(rank, win);
        usleep(2000); // time for others to come between
        return code;
    }
    return PMPI_Win_flush(rank, win);
}

// ---- Windows

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    int const code = PMPI_Win_create(base, size, is(fault::displacement_unit_one) ? 1 : unit, info, comm, win);
    if (is(fault::window_returns_errors) && code == MPI_SUCCESS) PMPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
    return code;
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win) {
    int const code = PMPI_Win_allocate(size, unit, info, comm, base, win);
    if (is(fault::win_allocate_apart) && code == MPI_SUCCESS && size > 0 && size < 64) {
        static unsigned char apart[64];
        *static_cast<void**>(base) = apart;
    }
    return code;
}

int MPI_Win_free(MPI_Win* win) {
    release();
    MPI_Win const before = *win;
    int const code = PMPI_Win_free(win);
    if (is(fault::win_free_keeps_handle)) *win = before;
    return code;
}

int MPI_Win_get_attr(MPI_Win win, int key, void* value, int* flag) {
    int const code = PMPI_Win_get_attr(win, key, value, flag);
    if (is(fault::win_size_wrong) && key == MPI_WIN_SIZE && *flag) {
        static thread_local MPI_Aint wrong;
        wrong = **static_cast<MPI_Aint**>(value) + 1;
        *static_cast<MPI_Aint**>(value) = &wrong;
    }
    if (is(fault::win_flavor_wrong) && key == MPI_WIN_CREATE_FLAVOR && *flag) {
        static int wrong = MPI_WIN_FLAVOR_CREATE;
        *static_cast<int**>(value) = &wrong;
    }
    if (is(fault::win_model_missing) && key == MPI_WIN_MODEL) *flag = 0;
    return code;
}

int MPI_Win_get_group(MPI_Win win, MPI_Group* group) {
    if (!is(fault::win_group_reversed)) return PMPI_Win_get_group(win, group);
    MPI_Group straight = MPI_GROUP_NULL;
    int const code = PMPI_Win_get_group(win, &straight);
    int size = 0;
    PMPI_Group_size(straight, &size);
    int range[1][3] = {{size - 1, 0, -1}};
    PMPI_Group_range_incl(straight, 1, range, group);
    PMPI_Group_free(&straight);
    return code;
}

int MPI_Win_set_name(MPI_Win win, char const* name) {
    std::string text = name;
    if (is(fault::win_name_longest_cut) && text.size() >= MPI_MAX_OBJECT_NAME - 1) text.resize(MPI_MAX_OBJECT_NAME - 2);
    return PMPI_Win_set_name(win, text.c_str());
}

int MPI_Win_get_name(MPI_Win win, char* name, int* length) {
    int const code = PMPI_Win_get_name(win, name, length);
    if (is(fault::win_name_length)) *length += 1;
    return code;
}

int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* unit, void* base) {
    int const code = PMPI_Win_shared_query(win, is(fault::shared_query_own) ? 0 : rank, size, unit, base);
    if (is(fault::shared_query_rounded)) *size = (*size + 7) / 8 * 8;
    if (is(fault::shared_query_short) && *size > 0) --*size;
    return code;
}

} // extern "C"
