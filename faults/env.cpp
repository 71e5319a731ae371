// What a library says of itself and of its objects.
#include "core.hpp"

using namespace assay_faults;

extern "C" {

int MPI_Get_version(int* version, int* subversion) {
    int const code = PMPI_Get_version(version, subversion);
    if (planted == fault::version_unknown) *subversion = 7;
    return code;
}

int MPI_Get_library_version(char* text, int* length) {
    int const code = PMPI_Get_library_version(text, length);
    if (planted == fault::library_version_length) *length += 1;
    if (planted == fault::library_version_overflow) text[MPI_MAX_LIBRARY_VERSION_STRING] = '\0';
    return code;
}

int MPI_Type_dup(MPI_Datatype old, MPI_Datatype* copy) {
    if (planted == fault::type_dup_extent) {
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_extent(old, &lb, &extent);
        PMPI_Type_create_resized(old, lb, extent + 64, copy);
        return PMPI_Type_commit(copy);
    }
    if (planted == fault::dup_loses_lower_bound) {
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_extent(old, &lb, &extent);
        if (lb < 0) {
            PMPI_Type_create_resized(old, 0, extent, copy);
            return PMPI_Type_commit(copy);
        }
    }
    int const code = PMPI_Type_dup(old, copy);
    if (planted == fault::dup_keeps_name && code == MPI_SUCCESS) {
        char name[MPI_MAX_OBJECT_NAME];
        int length = 0;
        PMPI_Type_get_name(old, name, &length);
        PMPI_Type_set_name(*copy, name);
    }
    return code;
}

int MPI_Cart_map(MPI_Comm comm, int dimensions, int const dims[], int const periods[], int* rank) {
    int const code = PMPI_Cart_map(comm, dimensions, dims, periods, rank);
    if (planted == fault::cart_map_same && *rank != MPI_UNDEFINED) *rank = 0;
    if (planted == fault::cart_map_everybody && *rank == MPI_UNDEFINED) *rank = 0;
    return code;
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int dimensions, int coordinates[]) {
    int const code = PMPI_Cart_coords(comm, rank, dimensions, coordinates);
    if (planted == fault::cart_coords_plus_one && dimensions > 0) coordinates[0] += 1;
    return code;
}

} // extern "C"
