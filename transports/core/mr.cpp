#include "transports/core/mr.hpp"

#include "transports/core/ep.hpp"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

namespace assay::ofi {
namespace {

int close(fid* it) {
    return guarded([&] {
        auto& object = object_of<region, fid_mr>(it);
        auto& in = *object.in;
        locked const lock(in.mutex);
        for (auto const& [at, one] : object.leaving) at->abandon(*one);
        for (auto const& [at, token] : object.arriving) at->withdraw(token);
        if (object.writes) --object.writes->regions;
        in.regions.erase(object.key);
        in.descriptors.erase(object.mem_desc);
        --in.users;
        delete &object;
        return 0;
    });
}

// Registrations are made complete and bound to endpoints by some programs, whether they have to or not.
int bind(fid* it, fid* to, std::uint64_t flags) {
    if (to->fclass == FI_CLASS_EP) return 0;
    auto& object = object_of<region, fid_mr>(it);
    locked const lock(object.in->mutex);
    if (to->fclass != FI_CLASS_CNTR || flags != FI_REMOTE_WRITE || object.writes) return -FI_EINVAL;
    object.writes = &object_of<counter, fid_cntr>(to);
    ++object.writes->regions;
    return 0;
}
int control(fid*, int command, void*) { return command == FI_ENABLE ? 0 : -FI_ENOSYS; }

fi_ops fid_ops{sizeof(fi_ops), close, bind, control, not_offered, not_offered, not_offered};

// Whether there is memory at all of these addresses.
bool mapped(iovec const& memory) {
    auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto const from = reinterpret_cast<std::uintptr_t>(memory.iov_base);
    auto const first = from / page * page;
    return msync(reinterpret_cast<void*>(first), memory.iov_len + (from - first), MS_ASYNC) == 0;
}

int registered(fid* by, fi_mr_attr const& wish, fid_mr** made) {
    if (by->fclass != FI_CLASS_DOMAIN) return -FI_EINVAL;
    if (wish.iov_count != 1 || wish.iface != FI_HMEM_SYSTEM) return -FI_EINVAL;
    auto& in = object_of<domain, fid_domain>(by);
    locked const lock(in.mutex);
    if (in.allocated && !mapped(wish.mr_iov[0])) {
        std::fprintf(stderr, "%s: mr_allocated: %zu bytes at %p are registered before they are allocated\n",
                     provider_name, wish.mr_iov[0].iov_len, wish.mr_iov[0].iov_base);
        return -FI_EFAULT;
    }
    auto key = wish.requested_key;
    if (in.prov_key) {
        // Neither small nor in a row: a program that thinks it chose the key fails.
        key = in.next_key++ * 0x9e3779b97f4a7c15u | 1u << 31;
    } else if (in.regions.contains(key)) return -FI_ENOKEY;
    auto* const object = new region;
    initialize(static_cast<fid_mr&>(*object), FI_CLASS_MR, wish.context, fid_ops);
    object->in = &in;
    object->base = static_cast<std::byte*>(wish.mr_iov[0].iov_base);
    object->size = wish.mr_iov[0].iov_len;
    object->offset = in.virt_addr ? reinterpret_cast<std::uintptr_t>(object->base) : wish.offset;
    object->access = wish.access;
    object->mem_desc = object;
    object->key = key;
    in.regions.emplace(key, object);
    if (in.local) {
        // A number that is used once: a pointer would come back with the next region, and one to a region that is gone pass for it.
        object->mem_desc = reinterpret_cast<void*>(in.next_descriptor++);
        in.descriptors.emplace(object->mem_desc, object);
    }
    ++in.users;
    *made = object;
    return 0;
}

int register_vector(fid* by, iovec const* pieces, std::size_t count, std::uint64_t access, std::uint64_t offset,
                    std::uint64_t key, std::uint64_t, fid_mr** made, void* context) {
    return guarded([&] {
        fi_mr_attr wish{};
        wish.mr_iov = pieces;
        wish.iov_count = count;
        wish.access = access;
        wish.offset = offset;
        wish.requested_key = key;
        wish.context = context;
        return registered(by, wish, made);
    });
}

int register_buffer(fid* by, void const* buffer, std::size_t size, std::uint64_t access, std::uint64_t offset,
                    std::uint64_t key, std::uint64_t flags, fid_mr** made, void* context) {
    iovec const piece{const_cast<void*>(buffer), size};
    return register_vector(by, &piece, 1, access, offset, key, flags, made, context);
}

int register_as_said(fid* by, fi_mr_attr const* wish, std::uint64_t, fid_mr** made) {
    return guarded([&] { return registered(by, *wish, made); });
}

} // namespace

fi_ops_mr mr_ops{sizeof(fi_ops_mr), register_buffer, register_vector, register_as_said};

std::byte* find_memory(domain& in, std::uint64_t key, std::uint64_t address, std::uint64_t size, std::uint64_t access,
                       int& error) {
    auto const at = in.regions.find(key);
    error = FI_EKEYREJECTED;
    if (at == in.regions.end()) return nullptr;
    auto const& found = *at->second;
    error = FI_EACCES;
    if ((found.access & access) != access && !net::planted(fault::access_unchecked)) return nullptr;
    error = FI_EINVAL;
    auto const from = address - found.offset; // of an address before the region it is huge
    if (from > found.size || size > found.size - from) return nullptr;
    error = 0;
    return found.base + from;
}

namespace {

char const* name_of(std::uint64_t access) {
    return access == FI_SEND ? "FI_SEND" : access == FI_RECV ? "FI_RECV" : access == FI_READ ? "FI_READ" : "FI_WRITE";
}

// What is wrong with a descriptor; null if nothing is.
char const* fault_of(domain const& in, iovec const& piece, void* descriptor, std::uint64_t access) {
    if (!descriptor) return "there is no descriptor";
    auto const at = in.descriptors.find(descriptor);
    if (at == in.descriptors.end()) return "the descriptor is none of a region of this domain";
    auto const& found = *at->second;
    if ((found.access & access) != access) return "the region is not registered for this use";
    auto const from = static_cast<std::size_t>(static_cast<std::byte*>(piece.iov_base) - found.base); // huge before it
    if (from > found.size || piece.iov_len > found.size - from) return "the region does not hold all of it";
    return nullptr;
}

} // namespace

bool described(domain const& in, local_memory const& what) {
    if (what.access == 0 || net::planted(fault::local_unchecked)) return true;
    for (std::size_t k = 0; k < what.pieces.size(); ++k) {
        auto const& piece = what.pieces[k];
        if (piece.iov_len == 0) continue;
        auto const* const wrong = fault_of(in, piece, what.descriptors ? what.descriptors[k] : nullptr, what.access);
        if (!wrong) continue;
        std::fprintf(
            stderr,
            "%s: mr_local: %zu bytes at %p for %s: %s; register memory that is used here (fi_mr_reg), too, and pass "
            "fi_mr_desc of it\n",
            provider_name, piece.iov_len, piece.iov_base, name_of(what.access), wrong);
        return false;
    }
    return true;
}

} // namespace assay::ofi
