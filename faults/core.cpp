#include "core.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <set>
#include <sys/uio.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay_faults {

fault planted = fault::unset;
int world_rank = -1;

namespace {
// Whether ASSAY_FAULT is unset or names a fault, which is then planted.
bool plant() {
    char const* const wanted = std::getenv("ASSAY_FAULT");
    if (!wanted || !*wanted) return true;
    static constexpr char const* names[] = {
#define F(name) #name,
        ASSAY_FAULTS(F)
#undef F
    };
    int index = 0;
    for (char const* name : names) {
        if (std::strcmp(name, wanted) == 0) {
            planted = static_cast<fault>(index);
            return true;
        }
        ++index;
    }
    return false;
}
// Faults of what may be called before MPI_Init are there from the beginning.
[[maybe_unused]] bool const planted_early = plant();
} // namespace

void read_environment() {
    if (plant()) return;
    std::fprintf(stderr, "libassay_faults: ASSAY_FAULT=%s is no planted fault; faults/*.toml list them\n",
                 std::getenv("ASSAY_FAULT"));
    std::exit(2);
}

void learn_rank() { PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank); }

bool rare(int count, MPI_Datatype type) { return world_rank == 1 && count == 17 && type == MPI_INT; }

// ---- Data

namespace {

// A byte that did not arrive still has what the buffer held before, often 0xa5; where that is the right value by
// chance, something else.
unsigned char lost(unsigned char arrived) { return arrived == 0xa5 ? 0x5a : 0xa5; }

void write_byte(void* address, unsigned char value) {
    // Not a plain store: behind the end there may be a page that must not be touched, and that would be another fault.
    iovec local{&value, 1}, remote{address, 1};
    (void)!process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
}

// Packed data cannot be packed again.
MPI_Datatype streamed(MPI_Datatype type) { return type == MPI_PACKED ? MPI_BYTE : type; }

} // namespace

// In all libraries at hand MPI_Pack adds nothing of its own.
bytes load(void* buffer, int count, MPI_Datatype type) {
    bytes stream;
    int room = 0, position = 0;
    if (count <= 0 || PMPI_Pack_size(count, streamed(type), MPI_COMM_SELF, &room) != MPI_SUCCESS || room <= 0)
        return stream;
    stream.resize(static_cast<std::size_t>(room));
    if (PMPI_Pack(buffer, count, streamed(type), stream.data(), room, &position, MPI_COMM_SELF) != MPI_SUCCESS)
        position = 0;
    stream.resize(static_cast<std::size_t>(position));
    return stream;
}

void store(bytes const& stream, void* buffer, int count, MPI_Datatype type) {
    int position = 0;
    if (!stream.empty())
        PMPI_Unpack(stream.data(), static_cast<int>(stream.size()), &position, buffer, count, streamed(type),
                    MPI_COMM_SELF);
}

namespace {

// Elements that arrived, of the posted type; 0 if that is not a whole number.
int elements_of(receive const& posted, MPI_Status const* status) {
    if (posted.partitions > 0) return posted.count;
    int count = 0;
    if (PMPI_Get_count(status, posted.type, &count) != MPI_SUCCESS || count == MPI_UNDEFINED) return 0;
    return count;
}

template <typename Edit> void edit(receive const& posted, int count, Edit change) {
    bytes stream = load(posted.buffer, count, posted.type);
    if (stream.empty()) return;
    change(stream);
    store(stream, posted.buffer, count, posted.type);
}

// The bytes [first, last) that `count` elements span, relative to the buffer address.
std::pair<MPI_Aint, MPI_Aint> span_of(int count, MPI_Datatype type) {
    MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    PMPI_Type_get_extent(type, &lb, &extent);
    PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
    MPI_Aint const last_element = count > 0 ? (count - 1) * extent : 0;
    MPI_Aint const first = true_lb + (last_element < 0 ? last_element : 0);
    return {first, true_lb + true_extent + (last_element > 0 ? last_element : 0)};
}

bool is_pair(MPI_Datatype type) {
    return type == MPI_FLOAT_INT || type == MPI_DOUBLE_INT || type == MPI_LONG_INT || type == MPI_SHORT_INT ||
           type == MPI_2INT || type == MPI_LONG_DOUBLE_INT;
}

bool is_derived(MPI_Datatype type) {
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner != MPI_COMBINER_NAMED;
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

std::atomic<unsigned> messages{0};

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
    case fault::every_97th_message: return flip_if(++messages % 97 == 0);
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
        if (is_derived(posted.type)) edit(posted, count, [&](bytes& s) { lose_tails(s, count, 2); });
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
    case fault::partitioned_fourth_round: return flip_if(posted.partitions > 0 && posted.starts >= 4);
    case fault::partitions_of_vectors:
        return flip_if(posted.partitions > 0 && send_type != posted.type && is_derived(posted.type));
    case fault::any_source_400th: {
        static std::atomic<unsigned> from_anybody{0};
        return flip_if(posted.source == MPI_ANY_SOURCE && count == 4 && ++from_anybody % 200 == 0);
    }
    case fault::received_as_derived:
        return flip_if(posted.type != MPI_INT && is_derived(posted.type) && count > 0 &&
                       posted.how == arrival::blocking);
    case fault::partitions_many: return flip_if(posted.partitions > 512);
    case fault::partitions_uneven:
        return flip_if(posted.partitions > 1 && send_partitions > 1 && posted.partitions % send_partitions != 0 &&
                       send_partitions % posted.partitions != 0);
    case fault::partitioned_third_request: return flip_if(posted.partitions == 4 && remembered() >= 3);
    case fault::messages_8192nd: {
        static std::atomic<unsigned> of_three_ints{0};
        return flip_if(count == 3 && posted.type == MPI_INT && ++of_three_ints % 8192 == 0);
    }
    case fault::sendrecv_wildcard_data: return flip_if(posted.both && posted.source == MPI_ANY_SOURCE);
    case fault::persistent_second_start: return flip_if(posted.how == arrival::persistent && posted.starts >= 2);
    case fault::thread_data: return flip_if(!in_main_thread());
    case fault::partitions_differ: return flip_if(posted.partitions > 0 && posted.partitions != send_partitions);
    case fault::spawned_data: return flip_if(spawned());
    case fault::partition_lost:
        if (posted.partitions > 0)
            edit(posted, count,
                 [&](bytes& s) { zero_from(s, s.size() - s.size() / static_cast<std::size_t>(posted.partitions)); });
        return;
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
    case fault::thread_handover:
        if (posted.serial != 0 && pthread_equal(posted.starter, pthread_self()) == 0) status->MPI_TAG += 1;
        return;
    case fault::thread_message_twice: {
        static std::atomic<int> last_tag{0};
        int const tag = status->MPI_TAG;
        if (!in_main_thread()) status->MPI_TAG = last_tag;
        last_tag = tag;
        return;
    }
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
    if ((planted == fault::comm_free_pending || planted == fault::comm_dup_spoils) && was_freed(posted.comm))
        spoil(posted.buffer);
}

void swap_data(receive const& a, MPI_Status const& status_a, receive const& b, MPI_Status const& status_b) {
    int const count = elements_of(a, &status_a);
    if (count == 0 || a.type != b.type || count != elements_of(b, &status_b)) return;
    bytes const of_a = load(a.buffer, count, a.type), of_b = load(b.buffer, count, b.type);
    store(of_b, a.buffer, count, a.type);
    store(of_a, b.buffer, count, b.type);
}

// ---- Requests

namespace {

std::mutex requests_lock;
std::map<std::uintptr_t, receive> requests;
struct completion {
    std::function<void()> what;
    bool persistent;
};
std::map<std::uintptr_t, completion> completions;
std::set<std::uintptr_t> pretended;
std::uint64_t next_serial = 0;

template <typename Handle> std::uintptr_t key(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>) return reinterpret_cast<std::uintptr_t>(handle);
    else return static_cast<std::uintptr_t>(handle);
}

} // namespace

void remember(MPI_Request request, receive posted) {
    // MPICH hands out one handle for many receives from MPI_PROC_NULL, as they are complete at once.
    if (request == MPI_REQUEST_NULL || posted.source == MPI_PROC_NULL) return;
    std::lock_guard const lock(requests_lock);
    posted.serial = ++next_serial;
    posted.starter = pthread_self();
    requests[key(request)] = posted;
}

bool recall(MPI_Request request, receive& posted) {
    if (request == MPI_REQUEST_NULL) return false;
    std::lock_guard const lock(requests_lock);
    auto const found = requests.find(key(request));
    if (found == requests.end() || !found->second.active) return false;
    posted = found->second;
    return true;
}

bool is_inactive(MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return false;
    std::lock_guard const lock(requests_lock);
    auto const found = requests.find(key(request));
    return found != requests.end() && !found->second.active;
}

std::size_t remembered() {
    std::lock_guard const lock(requests_lock);
    return requests.size();
}

void started(MPI_Request request) {
    std::lock_guard const lock(requests_lock);
    auto const found = requests.find(key(request));
    if (found == requests.end()) return;
    found->second.active = true;
    ++found->second.starts;
}

void completed(MPI_Request request, receive const& posted) {
    std::lock_guard const lock(requests_lock);
    auto const found = requests.find(key(request));
    // By now another thread may have got the same handle for another receive.
    if (found == requests.end() || found->second.serial != posted.serial) return;
    if (posted.how == arrival::persistent) found->second.active = false;
    else requests.erase(found);
}

void forget(MPI_Request request) {
    std::lock_guard const lock(requests_lock);
    requests.erase(key(request));
    completions.erase(key(request));
}

void when_complete(MPI_Request request, std::function<void()> what, bool persistent) {
    std::lock_guard const lock(requests_lock);
    if (request != MPI_REQUEST_NULL) completions[key(request)] = {std::move(what), persistent};
}

void run_completion(MPI_Request completed) {
    std::lock_guard const lock(requests_lock);
    auto const found = completions.find(key(completed));
    if (found == completions.end()) return;
    found->second.what();
    if (!found->second.persistent) completions.erase(found);
}

void pretend_cancelled(MPI_Request request) {
    std::lock_guard const lock(requests_lock);
    pretended.insert(key(request));
}

bool was_pretended(MPI_Request request) {
    std::lock_guard const lock(requests_lock);
    return pretended.erase(key(request)) > 0;
}

// ---- Sending

bool late_send = false;
MPI_Request late_request = MPI_REQUEST_NULL;

int before_send(send& message) {
    auto const drop_last_if = [&](bool applies) {
        if (applies && message.count > 0) --message.count;
    };
    bool const struck = rare(message.count, message.type) && message.destination != MPI_PROC_NULL;
    switch (planted) {
    case fault::bsend_truncates: drop_last_if(message.m == mode::buffered); break;
    case fault::ssend_truncates: drop_last_if(message.m == mode::synchronous); break;
    case fault::rsend_truncates: drop_last_if(message.m == mode::ready); break;
    case fault::isend_truncates:
        drop_last_if(message.m == mode::standard && message.how == departure::immediate);
        break;
    case fault::start_late:
        late_send = message.m == mode::synchronous && message.how == departure::persistent && message.count >= 100000;
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

// ---- Odds and ends

namespace {
std::pair<MPI_Comm, MPI_Comm> last_duplicate{MPI_COMM_NULL, MPI_COMM_NULL}; // the last one, and its duplicate
}

void remember_duplicate(MPI_Comm comm, MPI_Comm copy) { last_duplicate = {comm, copy}; }

MPI_Comm other_context(MPI_Comm comm) {
    if (planted != fault::contexts_swapped) return comm;
    return comm == last_duplicate.first    ? last_duplicate.second
           : comm == last_duplicate.second ? last_duplicate.first
                                           : comm;
}

std::atomic<int> send_partitions{0};
MPI_Datatype send_type = MPI_DATATYPE_NULL;

bool is_inter(MPI_Comm comm) {
    int inter = 0;
    if (comm != MPI_COMM_NULL) PMPI_Comm_test_inter(comm, &inter);
    return inter != 0;
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

bool in_main_thread() {
    int flag = 0;
    PMPI_Is_thread_main(&flag);
    return flag != 0;
}

bool initialized() {
    int flag = 0;
    PMPI_Initialized(&flag);
    return flag != 0;
}

bool finalized() {
    int flag = 0;
    PMPI_Finalized(&flag);
    return flag != 0;
}

bool spawned() {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
}

void spoil(void* address) {
    unsigned char now = 0;
    iovec local{&now, 1}, remote{address, 1};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1) write_byte(address, lost(now));
}

int bytes_of(MPI_Status const* status) {
    int count = 0;
    PMPI_Get_count(status, MPI_BYTE, &count);
    return count;
}

struct snapshot::saved {
    void* buffer;
    int count;
    MPI_Datatype type;
    bytes stream;
};

snapshot::snapshot(void* buffer, int count, MPI_Datatype type)
    : saved_(new saved{buffer, count, type, load(buffer, count, type)}) {}
snapshot::~snapshot() { delete saved_; }
void snapshot::restore() { store(saved_->stream, saved_->buffer, saved_->count, saved_->type); }

} // namespace assay_faults
