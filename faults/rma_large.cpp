// The forms of one-sided procedures with a large count: each access can do nothing, each window be made with another unit.
#include "core/windows.hpp"

using namespace assay_faults;

#if ASSAY_MPI4 && MPI_VERSION >= 4

namespace {

// The request of an access that does nothing.
int nothing(MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

} // namespace

extern "C" {

int MPI_Put_c(void const* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
              MPI_Count target_count, MPI_Datatype target_type, MPI_Win win) {
    if (is(fault::put_c_lost)) return MPI_SUCCESS;
    return PMPI_Put_c(origin, origin_count, origin_type, rank, at, target_count, target_type, win);
}

int MPI_Get_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
              MPI_Count target_count, MPI_Datatype target_type, MPI_Win win) {
    if (is(fault::get_c_lost)) return MPI_SUCCESS;
    return PMPI_Get_c(origin, origin_count, origin_type, rank, at, target_count, target_type, win);
}

int MPI_Accumulate_c(void const* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
                     MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
    if (is(fault::accumulate_c_lost)) return MPI_SUCCESS;
    return PMPI_Accumulate_c(origin, origin_count, origin_type, rank, at, target_count, target_type, op, win);
}

int MPI_Get_accumulate_c(void const* origin, MPI_Count origin_count, MPI_Datatype origin_type, void* result,
                         MPI_Count result_count, MPI_Datatype result_type, int rank, MPI_Aint at,
                         MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
    if (is(fault::get_accumulate_c_only_gets)) op = MPI_NO_OP;
    return PMPI_Get_accumulate_c(origin, origin_count, origin_type, result, result_count, result_type, rank, at,
                                 target_count, target_type, op, win);
}

int MPI_Rput_c(void const* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
               MPI_Count target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
    if (is(fault::rput_c_lost)) return nothing(request);
    return PMPI_Rput_c(origin, origin_count, origin_type, rank, at, target_count, target_type, win, request);
}

int MPI_Rget_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
               MPI_Count target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
    if (is(fault::rget_c_lost)) return nothing(request);
    return PMPI_Rget_c(origin, origin_count, origin_type, rank, at, target_count, target_type, win, request);
}

int MPI_Raccumulate_c(void const* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
                      MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request* request) {
    if (is(fault::raccumulate_c_lost)) return nothing(request);
    return PMPI_Raccumulate_c(origin, origin_count, origin_type, rank, at, target_count, target_type, op, win, request);
}

int MPI_Rget_accumulate_c(void const* origin, MPI_Count origin_count, MPI_Datatype origin_type, void* result,
                          MPI_Count result_count, MPI_Datatype result_type, int rank, MPI_Aint at,
                          MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                          MPI_Request* request) {
    if (is(fault::rget_accumulate_c_early)) { // complete before it begins
        *request = MPI_REQUEST_NULL;
        return hold([=] {
            return PMPI_Get_accumulate_c(origin, origin_count, origin_type, result, result_count, result_type, rank, at,
                                         target_count, target_type, op, win);
        });
    }
    return PMPI_Rget_accumulate_c(origin, origin_count, origin_type, result, result_count, result_type, rank, at,
                                  target_count, target_type, op, win, request);
}

int MPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return PMPI_Win_create_c(base, size, is(fault::create_c_unit_one) ? 1 : unit, info, comm, win);
}

int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win) {
    return PMPI_Win_allocate_c(size, is(fault::allocate_c_unit_one) ? 1 : unit, info, comm, base, win);
}

int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win) {
    return PMPI_Win_allocate_shared_c(size, is(fault::allocate_shared_c_unit_one) ? 1 : unit, info, comm, base, win);
}

int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* unit, void* base) {
    int const code = PMPI_Win_shared_query_c(win, rank, size, unit, base);
    if (is(fault::shared_query_c_short) && code == MPI_SUCCESS) --*size;
    return code;
}

} // extern "C"

#endif
