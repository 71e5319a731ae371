// Structs of many predefined types, the datatypes that found most defects in Keller's suite.
#include "datatypes/definition.hpp"

#include <cstddef>

namespace assay {
namespace {

struct mix {
    char c;
    short s;
    int i;
    long l;
    float f;
    double d;
    struct {
        float value;
        int index;
    } fi;
    struct {
        double value;
        int index;
    } di;
    struct {
        long value;
        int index;
    } li;
    struct {
        short value;
        int index;
    } si;
    struct {
        int value;
        int index;
    } ii;
};

struct mix_array {
    char c[10];
    short s[10];
    int i[10];
    long l[10];
    float f[10];
    double d[10];
};

definition type_mix() {
    return structure({{1, offsetof(mix, c), predefined("char")},
                      {1, offsetof(mix, s), predefined("short")},
                      {1, offsetof(mix, i), predefined("int")},
                      {1, offsetof(mix, l), predefined("long")},
                      {1, offsetof(mix, f), predefined("float")},
                      {1, offsetof(mix, d), predefined("double")},
                      {1, offsetof(mix, fi), predefined("float_int")},
                      {1, offsetof(mix, di), predefined("double_int")},
                      {1, offsetof(mix, li), predefined("long_int")},
                      {1, offsetof(mix, si), predefined("short_int")},
                      {1, offsetof(mix, ii), predefined("2int")}});
}

definition type_mix_array() {
    return structure({{10, offsetof(mix_array, c), predefined("char")},
                      {10, offsetof(mix_array, s), predefined("short")},
                      {10, offsetof(mix_array, i), predefined("int")},
                      {10, offsetof(mix_array, l), predefined("long")},
                      {10, offsetof(mix_array, f), predefined("float")},
                      {10, offsetof(mix_array, d), predefined("double")}});
}

// 16 unused bytes before and after each element.
definition type_mix_lb_ub() { return resized(-16, sizeof(mix) + 32, type_mix()); }

register_datatype const entries[] = {
    register_datatype{derived("type_mix", "struct of 11 predefined types (section 5.1.2)", type_mix(), "MPI_TYPE_MIX")},
    register_datatype{
        derived("type_mix_array", "struct of 6 arrays of 10 (section 5.1.2)", type_mix_array(), "MPI_TYPE_MIX_ARRAY")},
    register_datatype{derived("type_mix_lb_ub", "type_mix, both bounds moved out by 16 bytes (section 5.1.7)",
                              type_mix_lb_ub(), "MPI_TYPE_MIX_LB_UB")},
    register_datatype{
        derived("dup_char", "MPI_Type_dup of MPI_CHAR (section 5.1.10)", dup(predefined("char")), "Dup MPI_CHAR")},
    register_datatype{derived("dup_type_mix_lb_ub", "MPI_Type_dup of type_mix_lb_ub (section 5.1.10)",
                              dup(type_mix_lb_ub()), "Dup MPI_TYPE_MIX_LB_UB")},
};

} // namespace
} // namespace assay
