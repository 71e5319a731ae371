// libassay_ofi_faults.so: preloaded before libfabric, plants the fault that ASSAY_FAULT names between a program and whatever
// provider it uses. Calls of libfabric are tables of functions in the objects that a provider opens: here each table is replaced
// by a copy in which some functions are ours.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

bool planted(std::string_view name) {
    static char const* const chosen = std::getenv("ASSAY_FAULT");
    return chosen != nullptr && name == chosen;
}

// The provider's table of an object, by the object. Tables are patched once an object.
template <class Table> std::map<void const*, Table const*>& originals() {
    static std::map<void const*, Table const*> all;
    return all;
}
template <class Table> Table const& original(void const* object) { return *originals<Table>()[object]; }

// Replaces the table at `where` of `object` by a copy, which lives on, and returns that.
template <class Table> Table& patch(void const* object, Table*& where) {
    originals<Table>()[object] = where;
    auto* const copy = new Table(*where);
    where = copy;
    return *copy;
}

// ---- completion queues

struct queue {
    fi_cq_format format = FI_CQ_FORMAT_TAGGED;
    std::vector<unsigned char> again; // an entry that is told a second time
};
std::map<fid_cq const*, queue> queues;
std::size_t completions = 0;

std::size_t size_of(fi_cq_format format) {
    return format == FI_CQ_FORMAT_CONTEXT ? sizeof(fi_cq_entry)
           : format == FI_CQ_FORMAT_MSG   ? sizeof(fi_cq_msg_entry)
           : format == FI_CQ_FORMAT_DATA  ? sizeof(fi_cq_data_entry)
                                          : sizeof(fi_cq_tagged_entry);
}

void flush(); // what was held back goes on

// Falsifies entries that were read; how many of them are told.
ssize_t falsify(fid_cq* cq, void* buffer, ssize_t n) {
    auto& about = queues[cq];
    auto const size = size_of(about.format);
    auto* const entries = static_cast<unsigned char*>(buffer);
    for (ssize_t k = 0; k < n; ++k) {
        fi_cq_tagged_entry entry{};
        auto* const at = entries + static_cast<std::size_t>(k) * size;
        std::memcpy(static_cast<void*>(&entry), at, size);
        bool const receive = about.format >= FI_CQ_FORMAT_MSG && entry.flags & FI_RECV;
        if (receive && planted("cq_length") && entry.len > 0) --entry.len;
        if (receive && planted("cq_flags")) entry.flags &= ~std::uint64_t{FI_RECV};
        if (planted("cq_no_data_flag")) entry.flags &= ~std::uint64_t{FI_REMOTE_CQ_DATA};
        if (planted("multi_recv_kept")) entry.flags &= ~std::uint64_t{FI_MULTI_RECV};
        if (planted("cq_tag")) ++entry.tag;
        if (planted("cq_data")) ++entry.data;
        if (planted("cq_no_context")) entry.op_context = nullptr;
        if (planted("cq_buffer") && entry.buf != nullptr) entry.buf = static_cast<char*>(entry.buf) + 1;
        std::memcpy(at, &entry, size);
    }
    if (n > 0 && planted("cq_writes_behind")) entries[static_cast<std::size_t>(n) * size] = 0;
    completions += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    if (n == 1 && planted("cq_lost") && completions % 2 == 0) return -FI_EAGAIN;
    if (n == 1 && planted("cq_twice")) about.again.assign(entries, entries + size);
    return n;
}

ssize_t read_from(fid_cq* cq, void* buffer, std::size_t count, fi_addr_t* source) {
    flush();
    auto const& real = original<fi_ops_cq>(cq);
    if (auto& again = queues[cq].again; !again.empty()) {
        std::memcpy(buffer, again.data(), again.size());
        again.clear();
        return 1;
    }
    ssize_t const n = source != nullptr ? real.readfrom(cq, buffer, count, source) : real.read(cq, buffer, count);
    if (fi_cq_err_entry error{}; n == -FI_EAVAIL && planted("errors_untold")) {
        real.readerr(cq, &error, 0);
        return -FI_EAGAIN;
    }
    if (source != nullptr && n > 0 && planted("cq_source")) *source = FI_ADDR_NOTAVAIL;
    return falsify(cq, buffer, n);
}
ssize_t cq_read(fid_cq* cq, void* buffer, std::size_t count) { return read_from(cq, buffer, count, nullptr); }

ssize_t cq_readerr(fid_cq* cq, fi_cq_err_entry* entry, std::uint64_t flags) {
    ssize_t const n = original<fi_ops_cq>(cq).readerr(cq, entry, flags);
    if (n == 1) {
        if (planted("error_kind")) entry->err = FI_EIO;
        if (planted("error_sign")) entry->err = -entry->err;
        if (planted("error_no_rest")) entry->olen = 0;
    }
    return n;
}

ssize_t cq_sread(fid_cq* cq, void* buffer, std::size_t count, void const* condition, int timeout) {
    if (planted("sread_never_waits")) return read_from(cq, buffer, count, nullptr);
    if (planted("sread_oversleeps")) usleep(2'000'000);
    return falsify(cq, buffer, original<fi_ops_cq>(cq).sread(cq, buffer, count, condition, timeout));
}

int cq_close(fid* object) {
    int const code = original<fi_ops>(object).close(object);
    return code == -FI_EBUSY && planted("busy_untold") ? 0 : code;
}

int cq_control(fid* object, int command, void* argument) {
    int const code = original<fi_ops>(object).control(object, command, argument);
    if (int ends[2]; code == 0 && command == FI_GETWAIT && planted("wait_descriptor") && pipe(ends) == 0)
        *static_cast<int*>(argument) = ends[0]; // never readable
    return code;
}

// ---- messages

fi_addr_t some_other = FI_ADDR_NOTAVAIL; // the address that was inserted first

// A copy of what is sent, with the fault in it. Copies live on: the provider may read them later.
void const* spoilt(void const* buffer, std::size_t& size) {
    if (size == 0) return buffer;
    if (planted("last_byte_lost")) --size;
    if (!planted("last_byte_wrong")) return buffer;
    auto* const copy = static_cast<unsigned char*>(std::malloc(size));
    std::memcpy(copy, buffer, size);
    copy[size - 1] ^= 1;
    return copy;
}

fi_addr_t receiver(fi_addr_t to) { return planted("wrong_peer") ? some_other : to; }
fi_addr_t sender(fi_addr_t from) { return planted("directed_ignored") ? FI_ADDR_UNSPEC : from; }
std::uint64_t sent_tag(std::uint64_t tag) { return planted("tag_cut") ? tag & 0xffffffff : tag; }
std::uint64_t ignored(std::uint64_t bits) { return planted("ignore_forgotten") ? 0 : bits; }

// Held back until the next send or look at a queue.
struct held_send {
    fid_ep* ep;
    void const* buffer;
    std::size_t size;
    void* descriptor;
    fi_addr_t to;
    std::uint64_t tag;
    void* context;
    bool tagged, injected;
};
std::vector<held_send> held;
bool flushing = false;

ssize_t go(held_send const& it) {
    if (it.tagged)
        return it.injected ? original<fi_ops_tagged>(it.ep).inject(it.ep, it.buffer, it.size, it.to, it.tag)
                           : original<fi_ops_tagged>(it.ep).send(it.ep, it.buffer, it.size, it.descriptor, it.to,
                                                                 it.tag, it.context);
    return it.injected ? original<fi_ops_msg>(it.ep).inject(it.ep, it.buffer, it.size, it.to)
                       : original<fi_ops_msg>(it.ep).send(it.ep, it.buffer, it.size, it.descriptor, it.to, it.context);
}

void flush() {
    if (flushing) return;
    flushing = true;
    while (!held.empty() && go(held.front()) == 0) held.erase(held.begin());
    flushing = false;
}

ssize_t send_or_hold(held_send it) {
    it.buffer = spoilt(it.buffer, it.size);
    it.to = receiver(it.to);
    it.tag = sent_tag(it.tag);
    if (it.injected && planted("inject_not_copied")) { // read only when the program has its buffer back
        held.push_back(it);
        return 0;
    }
    if (!it.injected && planted("overtaking") && held.empty()) {
        held.push_back(it);
        return 0;
    }
    ssize_t const code = go(it);
    if (code == 0 && planted("overtaking")) flush();
    return code;
}

ssize_t msg_send(fid_ep* ep, void const* buffer, std::size_t size, void* descriptor, fi_addr_t to, void* context) {
    return send_or_hold({ep, buffer, size, descriptor, to, 0, context, false, false});
}
ssize_t msg_inject(fid_ep* ep, void const* buffer, std::size_t size, fi_addr_t to) {
    return send_or_hold({ep, buffer, size, nullptr, to, 0, nullptr, false, true});
}
ssize_t tagged_send(fid_ep* ep, void const* buffer, std::size_t size, void* descriptor, fi_addr_t to, std::uint64_t tag,
                    void* context) {
    return send_or_hold({ep, buffer, size, descriptor, to, tag, context, true, false});
}
ssize_t tagged_inject(fid_ep* ep, void const* buffer, std::size_t size, fi_addr_t to, std::uint64_t tag) {
    return send_or_hold({ep, buffer, size, nullptr, to, tag, nullptr, true, true});
}
ssize_t msg_sendmsg(fid_ep* ep, fi_msg const* message, std::uint64_t flags) {
    if (planted("completion_untold")) flags &= ~std::uint64_t{FI_COMPLETION};
    if (planted("inject_flag_ignored") && flags & FI_INJECT) { // read only when the program has its buffer back
        held.push_back({ep, message->msg_iov->iov_base, message->msg_iov->iov_len, nullptr, message->addr, 0,
                        message->context, false, false});
        return 0;
    }
    return original<fi_ops_msg>(ep).sendmsg(ep, message, flags);
}
ssize_t msg_recv(fid_ep* ep, void* buffer, std::size_t size, void* descriptor, fi_addr_t from, void* context) {
    return original<fi_ops_msg>(ep).recv(ep, buffer, size, descriptor, sender(from), context);
}
ssize_t tagged_recv(fid_ep* ep, void* buffer, std::size_t size, void* descriptor, fi_addr_t from, std::uint64_t tag,
                    std::uint64_t ignore, void* context) {
    return original<fi_ops_tagged>(ep).recv(ep, buffer, size, descriptor, sender(from), tag, ignored(ignore), context);
}
ssize_t tagged_recvmsg(fid_ep* ep, fi_msg_tagged const* message, std::uint64_t flags) {
    if (flags & FI_PEEK) {
        if (planted("peek_takes")) flags |= FI_DISCARD;
        if (planted("claim_ignored")) flags &= ~std::uint64_t{FI_CLAIM};
        if (planted("discard_ignored")) flags &= ~std::uint64_t{FI_DISCARD};
    }
    return original<fi_ops_tagged>(ep).recvmsg(ep, message, flags);
}

// ---- remote memory

ssize_t rma_write(fid_ep* ep, void const* buffer, std::size_t size, void* descriptor, fi_addr_t to,
                  std::uint64_t address, std::uint64_t key, void* context) {
    if (planted("write_shifted")) ++address;
    return original<fi_ops_rma>(ep).write(ep, buffer, size, descriptor, to, address, key, context);
}
ssize_t rma_writedata(fid_ep* ep, void const* buffer, std::size_t size, void* descriptor, std::uint64_t data,
                      fi_addr_t to, std::uint64_t address, std::uint64_t key, void* context) {
    if (planted("write_data_lost"))
        return original<fi_ops_rma>(ep).write(ep, buffer, size, descriptor, to, address, key, context);
    return original<fi_ops_rma>(ep).writedata(ep, buffer, size, descriptor, data, to, address, key, context);
}
ssize_t rma_read(fid_ep* ep, void* buffer, std::size_t size, void* descriptor, fi_addr_t from, std::uint64_t address,
                 std::uint64_t key, void* context) {
    if (planted("read_short") && size > 0) --size;
    return original<fi_ops_rma>(ep).read(ep, buffer, size, descriptor, from, address, key, context);
}

int mr_close(fid* region) { return planted("region_stays") ? 0 : original<fi_ops>(region).close(region); }

int mr_reg(fid* domain, void const* buffer, std::size_t size, std::uint64_t access, std::uint64_t offset,
           std::uint64_t key, std::uint64_t flags, fid_mr** region, void* context) {
    if (planted("access_ignored")) access |= FI_REMOTE_READ | FI_REMOTE_WRITE;
    if (planted("bounds_ignored")) size += 4096;
    int const code = original<fi_ops_mr>(domain).reg(domain, buffer, size, access, offset, key, flags, region, context);
    if (code == 0) {
        patch(&(*region)->fid, (*region)->fid.ops).close = mr_close;
        if (planted("key_changed")) (*region)->key ^= 1;
    }
    return code;
}

ssize_t atomic_write(fid_ep* ep, void const* buffer, std::size_t count, void* descriptor, fi_addr_t to,
                     std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
    return original<fi_ops_atomic>(ep).write(ep, buffer, count - (planted("atomic_short") ? 1 : 0), descriptor, to,
                                             address, key, type, op, context);
}
ssize_t atomic_readwrite(fid_ep* ep, void const* buffer, std::size_t count, void* descriptor, void* result,
                         void* of_result, fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype type,
                         fi_op op, void* context) {
    return original<fi_ops_atomic>(ep).readwrite(ep, buffer, count - (planted("atomic_short") ? 1 : 0), descriptor,
                                                 result, of_result, to, address, key, type, op, context);
}
ssize_t atomic_compwrite(fid_ep* ep, void const* buffer, std::size_t count, void* descriptor, void const* compared,
                         void* of_compared, void* result, void* of_result, fi_addr_t to, std::uint64_t address,
                         std::uint64_t key, fi_datatype type, fi_op op, void* context) {
    return original<fi_ops_atomic>(ep).compwrite(ep, buffer, count - (planted("atomic_short") ? 1 : 0), descriptor,
                                                 compared, of_compared, result, of_result, to, address, key, type, op,
                                                 context);
}

// ---- endpoints

ssize_t ep_cancel(fid* ep, void* context) {
    return planted("cancel_ignored") ? 0 : original<fi_ops_ep>(ep).cancel(ep, context);
}

int ep_setopt(fid* ep, int level, int name, void const* value, std::size_t size) {
    return planted("option_ignored") ? 0 : original<fi_ops_ep>(ep).setopt(ep, level, name, value, size);
}

int ep_getname(fid* ep, void* address, std::size_t* size) {
    std::size_t const room = *size;
    int const code = original<fi_ops_cm>(ep).getname(ep, address, size);
    if (code == -FI_ETOOSMALL && planted("name_untold")) *size = room;
    return code;
}

int ep_bind(fid* ep, fid* other, std::uint64_t flags) {
    if (planted("selective_ignored")) flags &= ~FI_SELECTIVE_COMPLETION;
    if (planted("selective_always") && flags & (FI_TRANSMIT | FI_RECV) && other->fclass == FI_CLASS_CQ)
        flags |= FI_SELECTIVE_COMPLETION;
    return original<fi_ops>(ep).bind(ep, other, flags);
}

int ep_close(fid* ep) {
    if (planted("descriptor_leak")) dup(0);
    return original<fi_ops>(ep).close(ep);
}

// Providers choose their tables when the endpoint is enabled.
int ep_control(fid* object, int command, void* argument) {
    int const code = original<fi_ops>(object).control(object, command, argument);
    if (code != 0 || command != FI_ENABLE) return code;
    auto* const ep = reinterpret_cast<fid_ep*>(object); // the fid is its first member
    if (ep->msg != nullptr) {
        auto& msg = patch(ep, ep->msg);
        msg.send = msg_send;
        msg.inject = msg_inject;
        msg.sendmsg = msg_sendmsg;
        msg.recv = msg_recv;
    }
    if (ep->tagged != nullptr) {
        auto& tagged = patch(ep, ep->tagged);
        tagged.send = tagged_send;
        tagged.inject = tagged_inject;
        tagged.recv = tagged_recv;
        tagged.recvmsg = tagged_recvmsg;
    }
    if (ep->rma != nullptr) {
        auto& rma = patch(ep, ep->rma);
        rma.write = rma_write;
        rma.writedata = rma_writedata;
        rma.read = rma_read;
    }
    if (ep->atomic != nullptr) {
        auto& atomic = patch(ep, ep->atomic);
        atomic.write = atomic_write;
        atomic.readwrite = atomic_readwrite;
        atomic.compwrite = atomic_compwrite;
    }
    patch(ep, ep->cm).getname = ep_getname;
    return code;
}

// ---- address vectors, counters, events

int av_insert(fid_av* av, void const* address, std::size_t count, fi_addr_t* number, std::uint64_t flags,
              void* context) {
    int const code = original<fi_ops_av>(av).insert(av, address, count, number, flags, context);
    if (code == 1 && number != nullptr && some_other == FI_ADDR_NOTAVAIL) some_other = *number;
    return code;
}
int av_lookup(fid_av* av, fi_addr_t number, void* address, std::size_t* size) {
    int const code = original<fi_ops_av>(av).lookup(av, number, address, size);
    if (code == 0 && planted("lookup_wrong")) static_cast<unsigned char*>(address)[2] ^= 1;
    return code;
}

std::uint64_t cntr_read(fid_cntr* counter) {
    return original<fi_ops_cntr>(counter).read(counter) + (planted("counter_wrong") ? 1 : 0);
}
std::uint64_t cntr_readerr(fid_cntr* counter) {
    return original<fi_ops_cntr>(counter).readerr(counter) + (planted("counter_error_wrong") ? 1 : 0);
}
int cntr_add(fid_cntr* counter, std::uint64_t value) {
    return original<fi_ops_cntr>(counter).add(counter, value + (planted("counter_add_wrong") ? 1 : 0));
}

ssize_t eq_read(fid_eq* eq, std::uint32_t* event, void* buffer, std::size_t size, std::uint64_t flags) {
    if (planted("event_peek_takes")) flags &= ~std::uint64_t{FI_PEEK};
    return original<fi_ops_eq>(eq).read(eq, event, buffer, size, flags);
}
ssize_t eq_sread(fid_eq* eq, std::uint32_t* event, void* buffer, std::size_t size, int timeout, std::uint64_t flags) {
    if (planted("event_never_waits")) timeout = 0;
    return original<fi_ops_eq>(eq).sread(eq, event, buffer, size, timeout, flags);
}

// ---- what opens all these

int open_cq(fid_domain* domain, fi_cq_attr* attributes, fid_cq** cq, void* context) {
    int const code = original<fi_ops_domain>(domain).cq_open(domain, attributes, cq, context);
    if (code != 0) return code;
    queues[*cq] = {attributes->format, {}};
    auto& table = patch(*cq, (*cq)->ops);
    table.read = cq_read;
    table.readfrom = read_from;
    table.readerr = cq_readerr;
    table.sread = cq_sread;
    auto& basic = patch(&(*cq)->fid, (*cq)->fid.ops);
    basic.close = cq_close;
    basic.control = cq_control;
    return 0;
}

int open_ep(fid_domain* domain, fi_info* info, fid_ep** ep, void* context) {
    if (planted("complete_early")) info->tx_attr->op_flags = 0;
    int const code = original<fi_ops_domain>(domain).endpoint(domain, info, ep, context);
    if (code != 0) return code;
    auto& basic = patch(&(*ep)->fid, (*ep)->fid.ops);
    basic.control = ep_control;
    basic.bind = ep_bind;
    basic.close = ep_close;
    auto& table = patch(&(*ep)->fid, (*ep)->ops);
    table.cancel = ep_cancel;
    table.setopt = ep_setopt;
    return 0;
}

int open_av(fid_domain* domain, fi_av_attr* attributes, fid_av** av, void* context) {
    int const code = original<fi_ops_domain>(domain).av_open(domain, attributes, av, context);
    some_other = FI_ADDR_NOTAVAIL;
    if (code != 0) return code;
    auto& table = patch(*av, (*av)->ops);
    table.insert = av_insert;
    table.lookup = av_lookup;
    return 0;
}

int open_cntr(fid_domain* domain, fi_cntr_attr* attributes, fid_cntr** counter, void* context) {
    int const code = original<fi_ops_domain>(domain).cntr_open(domain, attributes, counter, context);
    if (code != 0) return code;
    auto& table = patch(*counter, (*counter)->ops);
    table.read = cntr_read;
    table.readerr = cntr_readerr;
    table.add = cntr_add;
    return 0;
}

int open_eq(fid_fabric* fabric, fi_eq_attr* attributes, fid_eq** eq, void* context) {
    int const code = original<fi_ops_fabric>(fabric).eq_open(fabric, attributes, eq, context);
    if (code != 0) return code;
    auto& table = patch(*eq, (*eq)->ops);
    table.read = eq_read;
    table.sread = eq_sread;
    return 0;
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
    int const code = original<fi_ops_fabric>(fabric).domain(fabric, info, domain, context);
    if (code != 0) return code;
    auto& table = patch(*domain, (*domain)->ops);
    table.cq_open = open_cq;
    table.endpoint = open_ep;
    table.av_open = open_av;
    table.cntr_open = open_cntr;
    patch(&(*domain)->fid, (*domain)->mr).reg = mr_reg;
    return 0;
}

template <class Function> Function next(char const* name) {
    auto* const found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) {
        std::fprintf(stderr, "libassay_ofi_faults: there is no %s behind this library: is libfabric linked?\n", name);
        std::abort();
    }
    return reinterpret_cast<Function>(found);
}

} // namespace

extern "C" int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
    static auto const real = next<decltype(&fi_fabric)>("fi_fabric");
    int const code = real(attributes, fabric, context);
    if (code != 0) return code;
    auto& table = patch(*fabric, (*fabric)->ops);
    table.domain = open_domain;
    table.eq_open = open_eq;
    return 0;
}

extern "C" int fi_getinfo(std::uint32_t version, char const* node, char const* service, std::uint64_t flags,
                          fi_info const* hints, fi_info** info) {
    static auto const real = next<decltype(&fi_getinfo)>("fi_getinfo");
    int const code = real(version, node, service, flags, hints, info);
    if (code == 0)
        for (auto* one = *info; one != nullptr; one = one->next) {
            if (planted("info_demands")) one->domain_attr->mr_mode |= FI_MR_MMU_NOTIFY;
            if (planted("info_lacks")) one->caps &= ~hints->caps;
        }
    return code;
}
