#include "suites/abi/converted.hpp"

namespace assay::abi {

axis<route> const& routes() {
    static axis<route> const all(
        "route", {{{"integer", "MPI_Comm_toint, MPI_Comm_fromint and so on",
                    needs_procedures({"MPI_Comm_toint", "MPI_Comm_fromint", "MPI_Type_toint", "MPI_Type_fromint",
                                      "MPI_Info_toint", "MPI_Info_fromint", "MPI_Win_toint", "MPI_Win_fromint"})},
                   route::integer},
                  {{"fortran", "MPI_Comm_c2f, MPI_Comm_f2c and so on",
                    needs_procedures({"MPI_Comm_c2f", "MPI_Comm_f2c", "MPI_Type_c2f", "MPI_Type_f2c", "MPI_Info_c2f",
                                      "MPI_Info_f2c", "MPI_Win_c2f", "MPI_Win_f2c"})},
                   route::fortran}});
    return all;
}

MPI_Comm converted(route by, MPI_Comm handle) {
    if (by == route::integer) return MPI_Comm_fromint(MPI_Comm_toint(handle));
    return MPI_Comm_f2c(MPI_Comm_c2f(handle));
}
MPI_Datatype converted_type(route by, MPI_Datatype handle) {
    if (by == route::integer) return MPI_Type_fromint(MPI_Type_toint(handle));
    return MPI_Type_f2c(MPI_Type_c2f(handle));
}
MPI_Info converted_info(route by, MPI_Info handle) {
    if (by == route::integer) return MPI_Info_fromint(MPI_Info_toint(handle));
    return MPI_Info_f2c(MPI_Info_c2f(handle));
}
MPI_Win converted_win(route by, MPI_Win handle) {
    if (by == route::integer) return MPI_Win_fromint(MPI_Win_toint(handle));
    return MPI_Win_f2c(MPI_Win_c2f(handle));
}

} // namespace assay::abi
