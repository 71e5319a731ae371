#include "core.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <sys/uio.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay_faults {

fault planted = fault::unset;
int world_rank = -1;

namespace {

// Function-local: objects of other files register before main, in whatever order.
std::vector<std::function<void()>>& to_begin_anew() {
    static std::vector<std::function<void()>> all;
    return all;
}

// Plants the fault of this name; whether there is one.
bool plant(std::string_view wanted) {
    static constexpr char const* names[] = {
#define F(name) #name,
        F(none) ASSAY_FAULTS(F)
#undef F
    };
    int index = 0;
    for (char const* name : names) {
        if (wanted == name) {
            planted = static_cast<fault>(index);
            return true;
        }
        ++index;
    }
    return false;
}

bool plant_of_environment() {
    char const* const wanted = std::getenv("ASSAY_FAULT");
    return !wanted || !*wanted || plant(wanted);
}
// Faults of what may be called before MPI_Init are there from the beginning.
[[maybe_unused]] bool const planted_early = plant_of_environment();

[[noreturn]] void unknown(char const* how, std::string const& name) {
    std::fprintf(stderr, "libassay_faults: %s%s is no planted fault; faults/*.toml list them\n", how, name.c_str());
    std::exit(2);
}

} // namespace

void when_planted(std::function<void()> what) { to_begin_anew().push_back(std::move(what)); }

void read_environment() {
    if (plant_of_environment()) return;
    auto const* name = std::getenv("ASSAY_FAULT");
    unknown("ASSAY_FAULT=", name != nullptr ? name : "");
}

void learn_rank() { PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank); }

bool rare(int count, MPI_Datatype type) { return world_rank == 1 && count == 17 && type == MPI_INT; }

// ---- Data

// A byte that did not arrive still has what the buffer held before, often 0xa5; where that is the right value by
// chance, something else.
unsigned char lost(unsigned char arrived) { return arrived == 0xa5 ? 0x5a : 0xa5; }

void write_byte(void* address, unsigned char value) {
    // Not a plain store: after the end there may be a page that must not be touched, and that would be another fault.
    iovec local{&value, 1}, remote{address, 1};
    (void)!process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
}

bool read_bytes(void const* address, void* to, std::size_t n) {
    iovec local{to, n}, remote{const_cast<void*>(address), n};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(n);
}

void spoil(void* address) {
    unsigned char now = 0;
    if (read_bytes(address, &now, 1)) write_byte(address, lost(now));
}

namespace {
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

// ---- Odds and ends

bool is_named(MPI_Datatype type) {
    int integers = 0, addresses = 0, types = 0, combiner = 0;
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

std::pair<MPI_Aint, MPI_Aint> span_of(int count, MPI_Datatype type) {
    MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    PMPI_Type_get_extent(type, &lb, &extent);
    PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
    MPI_Aint const last_element = count > 0 ? (count - 1) * extent : 0;
    MPI_Aint const first = true_lb + (last_element < 0 ? last_element : 0);
    return {first, true_lb + true_extent + (last_element > 0 ? last_element : 0)};
}

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

// The test binary calls this between two cases, when all ranks are there: the first word of what the plan says after the name
// of a case is the fault, "" is none. Processes that are started from now on have it, too.
extern "C" void assay_layer_setting(char const* words) {
    using namespace assay_faults;
    std::string const all(words), name = all.empty() ? "none" : all.substr(0, all.find(' '));
    if (!plant(name)) unknown("", name);
    for (auto const& begin_anew : to_begin_anew()) begin_anew();
    setenv("ASSAY_FAULT", name.c_str(), 1);
}
