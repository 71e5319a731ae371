#include "suites/coll/operation.hpp"

#include <atomic>

#include "mpi_calls.hpp"

namespace assay::coll {
namespace {

// What the functions of our operations need to know: MPI hands them nothing but a datatype. All threads of a process run
// the same case, so there is one for all.
std::atomic<datatype const*> current_type = nullptr;
std::atomic<MPI_Datatype> current_handle;
std::atomic<int> other_handles = 0; // calls with another datatype

template <op_kind kind, class Length> void function(void* in, void* inout, Length* length, MPI_Datatype* type) {
    if (*type != current_handle.load()) ++other_handles;
    apply(kind, current_type.load()->map, in, inout, static_cast<std::size_t>(*length));
}

} // namespace

axis_use reducing() {
    return only(operations(), [](operation const& op) { return op.for_collectives(); });
}

constraint reducible() {
    return where(operations(), type_axis(), [](operation const& op, datatype const& type) {
        return defined_for(op, type) && (type.predefined || !op.predefined());
    });
}

case_op::case_op(test_run& run, bool large) : mpi(run), op(run.at(operations())), handle(MPI_OP_NULL) {
    if (op.predefined()) {
        handle = op.handle();
        return;
    }
    current_type = mpi.type_entry;
    current_handle = mpi.type;
    other_handles = 0;
    // Large-count calls take operations of both widths (section 6.9.5).
    if (op.kind == op_kind::affine) mpi.ok(MPI_Op_create(function<op_kind::affine, int>, 0, &handle));
    else if (large) mpi.ok(MPI_Op_create_c(function<op_kind::quadsum, MPI_Count>, 1, &handle));
    else mpi.ok(MPI_Op_create(function<op_kind::quadsum, int>, 1, &handle));
}

case_op::~case_op() {
    if (op.predefined()) return;
    mpi.ok(MPI_Op_free(&handle));
    mpi.check(handle == MPI_OP_NULL, finding::value, "MPI_Op_free must set the handle to MPI_OP_NULL");
    mpi.check(other_handles == 0, finding::value,
              "the function of the operation was called with another datatype than the call that reduces");
}

} // namespace assay::coll
