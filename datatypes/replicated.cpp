// Contiguous, vectors and indexed types (MPI-5.0 section 5.1.2).
#include "datatypes/definition.hpp"

namespace assay {
namespace {

definition integer() { return predefined("int"); }

register_datatype const entries[] = {
    register_datatype{derived("contiguous_int", "MPI_Type_contiguous: 5 ints (section 5.1.2)", contiguous(5, integer()),
                              "MPI_CONTIGUOUS_INT")},
    register_datatype{derived("contiguous_double_int", "MPI_Type_contiguous: 3 pairs with padding",
                              contiguous(3, predefined("double_int")))},
    register_datatype{derived("vector_int", "MPI_Type_vector: 3 blocks of 2, stride 4 ints", vector(3, 2, 4, integer()),
                              "MPI_VECTOR_INT")},
    register_datatype{derived("vector_negative_int",
                              "MPI_Type_vector: 3 blocks of 2, stride -4 ints; negative lower bound",
                              vector(3, 2, -4, integer()))},
    register_datatype{derived("vector_dense_int", "MPI_Type_vector: stride equals the block length, no gaps",
                              vector(4, 2, 2, integer()))},
    register_datatype{derived("vector_double_int", "MPI_Type_vector of pairs with padding",
                              vector(2, 2, 3, predefined("double_int")))},
    register_datatype{derived("hvector_int", "MPI_Type_create_hvector: 3 blocks of 2, stride 20 bytes",
                              hvector(3, 2, 20, integer()), "MPI_HVECTOR_INT")},
    register_datatype{derived("hvector_negative_short", "MPI_Type_create_hvector: 4 shorts, stride -6 bytes",
                              hvector(4, 1, -6, predefined("short")))},
    register_datatype{derived("indexed_int", "MPI_Type_indexed: blocks of 2, 1, 3 at 0, 4, 7",
                              indexed({2, 1, 3}, {0, 4, 7}, integer()), "MPI_INDEXED_INT")},
    register_datatype{derived("indexed_backwards_int",
                              "MPI_Type_indexed: displacements fall; an empty block in between",
                              indexed({1, 0, 2, 1}, {6, 9, 3, 0}, integer()))},
    register_datatype{derived("hindexed_int", "MPI_Type_create_hindexed: blocks of 1, 2, 1 at byte 4, 12, 28",
                              hindexed({1, 2, 1}, {4, 12, 28}, integer()), "MPI_HINDEXED_INT")},
    register_datatype{derived("indexed_block_int", "MPI_Type_create_indexed_block: blocks of 2 at 1, 5, 8",
                              indexed_block(2, {1, 5, 8}, integer()))},
    register_datatype{derived("hindexed_block_double", "MPI_Type_create_hindexed_block: blocks of 2 at byte 0, 24, 64",
                              hindexed_block(2, {0, 24, 64}, predefined("double")))},
    register_datatype{
        derived("dup_vector_int", "MPI_Type_dup of a vector (section 5.1.10)", dup(vector(3, 2, 4, integer())))},
    register_datatype{
        derived("contiguous_long_int", "MPI_Type_contiguous: 2 long-int pairs", contiguous(2, predefined("long_int")))},
};

} // namespace
} // namespace assay
