// Reductions whose exact result every rank can compute (MPI-5.0 sections 6.9.1 to 6.9.5, 12.3.4): the operations, the
// datatypes they are defined for, operands and results.
//
// Operands are small or spread such that the result does not depend on the order of evaluation, nothing overflows, and
// all sums and products of floating-point numbers are exact. Each op has operands of its own, so that a contribution
// that is lost, another operation or a comparison by another signedness shows within a few elements a contributor.
#pragma once
#include "framework/mpi/catalogues.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace assay {

enum class op_kind {
    max,
    min,
    sum,
    prod,
    land,
    band,
    lor,
    bor,
    lxor,
    bxor,
    maxloc,
    minloc, // section 6.9.2
    replace,
    no_op,   // only for accumulates (section 12.3.4): the last and the first contribution
    quadsum, // ours, commutative: the sum of the squares of all contributions
    affine,  // ours, associative but not commutative: composition of maps x -> a*x + b
};

struct operation {
    op_kind kind;
    MPI_Op (*handle)(); // nullptr for our own; those are made by make_user_op
    bool predefined() const { return handle != nullptr; }
    bool for_collectives() const { return kind != op_kind::replace && kind != op_kind::no_op; }
    bool for_accumulates() const { return predefined(); }
};
axis<operation> const& operations(); // `op`

// Whether the standard defines the operation for a datatype. Derived datatypes: only accumulates take them with
// predefined operations, and only if all their basic components are the same; our own operations take all.
bool defined_for(operation const& op, datatype const& type);
constraint defined_operation();

// The operands and results of one reduction of elements of `type`, in which `contributors` processes take part.
class reduction {
public:
    reduction(operation const& op, datatype const& type, std::uint64_t key, int contributors)
        : op_(op.kind), type_(type), key_(key), contributors_(contributors) {}

    // The packed stream of elements [first, first + n) of what contributor `who` brings.
    std::vector<unsigned char> operand(int who, std::size_t first, std::size_t n) const {
        return result({&who, 1}, first, n);
    }
    // The same of the result over a list of contributors, in the order of the list.
    std::vector<unsigned char> result(std::span<int const> who, std::size_t first, std::size_t n) const;

private:
    op_kind op_;
    datatype const& type_;
    std::uint64_t key_;
    int contributors_;
};

// inout[i] = in[i] op inout[i] for `n` elements that lie in memory as `map` says: what the function of a user-defined
// operation does. Gaps are not touched.
void apply(op_kind op, layout const& map, void const* in, void* inout, std::size_t n);

} // namespace assay
