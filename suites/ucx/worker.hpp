// One process's end of a job over UCX: context, worker and endpoints to its peers, and the operations on them. A case makes a
// new one, so that nothing is left of the case before.
#pragma once
#include "framework/native/patience.hpp"
#include "suites/ucx/run.hpp"
#include "suites/ucx/transports.hpp"

#include <deque>
#include <list>
#include <ucp/api/ucp.h>
#include <vector>

namespace assay::ucx {

// What a test needs; what the transport does not offer is `unsupported`.
struct wish {
    std::uint64_t features = UCP_FEATURE_TAG;
    bool peer_errors = false;                                    // UCP_ERR_HANDLING_MODE_PEER
    std::vector<std::pair<char const*, char const*>> settings{}; // of ucp_config_modify: {"RNDV_THRESH", "0"}
};

// How a program learns that an operation is complete, and whose memory the request is.
enum class completion { poll, callback, never_at_once, own_memory };
axis<completion> const& completions(); // axis completion

enum class kind { send, tag, stream, am }; // of operations: what their callback gets

struct operation {
    char const* name = ""; // "ucp_tag_send_nbx"
    completion how = completion::poll;
    kind what = kind::send;
    ucp_request_param_t param{}; // for the call
    ucp_tag_recv_info_t info{};  // what has been received
    std::size_t length = 0;

    void* request = nullptr;
    bool at_once = false, complete = false;
    ucs_status_t status = UCS_INPROGRESS;
    int calls = 0; // of its callback
    void* called_with = nullptr;
    ucs_status_t called_status = UCS_INPROGRESS;
    std::string header;                // of an active message
    std::vector<ucp_dt_iov_t> pieces;  // of its buffer
    std::vector<unsigned char> memory; // of a request of ours: guard, request; what it is handed to UCX as is its end
};

class worker;

// Judges how an operation ended. Each call checks one thing and returns *this.
class completion_check {
public:
    completion_check(worker& by, operation const* it, std::source_location where) : by_(by), it_(it), where_(where) {}
    completion_check& status(ucs_status_t expected);
    completion_check& ok() { return status(UCS_OK); }
    completion_check& received(std::size_t bytes); // and no error
    completion_check& tag(ucp_tag_t expected);
    operation const* operator->() const { return it_; }
    explicit operator bool() const { return it_ != nullptr; }

private:
    bool says_more() const;

    worker& by_;
    operation const* it_; // nullptr: it did not end, which has been recorded
    std::source_location where_;
};

// Memory that others may read and write.
struct region {
    ucp_mem_h handle = nullptr;
    void* address = nullptr;
    std::size_t length = 0;
};
struct remote_memory {
    std::uint64_t address = 0;
    ucp_rkey_h key = nullptr;
};

class worker {
public:
    worker(native_run& run, transport const& over, wish what);
    ~worker();
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;

    native_run& ucx;
    wish const wanted;
    ucp_context_h context = nullptr;
    ucp_worker_h handle = nullptr;
    std::vector<ucp_ep_h> peers; // by rank; nullptr where none is reached

    // Neighbours in the ring; over a transport that reaches no others each process is its own.
    int right() const { return to_others_ ? ucx.right() : ucx.rank; }
    int left() const { return to_others_ ? ucx.left() : ucx.rank; }
    ucp_ep_h to(int rank) const { return peers[static_cast<std::size_t>(rank)]; }

    // Waits for all ranks, with progress; throws where another has left the case.
    void meet();
    std::vector<std::string> exchange(std::string const& mine);
    bool until(std::function<bool()> const& holds); // with progress; false after a while in which it did not hold
    void progress();

    operation& start(char const* name, kind what = kind::send, completion how = completion::poll);
    // Takes what the call returned; records when that is an error. False then.
    bool posted(operation& op, ucs_status_ptr_t returned, std::source_location where = std::source_location::current());
    // Waits until it ends; a finding when it does not.
    completion_check complete(operation& op, std::source_location where = std::source_location::current());
    bool ended(operation& op);                                                                // only asked
    void silent(operation& op, std::source_location where = std::source_location::current()); // after some progress
    void release(operation& op); // gives the request back, whatever its state
    // Starts it and waits for its success.
    void flush(bool of_worker, int rank, std::source_location where = std::source_location::current());

    region map(void* address, std::size_t length, unsigned flags = 0);
    void unmap(region& one);
    std::string pack(region const& one); // for others
    remote_memory unpack(int of_rank, std::string const& packed);

    // The end of the case: all meet, no callback came twice, and endpoints are closed.
    void finish(std::source_location where = std::source_location::current());
    void close(int rank, bool by_force = false);
    void abandon(); // destroys the worker and says nothing to anybody

    struct failure {
        ucp_ep_h ep;
        ucs_status_t status;
    };
    std::vector<failure> failures; // what the error handler was called with
    std::list<operation> operations;

private:
    void open(transport const& over);
    void connect();
    void destroy();

    bool const to_others_;
    std::string name_;
    std::vector<ucp_rkey_h> keys_;
    std::list<region> regions_;
    patience patience_;
};

} // namespace assay::ucx
