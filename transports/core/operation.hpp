// What atomic operations do with memory: every operation on every type that fi_atomic(3) names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <rdma/fi_domain.h>

namespace assay::ofi {

// How an operation is asked for: without a result, with one, or with one and something to compare with.
enum class form : std::uint8_t { plain, fetching, comparing };

// Of one element; 0: no such type.
std::size_t size_of(fi_datatype type);

// Whether the operation is one of that form, and there is such a thing for the type.
bool defined(fi_datatype type, fi_op op, form how);

// What has to be allowed at the target: FI_REMOTE_READ, FI_REMOTE_WRITE.
std::uint64_t needed_access(fi_op op, form how);

// Operates on `count` elements of `target`, which need not be aligned, and writes what stood there before to `result`, if there is
// one. `operand` is null for FI_ATOMIC_READ, `compare` for all that do not compare. Not torn by others of this process.
void perform(fi_datatype type, fi_op op, std::size_t count, std::byte* target, std::byte const* operand,
             std::byte const* compare, std::byte* result);

} // namespace assay::ofi
