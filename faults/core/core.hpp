// What the wrappers of MPI procedures share: which fault is planted, what faults remember, and what is known of messages and
// requests. Only PMPI_ procedures are called from here.
#pragma once
#include "fault_list.hpp" // made by CMake from faults/*.toml
#include "preload/versions.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mpi.h>
#include <pthread.h>
#include <utility>
#include <vector>

namespace assay_faults {

enum class fault {
#define F(name) name,
    F(none) // all the bookkeeping, no harm
    ASSAY_FAULTS(F)
#undef F
        unset
};

// The planted fault; fault::unset makes every wrapper go straight to PMPI. Set by read_environment, and by the test binary
// between two cases (assay_layer_setting in core.cpp).
extern fault planted;
inline bool is(fault one) { return planted == one; }
inline bool idle() { return planted == fault::unset; }
extern int world_rank;

// Runs when another fault is planted.
void when_planted(std::function<void()> what);

// What a fault remembers from one call to the next. It begins anew when another fault is planted, so that no fault finds what
// an earlier one left. What is true of the library whatever is planted, such as which requests there are, is no memory.
template <class T> class memory {
public:
    explicit memory(T first = T()) : first_(first), now_(std::move(first)) {
        when_planted([this] { now_ = first_; });
    }
    memory(memory const&) = delete;
    memory& operator=(memory const&) = delete;
    T& operator*() { return now_; }
    T* operator->() { return &now_; }

private:
    T const first_;
    T now_;
};
template <class T> class memory<std::atomic<T>> {
public:
    explicit memory(T first = T()) : now_(first) {
        when_planted([this, first] { now_ = first; });
    }
    memory(memory const&) = delete;
    memory& operator=(memory const&) = delete;
    std::atomic<T>& operator*() { return now_; }

private:
    std::atomic<T> now_;
};

// At MPI_Init: ASSAY_FAULT names the fault. An unknown name: one sentence on stderr and exit code 2.
void read_environment();
void learn_rank();

// Messages of 17 MPI_INTs that rank 1 of MPI_COMM_WORLD sends or receives. Faults that end or block a process strike
// only these: which cases they hit then depends neither on the order of the cases nor on a restart of the job.
bool rare(int count, MPI_Datatype type);

// ---- Receiving

enum class arrival { blocking, immediate, persistent, matched };

// A posted receive.
struct receive {
    void* buffer = nullptr;
    int count = 0; // posted, elements of `type`
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int source = MPI_ANY_SOURCE;
    MPI_Comm comm = MPI_COMM_NULL; // MPI_COMM_NULL: not known (receives of a matched message)
    arrival how = arrival::blocking;
    int partitions = 0; // of a partitioned receive; 0 otherwise
    bool active = true; // false: a persistent receive that is not started
    bool both = false;  // it belongs to a send-receive
    int starts = 0;
    pthread_t starter = {};   // the thread that called for it
    std::uint64_t serial = 0; // tells apart receives whose handles have the same value
};

// Before a receive call: faults that strike before anything is received.
void before_receive(int count, MPI_Datatype type);
// A message (or the empty status of MPI_PROC_NULL) was received: edits data, then status. `status` is not an ignored one.
void received(receive const& posted, MPI_Status* status);
// The same, only for faults of partitioned messages, of threads, and of processes that others started; `count` elements came.
void received_partitions(receive const& posted, int count);
void received_in_thread(receive const& posted, MPI_Status* status, int count);
void received_when_spawned(receive const& posted, int count);
void invert_first_byte(receive const& posted, int count); // of the data that arrived
// Elements that arrived, of the posted type; 0 if that is not a whole number.
int elements_of(receive const& posted, MPI_Status const* status);
// The bytes [first, last) that `count` elements span, relative to the buffer address.
std::pair<MPI_Aint, MPI_Aint> span_of(int count, MPI_Datatype type);
// What a receive or completion call says when the library returned `code`.
int failed(int code);
// Exchanges the data of two completed receives of the same shape.
void swap_data(receive const& a, MPI_Status const& status_a, receive const& b, MPI_Status const& status_b);

// ---- Requests of receives. Handles are opaque: integers in one library, pointers in another.

void remember(MPI_Request request, receive posted);
bool recall(MPI_Request request, receive& posted);
bool is_inactive(MPI_Request request); // a persistent receive that is not started
std::size_t remembered();              // receives that are not complete, or persistent
void started(MPI_Request request);
// The request completed: forgets it, or makes it inactive when persistent.
void completed(MPI_Request request, receive const& posted);
void forget(MPI_Request request);

// Requests of collective operations: what is done each time such a request completes. `persistent`: until it is freed.
void when_complete(MPI_Request request, std::function<void()> what, bool persistent);
void run_completion(MPI_Request completed); // `completed` is the handle before the completing call

// Sends that were to be cancelled under cancel_lies.
void pretend_cancelled(MPI_Request request);
bool was_pretended(MPI_Request request);

// ---- Sending

enum class mode { standard, buffered, synchronous, ready };
enum class departure { blocking, immediate, persistent };

struct send {
    void const* buffer;
    int count;
    MPI_Datatype type;
    int destination;
    int tag;
    MPI_Comm comm;
    mode m;
    departure how;
};

// May change count and tag, and may not return at all. An error class other than MPI_SUCCESS: nothing is to be sent.
int before_send(send& message);
long long bytes_of(send const& message);
// The last send of this thread that has a request.
void note_send(MPI_Request request, void const* buffer);
void* buffer_of_send(MPI_Request request); // null if that was another one
// Under start_late: the next persistent send that starts is a long one, and the one that was not started yet.
extern memory<bool> late_send;
extern memory<MPI_Request> late_request;
// The code that the wrapper returns after `code` came back from PMPI.
int after_send(send const& message, int code);

// Refuses a buffered send under the faults of buffered.toml.
int before_buffered(send const& message);

// ---- Communicators

bool was_freed(MPI_Comm comm); // under comm_free_pending; under comm_dup_spoils: was duplicated
// After a duplication: what faults make of its result.
void duplicated(MPI_Comm comm, MPI_Comm* copy);
extern std::vector<int> keys_of_self;  // its attributes in the order in which they were set
MPI_Comm other_context(MPI_Comm comm); // under contexts_swapped: the duplicate of a communicator, or what it duplicates

// ---- Odds and ends

bool is_inter(MPI_Comm comm);
int rank_in(MPI_Comm comm);
bool in_main_thread();              // that which initialized MPI
bool is_named(MPI_Datatype type);   // predefined
void note_freed(MPI_Datatype type); // under isendrecv_frees_type
// Whether this is memory that MPI_Alloc_mem gave.
bool is_allocated(void const* address);
bool initialized();
bool finalized();
bool spawned(); // whether other processes started this one

// The data of `count` elements without their gaps, and what puts it back.
using bytes = std::vector<unsigned char>;
bytes load(void* buffer, int count, MPI_Datatype type);
void store(bytes const& stream, void* buffer, int count, MPI_Datatype type);
void spoil(void* address);                                     // one byte; left alone if it cannot be read or written
void write_byte(void* address, unsigned char value);           // left alone if it cannot be written
bool read_bytes(void const* address, void* to, std::size_t n); // false if they cannot be read
unsigned char lost(unsigned char arrived);                     // what a byte is that did not arrive
int bytes_of(MPI_Status const* status);
// Saves the data of `count` elements and puts it back: what a receive into that buffer wrote is undone.
class snapshot {
public:
    snapshot(void* buffer, int count, MPI_Datatype type);
    ~snapshot();
    snapshot(snapshot const&) = delete;
    snapshot& operator=(snapshot const&) = delete;
    void restore();

private:
    struct saved;
    saved* saved_;
};

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

} // namespace assay_faults
