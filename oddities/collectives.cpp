// Collective operations.
#include "layers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

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

// How functions of the user are called: for one element at a time, or with their arguments the other way round.
enum class evaluation { by_elements, swapped };

template <class Function> struct function_of;
template <class Count> struct function_of<void(void*, void*, Count*, MPI_Datatype*)> { using count = Count; };

// MPI_Op_create takes a function without state, so there is one for each entry of a table.
template <class Function> struct user_operator {
    Function* function = nullptr;
    bool commutes = false;
};
std::mutex lock;
template <evaluation How, class Function> std::array<user_operator<Function>, 64> operators;

template <evaluation How, class Function, class Count>
void evaluate(user_operator<Function> const& of, char* a, char* b, Count count, MPI_Datatype* type) {
    MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    int size = 0;
    PMPI_Type_get_extent(*type, &lb, &extent);
    PMPI_Type_get_true_extent(*type, &true_lb, &true_extent);
    PMPI_Type_size(*type, &size);
    if constexpr (How == evaluation::by_elements) {
        Count one = 1;
        for (Count k = 0; k < count; ++k) of.function(a + k * extent, b + k * extent, &one, type);
        return;
    }
    bool const plain = true_lb == 0 && extent == size && true_extent == size; // no gaps that a copy would overwrite
    if (!of.commutes || !plain) return of.function(a, b, &count, type);
    auto const bytes = static_cast<std::size_t>(extent) * static_cast<std::size_t>(count);
    // As aligned as what the library has: of the type long double at most.
    std::vector<long double> first(bytes / sizeof(long double) + 1), second(first.size());
    std::memcpy(first.data(), b, bytes);
    std::memcpy(second.data(), a, bytes);
    of.function(first.data(), second.data(), &count, type);
    std::memcpy(b, second.data(), bytes);
}

template <evaluation How, class Function, std::size_t N>
void entry(void* in, void* inout, typename function_of<Function>::count* count, MPI_Datatype* type) {
    evaluate<How>(operators<How, Function>[N], static_cast<char*>(in), static_cast<char*>(inout), *count, type);
}

template <evaluation How, class Function, std::size_t... N> constexpr auto entries_of(std::index_sequence<N...>) {
    return std::array<Function*, sizeof...(N)>{entry<How, Function, N>...};
}

// Functions that are given to MPI_Op_create are called through an entry of a table. When the table is full, they are called as they are.
template <evaluation How, class Function, auto P> void call_operators() {
    over<P>([](auto rest, Function* function, int commutes, MPI_Op* op) {
        static constexpr auto entries = entries_of<How, Function>(std::make_index_sequence<64>());
        if (function == nullptr) return rest(function, commutes, op);
        Function* called = function;
        {
            std::lock_guard const guard(lock);
            for (std::size_t n = 0; n < entries.size() && called == function; ++n) {
                auto& one = operators<How, Function>[n];
                bool const same = one.function == function && one.commutes == (commutes != 0);
                if (one.function != nullptr && !same) continue;
                one = {function, commutes != 0};
                called = entries[n];
            }
        }
        return rest(called, commutes, op);
    });
}

template <evaluation How> void all_operators() {
    call_operators<How, MPI_User_function, &PMPI_Op_create>();
#if MPI_VERSION >= 4
    call_operators<How, MPI_User_function_c, &PMPI_Op_create_c>();
#endif
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

ODDITY(operators_by_elements) { all_operators<evaluation::by_elements>(); }

ODDITY(operators_swapped) { all_operators<evaluation::swapped>(); }
