#include "transports/core/calls.hpp"

namespace assay::ofi {
namespace {

std::size_t sum(iovec const* list, std::size_t count) {
    std::size_t size = 0;
    for (std::size_t k = 0; k < count; ++k) size += list[k].iov_len;
    return size;
}

// The remote memory must be as long as the local one.
bool fits(fi_msg_rma const& said) {
    std::size_t size = 0;
    for (std::size_t k = 0; k < said.rma_iov_count; ++k) size += said.rma_iov[k].len;
    return said.rma_iov_count <= most_pieces && size == sum(said.msg_iov, said.iov_count);
}

ssize_t read_pieces(fid_ep* it, iovec const* list, void** descriptors, std::size_t count, fi_addr_t from,
                    std::uint64_t address, std::uint64_t key, void* context) {
    fi_rma_iov const remote{address, sum(list, count), key};
    return on(it, {{list, count}, descriptors, FI_READ}, [&](endpoint& one, pieces const& memory) {
        return one.read(memory, {&remote, 1}, usual_send(one, from, context));
    });
}

ssize_t read(fid_ep* it, void* buffer, std::size_t size, void* descriptor, fi_addr_t from, std::uint64_t address,
             std::uint64_t key, void* context) {
    iovec const piece{buffer, size};
    return read_pieces(it, &piece, &descriptor, 1, from, address, key, context);
}

ssize_t read_message(fid_ep* it, fi_msg_rma const* said, std::uint64_t flags) {
    if (!fits(*said)) return -FI_EINVAL;
    return on(it, {{said->msg_iov, said->iov_count}, said->desc, FI_READ}, [&](endpoint& one, pieces const& memory) {
        return one.read(memory, {said->rma_iov, said->rma_iov_count}, said_send(one, *said, flags));
    });
}

ssize_t write_pieces(fid_ep* it, iovec const* list, void** descriptors, std::size_t count, fi_addr_t to,
                     std::uint64_t address, std::uint64_t key, void* context) {
    fi_rma_iov const remote{address, sum(list, count), key};
    return on(it, {{list, count}, descriptors, FI_WRITE}, [&](endpoint& one, pieces const& memory) {
        return one.write(memory, {&remote, 1}, usual_send(one, to, context));
    });
}

ssize_t write(fid_ep* it, void const* buffer, std::size_t size, void* descriptor, fi_addr_t to, std::uint64_t address,
              std::uint64_t key, void* context) {
    iovec const piece{const_cast<void*>(buffer), size};
    return write_pieces(it, &piece, &descriptor, 1, to, address, key, context);
}

ssize_t write_message(fid_ep* it, fi_msg_rma const* said, std::uint64_t flags) {
    if (!fits(*said)) return -FI_EINVAL;
    return on(it, sent_from(*said, flags, FI_WRITE), [&](endpoint& one, pieces const& memory) {
        return one.write(memory, {said->rma_iov, said->rma_iov_count}, said_send(one, *said, flags));
    });
}

ssize_t inject(fid_ep* it, void const* buffer, std::size_t size, fi_addr_t to, std::uint64_t address,
               std::uint64_t key) {
    fi_rma_iov const remote{address, size, key};
    return on(it, [&](endpoint& one) { return one.write(one_piece(buffer, size), {&remote, 1}, injected(to)); });
}

ssize_t write_data(fid_ep* it, void const* buffer, std::size_t size, void* descriptor, std::uint64_t data, fi_addr_t to,
                   std::uint64_t address, std::uint64_t key, void* context) {
    fi_rma_iov const remote{address, size, key};
    iovec const piece{const_cast<void*>(buffer), size};
    return on(it, {{&piece, 1}, &descriptor, FI_WRITE}, [&](endpoint& one, pieces const& memory) {
        return one.write(memory, {&remote, 1}, with(usual_send(one, to, context), data));
    });
}

ssize_t inject_data(fid_ep* it, void const* buffer, std::size_t size, std::uint64_t data, fi_addr_t to,
                    std::uint64_t address, std::uint64_t key) {
    fi_rma_iov const remote{address, size, key};
    return on(it, [&](endpoint& one) {
        return one.write(one_piece(buffer, size), {&remote, 1}, with(injected(to), data));
    });
}

} // namespace

fi_ops_rma rma_ops{.size = sizeof(fi_ops_rma),
                   .read = read,
                   .readv = read_pieces,
                   .readmsg = read_message,
                   .write = write,
                   .writev = write_pieces,
                   .writemsg = write_message,
                   .inject = inject,
                   .writedata = write_data,
                   .injectdata = inject_data};

} // namespace assay::ofi
