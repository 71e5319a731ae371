// Accesses to MPI_PROC_NULL (MPI-5.0 section 12.3): they move nothing, and the epoch still has to be closed.
#include "suites/rma/window.hpp"

using namespace assay;
using namespace assay::rma;

namespace {
enum class call {
    put,
    get,
    accumulate,
    get_accumulate,
    fetch_and_op,
    compare_and_swap,
    rput,
    rget,
    raccumulate,
    rget_accumulate
};
axis<call> const calls("access", {{{"put", "MPI_Put"}, call::put},
                                  {{"get", "MPI_Get"}, call::get},
                                  {{"accumulate", "MPI_Accumulate"}, call::accumulate},
                                  {{"get_accumulate", "MPI_Get_accumulate"}, call::get_accumulate},
                                  {{"fetch_and_op", "MPI_Fetch_and_op"}, call::fetch_and_op},
                                  {{"compare_and_swap", "MPI_Compare_and_swap"}, call::compare_and_swap},
                                  {{"rput", "MPI_Rput"}, call::rput},
                                  {{"rget", "MPI_Rget"}, call::rget},
                                  {{"raccumulate", "MPI_Raccumulate"}, call::raccumulate},
                                  {{"rget_accumulate", "MPI_Rget_accumulate"}, call::rget_accumulate}});
bool has_request(call c) { return c >= call::rput; }
bool single(call c) { return c == call::fetch_and_op || c == call::compare_and_swap; }
} // namespace

ASSAY_TEST(rma, proc_null, requirements{"rma.proc_null", "rma.proc_null.request"},
           over(axis_use{&calls}, axis_use{&syncs()}, axis_use{&flavors()}, communicators::intra(),
                datatypes::of({"int", "int64_t"}),
                only(count_ladder(), [](count_value const& c) { return c.n == 0 || c.n == 1 || c.n == 17; })),
           where(calls, syncs(), [](call c, sync_way s) { return !has_request(c) || passive(s); }),
           where(calls, count_ladder(), [](call c, count_value const& n) { return !single(c) || n.n == 1; }),
           thread_safe{}) {
    auto const how = mpi.at(syncs());
    auto const who = pattern_of(mpi, shape::ring);
    window win(mpi, {mpi.at(flavors()), unit::byte, false}, mpi.map, mpi.elements, 1, passive(how));
    if (!win.made()) return;
    auto &out = mpi.outgoing(0), &with = mpi.outgoing(0, 1), &in = mpi.incoming();
    int const n = mpi.count, nobody = MPI_PROC_NULL, neighbour = who.targets[0];
    auto const t = mpi.type;
    MPI_Request request = MPI_REQUEST_NULL;
    epoch round(mpi, win, how, who.targets, who.origins, true);
    round.store([&] { win.memory().poison(); });
    round.begin(neighbour);
    switch (mpi.at(calls)) {
    case call::put: mpi.ok(MPI_Put(out, n, t, nobody, 0, n, t, win)); break;
    case call::get: mpi.ok(MPI_Get(in, n, t, nobody, 0, n, t, win)); break;
    case call::accumulate: mpi.ok(MPI_Accumulate(out, n, t, nobody, 0, n, t, MPI_SUM, win)); break;
    case call::get_accumulate: mpi.ok(MPI_Get_accumulate(out, n, t, in, n, t, nobody, 0, n, t, MPI_SUM, win)); break;
    case call::fetch_and_op: mpi.ok(MPI_Fetch_and_op(out, in, t, nobody, 0, MPI_SUM, win)); break;
    case call::compare_and_swap: mpi.ok(MPI_Compare_and_swap(out, with, in, t, nobody, 0, win)); break;
    case call::rput: mpi.ok(MPI_Rput(out, n, t, nobody, 0, n, t, win, &request)); break;
    case call::rget: mpi.ok(MPI_Rget(in, n, t, nobody, 0, n, t, win, &request)); break;
    case call::raccumulate: mpi.ok(MPI_Raccumulate(out, n, t, nobody, 0, n, t, MPI_SUM, win, &request)); break;
    case call::rget_accumulate:
        mpi.ok(MPI_Rget_accumulate(out, n, t, in, n, t, nobody, 0, n, t, MPI_SUM, win, &request));
        break;
    }
    if (has_request(mpi.at(calls))) {
        auto const rests = mpi.resting_on("rma.proc_null.request");
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        mpi.check_null(request);
    }
    round.flush(neighbour);
    round.end(neighbour);
    round.flush_all();
    round.finish();
    win.memory().expect_untouched();
    round.leave();
    out.expect_unchanged();
    with.expect_unchanged();
    in.expect_untouched();
}
