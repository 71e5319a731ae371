#include "transports/core/cntr.hpp"

#include "transports/core/ep.hpp"

#include <chrono>
#include <sched.h>

namespace assay::ofi {
namespace {

counter& of(fid_cntr* it) { return static_cast<counter&>(*it); }

int close(fid* it) {
    auto& object = object_of<counter, fid_cntr>(it);
    locked const lock(object.in->mutex);
    if (!object.endpoints.empty() || object.regions > 0) return -FI_EBUSY;
    --object.in->users;
    delete &object;
    return 0;
}

void advance(counter& object) {
    for (auto* one : object.regions > 0 ? object.in->endpoints : object.endpoints) one->progress();
}

std::uint64_t read(fid_cntr* it) {
    auto& object = of(it);
    locked const lock(object.in->mutex);
    advance(object);
    return object.good;
}

std::uint64_t read_errors(fid_cntr* it) {
    auto& object = of(it);
    locked const lock(object.in->mutex);
    advance(object);
    return object.bad;
}

template <std::uint64_t counter::*Value> int add(fid_cntr* it, std::uint64_t value) {
    auto& object = of(it);
    locked const lock(object.in->mutex);
    object.*Value += value;
    return 0;
}

template <std::uint64_t counter::*Value> int set(fid_cntr* it, std::uint64_t value) {
    auto& object = of(it);
    locked const lock(object.in->mutex);
    object.*Value = value;
    return 0;
}

// timeout in milliseconds, negative: for ever.
int wait(fid_cntr* it, std::uint64_t threshold, int timeout) {
    auto& object = of(it);
    auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
    std::uint64_t const errors = [&] {
        locked const lock(object.in->mutex);
        return object.bad;
    }();
    while (true) {
        {
            locked const lock(object.in->mutex);
            advance(object);
            if (object.good >= threshold) return 0;
            if (object.bad != errors) return -FI_EAVAIL;
        }
        if (timeout >= 0 && std::chrono::steady_clock::now() >= until) return -FI_ETIMEDOUT;
        sched_yield();
    }
}

fi_ops fid_ops{sizeof(fi_ops), close, not_offered, not_offered, not_offered, not_offered, not_offered};
fi_ops_cntr ops{.size = sizeof(fi_ops_cntr),
                .read = read,
                .readerr = read_errors,
                .add = add<&counter::good>,
                .set = set<&counter::good>,
                .wait = wait,
                .adderr = add<&counter::bad>,
                .seterr = set<&counter::bad>};

} // namespace

int open_cntr(domain& in, fi_cntr_attr* attributes, fid_cntr** made, void* context) {
    if (attributes && attributes->wait_obj != FI_WAIT_NONE && attributes->wait_obj != FI_WAIT_UNSPEC) return -FI_ENOSYS;
    auto* const object = new counter;
    initialize(static_cast<fid_cntr&>(*object), FI_CLASS_CNTR, context, fid_ops);
    object->ops = &ops;
    object->in = &in;
    locked const lock(in.mutex);
    ++in.users;
    *made = object;
    return 0;
}

} // namespace assay::ofi
