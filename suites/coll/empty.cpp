// Blocks without data that the processes describe differently: no elements of a datatype, or one element of an empty one.
// Both have the same, empty type signature (MPI-5.0 sections 6.4 to 6.8).
#include "suites/coll/collective.hpp"

#include "mpi_calls.hpp"

using namespace assay;
using namespace assay::coll;

namespace {
enum class call { bcast, gather, scatter, allgather, alltoall };
axis<call> const calls("call", {{{"bcast", "", "MPI_Bcast", nullptr}, call::bcast},
                                {{"gather", "", "MPI_Gather", nullptr}, call::gather},
                                {{"scatter", "", "MPI_Scatter", nullptr}, call::scatter},
                                {{"allgather", "", "MPI_Allgather", nullptr}, call::allgather},
                                {{"alltoall", "", "MPI_Alltoall", nullptr}, call::alltoall}});
} // namespace

ASSAY_TEST(coll, empty_signature, requirements{"coll.signature"},
           over(axis_use{&calls},
                only(comm_axis(), [](communicator const& c) { return c.name == "world" || c.name == "inter_halved"; }),
                only(type_axis(), [](datatype const& t) { return t.name == "int"; }))) {
    block const nothing(mpi, 0, mpi.rank % 2 != mpi.side);
    int const root = !mpi.inter || mpi.side == 1 ? 0 : mpi.rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm comm =
        MPI_COMM_NULL; // of its own: what one side sends and the other never receives must not disturb others
    mpi.ok(MPI_Comm_dup(mpi.comm, &comm));
    auto& out = mpi.incoming(1);
    auto& in = mpi.incoming(1);
    switch (mpi.at(calls)) {
    case call::bcast: mpi.ok(MPI_Bcast(in, nothing.count, nothing.type, root, comm)); break;
    case call::gather:
        mpi.ok(MPI_Gather(out, nothing.count, nothing.type, in, nothing.count, nothing.type, root, comm));
        break;
    case call::scatter:
        mpi.ok(MPI_Scatter(out, nothing.count, nothing.type, in, nothing.count, nothing.type, root, comm));
        break;
    case call::allgather:
        mpi.ok(MPI_Allgather(out, nothing.count, nothing.type, in, nothing.count, nothing.type, comm));
        break;
    case call::alltoall:
        mpi.ok(MPI_Alltoall(out, nothing.count, nothing.type, in, nothing.count, nothing.type, comm));
        break;
    }
    mpi.ok(MPI_Comm_free(&comm));
    in.expect_untouched();
    out.expect_untouched();
}
