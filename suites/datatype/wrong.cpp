// Arguments that the constructors do not permit (MPI-5.0 sections 5.1.2 to 5.1.4 and 5.1.9). A library need not notice: what it
// says is advisory; that the process goes on is what the case shows.
#include "suites/datatype/recipe.hpp"

#include "framework/process/erroneous.hpp"

using namespace assay;
using namespace assay::types;

namespace {

struct misuse {
    int (*call)(MPI_Datatype* made);
    std::vector<int> classes; // that make sense
};
int const none[2] = {0, 0}, ones[2] = {1, 1}, twos[2] = {2, 2}, threes[2] = {3, 3}, fours[2] = {4, 4},
          mixed[2] = {1, -1};
int const defaulted[1] = {MPI_DISTRIBUTE_DFLT_DARG};
int const block[1] = {MPI_DISTRIBUTE_BLOCK}, undistributed[1] = {MPI_DISTRIBUTE_NONE};

axis<misuse> const misuses(
    "misuse",
    {{{"contiguous_negative", ""},
      {[](MPI_Datatype* t) { return MPI_Type_contiguous(-1, MPI_INT, t); }, {MPI_ERR_COUNT, MPI_ERR_ARG}}},
     {{"contiguous_null", ""},
      {[](MPI_Datatype* t) { return MPI_Type_contiguous(1, MPI_DATATYPE_NULL, t); }, {MPI_ERR_TYPE}}},
     {{"vector_negative", ""},
      {[](MPI_Datatype* t) { return MPI_Type_vector(-1, 1, 1, MPI_INT, t); }, {MPI_ERR_COUNT, MPI_ERR_ARG}}},
     {{"vector_negative_block", ""},
      {[](MPI_Datatype* t) { return MPI_Type_vector(1, -1, 1, MPI_INT, t); }, {MPI_ERR_ARG, MPI_ERR_COUNT}}},
     {{"hvector_negative", ""},
      {[](MPI_Datatype* t) { return MPI_Type_create_hvector(-1, 1, 1, MPI_INT, t); }, {MPI_ERR_COUNT, MPI_ERR_ARG}}},
     {{"indexed_negative", ""},
      {[](MPI_Datatype* t) { return MPI_Type_indexed(-1, ones, none, MPI_INT, t); }, {MPI_ERR_COUNT, MPI_ERR_ARG}}},
     {{"indexed_negative_block", ""},
      {[](MPI_Datatype* t) { return MPI_Type_indexed(2, mixed, none, MPI_INT, t); }, {MPI_ERR_ARG, MPI_ERR_COUNT}}},
     {{"indexed_block_negative", ""},
      {[](MPI_Datatype* t) { return MPI_Type_create_indexed_block(2, -1, none, MPI_INT, t); },
       {MPI_ERR_ARG, MPI_ERR_COUNT}}},
     {{"struct_null", ""},
      {[](MPI_Datatype* t) {
           MPI_Aint const at[2] = {0, 4};
           MPI_Datatype const old[2] = {MPI_INT, MPI_DATATYPE_NULL};
           return MPI_Type_create_struct(2, ones, at, old, t);
       },
       {MPI_ERR_TYPE}}},
     {{"subarray_empty", "a subsize of 0"},
      {[](MPI_Datatype* t) { return MPI_Type_create_subarray(2, threes, none, none, MPI_ORDER_C, MPI_INT, t); },
       {MPI_ERR_ARG}}},
     {{"subarray_large", "a subsize above the size"},
      {[](MPI_Datatype* t) { return MPI_Type_create_subarray(2, threes, fours, none, MPI_ORDER_C, MPI_INT, t); },
       {MPI_ERR_ARG}}},
     {{"subarray_outside", "a start too far to the end"},
      {[](MPI_Datatype* t) { return MPI_Type_create_subarray(2, threes, twos, twos, MPI_ORDER_C, MPI_INT, t); },
       {MPI_ERR_ARG}}},
     {{"subarray_order", "an unknown order"},
      {[](MPI_Datatype* t) { return MPI_Type_create_subarray(2, threes, twos, none, 12345, MPI_INT, t); },
       {MPI_ERR_ARG}}},
     {{"darray_grid", "a grid of another size than the group"},
      {[](MPI_Datatype* t) {
           return MPI_Type_create_darray(3, 0, 1, fours, block, defaulted, twos, MPI_ORDER_C, MPI_INT, t);
       },
       {MPI_ERR_ARG}}},
     {{"darray_blocks", "blocks that do not cover the array"},
      {[](MPI_Datatype* t) {
           return MPI_Type_create_darray(2, 0, 1, fours, block, ones, twos, MPI_ORDER_C, MPI_INT, t);
       },
       {MPI_ERR_ARG}}},
     {{"darray_rank", "a rank outside of the group"},
      {[](MPI_Datatype* t) {
           return MPI_Type_create_darray(2, 2, 1, fours, block, twos, twos, MPI_ORDER_C, MPI_INT, t);
       },
       {MPI_ERR_RANK, MPI_ERR_ARG}}},
     {{"darray_none", "two processes for a dimension that is not distributed"},
      {[](MPI_Datatype* t) {
           return MPI_Type_create_darray(2, 0, 1, fours, undistributed, twos, twos, MPI_ORDER_C, MPI_INT, t);
       },
       {MPI_ERR_ARG}}},
     {{"free_predefined", ""},
      {[](MPI_Datatype* t) {
           MPI_Datatype type = MPI_INT;
           *t = MPI_DATATYPE_NULL;
           return MPI_Type_free(&type);
       },
       {MPI_ERR_TYPE, MPI_ERR_ARG}}},
     {{"free_null", ""}, {[](MPI_Datatype* t) { return MPI_Type_free(t); }, {MPI_ERR_TYPE, MPI_ERR_ARG}}},
     {{"commit_null", ""}, {[](MPI_Datatype* t) { return MPI_Type_commit(t); }, {MPI_ERR_TYPE, MPI_ERR_ARG}}},
     {{"dup_null", ""},
      {[](MPI_Datatype* t) { return MPI_Type_dup(MPI_DATATYPE_NULL, t); }, {MPI_ERR_TYPE, MPI_ERR_ARG}}},
     {{"size_null", ""},
      {[](MPI_Datatype*) {
           int size = 0;
           return MPI_Type_size(MPI_DATATYPE_NULL, &size);
       },
       {MPI_ERR_TYPE, MPI_ERR_ARG}}}});

} // namespace

ASSAY_TEST(datatype, misuse,
           requirements{"datatype.wrong.count", "datatype.wrong.null", "datatype.wrong.subarray",
                        "datatype.wrong.darray", "datatype.wrong.free"},
           over(axis_use{&misuses}), thread_safe{}) {
    auto const& m = mpi.at(misuses);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    erroneous_from_here();
    int const code = m.call(&made);
    expect_refused(mpi, code, m.classes, "the call");
    if (code == MPI_SUCCESS && made != MPI_DATATYPE_NULL) mpi.ok(MPI_Type_free(&made));
    // Nothing was harmed.
    int size = -7;
    mpi.ok(MPI_Type_size(MPI_INT, &size));
    equal(mpi, "the size of MPI_INT afterwards", size, sizeof(int));
}

// A message with an uncommitted datatype is wrong use, too; a library may say so or carry it out.
ASSAY_TEST(datatype, uncommitted, requirements{"datatype.wrong.uncommitted"}, thread_safe{}) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_contiguous(2, MPI_INT, &made))) return;
    own_type const type(made);
    int out[2] = {1, 2};
    erroneous_from_here();
    expect_refused(mpi, MPI_Send(out, 1, type, MPI_PROC_NULL, 0, MPI_COMM_SELF), {MPI_ERR_TYPE},
                   "MPI_Send with an uncommitted datatype");
}
