// Blocks without data that the processes describe differently: no elements of a datatype, or one element of an empty one.
// Both have the same, empty type signature (MPI-5.0 sections 6.4 and 6.7). Libraries tend to wait forever here, which
// costs a run a lot of time: two cases have to do.
#include "suites/coll/collective.hpp"

#include "mpi_calls.hpp"

using namespace assay;
using namespace assay::coll;

ASSAY_TEST(coll, empty_signature, requirements{"coll.signature"},
           over(only(comm_axis(), [](communicator const& c) { return c.name == "world" || c.name == "inter_halved"; }),
                only(type_axis(), [](datatype const& t) { return t.name == "int"; })),
           note{"MPI_Bcast on the intercommunicator, MPI_Allgather on the intracommunicator"}) {
    block const nothing(mpi, 0, mpi.rank % 2 != mpi.side); // on the intercommunicator the partners differ
    MPI_Comm comm = MPI_COMM_NULL; // of its own: what one sends and the other never receives must not disturb others
    mpi.ok(MPI_Comm_dup(mpi.comm, &comm));
    auto& out = mpi.incoming(1);
    auto& in = mpi.incoming(1);
    int const root = mpi.side == 1 ? 0 : mpi.rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (mpi.inter) mpi.ok(MPI_Bcast(in, nothing.count, nothing.type, root, comm));
    else mpi.ok(MPI_Allgather(out, nothing.count, nothing.type, in, nothing.count, nothing.type, comm));
    mpi.ok(MPI_Comm_free(&comm));
    in.expect_untouched();
    out.expect_untouched();
}
