#include "transports/core/ep.hpp"

#include "transports/net/linger.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>

namespace assay::ofi {
namespace {

constexpr std::chrono::seconds patience{2}; // for a peer to take more of what a closed endpoint still has to send

endpoint& of(fid* it) { return object_of<endpoint, fid_ep>(it); }

int close(fid* it) {
    return guarded([&] {
        auto& one = of(it);
        auto& in = one.in;
        locked const lock(in.mutex);
        if (in.mover) in.mover->leave(one);
        std::erase(in.endpoints, &one);
        delete &one;
        --in.users;
        return 0;
    });
}

int bind(fid* it, fid* to, std::uint64_t flags) {
    return guarded([&] {
        locked const lock(of(it).in.mutex);
        return of(it).bind(*to, flags);
    });
}

int control(fid* it, int command, void* argument) {
    locked const lock(of(it).in.mutex);
    switch (command) {
    case FI_ENABLE: return of(it).enable();
    case FI_GETOPSFLAG: return of(it).flags(*static_cast<std::uint64_t*>(argument), false);
    case FI_SETOPSFLAG: return of(it).flags(*static_cast<std::uint64_t*>(argument), true);
    default: return -FI_ENOSYS;
    }
}

ssize_t cancel(fid_t it, void* context) {
    return guarded([&] {
        locked const lock(of(it).in.mutex);
        return of(it).cancel(context);
    });
}

int get_option(fid_t it, int level, int name, void* value, std::size_t* size) {
    if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
    locked const lock(of(it).in.mutex);
    return of(it).option(name, value, size);
}

int set_option(fid_t it, int level, int name, void const* value, std::size_t size) {
    if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
    locked const lock(of(it).in.mutex);
    return of(it).set_option(name, value, size);
}

int get_name(fid_t it, void* address, std::size_t* size) {
    auto const& name = of(it).name();
    auto const room = *size;
    std::memcpy(address, name.data(), std::min(room, name.size()));
    *size = name.size();
    return room < name.size() ? -FI_ETOOSMALL : 0;
}

fi_ops fid_ops{sizeof(fi_ops), close, bind, control, not_offered, not_offered, not_offered};
fi_ops_ep ops{sizeof(fi_ops_ep), cancel, get_option, set_option, not_offered, not_offered, not_offered, not_offered};
fi_ops_cm cm_ops{.size = sizeof(fi_ops_cm),
                 .setname = not_offered,
                 .getname = get_name,
                 .getpeer = not_offered,
                 .connect = not_offered,
                 .listen = not_offered,
                 .accept = not_offered,
                 .reject = not_offered,
                 .shutdown = not_offered,
                 .join = not_offered};
fi_ops_atomic no_atomic{.size = sizeof(fi_ops_atomic),
                        .write = not_offered,
                        .writev = not_offered,
                        .writemsg = not_offered,
                        .inject = not_offered,
                        .readwrite = not_offered,
                        .readwritev = not_offered,
                        .readwritemsg = not_offered,
                        .compwrite = not_offered,
                        .compwritev = not_offered,
                        .compwritemsg = not_offered,
                        .writevalid = not_offered,
                        .readwritevalid = not_offered,
                        .compwritevalid = not_offered};
fi_ops_collective no_collective{.size = sizeof(fi_ops_collective),
                                .barrier = not_offered,
                                .broadcast = not_offered,
                                .alltoall = not_offered,
                                .allreduce = not_offered,
                                .allgather = not_offered,
                                .reduce_scatter = not_offered,
                                .reduce = not_offered,
                                .scatter = not_offered,
                                .gather = not_offered,
                                .msg = not_offered,
                                .barrier2 = not_offered};
fi_ops_tagged no_tagged{sizeof(fi_ops_tagged), not_offered, not_offered, not_offered, not_offered,
                        not_offered,           not_offered, not_offered, not_offered, not_offered};
fi_ops_rma no_rma{sizeof(fi_ops_rma), not_offered, not_offered, not_offered, not_offered,
                  not_offered,        not_offered, not_offered, not_offered, not_offered};

} // namespace

endpoint::endpoint(domain& domain, fi_info const& info)
    : in(domain),
      source_(info.caps & FI_SOURCE),
      directed_(info.caps & FI_DIRECTED_RECV),
      send_flags_(info.tx_attr ? info.tx_attr->op_flags : 0),
      receive_flags_(info.rx_attr ? info.rx_attr->op_flags : 0) {
    static std::atomic<unsigned> made{0};
    auto const number = made++;
    auto const& set = configured();
    auto how = set.wire;
    if (!set.pcap.empty()) how.pcap = file_of_endpoint(set.pcap, provider_name, number, ".pcap");
    wire_ = transport.make(*this, how);
    name_ = wire_->listen(info.src_addr ? address_from(info.src_addr) : transport.default_address(how));
    if (!set.counters.empty()) traffic_.path = file_of_endpoint(set.counters, provider_name, number, ".json");
    traffic_.write(wire_->counted(), false);
    ops = &assay::ofi::ops;
    cm = &cm_ops;
    msg = &msg_ops;
    rma = info.caps & FI_RMA ? &rma_ops : &no_rma;
    tagged = info.caps & FI_TAGGED ? &tagged_ops : &no_tagged;
    atomic = info.caps & FI_ATOMIC ? &atomic_ops : &no_atomic;
    collective = &no_collective;
}

// What was injected is complete for the program, which may close the endpoint; but it may wait for the other side to take it.
void endpoint::see_off() {
    auto const waiting = [&] {
        auto const all = requests_.all();
        return std::count_if(all.begin(), all.end(), [](request const* one) { return one->injected; });
    };
    net::linger(wire_->wait_fd(), patience, waiting, [&] { progress(); });
    wire_->flush(patience);
}

endpoint::~endpoint() {
    see_off();
    traffic_.write(wire_->counted(), true);
    for (auto* queue : {send_queue_, receive_queue_})
        if (queue) queue->unbind(*this);
    for (auto* counter :
         {send_counter_, receive_counter_, read_counter_, write_counter_, remote_read_counter_, remote_write_counter_})
        if (counter) std::erase(counter->endpoints, this);
    if (av_) --av_->users;
    if (events_) --events_->users;
    // From here on nothing is reported.
    av_ = nullptr;
    events_ = nullptr;
    send_queue_ = receive_queue_ = nullptr;
    send_counter_ = receive_counter_ = read_counter_ = write_counter_ = nullptr;
    remote_read_counter_ = remote_write_counter_ = nullptr;
    for (auto& about : peers_)
        about.waiting.reset(); // the wire reports failures while it goes, and nothing may start then
    wire_.reset();
    for (auto* one : requests_.all()) delete one;
    for (auto* message : granted_.all()) complete(*message, FI_ECANCELED);
    for (auto const& [context, message] : claimed_) delete message;
    for (bool const with_tag : {true, false}) {
        messages(with_tag).each([](label const&, arrival& message) { delete &message; });
        receives(with_tag).take_all([](auto const&...) { return true; }, [](receive* one) { delete one; });
    }
}

int endpoint::bind(::fid& to, std::uint64_t flags) {
    if (enabled_ && to.fclass != FI_CLASS_EQ) return -FI_EOPBADSTATE;
    switch (to.fclass) {
    case FI_CLASS_AV:
        if (av_) return -FI_EINVAL;
        av_ = &object_of<address_vector, fid_av>(&to);
        ++av_->users;
        return 0;
    case FI_CLASS_EQ:
        if (events_) return -FI_EINVAL;
        events_ = &object_of<event_queue, fid_eq>(&to);
        ++events_->users;
        return 0;
    case FI_CLASS_CQ: {
        auto& queue = object_of<completion_queue, fid_cq>(&to);
        if (!(flags & (FI_TRANSMIT | FI_RECV))) return -FI_EINVAL;
        if ((flags & FI_TRANSMIT && send_queue_) || (flags & FI_RECV && receive_queue_)) return -FI_EINVAL;
        if (flags & FI_TRANSMIT) {
            send_queue_ = &queue;
            selective_send_ = flags & FI_SELECTIVE_COMPLETION;
        }
        if (flags & FI_RECV) {
            receive_queue_ = &queue;
            selective_receive_ = flags & FI_SELECTIVE_COMPLETION;
        }
        queue.bind(*this);
        return 0;
    }
    case FI_CLASS_CNTR: {
        auto& one = object_of<counter, fid_cntr>(&to);
        struct role {
            std::uint64_t flag;
            counter** place;
        };
        for (auto const& [flag, place] :
             {role{FI_SEND, &send_counter_}, role{FI_RECV, &receive_counter_}, role{FI_READ, &read_counter_},
              role{FI_WRITE, &write_counter_}, role{FI_REMOTE_READ, &remote_read_counter_},
              role{FI_REMOTE_WRITE, &remote_write_counter_}})
            if (flags & flag) *place = &one;
        if (std::find(one.endpoints.begin(), one.endpoints.end(), this) == one.endpoints.end())
            one.endpoints.push_back(this);
        return 0;
    }
    default: return -FI_EINVAL;
    }
}

int endpoint::enable() {
    if (!av_) return -FI_ENOAV;
    if (!send_queue_ && !receive_queue_ && !send_counter_ && !receive_counter_) return -FI_ENOCQ;
    enabled_ = true;
    return 0;
}

int endpoint::option(int name, void* value, std::size_t* size) const {
    std::size_t found = 0;
    if (name == FI_OPT_MIN_MULTI_RECV) found = least_;
    else if (name != FI_OPT_CM_DATA_SIZE) return -FI_ENOPROTOOPT;
    if (*size < sizeof found) return -FI_ETOOSMALL;
    std::memcpy(value, &found, sizeof found);
    *size = sizeof found;
    return 0;
}

int endpoint::set_option(int name, void const* value, std::size_t size) {
    if (name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
    if (size != sizeof least_) return -FI_EINVAL;
    std::memcpy(&least_, value, sizeof least_);
    return 0;
}

int endpoint::flags(std::uint64_t& which, bool set) {
    if (!(which & (FI_TRANSMIT | FI_RECV))) return -FI_EINVAL;
    constexpr std::uint64_t sides = FI_TRANSMIT | FI_RECV;
    if (set) {
        if (which & FI_TRANSMIT) send_flags_ = which & ~sides;
        if (which & FI_RECV) receive_flags_ = which & ~sides;
    } else which = which & FI_TRANSMIT ? send_flags_ : receive_flags_;
    return 0;
}

int open_ep(domain& in, fi_info* info, fid_ep** made, void* context) {
    if (!info || (info->ep_attr && info->ep_attr->type != FI_EP_RDM && info->ep_attr->type != FI_EP_UNSPEC))
        return -FI_EINVAL;
    auto one = std::make_unique<endpoint>(in, *info);
    one->fid = {FI_CLASS_EP, context, &fid_ops};
    locked const lock(in.mutex);
    in.endpoints.reserve(in.endpoints.size() + 1);
    if (in.mover) in.mover->watch(*one);
    in.endpoints.push_back(one.get());
    ++in.users;
    *made = one.release();
    return 0;
}

} // namespace assay::ofi
