// Intercommunicators (MPI-5.0 section 7.6.2).
#include "communicators/building.hpp"

namespace assay {
namespace {

register_communicator const inter_zero_rest{{
    .name = "inter_zero_rest",
    .title = "Zero-and-Rest Intercomm",
    .note = "MPI_Intercomm_create of rank 0 and of all others (7.6.2)",
    .kind = comm_kind::inter,
    .lacks = needs_ranks(2),
    .layout =
        [](int np, int world_rank) {
            return world_rank == 0 ? membership{.rank = 0, .size = 1, .remote_size = np - 1, .side = 0}
                                   : membership{.rank = world_rank - 1, .size = np - 1, .remote_size = 1, .side = 1};
        },
    .make =
        [] {
            bool const zero = world_rank() == 0;
            scoped_comm const local(split(zero ? 0 : 1, world_rank()));
            MPI_Comm made = MPI_COMM_NULL;
            must(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, zero ? 1 : 0, 11, &made), "MPI_Intercomm_create");
            return made;
        },
}};

membership place_in_halves(int np, int world_rank) {
    int const lower = half_of(np), upper = np - lower;
    return world_rank < lower ? membership{.rank = world_rank, .size = lower, .remote_size = upper, .side = 0}
                              : membership{.rank = world_rank - lower, .size = upper, .remote_size = lower, .side = 1};
}

register_communicator const inter_halved{{
    .name = "inter_halved",
    .title = "Halved Intercomm",
    .note = "MPI_Intercomm_create of the lower and the upper half of the ranks (7.6.2)",
    .kind = comm_kind::inter,
    .lacks = needs_ranks(2),
    .layout = place_in_halves,
    .make = [] { return make_inter_halved(false); },
}};

register_communicator const inter_reversed{{
    .name = "inter_reversed",
    .note = "MPI_Intercomm_create of the two halves, each ranked from its highest world rank down (7.6.2)",
    .kind = comm_kind::inter,
    .lacks = needs_ranks(2),
    .layout =
        [](int np, int world_rank) {
            auto place = place_in_halves(np, world_rank);
            place.rank = place.size - 1 - place.rank;
            return place;
        },
    .make = [] { return make_inter_halved(true); },
}};

} // namespace
} // namespace assay
