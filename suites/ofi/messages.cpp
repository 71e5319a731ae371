#include "suites/ofi/messages.hpp"

#include <algorithm>
#include <array>

#include "suites/ofi/calls.hpp"

namespace assay::fabric {
namespace {

// A buffer in two pieces, where the provider takes as many: its middle is no natural border.
struct in_pieces {
    std::array<iovec, 2> pieces{};
    std::array<void*, 2> descriptors{};
    std::size_t n = 1;

    in_pieces(endpoint& by, buffer& all, std::size_t limit) {
        auto* const bytes = static_cast<char*>(all.address());
        auto const size = all.count(), first = limit > 1 && size > 1 ? (size + 1) / 3 + 1 : size;
        void* const descriptor = by.descriptor(bytes, size);
        descriptors = {descriptor, descriptor};
        pieces = {iovec{bytes, first}, iovec{bytes + first, size - first}};
        n = first < size ? 2 : 1;
    }
};

} // namespace

axis<send_way> const& send_ways() {
    static axis<send_way> const axis("mode", {{{"send", "fi_send"}, {form::plain, false}},
                                              {{"sendv", "fi_sendv"}, {form::vector, false}},
                                              {{"sendmsg", "fi_sendmsg"}, {form::message, false}},
                                              {{"senddata", "fi_senddata"}, {form::with_data, false}},
                                              {{"inject", "fi_inject"}, {form::inject, false}},
                                              {{"injectdata", "fi_injectdata"}, {form::inject_with_data, false}},
                                              {{"tsend", "fi_tsend"}, {form::plain, true}},
                                              {{"tsendv", "fi_tsendv"}, {form::vector, true}},
                                              {{"tsendmsg", "fi_tsendmsg"}, {form::message, true}},
                                              {{"tsenddata", "fi_tsenddata"}, {form::with_data, true}},
                                              {{"tinject", "fi_tinject"}, {form::inject, true}},
                                              {{"tinjectdata", "fi_tinjectdata"}, {form::inject_with_data, true}}});
    return axis;
}

axis<receive_form> const& receive_ways() {
    static axis<receive_form> const axis("receive", {{{"recv", "fi_recv, fi_trecv"}, receive_form::plain},
                                                     {{"recvv", "fi_recvv, fi_trecvv"}, receive_form::vector},
                                                     {{"recvmsg", "fi_recvmsg, fi_trecvmsg"}, receive_form::message}});
    return axis;
}

wish needs_of(send_way way, std::size_t bytes) {
    wish what;
    what.caps = way.tagged ? FI_TAGGED : FI_MSG;
    what.cq_data = way.data();
    if (way.injects()) what.inject = bytes;
    return what;
}

operation* send(endpoint& by, send_way way, buffer& out, int to, std::uint64_t tag, std::uint64_t data,
                std::source_location where) {
    static std::array<std::array<char const*, 6>, 2> const names = {
        {{"fi_send", "fi_sendv", "fi_sendmsg", "fi_senddata", "fi_inject", "fi_injectdata"},
         {"fi_tsend", "fi_tsendv", "fi_tsendmsg", "fi_tsenddata", "fi_tinject", "fi_tinjectdata"}}};
    auto* const ep = by.ep.get();
    auto const address = by.peers[static_cast<std::size_t>(to)];
    void* const bytes = out.address();
    auto const size = out.count();
    auto* const op = way.injects() ? nullptr : &by.start(names[way.tagged ? 1 : 0][static_cast<std::size_t>(way.how)]);
    in_pieces pieces(by, out, by.info->tx_attr->iov_limit);
    auto** const desc = pieces.descriptors.data();
    fi_msg const message{pieces.pieces.data(), desc, pieces.n, address, op, 0};
    fi_msg_tagged const tagged{pieces.pieces.data(), desc, pieces.n, address, tag, 0, op, 0};
    by.post(
        [&]() -> ssize_t {
            switch (way.how) {
            case form::plain:
                return way.tagged ? fi_tsend(ep, bytes, size, *desc, address, tag, op)
                                  : fi_send(ep, bytes, size, *desc, address, op);
            case form::vector:
                return way.tagged ? fi_tsendv(ep, pieces.pieces.data(), desc, pieces.n, address, tag, op)
                                  : fi_sendv(ep, pieces.pieces.data(), desc, pieces.n, address, op);
            case form::message:
                return way.tagged ? fi_tsendmsg(ep, &tagged, FI_COMPLETION) : fi_sendmsg(ep, &message, FI_COMPLETION);
            case form::with_data:
                return way.tagged ? fi_tsenddata(ep, bytes, size, *desc, data, address, tag, op)
                                  : fi_senddata(ep, bytes, size, *desc, data, address, op);
            case form::inject:
                return way.tagged ? fi_tinject(ep, bytes, size, address, tag) : fi_inject(ep, bytes, size, address);
            case form::inject_with_data:
                return way.tagged ? fi_tinjectdata(ep, bytes, size, data, address, tag)
                                  : fi_injectdata(ep, bytes, size, data, address);
            }
            return -FI_EINVAL;
        },
        where);
    return op;
}

operation& receive(endpoint& by, bool tagged, receive_form how, buffer& in, int from, std::uint64_t tag,
                   std::uint64_t ignore, std::source_location where) {
    static std::array<std::array<char const*, 3>, 2> const names = {
        {{"fi_recv", "fi_recvv", "fi_recvmsg"}, {"fi_trecv", "fi_trecvv", "fi_trecvmsg"}}};
    auto* const ep = by.ep.get();
    auto const address = from < 0 ? FI_ADDR_UNSPEC : by.peers[static_cast<std::size_t>(from)];
    auto& op = by.start(names[tagged ? 1 : 0][static_cast<std::size_t>(how)]);
    in_pieces pieces(by, in, by.info->rx_attr->iov_limit);
    fi_msg const message{pieces.pieces.data(), pieces.descriptors.data(), pieces.n, address, &op, 0};
    fi_msg_tagged const with_tag{
        pieces.pieces.data(), pieces.descriptors.data(), pieces.n, address, tag, ignore, &op, 0};
    by.post(
        [&]() -> ssize_t {
            switch (how) {
            case receive_form::plain:
                return tagged ? fi_trecv(ep, in.address(), in.count(), pieces.descriptors[0], address, tag, ignore, &op)
                              : fi_recv(ep, in.address(), in.count(), pieces.descriptors[0], address, &op);
            case receive_form::vector:
                return tagged ? fi_trecvv(ep, pieces.pieces.data(), pieces.descriptors.data(), pieces.n, address, tag,
                                          ignore, &op)
                              : fi_recvv(ep, pieces.pieces.data(), pieces.descriptors.data(), pieces.n, address, &op);
            case receive_form::message:
                return tagged ? fi_trecvmsg(ep, &with_tag, FI_COMPLETION) : fi_recvmsg(ep, &message, FI_COMPLETION);
            }
            return -FI_EINVAL;
        },
        where);
    return op;
}

} // namespace assay::fabric
