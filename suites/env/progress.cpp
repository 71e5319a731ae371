// Progress (MPI-5.0 section 2.9): while a process is blocked in an MPI procedure, or repeats a test, its other operations
// go on. Rank 0 starts an operation and then occupies itself with something else; rank 1 completes the operation first and
// only then does its part of the something else.
#include "suites/common/completion.hpp"

#include <array>
#include <fmt/format.h>

using namespace assay;

namespace {

enum class started { isend, issend, bsend, irecv, ssend_init };
axis<started> const operations("started", {{{"isend", "a long MPI_Isend"}, started::isend},
                                           {{"issend", "MPI_Issend"}, started::issend},
                                           {{"bsend", "a long MPI_Bsend"}, started::bsend},
                                           {{"irecv", "MPI_Irecv of a long message"}, started::irecv},
                                           {{"ssend_init", "MPI_Start of MPI_Ssend_init"}, started::ssend_init}});
// What rank 0 is in: a call, or one that completes another request, or looks at it again and again.
enum class busy { recv, ssend, probe, mprobe, barrier, bcast, iprobe, completion };
struct occupation {
    busy with;
    completion_call call = {};
};
axis<occupation> const occupations("meanwhile", [] {
    std::vector<axis<occupation>::entry> all{{{"recv", "MPI_Recv"}, {busy::recv}},
                                             {{"ssend", "MPI_Ssend"}, {busy::ssend}},
                                             {{"probe", "MPI_Probe"}, {busy::probe}},
                                             {{"mprobe", "MPI_Mprobe"}, {busy::mprobe}},
                                             {{"barrier", "MPI_Barrier"}, {busy::barrier}},
                                             {{"bcast", "MPI_Bcast from rank 1"}, {busy::bcast}},
                                             {{"iprobe", "MPI_Iprobe, repeated"}, {busy::iprobe}}};
    add_completion_calls<occupation>(all, completion_calls(), [](completion_call const& call) {
        return occupation{busy::completion, call};
    });
    return all;
}());
constexpr int length = 300000; // ints: more than any library keeps for a receiver that is not ready
constexpr int token = 4711;

// Rank 0: returns only after rank 1 has done its part. Rank 1: its part.
void occupy(test_run& mpi, occupation const& in) {
    auto const how = in.with;
    bool const waits = mpi.rank == 0;
    int got = waits ? -7 : token;
    int flag = 0;
    if (how == busy::barrier) {
        mpi.ok(MPI_Barrier(mpi.comm));
        return;
    }
    if (how == busy::bcast) {
        mpi.ok(MPI_Bcast(&got, 1, MPI_INT, 1, mpi.comm));
    } else if (!waits) {
        if (how == busy::ssend) mpi.ok(MPI_Recv(&got, 1, MPI_INT, 0, mpi.tag(1), mpi.comm, MPI_STATUS_IGNORE));
        else mpi.ok(MPI_Send(&got, 1, MPI_INT, 0, mpi.tag(1), mpi.comm));
    } else {
        switch (how) {
        case busy::recv: mpi.ok(MPI_Recv(&got, 1, MPI_INT, 1, mpi.tag(1), mpi.comm, MPI_STATUS_IGNORE)); break;
        case busy::completion: {
            MPI_Request request = MPI_REQUEST_NULL;
            mpi.ok(MPI_Irecv(&got, 1, MPI_INT, 1, mpi.tag(1), mpi.comm, &request));
            complete(mpi, in.call, {&request, 1}, {.ignore = true});
            break;
        }
        case busy::ssend:
            got = token;
            mpi.ok(MPI_Ssend(&got, 1, MPI_INT, 1, mpi.tag(1), mpi.comm));
            break;
        case busy::probe:
            mpi.ok(MPI_Probe(1, mpi.tag(1), mpi.comm, MPI_STATUS_IGNORE));
            mpi.ok(MPI_Recv(&got, 1, MPI_INT, 1, mpi.tag(1), mpi.comm, MPI_STATUS_IGNORE));
            break;
        case busy::mprobe: {
            MPI_Message message = MPI_MESSAGE_NULL;
            mpi.ok(MPI_Mprobe(1, mpi.tag(1), mpi.comm, &message, MPI_STATUS_IGNORE));
            mpi.ok(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
            break;
        }
        case busy::iprobe:
            while (flag == 0 && mpi.ok(MPI_Iprobe(1, mpi.tag(1), mpi.comm, &flag, MPI_STATUS_IGNORE))) {}
            mpi.ok(MPI_Recv(&got, 1, MPI_INT, 1, mpi.tag(1), mpi.comm, MPI_STATUS_IGNORE));
            break;
        default: break;
        }
    }
    mpi.check(got == token, finding::data, fmt::format("the other message holds {}, expected {}", got, token));
}

} // namespace

ASSAY_TEST(env, progress, requirements{"terms.progress.blocked", "terms.progress.test"},
           over(axis_use{&operations}, axis_use{&occupations}, communicators::of({"world", "reversed"})),
           where(comm_axis(), [](job const& j, communicator const& c) { return smallest_size(c, j.np) > 1; }),
           thread_safe{}, uses_attached_buffer{}) {
    auto const what = mpi.at(operations);
    auto const& in = mpi.at(occupations);
    auto const how = in.with;
    std::vector<int> data(length, -7);
    auto const number = [](std::size_t i) { return static_cast<int>(i % 8191) - 100; };
    bool const receives = (what == started::irecv) == (mpi.rank == 0);
    if (mpi.rank < 2 && !receives)
        for (std::size_t i = 0; i < length; ++i) data[i] = number(i);
    if (mpi.rank > 1) {
        // Collective calls need everybody; nobody else has a part in the rest.
        if (how == busy::barrier || how == busy::bcast) {
            int got = -7;
            mpi.ok(how == busy::barrier ? MPI_Barrier(mpi.comm) : MPI_Bcast(&got, 1, MPI_INT, 1, mpi.comm));
        }
        return;
    }
    if (mpi.rank == 1) {
        if (receives) mpi.ok(MPI_Recv(data.data(), length, MPI_INT, 0, mpi.tag(), mpi.comm, MPI_STATUS_IGNORE));
        else mpi.ok(MPI_Ssend(data.data(), length, MPI_INT, 0, mpi.tag(), mpi.comm)); // returns when rank 0 receives
        occupy(mpi, in);
    } else {
        MPI_Request request = MPI_REQUEST_NULL;
        std::vector<unsigned char> space;
        switch (what) {
        case started::isend: mpi.ok(MPI_Isend(data.data(), length, MPI_INT, 1, mpi.tag(), mpi.comm, &request)); break;
        case started::issend: mpi.ok(MPI_Issend(data.data(), length, MPI_INT, 1, mpi.tag(), mpi.comm, &request)); break;
        case started::bsend: {
            int bytes = 0;
            mpi.ok(MPI_Pack_size(length, MPI_INT, mpi.comm, &bytes));
            space.resize(static_cast<std::size_t>(bytes) + MPI_BSEND_OVERHEAD);
            mpi.ok(MPI_Buffer_attach(space.data(), static_cast<int>(space.size())));
            mpi.ok(MPI_Bsend(data.data(), length, MPI_INT, 1, mpi.tag(), mpi.comm));
            break;
        }
        case started::irecv: mpi.ok(MPI_Irecv(data.data(), length, MPI_INT, 1, mpi.tag(), mpi.comm, &request)); break;
        case started::ssend_init:
            mpi.ok(MPI_Ssend_init(data.data(), length, MPI_INT, 1, mpi.tag(), mpi.comm, &request));
            mpi.ok(MPI_Start(&request));
            break;
        }
        occupy(mpi, in);
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (what == started::ssend_init) mpi.ok(MPI_Request_free(&request));
        if (what == started::bsend) {
            void* address = nullptr;
            int size = 0;
            mpi.ok(MPI_Buffer_detach(&address, &size));
        }
    }
    if (receives)
        for (std::size_t i = 0; i < length; ++i)
            if (data[i] != number(i)) {
                mpi.check(false, finding::data, fmt::format("element {} is {}, expected {}", i, data[i], number(i)));
                break;
            }
}
