// Logical values other than 1.
#include "layers.hpp"

#include <atomic>
#include <climits>

using namespace assay_oddities;

namespace {

using value_of_true = int (*)();

// Argument N of these procedures is a flag.
template <std::size_t N, auto... P> void flags(value_of_true value) {
    auto const change = [value](int* flag) {
        if (*flag != 0) *flag = value();
    };
    (after<P, N>(change), ...);
}

// What a generalized request is made of: its cancel function gets a flag, too.
struct generalized {
    MPI_Grequest_query_function* query;
    MPI_Grequest_free_function* free;
    MPI_Grequest_cancel_function* cancel;
    void* state;
    value_of_true value;
};

int query(void* state, MPI_Status* status) {
    auto const& of = *static_cast<generalized*>(state);
    return of.query(of.state, status);
}
int cancel(void* state, int complete) {
    auto const& of = *static_cast<generalized*>(state);
    return of.cancel(of.state, complete != 0 ? of.value() : 0);
}
int release(void* state) {
    auto* const of = static_cast<generalized*>(state);
    int const code = of->free(of->state);
    delete of;
    return code;
}

void all_flags(value_of_true value) {
    flags<0, &PMPI_Initialized, &PMPI_Finalized, &PMPI_Is_thread_main>(value);
    flags<1, &PMPI_Test, &PMPI_Test_cancelled, &PMPI_Request_get_status, &PMPI_Comm_test_inter, &PMPI_Op_commutative,
          &PMPI_Win_test, &PMPI_File_get_atomicity>(value);
    flags<2, &PMPI_Testall>(value);
    flags<3, &PMPI_Testany, &PMPI_Iprobe, &PMPI_Improbe, &PMPI_Comm_get_attr, &PMPI_Type_get_attr, &PMPI_Win_get_attr,
          &PMPI_Attr_get, &PMPI_Info_get_valuelen, &PMPI_Dist_graph_neighbors_count>(value);
    flags<4, &PMPI_Info_get>(value);
#if ASSAY_MPI4
    flags<2, &PMPI_Parrived>(value);
    flags<4, &PMPI_Info_get_string>(value);
#endif
#if ASSAY_MPI41
    flags<2, &PMPI_Request_get_status_all>(value);
    flags<3, &PMPI_Request_get_status_any>(value);
#endif
    over<&PMPI_Cart_get>([value](auto rest, MPI_Comm comm, int room, int* dims, int* periods, int* coordinates) {
        int const code = rest(comm, room, dims, periods, coordinates);
        int count = 0;
        if (code == MPI_SUCCESS) PMPI_Cartdim_get(comm, &count);
        for (int d = 0; d < count && d < room; ++d)
            if (periods[d] != 0) periods[d] = value();
        return code;
    });
    over<&PMPI_Grequest_start>(
        [value](auto rest, auto* its_query, auto* its_free, auto* its_cancel, void* state, MPI_Request* request) {
            auto* const of = new generalized{its_query, its_free, its_cancel, state, value};
            int const code = rest(query, release, cancel, of, request);
            if (code != MPI_SUCCESS) delete of;
            return code;
        });
}

} // namespace

ODDITY(true_is_two) {
    all_flags([] { return 2; });
}
ODDITY(true_is_minus_one) {
    all_flags([] { return -1; });
}
ODDITY(true_varies) {
    all_flags([] {
        static constexpr int values[] = {256, -1, INT_MIN, 3, 65536, INT_MAX, 2};
        static std::atomic<unsigned> next{0};
        return values[next++ % 7];
    });
}
