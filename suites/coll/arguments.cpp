// Unusual and wrong arguments of collective operations: no buffers where there is no data, MPI_BOTTOM with absolute addresses,
// and what has to be refused (MPI-5.0 sections 5.1.5, 6.1, 6.2, 6.11, 8.6 and 9.3).
#include "framework/mpi/run.hpp"
#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

using namespace assay;

namespace {

// ---- Operations of nothing, without buffers

struct nothing {
    int (*call)(MPI_Comm comm, int root, int const* zeros, MPI_Datatype const* types);
    bool intra_only;
};
#define ASSAY_NOTHING(...)                                                                                             \
    []([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] int root, [[maybe_unused]] int const* zeros,                   \
       [[maybe_unused]] MPI_Datatype const* types) { return __VA_ARGS__; }
axis<nothing> const empty_calls(
    "call",
    {{{"bcast", "MPI_Bcast"}, {ASSAY_NOTHING(MPI_Bcast(nullptr, 0, MPI_INT, root, comm)), false}},
     {{"gather", "MPI_Gather"},
      {ASSAY_NOTHING(MPI_Gather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, root, comm)), false}},
     {{"gatherv", "MPI_Gatherv"},
      {ASSAY_NOTHING(MPI_Gatherv(nullptr, 0, MPI_INT, nullptr, zeros, zeros, MPI_INT, root, comm)), false}},
     {{"scatter", "MPI_Scatter"},
      {ASSAY_NOTHING(MPI_Scatter(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, root, comm)), false}},
     {{"scatterv", "MPI_Scatterv"},
      {ASSAY_NOTHING(MPI_Scatterv(nullptr, zeros, zeros, MPI_INT, nullptr, 0, MPI_INT, root, comm)), false}},
     {{"allgather", "MPI_Allgather"},
      {ASSAY_NOTHING(MPI_Allgather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, comm)), false}},
     {{"allgatherv", "MPI_Allgatherv"},
      {ASSAY_NOTHING(MPI_Allgatherv(nullptr, 0, MPI_INT, nullptr, zeros, zeros, MPI_INT, comm)), false}},
     {{"alltoall", "MPI_Alltoall"},
      {ASSAY_NOTHING(MPI_Alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, comm)), false}},
     {{"alltoallv", "MPI_Alltoallv"},
      {ASSAY_NOTHING(MPI_Alltoallv(nullptr, zeros, zeros, MPI_INT, nullptr, zeros, zeros, MPI_INT, comm)), false}},
     {{"alltoallw", "MPI_Alltoallw"},
      {ASSAY_NOTHING(MPI_Alltoallw(nullptr, zeros, zeros, types, nullptr, zeros, zeros, types, comm)), false}},
     {{"reduce", "MPI_Reduce"}, {ASSAY_NOTHING(MPI_Reduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, root, comm)), false}},
     {{"allreduce", "MPI_Allreduce"},
      {ASSAY_NOTHING(MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm)), false}},
     {{"reduce_scatter", "MPI_Reduce_scatter"},
      {ASSAY_NOTHING(MPI_Reduce_scatter(nullptr, nullptr, zeros, MPI_INT, MPI_SUM, comm)), false}},
     {{"reduce_scatter_block", "MPI_Reduce_scatter_block"},
      {ASSAY_NOTHING(MPI_Reduce_scatter_block(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm)), false}},
     {{"scan", "MPI_Scan"}, {ASSAY_NOTHING(MPI_Scan(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm)), true}},
     {{"exscan", "MPI_Exscan"}, {ASSAY_NOTHING(MPI_Exscan(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm)), true}},
     {{"reduce_local", "MPI_Reduce_local"},
      {ASSAY_NOTHING(MPI_Reduce_local(nullptr, nullptr, 0, MPI_INT, MPI_SUM)), false}}});
#undef ASSAY_NOTHING

// ---- Absolute addresses

enum class move { bcast, gather, scatter, allgather, alltoall };
axis<move> const moves("call", {{{"bcast", "MPI_Bcast"}, move::bcast},
                                {{"gather", "MPI_Gather"}, move::gather},
                                {{"scatter", "MPI_Scatter"}, move::scatter},
                                {{"allgather", "MPI_Allgather"}, move::allgather},
                                {{"alltoall", "MPI_Alltoall"}, move::alltoall}});

// `count` MPI_INTs at an address.
MPI_Datatype type_at(test_run& mpi, void* address, int count) {
    MPI_Aint where = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL, sized = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Get_address(address, &where));
    mpi.ok(MPI_Type_create_hindexed(1, &count, &where, MPI_INT, &type));
    // Blocks of several processes lie side by side.
    mpi.ok(MPI_Type_create_resized(type, where, static_cast<MPI_Aint>(count * static_cast<int>(sizeof(int))), &sized));
    mpi.ok(MPI_Type_commit(&sized));
    mpi.ok(MPI_Type_free(&type));
    return sized;
}

// ---- Wrong use

struct wrong {
    int (*call)(MPI_Comm inter, int* a, int* b);
    int error;
    bool inter;
};
#define ASSAY_WRONG(...)                                                                                               \
    []([[maybe_unused]] MPI_Comm inter, [[maybe_unused]] int* a, [[maybe_unused]] int* b) { return __VA_ARGS__; }
axis<wrong> const wrongs(
    "call",
    {{{"root", "a root that is no rank"},
      {ASSAY_WRONG(MPI_Bcast(a, 1, MPI_INT, 1, MPI_COMM_SELF)), MPI_ERR_ROOT, false}},
     {{"root_negative", "a negative root"},
      {ASSAY_WRONG(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, -77, MPI_COMM_SELF)), MPI_ERR_ROOT, false}},
     {{"count", "a negative count"}, {ASSAY_WRONG(MPI_Bcast(a, -1, MPI_INT, 0, MPI_COMM_SELF)), MPI_ERR_COUNT, false}},
     {{"count_allreduce", "a negative count"},
      {ASSAY_WRONG(MPI_Allreduce(a, b, -1, MPI_INT, MPI_SUM, MPI_COMM_SELF)), MPI_ERR_COUNT, false}},
     {{"count_iallgather", "a negative count"},
      {ASSAY_WRONG([&] {
           MPI_Request request = MPI_REQUEST_NULL;
           return MPI_Iallgather(a, -1, MPI_INT, b, 1, MPI_INT, MPI_COMM_SELF, &request);
       }()),
       MPI_ERR_COUNT, false}},
     {{"type", "MPI_DATATYPE_NULL"},
      {ASSAY_WRONG(MPI_Allgather(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, MPI_COMM_SELF)), MPI_ERR_TYPE, false}},
     {{"type_reduce", "MPI_DATATYPE_NULL"},
      {ASSAY_WRONG(MPI_Reduce(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, MPI_COMM_SELF)), MPI_ERR_TYPE, false}},
     {{"comm", "MPI_COMM_NULL"}, {ASSAY_WRONG(MPI_Barrier(MPI_COMM_NULL)), MPI_ERR_COMM, false}},
     {{"comm_alltoall", "MPI_COMM_NULL"},
      {ASSAY_WRONG(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_NULL)), MPI_ERR_COMM, false}},
     {{"op", "MPI_OP_NULL"},
      {ASSAY_WRONG(MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF)), MPI_ERR_OP, false}},
     {{"op_scan", "MPI_OP_NULL"},
      {ASSAY_WRONG(MPI_Scan(a, b, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF)), MPI_ERR_OP, false}},
     {{"same_buffer", "the same send and receive buffer"},
      {ASSAY_WRONG(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF)), MPI_ERR_BUFFER, false}},
     {{"topology", "a neighborhood without topology"},
      {ASSAY_WRONG(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_SELF)), MPI_ERR_TOPOLOGY, false}},
     {{"topology_alltoall", "a neighborhood without topology"},
      {ASSAY_WRONG(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_SELF)), MPI_ERR_TOPOLOGY, false}},
     {{"scan_inter", "MPI_Scan on an intercommunicator"},
      {ASSAY_WRONG(MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, inter)), MPI_ERR_COMM, true}},
     {{"exscan_inter", "MPI_Exscan on an intercommunicator"},
      {ASSAY_WRONG(MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, inter)), MPI_ERR_COMM, true}}});
#undef ASSAY_WRONG

} // namespace

ASSAY_TEST(coll, no_data, requirements{"coll.no_data"}, over(axis_use{&empty_calls}, communicators::few()),
           where(empty_calls, comm_axis(),
                 [](nothing const& n, communicator const& c) { return !n.intra_only || c.kind == comm_kind::intra; }),
           thread_safe{}) {
    std::vector<int> const zeros(static_cast<std::size_t>(std::max(mpi.size, mpi.remote_size)), 0);
    std::vector<MPI_Datatype> const types(zeros.size(), MPI_INT);
    int const root = !mpi.inter ? mpi.size - 1 : mpi.side == 1 ? 0 : mpi.rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    mpi.ok(mpi.at(empty_calls).call(mpi.comm, root, zeros.data(), types.data()));
}

ASSAY_TEST(coll, bottom, requirements{"coll.bottom"},
           over(axis_use{&moves}, communicators::of({"world", "reversed"}),
                only(count_ladder(), [](count_value const& c) { return c.n == 1 || c.n == 17 || c.n == 65536; })),
           thread_safe{}) {
    static constexpr int poison = -77;
    auto const n = static_cast<std::size_t>(mpi.size);
    std::size_t const m = mpi.elements;
    int const root = mpi.size - 1;
    std::vector<int> out(n * m), in(n * m + 1, poison);
    auto const value = [&](int from, std::size_t i) { return from * 1000003 + static_cast<int>(i); };
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(mpi.rank, i);
    auto const before = out;
    auto sent = type_at(mpi, out.data(), static_cast<int>(m)), received = type_at(mpi, in.data(), static_cast<int>(m));
    bool const at_root = mpi.rank == root;
    auto const how = mpi.at(moves);
    switch (how) {
    case move::bcast: mpi.ok(MPI_Bcast(MPI_BOTTOM, 1, at_root ? sent : received, root, mpi.comm)); break;
    case move::gather: mpi.ok(MPI_Gather(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, received, root, mpi.comm)); break;
    case move::scatter: mpi.ok(MPI_Scatter(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, received, root, mpi.comm)); break;
    case move::allgather: mpi.ok(MPI_Allgather(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, received, mpi.comm)); break;
    default: mpi.ok(MPI_Alltoall(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, received, mpi.comm)); break;
    }
    bool const all = how == move::allgather || how == move::alltoall || (how == move::gather && at_root),
               nothing_arrives = (how == move::gather || how == move::bcast) && at_root == (how == move::bcast);
    std::size_t const blocks = all ? n : nothing_arrives ? 0 : 1;
    for (std::size_t i = 0; i < in.size(); ++i) {
        int const from = all ? static_cast<int>(i / m) : root;
        bool const mine = how == move::alltoall || how == move::scatter; // the block for this process
        auto const right =
            i >= blocks * m ? poison : value(from, i % m + (mine ? static_cast<std::size_t>(mpi.rank) * m : 0));
        if (!mpi.check(in[i] == right, finding::data,
                       fmt::format("element {} of the receive buffer is {}, expected {}", i, in[i], right)))
            break;
    }
    mpi.check(out == before, finding::data, "the send buffer was changed");
    mpi.ok(MPI_Type_free(&sent));
    mpi.ok(MPI_Type_free(&received));
}

// Wrong use: a library need not notice, but where it does it names the right class and goes on.
ASSAY_TEST(coll, wrong_arguments, requirements{"coll.wrong_arguments"},
           over(axis_use{&wrongs}, communicators::of({"world", "inter_halved"})),
           where(wrongs, comm_axis(),
                 [](wrong const& w, communicator const& c) { return w.inter == (c.kind == comm_kind::inter); }),
           thread_safe{}) {
    auto const& w = mpi.at(wrongs);
    int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    erroneous_from_here();
    int const code = w.call(mpi.comm, a, b);
    int found = -7;
    mpi.ok(MPI_Error_class(code, &found));
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    mpi.ok(MPI_Error_string(w.error, text, &length));
    mpi.check(found == w.error, finding::return_, fmt::format("expected {}, got {}", text, error_text(code)));
    if (code == MPI_SUCCESS || w.inter) return;
    int const one = 1;
    int sum = -7;
    int const then = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    mpi.check(then == MPI_SUCCESS && sum == 1, finding::data,
              fmt::format("an allreduce after the refused call returns {} and gives {}", error_text(then), sum));
}
