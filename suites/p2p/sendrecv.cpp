// Keller: "Ring Sendrecv" — the calls that send and receive at once (MPI-5.0 section 3.2.7).
#include "suites/p2p/exchange.hpp"
#include "suites/p2p/pair.hpp"

#include <fmt/format.h>

using namespace assay;

namespace {
enum class call { sendrecv, replace, isendrecv, ireplace };
axis<call> const
    calls("call",
          {{value_info("sendrecv", "MPI_Sendrecv").in_thesis("Ring Sendrecv"), call::sendrecv},
           {{"sendrecv_replace", "MPI_Sendrecv_replace"}, call::replace},
           {{"isendrecv", "MPI_Isendrecv, since MPI-4.0", needs_procedures({"MPI_Isendrecv"})}, call::isendrecv},
           {{"isendrecv_replace", "MPI_Isendrecv_replace, since MPI-4.0", needs_procedures({"MPI_Isendrecv_replace"})},
            call::ireplace}});
axis<int> const directions("direction", {{{"right", "to the right, from the left"}, 1},
                                         {{"left", "to the left, from the right"}, -1}});
} // namespace

ASSAY_TEST(p2p, ring_sendrecv,
           requirements{"p2p.sendrecv.data", "p2p.sendrecv.replace", "p2p.isendrecv.status", "p2p.status.fields"},
           over(axis_use{&calls}, axis_use{&directions}, communicators::intra(), datatypes::all(), counts::ladder(),
                placements::all()),
           fits_memory(false), thread_safe{}) {
    auto const c = mpi.at(calls);
    bool const replace = c == call::replace || c == call::ireplace;
    int const step = mpi.at(directions), to = (mpi.rank + step + mpi.size) % mpi.size,
              from = (mpi.rank - step + mpi.size) % mpi.size;
    auto& out = mpi.outgoing(to);
    auto& in = replace ? out : mpi.incoming();
    auto status = poisoned_status();
    MPI_Request request = MPI_REQUEST_NULL;
    switch (c) {
    case call::sendrecv:
        mpi.ok(MPI_Sendrecv(out, mpi.count, mpi.type, to, mpi.tag(), in, mpi.count, mpi.type, from, mpi.tag(), mpi.comm,
                            &status));
        break;
    case call::replace:
        mpi.ok(MPI_Sendrecv_replace(out, mpi.count, mpi.type, to, mpi.tag(), from, mpi.tag(), mpi.comm, &status));
        break;
    case call::isendrecv:
        mpi.ok(MPI_Isendrecv(out, mpi.count, mpi.type, to, mpi.tag(), in, mpi.count, mpi.type, from, mpi.tag(),
                             mpi.comm, &request));
        mpi.ok(MPI_Wait(&request, &status));
        mpi.check_null(request);
        break;
    case call::ireplace:
        mpi.ok(MPI_Isendrecv_replace(out, mpi.count, mpi.type, to, mpi.tag(), from, mpi.tag(), mpi.comm, &request));
        mpi.ok(MPI_Wait(&request, &status));
        mpi.check_null(request);
        break;
    }
    {
        bool const nonblocking = c == call::isendrecv || c == call::ireplace;
        auto const basis =
            mpi.resting_on(nonblocking ? requirement("p2p.isendrecv.status") : requirement("p2p.status.fields"));
        mpi.expect(status).source(from).tag(mpi.tag()).count(mpi.elements).not_cancelled();
    }
    in.expect(mpi.key_from(from), mpi.elements, "from rank " + std::to_string(from));
    if (!replace) out.expect_unchanged();
}

ASSAY_TEST(p2p, sendrecv_layouts, requirements{"p2p.sendrecv.types", "p2p.sendrecv.data", "p2p.types.signature"},
           over(only(calls, [](call c) { return c == call::sendrecv || c == call::isendrecv; }), axis_use{&sent_as()},
                axis_use{&received_as()}, communicators::few(), described_types(), described_counts(),
                placements::all()),
           fits_memory(false), note{"messages of six times as many elements as `count` says"}, thread_safe{}) {
    auto const p = p2p::pair_of(mpi);
    if (p.idle) return;
    described const sent(mpi, mpi.at(sent_as())), received(mpi, mpi.at(received_as()));
    auto &out = sent.room(), &in = received.room();
    out.fill(sent.block(0, mpi.key_to(p.to)));
    auto status = poisoned_status();
    if (mpi.at(calls) == call::sendrecv) {
        mpi.ok(MPI_Sendrecv(out, sent.n(), sent.type, p.to, mpi.tag(), in, received.n(), received.type, p.from,
                            mpi.tag(), mpi.comm, &status));
        mpi.expect(status).source(p.from).tag(mpi.tag()).count(received.count, received.type, received.map.size());
    } else {
        MPI_Request request = MPI_REQUEST_NULL;
        mpi.ok(MPI_Isendrecv(out, sent.n(), sent.type, p.to, mpi.tag(), in, received.n(), received.type, p.from,
                             mpi.tag(), mpi.comm, &request));
        mpi.ok(MPI_Wait(&request, &status));
        mpi.check_null(request);
    }
    in.expect(received.block(0, mpi.key_from(p.from)), fmt::format("from rank {}", p.from));
    out.expect_unchanged();
}
