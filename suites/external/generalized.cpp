// Generalized requests (MPI-5.0 section 13.2): operations of our own, with callbacks that MPI calls when their requests are
// asked for, freed or cancelled. No message is sent, except where one completes together with such requests.
#include "framework/check/logical.hpp"
#include "suites/common/completion.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <thread>

using namespace assay;

namespace {

// One operation: what its callbacks answer, and what they saw.
struct operation {
    int count = 0, source = 0, tag = 0; // of the status that the query gives
    bool cancelled = false;
    int query_code = MPI_SUCCESS, free_code = MPI_SUCCESS, cancel_code = MPI_SUCCESS;

    int queries = 0, frees = 0, cancels = 0;
    int told_complete = -7; // the argument of the last cancel
    bool no_status = false; // a query got none
    bool query_after_free = false;
};

int query(void* extra, MPI_Status* status) {
    auto& mine = *static_cast<operation*>(extra);
    ++mine.queries;
    mine.query_after_free |= mine.frees > 0;
    if (status == MPI_STATUS_IGNORE || status == nullptr) {
        mine.no_status = true;
        return mine.query_code;
    }
    MPI_Status_set_elements(status, MPI_INT, mine.count);
    MPI_Status_set_cancelled(status, mine.cancelled ? 1 : 0);
    status->MPI_SOURCE = mine.source;
    status->MPI_TAG = mine.tag;
    return mine.query_code;
}
int release(void* extra) {
    auto& mine = *static_cast<operation*>(extra);
    ++mine.frees;
    return mine.free_code;
}
int cancel(void* extra, int complete) {
    auto& mine = *static_cast<operation*>(extra);
    ++mine.cancels;
    mine.told_complete = complete;
    return mine.cancel_code;
}

axis<completion_call> const& calls = completion_calls();
bool completes_of_list(completion_call const& c) { return c.completes && !c.single(); }

axis<int> const numbers("requests", {{{"1", "one generalized request"}, 1}, {{"3", "three at once"}, 3}});
axis<bool> const status_given("status", {{{"given", ""}, true}, {{"ignored", ""}, false}});

// Some operations and their requests.
struct operations {
    std::vector<operation> all;
    std::vector<MPI_Request> requests;

    operations(test_run& run, std::size_t n) : all(n), requests(n, MPI_REQUEST_NULL), mpi(run) {
        for (std::size_t i = 0; i < n; ++i) {
            all[i].count = static_cast<int>(3 + i);
            all[i].source = static_cast<int>(11 * (i + 1));
            all[i].tag = static_cast<int>(7 * (i + 1));
            all[i].cancelled = i % 2 == 1;
        }
    }
    bool start() {
        bool good = true;
        for (std::size_t i = 0; i < all.size(); ++i) {
            good &= mpi.ok(MPI_Grequest_start(query, release, cancel, &all[i], &requests[i]));
            good &= mpi.check(requests[i] != MPI_REQUEST_NULL, finding::request,
                              "MPI_Grequest_start gives MPI_REQUEST_NULL");
        }
        return good;
    }
    void called(std::size_t i, int queries, int frees, int cancels, char const* when) {
        auto const& o = all[i];
        // Where query_fn is called it may be called several times (section 13.2).
        bool const queried = queries == 0 ? o.queries == 0 : o.queries >= queries;
        mpi.check(
            queried && o.frees == frees && o.cancels == cancels, finding::order,
            fmt::format("{}, query_fn, free_fn and cancel_fn of request {} must have been called {}, {} and {} times; "
                        "they were called {}, {} and {} times",
                        when, i, queries, frees, cancels, o.queries, o.frees, o.cancels));
    }
    // The status that the query of request i gave.
    void given(std::size_t i, MPI_Status const& status, char const* by) {
        auto const& o = all[i];
        int count = -7, flag = -7;
        mpi.ok(MPI_Get_count(&status, MPI_INT, &count));
        mpi.ok(MPI_Test_cancelled(&status, &flag));
        mpi.check(
            status.MPI_SOURCE == o.source && status.MPI_TAG == o.tag && count == o.count && (flag != 0) == o.cancelled,
            finding::count,
            fmt::format("{} must give the status that query_fn set: source {}, tag {}, count {}, cancelled {}; it "
                        "gives {}, {}, {}, {}",
                        by, o.source, o.tag, o.count, o.cancelled ? 1 : 0, status.MPI_SOURCE, status.MPI_TAG, count,
                        flag));
    }
    void in_order() {
        for (auto const& o : all) {
            mpi.check(!o.query_after_free, finding::order, "query_fn was called after free_fn");
            mpi.check(!o.no_status, finding::value,
                      "query_fn got no status; where the caller ignores it MPI passes one of its own");
        }
    }

    test_run& mpi;
};

int class_of(int code) {
    int found = -7;
    return code != MPI_SUCCESS && MPI_Error_class(code, &found) != MPI_SUCCESS ? -7 : code == MPI_SUCCESS ? 0 : found;
}

} // namespace

ASSAY_TEST(external, generalized_complete,
           requirements{"grequest.complete", "grequest.query.status", "grequest.query.when", "grequest.query.ignored",
                        "grequest.free.when", "grequest.extra_state"},
           over(calls_that_complete(), axis_use{&numbers}, axis_use{&status_given}),
           where(calls, numbers, [](completion_call const& c, int n) { return !c.single() || n == 1; })) {
    auto const& c = mpi.at(calls);
    bool const given = mpi.at(status_given);
    operations mine(mpi, static_cast<std::size_t>(mpi.at(numbers)));
    if (!mine.start()) return;
    auto const n = mine.all.size();
    if (!c.waits) {
        auto const early = ask(c, mine.requests, !given);
        mpi.ok(early.code);
        mpi.check(early.finished().empty(), finding::request,
                  "a request is complete before MPI_Grequest_complete was called");
        if (!early.finished().empty()) return;
    }
    int flag = -7;
    mpi.ok(MPI_Request_get_status(mine.requests[0], &flag, MPI_STATUS_IGNORE));
    mpi.check(flag == 0, finding::request, "MPI_Request_get_status gives true before MPI_Grequest_complete was called");
    for (std::size_t i = 0; i < n; ++i) mine.called(i, 0, 0, 0, "before MPI_Grequest_complete");
    for (std::size_t i = n; i-- > 0;) mpi.ok(MPI_Grequest_complete(mine.requests[i]));
    for (std::size_t i = 0; i < n; ++i) mine.called(i, 0, 0, 0, "after MPI_Grequest_complete alone");
    for (std::size_t i = 0; i < n; ++i)
        for (int round = 1; round <= 2; ++round) {
            auto status = poisoned_status();
            flag = 0;
            mpi.ok(MPI_Request_get_status(mine.requests[i], &flag, given ? &status : MPI_STATUS_IGNORE));
            mpi.check(logical(flag), finding::request, "MPI_Request_get_status gives false for a complete request");
            mpi.check(mine.requests[i] != MPI_REQUEST_NULL, finding::request,
                      "MPI_Request_get_status freed the request");
            mine.called(i, round, 0, 0, "after MPI_Request_get_status");
            if (given) mine.given(i, status, "MPI_Request_get_status");
        }
    auto const statuses = complete(mpi, c, mine.requests, {.ignore = !given, .over = true});
    for (std::size_t i = 0; i < n; ++i) {
        if (given) mine.given(i, statuses[i], "the completing call");
        mine.called(i, 3, 1, 0, "after the completing call");
    }
    mine.in_order();
}

ASSAY_TEST(external, generalized_some, requirements{"grequest.complete", "grequest.query.when", "grequest.free.when"},
           over(only(calls, [](completion_call const& c) { return completes_of_list(c) && !(c.all() && c.waits); })),
           note{"of three generalized requests the one in the middle is complete"}) {
    auto const& c = mpi.at(calls);
    operations mine(mpi, 3);
    if (!mine.start()) return;
    mpi.ok(MPI_Grequest_complete(mine.requests[1]));
    std::array<MPI_Status, 3> statuses;
    statuses.fill(poisoned_status());
    auto const now = ask(c, mine.requests);
    mpi.ok(now.code);
    auto const completed = now.finished();
    bool const some = !c.all();
    mpi.check(completed == (some ? std::vector<int>{1} : std::vector<int>{}), finding::request,
              some ? "the call must complete the request with index 1 and no other"
                   : "MPI_Testall must give false: two operations are not complete");
    if (some && completed.size() == 1) {
        mine.given(1, now.statuses[0], "the completing call");
        mine.called(1, 1, 1, 0, "after the completing call");
        mpi.check_null(mine.requests[1]);
    }
    for (std::size_t i : {0u, 2u}) {
        mine.called(i, 0, 0, 0, "while the operation is not complete");
        mpi.check(mine.requests[i] != MPI_REQUEST_NULL, finding::request,
                  "the request of an incomplete operation became null");
    }
    for (std::size_t i : {0u, 2u})
        if (mine.requests[i] != MPI_REQUEST_NULL) mpi.ok(MPI_Grequest_complete(mine.requests[i]));
    statuses.fill(poisoned_status());
    mpi.ok(MPI_Waitall(3, mine.requests.data(), statuses.data()));
    for (std::size_t i : {0u, 2u}) {
        mine.given(i, statuses[i], "MPI_Waitall");
        mine.called(i, 1, 1, 0, "after MPI_Waitall");
    }
    mine.in_order();
}

namespace {
axis<bool> const first_completed("order", {{{"complete_first", "MPI_Grequest_complete comes first"}, true},
                                           {{"free_first", "MPI_Request_free comes first"}, false}});
}

ASSAY_TEST(external, generalized_free, requirements{"grequest.free.request_free"}, over(axis_use{&first_completed})) {
    operations mine(mpi, 1);
    if (!mine.start()) return;
    auto const copy = mine.requests[0]; // stays valid until free_fn was called
    if (mpi.at(first_completed)) {
        mpi.ok(MPI_Grequest_complete(copy));
        mine.called(0, 0, 0, 0, "after MPI_Grequest_complete");
        mpi.ok(MPI_Request_free(mine.requests.data()));
    } else {
        mpi.ok(MPI_Request_free(mine.requests.data()));
        mine.called(0, 0, 0, 0, "after MPI_Request_free of an incomplete request");
        mpi.ok(MPI_Grequest_complete(copy));
    }
    mpi.check_null(mine.requests[0]);
    mine.called(0, 0, 1, 0, "after both MPI_Request_free and MPI_Grequest_complete");
}

ASSAY_TEST(external, generalized_cancel,
           requirements{"grequest.cancel", "grequest.query.status", "grequest.extra_state"},
           over(axis_use{&first_completed}, axis_use{&numbers}),
           note{"order=free_first: MPI_Cancel comes before MPI_Grequest_complete"}) {
    bool const complete = mpi.at(first_completed);
    operations mine(mpi, static_cast<std::size_t>(mpi.at(numbers)));
    if (!mine.start()) return;
    auto const last = mine.all.size() - 1;
    mine.all[last].cancelled = true;
    if (complete) mpi.ok(MPI_Grequest_complete(mine.requests[last]));
    mpi.ok(MPI_Cancel(&mine.requests[last]));
    mpi.check(mine.requests[last] != MPI_REQUEST_NULL, finding::request, "MPI_Cancel freed the request");
    mine.called(last, 0, 0, 1, "after MPI_Cancel");
    auto const told = mine.all[last].told_complete;
    mpi.check(
        complete ? told != 0 && told != -7 : told == 0, finding::value,
        fmt::format("cancel_fn is told complete = {} {} MPI_Grequest_complete", told, complete ? "after" : "before"));
    for (std::size_t i = 0; i < last; ++i) mine.called(i, 0, 0, 0, "after MPI_Cancel of another request");
    for (std::size_t i = 0; i < last + (complete ? 0u : 1u); ++i) mpi.ok(MPI_Grequest_complete(mine.requests[i]));
    for (std::size_t i = 0; i <= last; ++i) {
        auto status = poisoned_status();
        mpi.ok(MPI_Wait(&mine.requests[i], &status));
        mine.given(i, status, "MPI_Wait");
        mine.called(i, 1, 1, i == last ? 1 : 0, "after MPI_Wait");
    }
    mine.in_order();
}

// An error class of our own: no library has a reason to give it by itself.
// What the callbacks return under an error.
static int class_of_callbacks() {
    static int const made = [] {
        int error_class = MPI_ERR_OTHER;
        MPI_Add_error_class(&error_class);
        MPI_Add_error_string(error_class, "an error of the generalized requests of Assay");
        return error_class;
    }();
    return made;
}

ASSAY_TEST(external, generalized_errors, requirements{"grequest.error.returned"},
           over(only(calls, [](completion_call const& c) { return c.completes && (c.single() || c.any()); }),
                axis_use{&numbers}),
           where(calls, numbers, [](completion_call const& c, int n) { return c.single() == (n == 1); })) {
    int const own_class = class_of_callbacks();
    auto const same = [&](int code, char const* of, char const* by) {
        mpi.check(class_of(code) == own_class, finding::return_,
                  fmt::format("{} must return the code that {} returned, of class {}; it returns {} of class {}", by,
                              of, own_class, code, class_of(code)));
    };
    auto const& c = mpi.at(calls);
    operations mine(mpi, static_cast<std::size_t>(mpi.at(numbers)));
    if (!mine.start()) return;
    auto const n = mine.all.size(), bad = n - 1;
    auto& failing = mine.all[bad];
    failing.cancel_code = own_class;
    same(MPI_Cancel(&mine.requests[bad]), "cancel_fn", "MPI_Cancel");
    for (std::size_t i = 0; i < n; ++i) mpi.ok(MPI_Grequest_complete(mine.requests[i]));
    int flag = -7;
    auto status = poisoned_status();
    failing.query_code = own_class;
    same(MPI_Request_get_status(mine.requests[bad], &flag, &status), "query_fn", "MPI_Request_get_status");
    failing.query_code = MPI_SUCCESS;
    failing.free_code = own_class;
    std::size_t seen = 0;
    bool told = false; // of the request that fails
    while (seen < n) {
        auto const now = ask(c, mine.requests);
        // MPI_Waitany may leave index as it was when it fails: what failed is known by its callback.
        if (now.code != MPI_SUCCESS) {
            same(now.code, "free_fn", "the completing call");
            told = true;
            if (failing.frees == 0) return;
        }
        ++seen;
    }
    mpi.check(told, finding::return_, "the error that free_fn returned is lost");
    mpi.check(failing.frees == 1, finding::order, fmt::format("free_fn was called {} times", failing.frees));
}

ASSAY_TEST(external, generalized_mixed, requirements{"grequest.mixed", "grequest.query.status"},
           over(only(calls, completes_of_list), communicators::of({"world", "reversed"})),
           note{"a generalized request completes together with a message around the ring"}, thread_safe{}) {
    operations mine(mpi, 1);
    if (!mine.start()) return;
    auto const right = (mpi.rank + 1) % mpi.size, left = (mpi.rank + mpi.size - 1) % mpi.size;
    int const sent = 1000 + mpi.rank;
    int got = -7;
    std::vector<MPI_Request> requests{MPI_REQUEST_NULL, mine.requests[0], MPI_REQUEST_NULL};
    mpi.ok(MPI_Irecv(&got, 1, MPI_INT, left, mpi.tag(), mpi.comm, requests.data()));
    mpi.ok(MPI_Isend(&sent, 1, MPI_INT, right, mpi.tag(), mpi.comm, &requests[2]));
    mpi.ok(MPI_Grequest_complete(requests[1]));
    auto const of_request = complete(mpi, mpi.at(calls), requests);
    mpi.expect(of_request[0]).source(left).tag(mpi.tag());
    mine.given(0, of_request[1], "the completing call");
    mine.called(0, 1, 1, 0, "after the completing call");
    mine.in_order();
    mpi.check(got == 1000 + left, finding::data,
              fmt::format("the message from the left holds {}, expected {}", got, 1000 + left));
}

ASSAY_TEST(external, generalized_thread, requirements{"grequest.thread"},
           over(only(calls, [](completion_call const& c) { return c.waits; })), own_threads{2},
           note{"one thread waits, another calls MPI_Grequest_complete"}) {
    operations mine(mpi, 1);
    if (!mine.start()) return;
    auto const request = mine.requests[0];
    std::atomic<bool> returned = false;
    bool early = false;
    auto status = poisoned_status();
    mpi.in_threads(2, false, [&](test_run& own) {
        if (own.thread() == 0) {
            auto const now = ask(own.at(calls), mine.requests);
            returned = true;
            own.ok(now.code);
            status = now.statuses[0];
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            early = returned;
            own.ok(MPI_Grequest_complete(request));
        }
    });
    mpi.check(!early, finding::request, "the call returned before MPI_Grequest_complete was called");
    mine.given(0, status, "the completing call");
    mine.called(0, 1, 1, 0, "after the completing call");
    mpi.check_null(mine.requests[0]);
}

ASSAY_TEST(external, generalized_error_in_status, requirements{"grequest.error.in_status"},
           over(only(calls, [](completion_call const& c) { return completes_of_list(c) && !c.any(); })),
           note{"free_fn of one of three requests fails"}) {
    constexpr std::size_t n = 3, bad = 1;
    int const own_class = class_of_callbacks();
    operations mine(mpi, n);
    if (!mine.start()) return;
    for (auto request : mine.requests) mpi.ok(MPI_Grequest_complete(request));
    mine.all[bad].free_code = own_class;
    auto const& c = mpi.at(calls);
    auto const now = ask(c, mine.requests);
    mpi.check(class_of(now.code) == MPI_ERR_IN_STATUS, finding::return_,
              fmt::format("the call returns {} of class {}, expected MPI_ERR_IN_STATUS", now.code, class_of(now.code)));
    if (class_of(now.code) != MPI_ERR_IN_STATUS) return;
    // With an error the statuses of all are set, whatever flag says.
    auto const completed = c.all() ? std::vector<int>{0, 1, 2} : now.finished();
    for (std::size_t k = 0; k < completed.size(); ++k) {
        auto const error = now.statuses[k].MPI_ERROR;
        bool const failed = completed[k] == static_cast<int>(bad);
        mpi.check(class_of(error) == (failed ? own_class : MPI_SUCCESS), finding::error,
                  fmt::format("the status of request {} has the error {} of class {}, expected {}", completed[k], error,
                              class_of(error), failed ? "what its free_fn returned" : "MPI_SUCCESS"));
    }
}
