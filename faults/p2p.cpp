// The MPI procedures of point-to-point communication that the shim stands in front of. Each goes straight to PMPI when no fault is planted.
#include "core.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

using namespace assay_faults;

namespace {

bool idle() { return planted == fault::unset; }

MPI_Datatype freed = MPI_DATATYPE_NULL; // which the library no longer knows

// A status of our own in place of an ignored one.
class status_or_own {
public:
    explicit status_or_own(MPI_Status* given) : used_(given == MPI_STATUS_IGNORE ? &own_ : given) {}
    operator MPI_Status*() { return used_; }
    MPI_Status* operator->() { return used_; }

private:
    MPI_Status own_{};
    MPI_Status* used_;
};

class statuses_or_own {
public:
    statuses_or_own(MPI_Status* given, int count)
        : own_(given == MPI_STATUSES_IGNORE ? static_cast<std::size_t>(std::max(count, 1)) : 0),
          used_(given == MPI_STATUSES_IGNORE ? own_.data() : given) {}
    operator MPI_Status*() { return used_; }

private:
    std::vector<MPI_Status> own_;
    MPI_Status* used_;
};

// ---- Overtaking: messages that were matched, but are to be received after a later one of the same sender

struct held_message {
    MPI_Message message;
    MPI_Status status;
    MPI_Comm comm;
};
std::mutex held_lock;
std::vector<held_message> held;

bool matches(held_message const& h, int source, int tag, MPI_Comm comm) {
    return h.comm == comm && (source == MPI_ANY_SOURCE || source == h.status.MPI_SOURCE) &&
           (tag == MPI_ANY_TAG || tag == h.status.MPI_TAG);
}

// The held message that a receive or (without `take`) a probe has to be given.
bool find_held(int source, int tag, MPI_Comm comm, bool take, held_message& found) {
    if (planted != fault::overtaking) return false;
    std::lock_guard const lock(held_lock);
    auto const at =
        std::find_if(held.begin(), held.end(), [&](auto const& h) { return matches(h, source, tag, comm); });
    if (at == held.end()) return false;
    found = *at;
    if (take) held.erase(at);
    return true;
}

int overtaking_receive(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                       MPI_Status* status) {
    held_message first{};
    if (find_held(source, tag, comm, true, first)) return PMPI_Mrecv(buffer, count, type, &first.message, status);
    if (source != MPI_ANY_SOURCE) return PMPI_Recv(buffer, count, type, source, tag, comm, status);
    first.comm = comm;
    if (int const code = PMPI_Mprobe(source, tag, comm, &first.message, &first.status); code != MPI_SUCCESS)
        return code;
    // Give the sender's next message a moment to come.
    auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    held_message second{};
    int there = 0;
    while (!there && std::chrono::steady_clock::now() < until)
        PMPI_Improbe(first.status.MPI_SOURCE, tag, comm, &there, &second.message, &second.status);
    if (!there) return PMPI_Mrecv(buffer, count, type, &first.message, status);
    second.comm = comm;
    // A message of another size might not fit: then the order is kept.
    if (bytes_of(&first.status) != bytes_of(&second.status)) std::swap(first, second);
    {
        std::lock_guard const lock(held_lock);
        held.push_back(first);
    }
    return PMPI_Mrecv(buffer, count, type, &second.message, status);
}

// ---- Completion of requests

// What is known of a request before a call that may complete it, since its handle is gone afterwards.
struct pending {
    MPI_Request handle;
    bool is_receive;
    receive posted;
    bool inactive;
};

pending look_at(MPI_Request handle) {
    pending p{handle, false, {}, is_inactive(handle)};
    p.is_receive = recall(handle, p.posted);
    return p;
}

std::vector<pending> look_at(int count, MPI_Request const* requests) {
    std::vector<pending> all;
    for (int i = 0; i < count; ++i) all.push_back(look_at(requests[i]));
    return all;
}

void spoil_empty_status(MPI_Status* status) {
    if (planted == fault::status_empty_source) status->MPI_SOURCE = 0;
    if (planted == fault::status_empty_count) PMPI_Status_set_elements(status, MPI_BYTE, 1);
}

// The request is complete: `request` is the caller's handle, by now MPI_REQUEST_NULL unless it is persistent.
void complete(pending const& before, MPI_Request* request, MPI_Status* status,
              fault keeps = fault::wait_keeps_request) {
    if (before.handle == MPI_REQUEST_NULL) return spoil_empty_status(status);
    if (before.inactive) {
        if (planted == fault::inactive_status_source) status->MPI_SOURCE = 0;
        if (planted == fault::inactive_becomes_null) *request = MPI_REQUEST_NULL;
        return;
    }
    int was_cancelled = 0;
    if (planted == fault::cancel_frees_persistent) PMPI_Test_cancelled(status, &was_cancelled);
    if (was_pretended(before.handle)) PMPI_Status_set_cancelled(status, 1);
    run_completion(before.handle);
    if (before.is_receive) {
        completed(before.handle, before.posted);
        received(before.posted, status);
    } else if (status->MPI_SOURCE == MPI_PROC_NULL) {
        received({}, status);
    }
    if (planted == keeps) *request = before.handle;
    if (was_cancelled != 0) *request = MPI_REQUEST_NULL;
}

bool any_inactive(std::vector<pending> const& all) {
    return std::any_of(all.begin(), all.end(), [](pending const& p) { return p.inactive; });
}
bool any_active(std::vector<pending> const& all) {
    return std::any_of(all.begin(), all.end(),
                       [](pending const& p) { return p.handle != MPI_REQUEST_NULL && !p.inactive; });
}

// Number of requests that are complete; the first of them in `which`.
int complete_now(int count, MPI_Request const* requests, int* which) {
    int found = 0;
    for (int i = count - 1; i >= 0; --i) {
        int flag = 0;
        if (requests[i] == MPI_REQUEST_NULL || is_inactive(requests[i])) continue;
        PMPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        if (flag) *which = i;
        found += flag;
    }
    return found;
}

// What a call that failed says of it.
int failed(int code) {
    int c = MPI_SUCCESS;
    if (code == MPI_SUCCESS) return code;
    PMPI_Error_class(code, &c);
    if (planted == fault::truncation_silent && c == MPI_ERR_TRUNCATE) return MPI_SUCCESS;
    if (planted == fault::truncation_class && c == MPI_ERR_TRUNCATE) return MPI_ERR_OTHER;
    if (planted == fault::err_in_status_class && c == MPI_ERR_IN_STATUS) return MPI_ERR_OTHER;
    return code;
}

void received_ignored(std::vector<pending> const& before) {
    if (planted != fault::ignored_statuses_spoil) return;
    for (auto const& p : before)
        if (p.is_receive) spoil(p.posted.buffer);
}

void complete_all(std::vector<pending> const& before, MPI_Request* requests, MPI_Status* statuses) {
    for (std::size_t i = 0; i < before.size(); ++i) complete(before[i], &requests[i], &statuses[i]);
    if (planted == fault::status_waitall_swapped && before.size() > 1) std::swap(statuses[0], statuses[1]);
    if (planted == fault::status_null_in_list && any_active(before))
        for (std::size_t i = 0; i < before.size(); ++i)
            if (before[i].handle == MPI_REQUEST_NULL) statuses[i].MPI_SOURCE = 0;
    if (planted == fault::large_overtaken)
        for (std::size_t i = 0; i + 1 < before.size(); ++i) {
            auto const &a = before[i], &b = before[i + 1];
            if (a.is_receive && b.is_receive && a.posted.type == MPI_INT && b.posted.type == MPI_INT &&
                a.posted.count == b.posted.count && statuses[i].MPI_SOURCE == statuses[i + 1].MPI_SOURCE &&
                statuses[i].MPI_TAG == statuses[i + 1].MPI_TAG && bytes_of(&statuses[i]) > 65536 &&
                bytes_of(&statuses[i + 1]) < 65536)
                return std::swap(statuses[i], statuses[i + 1]);
        }
    if (planted != fault::overtaking) return;
    for (std::size_t a = 0; a < before.size(); ++a)
        for (std::size_t b = a + 1; b < before.size(); ++b)
            if (before[a].is_receive && before[b].is_receive && before[a].posted.source == MPI_ANY_SOURCE &&
                before[b].posted.source == MPI_ANY_SOURCE && statuses[a].MPI_SOURCE == statuses[b].MPI_SOURCE &&
                statuses[a].MPI_TAG == statuses[b].MPI_TAG)
                return swap_data(before[a].posted, statuses[a], before[b].posted, statuses[b]);
}

void complete_some(std::vector<pending> const& before, MPI_Request* requests, int finished, int* indices,
                   MPI_Status* statuses) {
    if (finished == MPI_UNDEFINED) return;
    for (int k = 0; k < finished; ++k) complete(before[indices[k]], &requests[indices[k]], &statuses[k]);
    int const count = static_cast<int>(before.size());
    if (planted == fault::waitsome_index && finished > 0) indices[0] = (indices[0] + 1) % count;
}

// ---- Sending

template <typename Call> int blocking_send(send message, Call call) {
    if (idle()) return call(message);
    if (message.m == mode::buffered)
        if (int const refused = before_buffered(message); refused != MPI_SUCCESS) return refused;
    if (int const refused = before_send(message); refused != MPI_SUCCESS) return refused;
    return after_send(message, call(message));
}

// The buffer of the last send of this thread that has a request.
struct pending_send {
    MPI_Request request = MPI_REQUEST_NULL;
    void* buffer = nullptr;
};
thread_local pending_send last_send;

// What the predefined communicators begin with.
void initialized_handlers() {
    if (planted == fault::world_returns_errors) PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (planted == fault::self_returns_errors) PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}
} // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    read_environment();
    if (planted == fault::init_null_refused && argc == nullptr) return MPI_ERR_ARG;
    static bool before = false;
    if (planted == fault::init_again_crashes && before) raise(SIGSEGV);
    if (planted == fault::init_again_succeeds && before) return MPI_SUCCESS;
    before = true;
    int const code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS && !idle()) learn_rank();
    initialized_handlers();
    return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    read_environment();
    int const code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS && !idle()) learn_rank();
    initialized_handlers();
    if (planted == fault::init_thread_no_level && required == MPI_THREAD_SERIALIZED) *provided = 1 << 20;
    if (planted == fault::init_thread_asked && required == MPI_THREAD_FUNNELED)
        *provided = *provided == MPI_THREAD_MULTIPLE ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
    return code;
}

// The twelve ways to send differ in two words.
#define BLOCKING_SEND(name, m)                                                                                         \
    int MPI_##name(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {        \
        return blocking_send(                                                                                          \
            {buffer, count, type, destination, tag, comm, m, departure::blocking},                                     \
            [](send const& s) { return PMPI_##name(s.buffer, s.count, s.type, s.destination, s.tag, s.comm); });       \
    }
#define REQUEST_SEND(name, m, how)                                                                                     \
    int MPI_##name(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,          \
                   MPI_Request* request) {                                                                             \
        return blocking_send({buffer, count, type, destination, tag, comm, m, how}, [request](send const& s) {         \
            int const code = PMPI_##name(s.buffer, s.count, s.type, s.destination, s.tag, s.comm, request);            \
            last_send = {*request, const_cast<void*>(s.buffer)};                                                       \
            return code;                                                                                               \
        });                                                                                                            \
    }
BLOCKING_SEND(Send, mode::standard)
BLOCKING_SEND(Ssend, mode::synchronous)
BLOCKING_SEND(Rsend, mode::ready)
REQUEST_SEND(Isend, mode::standard, departure::immediate)
REQUEST_SEND(Ibsend, mode::buffered, departure::immediate)
REQUEST_SEND(Irsend, mode::ready, departure::immediate)
REQUEST_SEND(Send_init, mode::standard, departure::persistent)
REQUEST_SEND(Bsend_init, mode::buffered, departure::persistent)
REQUEST_SEND(Rsend_init, mode::ready, departure::persistent)

int MPI_Bsend(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
    return blocking_send(
        {buffer, count, type, destination, tag, comm, mode::buffered, departure::blocking}, [](send const& s) {
            if (planted == fault::bsend_synchronous && s.destination != MPI_PROC_NULL)
                return PMPI_Ssend(s.buffer, s.count, s.type, s.destination, s.tag, s.comm);
            if (planted == fault::bsend_not_copied && s.destination != MPI_PROC_NULL) {
                MPI_Request request = MPI_REQUEST_NULL;
                int const code = PMPI_Isend(s.buffer, s.count, s.type, s.destination, s.tag, s.comm, &request);
                PMPI_Request_free(&request);
                return code;
            }
            int const code = PMPI_Bsend(s.buffer, s.count, s.type, s.destination, s.tag, s.comm);
            return planted == fault::bsend_overflow_class && code != MPI_SUCCESS ? MPI_ERR_OTHER : code;
        });
}
int MPI_Issend(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
               MPI_Request* request) {
    return blocking_send({buffer, count, type, destination, tag, comm, mode::synchronous, departure::immediate},
                         [request](send const& s) {
                             auto* const call = planted == fault::issend_eager ? PMPI_Isend : PMPI_Issend;
                             int const code = call(s.buffer, s.count, s.type, s.destination, s.tag, s.comm, request);
                             last_send = {*request, const_cast<void*>(s.buffer)};
                             return code;
                         });
}
int MPI_Ssend_init(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                   MPI_Request* request) {
    return blocking_send({buffer, count, type, destination, tag, comm, mode::synchronous, departure::persistent},
                         [request](send const& s) {
                             auto* const call = planted == fault::ssend_init_eager ? PMPI_Send_init : PMPI_Ssend_init;
                             return call(s.buffer, s.count, s.type, s.destination, s.tag, s.comm, request);
                         });
}

// ---- Receiving

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    if (idle()) return PMPI_Recv(buffer, count, type, source, tag, comm, status);
    before_receive(count, type);
    status_or_own mine(status);
    MPI_Status const untouched = *mine;
    int const code = planted == fault::overtaking && source != MPI_PROC_NULL
                         ? overtaking_receive(buffer, count, type, source, tag, comm, mine)
                         : PMPI_Recv(buffer, count, type, source, tag, comm, mine);
    if (code == MPI_SUCCESS)
        received({.buffer = buffer, .count = count, .type = type, .source = source, .comm = comm}, mine);
    if (planted == fault::status_proc_null_unwritten && source == MPI_PROC_NULL) *mine = untouched;
    if (planted == fault::recv_ignored_status && status == MPI_STATUS_IGNORE && count == 6 && type == MPI_INT)
        spoil(buffer);
    if (planted == fault::late_message_spoilt && count == 100003) spoil(static_cast<int*>(buffer) + 77777);
    if (code != MPI_SUCCESS && planted == fault::truncation_overflows && type == MPI_INT)
        spoil(static_cast<int*>(buffer) + count);
    if (code != MPI_SUCCESS && planted == fault::truncation_status) mine->MPI_TAG = -1;
    return failed(code);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    if (idle()) return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
    before_receive(count, type);
    held_message h{};
    if (planted == fault::irecv_tag_ignored && source != MPI_PROC_NULL && count > 0) tag = MPI_ANY_TAG;
    if (planted == fault::tag_16_bits && tag != MPI_ANY_TAG) tag &= 0xffff;
    if (planted == fault::irecv_many_refused && remembered() > 3000) return MPI_ERR_OTHER;
    int const code = find_held(source, tag, comm, true, h)
                         ? PMPI_Imrecv(buffer, count, type, &h.message, request)
                         : PMPI_Irecv(buffer, count, type, source, tag, other_context(comm), request);
    if (code == MPI_SUCCESS)
        remember(*request, {.buffer = buffer,
                            .count = count,
                            .type = type,
                            .source = source,
                            .comm = comm,
                            .how = arrival::immediate});
    return code;
}

int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
    int const code = PMPI_Recv_init(buffer, count, type, source, tag, comm, request);
    if (!idle() && code == MPI_SUCCESS)
        remember(*request, {.buffer = buffer,
                            .count = count,
                            .type = type,
                            .source = source,
                            .comm = comm,
                            .how = arrival::persistent,
                            .active = false});
    return code;
}

int MPI_Start(MPI_Request* request) {
    if (!idle()) started(*request);
    if (late_send) {
        late_send = false;
        late_request = *request;
        return MPI_SUCCESS;
    }
    return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request* requests) {
    if (planted == fault::startall_skips_last && count > 2) --count;
    if (planted == fault::startall_empty_refused && count == 0) return MPI_ERR_COUNT;
    if (!idle())
        for (int i = 0; i < count; ++i) started(requests[i]);
    return PMPI_Startall(count, requests);
}

int MPI_Sendrecv(void const* out, int out_count, MPI_Datatype out_type, int destination, int out_tag, void* in,
                 int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status) {
    if (idle())
        return PMPI_Sendrecv(out, out_count, out_type, destination, out_tag, in, in_count, in_type, source, in_tag,
                             comm, status);
    if (planted == fault::sendrecv_null_drops && source == MPI_PROC_NULL) out_count = 0;
    if (planted == fault::sendrecv_one_tag && out_tag != in_tag) in_tag = out_tag;
    if (planted == fault::sendrecv_one_type && out_type != in_type) out_count /= 2;
    send message{out, out_count, out_type, destination, out_tag, comm, mode::standard, departure::blocking};
    if (int const refused = before_send(message); refused != MPI_SUCCESS) return refused;
    before_receive(in_count, in_type);
    status_or_own mine(status);
    MPI_Status const untouched = *mine;
    int const code = PMPI_Sendrecv(out, message.count, out_type, destination, message.tag, in, in_count, in_type,
                                   source, in_tag, comm, mine);
    if (code == MPI_SUCCESS) {
        received({.buffer = in, .count = in_count, .type = in_type, .source = source, .comm = comm, .both = true},
                 mine);
        if (planted == fault::status_sendrecv_tag && source != MPI_PROC_NULL) mine->MPI_TAG += 1;
        if (planted == fault::alloc_mem_message_spoilt && in_type == MPI_BYTE && in_count == 4099)
            spoil(static_cast<char*>(in) + 4098);
        if (planted == fault::status_proc_null_unwritten && source == MPI_PROC_NULL) *mine = untouched;
    }
    return after_send(message, code);
}

int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int destination, int out_tag, int source,
                         int in_tag, MPI_Comm comm, MPI_Status* status) {
    if (idle()) return PMPI_Sendrecv_replace(buffer, count, type, destination, out_tag, source, in_tag, comm, status);
    status_or_own mine(status);
    bool const keep = planted == fault::sendrecv_replace_old;
    snapshot old(buffer, keep ? count : 0, type);
    int const code = PMPI_Sendrecv_replace(buffer, count, type, destination, out_tag, source, in_tag, comm, mine);
    if (code == MPI_SUCCESS) {
        received({.buffer = buffer, .count = count, .type = type, .source = source, .comm = comm}, mine);
        if (keep) old.restore();
        if (planted == fault::status_sendrecv_tag && source != MPI_PROC_NULL) mine->MPI_TAG += 1;
    }
    return code;
}

#if ASSAY_MPI4
int MPI_Isendrecv(void const* out, int out_count, MPI_Datatype out_type, int destination, int out_tag, void* in,
                  int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Request* request) {
    if (planted == fault::isendrecv_null_drops && source == MPI_PROC_NULL) out_count = 0;
    if (planted == fault::isendrecv_one_type && out_type != in_type) out_count /= 2;
    int const code = PMPI_Isendrecv(out, out_count, out_type, destination, out_tag, in, in_count, in_type, source,
                                    in_tag, comm, request);
    if (planted == fault::isendrecv_frees_type) freed = in_type;
    if (!idle() && code == MPI_SUCCESS)
        remember(*request, {.buffer = in,
                            .count = in_count,
                            .type = in_type,
                            .source = source,
                            .comm = comm,
                            .how = arrival::immediate});
    return code;
}

int MPI_Type_size(MPI_Datatype type, int* size) {
    int const code = PMPI_Type_size(type, size);
    if (planted == fault::isendrecv_frees_type && type == freed) *size = MPI_UNDEFINED;
    if (planted == fault::type_size_wchar && type == MPI_WCHAR) *size = 2;
    if (planted == fault::type_size_int && *size == MPI_UNDEFINED) {
        MPI_Count all = 0;
        PMPI_Type_size_x(type, &all);
        *size = static_cast<int>(all);
    }
    return code;
}

int MPI_Isendrecv_replace(void* buffer, int count, MPI_Datatype type, int destination, int out_tag, int source,
                          int in_tag, MPI_Comm comm, MPI_Request* request) {
    int const code = PMPI_Isendrecv_replace(buffer, count, type, destination, out_tag, source, in_tag, comm, request);
    if (!idle() && code == MPI_SUCCESS)
        remember(*request, {.buffer = buffer,
                            .count = count,
                            .type = type,
                            .source = source,
                            .comm = comm,
                            .how = arrival::immediate});
    return code;
}

int MPI_Precv_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
    int const code = PMPI_Precv_init(buffer, partitions, count, type, source, tag, comm, info, request);
    if (!idle() && code == MPI_SUCCESS)
        remember(*request, {.buffer = buffer,
                            .count = static_cast<int>(partitions * count),
                            .type = type,
                            .source = source,
                            .comm = comm,
                            .how = arrival::persistent,
                            .partitions = partitions,
                            .active = false});
    return code;
}
#endif

// Messages that were matched and not received.
static std::mutex matched_lock;
static std::vector<MPI_Message> matched;

static void note_matched(MPI_Message message) {
    if (planted != fault::matched_still_seen && planted != fault::mrecv_first_matched) return;
    std::lock_guard const lock(matched_lock);
    matched.push_back(message);
}
// Returns the handle, which may become that of another message.
static MPI_Message take_matched(MPI_Message* message) {
    MPI_Message const handle = *message;
    if (planted != fault::matched_still_seen && planted != fault::mrecv_first_matched) return handle;
    std::lock_guard const lock(matched_lock);
    auto const at = std::find(matched.begin(), matched.end(), handle);
    if (at == matched.end()) return handle;
    if (planted == fault::mrecv_first_matched) *message = matched.front();
    matched.erase(planted == fault::mrecv_first_matched ? matched.begin() : at);
    return handle;
}

int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
    if (idle()) return PMPI_Mrecv(buffer, count, type, message, status);
    before_receive(count, type);
    status_or_own mine(status);
    MPI_Message const handle = take_matched(message);
    int const code = PMPI_Mrecv(buffer, count, type, message, mine);
    if (code == MPI_SUCCESS) received({.buffer = buffer, .count = count, .type = type, .how = arrival::matched}, mine);
    if (planted == fault::mrecv_keeps_handle) *message = handle;
    if (planted == fault::mrecv_null_status && mine->MPI_SOURCE == MPI_PROC_NULL) mine->MPI_SOURCE = 0;
    return failed(code);
}

int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
    bool const nothing = *message == MPI_MESSAGE_NO_PROC;
    MPI_Message const handle = take_matched(message);
    int const code = PMPI_Imrecv(buffer, count, type, message, request);
    if (!idle() && code == MPI_SUCCESS)
        remember(*request, {.buffer = buffer,
                            .count = count,
                            .type = type,
                            .source = nothing ? MPI_PROC_NULL : MPI_ANY_SOURCE,
                            .how = arrival::matched});
    if (planted == fault::imrecv_keeps_handle) *message = handle;
    return code;
}

// ---- Probing

static void probed(MPI_Status* status) {
    if (status->MPI_SOURCE == MPI_PROC_NULL) return;
    if (planted == fault::probe_count) PMPI_Status_set_elements(status, MPI_BYTE, bytes_of(status) + 1);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    if (idle()) return PMPI_Probe(source, tag, comm, status);
    status_or_own mine(status);
    if (planted == fault::probe_tag_ignored && source != MPI_PROC_NULL) tag = MPI_ANY_TAG;
    held_message h{};
    if (find_held(source, tag, comm, false, h)) {
        *mine = h.status;
        return MPI_SUCCESS;
    }
    int const code = PMPI_Probe(source, tag, comm, mine);
    if (code == MPI_SUCCESS) probed(mine);
    static int last_source = MPI_PROC_NULL, last_tag = 0, last_bytes = 0;
    if (planted == fault::probe_again_count && mine->MPI_SOURCE == last_source && mine->MPI_TAG == last_tag &&
        bytes_of(mine) == last_bytes && last_bytes > 0)
        PMPI_Status_set_elements(mine, MPI_BYTE, 0);
    last_source = mine->MPI_SOURCE;
    last_tag = mine->MPI_TAG;
    last_bytes = bytes_of(mine);
    return code;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    if (idle()) return PMPI_Iprobe(source, tag, comm, flag, status);
    status_or_own mine(status);
    held_message h{};
    if (find_held(source, tag, comm, false, h)) {
        *mine = h.status;
        *flag = 1;
        return MPI_SUCCESS;
    }
    if (planted == fault::iprobe_tag_ignored && source != MPI_PROC_NULL) tag = MPI_ANY_TAG;
    int const code = PMPI_Iprobe(source, tag, other_context(comm), flag, mine);
    if (code != MPI_SUCCESS) return code;
    if (planted == fault::iprobe_null_false && source == MPI_PROC_NULL) *flag = 0;
    if (planted == fault::matched_still_seen && !*flag) {
        std::lock_guard const lock(matched_lock);
        *flag = !matched.empty();
        return code;
    }
    if (*flag) probed(mine);
    else if (planted == fault::iprobe_without_message) {
        *flag = 1;
        mine->MPI_SOURCE = source == MPI_ANY_SOURCE ? 0 : source;
        mine->MPI_TAG = tag == MPI_ANY_TAG ? 0 : tag;
        PMPI_Status_set_elements(mine, MPI_BYTE, 0);
    }
    return code;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    if (idle()) return PMPI_Mprobe(source, tag, comm, message, status);
    status_or_own mine(status);
    held_message h{};
    if (find_held(source, tag, comm, true, h)) {
        *message = h.message;
        *mine = h.status;
        return MPI_SUCCESS;
    }
    int const code = PMPI_Mprobe(source, tag, comm, message, mine);
    if (code == MPI_SUCCESS) probed(mine);
    if (planted == fault::mprobe_tag && source != MPI_PROC_NULL) mine->MPI_TAG += 1;
    if (source != MPI_PROC_NULL) note_matched(*message);
    else if (planted == fault::mprobe_null_handle) *message = MPI_MESSAGE_NULL;
    return code;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
    if (idle()) return PMPI_Improbe(source, tag, comm, flag, message, status);
    status_or_own mine(status);
    held_message h{};
    if (find_held(source, tag, comm, true, h)) {
        *flag = 1;
        *message = h.message;
        *mine = h.status;
        return MPI_SUCCESS;
    }
    if (planted == fault::improbe_tag_ignored && source != MPI_PROC_NULL) tag = MPI_ANY_TAG;
    int const code = PMPI_Improbe(source, tag, comm, flag, message, mine);
    if (code != MPI_SUCCESS || !*flag) return code;
    if (source != MPI_PROC_NULL) note_matched(*message);
    probed(mine);
    if (planted == fault::mprobe_tag && source != MPI_PROC_NULL) mine->MPI_TAG += 1;
    return code;
}

// ---- Completing

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    if (idle()) return PMPI_Wait(request, status);
    pending const before = look_at(*request);
    status_or_own mine(status);
    if (late_request != MPI_REQUEST_NULL && late_request == *request) {
        late_request = MPI_REQUEST_NULL;
        PMPI_Start(request);
    }
    int const code = PMPI_Wait(request, mine);
    if (code == MPI_SUCCESS) complete(before, request, mine);
    return failed(code);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    if (idle()) return PMPI_Test(request, flag, status);
    pending const before = look_at(*request);
    status_or_own mine(status);
    int const code = PMPI_Test(request, flag, mine);
    if (planted == fault::test_pending_true && code == MPI_SUCCESS && !*flag && before.is_receive) {
        *flag = 1;
        return code;
    }
    if (code != MPI_SUCCESS || !*flag) return failed(code);
    complete(before, request, mine, fault::test_keeps_request);
    if (planted == fault::test_null_false && before.handle == MPI_REQUEST_NULL) *flag = 0;
    return code;
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (idle()) return PMPI_Waitany(count, requests, index, status);
    auto const before = look_at(count, requests);
    status_or_own mine(status);
    int const code = PMPI_Waitany(count, requests, index, mine);
    if (code != MPI_SUCCESS) return failed(code);
    if (*index == MPI_UNDEFINED) {
        spoil_empty_status(mine);
        if (planted == fault::inactive_index && any_inactive(before)) *index = 0;
        return code;
    }
    complete(before[*index], &requests[*index], mine);
    if (planted == fault::waitany_index) *index = (*index + 1) % count;
    return code;
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
    if (idle()) return PMPI_Testany(count, requests, index, flag, status);
    auto const before = look_at(count, requests);
    status_or_own mine(status);
    int const code = PMPI_Testany(count, requests, index, flag, mine);
    if (planted == fault::testany_index_pending && code == MPI_SUCCESS && !*flag) *index = 0;
    if (planted == fault::inactive_flag_false && *index == MPI_UNDEFINED && any_inactive(before)) *flag = 0;
    if (code != MPI_SUCCESS || !*flag) return failed(code);
    if (*index == MPI_UNDEFINED) spoil_empty_status(mine);
    else complete(before[*index], &requests[*index], mine, fault::test_keeps_request);
    return code;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    if (idle()) return PMPI_Waitall(count, requests, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Waitall(count, requests, mine);
    if (code == MPI_SUCCESS) complete_all(before, requests, mine);
    if (receive third; planted == fault::waitall_writes_behind && count == 2 && statuses != MPI_STATUSES_IGNORE &&
                       recall(requests[2], third) && third.how == arrival::persistent)
        statuses[2].MPI_TAG = 1;
    if (statuses == MPI_STATUSES_IGNORE) received_ignored(before);
    return failed(code);
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (idle()) return PMPI_Testall(count, requests, flag, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Testall(count, requests, flag, mine);
    if (code == MPI_SUCCESS && *flag) complete_all(before, requests, mine);
    int which = 0;
    if (planted == fault::testall_any && code == MPI_SUCCESS && !*flag && complete_now(count, requests, &which) > 0)
        *flag = 1;
    return failed(code);
}

int MPI_Waitsome(int count, MPI_Request* requests, int* finished, int* indices, MPI_Status* statuses) {
    if (idle()) return PMPI_Waitsome(count, requests, finished, indices, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Waitsome(count, requests, finished, indices, mine);
    if (code == MPI_SUCCESS) complete_some(before, requests, *finished, indices, mine);
    if (planted == fault::inactive_outcount && *finished == MPI_UNDEFINED && any_inactive(before)) *finished = 0;
    return failed(code);
}

int MPI_Testsome(int count, MPI_Request* requests, int* finished, int* indices, MPI_Status* statuses) {
    if (idle()) return PMPI_Testsome(count, requests, finished, indices, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Testsome(count, requests, finished, indices, mine);
    if (code != MPI_SUCCESS) return failed(code);
    complete_some(before, requests, *finished, indices, mine);
    if (planted == fault::inactive_outcount && *finished == MPI_UNDEFINED && any_inactive(before)) *finished = 0;
    if (planted == fault::testsome_pending_one && *finished == 0) {
        *finished = 1;
        indices[0] = 0;
    }
    if (planted == fault::testsome_outcount && *finished > 0 && *finished < count) {
        indices[*finished] = indices[0];
        mine[*finished] = mine[0];
        ++*finished;
    }
    return code;
}

int MPI_Request_free(MPI_Request* request) {
    if (idle()) return PMPI_Request_free(request);
    MPI_Request const before = *request;
    forget(before);
    if (planted == fault::request_free_spoils && before == last_send.request && last_send.buffer != nullptr)
        spoil(last_send.buffer);
    int const code = PMPI_Request_free(request);
    if (planted == fault::request_free_keeps) *request = before;
    return code;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    if (idle()) return PMPI_Request_get_status(request, flag, status);
    status_or_own mine(status);
    int const code = PMPI_Request_get_status(request, flag, mine);
    if (request == MPI_REQUEST_NULL) spoil_empty_status(mine);
    if (code != MPI_SUCCESS) return code;
    if (planted == fault::get_status_pending_true) *flag = 1;
    static MPI_Request last = MPI_REQUEST_NULL;
    if (planted == fault::get_status_twice && *flag && request == last && request != MPI_REQUEST_NULL)
        mine->MPI_TAG += 1;
    if (*flag) last = request;
    if (planted == fault::get_status_inactive_source && is_inactive(request)) mine->MPI_SOURCE = 0;
    return code;
}

int MPI_Cancel(MPI_Request* request) {
    receive posted;
    if (planted == fault::cancel_ignored) return MPI_SUCCESS;
    if (planted == fault::cancel_complete_succeeds) {
        int flag = 0;
        PMPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
        if (flag) pretend_cancelled(*request);
    }
    if (planted == fault::cancel_lies && !recall(*request, posted)) {
        pretend_cancelled(*request);
        return MPI_SUCCESS;
    }
    return PMPI_Cancel(request);
}

int MPI_Test_cancelled(MPI_Status const* status, int* flag) {
    int const code = PMPI_Test_cancelled(status, flag);
    if (planted == fault::test_cancelled_inverted && code == MPI_SUCCESS) *flag = !*flag;
    return code;
}

// ---- Asking

int MPI_Get_count(MPI_Status const* status, MPI_Datatype type, int* count) {
    int const code = PMPI_Get_count(status, type, count);
    int size = 0;
    if (planted == fault::get_count_no_data && PMPI_Type_size(type, &size) == MPI_SUCCESS && size == 0) *count = 0;
    if (planted == fault::get_count_overflow && *count == MPI_UNDEFINED) *count = 2147483647;
    if (planted == fault::get_count_undefined && code == MPI_SUCCESS && *count > 0) *count = MPI_UNDEFINED;
    if (planted == fault::get_count_rounded && code == MPI_SUCCESS && *count == MPI_UNDEFINED) {
        MPI_Count elements = 0;
        PMPI_Get_elements_x(status, type, &elements);
        if (elements < 1000) *count = 0;
    }
    if (planted == fault::get_count_int && code == MPI_SUCCESS && *count == MPI_UNDEFINED) {
        MPI_Count elements = 0;
        PMPI_Get_elements_x(status, type, &elements);
        if (elements > 1000) *count = static_cast<int>(elements);
    }
    return code;
}

int MPI_Get_elements(MPI_Status const* status, MPI_Datatype type, int* count) {
    int const code = PMPI_Get_elements(status, type, count);
    if (planted == fault::get_elements_plus_one && code == MPI_SUCCESS && *count > 0) ++*count;
    if (planted == fault::get_elements_five && code == MPI_SUCCESS && *count == 5) *count = 4;
    if (planted == fault::get_elements_whole && code == MPI_SUCCESS) { // of partial messages
        int whole = 0;
        PMPI_Get_count(status, type, &whole);
        if (whole == MPI_UNDEFINED && *count > 0) --*count;
    }
    return code;
}

int MPI_Status_set_elements(MPI_Status* status, MPI_Datatype type, int count) {
    return PMPI_Status_set_elements(status, type,
                                    planted == fault::set_elements_minus_one && count > 0 ? count - 1 : count);
}

int MPI_Status_set_cancelled(MPI_Status* status, int flag) {
    if (planted == fault::set_cancelled_ignored) return MPI_SUCCESS;
    return PMPI_Status_set_cancelled(status, flag);
}

int MPI_Cart_shift(MPI_Comm comm, int direction, int displacement, int* source, int* destination) {
    int const code = PMPI_Cart_shift(comm, direction, displacement, source, destination);
    if (planted == fault::cart_shift_swapped && code == MPI_SUCCESS) std::swap(*source, *destination);
    return code;
}

int MPI_Pack(void const* in, int count, MPI_Datatype type, void* out, int size, int* position, MPI_Comm comm) {
    int const start = *position;
    int const code =
        PMPI_Pack(in, planted == fault::pack_fifth_lost && count == 5 ? 4 : count, type, out, size, position, comm);
    if (code != MPI_SUCCESS || *position == start) return code;
    if (planted == fault::pack_behind_size && start == 0) spoil(static_cast<char*>(out) + size);
    if (planted == fault::pack_last_byte) spoil(static_cast<char*>(out) + *position - 1);
    if (planted == fault::pack_position && *position < size) ++*position;
    return code;
}

int MPI_Unpack(void const* in, int size, int* position, void* out, int count, MPI_Datatype type, MPI_Comm comm) {
    if (planted != fault::unpack_position_ignored) return PMPI_Unpack(in, size, position, out, count, type, comm);
    int from = 0;
    int const code = PMPI_Unpack(in, size, &from, out, count, type, comm);
    *position += from;
    return code;
}

} // extern "C"
