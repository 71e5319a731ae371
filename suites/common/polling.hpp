// Waiting for something that only repeated calls can tell.
#pragma once
#include <sched.h>

namespace assay {

// On a busy machine the process that is waited for may need this processor (sched_yield(2)).
inline void let_others_run() { sched_yield(); }

// Repeats `attempt`, which returns whether it is done, and lets others run in between.
template <class Attempt> void until(Attempt attempt) {
    while (!attempt()) let_others_run();
}

} // namespace assay
