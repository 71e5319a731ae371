// Addresses (MPI-5.0 sections 5.1.5 and 5.1.12).
#include "suites/datatype/recipe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <vector>

using namespace assay;
using namespace assay::types;

ASSAY_TEST(datatype, get_address, requirements{"datatype.get_address", "datatype.address.array"}, thread_safe{}) {
    struct {
        char c[3];
        double d[100];
        short s;
    } some{};
    static int fixed = 0;
    std::vector<int> heap(5);
    MPI_Aint base = -7, at = -7;
    mpi.ok(MPI_Get_address(&some, &base));
    auto const distance = [&](void const* where, std::int64_t expected, char const* what) {
        at = -7;
        mpi.ok(MPI_Get_address(where, &at));
        equal(mpi, fmt::format("the distance of {}", what), MPI_Aint_diff(at, base), expected);
        equal(mpi, fmt::format("the distance back from {}", what), MPI_Aint_diff(base, at), -expected);
        mpi.check(MPI_Aint_add(base, expected) == at, finding::value,
                  fmt::format("MPI_Aint_add does not lead to {}", what));
        mpi.check(MPI_Aint_add(at, -expected) == base, finding::value,
                  fmt::format("MPI_Aint_add does not lead back from {}", what));
    };
    auto const* const first = reinterpret_cast<char const*>(&some);
    distance(&some, 0, "the start");
    for (int i : {0, 1, 57, 99})
        distance(&some.d[i], reinterpret_cast<char const*>(&some.d[i]) - first, "an element of an array");
    distance(&some.s, reinterpret_cast<char const*>(&some.s) - first, "a member");
    distance(some.c + 1, 1, "a char");
    // The byte address, in the flat address space of all machines that these libraries run on.
    for (auto const* where :
         {static_cast<void const*>(&fixed), static_cast<void const*>(heap.data()), static_cast<void const*>(&some)}) {
        MPI_Aint absolute = -7;
        mpi.ok(MPI_Get_address(where, &absolute));
        mpi.check(absolute == reinterpret_cast<MPI_Aint>(where), finding::value,
                  fmt::format("MPI_Get_address gives {:#x} for the address {}", absolute, where));
    }
}

// Arithmetic on addresses is unsigned underneath: it works across the sign bit of MPI_Aint.
ASSAY_TEST(datatype, aint_arithmetic, requirements{"datatype.aint_add", "datatype.aint_diff"}, thread_safe{}) {
    constexpr auto top = std::numeric_limits<MPI_Aint>::max(), bottom = std::numeric_limits<MPI_Aint>::min();
    struct row {
        MPI_Aint base, displacement, sum;
    };
    for (auto const& r : {row{0, 0, 0}, row{1000, 24, 1024}, row{1000, -1000, 0}, row{8, -24, -16}, row{top, 1, bottom},
                          row{bottom, -1, top}, row{top - 7, 16, bottom + 8},
                          row{MPI_Aint{1} << 40, MPI_Aint{1} << 41, MPI_Aint{3} << 40},
                          row{5, MPI_Aint{1} << 32, (MPI_Aint{1} << 32) + 5}}) {
        equal(mpi, fmt::format("MPI_Aint_add({}, {})", r.base, r.displacement), MPI_Aint_add(r.base, r.displacement),
              r.sum);
        equal(mpi, fmt::format("MPI_Aint_diff({}, {})", r.sum, r.base), MPI_Aint_diff(r.sum, r.base), r.displacement);
    }
}

// Variables that belong to no array, in one message.
ASSAY_TEST(datatype, bottom, requirements{"datatype.bottom", "datatype.bottom.scattered"}, over(axis_use{&bindings()}),
           thread_safe{}) {
    static int fixed[2];
    std::vector<double> heap(3);
    short local = 0;
    int fixed_source[2] = {3, -4};
    double heap_source[3] = {0.5, -0.25, 8};
    short local_source = 77;
    std::fill(fixed, fixed + 2, -7);
    auto const make = [&](int* i, double* d, short* s) {
        MPI_Datatype const old[3] = {MPI_INT, MPI_DOUBLE, MPI_SHORT};
        MPI_Aint at[3] = {0, 0, 0};
        int const lengths[3] = {2, 3, 1};
        mpi.ok(MPI_Get_address(i, &at[0]));
        mpi.ok(MPI_Get_address(d, &at[1]));
        mpi.ok(MPI_Get_address(s, &at[2]));
        MPI_Datatype made = MPI_DATATYPE_NULL;
        if (mpi.at(bindings()) == binding::large) {
            MPI_Count const where[3] = {at[0], at[1], at[2]}, n[3] = {2, 3, 1};
            mpi.ok(MPI_Type_create_struct_c(3, n, where, old, &made));
        } else {
            mpi.ok(MPI_Type_create_struct(3, lengths, at, old, &made));
        }
        if (made != MPI_DATATYPE_NULL) mpi.ok(MPI_Type_commit(&made));
        return made;
    };
    own_type const out(make(fixed_source, heap_source, &local_source)), in(make(fixed, heap.data(), &local));
    if (out == MPI_DATATYPE_NULL || in == MPI_DATATYPE_NULL) return;
    auto status = poisoned_status();
    mpi.ok(MPI_Sendrecv(MPI_BOTTOM, 1, out, 0, mpi.tag(), MPI_BOTTOM, 1, in, 0, mpi.tag(), MPI_COMM_SELF, &status));
    mpi.expect(status).count(1, in, 2 * sizeof(int) + 3 * sizeof(double) + sizeof(short));
    mpi.check(std::equal(fixed, fixed + 2, fixed_source) && std::equal(heap.begin(), heap.end(), heap_source) &&
                  local == local_source,
              finding::data,
              fmt::format("got {}, {}, {}, {}, {}, {}, expected 3, -4, 0.5, -0.25, 8, 77", fixed[0], fixed[1], heap[0],
                          heap[1], heap[2], local));
}
