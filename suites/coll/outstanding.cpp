// Several collective operations at once: order of initiation, order of completion, what may go on meanwhile (MPI-5.0
// sections 6.12, 6.13 and 6.14).
#include "suites/coll/outstanding.hpp"
#include "framework/check/logical.hpp"

#include "suites/coll/collective.hpp"
#include "suites/common/completion.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

namespace assay::coll {
namespace {

enum kind { bcast, allreduce, gather, allgather, alltoall, scan, reduce, reduce_scatter_block, scatter };
constexpr int poisoned = -77;

} // namespace

numbered::numbered(test_run& mpi, int number, MPI_Comm comm, int rank, int size, std::size_t elements)
    : mpi_(mpi),
      number_(number),
      comm_(comm),
      rank_(rank),
      size_(size),
      block_(static_cast<int>(elements)),
      root_(number % size) {}

std::vector<int> numbered::contribution(int from) const {
    std::vector<int> values(static_cast<std::size_t>(block_ * size_));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = (number_ * 7919 + round_ * 104729 + from * 1009 + static_cast<int>(i)) % 100003;
    return values;
}

void numbered::prepare(int round) {
    round_ = round;
    auto const block = static_cast<std::size_t>(block_), size = static_cast<std::size_t>(size_),
               rank = static_cast<std::size_t>(rank_);
    bool const at_root = rank_ == root_;
    // Blocks [first, first + n) of what processes [0, ranks) bring, added up.
    auto const sum = [&](int ranks, std::size_t first, std::size_t n) {
        std::vector<int> total(n * block);
        for (int r = 0; r < ranks; ++r) {
            auto const part = contribution(r);
            for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[first * block + i];
        }
        return total;
    };
    auto const first_block = [&](int from) {
        auto part = contribution(from);
        part.resize(block);
        return part;
    };
    auto const mine = contribution(rank_);
    out_.assign(mine.begin(), mine.end()); // stays where it is: persistent operations know its address
    std::vector<int> result;
    switch (number_ % kinds) {
    case bcast: result = first_block(root_); break;
    case allreduce: result = sum(size_, 0, 1); break;
    case reduce:
        if (at_root) result = sum(size_, 0, 1);
        break;
    case scan: result = sum(rank_ + 1, 0, 1); break;
    case reduce_scatter_block: result = sum(size_, rank, 1); break;
    case gather:
    case allgather:
        if (number_ % kinds == gather && !at_root) break;
        for (int r = 0; r < size_; ++r) {
            auto const part = first_block(r);
            result.insert(result.end(), part.begin(), part.end());
        }
        break;
    case alltoall:
    case scatter:
        for (int r = 0; r < size_; ++r) {
            if (number_ % kinds == scatter && r != root_) continue;
            auto const part = contribution(r);
            auto const here = part.begin() + rank_ * block_;
            result.insert(result.end(), here, here + block_);
        }
        break;
    }
    in_.assign(block * size, poisoned);
    expected_ = in_;
    std::copy(result.begin(), result.end(), expected_.begin());
    if (number_ % kinds == bcast && at_root) std::copy_n(out_.begin(), block, in_.begin());
}

void numbered::initiate(MPI_Request* request) {
    auto* const out = out_.data();
    auto* const in = in_.data();
    switch (number_ % kinds) {
    case bcast: mpi_.ok(MPI_Ibcast(in, block_, MPI_INT, root_, comm_, request)); break;
    case allreduce: mpi_.ok(MPI_Iallreduce(out, in, block_, MPI_INT, MPI_SUM, comm_, request)); break;
    case gather: mpi_.ok(MPI_Igather(out, block_, MPI_INT, in, block_, MPI_INT, root_, comm_, request)); break;
    case allgather: mpi_.ok(MPI_Iallgather(out, block_, MPI_INT, in, block_, MPI_INT, comm_, request)); break;
    case alltoall: mpi_.ok(MPI_Ialltoall(out, block_, MPI_INT, in, block_, MPI_INT, comm_, request)); break;
    case scan: mpi_.ok(MPI_Iscan(out, in, block_, MPI_INT, MPI_SUM, comm_, request)); break;
    case reduce: mpi_.ok(MPI_Ireduce(out, in, block_, MPI_INT, MPI_SUM, root_, comm_, request)); break;
    case reduce_scatter_block:
        mpi_.ok(MPI_Ireduce_scatter_block(out, in, block_, MPI_INT, MPI_SUM, comm_, request));
        break;
    case scatter: mpi_.ok(MPI_Iscatter(out, block_, MPI_INT, in, block_, MPI_INT, root_, comm_, request)); break;
    }
}

void numbered::initialize(MPI_Request* request) {
    auto* const out = out_.data();
    auto* const in = in_.data();
    auto const no = MPI_INFO_NULL;
    switch (number_ % kinds) {
    case bcast: mpi_.ok(MPI_Bcast_init(in, block_, MPI_INT, root_, comm_, no, request)); break;
    case allreduce: mpi_.ok(MPI_Allreduce_init(out, in, block_, MPI_INT, MPI_SUM, comm_, no, request)); break;
    case gather: mpi_.ok(MPI_Gather_init(out, block_, MPI_INT, in, block_, MPI_INT, root_, comm_, no, request)); break;
    case allgather: mpi_.ok(MPI_Allgather_init(out, block_, MPI_INT, in, block_, MPI_INT, comm_, no, request)); break;
    case alltoall: mpi_.ok(MPI_Alltoall_init(out, block_, MPI_INT, in, block_, MPI_INT, comm_, no, request)); break;
    case scan: mpi_.ok(MPI_Scan_init(out, in, block_, MPI_INT, MPI_SUM, comm_, no, request)); break;
    case reduce: mpi_.ok(MPI_Reduce_init(out, in, block_, MPI_INT, MPI_SUM, root_, comm_, no, request)); break;
    case reduce_scatter_block:
        mpi_.ok(MPI_Reduce_scatter_block_init(out, in, block_, MPI_INT, MPI_SUM, comm_, no, request));
        break;
    case scatter:
        mpi_.ok(MPI_Scatter_init(out, block_, MPI_INT, in, block_, MPI_INT, root_, comm_, no, request));
        break;
    }
}

void numbered::judge() {
    static constexpr std::array names{"broadcast", "allreduce", "gather", "allgather",
                                      "alltoall",  "scan",      "reduce", "reduce_scatter_block",
                                      "scatter"};
    auto const wrong = std::mismatch(in_.begin(), in_.end(), expected_.begin());
    mpi_.check(wrong.first == in_.end(), finding::data,
               wrong.first == in_.end()
                   ? ""
                   : fmt::format("operation {}, a {}: element {} of the receive buffer is {}, expected {}", number_,
                                 names[static_cast<std::size_t>(number_ % kinds)], wrong.first - in_.begin(),
                                 *wrong.first, *wrong.second));
    mpi_.check(out_ == contribution(rank_), finding::data,
               fmt::format("operation {} changed its send buffer", number_));
}

namespace {

std::list<numbered> initiated(test_run& mpi, int n, std::vector<MPI_Request>& requests) {
    std::list<numbered> operations;
    requests.assign(static_cast<std::size_t>(n), MPI_REQUEST_NULL);
    for (int i = 0; i < n; ++i) {
        auto& o = operations.emplace_back(mpi, i);
        o.prepare();
        o.initiate(&requests[static_cast<std::size_t>(i)]);
    }
    return operations;
}

void judge_all(test_run& mpi, std::list<numbered>& operations, std::vector<MPI_Request> const& requests) {
    for (auto request : requests) mpi.check_null(request);
    for (auto& o : operations) o.judge();
}

axis_use plain_intra() { return communicators::of({"world", "self", "reversed", "dup"}); }
axis_use some_sizes() {
    return only(count_ladder(), [](count_value const& c) { return c.n == 1 || c.n == 65536; });
}
axis_use integers() { return datatypes::of({"int"}); }

// A way to complete a list of requests.
struct way {
    completion_call call;
    bool last_first;
};
axis<way> const finishes("finish", [] {
    std::vector<axis<way>::entry> all;
    add_completion_calls<way>(all, completion_calls(), [](completion_call const& call) { return way{call, false}; });
    all.push_back({{"reversed", "MPI_Wait, the last one first"}, {completion_by("wait"), true}});
    return all;
}());
axis<int> const numbers("outstanding", {{{"1", "one operation"}, 1},
                                        {{"9", "one of each kind"}, numbered::kinds},
                                        {{"90", "ten of each kind"}, 10 * numbered::kinds}});

} // namespace

ASSAY_TEST(coll, outstanding,
           requirements{"coll.nonblocking.many", "coll.nonblocking.completion", "coll.nonblocking.independent"},
           over(axis_use{&finishes}, axis_use{&numbers}, plain_intra(), integers(), some_sizes()), thread_safe{}) {
    std::vector<MPI_Request> requests;
    auto operations = initiated(mpi, mpi.at(numbers), requests);
    auto const& how = mpi.at(finishes);
    complete(mpi, how.call, requests, {.ignore = true, .last_first = how.last_first});
    judge_all(mpi, operations, requests);
}

namespace {
enum class meanwhile { collective, message, waitall, barrier };
axis<meanwhile> const meanwhiles(
    "meanwhile",
    {{{"collective", "blocking collective operations on the same communicator"}, meanwhile::collective},
     {{"message", "messages on the same communicator"}, meanwhile::message},
     {{"waitall", "messages that are completed together with the operations"}, meanwhile::waitall},
     {{"barrier", "a process waits in a receive for what is sent after a nonblocking barrier"}, meanwhile::barrier}});
} // namespace

ASSAY_TEST(coll, meanwhile,
           requirements{"coll.nonblocking.interleaved", "coll.nonblocking.messages", "coll.nonblocking.mixed",
                        "coll.nonblocking.progress"},
           over(axis_use{&meanwhiles}, plain_intra(), integers(), some_sizes()), thread_safe{}) {
    auto const how = mpi.at(meanwhiles);
    int const next = (mpi.rank + 1) % mpi.size, before = (mpi.rank + mpi.size - 1) % mpi.size, tag = mpi.tag();
    auto& sent = mpi.outgoing(next);
    auto& received = mpi.incoming();
    std::vector<MPI_Request> requests;
    auto operations = initiated(mpi, numbered::kinds, requests);
    auto const receive = [&](MPI_Request* request) {
        mpi.ok(MPI_Irecv(received, mpi.count, mpi.type, before, tag, mpi.comm, request));
    };
    switch (how) {
    case meanwhile::collective: {
        int sum = -7, value = mpi.rank == 0 ? 4711 : -7;
        mpi.ok(MPI_Allreduce(&mpi.rank, &sum, 1, MPI_INT, MPI_SUM, mpi.comm));
        mpi.ok(MPI_Bcast(&value, 1, MPI_INT, 0, mpi.comm));
        mpi.ok(MPI_Barrier(mpi.comm));
        mpi.check(sum == mpi.size * (mpi.size - 1) / 2, finding::data,
                  fmt::format("MPI_Allreduce among nonblocking operations gives {}", sum));
        mpi.check(value == 4711, finding::data, fmt::format("MPI_Bcast among nonblocking operations gives {}", value));
        break;
    }
    case meanwhile::message: {
        auto status = poisoned_status();
        mpi.ok(MPI_Sendrecv(sent, mpi.count, mpi.type, next, tag, received, mpi.count, mpi.type, before, tag, mpi.comm,
                            &status));
        mpi.expect(status).source(before).tag(tag).count(mpi.elements);
        break;
    }
    case meanwhile::waitall: // a receive among the operations, a send after them
        receive(&*requests.insert(requests.begin() + 1, MPI_REQUEST_NULL));
        mpi.ok(MPI_Isend(sent, mpi.count, mpi.type, next, tag, mpi.comm, &requests.emplace_back(MPI_REQUEST_NULL)));
        break;
    case meanwhile::barrier: { // progress of the barrier must not depend on its completion call
        MPI_Request barrier = MPI_REQUEST_NULL, message = MPI_REQUEST_NULL;
        mpi.ok(MPI_Ibarrier(mpi.comm, &barrier));
        bool const sends_first = mpi.rank == 0;
        receive(&message);
        if (sends_first) mpi.ok(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
        if (sends_first) mpi.ok(MPI_Send(sent, mpi.count, mpi.type, next, tag, mpi.comm));
        mpi.ok(MPI_Wait(&message, MPI_STATUS_IGNORE));
        if (!sends_first) mpi.ok(MPI_Send(sent, mpi.count, mpi.type, next, tag, mpi.comm));
        if (!sends_first) mpi.ok(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
        break;
    }
    }
    mpi.ok(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    if (how != meanwhile::collective) received.expect(mpi.key_from(before), mpi.elements, "from the rank before");
    judge_all(mpi, operations, requests);
}

// A receive from anybody with any tag must not catch what belongs to a collective operation (section 6.1).
ASSAY_TEST(coll, any_message, requirements{"coll.messages.separate"}, over(plain_intra(), integers(), some_sizes()),
           wildcards{}, thread_safe{}) {
    int const next = (mpi.rank + 1) % mpi.size, before = (mpi.rank + mpi.size - 1) % mpi.size, tag = mpi.tag();
    auto& sent = mpi.outgoing(next);
    auto& received = mpi.incoming();
    MPI_Request receive = MPI_REQUEST_NULL;
    mpi.ok(MPI_Irecv(received, mpi.count, mpi.type, MPI_ANY_SOURCE, MPI_ANY_TAG, mpi.comm, &receive));
    std::vector<MPI_Request> requests;
    auto operations = initiated(mpi, numbered::kinds, requests);
    mpi.ok(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    int sum = -7;
    mpi.ok(MPI_Allreduce(&mpi.rank, &sum, 1, MPI_INT, MPI_SUM, mpi.comm));
    mpi.ok(MPI_Barrier(mpi.comm)); // all receives are there before the first message
    int flag = 1;
    auto status = poisoned_status();
    if (mpi.size > 1) { // the only message for this process is not sent before the one after it says so
        int token = 0;
        if (mpi.rank == 0) {
            mpi.ok(MPI_Request_get_status(receive, &flag, &status));
            mpi.check(flag == 0, finding::order,
                      fmt::format("a receive with wildcards caught a message of a collective "
                                  "operation, tag {}",
                                  status.MPI_TAG));
        }
        mpi.ok(MPI_Bcast(&token, 1, MPI_INT, 0, mpi.comm));
    }
    mpi.ok(MPI_Send(sent, mpi.count, mpi.type, next, tag, mpi.comm));
    status = poisoned_status();
    mpi.ok(MPI_Wait(&receive, &status));
    mpi.expect(status).source(before).tag(tag).count(mpi.elements);
    received.expect(mpi.key_from(before), mpi.elements, "from the rank before");
    judge_all(mpi, operations, requests);
}

// Operations on different communicators may be initiated in different order by different processes (section 6.14).
ASSAY_TEST(coll, two_communicators, requirements{"coll.order.communicators"},
           over(plain_intra(), integers(), some_sizes()), thread_safe{}) {
    MPI_Comm other = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &other));
    mpi.ok(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    std::array<std::list<numbered>, 2> operations;
    std::array<std::vector<MPI_Request>, 2> requests;
    bool const other_first = mpi.rank % 2 == 1;
    auto const initiate = [&](bool on_other) {
        auto& list = operations[on_other];
        requests[on_other].assign(numbered::kinds, MPI_REQUEST_NULL);
        for (int i = 0; i < numbered::kinds; ++i) {
            auto& o = list.emplace_back(mpi, on_other ? 100 + i : i, on_other ? other : mpi.comm, mpi.rank, mpi.size,
                                        mpi.elements);
            o.prepare();
            o.initiate(&requests[on_other][static_cast<std::size_t>(i)]);
        }
    };
    auto const complete = [&](bool on_other) {
        mpi.ok(MPI_Waitall(numbered::kinds, requests[on_other].data(), MPI_STATUSES_IGNORE));
        judge_all(mpi, operations[on_other], requests[on_other]);
    };
    initiate(other_first);
    initiate(!other_first);
    complete(!other_first);
    complete(other_first);
    mpi.ok(MPI_Comm_free(&other));
}

// Each process is in two of the groups of two neighbours: no order of blocking calls would do (section 6.14).
ASSAY_TEST(coll, overlapping_groups, requirements{"coll.order.overlapping"},
           over(communicators::world(), integers(), some_sizes()), needs{[](job const& j) {
               return j.np >= 3 ? "" : "needs at least 3 ranks; this job has " + std::to_string(j.np);
           }},
           thread_safe{}) {
    MPI_Group all = MPI_GROUP_NULL;
    mpi.ok(MPI_Comm_group(mpi.comm, &all));
    struct link {
        MPI_Comm comm = MPI_COMM_NULL;
        int rank = 0;
    };
    std::array<link, 2> links; // to the next rank, to the one before
    for (int first = 0; first < mpi.size; ++first) {
        std::array const members{first, (first + 1) % mpi.size};
        auto const here = std::find(members.begin(), members.end(), mpi.rank) - members.begin();
        if (here == 2) continue;
        MPI_Group two = MPI_GROUP_NULL;
        auto& l = links[static_cast<std::size_t>(here)];
        l.rank = static_cast<int>(here);
        mpi.ok(MPI_Group_incl(all, 2, members.data(), &two));
        mpi.ok(MPI_Comm_create_group(mpi.comm, two, mpi.tag(), &l.comm));
        mpi.ok(MPI_Comm_set_errhandler(l.comm, MPI_ERRORS_RETURN));
        mpi.ok(MPI_Group_free(&two));
    }
    mpi.ok(MPI_Group_free(&all));
    std::list<numbered> operations;
    std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < 2; ++i) { // everybody begins with the next: a cycle
        auto& o = operations.emplace_back(mpi, 1, links[i].comm, links[i].rank, 2, mpi.elements);
        o.prepare();
        o.initiate(&requests[i]);
    }
    mpi.ok(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
    judge_all(mpi, operations, requests);
    for (auto& l : links) mpi.ok(MPI_Comm_free(&l.comm));
}

namespace {
enum class starting { in_order, rotated, startall };
axis<starting> const
    startings("starting", {{{"in_order", "MPI_Start in the order of initialization"}, starting::in_order},
                           {{"rotated", "MPI_Start in an order that differs from rank to rank"}, starting::rotated},
                           {{"startall", "MPI_Startall"}, starting::startall}});
} // namespace

ASSAY_TEST(coll, persistent_starts,
           requirements{"coll.persistent.order", "coll.persistent.inactive", "coll.persistent.repeated",
                        "coll.persistent.unused"},
           over(axis_use{&startings}, plain_intra(), integers(), some_sizes()), needs_procedures({"MPI_Bcast_init"}),
           thread_safe{}) {
    constexpr int n = numbered::kinds, rounds = 3;
    std::list<numbered> operations;
    std::vector<MPI_Request> requests(n + 1, MPI_REQUEST_NULL);
    for (int i = 0; i < n + 1; ++i) { // the last one is never started
        auto& o = operations.emplace_back(mpi, i);
        o.prepare();
        o.initialize(&requests[static_cast<std::size_t>(i)]);
    }
    // Returns false for a request that is taken for an active one: nobody would ever complete it.
    auto const nothing_happens = [&] {
        for (auto& request : requests) {
            auto const before = request;
            auto status = poisoned_status();
            int flag = 0;
            mpi.ok(MPI_Test(&request, &flag, &status));
            if (!mpi.check(logical(flag), finding::request, "MPI_Test of an inactive request must set flag to true"))
                return false;
            mpi.expect(status).empty();
            status = poisoned_status();
            mpi.ok(MPI_Wait(&request, &status));
            mpi.expect(status).empty();
            mpi.check(request == before && request != MPI_REQUEST_NULL, finding::request,
                      "an inactive persistent request must stay");
        }
        return true;
    };
    if (!nothing_happens()) return;
    auto const used = std::prev(operations.end());
    for (int round = 0; round < rounds; ++round) {
        // The buffers stay where they are: prepare keeps their sizes.
        for (auto o = operations.begin(); o != used; ++o) o->prepare(round + 1);
        if (mpi.at(startings) == starting::startall) mpi.ok(MPI_Startall(n, requests.data()));
        else
            for (int i = 0; i < n; ++i) {
                int const k = mpi.at(startings) == starting::rotated ? (i + 2 * mpi.rank + round) % n : i;
                mpi.ok(MPI_Start(&requests[static_cast<std::size_t>(k)]));
            }
        if (round % 2 == 0) mpi.ok(MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE));
        else
            for (int i = n; i-- > 0;) mpi.ok(MPI_Wait(&requests[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE));
        for (auto o = operations.begin(); o != used; ++o) o->judge();
        if (!nothing_happens()) return;
    }
    for (auto& request : requests) {
        mpi.ok(MPI_Request_free(&request));
        mpi.check_null(request);
    }
}

namespace {
enum class freed { op, type, comm };
axis<freed> const freeds("freed", {{{"op", "MPI_Op_free"}, freed::op},
                                   {{"type", "MPI_Type_free"}, freed::type},
                                   {{"comm", "MPI_Comm_free"}, freed::comm}});
void add(void* in, void* inout, int* length, MPI_Datatype*) {
    for (int i = 0; i < 2 * *length; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}
} // namespace

// Objects may be freed while an operation that uses them is pending: it completes normally (section 2.5.1).
ASSAY_TEST(coll, free_pending, requirements{"coll.pending.free"},
           over(axis_use{&freeds}, plain_intra(), integers(), some_sizes()), thread_safe{}) {
    auto const what = mpi.at(freeds);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &comm));
    mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    mpi.ok(MPI_Type_contiguous(2, MPI_INT, &pair));
    mpi.ok(MPI_Type_commit(&pair));
    mpi.ok(MPI_Op_create(add, 1, &op));
    std::vector<int> out(2 * mpi.elements), in(out.size(), poisoned), expected(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = mpi.rank + static_cast<int>(i);
        expected[i] = mpi.size * (mpi.size - 1) / 2 + mpi.size * static_cast<int>(i);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    mpi.ok(MPI_Iallreduce(out.data(), in.data(), mpi.count, pair, op, comm, &request));
    auto const free_if = [&](bool now) {
        if (now == (what == freed::op)) {
            mpi.ok(MPI_Op_free(&op));
            mpi.check(op == MPI_OP_NULL, finding::value, "MPI_Op_free must set the handle to MPI_OP_NULL");
        }
        if (now == (what == freed::type)) {
            mpi.ok(MPI_Type_free(&pair));
            mpi.check(pair == MPI_DATATYPE_NULL, finding::value,
                      "MPI_Type_free must set the handle to MPI_DATATYPE_NULL");
        }
        if (now == (what == freed::comm)) {
            mpi.ok(MPI_Comm_free(&comm));
            mpi.check(comm == MPI_COMM_NULL, finding::value, "MPI_Comm_free must set the handle to MPI_COMM_NULL");
        }
    };
    free_if(true);
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    mpi.check_null(request);
    auto const wrong = std::mismatch(in.begin(), in.end(), expected.begin());
    mpi.check(wrong.first == in.end(), finding::data,
              wrong.first == in.end() ? ""
                                      : fmt::format("element {} of the sum is {}, expected {}",
                                                    wrong.first - in.begin(), *wrong.first, *wrong.second));
    free_if(false);
}

} // namespace assay::coll
