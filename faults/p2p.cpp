// The MPI procedures of point-to-point communication that the shim stands in front of. Each goes straight to PMPI when no fault is planted.
#include "core.hpp"

#include <algorithm>
#include <chrono>
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
};

pending look_at(MPI_Request handle) {
    pending p{handle, false, {}};
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
    if (was_pretended(before.handle)) PMPI_Status_set_cancelled(status, 1);
    run_completion(before.handle);
    if (before.is_receive) {
        completed(before.handle, before.posted);
        received(before.posted, status);
    } else if (status->MPI_SOURCE == MPI_PROC_NULL) {
        received({}, status);
    }
    if (planted == keeps) *request = before.handle;
}

void complete_all(std::vector<pending> const& before, MPI_Request* requests, MPI_Status* statuses) {
    for (std::size_t i = 0; i < before.size(); ++i) complete(before[i], &requests[i], &statuses[i]);
    if (planted == fault::status_waitall_swapped && before.size() > 1) std::swap(statuses[0], statuses[1]);
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
    if (int const refused = before_send(message); refused != MPI_SUCCESS) return refused;
    return after_send(message, call(message));
}

} // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    read_environment();
    int const code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS && !idle()) learn_rank();
    return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    read_environment();
    int const code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS && !idle()) learn_rank();
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
            return PMPI_##name(s.buffer, s.count, s.type, s.destination, s.tag, s.comm, request);                      \
        });                                                                                                            \
    }
BLOCKING_SEND(Send, mode::standard)
BLOCKING_SEND(Bsend, mode::buffered)
BLOCKING_SEND(Ssend, mode::synchronous)
BLOCKING_SEND(Rsend, mode::ready)
REQUEST_SEND(Isend, mode::standard, departure::immediate)
REQUEST_SEND(Ibsend, mode::buffered, departure::immediate)
REQUEST_SEND(Issend, mode::synchronous, departure::immediate)
REQUEST_SEND(Irsend, mode::ready, departure::immediate)
REQUEST_SEND(Send_init, mode::standard, departure::persistent)
REQUEST_SEND(Bsend_init, mode::buffered, departure::persistent)
REQUEST_SEND(Ssend_init, mode::synchronous, departure::persistent)
REQUEST_SEND(Rsend_init, mode::ready, departure::persistent)

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
    return code;
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    if (idle()) return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
    before_receive(count, type);
    held_message h{};
    int const code = find_held(source, tag, comm, true, h)
                         ? PMPI_Imrecv(buffer, count, type, &h.message, request)
                         : PMPI_Irecv(buffer, count, type, source, tag, comm, request);
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
    if (!idle())
        for (int i = 0; i < count; ++i) started(requests[i]);
    return PMPI_Startall(count, requests);
}

int MPI_Sendrecv(void const* out, int out_count, MPI_Datatype out_type, int destination, int out_tag, void* in,
                 int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status) {
    if (idle())
        return PMPI_Sendrecv(out, out_count, out_type, destination, out_tag, in, in_count, in_type, source, in_tag,
                             comm, status);
    send message{out, out_count, out_type, destination, out_tag, comm, mode::standard, departure::blocking};
    if (int const refused = before_send(message); refused != MPI_SUCCESS) return refused;
    before_receive(in_count, in_type);
    status_or_own mine(status);
    MPI_Status const untouched = *mine;
    int const code = PMPI_Sendrecv(out, message.count, out_type, destination, message.tag, in, in_count, in_type,
                                   source, in_tag, comm, mine);
    if (code == MPI_SUCCESS) {
        received({.buffer = in, .count = in_count, .type = in_type, .source = source, .comm = comm}, mine);
        if (planted == fault::status_sendrecv_tag && source != MPI_PROC_NULL) mine->MPI_TAG += 1;
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

int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
    if (idle()) return PMPI_Mrecv(buffer, count, type, message, status);
    before_receive(count, type);
    status_or_own mine(status);
    int const code = PMPI_Mrecv(buffer, count, type, message, mine);
    if (code == MPI_SUCCESS) received({.buffer = buffer, .count = count, .type = type, .how = arrival::matched}, mine);
    return code;
}

int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
    bool const nothing = *message == MPI_MESSAGE_NO_PROC;
    int const code = PMPI_Imrecv(buffer, count, type, message, request);
    if (!idle() && code == MPI_SUCCESS)
        remember(*request, {.buffer = buffer,
                            .count = count,
                            .type = type,
                            .source = nothing ? MPI_PROC_NULL : MPI_ANY_SOURCE,
                            .how = arrival::matched});
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
    held_message h{};
    if (find_held(source, tag, comm, false, h)) {
        *mine = h.status;
        return MPI_SUCCESS;
    }
    int const code = PMPI_Probe(source, tag, comm, mine);
    if (code == MPI_SUCCESS) probed(mine);
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
    int const code = PMPI_Iprobe(source, tag, comm, flag, mine);
    if (code != MPI_SUCCESS) return code;
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
    int const code = PMPI_Improbe(source, tag, comm, flag, message, mine);
    if (code != MPI_SUCCESS || !*flag) return code;
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
    return code;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    if (idle()) return PMPI_Test(request, flag, status);
    pending const before = look_at(*request);
    status_or_own mine(status);
    int const code = PMPI_Test(request, flag, mine);
    if (code != MPI_SUCCESS || !*flag) return code;
    complete(before, request, mine, fault::test_keeps_request);
    if (planted == fault::test_null_false && before.handle == MPI_REQUEST_NULL) *flag = 0;
    return code;
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (idle()) return PMPI_Waitany(count, requests, index, status);
    auto const before = look_at(count, requests);
    status_or_own mine(status);
    int const code = PMPI_Waitany(count, requests, index, mine);
    if (code != MPI_SUCCESS) return code;
    if (*index == MPI_UNDEFINED) {
        spoil_empty_status(mine);
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
    if (code != MPI_SUCCESS || !*flag) return code;
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
    return code;
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (idle()) return PMPI_Testall(count, requests, flag, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Testall(count, requests, flag, mine);
    if (code == MPI_SUCCESS && *flag) complete_all(before, requests, mine);
    return code;
}

int MPI_Waitsome(int count, MPI_Request* requests, int* finished, int* indices, MPI_Status* statuses) {
    if (idle()) return PMPI_Waitsome(count, requests, finished, indices, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Waitsome(count, requests, finished, indices, mine);
    if (code == MPI_SUCCESS) complete_some(before, requests, *finished, indices, mine);
    return code;
}

int MPI_Testsome(int count, MPI_Request* requests, int* finished, int* indices, MPI_Status* statuses) {
    if (idle()) return PMPI_Testsome(count, requests, finished, indices, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Testsome(count, requests, finished, indices, mine);
    if (code != MPI_SUCCESS) return code;
    complete_some(before, requests, *finished, indices, mine);
    if (planted == fault::testsome_outcount && *finished > 0 && *finished < count) {
        indices[*finished] = indices[0];
        mine[*finished] = mine[0];
        ++*finished;
    }
    return code;
}

int MPI_Request_free(MPI_Request* request) {
    if (!idle()) forget(*request);
    return PMPI_Request_free(request);
}

int MPI_Cancel(MPI_Request* request) {
    receive posted;
    if (planted == fault::cancel_ignored) return MPI_SUCCESS;
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
