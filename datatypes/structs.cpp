// Structs, moved bounds, nesting, and the extremes: no data at all, and little data far apart.
#include "datatypes/definition.hpp"

#include <cstddef>

namespace assay {
namespace {

definition integer() { return predefined("int"); }

struct record {
    char c;
    double d;
    short s;
};
definition padded() {
    return structure({{1, offsetof(record, c), predefined("char")},
                      {1, offsetof(record, d), predefined("double")},
                      {1, offsetof(record, s), predefined("short")}});
}

register_datatype const entries[] = {
    register_datatype{derived("struct_int",
                              "MPI_Type_create_struct: ints only, 2 at byte 0 and 1 at byte 16 (section 5.1.2)",
                              structure({{2, 0, integer()}, {1, 16, integer()}}), "MPI_STRUCT_INT")},
    register_datatype{
        derived("struct_padded", "struct {char; double; short}: gap inside, extent rounded up to 24", padded())},
    register_datatype{
        derived("struct_backwards", "struct whose members do not stand in the order of their addresses",
                structure({{1, 16, integer()}, {1, 0, predefined("double")}, {2, 8, predefined("short")}}))},
    register_datatype{derived("struct_short_int", "struct of a char and a nested MPI_SHORT_INT",
                              structure({{1, 0, predefined("char")}, {1, 4, predefined("short_int")}}))},
    register_datatype{derived("resized_int_lb_negative", "MPI_Type_create_resized: lb -8, extent 16 (section 5.1.7)",
                              resized(-8, 16, integer()))},
    register_datatype{derived("resized_int_lb_positive", "MPI_Type_create_resized: lb 8, data below it, extent 12",
                              resized(8, 12, integer()))},
    register_datatype{derived("resized_contiguous_int", "contiguous of a resized type: the markers stay",
                              contiguous(3, resized(-4, 12, integer())))},
    register_datatype{derived("resized_struct_padded", "struct_padded cut to an extent of 18 bytes: unaligned elements",
                              resized(0, 18, padded()))},
    register_datatype{derived("nested_vector", "a vector of an indexed type of a struct: three levels",
                              vector(2, 1, 2, indexed({1, 2}, {0, 2}, padded())))},
    register_datatype{
        derived("nested_struct", "a struct of a vector of a contiguous type: three levels",
                structure({{1, 0, vector(2, 1, 3, contiguous(2, integer()))}, {1, 40, predefined("double")}}))},
    register_datatype{derived("zero_size", "MPI_Type_contiguous of 0 ints: no data, no extent (section 5.1)",
                              contiguous(0, integer()))},
    register_datatype{derived("sparse_int", "two ints 64 KiB apart", hindexed({1, 1}, {0, 65536}, integer()))},
};

} // namespace
} // namespace assay
