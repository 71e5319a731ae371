#include "suites/coll/operation.hpp"

#include <array>
#include <atomic>

namespace assay::coll {
namespace {

// What the functions of our operations need to know: MPI hands them nothing but a datatype. All threads of a process run
// the same case, so there is one for all.
std::atomic<datatype const*> current_type = nullptr;
std::atomic<MPI_Datatype> current_handle;
std::atomic<int> other_types = 0; // calls with another datatype

template <op_kind kind, class Length> void function(void* in, void* inout, Length* length, MPI_Datatype* type) {
    if (!same_datatype(*type, current_handle.load())) ++other_types;
    apply(kind, current_type.load()->map, in, inout, static_cast<std::size_t>(*length));
}

} // namespace

bool same_datatype(MPI_Datatype given, MPI_Datatype passed) {
    if (given == passed) return true;
    std::array<std::array<MPI_Aint, 5>, 2> seen{};
    for (std::size_t i = 0; auto const type : {given, passed}) {
        auto& [size, lb, extent, true_lb, true_extent] = seen[i++];
        int bytes = -1;
        if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &bytes) != MPI_SUCCESS ||
            MPI_Type_get_extent(type, &lb, &extent) != MPI_SUCCESS ||
            MPI_Type_get_true_extent(type, &true_lb, &true_extent) != MPI_SUCCESS)
            return false;
        size = bytes;
    }
    return seen[0] == seen[1];
}

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
    other_types = 0;
    // Large-count calls take operations of both widths (section 6.9.5).
    if (op.kind == op_kind::affine) mpi.ok(MPI_Op_create(function<op_kind::affine, int>, 0, &handle));
    else if (large) mpi.ok(MPI_Op_create_c(function<op_kind::quadsum, MPI_Count>, 1, &handle));
    else mpi.ok(MPI_Op_create(function<op_kind::quadsum, int>, 1, &handle));
}

case_op::~case_op() {
    if (op.predefined()) return;
    mpi.ok(MPI_Op_free(&handle));
    mpi.check(handle == MPI_OP_NULL, finding::value, "MPI_Op_free must set the handle to MPI_OP_NULL");
    mpi.check(other_types == 0, finding::value,
              "the function of the operation was called with another datatype than the call that reduces");
}

} // namespace assay::coll
