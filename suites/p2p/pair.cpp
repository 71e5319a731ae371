#include "suites/p2p/pair.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::p2p {

pair pair_of(test_run const& mpi) {
    if (mpi.inter) return {mpi.rank, mpi.rank, mpi.rank >= mpi.remote_size};
    return {(mpi.rank + 1) % mpi.size, (mpi.rank - 1 + mpi.size) % mpi.size, false};
}

void await_receiver(test_run& mpi, pair const& p, std::source_location where) {
    mpi.ok(MPI_Sendrecv(nullptr, 0, MPI_BYTE, p.from, mpi.tag(15), nullptr, 0, MPI_BYTE, p.to, mpi.tag(15), mpi.comm,
                        MPI_STATUS_IGNORE),
           where);
}
void await_sender(test_run& mpi, pair const& p, std::source_location where) {
    mpi.ok(MPI_Sendrecv(nullptr, 0, MPI_BYTE, p.to, mpi.tag(15), nullptr, 0, MPI_BYTE, p.from, mpi.tag(15), mpi.comm,
                        MPI_STATUS_IGNORE),
           where);
}

std::vector<int> message(std::uint64_t key, std::size_t n) {
    std::vector<int> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<int>(splitmix64(key ^ i) & 0x7fffffff);
    return values;
}

bool expect_message(test_run& mpi, std::vector<int> const& got, std::uint64_t key, std::size_t n,
                    std::string const& who, std::source_location where) {
    auto expected = message(key, n);
    expected.resize(std::max(n, got.size()), poison_int);
    for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != expected[i])
            return mpi.check(false, i < n ? finding::data : finding::guard,
                             fmt::format("{}: int {} of {} is {:#x}, expected {:#x}{}", who, i, n, got[i], expected[i],
                                         i < n ? "" : " (as before: the message is shorter)"),
                             where);
    return true;
}

void expect_status(test_run& mpi, MPI_Status const& status, int source, int tag, std::size_t ints,
                   std::source_location where) {
    mpi.expect(status, where).source(source).tag(tag).count(ints, MPI_INT, sizeof(int)).not_cancelled();
}

void expect_null_status(test_run& mpi, MPI_Status const& status, std::source_location where) {
    mpi.expect(status, where).source(MPI_PROC_NULL).tag(MPI_ANY_TAG).count(0, MPI_INT, sizeof(int)).not_cancelled();
}

int class_of(int code) {
    int c = -1;
    MPI_Error_class(code, &c);
    return c;
}

} // namespace assay::p2p
