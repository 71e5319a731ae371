// Nothing of this happens unless an environment variable asks for it: it changes the system under test. The runner's table
// (runner/libraries/libraries.toml) says for which library and when; run.json and the report then name the variable.
//
// The time slices of ranks that share a core. Some libraries spin while they wait, so that a message takes as long as the
// slices of all other ranks of the core together: milliseconds instead of microseconds.
//
// With ASSAY_YIELD_POLLS=N a rank yields its core each time that UCX or libfabric has found nothing more than N times in a row. It
// works where the library looks there while it waits, whether or not that is where the message comes: ucx_yielding.cpp and
// ofi_yielding.cpp stand between the two.
//
// A library that yields itself does so whenever it has looked in vain, and a system call takes longer than to look again: with
// ASSAY_YIELD_EVERY=N only each Nth call of sched_yield in one MPI procedure yields, and the others only return.
//
// The kernel takes a task that yields for one that has had its time slice, so that a rank that has yielded for long waits for as long
// once a message is there. So the 128th time in one MPI procedure a rank sleeps for the shortest time that there is instead; where
// the procedures change, nobody has waited for long, and a timer costs more than a message.
//
// Where several threads of a rank wait, one that lets go of the library's lock and yields has the lock again before another thread
// that waits for it has got a core. So in such jobs each sched_yield yields and, with ASSAY_YIELD_POLLS, sleeps: milliseconds become
// microseconds.
//
// The kernel does not move tasks that run and yield all the time: where three of four ranks came to share one of two cores, they did so
// to the end of the job. So with ASSAY_YIELD_POLLS each rank keeps to a core, in turns.
#pragma once

namespace assay {

void polled(bool found); // whether this thread's poll has found anything
bool yields_polls();     // ASSAY_YIELD_POLLS is set

struct yield_settings {
    long polls, every; // ASSAY_YIELD_POLLS and ASSAY_YIELD_EVERY; 0: not set
};
yield_settings settings_of_environment();

void yield_among_threads();    // from now on; before other threads are started
void keep_to_a_core(int rank); // of those that it may use
int give_core_away();          // what sched_yield does

// What is hidden by our procedure of that name, as the library that called finds it: it need not be among the program's own.
void* hidden_by_us(char const* name, void const* caller);

} // namespace assay
