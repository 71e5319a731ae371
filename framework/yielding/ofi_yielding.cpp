// ASSAY_YIELD_POLLS for what waits for libfabric, see yielding.hpp. Apart from the rest, because a program that calls libfabric itself
// must not have it.
//
// A completion queue is read by way of a table of procedures that its provider gave it, and so is all that leads to one, but for
// the first call. What is opened here gets a table of its own, with our procedure in the place of one of the provider's.
#include "framework/yielding/yielding.hpp"

#if __has_include(<rdma/fi_domain.h>)
#include <algorithm>
#include <cstring>
#include <new>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

namespace assay {
namespace {

// Before the copy of a table stands where the provider's own is.
constexpr std::size_t before = sizeof(void*);

template <typename Table> Table* own_table(Table*& of) {
    // The library may be newer than its header here, and have more procedures.
    auto* const made = static_cast<std::byte*>(::operator new(before + std::max(of->size, sizeof(Table))));
    void const* const theirs = of;
    std::memcpy(made, &theirs, before);
    std::memcpy(made + before, of, of->size);
    return of = reinterpret_cast<Table*>(made + before); // for as long as the process lives: few are ever opened
}
template <typename Table> Table* theirs(Table* ours) {
    void* found = nullptr;
    std::memcpy(&found, reinterpret_cast<std::byte*>(ours) - before, before);
    return static_cast<Table*>(found);
}

thread_local int depth = 0;

// A provider may read again meanwhile: by its other procedure, or the queue of a provider below it.
template <typename Call> ssize_t outermost(Call call) {
    ++depth;
    ssize_t const found = call();
    if (--depth == 0) polled(found != -FI_EAGAIN);
    return found;
}

ssize_t read(fid_cq* queue, void* entries, size_t count) {
    return outermost([&] { return theirs(queue->ops)->read(queue, entries, count); });
}

ssize_t readfrom(fid_cq* queue, void* entries, size_t count, fi_addr_t* sources) {
    return outermost([&] { return theirs(queue->ops)->readfrom(queue, entries, count, sources); });
}

int cq_open(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue, void* context) {
    int const error = theirs(domain->ops)->cq_open(domain, attributes, queue, context);
    if (error) return error;
    auto* const table = own_table((*queue)->ops);
    table->read = read;
    table->readfrom = readfrom;
    return 0;
}

int domain(fid_fabric* fabric, fi_info* info, fid_domain** made, void* context) {
    int const error = theirs(fabric->ops)->domain(fabric, info, made, context);
    if (!error) own_table((*made)->ops)->cq_open = cq_open;
    return error;
}

} // namespace
} // namespace assay

// The dynamic linker finds this definition before libfabric's.
extern "C" __attribute__((visibility("default"))) int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric,
                                                                void* context) {
    auto const open =
        reinterpret_cast<decltype(&fi_fabric)>(assay::hidden_by_us("fi_fabric", __builtin_return_address(0)));
    int const error = open(attributes, fabric, context);
    if (!error && assay::yields_polls()) assay::own_table((*fabric)->ops)->domain = assay::domain;
    return error;
}
#endif
