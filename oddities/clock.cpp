// Clocks that count in other steps, or from another moment.
#include "layers.hpp"

#include <atomic>
#include <cmath>
#include <unistd.h>

using namespace assay_oddities;

ODDITY(tick_varies) {
    over<&PMPI_Wtick>([](auto rest) {
        static std::atomic<unsigned> calls{0};
        return rest() * (1 + calls++ % 5);
    });
}

ODDITY(wtime_coarse) {
    static constexpr double step = 0.05;
    over<&PMPI_Wtime>([](auto rest) { return std::floor(rest() / step) * step; });
    over<&PMPI_Wtick>([](auto) { return step; });
}

ODDITY(wtime_local) {
    over<&PMPI_Wtime>([](auto rest) {
        static double const begin = rest() - 1000.0 * static_cast<double>(getpid() % 7);
        return rest() - begin;
    });
    over<&PMPI_Comm_get_attr>([](auto rest, MPI_Comm comm, int key, void* value, int* flag) {
        static int no = 0;
        int const code = rest(comm, key, value, flag);
        if (code == MPI_SUCCESS && key == MPI_WTIME_IS_GLOBAL && *flag != 0) *static_cast<int**>(value) = &no;
        return code;
    });
}
