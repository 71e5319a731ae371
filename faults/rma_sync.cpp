// Epochs of windows: what begins, completes and ends them. Each wrapper goes straight to PMPI when no fault of rma_sync.toml is
// planted, but for what is known of windows and for accesses that other faults hold back.
#include "core/windows.hpp"

#include <algorithm>
#include <numeric>
#include <unistd.h>

using namespace assay_faults;

namespace {

// What the last epoch of each kind leaves: accesses that the next synchronization is to forget.
bool drops(int assertion) {
    return (is(fault::fence_asserts_drop) && assertion != 0) ||
           (is(fault::fence_nosucceed_drops) && (assertion & MPI_MODE_NOSUCCEED) != 0) ||
           (is(fault::fence_nostore_drops) && (assertion & MPI_MODE_NOSTORE) != 0);
}

memory<bool> locked_without_check, tested_false, waiting;
memory<int> flushes;

// A byte of the window of this process becomes another one.
void spoil_window(MPI_Win win) {
    auto const& facts = known(win);
    if (facts.size > 0) spoil(facts.base);
    else if (!facts.attached.empty()) spoil(facts.attached.front().first);
}

void time_for_others() {
    if (is(fault::exclusive_lock_shared) || is(fault::lock_all_excludes_nobody)) usleep(2000);
}

} // namespace

void assay_faults::settle(MPI_Win win) {
    if (!*waiting) return;
    *waiting = false;
    PMPI_Win_wait(win);
}

bool assay_faults::epoch_holds(MPI_Win win) {
    return is(fault::flush_too_early) || is(fault::fence_asserts_drop) || is(fault::fence_nosucceed_drops) ||
           is(fault::fence_nostore_drops) || is(fault::nocheck_lock_drops) || is(fault::win_test_early) ||
           is(fault::unlock_all_drops) || is(fault::flush_all_too_early) || is(fault::flush_local_too_early) ||
           is(fault::second_flush_too_early) || is(fault::sync_drops) || is(fault::complete_drops) ||
           (is(fault::exclusive_lock_drops) && known(win).exclusive);
}

bool assay_faults::epoch_loses(MPI_Win win, int rank) {
    auto& facts = known(win);
    ++facts.accesses;
    if (is(fault::fence_noprecede_opens_nothing)) return (facts.opened_by & MPI_MODE_NOPRECEDE) != 0;
    if (is(fault::fence_noput_opens_nothing)) return (facts.opened_by & MPI_MODE_NOPUT) != 0;
    if (is(fault::fence_does_not_open)) return facts.fenced && facts.epochs > 0 && !facts.passive();
    if (is(fault::other_group_loses)) return facts.other_targets;
    if (is(fault::third_epoch_lost)) return facts.epochs % 3 == 2;
    if (is(fault::second_lock_lost)) return facts.locked.size() > 1 && facts.locked.front() != rank;
    if (is(fault::lock_all_nocheck_lost)) return facts.locked_all && (facts.all_assertion & MPI_MODE_NOCHECK) != 0;
    return false;
}

extern "C" {

int MPI_Win_fence(int assertion, MPI_Win win) {
    auto& facts = known(win);
    release(drops(assertion));
    if (std::exchange(facts.accesses, 0) > 0) ++facts.epochs;
    facts.opened_by = assertion;
    facts.fenced = true;
    int const code = PMPI_Win_fence(assertion, win);
    if (is(fault::empty_dynamic_refused) && facts.made_by == MPI_WIN_FLAVOR_DYNAMIC && facts.attached.empty())
        return MPI_ERR_RMA_RANGE;
    return code;
}

int MPI_Win_post(MPI_Group group, int assertion, MPI_Win win) {
    settle(win);
    *tested_false = false;
    if ((is(fault::post_nostore_spoils) && (assertion & MPI_MODE_NOSTORE) != 0) ||
        (is(fault::post_noput_spoils) && (assertion & MPI_MODE_NOPUT) != 0))
        spoil_window(win);
    if (is(fault::post_empty_refused)) {
        int size = 0;
        PMPI_Group_size(group, &size);
        if (size == 0) return MPI_ERR_GROUP;
    }
    return PMPI_Win_post(group, assertion, win);
}

int MPI_Win_start(MPI_Group group, int assertion, MPI_Win win) {
    if (is(fault::other_group_loses)) {
        auto& facts = known(win);
        int size = 0;
        PMPI_Group_size(group, &size);
        std::vector<int> theirs(static_cast<std::size_t>(size)), targets(theirs.size());
        std::iota(theirs.begin(), theirs.end(), 0);
        MPI_Group all = MPI_GROUP_NULL;
        PMPI_Win_get_group(win, &all);
        PMPI_Group_translate_ranks(group, size, theirs.data(), all, targets.data());
        PMPI_Group_free(&all);
        facts.other_targets = !facts.targets.empty() && facts.targets != targets;
        facts.targets = targets;
    }
    return PMPI_Win_start(group, assertion, win);
}

int MPI_Win_wait(MPI_Win win) {
    if (!is(fault::wait_too_early) && !(is(fault::win_test_ends_epoch) && *tested_false)) return PMPI_Win_wait(win);
    *waiting = true; // the next post, or whoever frees the window, waits in earnest
    return MPI_SUCCESS;
}

int MPI_Win_complete(MPI_Win win) {
    if (is(fault::win_test_early)) usleep(20000);
    auto& facts = known(win);
    if (std::exchange(facts.accesses, 0) > 0) ++facts.epochs;
    release(is(fault::complete_drops));
    return PMPI_Win_complete(win);
}

int MPI_Win_test(MPI_Win win, int* flag) {
    if (is(fault::win_test_ends_epoch)) {
        int const code = PMPI_Win_test(win, flag);
        if (*flag == 0) *tested_false = true;
        return code;
    }
    if (!is(fault::win_test_early)) return PMPI_Win_test(win, flag);
    *flag = 1;
    return hold([win] { return PMPI_Win_wait(win); });
}

int MPI_Win_lock(int kind, int rank, int assertion, MPI_Win win) {
    *locked_without_check = (assertion & MPI_MODE_NOCHECK) != 0;
    bool const proper = kind == MPI_LOCK_SHARED || kind == MPI_LOCK_EXCLUSIVE;
    if (is(fault::exclusive_lock_shared) && proper) kind = MPI_LOCK_SHARED;
    if (is(fault::shared_lock_exclusive) && proper) kind = MPI_LOCK_EXCLUSIVE;
    if (is(fault::lock_error_silent) && !proper) {
        PMPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        return PMPI_Win_lock(kind, rank, assertion, win);
    }
    if (is(fault::lock_error_other) && rank < 0) {
        PMPI_Win_call_errhandler(win, MPI_ERR_OTHER);
        return MPI_ERR_OTHER;
    }
    int const code = PMPI_Win_lock(kind, rank, assertion, win);
    if (code == MPI_SUCCESS) {
        known(win).locked.push_back(rank);
        known(win).exclusive = kind == MPI_LOCK_EXCLUSIVE;
    }
    *flushes = 0;
    return code;
}

int MPI_Win_lock_all(int assertion, MPI_Win win) {
    int const given = assertion;
    if (is(fault::lock_all_excludes_nobody)) assertion |= MPI_MODE_NOCHECK;
    int const code = PMPI_Win_lock_all(assertion, win);
    if (code == MPI_SUCCESS) {
        known(win).locked_all = true;
        known(win).all_assertion = given;
    }
    *flushes = 0;
    return code;
}

int MPI_Win_unlock(int rank, MPI_Win win) {
    auto& facts = known(win);
    if (std::exchange(facts.accesses, 0) > 0) ++facts.epochs;
    facts.locked.erase(std::remove(facts.locked.begin(), facts.locked.end(), rank), facts.locked.end());
    release((is(fault::nocheck_lock_drops) && *locked_without_check) || is(fault::exclusive_lock_drops));
    return PMPI_Win_unlock(rank, win);
}

int MPI_Win_unlock_all(MPI_Win win) {
    auto& facts = known(win);
    if (std::exchange(facts.accesses, 0) > 0) ++facts.epochs;
    facts.locked_all = false;
    release(is(fault::unlock_all_drops));
    return PMPI_Win_unlock_all(win);
}

int MPI_Win_flush(int rank, MPI_Win win) {
    bool const first = (*flushes)++ == 0;
    if (!is(fault::flush_too_early) && (first || !is(fault::second_flush_too_early))) release();
    int const code = PMPI_Win_flush(rank, win);
    time_for_others();
    return code;
}

int MPI_Win_flush_all(MPI_Win win) {
    bool const first = (*flushes)++ == 0;
    if (!is(fault::flush_too_early) && !is(fault::flush_all_too_early) && (first || !is(fault::second_flush_too_early)))
        release();
    return PMPI_Win_flush_all(win);
}

int MPI_Win_flush_local(int rank, MPI_Win win) {
    if (!is(fault::flush_too_early) && !is(fault::flush_local_too_early)) release();
    return PMPI_Win_flush_local(rank, win);
}

int MPI_Win_flush_local_all(MPI_Win win) {
    if (!is(fault::flush_too_early) && !is(fault::flush_local_too_early)) release();
    return PMPI_Win_flush_local_all(win);
}

int MPI_Win_sync(MPI_Win win) {
    if (is(fault::sync_drops)) release(true);
    return PMPI_Win_sync(win);
}

} // extern "C"
