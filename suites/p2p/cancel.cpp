// Keller: "Many-to-one Isend&Cancel" — a cancelled message is delivered whole or not at all (MPI-5.0 section 3.8.4).
#include "framework/check/logical.hpp"
#include "suites/p2p/exchange.hpp"

using namespace assay;

// Cancelling a send is deprecated since MPI-4.0, and the library may always deliver instead.
ASSAY_TEST(p2p, many_to_one_cancel, requirements{"p2p.cancel.send", "p2p.cancel.test_cancelled"},
           over(communicators::usable(), datatypes::all(), counts::ladder(), placements::all()), fits_memory(true),
           thread_safe{}) {
    // On an intercommunicator one side sends and the other receives: a rank that waits for its own send could not offer
    // the receive that another one waits for.
    bool const receives = mpi.rank == 0 && mpi.side == 0,
               sends = mpi.inter ? mpi.side == 1 : mpi.rank != 0 || mpi.size == 1;
    int const message = mpi.tag(0), verdict = mpi.tag(1);
    MPI_Request told = MPI_REQUEST_NULL;
    int cancelled = -1;
    buffer* out = nullptr;
    if (sends) {
        out = &mpi.outgoing(0);
        MPI_Request request = MPI_REQUEST_NULL;
        auto status = poisoned_status();
        mpi.ok(MPI_Isend(*out, mpi.count, mpi.type, 0, message, mpi.comm, &request));
        mpi.ok(MPI_Cancel(&request));
        MPI_Request probe = MPI_REQUEST_NULL;
        // The receiver cannot know whether there will be a message; the sender tells it in another one.
        if (receives) {
            // Alone: a message to oneself that was not cancelled completes only when it is received.
            int flag = 0;
            mpi.ok(MPI_Test(&request, &flag, &status));
            if (flag == 0) {
                auto& in = mpi.incoming();
                mpi.ok(MPI_Irecv(in, mpi.count, mpi.type, 0, message, mpi.comm, &probe));
                mpi.ok(MPI_Wait(&request, &status));
                mpi.ok(MPI_Test_cancelled(&status, &cancelled));
                if (cancelled == 0) {
                    mpi.ok(MPI_Wait(&probe, MPI_STATUS_IGNORE));
                    in.expect(mpi.key_from(0), mpi.elements, "from oneself, not cancelled");
                } else {
                    mpi.ok(MPI_Cancel(&probe));
                    mpi.ok(MPI_Wait(&probe, MPI_STATUS_IGNORE));
                    in.expect_untouched();
                }
                mpi.check_null(request);
                out->expect_unchanged();
                return;
            }
        } else {
            // Completion must not depend on the receiver (it waits for our word): "local" if the cancel succeeds, and
            // else the receiver probes for both.
            int flag = 0;
            for (int polls = 0; flag == 0 && polls < 200; ++polls) mpi.ok(MPI_Test(&request, &flag, &status));
            if (flag == 0) {
                int const undecided = 2;
                mpi.ok(MPI_Isend(&undecided, 1, MPI_INT, 0, verdict, mpi.comm, &told));
                mpi.ok(MPI_Wait(&told, MPI_STATUS_IGNORE));
                mpi.ok(MPI_Wait(&request, &status));
            }
        }
        mpi.check_null(request);
        mpi.ok(MPI_Test_cancelled(&status, &cancelled));
        cancelled = logical(cancelled) ? 1 : 0; // 2 says something else to the receiver
        mpi.ok(MPI_Isend(&cancelled, 1, MPI_INT, 0, verdict, mpi.comm, &told));
    }
    if (receives)
        for (int peer = 0; peer < mpi.peers; ++peer) {
            if (!mpi.inter && peer == 0 && mpi.size > 1) continue;
            int word = -1;
            mpi.ok(MPI_Recv(&word, 1, MPI_INT, peer, verdict, mpi.comm, MPI_STATUS_IGNORE));
            auto& in = mpi.incoming();
            MPI_Request pending = MPI_REQUEST_NULL;
            auto status = poisoned_status();
            if (word == 2) { // still open on the other side: offer a receive, and wait for the last word
                mpi.ok(MPI_Irecv(in, mpi.count, mpi.type, peer, message, mpi.comm, &pending));
                mpi.ok(MPI_Recv(&word, 1, MPI_INT, peer, verdict, mpi.comm, MPI_STATUS_IGNORE));
            } else if (word == 0) {
                mpi.ok(MPI_Irecv(in, mpi.count, mpi.type, peer, message, mpi.comm, &pending));
            }
            if (word == 0) {
                mpi.ok(MPI_Wait(&pending, &status));
                mpi.expect(status).source(peer).tag(message).count(mpi.elements);
                in.expect(mpi.key_from(peer), mpi.elements, "from rank " + std::to_string(peer) + ", not cancelled");
            } else {
                if (pending != MPI_REQUEST_NULL) {
                    mpi.ok(MPI_Cancel(&pending));
                    mpi.ok(MPI_Wait(&pending, MPI_STATUS_IGNORE));
                }
                int there = -1;
                mpi.ok(MPI_Iprobe(peer, message, mpi.comm, &there, MPI_STATUS_IGNORE));
                mpi.check(there == 0, finding::cancelled,
                          "the message of rank " + std::to_string(peer) + " arrived although its cancel succeeded");
                in.expect_untouched();
            }
        }
    if (told != MPI_REQUEST_NULL) mpi.ok(MPI_Wait(&told, MPI_STATUS_IGNORE));
    if (out != nullptr) out->expect_unchanged();
}

ASSAY_TEST(p2p, cancel_receive, requirements{"p2p.cancel.receive", "p2p.cancel.test_cancelled"},
           over(communicators::usable(), datatypes::all(), counts::ladder(), placements::all()), fits_memory(false),
           thread_safe{}) {
    auto& in = mpi.incoming();
    MPI_Request request = MPI_REQUEST_NULL;
    auto status = poisoned_status();
    // Nobody sends with this tag: the cancel must succeed.
    mpi.ok(MPI_Irecv(in, mpi.count, mpi.type, mpi.rank % mpi.peers, mpi.tag(), mpi.comm, &request));
    mpi.ok(MPI_Cancel(&request));
    mpi.ok(MPI_Wait(&request, &status));
    mpi.check_null(request);
    int cancelled = 0;
    mpi.ok(MPI_Test_cancelled(&status, &cancelled));
    mpi.check(logical(cancelled), finding::cancelled,
              "a receive that nothing can match must be cancelled; MPI_Test_cancelled gives " +
                  std::to_string(cancelled));
    in.expect_untouched();
}
