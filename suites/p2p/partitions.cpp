// Partitioned messages (MPI-5.0 chapter 4): how partitions are made ready and asked for, different cuts on the two sides,
// rounds, order of matching, null and inactive requests.
#include "framework/check/logical.hpp"
#include "suites/common/completion.hpp"
#include "suites/p2p/pair.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

using namespace assay;
using namespace assay::p2p;

namespace {

needs partitioned() {
    return needs_procedures(
        {"MPI_Psend_init", "MPI_Precv_init", "MPI_Pready", "MPI_Pready_range", "MPI_Pready_list", "MPI_Parrived"});
}

// Partitions of the sender and of the receiver; the message has 24 pieces, or more, of `count` elements.
struct cut {
    int sender, receiver;
};
axis<cut> const cuts("partitions", {{{"1_1", "one partition"}, {1, 1}},
                                    {{"4_4", "four on both sides"}, {4, 4}},
                                    {{"4_1", "four are received as one"}, {4, 1}},
                                    {{"1_4", "one is received as four"}, {1, 4}},
                                    {{"6_2", "six are received as two"}, {6, 2}},
                                    {{"2_6", "two are received as six"}, {2, 6}},
                                    {{"3_2", "three are received as two, cut in other places"}, {3, 2}},
                                    {{"8_12", "eight are received as twelve"}, {8, 12}},
                                    {{"24_24", "24 on both sides"}, {24, 24}},
                                    {{"5_5", "five on both sides"}, {5, 5}},
                                    {{"33_33", "33 on both sides"}, {33, 33}},
                                    {{"65_13", "65 are received as 13"}, {65, 13}},
                                    {{"13_65", "13 are received as 65"}, {13, 65}},
                                    {{"33_5", "33 are received as five, cut in other places"}, {33, 5}},
                                    {{"65_1", "65 are received as one"}, {65, 1}},
                                    {{"1_65", "one is received as 65"}, {1, 65}}});
enum class order { forward, backward, range, two_ranges, list, list_shuffled, mixed };
axis<order> const orders("ready",
                         {{{"forward", "MPI_Pready, the first partition first"}, order::forward},
                          {{"backward", "MPI_Pready, the last partition first"}, order::backward},
                          {{"range", "MPI_Pready_range of all"}, order::range},
                          {{"two_ranges", "MPI_Pready_range, the upper half first"}, order::two_ranges},
                          {{"list", "MPI_Pready_list of all"}, order::list},
                          {{"list_shuffled", "MPI_Pready_list, odd ones first, then even ones"}, order::list_shuffled},
                          {{"mixed", "an MPI_Pready, a range, a list, an empty list"}, order::mixed}});

void make_ready(test_run& mpi, order how, int n, MPI_Request request) {
    std::vector<int> list(static_cast<std::size_t>(n));
    std::iota(list.begin(), list.end(), 0);
    switch (how) {
    case order::forward:
        for (int p : list) mpi.ok(MPI_Pready(p, request));
        break;
    case order::backward:
        for (int p = n - 1; p >= 0; --p) mpi.ok(MPI_Pready(p, request));
        break;
    case order::range: mpi.ok(MPI_Pready_range(0, n - 1, request)); break;
    case order::two_ranges:
        if (n > 1) mpi.ok(MPI_Pready_range(n / 2, n - 1, request));
        mpi.ok(MPI_Pready_range(0, n > 1 ? n / 2 - 1 : 0, request));
        break;
    case order::list: mpi.ok(MPI_Pready_list(n, list.data(), request)); break;
    case order::list_shuffled:
        std::stable_partition(list.begin(), list.end(), [](int p) { return p % 2 == 1; });
        mpi.ok(MPI_Pready_list(n, list.data(), request));
        break;
    case order::mixed: {
        mpi.ok(MPI_Pready(n - 1, request));
        mpi.ok(MPI_Pready_list(0, list.data(), request));
        int const half = (n - 1) / 2;
        if (half > 0) mpi.ok(MPI_Pready_range(0, half - 1, request));
        if (n - 1 > half) mpi.ok(MPI_Pready_list(n - 1 - half, list.data() + half, request));
        break;
    }
    }
}

bool arrived(test_run& mpi, MPI_Request request, int partition) {
    int flag = 0;
    mpi.ok(MPI_Parrived(request, partition, &flag));
    return logical(flag);
}

axis_use few_types() {
    return only(type_axis(), [](datatype const& t) {
        for (char const* name :
             {"int", "byte", "double", "vector_int", "type_mix", "resized_int_lb_positive", "zero_size"})
            if (t.name == name) return true;
        return false;
    });
}
axis_use few_counts() {
    return only(count_ladder(), [](count_value const& c) {
        return c.kind == count_value::unit::elements
                   ? c.n <= 1 || c.n == 17
                   : c.kind == count_value::unit::bytes_nearest && c.n >= 1024 && c.n <= 65536;
    });
}
axis<int> const rounds("rounds", {{{"1", "one round"}, 1}, {{"6", "six rounds"}, 6}});

constexpr std::size_t piece = 5; // ints of the partitions of tests without an axis of datatypes

struct ends {
    MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
};

// Requests for a message of ints to the partner and one from it, cut as `c` says.
ends ends_of(test_run& mpi, pair const& p, cut c, std::vector<int> const& out, std::vector<int>& in) {
    ends e;
    mpi.ok(MPI_Psend_init(out.data(), c.sender, static_cast<MPI_Count>(out.size()) / c.sender, MPI_INT, p.to, mpi.tag(),
                          mpi.comm, MPI_INFO_NULL, &e.send));
    mpi.ok(MPI_Precv_init(in.data(), c.receiver, static_cast<MPI_Count>(in.size()) / c.receiver, MPI_INT, p.from,
                          mpi.tag(), mpi.comm, MPI_INFO_NULL, &e.receive));
    return e;
}

} // namespace

ASSAY_TEST(p2p, partitioned_cuts,
           requirements{"partitioned.counts_differ", "partitioned.data", "partitioned.restart",
                        "partitioned.pready_range", "partitioned.pready_list", "partitioned.new_data"},
           over(axis_use{&cuts}, axis_use{&orders}, axis_use{&rounds}, communicators::few(), few_types(), few_counts()),
           partitioned(), note{"count is that of the smallest piece that both cuts have in common"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const c = mpi.at(cuts);
    int const pieces = std::lcm(c.sender, c.receiver);
    auto const total = mpi.elements * static_cast<std::size_t>(pieces);
    auto &out = mpi.incoming(total), &in = mpi.incoming(total);
    ends e;
    mpi.ok(MPI_Psend_init(out, c.sender, MPI_Count{pieces / c.sender} * mpi.count, mpi.type, p.to, mpi.tag(), mpi.comm,
                          MPI_INFO_NULL, &e.send));
    mpi.ok(MPI_Precv_init(in, c.receiver, MPI_Count{pieces / c.receiver} * mpi.count, mpi.type, p.from, mpi.tag(),
                          mpi.comm, MPI_INFO_NULL, &e.receive));
    for (int round = 0; round < mpi.at(rounds); ++round) {
        out.fill(mpi.key_to(p.to, round));
        in.poison();
        mpi.ok(MPI_Start(&e.receive));
        mpi.ok(MPI_Start(&e.send));
        make_ready(mpi, mpi.at(orders), c.sender, e.send);
        std::array<MPI_Request, 2> both{e.receive, e.send};
        mpi.ok(MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE));
        mpi.check(both[0] == e.receive && both[1] == e.send, finding::request,
                  "a partitioned request must stay when it completes");
        in.expect(mpi.key_from(p.from, round), total, fmt::format("from rank {}, round {}", p.from, round));
        out.expect_unchanged();
    }
    for (auto* request : {&e.send, &e.receive}) {
        mpi.ok(MPI_Request_free(request));
        mpi.check_null(*request);
    }
}

ASSAY_TEST(p2p, partitioned_arrived,
           requirements{"partitioned.parrived", "partitioned.parrived_again", "partitioned.parrived_keeps",
                        "partitioned.parrived_data", "partitioned.not_before_ready"},
           over(axis_use{&cuts}, axis_use{&orders}, communicators::few()), partitioned(),
           note{"asked before anything is ready, and until all is there"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const c = mpi.at(cuts);
    auto const total = piece * static_cast<std::size_t>(std::lcm(c.sender, c.receiver));
    auto out = message(mpi.key_to(p.to), total), in = room(total);
    auto const expected = message(mpi.key_from(p.from), total);
    auto e = ends_of(mpi, p, c, out, in);
    mpi.ok(MPI_Start(&e.receive));
    mpi.ok(MPI_Start(&e.send));
    // Nothing is ready: nothing can have arrived, and neither side can be complete.
    for (int poll = 0; poll < polls; ++poll) {
        bool fine = true;
        for (int partition = 0; partition < c.receiver; ++partition)
            fine = mpi.check(!arrived(mpi, e.receive, partition), finding::request,
                             fmt::format("partition {} has arrived before anything was ready", partition)) &&
                   fine;
        for (auto request : {e.send, e.receive}) {
            int flag = -7;
            mpi.ok(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
            fine =
                mpi.check(flag == 0, finding::request, "a partitioned request is complete before anything was ready") &&
                fine;
        }
        if (!fine) break;
    }
    await_receiver(mpi, p); // nothing is made ready before the receiver has asked
    make_ready(mpi, mpi.at(orders), c.sender, e.send);
    auto const width = total / static_cast<std::size_t>(c.receiver);
    for (int partition = c.receiver - 1; partition >= 0; --partition) {
        until([&] { return arrived(mpi, e.receive, partition); });
        // It may be read now, and the answer stays.
        auto const first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(partition) * width);
        mpi.check(std::equal(in.begin() + first, in.begin() + first + static_cast<std::ptrdiff_t>(width),
                             expected.begin() + first),
                  finding::data, fmt::format("partition {} has arrived, but its data is not there", partition));
        mpi.check(arrived(mpi, e.receive, partition), finding::request,
                  fmt::format("partition {} has arrived and then it has not", partition));
    }
    // All partitions are there, and the request is active still: it has to be completed.
    auto status = poisoned_status();
    mpi.ok(MPI_Wait(&e.receive, &status));
    mpi.expect(status).source(p.from).tag(mpi.tag());
    mpi.ok(MPI_Wait(&e.send, MPI_STATUS_IGNORE));
    expect_message(mpi, in, mpi.key_from(p.from), total, "all partitions");
    mpi.ok(MPI_Request_free(&e.send));
    mpi.ok(MPI_Request_free(&e.receive));
}

// All partitions but one are ready: the message is not complete. What is ready may be seen.
ASSAY_TEST(p2p, partitioned_one_missing, requirements{"partitioned.completes_with_all", "partitioned.parrived_early"},
           over(only(cuts, [](cut c) { return c.sender > 1; }), communicators::few()), partitioned(), thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const c = mpi.at(cuts);
    auto const total = piece * static_cast<std::size_t>(std::lcm(c.sender, c.receiver));
    auto out = message(mpi.key_to(p.to), total), in = room(total);
    auto e = ends_of(mpi, p, c, out, in);
    std::array<MPI_Request, 2> both{e.receive, e.send};
    mpi.ok(MPI_Startall(2, both.data()));
    mpi.ok(MPI_Pready_range(0, c.sender - 2, e.send));
    await_receiver(mpi, p);
    // With one partition missing on every side nothing may be complete, and the last partition of the receiver is not.
    bool early = false;
    for (int poll = 0; poll < 20 * polls; ++poll) {
        bool fine = true;
        for (auto request : both) {
            int flag = -7;
            mpi.ok(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
            fine = mpi.check(flag == 0, finding::request,
                             "a partitioned request is complete although a partition is not ready") &&
                   fine;
        }
        fine = mpi.check(!arrived(mpi, e.receive, c.receiver - 1), finding::request,
                         "the last partition has arrived although it is not ready") &&
               fine;
        early = early || c.receiver == 1 || arrived(mpi, e.receive, 0);
        if (!fine) break;
        let_others_run();
    }
    mpi.check("partitioned.parrived_early", early, finding::request,
              "the first partition does not arrive before the last one is ready");
    await_receiver(mpi, p);
    mpi.ok(MPI_Pready(c.sender - 1, e.send));
    mpi.ok(MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE));
    expect_message(mpi, in, mpi.key_from(p.from), total, "with the last partition");
    mpi.ok(MPI_Request_free(&e.send));
    mpi.ok(MPI_Request_free(&e.receive));
}

// Requests of one envelope match in the order in which they were created, in whatever order they are started; plain
// messages of the same envelope are no concern of theirs.
namespace {
axis<bool> const start_order("start", {{{"forward", "in the order of creation"}, true},
                                       {{"backward", "the last one first"}, false}});
}

ASSAY_TEST(p2p, partitioned_order, requirements{"partitioned.order", "partitioned.not_plain"},
           over(axis_use{&start_order}, communicators::few()), partitioned(),
           note{"three partitioned messages and a plain one with the same source and tag"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    constexpr std::size_t each = 3, total = 4 * piece;
    std::array<std::vector<int>, each> in, out;
    std::array<MPI_Request, each> sends, receives;
    for (std::size_t i = 0; i < each; ++i) {
        out[i] = message(mpi.key_to(p.to, static_cast<int>(i)), total);
        in[i] = room(total);
        mpi.ok(MPI_Psend_init(out[i].data(), 4, piece, MPI_INT, p.to, mpi.tag(), mpi.comm, MPI_INFO_NULL, &sends[i]));
        mpi.ok(
            MPI_Precv_init(in[i].data(), 4, piece, MPI_INT, p.from, mpi.tag(), mpi.comm, MPI_INFO_NULL, &receives[i]));
    }
    auto plain_out = message(mpi.key_to(p.to, 9), total), plain_in = room(total);
    MPI_Request plain = MPI_REQUEST_NULL, plain_send = MPI_REQUEST_NULL;
    mpi.ok(MPI_Irecv(plain_in.data(), total, MPI_INT, p.from, mpi.tag(), mpi.comm, &plain));
    for (std::size_t k = 0; k < each; ++k) {
        auto const i = mpi.at(start_order) ? k : each - 1 - k;
        mpi.ok(MPI_Start(&receives[each - 1 - i]));
        mpi.ok(MPI_Start(&sends[i]));
        mpi.ok(MPI_Pready_range(0, 3, sends[i]));
    }
    mpi.ok(MPI_Isend(plain_out.data(), total, MPI_INT, p.to, mpi.tag(), mpi.comm, &plain_send));
    auto status = poisoned_status();
    mpi.ok(MPI_Wait(&plain, &status));
    mpi.ok(MPI_Wait(&plain_send, MPI_STATUS_IGNORE));
    mpi.ok(MPI_Waitall(each, receives.data(), MPI_STATUSES_IGNORE));
    mpi.ok(MPI_Waitall(each, sends.data(), MPI_STATUSES_IGNORE));
    expect_status(mpi, status, p.from, mpi.tag(), total);
    expect_message(mpi, plain_in, mpi.key_from(p.from, 9), total, "the plain message");
    for (std::size_t i = 0; i < each; ++i) {
        expect_message(mpi, in[i], mpi.key_from(p.from, static_cast<int>(i)), total,
                       fmt::format("partitioned receive {} of three with one envelope", i));
        mpi.ok(MPI_Request_free(&sends[i]));
        mpi.ok(MPI_Request_free(&receives[i]));
    }
}

// Both directions at once, tags that tell messages apart, an info argument, many partitions.
namespace {
axis<int> const numbers("number", {{{"2", "two partitions"}, 2},
                                   {{"5", "five"}, 5},
                                   {{"33", "33"}, 33},
                                   {{"65", "65"}, 65},
                                   {{"100", "a hundred"}, 100},
                                   {{"1000", "a thousand"}, 1000}});
} // namespace

ASSAY_TEST(p2p, partitioned_both_ways,
           requirements{"partitioned.completion", "partitioned.tags", "partitioned.info", "partitioned.many"},
           over(axis_use{&numbers}, axis_use{&completions()}, communicators::few()), partitioned(),
           note{"two tags each way; the requests have an info object with a key that no library knows"},
           thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    int const n = mpi.at(numbers);
    auto const total = static_cast<std::size_t>(n) * 2;
    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_Info_create(&info));
    mpi.ok(MPI_Info_set(info, "assay_no_such_hint", "true"));
    // Tag k goes to the right for k = 0 and to the left for k = 1.
    std::array<std::vector<int>, 2> in{room(total), room(total)}, out;
    std::vector<MPI_Request> requests(4, MPI_REQUEST_NULL);
    for (int k : {0, 1}) {
        auto const u = static_cast<std::size_t>(k);
        int const to = k == 0 ? p.to : p.from, from = k == 0 ? p.from : p.to;
        out[u] = message(mpi.key_to(to, k), total);
        mpi.ok(MPI_Psend_init(out[u].data(), n, 2, MPI_INT, to, mpi.tag(k), mpi.comm, info, &requests[u]));
        mpi.ok(MPI_Precv_init(in[u].data(), n, 2, MPI_INT, from, mpi.tag(k), mpi.comm, info, &requests[2 + u]));
    }
    mpi.ok(MPI_Info_free(&info));
    mpi.ok(MPI_Startall(4, requests.data()));
    // Turn and turn about.
    for (int partition = 0; partition < n; ++partition)
        for (std::size_t u : {0u, 1u}) mpi.ok(MPI_Pready(partition, requests[u]));
    complete(mpi, mpi.at(completions()), requests,
             {.persistent = std::vector<bool>(requests.size(), true), .ignore = true});
    // Whatever was said: what is active must not be freed.
    for (auto& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int k : {0, 1}) {
        int const from = k == 0 ? p.from : p.to;
        expect_message(mpi, in[static_cast<std::size_t>(k)], mpi.key_from(from, k), total, fmt::format("tag {}", k));
    }
    for (auto& request : requests)
        if (mpi.check(request != MPI_REQUEST_NULL, finding::request,
                      "a partitioned request must stay when it completes"))
            mpi.ok(MPI_Request_free(&request));
}

namespace {
// Both ends of a message to oneself in the sense of pair_of, used once.
void use_once(test_run& mpi, ends& e, int n) {
    std::array<MPI_Request, 2> both{e.receive, e.send};
    mpi.ok(MPI_Startall(2, both.data()));
    mpi.ok(MPI_Pready_range(0, n - 1, e.send));
    mpi.ok(MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE));
}

// Messages to and from nobody.
void with_nobody(test_run& mpi) {
    int const n = mpi.at(cuts).sender;
    auto out = message(1, piece * static_cast<std::size_t>(n)), in = room(out.size());
    ends e;
    mpi.ok(MPI_Psend_init(out.data(), n, piece, MPI_INT, MPI_PROC_NULL, mpi.tag(), mpi.comm, MPI_INFO_NULL, &e.send));
    mpi.ok(MPI_Precv_init(in.data(), n, piece, MPI_INT, MPI_PROC_NULL, mpi.tag(), mpi.comm, MPI_INFO_NULL, &e.receive));
    for (int round = 0; round < 2; ++round) {
        auto status = poisoned_status();
        mpi.ok(MPI_Start(&e.send));
        mpi.ok(MPI_Start(&e.receive));
        mpi.ok(MPI_Pready_range(0, n - 1, e.send));
        until([&] { return arrived(mpi, e.receive, n - 1); });
        mpi.ok(MPI_Wait(&e.send, MPI_STATUS_IGNORE));
        mpi.ok(MPI_Wait(&e.receive, &status));
        expect_null_status(mpi, status);
    }
    for (auto* request : {&e.send, &e.receive}) {
        mpi.ok(MPI_Request_free(request));
        mpi.check_null(*request);
    }
    mpi.check(in == room(in.size()), finding::data, "a receive from MPI_PROC_NULL changed its buffer");
}

axis<bool> const partners("peer", {{{"neighbour", "another process"}, true}, {{"proc_null", "MPI_PROC_NULL"}, false}});
} // namespace

// Inactive requests are complete for those who ask; so is soon what is sent to nobody.
ASSAY_TEST(p2p, partitioned_inactive, requirements{"partitioned.inactive", "partitioned.proc_null"},
           over(axis_use{&partners}, only(cuts, [](cut c) { return c.sender == c.receiver; }), communicators::few()),
           partitioned(), thread_safe{}) {
    if (!mpi.at(partners)) return with_nobody(mpi);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    int const n = mpi.at(cuts).sender;
    auto out = message(mpi.key_to(p.to), piece * static_cast<std::size_t>(n)), in = room(out.size());
    ends e;
    mpi.ok(MPI_Psend_init(out.data(), n, piece, MPI_INT, p.to, mpi.tag(), mpi.comm, MPI_INFO_NULL, &e.send));
    mpi.ok(MPI_Precv_init(in.data(), n, piece, MPI_INT, p.from, mpi.tag(), mpi.comm, MPI_INFO_NULL, &e.receive));
    for (int round = 0; round < 2; ++round) {
        for (auto* request : {&e.send, &e.receive}) {
            int flag = 0;
            auto status = poisoned_status();
            mpi.ok(MPI_Test(request, &flag, &status));
            mpi.check(logical(flag), finding::request, "MPI_Test of an inactive partitioned request gives flag false");
            mpi.expect(status).empty();
            mpi.check(*request != MPI_REQUEST_NULL, finding::request, "an inactive partitioned request must stay");
        }
        if (round == 0) use_once(mpi, e, n);
    }
    expect_message(mpi, in, mpi.key_from(p.from), in.size(), "started after the question");
    for (auto* request : {&e.send, &e.receive}) {
        mpi.ok(MPI_Request_free(request));
        mpi.check_null(*request);
    }
}

namespace {
axis<bool> const askings("request", {{{"inactive", "a receive that is not started"}, true},
                                     {{"null", "MPI_REQUEST_NULL"}, false}});
} // namespace

ASSAY_TEST(p2p, parrived_inactive, requirements{"partitioned.parrived_inactive"},
           over(axis_use{&askings}, axis_use{&cuts}, communicators::few()), partitioned(),
           where(askings, cuts, [](bool inactive, cut c) { return inactive || c.receiver == 1; }),
           note{"before the first start, and after completion"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const c = mpi.at(cuts);
    auto const expect_true = [&](MPI_Request request, char const* what) {
        for (int partition = 0; partition < c.receiver; ++partition)
            if (!mpi.check(arrived(mpi, request, partition), finding::request,
                           fmt::format("MPI_Parrived of partition {} of {} gives flag false", partition, what)))
                return;
    };
    if (!mpi.at(askings)) return expect_true(MPI_REQUEST_NULL, "MPI_REQUEST_NULL");
    auto const total = piece * static_cast<std::size_t>(std::lcm(c.sender, c.receiver));
    auto out = message(mpi.key_to(p.to), total), in = room(total);
    auto e = ends_of(mpi, p, c, out, in);
    expect_true(e.receive, "a request that was never started");
    use_once(mpi, e, c.sender);
    expect_true(e.receive, "a request that completed");
    expect_message(mpi, in, mpi.key_from(p.from), total, "started after the question");
    mpi.ok(MPI_Request_free(&e.send));
    mpi.ok(MPI_Request_free(&e.receive));
}

// The sender has four partitions of one vector each, the receiver plain ints, or the other way round.
namespace {
axis<bool> const vector_sides("vector", {{{"sender", "the sender's partitions are vectors"}, true},
                                         {{"receiver", "the receiver's partitions are vectors"}, false}});
}

ASSAY_TEST(p2p, partitioned_types, requirements{"partitioned.types"},
           over(axis_use{&vector_sides}, axis_use{&cuts}, communicators::few()), partitioned(),
           note{"vectors of two ints with a gap of one between them"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const c = mpi.at(cuts);
    bool const sends = mpi.at(vector_sides);
    // Two vectors make a piece; their extent is that of four ints, so that the fourth one is a gap, too.
    auto const pieces = static_cast<std::size_t>(std::lcm(c.sender, c.receiver)), vectors = 2 * pieces;
    MPI_Datatype vector = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_vector(2, 1, 2, MPI_INT, &vector));
    mpi.ok(MPI_Type_create_resized(vector, 0, 4 * static_cast<MPI_Aint>(sizeof(int)), &type));
    mpi.ok(MPI_Type_commit(&type));
    mpi.ok(MPI_Type_free(&vector));
    auto const spread = [&](std::vector<int> const& data) {
        auto wide = room(4 * vectors);
        for (std::size_t i = 0; i < data.size(); ++i) wide[i / 2 * 4 + i % 2 * 2] = data[i];
        return wide;
    };
    auto const data = message(mpi.key_to(p.to), 2 * vectors), expected = message(mpi.key_from(p.from), 2 * vectors);
    auto out = sends ? spread(data) : data;
    auto in = room(sends ? 2 * vectors : 4 * vectors);
    auto const count = [&](int partitions, bool as_vector) {
        return static_cast<MPI_Count>((as_vector ? vectors : 2 * vectors) / static_cast<std::size_t>(partitions));
    };
    ends e;
    mpi.ok(MPI_Psend_init(out.data(), c.sender, count(c.sender, sends), sends ? type : MPI_INT, p.to, mpi.tag(),
                          mpi.comm, MPI_INFO_NULL, &e.send));
    mpi.ok(MPI_Precv_init(in.data(), c.receiver, count(c.receiver, !sends), sends ? MPI_INT : type, p.from, mpi.tag(),
                          mpi.comm, MPI_INFO_NULL, &e.receive));
    std::array<MPI_Request, 2> both{e.receive, e.send};
    mpi.ok(MPI_Startall(2, both.data()));
    mpi.ok(MPI_Pready_range(0, c.sender - 1, e.send));
    mpi.ok(MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE));
    auto const wanted = sends ? expected : spread(expected);
    for (std::size_t i = 0; i < in.size(); ++i)
        if (!mpi.check(in[i] == wanted[i], wanted[i] == poison_int ? finding::gap : finding::data,
                       fmt::format("int {} of the receive buffer is {:#x}, expected {:#x}", i, in[i], wanted[i])))
            break;
    mpi.ok(MPI_Request_free(&e.send));
    mpi.ok(MPI_Request_free(&e.receive));
    mpi.ok(MPI_Type_free(&type));
}
