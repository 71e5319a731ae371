// Intracommunicators derived from MPI_COMM_WORLD (MPI-5.0 sections 7.4.2 and 7.6.2).
#include "communicators/building.hpp"

namespace assay {
namespace {

register_communicator const dup{{
    .name = "dup",
    .title = "Duplicated MPI_COMM_WORLD",
    .note = "MPI_Comm_dup of MPI_COMM_WORLD (7.4.2)",
    .layout = same_as_world,
    .make =
        [] {
            MPI_Comm made = MPI_COMM_NULL;
            must(MPI_Comm_dup(MPI_COMM_WORLD, &made), "MPI_Comm_dup");
            return made;
        },
}};

register_communicator const dup_with_info{{
    .name = "dup_with_info",
    .note = "MPI_Comm_dup_with_info of MPI_COMM_WORLD, with a hint that no library knows (7.4.2)",
    .layout = same_as_world,
    .make =
        [] {
            MPI_Info info = MPI_INFO_NULL;
            must(MPI_Info_create(&info), "MPI_Info_create");
            // Unknown hints have to be ignored (chapter 10).
            must(MPI_Info_set(info, "assay_unknown_hint", "true"), "MPI_Info_set");
            MPI_Comm made = MPI_COMM_NULL;
            must(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made), "MPI_Comm_dup_with_info");
            must(MPI_Info_free(&info), "MPI_Info_free");
            return made;
        },
}};

register_communicator const idup{{
    .name = "idup",
    .note = "MPI_Comm_idup of MPI_COMM_WORLD, completed by MPI_Wait (7.4.2)",
    .layout = same_as_world,
    .make =
        [] {
            MPI_Comm made = MPI_COMM_NULL;
            MPI_Request request = MPI_REQUEST_NULL;
            must(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request), "MPI_Comm_idup");
            must(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
            return made;
        },
}};

register_communicator const reversed{{
    .name = "reversed",
    .title = "Reversed MPI_COMM_WORLD",
    .note = "MPI_Comm_split of MPI_COMM_WORLD with descending keys (7.4.2)",
    .layout = [](int np, int world_rank) { return membership{.rank = np - 1 - world_rank, .size = np}; },
    .make = [] { return split(0, -world_rank()); },
}};

register_communicator const halved{{
    .name = "halved",
    .title = "Halved MPI_COMM_WORLD",
    .note = "MPI_Comm_split into the lower and the upper half of the ranks; an odd rank goes to the upper (7.4.2)",
    .layout =
        [](int np, int world_rank) {
            int const half = half_of(np);
            return world_rank < half ? membership{.rank = world_rank, .size = half, .color = 0}
                                     : membership{.rank = world_rank - half, .size = np - half, .color = 1};
        },
    .make = [] { return split(world_rank() < half_of(world_size()) ? 0 : 1, world_rank()); },
}};

register_communicator const odd_even{{
    .name = "odd_even",
    .title = "Odd/Even split MPI_COMM_WORLD",
    .note = "MPI_Comm_split into even and odd ranks; equal keys keep the old order (7.4.2)",
    .layout =
        [](int np, int world_rank) {
            int const color = world_rank % 2;
            return membership{.rank = world_rank / 2, .size = (np + 1 - color) / 2, .color = color};
        },
    .make = [] { return split(world_rank() % 2, 0); },
}};

// Which ranks share memory is the machine's business. The layout holds for a job on one host; on several hosts the
// library's answer differs from it, rightly, and cases must be planned without this communicator.
register_communicator const split_type_shared{{
    .name = "split_type_shared",
    .note = "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED; predicted for one host only (7.4.2)",
    .layout = same_as_world,
    .make =
        [] {
            MPI_Comm made = MPI_COMM_NULL;
            must(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank(), MPI_INFO_NULL, &made),
                 "MPI_Comm_split_type");
            return made;
        },
}};

// A group of the one world rank `only`, or (negative) of all world ranks but rank 0.
class scoped_group {
public:
    explicit scoped_group(int only) {
        MPI_Group world_group = MPI_GROUP_NULL;
        must(MPI_Comm_group(MPI_COMM_WORLD, &world_group), "MPI_Comm_group");
        int const zero = 0;
        int const code =
            only >= 0 ? MPI_Group_incl(world_group, 1, &only, &group_) : MPI_Group_excl(world_group, 1, &zero, &group_);
        MPI_Group_free(&world_group);
        must(code, only >= 0 ? "MPI_Group_incl" : "MPI_Group_excl");
    }
    ~scoped_group() { MPI_Group_free(&group_); }
    scoped_group(scoped_group const&) = delete;
    scoped_group& operator=(scoped_group const&) = delete;
    operator MPI_Group() const { return group_; }

private:
    MPI_Group group_ = MPI_GROUP_NULL;
};

// Rank 0 is left out, so that no member has the same rank as in MPI_COMM_WORLD.
register_communicator const create_group{{
    .name = "create_group",
    .note = "MPI_Comm_create_group of all ranks but 0; only its members call it (7.4.2)",
    .lacks = needs_ranks(2),
    .layout =
        [](int np, int world_rank) {
            return world_rank == 0 ? not_a_member() : membership{.rank = world_rank - 1, .size = np - 1};
        },
    .make =
        [] {
            MPI_Comm made = MPI_COMM_NULL;
            if (world_rank() == 0) return made;
            scoped_group const members(-1);
            must(MPI_Comm_create_group(MPI_COMM_WORLD, members, 12, &made), "MPI_Comm_create_group");
            return made;
        },
}};

register_communicator const single{{
    .name = "single",
    .note = "MPI_Comm_create of a group with only the last rank; all ranks call it (7.4.2)",
    .layout = [](int np,
                 int world_rank) { return world_rank == np - 1 ? membership{.rank = 0, .size = 1} : not_a_member(); },
    .make =
        [] {
            scoped_group const member(world_size() - 1);
            MPI_Comm made = MPI_COMM_NULL;
            must(MPI_Comm_create(MPI_COMM_WORLD, member, &made), "MPI_Comm_create");
            return made;
        },
}};

// The lower half is told to come second: every rank differs from its rank in MPI_COMM_WORLD.
register_communicator const merged{{
    .name = "merged",
    .title = "Intracomm merged of the Halved Intercomm",
    .note = "MPI_Intercomm_merge of inter_halved, the upper half first (7.6.2)",
    .lacks = needs_ranks(2),
    .layout =
        [](int np, int world_rank) {
            int const half = half_of(np);
            return membership{.rank = world_rank < half ? world_rank + np - half : world_rank - half, .size = np};
        },
    .make =
        [] {
            int const high = world_rank() < half_of(world_size());
            scoped_comm const halves(make_inter_halved(false));
            MPI_Comm made = MPI_COMM_NULL;
            must(MPI_Intercomm_merge(halves, high, &made), "MPI_Intercomm_merge");
            return made;
        },
}};

} // namespace
} // namespace assay
