// Time (MPI-5.0 section 9.6) and whether it is the same everywhere (section 9.1.2.3).
#include "framework/mpi/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <thread>

using namespace assay;

ASSAY_TEST(env, wtime, requirements{"env.wtime.seconds", "env.wtime.monotonic"}, over(), thread_safe{}) {
    double last = MPI_Wtime();
    for (int i = 0; i < 1000; ++i) {
        double const now = MPI_Wtime();
        if (!mpi.check("env.wtime.monotonic", now >= last, finding::value,
                       fmt::format("MPI_Wtime went back from {:.9f} to {:.9f}", last, now)))
            break;
        last = now;
    }
    using clock = std::chrono::steady_clock;
    auto const seconds = [](clock::time_point from) {
        return std::chrono::duration<double>(clock::now() - from).count();
    };
    // What MPI_Wtime measures lies between what the system's clock measures inside of it and around it.
    auto const outer = clock::now();
    double const begin = MPI_Wtime();
    auto const inner = clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    double const least = seconds(inner), measured = MPI_Wtime() - begin, most = seconds(outer);
    double const slack = 0.002 + 2 * MPI_Wtick(); // clocks are slewed, and have ticks
    mpi.check(
        measured >= least - slack && measured <= most + slack, finding::value,
        fmt::format("MPI_Wtime measures {:.6f} s; the system's clock says {:.6f} to {:.6f} s", measured, least, most));
}

ASSAY_TEST(env, wtick, requirements{"env.wtick"}, over(), thread_safe{}) {
    double const tick = MPI_Wtick();
    mpi.check(tick > 0 && std::isfinite(tick), finding::value, fmt::format("MPI_Wtick gives {:g} s", tick));
    if (tick > 0.1) return; // that the clock moves would take too long to see
    // The clock is not coarser than it says: within ten of its ticks (or a second) it has moved.
    double const begin = MPI_Wtime();
    auto const limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::min(1.0, 10 * tick + 0.1));
    while (MPI_Wtime() == begin && std::chrono::steady_clock::now() < limit) {}
    mpi.check(MPI_Wtime() > begin, finding::value,
              fmt::format("MPI_Wtime stood still for more than ten ticks of {:g} s", tick));
}

ASSAY_TEST(env, wtime_global, requirements{"env.wtime_is_global.order"}, over(communicators::world()), thread_safe{}) {
    int* value = nullptr;
    int flag = -7;
    mpi.ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
    // Absent, or not the same everywhere: comm.attr_environment says whether it may be.
    int const mine = flag != 0 && value != nullptr ? *value : 0;
    int everywhere = -7;
    mpi.ok(MPI_Allreduce(&mine, &everywhere, 1, MPI_INT, MPI_MIN, mpi.comm));
    if (everywhere != 1) return;
    // Time goes on from a send to its receive.
    for (int round = 0; round < 20; ++round)
        for (int from = 0; from < mpi.size; ++from) {
            int const to = (from + 1) % mpi.size;
            if (to == from) continue;
            double sent = 0;
            if (mpi.rank == from) {
                sent = MPI_Wtime();
                mpi.ok(MPI_Send(&sent, 1, MPI_DOUBLE, to, mpi.tag(), mpi.comm));
            }
            if (mpi.rank == to) {
                mpi.ok(MPI_Recv(&sent, 1, MPI_DOUBLE, from, mpi.tag(), mpi.comm, MPI_STATUS_IGNORE));
                double const now = MPI_Wtime();
                mpi.check(now >= sent - MPI_Wtick(), finding::value,
                          fmt::format("clocks are global, yet a message sent at {:.9f} arrived at {:.9f}", sent, now));
            }
        }
}
