// One exchange of messages for all patterns: who sends to whom × how a send is made × how it is received × how requests
// are completed. Tests of this folder are patterns; the rest are axes.
#pragma once
#include "suites/common/completion.hpp"
#include "suites/common/described.hpp"

#include <vector>

namespace assay::p2p {

// The send modes of MPI-5.0 section 3.4, blocking, nonblocking (3.7) and persistent (3.9).
struct send_mode {
    enum class kind { standard, buffered, synchronous, ready } kind;
    enum class start { blocking, nonblocking, persistent } start;
    // A blocking call that may wait for its receive.
    bool may_block() const { return start == start::blocking && kind != kind::buffered; }
};
axis<send_mode> const& modes();

enum class receive_way { irecv, recv, recv_init, probe, iprobe, mprobe, improbe };
axis<receive_way> const& receives();
bool posted_before_send(receive_way way); // irecv and recv_init: before the matching send starts

struct wildcard {
    bool source, tag;
};
axis<wildcard> const& wildcard_axis();

// What this rank does in a pattern. A peer may occur several times; -1 is MPI_PROC_NULL.
struct pattern {
    std::vector<int> to, from;
    bool sends_first = true; // matters only for blocking sends with receives that are not posted before
};

pattern ring(test_run const& mpi);    // intracommunicator: to the right, from the left
pattern partner(test_run const& mpi); // intercommunicator: the process of the same rank on the other side
pattern many_to_one(test_run const& mpi, int messages); // all to rank 0 (of the other side)
pattern all_to_all(test_run const& mpi);
pattern neighbours(test_run const& mpi); // the edges of the topology, by its definition

struct manner {
    send_mode mode;
    receive_way receive;
    callable completion;
    wildcard any = {false, false};
    bool same_value = false; // every rank sends the same bytes
    // How the two ends describe the message; without them it is so many elements of the case's datatype on both.
    described const *sent = nullptr, *received = nullptr;
};

// Sends, receives, completes and checks everything: data, gaps, guards, statuses, requests.
void exchange(test_run& mpi, pattern const& who, manner const& how);

// Combinations that make sense everywhere: a ready send needs its receive posted; the way of completion is a question
// only where there are requests.
constraint sensible_receive();
constraint sensible_completion();
// Blocking sends whose receives come later need a partner that receives first.
constraint blocking_needs_two();  // patterns with an order of sending: at least two members
constraint blocking_needs_post(); // patterns without

} // namespace assay::p2p
