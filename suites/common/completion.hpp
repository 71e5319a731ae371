// The procedures that complete requests, or say whether they are complete (MPI-5.0 sections 3.7.3, 3.7.5 and 3.7.6). A procedure is
// one row of a table below: the axes `call` and `completion` have a value for it, and every test over these calls it. `ask`
// makes one call; `complete` repeats calls until no request of a list is left.
#pragma once
#include "framework/mpi/run.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace assay {

struct answer;

struct completion_call {
    enum class covers { one, all, any, some };
    char const* name;      // of the value, "waitall"
    char const* procedure; // "MPI_Waitall"
    covers of;             // which of the requests it tells of
    bool waits;            // it returns when there is something to tell of; the others say at once whether there is
    bool completes;        // the others only look, and leave the requests as they are

    bool single() const { return of == covers::one; }
    bool all() const { return of == covers::all; }
    bool any() const { return of == covers::any; }
    bool some() const { return of == covers::some; }
    bool looks_at_list() const { return !completes && !single(); } // since MPI-4.1
};
struct completing_call : completion_call {};

// A row: a call, and how it is made. The axes have calls alone, so that a test counts as calling these procedures
// (runner/planning/callgraph.py) only where it makes such a call, not where it stands in one file with a test that does.
struct callable : completion_call {
    using function = int (*)(int n, MPI_Request* requests, answer& a, MPI_Status* statuses);
    constexpr callable(completion_call const& call, function by) : completion_call(call), make(by) {}
    callable(completing_call const& call);
    callable(completion_call const& call);

    function make;
};

// What one call said, every output poisoned before.
struct answer {
    explicit answer(callable const& call) : asked(call) {}

    callable asked;
    int code = MPI_SUCCESS;
    int flag = -7;     // true from calls that wait
    int index = -7;    // of the calls for any
    int outcount = -7; // of the calls for some
    // Longer than the call may fill by a few entries, which must stay as they are: `indices` of the calls for some, `statuses` of
    // as many requests, or of one for the single calls and those for any.
    std::vector<int> indices;
    std::vector<MPI_Status> statuses;
    std::size_t requests = 0; // how many the call was asked about

    bool complete() const; // it tells of something that is complete, or of nothing that is active
    // The indices of those that are complete, in the order of `statuses`, as they were given: they may be wrong.
    std::vector<int> finished() const;
};

inline constexpr callable completing_calls[] = {
    {{"wait", "MPI_Wait", completion_call::covers::one, true, true},
     [](int, MPI_Request* r, answer&, MPI_Status* s) -> int { return MPI_Wait(r, s); }},
    {{"waitall", "MPI_Waitall", completion_call::covers::all, true, true},
     [](int n, MPI_Request* r, answer&, MPI_Status* s) -> int { return MPI_Waitall(n, r, s); }},
    {{"waitany", "MPI_Waitany", completion_call::covers::any, true, true},
     [](int n, MPI_Request* r, answer& a, MPI_Status* s) -> int { return MPI_Waitany(n, r, &a.index, s); }},
    {{"waitsome", "MPI_Waitsome", completion_call::covers::some, true, true},
     [](int n, MPI_Request* r, answer& a, MPI_Status* s) -> int {
         return MPI_Waitsome(n, r, &a.outcount, a.indices.data(), s);
     }},
    {{"test", "MPI_Test", completion_call::covers::one, false, true},
     [](int, MPI_Request* r, answer& a, MPI_Status* s) -> int { return MPI_Test(r, &a.flag, s); }},
    {{"testall", "MPI_Testall", completion_call::covers::all, false, true},
     [](int n, MPI_Request* r, answer& a, MPI_Status* s) -> int { return MPI_Testall(n, r, &a.flag, s); }},
    {{"testany", "MPI_Testany", completion_call::covers::any, false, true},
     [](int n, MPI_Request* r, answer& a, MPI_Status* s) -> int { return MPI_Testany(n, r, &a.index, &a.flag, s); }},
    {{"testsome", "MPI_Testsome", completion_call::covers::some, false, true},
     [](int n, MPI_Request* r, answer& a, MPI_Status* s) -> int {
         return MPI_Testsome(n, r, &a.outcount, a.indices.data(), s);
     }},
};
inline constexpr callable looking_calls[] = {
    {{"get_status", "MPI_Request_get_status", completion_call::covers::one, false, false},
     [](int, MPI_Request* r, answer& a, MPI_Status* s) -> int { return MPI_Request_get_status(*r, &a.flag, s); }},
    {{"get_status_all", "MPI_Request_get_status_all", completion_call::covers::all, false, false},
     [](int n, MPI_Request* r, answer& a, MPI_Status* s) -> int {
         return MPI_Request_get_status_all(n, r, &a.flag, s);
     }},
    {{"get_status_any", "MPI_Request_get_status_any", completion_call::covers::any, false, false},
     [](int n, MPI_Request* r, answer& a, MPI_Status* s) -> int {
         return MPI_Request_get_status_any(n, r, &a.index, &a.flag, s);
     }},
    {{"get_status_some", "MPI_Request_get_status_some", completion_call::covers::some, false, false},
     [](int n, MPI_Request* r, answer& a, MPI_Status* s) -> int {
         return MPI_Request_get_status_some(n, r, &a.outcount, a.indices.data(), s);
     }},
};

// For tests in which the way of completion is fixed. Does not compile for a name that is not in the table.
consteval callable completion_by(std::string_view name) {
    for (auto const& one : completing_calls)
        if (name == one.name) return one;
    throw "no call of this name completes requests";
}

axis<completion_call> const& completion_calls(); // "call": every row of both tables
axis<completing_call> const& completions();      // "completion": those that complete, as ways to complete a list
axis_use calls_that_complete();                  // of completion_calls()

// Values for other axes that have these calls among their values; `of` makes the value of an axis from a call.
template <class T, class Make>
void add_completion_calls(std::vector<typename axis<T>::entry>& to, axis<completion_call> const& calls, Make of) {
    for (std::size_t i = 0; i < calls.size(); ++i) to.push_back({calls.info(i), of(calls.at(i))});
}

// One call. `ignore`: without statuses.
answer ask(callable const& call, std::span<MPI_Request> requests, bool ignore = false);
void ask(answer& a, std::span<MPI_Request> requests, bool ignore); // a.asked again; the other members are overwritten

// What `complete` is to know of a list.
struct completing {
    std::vector<bool> persistent = {}; // by request; those stay. Empty: none is
    bool ignore = false;               // without statuses
    bool last_first = false;           // the order in which requests are asked about one by one
    bool over = false;                 // the operations are: each call has to find one complete
};

// Completes all requests by such calls, which are repeated until none is left; a request that a call has only looked at is
// completed by MPI_Wait. Checks that each is named once, that nothing beyond the list is written and what becomes of the
// handles. The statuses are in the order of the requests; poison where they were ignored.
std::vector<MPI_Status> complete(test_run& mpi, callable const& call, std::span<MPI_Request> requests,
                                 completing const& how = {},
                                 std::source_location where = std::source_location::current());

// The answer to a list without an active request.
void expect_nothing_active(test_run& mpi, answer const& a);

} // namespace assay
