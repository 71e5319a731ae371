// What several families share: the halves of MPI_COMM_WORLD, memberships, a reason to lack.
#pragma once
#include "communicators/catalogue.hpp"

#include <fmt/core.h>
#include <string>

namespace assay {

inline int world_rank() {
    int rank = 0;
    must(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    return rank;
}

inline int world_size() {
    int size = 0;
    must(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    return size;
}

// For `lacks`: nothing but a smallest number of ranks.
inline auto needs_ranks(int least) {
    return [least](job const& j) {
        return j.np >= least ? std::string() : fmt::format("needs at least {} ranks; this job has {}", least, j.np);
    };
}

// A duplicate of MPI_COMM_WORLD in all but context.
inline membership same_as_world(int np, int world_rank) { return {.rank = world_rank, .size = np}; }

inline membership not_a_member() { return {.member = false, .rank = 0, .size = 0}; }

// Ranks below half_of(np) are the lower half. An odd rank more goes to the upper half, so that no half is empty from
// 2 ranks on; of a single rank the lower half is empty.
inline int half_of(int np) { return np / 2; }

inline MPI_Comm split(int color, int key, MPI_Comm from = MPI_COMM_WORLD) {
    MPI_Comm made = MPI_COMM_NULL;
    must(MPI_Comm_split(from, color, key, &made), "MPI_Comm_split");
    return made;
}

// Frees an intermediate communicator at the end of a recipe, also when a later step of the recipe throws.
class scoped_comm {
public:
    explicit scoped_comm(MPI_Comm comm) : comm_(comm) {}
    ~scoped_comm() {
        if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    }
    scoped_comm(scoped_comm const&) = delete;
    scoped_comm& operator=(scoped_comm const&) = delete;
    operator MPI_Comm() const { return comm_; }

private:
    MPI_Comm comm_;
};

// The intercommunicator of the two halves. With `reversed` each group is ranked from its highest world rank down.
inline MPI_Comm make_inter_halved(bool reversed) {
    int const np = world_size(), me = world_rank(), half = half_of(np);
    bool const lower = me < half;
    scoped_comm const local(split(lower ? 0 : 1, reversed ? np - me : me));
    // Rank 0 of the other group, as a rank of MPI_COMM_WORLD.
    int const first_of_lower = reversed ? half - 1 : 0, first_of_upper = reversed ? np - 1 : half;
    MPI_Comm made = MPI_COMM_NULL;
    must(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, lower ? first_of_upper : first_of_lower, 11, &made),
         "MPI_Intercomm_create");
    return made;
}

} // namespace assay
