// The calls that receive, and those that look whether there is something to receive.
#include "core/core.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <vector>

using namespace assay_faults;

namespace {

// ---- Overtaking: messages that were matched, but are to be received after a later one of the same sender

struct held_message {
    MPI_Message message;
    MPI_Status status;
    MPI_Comm comm;
};
std::mutex held_lock;
memory<std::vector<held_message>> held;

bool matches(held_message const& h, int source, int tag, MPI_Comm comm) {
    return h.comm == comm && (source == MPI_ANY_SOURCE || source == h.status.MPI_SOURCE) &&
           (tag == MPI_ANY_TAG || tag == h.status.MPI_TAG);
}

// The held message that a receive or (without `take`) a probe has to be given.
bool find_held(int source, int tag, MPI_Comm comm, bool take, held_message& found) {
    if (planted != fault::overtaking) return false;
    std::lock_guard const lock(held_lock);
    auto const at =
        std::find_if(held->begin(), held->end(), [&](auto const& h) { return matches(h, source, tag, comm); });
    if (at == held->end()) return false;
    found = *at;
    if (take) held->erase(at);
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
        held->push_back(first);
    }
    return PMPI_Mrecv(buffer, count, type, &second.message, status);
}

// ---- Matched messages

// Messages that were matched and not received.
std::mutex matched_lock;
memory<std::vector<MPI_Message>> matched;

void note_matched(MPI_Message message) {
    if (planted != fault::matched_still_seen && planted != fault::mrecv_first_matched) return;
    std::lock_guard const lock(matched_lock);
    matched->push_back(message);
}
// Returns the handle, which may become that of another message.
MPI_Message take_matched(MPI_Message* message) {
    MPI_Message const handle = *message;
    if (planted != fault::matched_still_seen && planted != fault::mrecv_first_matched) return handle;
    std::lock_guard const lock(matched_lock);
    auto const at = std::find(matched->begin(), matched->end(), handle);
    if (at == matched->end()) return handle;
    if (planted == fault::mrecv_first_matched) *message = matched->front();
    matched->erase(planted == fault::mrecv_first_matched ? matched->begin() : at);
    return handle;
}

} // namespace

extern "C" {

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
    if (code == MPI_SUCCESS && source != MPI_PROC_NULL) {
        receive const posted{.buffer = buffer, .count = count, .type = type};
        if (planted == fault::recv_ignored_status && status == MPI_STATUS_IGNORE)
            invert_first_byte(posted, elements_of(posted, mine));
        if (planted == fault::long_message_spoilt && bytes_of(mine) > 1 << 18)
            spoil(static_cast<char*>(buffer) + span_of(elements_of(posted, mine), type).second / 2);
    }
    if (code != MPI_SUCCESS && planted == fault::truncation_overflows && type == MPI_INT)
        spoil(static_cast<int*>(buffer) + count);
    if (code != MPI_SUCCESS && planted == fault::truncation_status) mine->MPI_TAG = -1;
    if (planted == fault::error_field_recv) mine->MPI_ERROR = code;
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
        if (planted == fault::alloc_mem_message_spoilt && bytes_of(mine) > 0 && is_allocated(in))
            spoil(static_cast<char*>(in) + span_of(in_count, in_type).second - 1);
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
    if (planted == fault::isendrecv_frees_type) note_freed(in_type);
    if (!idle() && code == MPI_SUCCESS)
        remember(*request, {.buffer = in,
                            .count = in_count,
                            .type = in_type,
                            .source = source,
                            .comm = comm,
                            .how = arrival::immediate});
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
#endif

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
    static memory<std::array<int, 3>> before; // source, tag and bytes of the last message that was found
    std::array<int, 3> const found{mine->MPI_SOURCE, mine->MPI_TAG, bytes_of(mine)};
    if (planted == fault::probe_again_count && found == *before && found[2] > 0)
        PMPI_Status_set_elements(mine, MPI_BYTE, 0);
    *before = found;
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
        *flag = !matched->empty();
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

} // extern "C"
