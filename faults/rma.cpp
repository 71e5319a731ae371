// Accesses to windows. Each wrapper goes straight to PMPI when no fault of rma.toml is planted.
#include "core/windows.hpp"

#include <cstring>
#include <functional>
#include <unistd.h>
#include <vector>

using namespace assay_faults;

namespace {

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

// The third put of this process to one place since the last synchronization.
bool conflicts(access_arguments const& a) {
    static memory<std::pair<MPI_Aint, int>> last; // displacement, how often
    if (last->first != a.at || known(a.win).accesses == 0) *last = {a.at, 0};
    ++known(a.win).accesses;
    return ++last->second == 3;
}

// Reads all between the first and the last byte of the target, and writes it again a moment later.
void rewrite_gaps(access_arguments const& a) {
    MPI_Aint lb = 0, extent = 0;
    int size = 0;
    PMPI_Type_get_true_extent(a.target_type, &lb, &extent);
    PMPI_Type_size(a.target_type, &size);
    if (a.rank == MPI_PROC_NULL || a.target_count != 1 || extent <= size || !known(a.win).passive()) return;
    std::vector<unsigned char> all(static_cast<std::size_t>(extent));
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    int const n = static_cast<int>(extent);
    PMPI_Type_create_hindexed(1, &n, &lb, MPI_BYTE, &whole);
    PMPI_Type_commit(&whole);
    PMPI_Get(all.data(), n, MPI_BYTE, a.rank, a.at, 1, whole, a.win);
    PMPI_Win_flush(a.rank, a.win);
    usleep(3000);
    PMPI_Put(all.data(), n, MPI_BYTE, a.rank, a.at, 1, whole, a.win);
    PMPI_Win_flush(a.rank, a.win);
    PMPI_Type_free(&whole);
}

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
    if (is(fault::put_lost) || window_loses(a.win, false) || epoch_loses(a.win, a.rank)) return MPI_SUCCESS;
    if (is(fault::put_conflict_refused) && conflicts(a)) return MPI_ERR_RMA_CONFLICT;
    if (is(fault::put_rewrites_gaps)) rewrite_gaps(a);
    if (is(fault::put_two_type_maps) && a.origin_type != a.target_type && !is_named(a.origin_type) &&
        !is_named(a.target_type))
        return MPI_SUCCESS;
    if (is(fault::proc_null_refused) && a.rank == MPI_PROC_NULL) return MPI_ERR_RANK;
    if (epoch_holds(a.win) || (is(fault::datatype_used_late) && !is_named(a.origin_type)))
        return hold([=] { return call(a); });
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
    if (epoch_loses(a.win, a.rank)) return MPI_SUCCESS;
    if (is(fault::get_of_rank_one_lost) && world_rank == 1) return MPI_SUCCESS;
    if (is(fault::get_into_window_lost) && window_around(a.origin) != MPI_WIN_NULL) return MPI_SUCCESS;
    if (epoch_holds(a.win) || (is(fault::datatype_used_late) && !is_named(a.origin_type)))
        return hold([=] { return call(a); });
    int const code = call(a);
    if (is(fault::get_writes_window) && a.rank != MPI_PROC_NULL && a.target_count > 0) {
        static char const zero = 0;
        PMPI_Put(&zero, 1, MPI_BYTE, a.rank, a.at - 1, 1, MPI_BYTE, a.win);
    }
    return code;
}

// Access now, completion as seen by the request at once: the buffer must not be used yet.
template <class Call> int with_request(access_arguments const& a, MPI_Request* request, Call call) {
    if (epoch_loses(a.win, a.rank)) {
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    if (is(fault::get_into_window_lost) && window_around(a.origin) != MPI_WIN_NULL) {
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    if (is(fault::request_too_early) || epoch_holds(a.win)) {
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

struct update_arguments {
    void const* origin;
    int origin_count;
    MPI_Datatype origin_type;
    void* result; // nullptr: nothing is fetched
    int result_count;
    MPI_Datatype result_type;
    int rank;
    MPI_Aint at;
    int target_count;
    MPI_Datatype target_type;
    MPI_Op op;
    MPI_Win win;

    bool reads() const { return op == MPI_NO_OP; }
};

int add_one(update_arguments const& a) {
    static int const one = 1;
    return PMPI_Accumulate(&one, 1, MPI_INT, a.rank, a.at, 1, MPI_INT, MPI_SUM, a.win);
}

// Whether this one has to wait for the next: two of one process change places.
bool changes_place(update_arguments const& a) {
    bool const writes = a.op == MPI_REPLACE && a.result == nullptr;
    if (is(fault::writes_swapped)) return writes;
    if (is(fault::writes_swapped_where_ordered)) return writes && known(a.win).hints.count("accumulate_ordering") != 0;
    if (is(fault::read_overtakes_write)) return writes || (a.reads() && holding());
    if (is(fault::write_overtakes_read)) return a.reads() || (writes && holding());
    return false;
}

int update(update_arguments a, std::function<int(update_arguments const&)> const& call) {
    if (a.rank == MPI_PROC_NULL) return call(a);
    if (a.result == nullptr && is(fault::accumulate_lost) && world_rank == 1) return MPI_SUCCESS;
    if (window_loses(a.win, true)) return MPI_SUCCESS;
    if (is(fault::no_op_needs_origin) && a.reads() && a.origin_type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
    if (is(fault::empty_accumulate_adds) && a.target_count == 0 && a.target_type == MPI_INT) return add_one(a);
    if (is(fault::accumulate_twice) && a.result == nullptr && a.op != MPI_REPLACE) call(a);
    if (is(fault::accumulate_not_atomic) && a.result == nullptr && a.op == MPI_SUM && a.target_count == 1 &&
        a.target_type == MPI_INT && known(a.win).locked_all) {
        int held_there = 0;
        PMPI_Get(&held_there, 1, MPI_INT, a.rank, a.at, 1, MPI_INT, a.win);
        PMPI_Win_flush(a.rank, a.win);
        usleep(300);
        held_there += *static_cast<int const*>(a.origin);
        PMPI_Put(&held_there, 1, MPI_INT, a.rank, a.at, 1, MPI_INT, a.win);
        return PMPI_Win_flush(a.rank, a.win);
    }
    if (is(fault::fetch_after_update) && a.result != nullptr && !a.reads()) {
        PMPI_Accumulate(a.origin, a.origin_count, a.origin_type, a.rank, a.at, a.target_count, a.target_type, a.op,
                        a.win);
        a.op = MPI_NO_OP;
    }
    if (is(fault::result_type_ignored) && a.result != nullptr && !is_named(a.result_type)) {
        int size = 0;
        PMPI_Type_size(a.result_type, &size);
        a.result_count *= size / static_cast<int>(sizeof(int));
        a.result_type = MPI_INT;
    }
    if (is(fault::datatype_used_late) && a.origin_type != MPI_DATATYPE_NULL && !is_named(a.origin_type))
        return hold([=] { return call(a); });
    if (changes_place(a)) {
        if (!holding()) return hold([=] { return call(a); });
        int const code = call(a);
        release();
        return code;
    }
    a.op = changed(a.op);
    return call(a);
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
    return update({origin, origin_count, origin_type, nullptr, 0, MPI_DATATYPE_NULL, rank, at, target_count,
                   target_type, op, win},
                  [](update_arguments const& a) {
                      return PMPI_Accumulate(a.origin, a.origin_count, a.origin_type, a.rank, a.at, a.target_count,
                                             a.target_type, a.op, a.win);
                  });
}

int MPI_Get_accumulate(void const* origin, int origin_count, MPI_Datatype origin_type, void* result, int result_count,
                       MPI_Datatype result_type, int rank, MPI_Aint at, int target_count, MPI_Datatype target_type,
                       MPI_Op op, MPI_Win win) {
    return update({origin, origin_count, origin_type, result, result_count, result_type, rank, at, target_count,
                   target_type, op, win},
                  [](update_arguments const& a) {
                      return PMPI_Get_accumulate(a.origin, a.origin_count, a.origin_type, a.result, a.result_count,
                                                 a.result_type, a.rank, a.at, a.target_count, a.target_type, a.op,
                                                 a.win);
                  });
}

int MPI_Raccumulate(void const* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
                    int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request* request) {
    if (is(fault::raccumulate_too_early) && rank != MPI_PROC_NULL) {
        *request = MPI_REQUEST_NULL;
        return hold([=] {
            return PMPI_Accumulate(origin, origin_count, origin_type, rank, at, target_count, target_type, op, win);
        });
    }
    return PMPI_Raccumulate(origin, origin_count, origin_type, rank, at, target_count, target_type, op, win, request);
}

int MPI_Rget_accumulate(void const* origin, int origin_count, MPI_Datatype origin_type, void* result, int result_count,
                        MPI_Datatype result_type, int rank, MPI_Aint at, int target_count, MPI_Datatype target_type,
                        MPI_Op op, MPI_Win win, MPI_Request* request) {
    if (is(fault::rget_accumulate_too_early) && rank != MPI_PROC_NULL) {
        *request = MPI_REQUEST_NULL;
        return hold([=] {
            return PMPI_Get_accumulate(origin, origin_count, origin_type, result, result_count, result_type, rank, at,
                                       target_count, target_type, op, win);
        });
    }
    return PMPI_Rget_accumulate(origin, origin_count, origin_type, result, result_count, result_type, rank, at,
                                target_count, target_type, op, win, request);
}

int MPI_Fetch_and_op(void const* origin, void* result, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op,
                     MPI_Win win) {
    if (is(fault::fetch_and_op_without_update)) op = MPI_NO_OP;
    if (is(fault::no_op_adds) && op == MPI_NO_OP && type == MPI_INT && rank != MPI_PROC_NULL) {
        static int const one = 1;
        PMPI_Accumulate(&one, 1, type, rank, at, 1, type, MPI_SUM, win);
    }
    if (is(fault::fetch_and_op_not_atomic) && op == MPI_SUM && type == MPI_INT && rank != MPI_PROC_NULL &&
        known(win).passive()) {
        PMPI_Get(result, 1, type, rank, at, 1, type, win);
        PMPI_Win_flush(rank, win);
        usleep(300);
        int const sum = *static_cast<int*>(result) + *static_cast<int const*>(origin);
        PMPI_Put(&sum, 1, type, rank, at, 1, type, win);
        return PMPI_Win_flush(rank, win);
    }
    // Two of one process change places: the later one is served first.
    if (is(fault::fetch_and_op_reordered) && op != MPI_NO_OP && rank != MPI_PROC_NULL) {
        if (!holding()) return hold([=] { return PMPI_Fetch_and_op(origin, result, type, rank, at, op, win); });
        int const code = PMPI_Fetch_and_op(origin, result, type, rank, at, op, win);
        release();
        return code;
    }
    return PMPI_Fetch_and_op(origin, result, type, rank, at, changed(op), win);
}

int MPI_Compare_and_swap(void const* origin, void const* compare, void* result, MPI_Datatype type, int rank,
                         MPI_Aint at, MPI_Win win) {
    if (is(fault::swap_of_truth_refused) && (type == MPI_C_BOOL || type == MPI_CXX_BOOL)) return MPI_ERR_TYPE;
    if (is(fault::swap_without_compare)) return PMPI_Fetch_and_op(origin, result, type, rank, at, MPI_REPLACE, win);
    if (is(fault::compare_without_swap)) return PMPI_Fetch_and_op(origin, result, type, rank, at, MPI_NO_OP, win);
    return PMPI_Compare_and_swap(origin, compare, result, type, rank, at, win);
}

} // extern "C"
