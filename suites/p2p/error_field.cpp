// Who may set the error field of a status (MPI-5.0 sections 3.2.5 and 3.7.3). It is poisoned before each call.
#include "suites/common/completion.hpp"
#include "suites/p2p/pair.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::p2p;

namespace {

enum class through { recv, sendrecv, replace, mrecv, probe, iprobe, mprobe, improbe };
axis<through> const blocking("call", {{{"recv", "MPI_Recv"}, through::recv},
                                      {{"sendrecv", "MPI_Sendrecv"}, through::sendrecv},
                                      {{"sendrecv_replace", "MPI_Sendrecv_replace"}, through::replace},
                                      {{"mrecv", "MPI_Mrecv"}, through::mrecv},
                                      {{"probe", "MPI_Probe"}, through::probe},
                                      {{"iprobe", "MPI_Iprobe"}, through::iprobe},
                                      {{"mprobe", "MPI_Mprobe"}, through::mprobe},
                                      {{"improbe", "MPI_Improbe"}, through::improbe}});

} // namespace

ASSAY_TEST(p2p, error_field, requirements{"p2p.status.error_field"}, over(axis_use{&blocking}, communicators::few())) {
    auto const c = mpi.at(blocking);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto out = message(mpi.key_to(p.to), 4), in = room(4);
    auto status = poisoned_status();
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Message handle = MPI_MESSAGE_NULL;
    int flag = 0;
    if (c == through::sendrecv) {
        mpi.ok(MPI_Sendrecv(out.data(), 4, MPI_INT, p.to, mpi.tag(), in.data(), 4, MPI_INT, p.from, mpi.tag(), mpi.comm,
                            &status));
    } else if (c == through::replace) {
        in = out;
        mpi.ok(MPI_Sendrecv_replace(in.data(), 4, MPI_INT, p.to, mpi.tag(), p.from, mpi.tag(), mpi.comm, &status));
    } else {
        mpi.ok(MPI_Isend(out.data(), 4, MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
        if (c == through::probe) mpi.ok(MPI_Probe(p.from, mpi.tag(), mpi.comm, &status));
        if (c == through::iprobe)
            until([&] {
                status = poisoned_status(); // a call that finds no message leaves the status undefined (section 3.8.1)
                return !mpi.ok(MPI_Iprobe(p.from, mpi.tag(), mpi.comm, &flag, &status)) || flag != 0;
            });
        if (c == through::improbe)
            until([&] {
                status = poisoned_status();
                return !mpi.ok(MPI_Improbe(p.from, mpi.tag(), mpi.comm, &flag, &handle, &status)) || flag != 0;
            });
        if (c == through::mprobe || c == through::mrecv)
            mpi.ok(
                MPI_Mprobe(p.from, mpi.tag(), mpi.comm, &handle, c == through::mprobe ? &status : MPI_STATUS_IGNORE));
        bool const probed = c != through::recv && c != through::mrecv;
        auto* const of_receive = probed ? MPI_STATUS_IGNORE : &status;
        if (handle != MPI_MESSAGE_NULL) mpi.ok(MPI_Mrecv(in.data(), 4, MPI_INT, &handle, of_receive));
        else mpi.ok(MPI_Recv(in.data(), 4, MPI_INT, p.from, mpi.tag(), mpi.comm, of_receive));
        mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    mpi.expect(status).source(p.from).tag(mpi.tag()).count(4, MPI_INT, sizeof(int)).error_untouched();
    expect_message(mpi, in, mpi.key_from(p.from), 4, "of the call whose status is looked at");
}

// Two receives by each call that completes requests, without an error.
ASSAY_TEST(p2p, error_field_completed, requirements{"p2p.status.error_field", "p2p.status.error_field_single"},
           over(calls_that_complete(), communicators::few())) {
    auto const& c = mpi.at(completion_calls());
    auto const p = pair_of(mpi);
    if (p.idle) return;
    std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL), sends(2, MPI_REQUEST_NULL);
    std::vector<std::vector<int>> in(2, room(4)), out(2);
    for (int i : {0, 1}) {
        auto const u = static_cast<std::size_t>(i);
        out[u] = message(mpi.key_to(p.to, i), 4);
        mpi.ok(MPI_Irecv(in[u].data(), 4, MPI_INT, p.from, mpi.tag(i), mpi.comm, &requests[u]));
    }
    for (int i : {0, 1}) {
        auto const u = static_cast<std::size_t>(i);
        mpi.ok(MPI_Isend(out[u].data(), 4, MPI_INT, p.to, mpi.tag(i), mpi.comm, &sends[u]));
    }
    bool const one_status = c.single() || c.any();
    for (auto const& status : complete(mpi, c, requests))
        mpi.expect(status).error_untouched(one_status ? requirement("p2p.status.error_field_single")
                                                      : requirement("p2p.status.error_field"));
    for (int i : {0, 1})
        expect_message(mpi, in[static_cast<std::size_t>(i)], mpi.key_from(p.from, i), 4, fmt::format("receive {}", i));
    mpi.ok(MPI_Waitall(2, sends.data(), MPI_STATUSES_IGNORE));
}
