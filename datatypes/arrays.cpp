// Parts of arrays: subarray (MPI-5.0 section 5.1.3) and darray (section 5.1.4). The bounds are those of the whole array.
#include "datatypes/definition.hpp"

namespace assay {
namespace {

using enum layout::distribution;
definition integer() { return predefined("int"); }

register_datatype const entries[] = {
    register_datatype{derived("subarray_c_int", "rows 1..2, columns 2..4 of int[4][6]",
                              subarray({4, 6}, {2, 3}, {1, 2}, true, integer()))},
    register_datatype{derived("subarray_fortran_int", "the same of an array of 4 by 6 in Fortran order",
                              subarray({4, 6}, {2, 3}, {1, 2}, false, integer()))},
    register_datatype{derived("subarray_3d_double", "an inner block of double[3][4][5]",
                              subarray({3, 4, 5}, {2, 2, 3}, {1, 1, 1}, true, predefined("double")))},
    register_datatype{derived("darray_block_int", "rank 1 of a grid of 2 by 2, blocks of an array of 5 by 6, C order",
                              darray(1, {{5, block, 0, 2}, {6, block, 0, 2}}, true, integer()))},
    register_datatype{derived("darray_cyclic_int",
                              "rank 2 of a grid of 2 by 2, cyclic(2) by cyclic of an array of 7 by 5, Fortran order",
                              darray(2, {{7, cyclic, 2, 2}, {5, cyclic, 0, 2}}, false, integer()))},
    register_datatype{derived("darray_mixed_int", "rank 1 of 3: cyclic rows, columns not distributed, C order",
                              darray(1, {{7, cyclic, 0, 3}, {4, none, 0, 1}}, true, integer()))},
};

} // namespace
} // namespace assay
