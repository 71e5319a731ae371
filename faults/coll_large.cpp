// The collective procedures with large counts: a fault of the blocking form of each, one of all nonblocking and one of all
// persistent forms.
#include "core/coll.hpp"

#include <list>
#include <vector>

using namespace assay_faults;

#if MPI_VERSION >= 4

namespace {

// The last of several displacements, or counts, is one too small.
template <class Number> void shift(Number const*& numbers, int n) {
    static std::list<std::vector<Number>> kept;
    if (numbers == nullptr || n < 1) return;
    auto& changed = kept.emplace_back(numbers, numbers + n);
    if (changed.back() > 0) --changed.back();
    numbers = changed.data();
}

} // namespace

extern "C" {

// Edit is what goes wrong.
#define LARGE(Name, Iname, Planted, Parameters, Arguments, Edit)                                                       \
    int MPI_##Name##_c(UNPACK Parameters) {                                                                            \
        if (planted == fault::Planted) Edit;                                                                           \
        return PMPI_##Name##_c(UNPACK Arguments);                                                                      \
    }                                                                                                                  \
    int MPI_##Iname##_c(UNPACK Parameters, MPI_Request* request) {                                                     \
        if (planted == fault::large_nonblocking) Edit;                                                                 \
        return PMPI_##Iname##_c(UNPACK Arguments, request);                                                            \
    }                                                                                                                  \
    int MPI_##Name##_init_c(UNPACK Parameters, MPI_Info info, MPI_Request* request) {                                  \
        if (planted == fault::large_persistent) Edit;                                                                  \
        return PMPI_##Name##_init_c(UNPACK Arguments, info, request);                                                  \
    }

LARGE(Bcast, Ibcast, large_bcast, (void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm),
      (buffer, count, type, root, comm), shorten(count))
LARGE(Gather, Igather, large_gather,
      (void const* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count, MPI_Datatype in_type,
       int root, MPI_Comm comm),
      (out, out_count, out_type, in, in_count, in_type, root, comm), (shorten(out_count), shorten(in_count)))
LARGE(Scatter, Iscatter, large_scatter,
      (void const* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count, MPI_Datatype in_type,
       int root, MPI_Comm comm),
      (out, out_count, out_type, in, in_count, in_type, root, comm), (shorten(out_count), shorten(in_count)))
LARGE(Allgather, Iallgather, large_allgather,
      (void const* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count, MPI_Datatype in_type,
       MPI_Comm comm),
      (out, out_count, out_type, in, in_count, in_type, comm), (shorten(out_count), shorten(in_count)))
LARGE(Alltoall, Ialltoall, large_alltoall,
      (void const* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count, MPI_Datatype in_type,
       MPI_Comm comm),
      (out, out_count, out_type, in, in_count, in_type, comm), (shorten(out_count), shorten(in_count)))
LARGE(Neighbor_allgather, Ineighbor_allgather, large_neighbor_allgather,
      (void const* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count, MPI_Datatype in_type,
       MPI_Comm comm),
      (out, out_count, out_type, in, in_count, in_type, comm), (shorten(out_count), shorten(in_count)))
LARGE(Neighbor_alltoall, Ineighbor_alltoall, large_neighbor_alltoall,
      (void const* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count in_count, MPI_Datatype in_type,
       MPI_Comm comm),
      (out, out_count, out_type, in, in_count, in_type, comm), (shorten(out_count), shorten(in_count)))
LARGE(Gatherv, Igatherv, large_gatherv,
      (void const* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count const* counts,
       MPI_Aint const* displacements, MPI_Datatype in_type, int root, MPI_Comm comm),
      (out, out_count, out_type, in, counts, displacements, in_type, root, comm),
      shift(displacements, role_in(comm, root).root ? role_in(comm, root).partners : 0))
LARGE(Scatterv, Iscatterv, large_scatterv,
      (void const* out, MPI_Count const* counts, MPI_Aint const* displacements, MPI_Datatype out_type, void* in,
       MPI_Count in_count, MPI_Datatype in_type, int root, MPI_Comm comm),
      (out, counts, displacements, out_type, in, in_count, in_type, root, comm),
      shift(displacements, role_in(comm, root).root ? role_in(comm, root).partners : 0))
LARGE(Allgatherv, Iallgatherv, large_allgatherv,
      (void const* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count const* counts,
       MPI_Aint const* displacements, MPI_Datatype in_type, MPI_Comm comm),
      (out, out_count, out_type, in, counts, displacements, in_type, comm),
      shift(displacements, role_in(comm, 0).partners))
LARGE(Neighbor_allgatherv, Ineighbor_allgatherv, large_neighbor_allgatherv,
      (void const* out, MPI_Count out_count, MPI_Datatype out_type, void* in, MPI_Count const* counts,
       MPI_Aint const* displacements, MPI_Datatype in_type, MPI_Comm comm),
      (out, out_count, out_type, in, counts, displacements, in_type, comm),
      shift(displacements, static_cast<int>(near_in(comm).from.size())))
LARGE(Alltoallv, Ialltoallv, large_alltoallv,
      (void const* out, MPI_Count const* out_counts, MPI_Aint const* out_displacements, MPI_Datatype out_type, void* in,
       MPI_Count const* in_counts, MPI_Aint const* in_displacements, MPI_Datatype in_type, MPI_Comm comm),
      (out, out_counts, out_displacements, out_type, in, in_counts, in_displacements, in_type, comm),
      shift(in_displacements, role_in(comm, 0).partners))
LARGE(Alltoallw, Ialltoallw, large_alltoallw,
      (void const* out, MPI_Count const* out_counts, MPI_Aint const* out_displacements, MPI_Datatype const* out_types,
       void* in, MPI_Count const* in_counts, MPI_Aint const* in_displacements, MPI_Datatype const* in_types,
       MPI_Comm comm),
      (out, out_counts, out_displacements, out_types, in, in_counts, in_displacements, in_types, comm),
      shift(in_displacements, role_in(comm, 0).partners))
LARGE(Neighbor_alltoallv, Ineighbor_alltoallv, large_neighbor_alltoallv,
      (void const* out, MPI_Count const* out_counts, MPI_Aint const* out_displacements, MPI_Datatype out_type, void* in,
       MPI_Count const* in_counts, MPI_Aint const* in_displacements, MPI_Datatype in_type, MPI_Comm comm),
      (out, out_counts, out_displacements, out_type, in, in_counts, in_displacements, in_type, comm),
      shift(in_displacements, static_cast<int>(near_in(comm).from.size())))
LARGE(Neighbor_alltoallw, Ineighbor_alltoallw, large_neighbor_alltoallw,
      (void const* out, MPI_Count const* out_counts, MPI_Aint const* out_displacements, MPI_Datatype const* out_types,
       void* in, MPI_Count const* in_counts, MPI_Aint const* in_displacements, MPI_Datatype const* in_types,
       MPI_Comm comm),
      (out, out_counts, out_displacements, out_types, in, in_counts, in_displacements, in_types, comm),
      shift(in_displacements, static_cast<int>(near_in(comm).from.size())))
LARGE(Reduce, Ireduce, large_reduce,
      (void const* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
      (out, in, count, type, op, root, comm), shorten(count))
LARGE(Allreduce, Iallreduce, large_allreduce,
      (void const* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (out, in, count, type, op, comm), shorten(count))
LARGE(Scan, Iscan, large_scan,
      (void const* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (out, in, count, type, op, comm), shorten(count))
LARGE(Exscan, Iexscan, large_exscan,
      (void const* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (out, in, count, type, op, comm), shorten(count))
LARGE(Reduce_scatter_block, Ireduce_scatter_block, large_reduce_scatter_block,
      (void const* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (out, in, count, type, op, comm), shorten(count))
LARGE(Reduce_scatter, Ireduce_scatter, large_reduce_scatter,
      (void const* out, void* in, MPI_Count const* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (out, in, counts, type, op, comm), shift(counts, role_in(comm, 0).inter ? 0 : role_in(comm, 0).partners))

int MPI_Reduce_local_c(void const* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op) {
    if (planted == fault::large_reduce_local) shorten(count);
    return PMPI_Reduce_local_c(in, inout, count, type, op);
}

} // extern "C"
#endif
