#include "suites/dynamic/dynamic.hpp"
#include "framework/check/logical.hpp"

#include "suites/p2p/exchange.hpp"

#include <fmt/format.h>

namespace assay::dynamic {

axis<bool> const& roots() {
    static axis<bool> const axis("root", {{{"first", "rank 0"}, false}, {{"last", "the last rank"}, true}});
    return axis;
}

axis<int> const& numbers() {
    static axis<int> const axis("children", {{{"1", "one process"}, 1}, {{"2", "two processes"}, 2}});
    return axis;
}

axis_use few_types() { return datatypes::of({"int", "double", "type_mix"}); }
axis_use few_counts() {
    return only(count_ladder(), [](count_value const& c) {
        return c.kind == count_value::unit::elements ? c.n == 17
                                                     : c.kind == count_value::unit::bytes_nearest && c.n == 65536;
    });
}

int parents(test_run const& mpi) { return mpi.comm_entry->layout(mpi.the_job.np, 0).size; }

bool started(test_run& mpi, int code) {
    if (code == MPI_SUCCESS) return true;
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    if (error_class == MPI_ERR_SPAWN) mpi.unsupported("the launcher starts no processes: " + error_text(code));
    return mpi.ok(code);
}

void check_codes(test_run& mpi, std::vector<int> const& codes, int n) {
    for (int i = 0; i < n; ++i)
        mpi.check(codes[static_cast<std::size_t>(i)] == MPI_SUCCESS, finding::return_,
                  fmt::format("error code {} of {} started processes is {}, not MPI_SUCCESS", i, n,
                              codes[static_cast<std::size_t>(i)]));
    mpi.check(codes.back() == poisoned_code, finding::guard,
              fmt::format("an error code was written after the {} that there are", n));
}

MPI_Comm to_parents(test_run& mpi) {
    MPI_Comm link = MPI_COMM_NULL, again = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_get_parent(&link));
    mpi.ok(MPI_Comm_get_parent(&again));
    mpi.check(link != MPI_COMM_NULL, finding::value, "MPI_Comm_get_parent gives MPI_COMM_NULL in a spawned process");
    mpi.check(link == again, finding::value, "MPI_Comm_get_parent gives another handle the second time");
    return link;
}

void talk(test_run& mpi, MPI_Comm link, membership const& here) {
    auto& across = mpi.on(link, here);
    int rank = -7, size = -7, remote = -7, inter = -7;
    mpi.ok(MPI_Comm_rank(link, &rank));
    mpi.ok(MPI_Comm_size(link, &size));
    mpi.ok(MPI_Comm_test_inter(link, &inter));
    if (logical(inter)) mpi.ok(MPI_Comm_remote_size(link, &remote));
    if (!mpi.check(logical(inter) == (here.remote_size > 0) && rank == here.rank && size == here.size &&
                       (here.remote_size == 0 || remote == here.remote_size),
                   finding::value,
                   fmt::format("rank/size/remote size are {}/{}/{}, by definition {}/{}/{}", rank, size, remote,
                               here.rank, here.size, here.remote_size)))
        return; // there may be nobody to talk to
    using namespace p2p;
    exchange(
        across, all_to_all(across),
        {{send_mode::kind::standard, send_mode::start::nonblocking}, receive_way::irecv, completion_by("waitall")});
    for (int tag : across.used_tags()) {
        int flag = 0;
        mpi.ok(MPI_Iprobe(MPI_ANY_SOURCE, tag, link, &flag, MPI_STATUS_IGNORE));
        mpi.check(flag == 0, finding::leftover, fmt::format("a message with tag {} is left that nobody received", tag));
    }
}

void disconnect(test_run& mpi, MPI_Comm& comm) {
    mpi.ok(MPI_Comm_disconnect(&comm));
    mpi.check(comm == MPI_COMM_NULL, finding::value, "a disconnected communicator must have become MPI_COMM_NULL");
}

void part(test_run& mpi, MPI_Comm link) {
    constexpr int last_word = 9;
    if (is_child()) {
        tell_findings();
        mpi.ok(MPI_Send(nullptr, 0, MPI_BYTE, 0, last_word, link));
    } else {
        int rank = 0, there = 0;
        MPI_Comm_rank(link, &rank);
        MPI_Comm_remote_size(link, &there);
        for (int from = 0; rank == 0 && from < there; ++from)
            mpi.ok(MPI_Recv(nullptr, 0, MPI_BYTE, from, last_word, link, MPI_STATUS_IGNORE));
    }
    disconnect(mpi, link);
}

} // namespace assay::dynamic
