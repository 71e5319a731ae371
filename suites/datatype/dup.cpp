// A duplicated datatype is the same datatype (MPI-5.0 section 5.1.10): size, bounds, data; and it outlives nothing but itself.
#include "framework/mpi/run.hpp"
using namespace assay;

ASSAY_TEST(datatype, dup_equal, requirements{"datatype.dup", "datatype.extent", "datatype.free"},
           over(datatypes::all(), counts::elements({1, 17})), thread_safe{}) {
    MPI_Datatype dup = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_dup(mpi.type, &dup))) return;
    MPI_Aint lb = -7, extent = -7, true_lb = -7, true_extent = -7;
    int size = -7;
    mpi.ok(MPI_Type_get_extent(dup, &lb, &extent));
    mpi.ok(MPI_Type_get_true_extent(dup, &true_lb, &true_extent));
    mpi.ok(MPI_Type_size(dup, &size));
    auto const equal = [&](char const* what, MPI_Aint got, std::ptrdiff_t expected) {
        mpi.check(got == expected, finding::value,
                  std::string("the ") + what + " of the duplicate is " + std::to_string(got) + ", by definition " +
                      std::to_string(expected));
    };
    equal("size", size, static_cast<std::ptrdiff_t>(mpi.map.size()));
    equal("lower bound", lb, mpi.map.lb());
    equal("extent", extent, mpi.map.extent());
    if (mpi.map.size() > 0) {
        equal("true lower bound", true_lb, mpi.map.true_lb());
        equal("true extent", true_extent, mpi.map.true_extent());
    }
    // Sent as one, received as the other, and the other way round; the handle is freed before its message is received.
    auto const key = mpi.key(0, 0, 0, 0, 0);
    for (bool const sends_dup : {false, true}) {
        auto &out = mpi.incoming(), &in = mpi.incoming();
        out.fill(key);
        auto status = poisoned_status();
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Datatype const other = dup;
        mpi.ok(MPI_Irecv(in, mpi.count, sends_dup ? mpi.type : other, 0, mpi.tag(), MPI_COMM_SELF, &request));
        if (sends_dup) {
            mpi.ok(MPI_Send(out, mpi.count, other, 0, mpi.tag(), MPI_COMM_SELF));
            mpi.ok(MPI_Type_free(&dup));
            mpi.check(dup == MPI_DATATYPE_NULL, finding::value, "a freed datatype must have become MPI_DATATYPE_NULL");
        } else {
            mpi.ok(MPI_Send(out, mpi.count, mpi.type, 0, mpi.tag(), MPI_COMM_SELF));
        }
        mpi.ok(MPI_Wait(&request, &status));
        mpi.expect(status).count(mpi.elements);
        in.expect(key, mpi.elements, sends_dup ? "sent as the duplicate" : "received as the duplicate");
        out.expect_unchanged();
    }
}
