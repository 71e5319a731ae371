#include "transports/core/info.hpp"

#include "transports/core/ep.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <netdb.h>
#include <netinet/in.h>

namespace assay::ofi {
namespace {

constexpr std::uint32_t protocol = 0x80a55a01; // nobody else's: the highest bit is for what providers make up
constexpr std::uint64_t message_order = FI_ORDER_SAS | FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR | FI_ORDER_WAW |
                                        FI_ORDER_SAR | FI_ORDER_SAW | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |
                                        FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR |
                                        FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
constexpr std::uint64_t send_operations =
    FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE;
constexpr std::uint64_t receive_operations = FI_COMPLETION | FI_MULTI_RECV;
constexpr std::uint64_t send_modifiers = FI_SEND | FI_READ | FI_WRITE;
constexpr std::uint64_t receive_modifiers = FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE;

constexpr std::uint64_t remote_memory = FI_RMA | FI_ATOMIC;
constexpr std::uint64_t remote = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE; // how it is used

struct offer {
    std::uint64_t primary = FI_MSG, secondary = FI_LOCAL_COMM | FI_REMOTE_COMM, modifiers = FI_SEND | FI_RECV;

    explicit offer(settings const& set) {
        if (set.tagged) primary |= FI_TAGGED;
        if (set.rma) primary |= FI_RMA;
        if (set.atomic) primary |= FI_ATOMIC;
        if (primary & remote_memory) {
            modifiers |= remote;
            secondary |= FI_RMA_EVENT;
        }
        if (set.directed) primary |= FI_DIRECTED_RECV;
        if (set.multi_recv) secondary |= FI_MULTI_RECV;
        if (set.source) secondary |= FI_SOURCE;
    }
    std::uint64_t all() const { return primary | secondary | modifiers; }
};

bool within(std::uint64_t wish, std::uint64_t offered) { return (wish & ~offered) == 0; }

// What a program that asks for `wish` gets: that, what goes with it, and what costs nothing.
std::uint64_t granted(std::uint64_t wish, offer const& has) {
    if (wish == 0) return has.all();
    std::uint64_t caps = wish | (wish & remote_memory ? has.secondary : has.secondary & ~FI_RMA_EVENT);
    bool const modified = wish & has.modifiers;
    if (wish & (FI_MSG | FI_TAGGED) && (!modified || !(wish & (FI_SEND | FI_RECV)))) caps |= FI_SEND | FI_RECV;
    if (wish & remote_memory && !(wish & remote)) caps |= remote;
    return caps;
}

bool send_side_fits(fi_tx_attr const* wish, settings const& set, offer const& has) {
    return !wish || (within(wish->caps, has.all()) && within(wish->op_flags, send_operations) &&
                     within(wish->msg_order, message_order) && wish->comp_order == FI_ORDER_NONE &&
                     wish->inject_size <= set.inject && wish->size <= queue_size && wish->iov_limit <= most_pieces &&
                     wish->rma_iov_limit <= most_pieces);
}

bool receive_side_fits(fi_rx_attr const* wish, offer const& has) {
    return !wish || (within(wish->caps, has.all()) && within(wish->op_flags, receive_operations) &&
                     within(wish->msg_order, message_order) && wish->comp_order == FI_ORDER_NONE &&
                     wish->iov_limit <= most_pieces);
}

// Programs may speak of memory as it was before 1.5: of two kinds, and of FI_MR_LOCAL by a mode bit of its own.
bool in_old_words(int mr_mode) { return mr_mode == FI_MR_BASIC || mr_mode == FI_MR_SCALABLE; }

// Demands on whoever registers memory: those it can meet.
bool find_mr_mode(std::uint32_t version, fi_info const* hints, settings const& set, int& mode) {
    mode = set.mr_mode;
    if (!hints || !hints->domain_attr) return true;
    int const others = set.mr_mode & ~FI_MR_LOCAL;
    int wish = hints->domain_attr->mr_mode;
    if (wish == FI_MR_UNSPEC && FI_VERSION_LT(version, FI_VERSION(1, 5))) // it leaves the choice to us
        wish = others == 0 ? FI_MR_SCALABLE : FI_MR_BASIC;
    if (!in_old_words(wish)) return (mode & ~wish) == 0;
    mode = wish;
    return (others == set.mr_mode || hints->mode & FI_LOCAL_MR) && (wish == FI_MR_BASIC || others == 0);
}

bool domain_fits(fi_domain_attr const* wish, settings const& set) {
    if (!wish) return true;
    if (wish->name && std::strcmp(wish->name, provider_name) != 0) return false;
    return wish->cq_data_size <= (set.cq_data ? sizeof(std::uint64_t) : 0) &&
           wish->mr_key_size <= sizeof(std::uint64_t) && within(wish->caps, FI_LOCAL_COMM | FI_REMOTE_COMM);
}

bool endpoint_fits(fi_ep_attr const* wish) {
    return !wish || ((wish->type == FI_EP_UNSPEC || wish->type == FI_EP_RDM) &&
                     (wish->protocol == FI_PROTO_UNSPEC || wish->protocol == protocol) && wish->tx_ctx_cnt <= 1 &&
                     wish->rx_ctx_cnt <= 1 && wish->auth_key_size == 0);
}

bool format_fits(std::uint32_t format) {
    return format == FI_FORMAT_UNSPEC || format == FI_SOCKADDR || format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6;
}

net::address resolve(char const* node, char const* service, bool passive, bool numeric) {
    addrinfo wish{};
    wish.ai_socktype = SOCK_STREAM;
    wish.ai_flags = (passive ? AI_PASSIVE : 0) | (numeric ? AI_NUMERICHOST : 0);
    addrinfo* found = nullptr;
    if (getaddrinfo(node, service, &wish, &found) != 0 || !found) return {};
    auto result = address_from(found->ai_addr);
    freeaddrinfo(found);
    return result;
}

// A socket address that says only which port: the interface is chosen here.
net::address somewhere(net::address chosen, net::address const& port) {
    sockaddr_in to, from;
    if (port.size() != sizeof from || chosen.size() != sizeof to) return chosen;
    std::memcpy(&to, chosen.data(), sizeof to);
    std::memcpy(&from, port.data(), sizeof from);
    if (from.sin_addr.s_addr != htonl(INADDR_ANY)) return port;
    to.sin_port = from.sin_port;
    return {reinterpret_cast<char const*>(&to), sizeof to};
}

// Memory that fi_freeinfo frees.
void* duplicate(net::address const& where) {
    void* const copy = std::malloc(where.size());
    if (!copy) throw std::bad_alloc();
    where.copy(static_cast<char*>(copy), where.size());
    return copy;
}

char* duplicate(char const* text) {
    char* const copy = strdup(text);
    if (!copy) throw std::bad_alloc();
    return copy;
}

void describe(fi_info& to, fi_info const* hints, settings const& set, offer const& has, int mr_mode) {
    auto const* const wish = hints ? hints->domain_attr : nullptr;
    to.caps = granted(hints ? hints->caps : 0, has);
    to.mode = in_old_words(mr_mode) && set.mr_mode & FI_MR_LOCAL ? FI_LOCAL_MR : 0;
    auto& tx = *to.tx_attr;
    tx.caps = to.caps & (has.primary | FI_MULTI_RECV | send_modifiers) & ~(FI_DIRECTED_RECV | FI_MULTI_RECV);
    tx.op_flags = hints && hints->tx_attr ? hints->tx_attr->op_flags : 0;
    tx.msg_order = message_order;
    tx.comp_order = FI_ORDER_NONE;
    tx.inject_size = set.inject;
    tx.size = queue_size;
    tx.iov_limit = most_pieces;
    tx.rma_iov_limit = has.primary & remote_memory ? most_pieces : 0;
    auto& rx = *to.rx_attr;
    rx.caps = to.caps & (has.primary | FI_MULTI_RECV | FI_SOURCE | FI_RMA_EVENT | receive_modifiers);
    rx.op_flags = hints && hints->rx_attr ? hints->rx_attr->op_flags : 0;
    rx.msg_order = message_order;
    rx.comp_order = FI_ORDER_NONE;
    rx.size = queue_size;
    rx.iov_limit = most_pieces;
    auto& ep = *to.ep_attr;
    ep.type = FI_EP_RDM;
    ep.protocol = protocol;
    ep.protocol_version = 1;
    ep.max_msg_size = std::numeric_limits<std::size_t>::max() / 4;
    ep.max_order_raw_size = ep.max_order_war_size = ep.max_order_waw_size = ep.max_msg_size;
    ep.mem_tag_format = hints && hints->ep_attr && hints->ep_attr->mem_tag_format ? hints->ep_attr->mem_tag_format
                                                                                  : 0xaaaaaaaaaaaaaaaaULL;
    ep.tx_ctx_cnt = ep.rx_ctx_cnt = 1;
    auto& domain = *to.domain_attr;
    domain.name = duplicate(provider_name);
    domain.threading = wish && wish->threading != FI_THREAD_UNSPEC ? wish->threading : FI_THREAD_SAFE;
    // Made by those who read completions, but for programs that ask for more.
    domain.control_progress = domain.data_progress = FI_PROGRESS_MANUAL;
    if (wish && wish->control_progress == FI_PROGRESS_AUTO) domain.control_progress = FI_PROGRESS_AUTO;
    if (wish && wish->data_progress == FI_PROGRESS_AUTO) domain.data_progress = FI_PROGRESS_AUTO;
    domain.resource_mgmt = FI_RM_ENABLED;
    domain.av_type = wish ? wish->av_type : FI_AV_UNSPEC;
    domain.mr_mode = mr_mode;
    domain.mr_key_size = sizeof(std::uint64_t);
    domain.cq_data_size = set.cq_data ? sizeof(std::uint64_t) : 0;
    domain.cq_cnt = domain.ep_cnt = domain.cntr_cnt = 1024;
    domain.tx_ctx_cnt = domain.rx_ctx_cnt = domain.ep_cnt;
    domain.max_ep_tx_ctx = domain.max_ep_rx_ctx = 1;
    domain.mr_iov_limit = 1;
    domain.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
    domain.mr_cnt = 1 << 16;
    auto& fabric = *to.fabric_attr; // the provider's name is filled in by libfabric
    fabric.name = duplicate("assay");
    fabric.prov_version = FI_VERSION(0, 1);
}

} // namespace

int get_info(std::uint32_t version, char const* node, char const* service, std::uint64_t flags, fi_info const* hints,
             fi_info** found) {
    return guarded([&] {
        auto const& set = configured();
        if (!set.wrong.empty()) {
            std::fprintf(stderr, "%s: %s\n", provider_name, set.wrong.c_str());
            return -FI_ENODATA;
        }
        offer const has(set);
        int mr_mode = 0;
        if (hints) {
            auto const* const fabric = hints->fabric_attr;
            if (!within(hints->caps, has.all()) || !format_fits(hints->addr_format) || !endpoint_fits(hints->ep_attr) ||
                !send_side_fits(hints->tx_attr, set, has) || !receive_side_fits(hints->rx_attr, has) ||
                !domain_fits(hints->domain_attr, set) ||
                (fabric && fabric->name && std::strcmp(fabric->name, "assay") != 0))
                return -FI_ENODATA;
        }
        if (!find_mr_mode(version, hints, set, mr_mode)) return -FI_ENODATA;

        bool const own = flags & FI_SOURCE; // node and service say where to listen, not whom to reach
        auto source = transport.default_address(set.wire);
        net::address destination;
        if (node || service) {
            auto const where = resolve(node, service, own, flags & FI_NUMERICHOST);
            if (where.empty()) return -FI_ENODATA;
            (own ? source : destination) = own ? somewhere(source, where) : where;
        }
        if (hints && !own && hints->src_addr) source = somewhere(source, address_from(hints->src_addr));
        if (hints && destination.empty() && hints->dest_addr) destination = address_from(hints->dest_addr);
        std::uint32_t const format = source.size() == sizeof(sockaddr_in6) ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
        std::uint32_t const wanted = hints ? hints->addr_format : std::uint32_t{FI_FORMAT_UNSPEC};
        if ((wanted == FI_SOCKADDR_IN || wanted == FI_SOCKADDR_IN6) && wanted != format) return -FI_ENODATA;

        std::unique_ptr<fi_info, decltype(&fi_freeinfo)> made(fi_allocinfo(), fi_freeinfo);
        if (!made) return -FI_ENOMEM;
        describe(*made, hints, set, has, mr_mode);
        made->addr_format = format;
        made->src_addr = duplicate(source);
        made->src_addrlen = source.size();
        if (!destination.empty()) {
            made->dest_addr = duplicate(destination);
            made->dest_addrlen = destination.size();
        }
        *found = made.release();
        return 0;
    });
}

} // namespace assay::ofi
