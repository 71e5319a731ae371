// A message that is longer than its receive, taken by every call that receives and every call that completes: whose error handler
// is called, with which code, and what becomes of the requests (MPI-5.0 sections 3.2.4, 3.7.3, 3.7.5, 3.8.3, 9.3 and 9.4).
#include "suites/errors/object.hpp"

#include "framework/process/erroneous.hpp"
#include "suites/common/completion.hpp"
#include "suites/p2p/pair.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace assay;
using namespace assay::p2p;

namespace {

enum class receive { recv, mrecv, sendrecv, replace, irecv, recv_init, imrecv, isendrecv, ireplace };
axis<receive> const
    receives("receive", {{{"recv", "MPI_Recv"}, receive::recv},
                         {{"mrecv", "MPI_Mprobe, MPI_Mrecv"}, receive::mrecv},
                         {{"sendrecv", "MPI_Sendrecv"}, receive::sendrecv},
                         {{"sendrecv_replace", "MPI_Sendrecv_replace"}, receive::replace},
                         {{"irecv", "MPI_Irecv"}, receive::irecv},
                         {{"recv_init", "MPI_Recv_init"}, receive::recv_init},
                         {{"imrecv", "MPI_Mprobe, MPI_Imrecv"}, receive::imrecv},
                         {{"isendrecv", "MPI_Isendrecv", needs_procedures({"MPI_Isendrecv"})}, receive::isendrecv},
                         {{"isendrecv_replace", "MPI_Isendrecv_replace", needs_procedures({"MPI_Isendrecv_replace"})},
                          receive::ireplace}});
bool blocks(receive r) { return r < receive::irecv; }
axis<bool> const handlers("handler",
                          {{{"function", "a function of the user"}, true}, {{"return", "MPI_ERRORS_RETURN"}, false}});

constexpr int sent = 3, fits = 1, good_tag = 0, bad_tag = 1;

// The two receives of a process, of which the second one is too small, and the sends that they are for.
class receiving {
public:
    receiving(test_run& mpi, pair const& p, MPI_Comm comm)
        : mpi_(mpi), p_(p), comm_(comm), how_(mpi.at(receives)), out_(message(mpi.key_to(p.to), sent)) {}

    void run() {
        bool const persistent = how_ == receive::recv_init;
        if (persistent) mpi_.ok(MPI_Recv_init(good_.data(), sent, MPI_INT, p_.from, good_tag, comm_, &requests_[0]));
        else if (!blocks(how_))
            mpi_.ok(MPI_Irecv(good_.data(), sent, MPI_INT, p_.from, good_tag, comm_, &requests_[0]));
        if (persistent) mpi_.ok(MPI_Recv_init(bad_.data(), fits, MPI_INT, p_.from, bad_tag, comm_, &requests_[1]));
        if (how_ == receive::irecv)
            mpi_.ok(MPI_Irecv(bad_.data(), fits, MPI_INT, p_.from, bad_tag, comm_, &requests_[1]));
        if (persistent) mpi_.ok(MPI_Startall(2, requests_.data()));
        if (!blocks(how_)) send(good_tag);
        if (how_ != receive::sendrecv && how_ != receive::isendrecv) send(bad_tag);
        MPI_Message matched = MPI_MESSAGE_NULL;
        if (how_ == receive::mrecv || how_ == receive::imrecv)
            mpi_.ok(MPI_Mprobe(p_.from, bad_tag, comm_, &matched, MPI_STATUS_IGNORE));
        errors::calls().clear();
        if (blocks(how_)) judge_code(block(&matched));
        else if (int const code = begin(&matched); code != MPI_SUCCESS) judge_code(code); // already here
        else complete();
        errors::calls().clear();
        mpi_.check("errors.raised.goes_on", matched == MPI_MESSAGE_NULL, finding::request,
                   "a matched receive that failed does not set the message handle to MPI_MESSAGE_NULL");
        for (std::size_t i = fits; i < bad_.size(); ++i)
            if (!mpi_.check(bad_[i] == poison_int, finding::guard,
                            fmt::format("int {} after a receive buffer of {} was written", i - fits, fits)))
                break;
        clean_up(persistent);
    }

private:
    void send(int tag) {
        MPI_Isend(out_.data(), sent, MPI_INT, p_.to, tag, comm_, &sends_.emplace_back(MPI_REQUEST_NULL));
    }

    int block(MPI_Message* matched) {
        auto* const none = MPI_STATUS_IGNORE;
        switch (how_) {
        case receive::mrecv: return MPI_Mrecv(bad_.data(), fits, MPI_INT, matched, none);
        case receive::sendrecv:
            return MPI_Sendrecv(out_.data(), sent, MPI_INT, p_.to, bad_tag, bad_.data(), fits, MPI_INT, p_.from,
                                bad_tag, comm_, none);
        case receive::replace:
            return MPI_Sendrecv_replace(bad_.data(), fits, MPI_INT, MPI_PROC_NULL, bad_tag, p_.from, bad_tag, comm_,
                                        none);
        default: return MPI_Recv(bad_.data(), fits, MPI_INT, p_.from, bad_tag, comm_, none);
        }
    }

    int begin(MPI_Message* matched) {
        switch (how_) {
        case receive::imrecv: return MPI_Imrecv(bad_.data(), fits, MPI_INT, matched, &requests_[1]);
        case receive::isendrecv:
            return MPI_Isendrecv(out_.data(), sent, MPI_INT, p_.to, bad_tag, bad_.data(), fits, MPI_INT, p_.from,
                                 bad_tag, comm_, &requests_[1]);
        case receive::ireplace:
            return MPI_Isendrecv_replace(bad_.data(), fits, MPI_INT, MPI_PROC_NULL, bad_tag, p_.from, bad_tag, comm_,
                                         &requests_[1]);
        default: return MPI_SUCCESS; // started before the message was sent
        }
    }

    // One call returned this code, which may be MPI_SUCCESS.
    void judge_code(int code) { judge(code, code); }
    void judge(int code, int of_request) {
        auto const& calls = errors::calls();
        if (!mpi_.check("p2p.recv.truncated", code != MPI_SUCCESS || !calls.empty(), finding::error,
                        "a message that is longer than its receive is not noticed"))
            return;
        // That the call returns MPI_SUCCESS after it called a handler is a matter of errors.raise_returns.
        int const told = code == MPI_SUCCESS ? calls.front().code : of_request;
        mpi_.check("p2p.recv.truncated_class", class_of(told) == MPI_ERR_TRUNCATE || code == MPI_SUCCESS,
                   finding::error, fmt::format("the error is \"{}\", expected MPI_ERR_TRUNCATE", error_text(told)));
        if (mpi_.at(handlers)) errors::expect_one_call(mpi_, 0, told, "a message was longer than its receive");
    }

    void complete() {
        auto const& c = mpi_.at(completion_calls());
        constexpr int patience = 100000;
        for (int tries = 0; tries < patience; ++tries, let_others_run()) {
            if (c.single()) {
                std::vector<MPI_Request> one{requests_[1]};
                auto const a = ask(c, one);
                requests_[1] = one[0];
                if (a.code == MPI_SUCCESS && a.flag == 0) continue;
                return judge_code(a.code);
            }
            auto const a = ask(c, requests_);
            if (c.any()) {
                if (a.code == MPI_SUCCESS && (a.flag == 0 || a.index == 0)) continue;
                if (a.code != MPI_SUCCESS)
                    mpi_.check(a.index == 1, finding::request,
                               fmt::format("the index is {}, but it is request 1 that failed", a.index));
                return judge_code(a.code);
            }
            if (c.all() && a.code == MPI_SUCCESS && a.flag == 0) continue;
            if (!c.all() && a.code == MPI_SUCCESS && a.outcount >= 0) {
                // Without an error only the good one may be there.
                auto const named = a.finished();
                if (std::find(named.begin(), named.end(), 1) == named.end()) continue;
            }
            return judge_list(a);
        }
        mpi_.check(false, finding::request, "a receive whose message is there is never complete");
    }

    // What a call says that returns several statuses.
    void judge_list(answer const& a) {
        if (a.code == MPI_SUCCESS) return judge_code(a.code);
        int of_bad = MPI_SUCCESS;
        auto const named = a.finished();
        if (!mpi_.check(class_of(a.code) == MPI_ERR_IN_STATUS, finding::error,
                        fmt::format("a call that returns several statuses returns \"{}\", expected MPI_ERR_IN_STATUS",
                                    error_text(a.code))))
            of_bad = a.code;
        else
            for (std::size_t k = 0; k < named.size(); ++k) {
                int const error = a.statuses[k].MPI_ERROR;
                if (named[k] == 1) of_bad = error;
                else
                    mpi_.check(error == MPI_SUCCESS || class_of(error) == MPI_ERR_PENDING, finding::error,
                               fmt::format("request {} did not fail, but its status has neither MPI_SUCCESS nor "
                                           "MPI_ERR_PENDING: {}",
                                           named[k], error));
            }
        mpi_.check(of_bad != MPI_SUCCESS && class_of(of_bad) != MPI_ERR_PENDING, finding::error,
                   "MPI_ERR_IN_STATUS was returned, but the status of the request that failed has no error");
        judge(a.code, of_bad);
    }

    void clean_up(bool persistent) {
        for (auto& request : requests_)
            if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (auto& request : sends_) MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (!blocks(how_))
            mpi_.check(good_ == message(mpi_.key_from(p_.from), sent), finding::data,
                       "the receive that was large enough did not get its message");
        if (persistent) {
            // A request that failed is inactive: it can be started again, and freed.
            if (mpi_.check("errors.raised.goes_on", requests_[1] != MPI_REQUEST_NULL, finding::request,
                           "a persistent request that failed has become MPI_REQUEST_NULL")) {
                auto status = poisoned_status();
                MPI_Request again = MPI_REQUEST_NULL;
                mpi_.check("errors.raised.goes_on", MPI_Start(&requests_[1]) == MPI_SUCCESS, finding::return_,
                           "a persistent receive that failed cannot be started again");
                mpi_.ok(MPI_Isend(out_.data(), fits, MPI_INT, p_.to, bad_tag, comm_, &again));
                mpi_.check("errors.raised.goes_on",
                           MPI_Wait(&requests_[1], &status) == MPI_SUCCESS &&
                               bad_[0] == message(mpi_.key_from(p_.from), 1)[0],
                           finding::data, "a persistent receive that failed does not receive the next message");
                MPI_Wait(&again, MPI_STATUS_IGNORE);
            }
            for (auto& request : requests_)
                if (request != MPI_REQUEST_NULL) mpi_.ok(MPI_Request_free(&request));
        }
        errors::calls().clear();
    }

    test_run& mpi_;
    pair const& p_;
    MPI_Comm const comm_;
    receive const how_;
    std::vector<int> out_, good_ = room(sent), bad_ = room(fits + 4);
    std::vector<MPI_Request> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL}, sends_;
};

} // namespace

ASSAY_TEST(errors, truncated,
           requirements{"errors.raise.object", "errors.raise.request", "p2p.mrecv.handler", "errors.raise.in_status",
                        "p2p.completion.err_in_status", "p2p.completion.single_error", "p2p.recv.truncated",
                        "p2p.recv.truncated_memory", "p2p.persistent.failed", "p2p.recv.truncated_class",
                        "errors.raised.goes_on"},
           over(axis_use{&receives}, axis_use{&handlers}, calls_that_complete(), communicators::few()),
           where(receives, completion_calls(),
                 [](receive r, completion_call const& c) { return !blocks(r) || (c.single() && c.waits); }),
           note{"three ints are sent where one is received, and another message that fits"}) {
    auto const p = pair_of(mpi);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Errhandler right = MPI_ERRHANDLER_NULL, wrong = MPI_ERRHANDLER_NULL;
    if (!mpi.ok(MPI_Comm_dup(mpi.comm, &comm))) return;
    mpi.ok(errors::create_for_comm(0, &right));
    mpi.ok(errors::create_for_comm(1, &wrong));
    bool const function = mpi.at(handlers);
    for (auto other : {MPI_COMM_WORLD, MPI_COMM_SELF, mpi.comm})
        mpi.ok(MPI_Comm_set_errhandler(other, function ? wrong : MPI_ERRORS_RETURN));
    mpi.ok(MPI_Comm_set_errhandler(comm, function ? right : MPI_ERRORS_RETURN));
    errors::expect_comm(comm);
    erroneous_from_here();
    if (!p.idle) receiving(mpi, p, comm).run();
    for (auto other : {MPI_COMM_WORLD, MPI_COMM_SELF, mpi.comm})
        mpi.ok(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    mpi.ok(MPI_Comm_free(&comm));
    mpi.ok(MPI_Errhandler_free(&right));
    mpi.ok(MPI_Errhandler_free(&wrong));
}
