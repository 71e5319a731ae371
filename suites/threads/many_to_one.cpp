// Several threads of rank 0 take messages from anywhere, in a race: each message goes to exactly one of them, whole. Probing
// and receiving are one step with MPI_Mprobe only (MPI-5.0 section 3.8.2).
#include "suites/p2p/exchange.hpp"
#include "suites/threads/threads.hpp"

#include <sched.h>

using namespace assay;
using namespace assay::p2p;

namespace {
constexpr int a_thread = 4; // messages that each thread of a rank sends; at most 16 tags
}

ASSAY_TEST(threads, many_to_one, requirements{"threads.multiple", "threads.matched_probe", "p2p.wildcard.source"},
           over(only(receives(),
                     [](receive_way w) {
                         return w == receive_way::irecv || w == receive_way::recv || w == receive_way::mprobe ||
                                w == receive_way::improbe;
                     }),
                axis_use{&threads::numbers()}, communicators::intra(), datatypes::all(), counts::ladder()),
           fits_memory(true), threads::few_types_elsewhere(), own_threads{threads::most}, wildcards{}) {
    int const n = mpi.at(threads::numbers()), all = n * a_thread;
    for (int k = 0; k < all; ++k) mpi.tag(k);                       // also those that only other ranks use
    std::vector<std::vector<int>> got(static_cast<std::size_t>(n)); // by thread: rank and number of what it received
    mpi.in_threads(n, false, [&](test_run& mine) {
        int const first = mine.thread() * a_thread;
        std::vector<buffer*> out;
        std::vector<MPI_Request> requests;
        for (int k = 0; k < a_thread; ++k) {
            out.push_back(&mine.incoming());
            out.back()->fill(mpi.key_to(0, first + k));
            mine.ok(MPI_Isend(*out.back(), mine.count, mine.type, 0, mpi.first_tag() + first + k, mine.comm,
                              &requests.emplace_back(MPI_REQUEST_NULL)));
        }
        auto& in = mine.incoming();
        for (int k = 0; mine.rank == 0 && k < a_thread * mine.size; ++k) {
            auto status = poisoned_status();
            MPI_Message message = MPI_MESSAGE_NULL;
            MPI_Request request = MPI_REQUEST_NULL;
            int flag = 0;
            in.poison();
            switch (mine.at(receives())) {
            case receive_way::mprobe:
                mine.ok(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mine.comm, &message, MPI_STATUS_IGNORE));
                mine.ok(MPI_Mrecv(in, mine.count, mine.type, &message, &status));
                break;
            case receive_way::improbe:
                while (flag == 0 &&
                       mine.ok(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, mine.comm, &flag, &message, MPI_STATUS_IGNORE)))
                    if (flag == 0) sched_yield();
                mine.ok(MPI_Imrecv(in, mine.count, mine.type, &message, &request));
                mine.ok(MPI_Wait(&request, &status));
                break;
            case receive_way::irecv:
                mine.ok(MPI_Irecv(in, mine.count, mine.type, MPI_ANY_SOURCE, MPI_ANY_TAG, mine.comm, &request));
                mine.ok(MPI_Wait(&request, &status));
                break;
            default:
                mine.ok(MPI_Recv(in, mine.count, mine.type, MPI_ANY_SOURCE, MPI_ANY_TAG, mine.comm, &status));
                break;
            }
            mine.check_null(request);
            mine.expect(status).count(mine.elements).not_cancelled();
            int const from = status.MPI_SOURCE, number = status.MPI_TAG - mpi.first_tag();
            if (!mine.check(from >= 0 && from < mine.size && number >= 0 && number < all, finding::source,
                            "received a message from rank " + std::to_string(from) + " with tag " +
                                std::to_string(status.MPI_TAG) + ", which nobody sent"))
                continue;
            in.expect(mpi.key_from(from, number), mine.elements,
                      "of message " + std::to_string(number) + " from rank " + std::to_string(from));
            got[static_cast<std::size_t>(mine.thread())].push_back(from * all + number);
        }
        mine.ok(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
        for (auto* b : out) b->expect_unchanged();
    });
    if (mpi.rank != 0) return;
    std::vector<int> times(static_cast<std::size_t>(all * mpi.size), 0);
    for (auto const& of_thread : got)
        for (int which : of_thread) ++times[static_cast<std::size_t>(which)];
    for (int which = 0; which < all * mpi.size; ++which)
        mpi.check(times[static_cast<std::size_t>(which)] == 1, finding::source,
                  "message " + std::to_string(which % all) + " of rank " + std::to_string(which / all) +
                      " was received " + std::to_string(times[static_cast<std::size_t>(which)]) + " times");
}
