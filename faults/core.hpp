// What the MPI wrappers of the fault shim share: which fault is planted, and what is done to a message that arrived or
// is about to leave. Only PMPI_ procedures are called from here.
#pragma once
#include "fault_list.hpp" // made by CMake from faults/*.toml

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mpi.h>
#include <pthread.h>
#include <vector>

// Open MPI 5 has what it offers of MPI-4 in its header and says MPI_VERSION 3.
#if MPI_VERSION >= 4 || defined(MPI_SESSION_NULL)
#define ASSAY_MPI4 1
#else
#define ASSAY_MPI4 0
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define ASSAY_MPI41 1
#else
#define ASSAY_MPI41 0
#endif

namespace assay_faults {

enum class fault {
#define F(name) name,
    ASSAY_FAULTS(F)
#undef F
        unset
};

// The planted fault; fault::unset makes every wrapper go straight to PMPI. Set by read_environment, then constant.
extern fault planted;
inline bool is(fault one) { return planted == one; }
extern int world_rank;

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

// Sends that MPI_Cancel was told about under cancel_lies.
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
// Under start_late: the next persistent send that starts is a long one, and the one that was not started yet.
extern bool late_send;
extern MPI_Request late_request;
// The code that the wrapper returns after `code` came back from PMPI.
int after_send(send const& message, int code);

// Refuses a buffered send under the faults of faults/buffered.toml.
int before_buffered(send const& message);

// ---- Communicators

bool was_freed(MPI_Comm comm); // under comm_free_pending; under comm_dup_spoils: was duplicated
// Behind a duplication, and behind a successful MPI_Comm_get_attr: what faults make of its results.
void duplicated(MPI_Comm comm, MPI_Comm* copy);
void attribute_read(int key, void* value, int* flag);
extern std::vector<int> keys_of_self; // its attributes in the order in which they were set
void remember_duplicate(MPI_Comm comm, MPI_Comm copy);
MPI_Comm other_context(MPI_Comm comm); // under contexts_swapped: the duplicate of a communicator, or what it duplicates

// ---- Odds and ends

bool is_inter(MPI_Comm comm);
int rank_in(MPI_Comm comm);
bool in_main_thread();                   // that which initialized MPI
extern std::atomic<int> send_partitions; // of the last partitioned send
extern MPI_Datatype send_type;           // of the last partitioned send
bool initialized();
bool finalized();
bool spawned(); // whether other processes started this one

// The data of `count` elements without their gaps, and what puts it back.
using bytes = std::vector<unsigned char>;
bytes load(void* buffer, int count, MPI_Datatype type);
void store(bytes const& stream, void* buffer, int count, MPI_Datatype type);
void spoil(void* address); // one byte; left alone if it cannot be read or written
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

} // namespace assay_faults
