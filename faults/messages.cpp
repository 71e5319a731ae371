// What becomes of the data, status, tag and order of any message, whichever call sends or receives it.
#include "core/core.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace assay_faults {

int elements_of(receive const& posted, MPI_Status const* status) {
    if (posted.partitions > 0) return posted.count;
    int count = 0;
    if (PMPI_Get_count(status, posted.type, &count) != MPI_SUCCESS || count == MPI_UNDEFINED) return 0;
    return count;
}

namespace {

memory<std::atomic<MPI_Datatype>> last_sent(MPI_DATATYPE_NULL);

template <typename Edit> void edit(receive const& posted, int count, Edit change) {
    bytes stream = load(posted.buffer, count, posted.type);
    if (stream.empty()) return;
    change(stream);
    store(stream, posted.buffer, count, posted.type);
}

bool is_pair(MPI_Datatype type) {
    return type == MPI_FLOAT_INT || type == MPI_DOUBLE_INT || type == MPI_LONG_INT || type == MPI_SHORT_INT ||
           type == MPI_2INT || type == MPI_LONG_DOUBLE_INT;
}

bool is_single(MPI_Comm comm) {
    int size = 0;
    if (comm != MPI_COMM_NULL && !is_inter(comm)) PMPI_Comm_size(comm, &size);
    return size == 1;
}

void flip_first(bytes& stream) { stream.front() = static_cast<unsigned char>(~stream.front()); }

// Bytes of one of `count` elements.
std::size_t one_of(int count, bytes const& stream) {
    return count > 0 ? stream.size() / static_cast<std::size_t>(count) : 0;
}

// The last `width` bytes of each of `count` elements.
void lose_tails(bytes& stream, int count, std::size_t width) {
    std::size_t const size = one_of(count, stream);
    for (std::size_t end = size; size > 0 && end <= stream.size(); end += size)
        for (std::size_t k = 1; k <= width && k <= size; ++k) stream[end - k] = lost(stream[end - k]);
}

void zero_from(bytes& stream, std::size_t first) {
    for (std::size_t k = first; k < stream.size(); ++k) stream[k] = 0;
}

void overwrite_gaps(receive const& posted, int count) {
    // A buffer at MPI_BOTTOM may span memory of others.
    if (count <= 0 || posted.buffer == MPI_BOTTOM || posted.type == MPI_PACKED) return;
    auto const [first, last] = span_of(count, posted.type);
    bytes const stream = load(posted.buffer, count, posted.type);
    if (stream.empty()) return;
    std::memset(static_cast<char*>(posted.buffer) + first, 0, static_cast<std::size_t>(last - first));
    store(stream, posted.buffer, count, posted.type);
}

memory<std::atomic<unsigned>> messages; // that this rank received
memory<std::atomic<unsigned>> from_anybody;

void edit_data(receive const& posted, int count) {
    auto const flip_if = [&](bool applies) {
        if (applies) edit(posted, count, flip_first);
    };
    switch (planted) {
    case fault::last_byte_lost: return edit(posted, count, [](bytes& s) { s.back() = lost(s.back()); });
    case fault::last_element_lost:
        return edit(posted, count, [&](bytes& s) {
            for (std::size_t k = s.size() - one_of(count, s); k < s.size(); ++k) s[k] = lost(s[k]);
        });
    case fault::first_byte_flipped: return flip_if(true);
    case fault::beyond_8k_zeroed: return edit(posted, count, [](bytes& s) { zero_from(s, 8192); });
    case fault::beyond_64k_zeroed: return edit(posted, count, [](bytes& s) { zero_from(s, 65536); });
    case fault::exactly_8k_wrong:
        return edit(posted, count, [](bytes& s) {
            if (s.size() == 8192) flip_first(s);
        });
    case fault::every_97th_message: return flip_if(++*messages % 97 == 0);
    case fault::gaps_overwritten: return overwrite_gaps(posted, count);
    case fault::byte_past_end:
        if (posted.type == MPI_PACKED) return;
        return write_byte(static_cast<char*>(posted.buffer) + span_of(posted.count, posted.type).second, 0);
    case fault::byte_before_start:
        if (posted.type == MPI_PACKED) return;
        return write_byte(static_cast<char*>(posted.buffer) + span_of(posted.count, posted.type).first - 1, 0);
    case fault::pair_index_lost:
        if (is_pair(posted.type)) edit(posted, count, [&](bytes& s) { lose_tails(s, count, sizeof(int)); });
        return;
    case fault::derived_last_member_lost:
        if (!is_named(posted.type)) edit(posted, count, [&](bytes& s) { lose_tails(s, count, 2); });
        return;
    case fault::long_double_int_wrong: return flip_if(posted.type == MPI_LONG_DOUBLE_INT);
    case fault::short_wrong: return flip_if(posted.type == MPI_SHORT);
    case fault::rank_above_1_wrong: return flip_if(world_rank > 1);
    case fault::self_wrong: return flip_if(is_single(posted.comm));
    case fault::inter_wrong: return flip_if(is_inter(posted.comm));
    case fault::bottom_wrong: return flip_if(posted.buffer == MPI_BOTTOM);
    case fault::irecv_wrong: return flip_if(posted.how == arrival::immediate);
    case fault::mrecv_wrong: return flip_if(posted.how == arrival::matched);
    case fault::persistent_fifth_start:
        return flip_if(posted.how == arrival::persistent && posted.partitions == 0 && posted.starts >= 5);
    case fault::any_source_200th: return flip_if(posted.source == MPI_ANY_SOURCE && ++*from_anybody % 200 == 0);
    case fault::two_type_maps:
        return flip_if(posted.partitions == 0 && posted.type != *last_sent && !is_named(posted.type) &&
                       !is_named(*last_sent));
    case fault::received_as_derived:
        return flip_if(posted.type != MPI_INT && !is_named(posted.type) && count > 0 &&
                       posted.how == arrival::blocking);
    case fault::messages_8192nd: return flip_if(++*messages % 8192 == 0);
    case fault::sendrecv_wildcard_data: return flip_if(posted.both && posted.source == MPI_ANY_SOURCE);
    case fault::persistent_second_start: return flip_if(posted.how == arrival::persistent && posted.starts >= 2);
    default: return;
    }
}

void edit_status(receive const& posted, MPI_Status* status, int count) {
    switch (planted) {
    case fault::status_source: status->MPI_SOURCE += 1; return;
    case fault::status_tag: status->MPI_TAG += 1; return;
    case fault::status_count_plus_one: PMPI_Status_set_elements(status, posted.type, count + 1); return;
    case fault::status_cancelled: PMPI_Status_set_cancelled(status, 1); return;
    case fault::status_zero_count_source:
        if (count == 0) status->MPI_SOURCE += 1;
        return;
    case fault::empty_message_tag:
        if (count == 0 && posted.count > 0) status->MPI_TAG = 0;
        return;
    case fault::status_source_rank_above_1:
        if (world_rank > 1) status->MPI_SOURCE += 1;
        return;
    case fault::status_source_inter:
        if (is_inter(posted.comm)) status->MPI_SOURCE += 1;
        return;
    default: return;
    }
}

} // namespace

void before_receive(int count, MPI_Datatype type) {
    if (!rare(count, type)) return;
    if (planted == fault::crash_segv) {
        int volatile* volatile nowhere = nullptr;
        *nowhere = 1; // NOLINT(clang-analyzer-core.NullDereference): the fault
    }
    if (planted == fault::crash_abort) std::abort();
}

void received(receive const& posted, MPI_Status* status) {
    if (status->MPI_SOURCE == MPI_PROC_NULL) {
        if (planted == fault::status_proc_null_tag) status->MPI_TAG = 0;
        return;
    }
    int cancelled = 0;
    PMPI_Test_cancelled(status, &cancelled);
    if (cancelled) return;
    int const count = elements_of(posted, status);
    if (planted == fault::empty_message_writes && count == 0 && posted.count > 0 && posted.how != arrival::immediate)
        spoil(posted.buffer);
    if (planted == fault::shorter_writes && count < posted.count && posted.how == arrival::persistent &&
        posted.type != MPI_PACKED)
        write_byte(static_cast<char*>(posted.buffer) + span_of(posted.count, posted.type).second - 1, 0);
    if (planted == fault::shorter_writes_matched && count < posted.count && posted.how == arrival::matched &&
        posted.type != MPI_PACKED)
        write_byte(static_cast<char*>(posted.buffer) + span_of(posted.count, posted.type).second - 1, 0);
    edit_data(posted, count);
    edit_status(posted, status, count);
    received_partitions(posted, count);
    received_in_thread(posted, status, count);
    received_when_spawned(posted, count);
    if ((planted == fault::comm_free_pending || planted == fault::comm_dup_spoils) && was_freed(posted.comm))
        spoil(posted.buffer);
}

void invert_first_byte(receive const& posted, int count) { edit(posted, count, flip_first); }

void swap_data(receive const& a, MPI_Status const& status_a, receive const& b, MPI_Status const& status_b) {
    int const count = elements_of(a, &status_a);
    if (count == 0 || a.type != b.type || count != elements_of(b, &status_b)) return;
    bytes const of_a = load(a.buffer, count, a.type), of_b = load(b.buffer, count, b.type);
    store(of_b, a.buffer, count, a.type);
    store(of_a, b.buffer, count, b.type);
}

// ---- Sending

memory<bool> late_send;
memory<MPI_Request> late_request(MPI_REQUEST_NULL);

long long bytes_of(send const& message) {
    int size = 0;
    PMPI_Type_size(message.type, &size);
    return static_cast<long long>(size) * message.count;
}

int before_send(send& message) {
    auto const drop_last_if = [&](bool applies) {
        if (applies && message.count > 0) --message.count;
    };
    bool const struck = rare(message.count, message.type) && message.destination != MPI_PROC_NULL;
    *last_sent = message.type;
    switch (planted) {
    case fault::bsend_truncates: drop_last_if(message.m == mode::buffered); break;
    case fault::ssend_truncates: drop_last_if(message.m == mode::synchronous); break;
    case fault::rsend_truncates: drop_last_if(message.m == mode::ready); break;
    case fault::isend_truncates:
        drop_last_if(message.m == mode::standard && message.how == departure::immediate);
        break;
    case fault::start_late:
        *late_send =
            message.m == mode::synchronous && message.how == departure::persistent && bytes_of(message) > 65536;
        break;
    case fault::persistent_send_truncates: drop_last_if(message.how == departure::persistent); break;
    case fault::tag_16_bits: message.tag &= 0xffff; break;
    case fault::send_init_sends:
        if (message.how == departure::persistent && message.destination != MPI_PROC_NULL) {
            MPI_Request request = MPI_REQUEST_NULL;
            PMPI_Isend(nullptr, 0, MPI_BYTE, message.destination, message.tag, message.comm, &request);
            PMPI_Request_free(&request);
        }
        break;
    case fault::wrong_tag:
        if (struck) message.tag += 1;
        break;
    case fault::refusal:
        if (struck) return MPI_ERR_OTHER;
        break;
    case fault::fd_leak:
        if (struck) (void)!open("/dev/null", O_RDONLY);
        break;
    case fault::stderr_noise:
        if (struck) std::fputs("transport: retrying after a lost packet\n", stderr);
        break;
    case fault::early_exit:
        if (struck) _exit(0);
        break;
    case fault::mpi_abort:
        if (struck) PMPI_Abort(MPI_COMM_WORLD, 7);
        break;
    case fault::hang_send:
        while (struck) pause(); // NOLINT(bugprone-infinite-loop): the fault
        break;
    case fault::stray_message:
        if (struck) {
            MPI_Request request = MPI_REQUEST_NULL;
            PMPI_Isend(nullptr, 0, MPI_BYTE, message.destination, message.tag + 1000, message.comm, &request);
            PMPI_Request_free(&request);
        }
        break;
    default: break;
    }
    return MPI_SUCCESS;
}

int after_send(send const& message, int code) {
    if (planted == fault::send_buffer_modified && message.how == departure::blocking && message.count > 0 &&
        message.buffer != MPI_BOTTOM && message.type != MPI_PACKED)
        spoil(static_cast<char*>(const_cast<void*>(message.buffer)) + span_of(message.count, message.type).first);
    if (planted == fault::uncommitted_taken && message.destination == MPI_PROC_NULL) return MPI_SUCCESS;
    if (planted == fault::error_code && rare(message.count, message.type)) return MPI_ERR_OTHER;
    return code;
}

} // namespace assay_faults
