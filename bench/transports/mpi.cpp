// assay-bench-mpi: latency and bandwidth of MPI between two ranks, over the transport that the library was told to use.
//   mpiexec -n 2 assay-bench-mpi FILE [LARGEST]      rank 0 writes FILE; LARGEST in bytes, default 4 MiB
#include "bench/transports/measure.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <mpi.h>

namespace {

class over_mpi : public assay::bench::channel {
public:
    explicit over_mpi(int partner) : partner_(partner) {}
    void send(std::byte const* data, std::size_t size) override {
        MPI_Send(data, static_cast<int>(size), MPI_BYTE, partner_, 1, MPI_COMM_WORLD);
    }
    void receive(std::byte* data, std::size_t size) override {
        MPI_Recv(data, static_cast<int>(size), MPI_BYTE, partner_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    void send_all(std::byte const* data, std::size_t stride, std::size_t size, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            MPI_Isend(data + i * stride, static_cast<int>(size), MPI_BYTE, partner_, 1, MPI_COMM_WORLD, &requests_[i]);
        MPI_Waitall(static_cast<int>(count), requests_.data(), MPI_STATUSES_IGNORE);
    }
    void receive_all(std::byte* data, std::size_t stride, std::size_t size, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            MPI_Irecv(data + i * stride, static_cast<int>(size), MPI_BYTE, partner_, 1, MPI_COMM_WORLD, &requests_[i]);
        MPI_Waitall(static_cast<int>(count), requests_.data(), MPI_STATUSES_IGNORE);
    }

private:
    int partner_;
    std::array<MPI_Request, assay::bench::most_in_a_window> requests_{};
};

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc < 2) {
        std::fprintf(stderr, "usage: mpiexec -n 2 assay-bench-mpi FILE [LARGEST]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    try {
        over_mpi channel(1 - rank);
        auto const lines = assay::bench::measure_all(channel, rank == 0, argc > 2 ? std::stoul(argv[2]) : 4u << 20);
        if (rank == 0) std::ofstream(argv[1]) << lines;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "assay-bench-mpi: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
