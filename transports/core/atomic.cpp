#include "transports/core/calls.hpp"
#include "transports/core/operation.hpp"

#include <rdma/fi_atomic.h>

namespace assay::ofi {
namespace {

// Elements in pieces, as bytes; false: too many pieces.
bool as_bytes(fi_ioc const* list, std::size_t count, fi_datatype type, pieces& made) {
    if (count > most_pieces) return false;
    for (std::size_t k = 0; k < count; ++k) made.add({list[k].addr, list[k].count * size_of(type)});
    return true;
}

// The parts of a call that all of them have. Everything is at most as long as an array of the caller's.
struct asked {
    fi_datatype type;
    fi_op op;
    form how;
    fi_ioc const* operand = nullptr;
    std::size_t operands = 0;
    void* const* operand_descriptors = nullptr;
    fi_ioc const* compare = nullptr;
    std::size_t compares = 0;
    void* const* compare_descriptors = nullptr;
    fi_ioc const* result = nullptr;
    std::size_t results = 0;
    void* const* result_descriptors = nullptr;
    fi_rma_ioc const* remote = nullptr;
    std::size_t remotes = 0;
};

ssize_t begin(endpoint& one, asked const& it, manner const& said) {
    if (!defined(it.type, it.op, it.how)) return -FI_EOPNOTSUPP;
    atomic_request wanted{.type = it.type, .op = it.op, .how = it.how};
    if (it.remotes == 0 || it.remotes > most_pieces) return -FI_EINVAL;
    std::array<fi_rma_iov, most_pieces> remote;
    std::size_t count = 0;
    for (std::size_t k = 0; k < it.remotes; ++k) {
        if (it.remote[k].count > most_atomic) return -FI_EMSGSIZE; // and no sum of these is too large for a number
        count += it.remote[k].count;
        remote[k] = {it.remote[k].addr, it.remote[k].count * size_of(it.type), it.remote[k].key};
    }
    auto const size = count * size_of(it.type);
    if (size > most_atomic) return -FI_EMSGSIZE;
    if (count == 0) return -FI_EINVAL;
    bool const reads = it.op == FI_ATOMIC_READ; // its operand may be missing
    if ((!reads && !as_bytes(it.operand, it.operands, it.type, wanted.operand)) ||
        !as_bytes(it.compare, it.compares, it.type, wanted.compare) ||
        !as_bytes(it.result, it.results, it.type, wanted.result))
        return -FI_EINVAL;
    if ((!reads && wanted.operand.size() != size) || (it.how == form::comparing && wanted.compare.size() != size) ||
        (it.how != form::plain && wanted.result.size() != size))
        return -FI_EINVAL;
    bool const injects = said.flags & FI_INJECT; // what is copied at once needs none
    if (one.in.local && ((!injects && !described(one.in, {wanted.operand.list(), it.operand_descriptors, FI_WRITE})) ||
                         !described(one.in, {wanted.compare.list(), it.compare_descriptors, FI_WRITE}) ||
                         !described(one.in, {wanted.result.list(), it.result_descriptors, FI_READ})))
        return -FI_EINVAL;
    wanted.remote = {remote.data(), it.remotes};
    return one.atomic_operation(wanted, said);
}

// fi_atomicv, fi_fetch_atomicv and fi_compare_atomicv: one piece of remote memory, as long as the local ones.
ssize_t usual(fid_ep* it, asked wanted, fi_addr_t to, std::uint64_t address, std::uint64_t key, void* context) {
    auto const* const given = wanted.op == FI_ATOMIC_READ ? wanted.result : wanted.operand;
    auto const pieces = wanted.op == FI_ATOMIC_READ ? wanted.results : wanted.operands;
    if (pieces > most_pieces) return -FI_EINVAL;
    fi_rma_ioc remote{address, 0, key};
    for (std::size_t k = 0; k < pieces; ++k) remote.count += given[k].count;
    wanted.remote = &remote;
    wanted.remotes = 1;
    return on(it, [&](endpoint& one) { return begin(one, wanted, usual_send(one, to, context)); });
}

ssize_t as_said(fid_ep* it, fi_msg_atomic const* said, asked wanted, std::uint64_t flags) {
    if (flags & (FI_TAGGED | FI_REMOTE_CQ_DATA)) return -FI_EOPNOTSUPP;
    wanted.type = said->datatype;
    wanted.op = said->op;
    wanted.operand = said->msg_iov;
    wanted.operands = said->iov_count;
    wanted.operand_descriptors = said->desc;
    wanted.remote = said->rma_iov;
    wanted.remotes = said->rma_iov_count;
    return on(it, [&](endpoint& one) { return begin(one, wanted, said_send(one, *said, flags)); });
}

ssize_t write_pieces(fid_ep* it, fi_ioc const* list, void** descriptors, std::size_t count, fi_addr_t to,
                     std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
    return usual(it,
                 {.type = type,
                  .op = op,
                  .how = form::plain,
                  .operand = list,
                  .operands = count,
                  .operand_descriptors = descriptors},
                 to, address, key, context);
}

ssize_t write(fid_ep* it, void const* buffer, std::size_t count, void* descriptor, fi_addr_t to, std::uint64_t address,
              std::uint64_t key, fi_datatype type, fi_op op, void* context) {
    fi_ioc const piece{const_cast<void*>(buffer), count};
    return write_pieces(it, &piece, &descriptor, 1, to, address, key, type, op, context);
}

ssize_t write_message(fid_ep* it, fi_msg_atomic const* said, std::uint64_t flags) {
    return as_said(it, said, {.type = {}, .op = {}, .how = form::plain}, flags);
}

ssize_t inject(fid_ep* it, void const* buffer, std::size_t count, fi_addr_t to, std::uint64_t address,
               std::uint64_t key, fi_datatype type, fi_op op) {
    fi_ioc const piece{const_cast<void*>(buffer), count};
    fi_rma_ioc const remote{address, count, key};
    asked const wanted{
        .type = type, .op = op, .how = form::plain, .operand = &piece, .operands = 1, .remote = &remote, .remotes = 1};
    return on(it, [&](endpoint& one) { return begin(one, wanted, injected(to)); });
}

ssize_t fetch_pieces(fid_ep* it, fi_ioc const* list, void** descriptors, std::size_t count, fi_ioc* result,
                     void** result_descriptors, std::size_t results, fi_addr_t to, std::uint64_t address,
                     std::uint64_t key, fi_datatype type, fi_op op, void* context) {
    return usual(it,
                 {.type = type,
                  .op = op,
                  .how = form::fetching,
                  .operand = list,
                  .operands = count,
                  .operand_descriptors = descriptors,
                  .result = result,
                  .results = results,
                  .result_descriptors = result_descriptors},
                 to, address, key, context);
}

ssize_t fetch(fid_ep* it, void const* buffer, std::size_t count, void* descriptor, void* result,
              void* result_descriptor, fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype type,
              fi_op op, void* context) {
    fi_ioc const piece{const_cast<void*>(buffer), count};
    fi_ioc there{result, count};
    return fetch_pieces(it, &piece, &descriptor, 1, &there, &result_descriptor, 1, to, address, key, type, op, context);
}

ssize_t fetch_message(fid_ep* it, fi_msg_atomic const* said, fi_ioc* result, void** result_descriptors,
                      std::size_t results, std::uint64_t flags) {
    return as_said(it, said,
                   {.type = {},
                    .op = {},
                    .how = form::fetching,
                    .result = result,
                    .results = results,
                    .result_descriptors = result_descriptors},
                   flags);
}

ssize_t compare_pieces(fid_ep* it, fi_ioc const* list, void** descriptors, std::size_t count, fi_ioc const* compare,
                       void** compare_descriptors, std::size_t compares, fi_ioc* result, void** result_descriptors,
                       std::size_t results, fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype type,
                       fi_op op, void* context) {
    return usual(it,
                 {.type = type,
                  .op = op,
                  .how = form::comparing,
                  .operand = list,
                  .operands = count,
                  .operand_descriptors = descriptors,
                  .compare = compare,
                  .compares = compares,
                  .compare_descriptors = compare_descriptors,
                  .result = result,
                  .results = results,
                  .result_descriptors = result_descriptors},
                 to, address, key, context);
}

ssize_t compare(fid_ep* it, void const* buffer, std::size_t count, void* descriptor, void const* compare,
                void* compare_descriptor, void* result, void* result_descriptor, fi_addr_t to, std::uint64_t address,
                std::uint64_t key, fi_datatype type, fi_op op, void* context) {
    fi_ioc const piece{const_cast<void*>(buffer), count}, other{const_cast<void*>(compare), count};
    fi_ioc there{result, count};
    return compare_pieces(it, &piece, &descriptor, 1, &other, &compare_descriptor, 1, &there, &result_descriptor, 1, to,
                          address, key, type, op, context);
}

ssize_t compare_message(fid_ep* it, fi_msg_atomic const* said, fi_ioc const* compare, void** compare_descriptors,
                        std::size_t compares, fi_ioc* result, void** result_descriptors, std::size_t results,
                        std::uint64_t flags) {
    return as_said(it, said,
                   {.type = {},
                    .op = {},
                    .how = form::comparing,
                    .compare = compare,
                    .compares = compares,
                    .compare_descriptors = compare_descriptors,
                    .result = result,
                    .results = results,
                    .result_descriptors = result_descriptors},
                   flags);
}

template <form How> int valid(fid_ep*, fi_datatype type, fi_op op, std::size_t* count) {
    if (!defined(type, op, How)) return -FI_EOPNOTSUPP;
    if (count) *count = most_atomic / size_of(type);
    return 0;
}

} // namespace

fi_ops_atomic atomic_ops{.size = sizeof(fi_ops_atomic),
                         .write = write,
                         .writev = write_pieces,
                         .writemsg = write_message,
                         .inject = inject,
                         .readwrite = fetch,
                         .readwritev = fetch_pieces,
                         .readwritemsg = fetch_message,
                         .compwrite = compare,
                         .compwritev = compare_pieces,
                         .compwritemsg = compare_message,
                         .writevalid = valid<form::plain>,
                         .readwritevalid = valid<form::fetching>,
                         .compwritevalid = valid<form::comparing>};

int query_atomic(fi_datatype type, fi_op op, fi_atomic_attr* about, std::uint64_t flags) {
    if (flags & FI_TAGGED) return -FI_EOPNOTSUPP; // on receives that wait: not offered
    constexpr std::uint64_t both = FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC;
    if (flags & ~both || (flags & both) == both) return -FI_EBADFLAGS;
    auto const how = flags & FI_FETCH_ATOMIC     ? form::fetching
                     : flags & FI_COMPARE_ATOMIC ? form::comparing
                                                 : form::plain;
    if (!defined(type, op, how)) return -FI_EOPNOTSUPP;
    if (about) *about = {most_atomic / size_of(type), size_of(type)};
    return 0;
}

} // namespace assay::ofi
