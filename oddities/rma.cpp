// Windows.
#include "layers.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <vector>

using namespace assay_oddities;

namespace {

std::mutex lock;
std::map<std::size_t, std::vector<std::function<int()>>> pending; // operations of a window that have not begun

int begin_pending(MPI_Win win) {
    std::vector<std::function<int()>> all;
    {
        std::lock_guard const guard(lock);
        all.swap(pending[key(win)]);
    }
    int worst = MPI_SUCCESS;
    for (auto const& operation : all)
        if (int const code = operation(); code != MPI_SUCCESS) worst = code;
    return worst;
}

// These end an epoch or complete operations of the window that is their last argument.
template <auto... P> void synchronizations() {
    (always_over<P>([](auto rest, auto... a) {
         int const code = begin_pending(std::get<sizeof...(a) - 1>(std::tie(a...)));
         int const own = rest(a...);
         return code != MPI_SUCCESS ? code : own;
     }),
     ...);
}

void follow_synchronizations() {
    static bool done = false;
    if (std::exchange(done, true)) return;
    synchronizations<&PMPI_Win_fence, &PMPI_Win_complete, &PMPI_Win_unlock, &PMPI_Win_unlock_all, &PMPI_Win_flush,
                     &PMPI_Win_flush_all, &PMPI_Win_flush_local, &PMPI_Win_flush_local_all>();
}

// What is certainly wrong is the library's to refuse, at once.
bool plausible(int count, MPI_Datatype type, int rank, MPI_Aint displacement, int target_count, MPI_Datatype target,
               MPI_Win win) {
    MPI_Group group = MPI_GROUP_NULL;
    int size = 0;
    if (count <= 0 || target_count <= 0 || rank < 0 || displacement < 0 || type == MPI_DATATYPE_NULL ||
        target == MPI_DATATYPE_NULL || win == MPI_WIN_NULL || PMPI_Win_get_group(win, &group) != MPI_SUCCESS)
        return false;
    PMPI_Group_size(group, &size);
    PMPI_Group_free(&group);
    return rank < size;
}

// P is called later. The datatypes may be freed meanwhile.
template <auto P> void postpone() {
    follow_synchronizations();
    over<P>([](auto rest, auto* origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement, int target_count,
               MPI_Datatype target, MPI_Win win) {
        if (!plausible(count, type, rank, displacement, target_count, target, win))
            return rest(origin, count, type, rank, displacement, target_count, target, win);
        MPI_Datatype own = MPI_DATATYPE_NULL, other = MPI_DATATYPE_NULL;
        PMPI_Type_dup(type, &own);
        PMPI_Type_dup(target, &other);
        std::lock_guard const guard(lock);
        pending[key(win)].push_back([=]() mutable {
            int const code = rest(origin, count, own, rank, displacement, target_count, other, win);
            PMPI_Type_free(&own);
            PMPI_Type_free(&other);
            return code;
        });
        return int{MPI_SUCCESS};
    });
}

template <auto... P> void ignore_assertion() {
    (over<P>([](auto rest, auto... a) {
         std::get<sizeof...(a) - 2>(std::tie(a...)) = 0; // it stands before the window
         return rest(a...);
     }),
     ...);
}

} // namespace

ODDITY(puts_late) { postpone<&PMPI_Put>(); }
ODDITY(gets_late) { postpone<&PMPI_Get>(); }

ODDITY(locks_acquire) {
    over<&PMPI_Win_lock>([](auto rest, int type, int rank, int assertion, MPI_Win win) {
        int const code = rest(type, rank, assertion, win);
        bool const proper = (type == MPI_LOCK_EXCLUSIVE || type == MPI_LOCK_SHARED) && rank >= 0;
        return code == MPI_SUCCESS && proper ? PMPI_Win_flush(rank, win) : code;
    });
    over<&PMPI_Win_lock_all>([](auto rest, int assertion, MPI_Win win) {
        int const code = rest(assertion, win);
        return code == MPI_SUCCESS ? PMPI_Win_flush_all(win) : code;
    });
}

ODDITY(assertions_ignored) {
    ignore_assertion<&PMPI_Win_fence, &PMPI_Win_post, &PMPI_Win_start, &PMPI_Win_lock, &PMPI_Win_lock_all>();
}
