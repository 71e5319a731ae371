// What a dying or stuck rank can still say: the signal or exit, the last MPI procedure, the stack.
#pragma once

namespace assay {

// Installs the handlers (on a stack of their own). Called before MPI_Init and again after it, because libraries replace
// them. Also notices exit() and _exit() in the middle of a run, and ends the rank when the runner's process is gone.
void watch_for_death();
void watch_runner();          // of ASSAY_RUNNER_PID, if set
void expect_normal_exit();    // from here on an exit is no event
void announce_exit(int code); // what comes next ends this process

} // namespace assay
