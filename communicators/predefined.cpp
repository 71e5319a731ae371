// The predefined communicators (MPI-5.0 section 7.2.4) and the null handle.
#include "communicators/building.hpp"

namespace assay {
namespace {

register_communicator const world{{
    .name = "world",
    .title = "MPI_COMM_WORLD",
    .note = "MPI_COMM_WORLD",
    .layout = same_as_world,
    .make = [] { return MPI_COMM_WORLD; },
    .predefined = true,
}};

// Nothing can be sent on it: what a test does with it is refusal. No rank is a member.
register_communicator const null{{
    .name = "null",
    .title = "MPI_COMM_NULL",
    .note = "MPI_COMM_NULL, the invalid handle",
    .kind = comm_kind::null,
    .layout = [](int, int) { return not_a_member(); },
    .make = [] { return MPI_COMM_NULL; },
    .predefined = true,
}};

register_communicator const self{{
    .name = "self",
    .title = "MPI_COMM_SELF",
    .note = "MPI_COMM_SELF: as many communicators as ranks, each with one",
    .layout = [](int, int world_rank) { return membership{.rank = 0, .size = 1, .color = world_rank}; },
    .make = [] { return MPI_COMM_SELF; },
    .predefined = true,
}};

} // namespace
} // namespace assay
