// One process's end of a job over a provider: everything from the fabric to an enabled endpoint that knows all peers, and the
// operations on it. A case makes a new one, so that nothing is left of the case before.
#pragma once
#include "framework/native/patience.hpp"
#include "suites/ofi/providers.hpp"
#include "suites/ofi/run.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

namespace assay::fabric {

// What a test needs of the provider; what it does not offer is `unsupported`.
struct wish {
    std::uint64_t caps = FI_MSG;
    std::uint64_t order = 0;      // of messages: FI_ORDER_…
    bool cq_data = false;         // immediate data
    std::size_t inject = 0;       // bytes that fi_inject has to take
    std::size_t pieces = 1;       // of a buffer in one call
    int mr_mode = -1;             // that the program meets; -1: all that there are
    std::uint64_t send_flags = 0; // op_flags
    fi_av_type table = FI_AV_UNSPEC;
    fi_cq_format format = FI_CQ_FORMAT_TAGGED;
    fi_wait_obj wait = FI_WAIT_NONE;
    bool selective = false;  // completions only where an operation asks for one
    bool two_queues = false; // one for sends, one for receives
    bool counters = false;
    std::function<void(fi_info&)> more = nullptr; // hints beyond these
};

// What a completion queue said of an operation.
struct completion {
    std::uint64_t flags = 0, data = 0, tag = 0;
    std::size_t length = 0;
    void* buffer = nullptr;
    fi_addr_t source = FI_ADDR_NOTAVAIL;
    int error = 0;         // positive, of fi_errno(3)
    std::size_t cut = 0;   // bytes that did not fit
    bool of_sends = false; // came from the queue for sends
};

struct operation {
    fi_context2 context{}; // first: the provider may write to it
    std::string name;      // "fi_trecv"
    std::deque<completion> said;
    std::size_t used = 0; // of those, how many a test has looked at
};

// Closes the object; records when that fails. Used in the reverse order of opening.
template <class Object> class handle {
public:
    handle() = default;
    explicit handle(native_run& ofi) : ofi_(&ofi) {}
    ~handle() { close(); }
    handle(handle const&) = delete;
    handle& operator=(handle const&) = delete;
    Object* get() const { return it_; }
    Object* operator->() const { return it_; }
    Object** address() { return &it_; }
    int close();
    void forget() { it_ = nullptr; } // it is closed already

private:
    native_run* ofi_ = nullptr;
    Object* it_ = nullptr;
};

class endpoint;

// Judges a completion. Each call checks one field and returns *this.
class completion_check {
public:
    completion_check(endpoint& by, operation const& of, completion const* it, std::source_location where)
        : by_(by), of_(of), it_(it), where_(where) {}
    completion_check& received(std::size_t bytes); // as many bytes, and the flags of a receive
    completion_check& sent();                      // the flags of a send
    completion_check& tag(std::uint64_t expected);
    completion_check& data(std::uint64_t expected); // immediate data; the flag that says that there are some
    completion_check& no_data();
    completion_check& source(int rank); // only where FI_SOURCE was wished for
    completion_check& flags(std::uint64_t set);
    completion_check& error(int expected);
    completion_check& cut(std::size_t bytes);
    completion_check& done(std::uint64_t kind); // no error, and these flags
    completion const* operator->() const { return it_; }
    explicit operator bool() const { return it_ != nullptr; }

private:
    endpoint& by_;
    operation const& of_;
    completion const* it_; // nullptr: it did not come, which has been recorded
    std::source_location where_;
};

// Memory that others may read and write.
struct remote_memory {
    std::uint64_t address = 0, key = 0;
};

class endpoint {
public:
    endpoint(native_run& ofi, std::string const& provider, wish what);
    ~endpoint();

    native_run& ofi;
    wish const wanted;
    info_list info;
    handle<fid_fabric> fabric;
    handle<fid_domain> domain;
    handle<fid_av> av;
    handle<fid_cq> cq, send_cq; // send_cq: only with two_queues
    handle<fid_cntr> sends, receives;
    handle<fid_ep> ep;
    std::vector<fi_addr_t> peers;   // by rank
    std::vector<std::string> names; // addresses, by rank

    // Waits for all ranks, with progress; false where another has left the case.
    void meet();
    std::vector<std::string> exchange(std::string const& mine);

    // An operation of this name; its context is what the call gets.
    operation& start(char const* name);
    // Calls `post` until it returns something else than -FI_EAGAIN, with progress in between; records what is not 0.
    bool post(std::function<ssize_t()> const& call, std::source_location where = std::source_location::current());

    // The same without judgement: what the call returned in the end.
    ssize_t attempt(std::function<ssize_t()> const& call);

    // The next completion of an operation; a finding when it does not come.
    completion_check complete(operation& of, std::source_location where = std::source_location::current());
    // The same, only asked: nullptr when there is none after `polls` looks.
    completion const* look_for(operation& of, int polls = 200);
    // No completion of this operation is pending or arrives within 200 polls; otherwise a finding.
    void silent(operation& of, std::source_location where = std::source_location::current());
    // Until it holds, with progress; false after a while in which it did not.
    bool until(std::function<bool()> const& holds);
    void progress();
    bool own_reads = false; // the test itself reads cq; only with two_queues

    // Registered where the provider demands it (FI_MR_LOCAL); else nullptr.
    void* descriptor(void* memory, std::size_t bytes);
    // Registers memory for others, and takes that back.
    fid_mr* expose(void* memory, std::size_t bytes, std::uint64_t access);
    void withdraw(fid_mr* region);
    std::uint64_t last_key() const { return next_key_ - 1; } // that was asked for
    remote_memory where(fid_mr* region, void* memory) const;

    // The end of the case: all meet, and no completion is left that nobody asked for.
    void finish(std::source_location where = std::source_location::current());

    operation written;                // what others wrote with immediate data: such completions have no context
    std::deque<operation> operations; // in the order of their start
    std::vector<operation*> order;    // in which completions came, errors included

private:
    void open(std::string const& provider);
    void hand_out(fid_cq* queue, bool of_sends);
    void keep(void* context, completion const& c);

    std::vector<fid_mr*> regions_;
    std::uint64_t next_key_ = 1;
    patience patience_;
    std::size_t strangers_ = 0;
};

} // namespace assay::fabric
