#include "transports/core/calls.hpp"

namespace assay::ofi {
namespace {

ssize_t recv_pieces(fid_ep* it, iovec const* list, void**, std::size_t count, fi_addr_t from, std::uint64_t tag,
                    std::uint64_t ignore, void* context) {
    if (count > most_pieces) return -FI_EINVAL;
    return on(it, [&](endpoint& one) {
        return one.post(true, pieces({list, count}), tag, ignore, usual_receive(one, from, context));
    });
}

ssize_t recv(fid_ep* it, void* buffer, std::size_t size, void*, fi_addr_t from, std::uint64_t tag, std::uint64_t ignore,
             void* context) {
    iovec const piece{buffer, size};
    return recv_pieces(it, &piece, nullptr, 1, from, tag, ignore, context);
}

ssize_t recv_message(fid_ep* it, fi_msg_tagged const* said, std::uint64_t flags) {
    if (said->iov_count > most_pieces || flags & FI_MULTI_RECV) return -FI_EINVAL;
    return on(it, [&](endpoint& one) {
        return one.post(true, pieces({said->msg_iov, said->iov_count}), said->tag, said->ignore,
                        said_receive(one, *said, flags));
    });
}

ssize_t send_pieces(fid_ep* it, iovec const* list, void**, std::size_t count, fi_addr_t to, std::uint64_t tag,
                    void* context) {
    if (count > most_pieces) return -FI_EINVAL;
    return on(it, [&](endpoint& one) {
        return one.send(true, pieces({list, count}), tag, usual_send(one, to, context));
    });
}

ssize_t send(fid_ep* it, void const* buffer, std::size_t size, void*, fi_addr_t to, std::uint64_t tag, void* context) {
    return on(
        it, [&](endpoint& one) { return one.send(true, one_piece(buffer, size), tag, usual_send(one, to, context)); });
}

ssize_t send_message(fid_ep* it, fi_msg_tagged const* said, std::uint64_t flags) {
    if (said->iov_count > most_pieces) return -FI_EINVAL;
    return on(it, [&](endpoint& one) {
        return one.send(true, pieces({said->msg_iov, said->iov_count}), said->tag, said_send(one, *said, flags));
    });
}

ssize_t inject(fid_ep* it, void const* buffer, std::size_t size, fi_addr_t to, std::uint64_t tag) {
    return on(it, [&](endpoint& one) { return one.send(true, one_piece(buffer, size), tag, injected(to)); });
}

ssize_t send_data(fid_ep* it, void const* buffer, std::size_t size, void*, std::uint64_t data, fi_addr_t to,
                  std::uint64_t tag, void* context) {
    return on(it, [&](endpoint& one) {
        return one.send(true, one_piece(buffer, size), tag, with(usual_send(one, to, context), data));
    });
}

ssize_t inject_data(fid_ep* it, void const* buffer, std::size_t size, std::uint64_t data, fi_addr_t to,
                    std::uint64_t tag) {
    return on(it,
              [&](endpoint& one) { return one.send(true, one_piece(buffer, size), tag, with(injected(to), data)); });
}

} // namespace

fi_ops_tagged tagged_ops{.size = sizeof(fi_ops_tagged),
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
