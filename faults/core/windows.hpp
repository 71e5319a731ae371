// What the wrappers of one-sided communication share: accesses that are held back, and what is known of each window. Only of this
// process.
#pragma once
#include "core.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace assay_faults {

// Accesses that are held back until the epoch ends. They are rank-local, and legal: an access may happen as late as that.
int hold(std::function<int()> access); // MPI_SUCCESS
void release(bool drop = false);       // performs all in their order, or forgets them
bool holding();

struct window {
    int made_by = MPI_WIN_FLAVOR_CREATE;
    unsigned char* base = nullptr;
    MPI_Aint size = 0;
    std::map<std::string, std::string> hints;         // given when it was made, or set later
    int times_set = 0;                                // MPI_Win_set_info
    std::vector<std::pair<void*, MPI_Aint>> attached; // in order
    std::vector<void*> detached;                      // that were attached once
    std::vector<int> locked;                          // targets, in order
    bool exclusive = false;                           // the last lock
    bool locked_all = false;
    int all_assertion = 0;
    int accesses = 0;  // since the last synchronization
    int epochs = 0;    // fences that ended accesses
    int opened_by = 0; // assertions of the last fence
    bool fenced = false;
    std::vector<int> targets;   // of the last MPI_Win_start
    bool other_targets = false; // than of the one before
    bool passive() const { return locked_all || !locked.empty(); }
};
std::map<MPI_Win, window>& windows();
inline window& known(MPI_Win win) { return windows()[win]; }
// The window of this process in whose memory an address lies, or MPI_WIN_NULL.
MPI_Win window_around(void const* address);

// What faults of windows (rma_windows.cpp) and of epochs (rma_sync.cpp) do to accesses.
bool window_loses(MPI_Win win, bool accumulates);
bool epoch_loses(MPI_Win win, int rank);
bool epoch_holds(MPI_Win win);
void settle(MPI_Win win); // before a window is freed: what was put off happens

} // namespace assay_faults
