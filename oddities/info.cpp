// Info objects and hints.
#include "layers.hpp"

using namespace assay_oddities;

namespace {

// P returns in its second argument hints of the library itself, too.
template <auto P> void more_hints() {
    after<P, 1>([](MPI_Info* info) {
        PMPI_Info_set(*info, "assay_odd_protocol", "pigeon");
        PMPI_Info_set(*info, "assay_odd_wingspan", "");
    });
}

// The info object that is argument N of these procedures is not looked at.
template <std::size_t N, auto... P> void ignore_hints() {
    auto const one = []<auto Q>() {
        over<Q>([](auto rest, auto... a) {
            std::get<N>(std::tie(a...)) = MPI_INFO_NULL;
            return rest(a...);
        });
    };
    (one.template operator()<P>(), ...);
}

// The same where no info object at all is an error: an empty one takes its place.
template <auto P> void set_nothing() {
    over<P>([](auto rest, auto object, MPI_Info info) {
        if (info == MPI_INFO_NULL) return rest(object, info);
        MPI_Info none = MPI_INFO_NULL;
        PMPI_Info_create(&none);
        int const code = rest(object, none);
        PMPI_Info_free(&none);
        return code;
    });
}

} // namespace

ODDITY(comm_hints_more) { more_hints<&PMPI_Comm_get_info>(); }
ODDITY(win_hints_more) { more_hints<&PMPI_Win_get_info>(); }
ODDITY(file_hints_more) { more_hints<&PMPI_File_get_info>(); }

ODDITY(comm_hints_ignored) {
    set_nothing<&PMPI_Comm_set_info>();
    ignore_hints<1, &PMPI_Comm_dup_with_info>();
    ignore_hints<6, &PMPI_Dist_graph_create>();
    ignore_hints<7, &PMPI_Dist_graph_create_adjacent>();
#if ASSAY_MPI4
    ignore_hints<1, &PMPI_Comm_idup_with_info>();
#endif
}

ODDITY(win_hints_ignored) {
    set_nothing<&PMPI_Win_set_info>();
    ignore_hints<3, &PMPI_Win_create>();
    ignore_hints<2, &PMPI_Win_allocate>();
    ignore_hints<0, &PMPI_Win_create_dynamic>();
}

ODDITY(file_hints_ignored) {
    set_nothing<&PMPI_File_set_info>();
    ignore_hints<3, &PMPI_File_open>();
    ignore_hints<5, &PMPI_File_set_view>();
}

ODDITY(keys_reversed) {
    over<&PMPI_Info_get_nthkey>([](auto rest, MPI_Info info, int n, char* name) {
        int count = 0;
        if (info == MPI_INFO_NULL || PMPI_Info_get_nkeys(info, &count) != MPI_SUCCESS || n < 0 || n >= count)
            return rest(info, n, name);
        return rest(info, count - 1 - n, name);
    });
}
