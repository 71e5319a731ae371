// Collective operations.
#include "layers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

using namespace assay_oddities;

namespace {

// `what(rest, comm, arguments…)` stands in front of all blocking collective operations with data. The communicator is their last argument.
template <class What> void blocking_collectives(What what) {
    auto const over_each = [what]<auto... P>() {
        (over<P>([what](auto rest, auto... a) { return what(rest, std::get<sizeof...(a) - 1>(std::tie(a...)), a...); }),
         ...);
    };
    over_each.template
    operator()<&PMPI_Bcast, &PMPI_Gather, &PMPI_Gatherv, &PMPI_Scatter, &PMPI_Scatterv, &PMPI_Allgather,
               &PMPI_Allgatherv, &PMPI_Alltoall, &PMPI_Alltoallv, &PMPI_Alltoallw, &PMPI_Reduce, &PMPI_Allreduce,
               &PMPI_Reduce_scatter, &PMPI_Reduce_scatter_block, &PMPI_Scan, &PMPI_Exscan>();
#if MPI_VERSION >= 4
    over_each.template
    operator()<&PMPI_Bcast_c, &PMPI_Gather_c, &PMPI_Gatherv_c, &PMPI_Scatter_c, &PMPI_Scatterv_c, &PMPI_Allgather_c,
               &PMPI_Allgatherv_c, &PMPI_Alltoall_c, &PMPI_Alltoallv_c, &PMPI_Alltoallw_c, &PMPI_Reduce_c,
               &PMPI_Allreduce_c, &PMPI_Reduce_scatter_c, &PMPI_Reduce_scatter_block_c, &PMPI_Scan_c, &PMPI_Exscan_c>();
#endif
}

template <auto... P> void constructors() {
    (over<P>([](auto rest, MPI_Comm comm, auto... a) {
         if (comm != MPI_COMM_NULL) PMPI_Barrier(comm);
         return rest(comm, a...);
     }),
     ...);
}

// ---- User-defined operators

// MPI_Op_create takes a function without state, so there is one for each entry of a table.
struct user_operator {
    MPI_User_function* function = nullptr;
    bool commutes = false;
};
std::mutex lock;
std::array<user_operator, 64> operators;

void evaluate(user_operator const& of, void* in, void* inout, int* count, MPI_Datatype* type) {
    MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    int size = 0;
    PMPI_Type_get_extent(*type, &lb, &extent);
    PMPI_Type_get_true_extent(*type, &true_lb, &true_extent);
    PMPI_Type_size(*type, &size);
    bool const plain = true_lb == 0 && extent == size && true_extent == size; // no gaps that a copy would overwrite
    auto const call = [&](char* a, char* b, int n) {
        if (!is_on(oddity::operators_swapped) || !of.commutes || !plain) return of.function(a, b, &n, type);
        auto const bytes = static_cast<std::size_t>(extent) * static_cast<std::size_t>(n);
        // As aligned as what the library has: of the type long double at most.
        std::vector<long double> first(bytes / sizeof(long double) + 1), second(first.size());
        std::memcpy(first.data(), b, bytes);
        std::memcpy(second.data(), a, bytes);
        of.function(first.data(), second.data(), &n, type);
        std::memcpy(b, second.data(), bytes);
    };
    auto* const a = static_cast<char*>(in);
    auto* const b = static_cast<char*>(inout);
    if (!is_on(oddity::operators_by_elements)) return call(a, b, *count);
    for (int k = 0; k < *count; ++k) call(a + k * extent, b + k * extent, 1);
}

template <std::size_t N> void entry(void* in, void* inout, int* count, MPI_Datatype* type) {
    evaluate(operators[N], in, inout, count, type);
}

constexpr auto entries = []<std::size_t... N>(std::index_sequence<N...>) {
    return std::array<MPI_User_function*, sizeof...(N)>{entry<N>...};
}
(std::make_index_sequence<64>());

void follow_operators() {
    static bool done = false;
    if (std::exchange(done, true)) return;
    always_over<&PMPI_Op_create>([](auto rest, MPI_User_function* function, int commutes, MPI_Op* op) {
        if (function == nullptr) return rest(function, commutes, op);
        std::lock_guard const guard(lock);
        for (std::size_t n = 0; n < operators.size(); ++n) {
            auto& one = operators[n];
            bool const same = one.function == function && one.commutes == (commutes != 0);
            if (one.function != nullptr && !same) continue;
            one = {function, commutes != 0};
            return rest(entries[n], commutes, op);
        }
        return rest(function, commutes, op);
    });
}

} // namespace

ODDITY(collectives_synchronize) {
    blocking_collectives([](auto rest, MPI_Comm comm, auto... a) {
        if (comm != MPI_COMM_NULL) PMPI_Barrier(comm);
        return rest(a...);
    });
}

ODDITY(constructors_synchronize) {
    constructors<&PMPI_Comm_dup, &PMPI_Comm_split, &PMPI_Comm_create, &PMPI_Comm_dup_with_info, &PMPI_Comm_split_type,
                 &PMPI_Cart_create, &PMPI_Graph_create, &PMPI_Cart_sub, &PMPI_Dist_graph_create,
                 &PMPI_Dist_graph_create_adjacent, &PMPI_Intercomm_merge, &PMPI_File_open>();
}

ODDITY(collectives_left_late) {
    blocking_collectives([](auto rest, MPI_Comm comm, auto... a) {
        static std::atomic<unsigned> calls{0};
        int rank = 0;
        int const code = rest(a...);
        if (code == MPI_SUCCESS && ++calls % 3 == 0) PMPI_Comm_rank(comm, &rank);
        if (rank % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return code;
    });
}

ODDITY(operators_by_elements) { follow_operators(); }

ODDITY(operators_swapped) { follow_operators(); }
