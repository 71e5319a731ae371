#include "transports/core/calls.hpp"

namespace assay::ofi {
namespace {

constexpr std::uint64_t no_tag = 0, any_tag = ~std::uint64_t{0};

ssize_t recv_pieces(fid_ep* it, iovec const* list, void** descriptors, std::size_t count, fi_addr_t from,
                    void* context) {
    return on(it, {{list, count}, descriptors, FI_RECV}, [&](endpoint& one, pieces const& memory) {
        return one.post(false, memory, no_tag, any_tag, usual_receive(one, from, context));
    });
}

ssize_t recv(fid_ep* it, void* buffer, std::size_t size, void* descriptor, fi_addr_t from, void* context) {
    iovec const piece{buffer, size};
    return recv_pieces(it, &piece, &descriptor, 1, from, context);
}

ssize_t recv_message(fid_ep* it, fi_msg const* said, std::uint64_t flags) {
    if (flags & FI_MULTI_RECV && said->iov_count != 1) return -FI_EINVAL;
    return on(it, received_into(*said, flags), [&](endpoint& one, pieces const& memory) {
        return one.post(false, memory, no_tag, any_tag, said_receive(one, *said, flags));
    });
}

ssize_t send_pieces(fid_ep* it, iovec const* list, void** descriptors, std::size_t count, fi_addr_t to, void* context) {
    return on(it, {{list, count}, descriptors, FI_SEND}, [&](endpoint& one, pieces const& memory) {
        return one.send(false, memory, no_tag, usual_send(one, to, context));
    });
}

ssize_t send(fid_ep* it, void const* buffer, std::size_t size, void* descriptor, fi_addr_t to, void* context) {
    iovec const piece{const_cast<void*>(buffer), size};
    return send_pieces(it, &piece, &descriptor, 1, to, context);
}

ssize_t send_message(fid_ep* it, fi_msg const* said, std::uint64_t flags) {
    return on(it, sent_from(*said, flags, FI_SEND), [&](endpoint& one, pieces const& memory) {
        return one.send(false, memory, no_tag, said_send(one, *said, flags));
    });
}

ssize_t inject(fid_ep* it, void const* buffer, std::size_t size, fi_addr_t to) {
    return on(it, [&](endpoint& one) { return one.send(false, one_piece(buffer, size), no_tag, injected(to)); });
}

ssize_t send_data(fid_ep* it, void const* buffer, std::size_t size, void* descriptor, std::uint64_t data, fi_addr_t to,
                  void* context) {
    iovec const piece{const_cast<void*>(buffer), size};
    return on(it, {{&piece, 1}, &descriptor, FI_SEND}, [&](endpoint& one, pieces const& memory) {
        return one.send(false, memory, no_tag, with(usual_send(one, to, context), data));
    });
}

ssize_t inject_data(fid_ep* it, void const* buffer, std::size_t size, std::uint64_t data, fi_addr_t to) {
    return on(
        it, [&](endpoint& one) { return one.send(false, one_piece(buffer, size), no_tag, with(injected(to), data)); });
}

} // namespace

fi_ops_msg msg_ops{.size = sizeof(fi_ops_msg),
                   .recv = recv,
                   .recvv = recv_pieces,
                   .recvmsg = recv_message,
                   .send = send,
                   .sendv = send_pieces,
                   .sendmsg = send_message,
                   .inject = inject,
                   .senddata = send_data,
                   .injectdata = inject_data};

} // namespace assay::ofi
