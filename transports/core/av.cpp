#include "transports/core/av.hpp"

#include "transports/core/eq.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/fi_endpoint.h>

namespace assay::ofi {
namespace {

address_vector& of(fid_av* it) { return static_cast<address_vector&>(*it); }

int close(fid* it) {
    auto& av = object_of<address_vector, fid_av>(it);
    locked const lock(av.in->mutex);
    if (av.users > 0) return -FI_EBUSY;
    if (av.events) --av.events->users;
    --av.in->users;
    delete &av;
    return 0;
}

int bind(fid* it, fid* to, std::uint64_t) {
    auto& av = object_of<address_vector, fid_av>(it);
    if (to->fclass != FI_CLASS_EQ || av.events) return -FI_EINVAL;
    av.events = &object_of<event_queue, fid_eq>(to);
    ++av.events->users;
    return 0;
}

fi_addr_t add(address_vector& av, net::address const& where) {
    fi_addr_t const number = av.entries.size();
    av.entries.push_back(where);
    av.first.try_emplace(where, number);
    return number;
}

// Returns how many were inserted; with events, 0: the number comes with the event.
int insert_all(address_vector& av, std::vector<net::address> const& given, fi_addr_t* numbers, std::uint64_t flags,
               void* context) {
    auto* const errors = flags & FI_SYNC_ERR ? static_cast<int*>(context) : nullptr;
    int done = 0;
    for (std::size_t k = 0; k < given.size(); ++k) {
        bool const good = !given[k].empty();
        auto const number = good ? add(av, given[k]) : FI_ADDR_NOTAVAIL;
        if (numbers) numbers[k] = number;
        if (errors) errors[k] = good ? 0 : FI_EINVAL;
        if (!good && av.by_event && av.events) av.events->report(&av.fid, context, k, FI_EINVAL);
        done += good;
    }
    if (!av.by_event || !av.events) return done;
    av.events->tell(FI_AV_COMPLETE, {&av.fid, context, static_cast<std::uint64_t>(done)});
    return 0;
}

int insert(fid_av* it, void const* addresses, std::size_t count, fi_addr_t* numbers, std::uint64_t flags,
           void* context) {
    return guarded([&] {
        auto& av = of(it);
        locked const lock(av.in->mutex);
        std::vector<net::address> given;
        auto const* at = static_cast<char const*>(addresses);
        // All of one kind: what cannot be read has the size of the one before it.
        std::size_t size = sizeof(sockaddr_in);
        for (std::size_t k = 0; k < count; ++k) {
            given.push_back(address_from(at));
            if (!given.back().empty()) size = given.back().size();
            at += size;
        }
        return insert_all(av, given, numbers, flags, context);
    });
}

net::address resolve(char const* node, char const* service) {
    addrinfo wish{};
    wish.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(node, service, &wish, &found) != 0 || !found) return {};
    net::address result(reinterpret_cast<char const*>(found->ai_addr), found->ai_addrlen);
    freeaddrinfo(found);
    return address_from(result.data());
}

int insert_service(fid_av* it, char const* node, char const* service, fi_addr_t* number, std::uint64_t flags,
                   void* context) {
    return guarded([&] {
        auto& av = of(it);
        auto const where = resolve(node, service);
        locked const lock(av.in->mutex);
        return insert_all(av, {where}, number, flags, context);
    });
}

int remove(fid_av* it, fi_addr_t* numbers, std::size_t count, std::uint64_t) {
    auto& av = of(it);
    locked const lock(av.in->mutex);
    for (std::size_t k = 0; k < count; ++k) {
        if (numbers[k] >= av.entries.size() || av.entries[numbers[k]].empty()) return -FI_EINVAL;
        auto& entry = av.entries[numbers[k]];
        if (auto const at = av.first.find(entry); at != av.first.end() && at->second == numbers[k]) {
            av.first.erase(at);
            auto const next =
                std::find(av.entries.begin() + static_cast<std::ptrdiff_t>(numbers[k]) + 1, av.entries.end(), entry);
            if (next != av.entries.end()) av.first.emplace(entry, static_cast<fi_addr_t>(next - av.entries.begin()));
        }
        entry.clear();
    }
    return 0;
}

int lookup(fid_av* it, fi_addr_t number, void* address, std::size_t* size) {
    auto& av = of(it);
    locked const lock(av.in->mutex);
    if (number >= av.entries.size() || av.entries[number].empty()) return -FI_EINVAL;
    auto const& entry = av.entries[number];
    std::memcpy(address, entry.data(), std::min(*size, entry.size()));
    *size = entry.size();
    return 0;
}

char const* straddr(fid_av*, void const* address, char* text, std::size_t* size) {
    auto const words = to_text(address_from(address));
    if (*size > 0) {
        auto const part = std::min(*size - 1, words.size());
        std::memcpy(text, words.data(), part);
        text[part] = '\0';
    }
    *size = words.size() + 1;
    return text;
}

fi_ops fid_ops{sizeof(fi_ops), close, bind, not_offered, not_offered, not_offered, not_offered};
fi_ops_av ops{sizeof(fi_ops_av), insert, insert_service, not_offered, remove, lookup, straddr, not_offered};

} // namespace

net::address address_from(void const* bytes) {
    if (!bytes) return {};
    sa_family_t family{};
    std::memcpy(&family, static_cast<char const*>(bytes) + offsetof(sockaddr, sa_family), sizeof family);
    auto const* const text = static_cast<char const*>(bytes);
    if (family == AF_INET) {
        // The padding after it must not make two addresses of one.
        sockaddr_in in{};
        std::memcpy(&in, text, offsetof(sockaddr_in, sin_zero));
        return {reinterpret_cast<char const*>(&in), sizeof in};
    }
    if (family == AF_INET6) return {text, sizeof(sockaddr_in6)};
    return {};
}

std::string to_text(net::address const& where) {
    if (where.empty()) return "none";
    char host[INET6_ADDRSTRLEN] = "";
    if (where.size() == sizeof(sockaddr_in)) {
        sockaddr_in in;
        std::memcpy(&in, where.data(), sizeof in);
        inet_ntop(AF_INET, &in.sin_addr, host, sizeof host);
        return std::string("fi_sockaddr_in://") + host + ':' + std::to_string(ntohs(in.sin_port));
    }
    sockaddr_in6 in;
    std::memcpy(&in, where.data(), sizeof in);
    inet_ntop(AF_INET6, &in.sin6_addr, host, sizeof host);
    return std::string("fi_sockaddr_in6://[") + host + "]:" + std::to_string(ntohs(in.sin6_port));
}

int open_av(domain& in, fi_av_attr* attributes, fid_av** made, void* context) {
    // Names are for vectors that processes share, and bits for scalable endpoints: neither is offered.
    if (attributes && (attributes->name || attributes->rx_ctx_bits > 0)) return -FI_ENOSYS;
    auto* const av = new address_vector;
    initialize(static_cast<fid_av&>(*av), FI_CLASS_AV, context, fid_ops);
    av->ops = &ops;
    av->in = &in;
    if (attributes) {
        av->by_event = attributes->flags & FI_EVENT;
        if (attributes->type == FI_AV_UNSPEC) attributes->type = FI_AV_TABLE;
    }
    locked const lock(in.mutex);
    ++in.users;
    *made = av;
    return 0;
}

} // namespace assay::ofi
