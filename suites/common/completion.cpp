#include "suites/common/completion.hpp"

#include "framework/check/logical.hpp"
#include "suites/common/polling.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace assay {

// What complete() does after a call that was wrong: it says nothing about a test (CUT in runner/planning/callgraph.py).
[[gnu::noinline]] void wait_for_all(std::span<MPI_Request> requests, bool one_by_one);

namespace {

constexpr std::size_t spare = 3;
constexpr int poisoned = -7; // what an answer holds before its call

// The calls of a table without their functions, made when this is compiled: axes are made of these. The last element is none: the
// address of the end of an array may be that of the next one, and runner/planning/callgraph.py would take it for a use of that.
template <class Call, std::size_t n> consteval std::array<Call, n + 1> calls_of(callable const (&rows)[n]) {
    std::array<Call, n + 1> calls{};
    for (std::size_t i = 0; i < n; ++i) static_cast<completion_call&>(calls[i]) = rows[i];
    return calls;
}

template <class Call> void add(std::vector<typename axis<Call>::entry>& to, auto const& calls, auto const& note) {
    for (auto const& call : std::span(calls).first(calls.size() - 1))
        to.push_back({{call.name, note(call), needs_procedures({call.procedure})}, call});
}

std::string as_way(completion_call const& call) {
    return call.single() ? fmt::format("{} of one request after the other", call.procedure)
           : call.all()  ? call.procedure
                         : fmt::format("{} until none is left", call.procedure);
}

callable::function function_in(std::span<callable const> rows, completion_call const& call) {
    auto const at = std::find_if(rows.begin(), rows.end(),
                                 [&](auto const& row) { return std::string_view(row.name) == call.name; });
    return at == rows.end() ? nullptr : at->make;
}

bool is_poison(MPI_Status const& status) {
    auto const poison = poisoned_status();
    return std::memcmp(&status, &poison, sizeof status) == 0;
}

// The state of completing one list.
class completion {
public:
    completion(test_run& mpi, callable const& call, std::span<MPI_Request> requests, completing const& how,
               std::source_location where)
        : mpi_(mpi),
          requests_(requests),
          how_(how),
          where_(where),
          answer_(call),
          done_(requests.size(), false),
          left_(requests.size()),
          statuses_(requests.size(), poisoned_status()) {}

    std::vector<MPI_Status> run() {
        auto const& call = answer_.asked;
        if (call.single()) one_by_one();
        else if (call.all()) all();
        else if (call.any()) any();
        else some();
        // Whatever was named wrongly: nothing may stay active, or the buffers could not be looked at.
        if (left_ > 0) wait_for_all(requests_, false);
        return std::move(statuses_);
    }

private:
    // Returns whether to go on after the call: with what it found complete, or with the next call.
    bool ask_about(std::span<MPI_Request> some) {
        bool const looks = !answer_.asked.completes;
        if (looks) before_.assign(some.begin(), some.end());
        ask(answer_, some, how_.ignore);
        if (!mpi_.ok(answer_.code, where_)) return false;
        mpi_.check("terms.arrays.length",
                   std::all_of(answer_.statuses.end() - spare, answer_.statuses.end(), is_poison) &&
                       std::all_of(answer_.indices.end() - spare, answer_.indices.end(),
                                   [](int index) { return index == poisoned; }),
                   finding::guard,
                   "an entry of the statuses or indices after the last that the call may fill was written", where_);
        mpi_.check(!looks || std::equal(some.begin(), some.end(), before_.begin()), finding::request,
                   "a call that only looks changed the handle of a request", where_);
        if (answer_.complete()) return true;
        let_others_run();
        return mpi_.check(!how_.over, finding::request,
                          "a call finds nothing complete although all operations are over", where_);
    }

    // The request is complete, by this status. Returns whether it can be.
    bool finish(int index, MPI_Status const& status) {
        if (!mpi_.check(
                index >= 0 && static_cast<std::size_t>(index) < requests_.size() &&
                    !done_[static_cast<std::size_t>(index)],
                finding::request,
                fmt::format("a completion call named request {} of {}, which was not active", index, requests_.size()),
                where_))
            return false;
        auto const i = static_cast<std::size_t>(index);
        done_[i] = true;
        --left_;
        statuses_[i] = status;
        if (!answer_.asked.completes) {
            statuses_[i] = poisoned_status();
            mpi_.ok(MPI_Wait(&requests_[i], how_.ignore ? MPI_STATUS_IGNORE : &statuses_[i]), where_);
        }
        if (how_.persistent.empty() || !how_.persistent[i]) mpi_.check_null(requests_[i], where_);
        else
            mpi_.check(requests_[i] != MPI_REQUEST_NULL, finding::request,
                       "a persistent request must stay when it completes", where_);
        return true;
    }

    void one_by_one() {
        auto const n = requests_.size();
        while (left_ > 0)
            for (std::size_t k = 0; k < n; ++k) {
                auto const i = how_.last_first ? n - 1 - k : k;
                if (done_[i]) continue;
                if (!ask_about(requests_.subspan(i, 1)) && answer_.code == MPI_SUCCESS) return;
                if (answer_.complete() || answer_.code != MPI_SUCCESS) finish(static_cast<int>(i), answer_.statuses[0]);
            }
    }

    void all() {
        while (ask_about(requests_) && !answer_.complete()) {}
        if (answer_.code == MPI_SUCCESS && !answer_.complete()) return;
        // After an error some may not be complete (MPI_ERR_PENDING), and a call for all might fail again.
        if (answer_.code != MPI_SUCCESS) wait_for_all(requests_, true);
        for (std::size_t i = 0; i < requests_.size(); ++i) finish(static_cast<int>(i), answer_.statuses[i]);
    }

    void any() {
        while (left_ > 0 && ask_about(requests_))
            if (answer_.complete() && !finish(answer_.index, answer_.statuses[0])) return;
    }

    void some() {
        while (left_ > 0 && ask_about(requests_)) {
            int const count = answer_.outcount;
            if (!mpi_.check(count >= (answer_.asked.waits ? 1 : 0) && count <= static_cast<int>(left_),
                            finding::request, fmt::format("outcount is {} with {} requests active", count, left_),
                            where_))
                return;
            for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
                if (!finish(answer_.indices[k], answer_.statuses[k])) return;
        }
    }

    test_run& mpi_;
    std::span<MPI_Request> const requests_;
    completing const& how_;
    std::source_location const where_;
    answer answer_;
    std::vector<bool> done_;
    std::size_t left_;
    std::vector<MPI_Status> statuses_;
    std::vector<MPI_Request> before_;
};

} // namespace

callable::callable(completing_call const& call) : callable(call, function_in(completing_calls, call)) {}
callable::callable(completion_call const& call)
    : callable(call, function_in(call.completes ? std::span<callable const>(completing_calls) : looking_calls, call)) {}

axis<completion_call> const& completion_calls() {
    static constexpr auto completing = calls_of<completion_call>(completing_calls);
    static constexpr auto looking = calls_of<completion_call>(looking_calls);
    static axis<completion_call> const all("call", [] {
        std::vector<axis<completion_call>::entry> rows;
        auto const name = [](completion_call const& call) { return call.procedure; };
        add<completion_call>(rows, completing, name);
        add<completion_call>(rows, looking, name);
        return rows;
    }());
    return all;
}

axis<completing_call> const& completions() {
    static constexpr auto calls = calls_of<completing_call>(completing_calls);
    static axis<completing_call> const all("completion", [] {
        std::vector<axis<completing_call>::entry> rows;
        add<completing_call>(rows, calls, as_way);
        return rows;
    }());
    return all;
}

axis_use calls_that_complete() {
    return only(completion_calls(), [](completion_call const& call) { return call.completes; });
}

void ask(answer& a, std::span<MPI_Request> requests, bool ignore) {
    auto const& call = a.asked;
    auto const n = requests.size();
    a.requests = n;
    a.flag = a.index = a.outcount = poisoned;
    a.indices.assign((call.some() ? n : 0) + spare, poisoned);
    a.statuses.assign((call.some() || call.all() ? n : 1) + spare, poisoned_status());
    auto* const statuses = !ignore                       ? a.statuses.data()
                           : call.single() || call.any() ? MPI_STATUS_IGNORE
                                                         : MPI_STATUSES_IGNORE;
    a.code = call.make(static_cast<int>(n), requests.data(), a, statuses);
    if (call.waits) a.flag = 1;
}

answer ask(callable const& call, std::span<MPI_Request> requests, bool ignore) {
    answer a(call);
    ask(a, requests, ignore);
    return a;
}

void wait_for_all(std::span<MPI_Request> requests, bool one_by_one) {
    if (!one_by_one) MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    else
        for (auto& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

std::vector<MPI_Status> complete(test_run& mpi, callable const& call, std::span<MPI_Request> requests,
                                 completing const& how, std::source_location where) {
    return completion(mpi, call, requests, how, where).run();
}

bool answer::complete() const { return asked.some() ? outcount != 0 : logical(flag); }

std::vector<int> answer::finished() const {
    if (!logical(flag)) return {};
    if (asked.any()) return {index};
    if (asked.some()) return {indices.begin(), indices.begin() + std::clamp(outcount, 0, static_cast<int>(requests))};
    std::vector<int> all(requests);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

void expect_nothing_active(test_run& mpi, answer const& a) {
    auto const& c = a.asked;
    mpi.ok(a.code);
    if (!c.some())
        mpi.check(logical(a.flag), finding::request,
                  fmt::format("flag is {}, expected true: no request is active", a.flag));
    if (c.any() || c.some()) {
        int const said = c.any() ? a.index : a.outcount;
        mpi.check(said == MPI_UNDEFINED, finding::request,
                  fmt::format("{} is {}, expected MPI_UNDEFINED: no request is active", c.any() ? "index" : "outcount",
                              said));
    }
    std::size_t const written = c.all() ? a.requests : c.some() ? 0 : 1;
    for (std::size_t i = 0; i < written; ++i) mpi.expect(a.statuses[i]).empty();
}

} // namespace assay
