// Which procedures the header of the MPI library declares, for the libraries that are preloaded before it.
#pragma once
#include <mpi.h>

// Open MPI 5 has what it offers of MPI-4 in its header and says MPI_VERSION 3.
#if MPI_VERSION >= 4 || defined(MPI_SESSION_NULL)
#define ASSAY_MPI4 1
#else
#define ASSAY_MPI4 0
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define ASSAY_MPI41 1
#else
#define ASSAY_MPI41 0
#endif
