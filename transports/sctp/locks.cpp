// One lock for usrsctp, that of the stack. It has locks of its own for each association, socket, list and queue, and takes many of them
// for a message; whoever calls it here has the stack's lock already.
//
// CMakeLists.txt gives the functions of the threads these names in the archive. The one thread that usrsctp starts, for what concerns
// all associations ("SCTP iterator", even when it was told to have no threads), has the stack's lock except while it waits. So has
// whoever waits inside of usrsctp: what he waits for is done by somebody else under that lock.
#include "transports/sctp/stack.hpp"

#include <memory>
#include <mutex>
#include <pthread.h>

namespace {

// What a thread of usrsctp runs.
struct routine {
    void* (*run)(void*);
    void* argument;
};

void* run_locked(void* given) {
    std::unique_ptr<routine> const what(static_cast<routine*>(given));
    std::lock_guard const lock(assay::sctp::stack::instance().mutex);
    return what->run(what->argument);
}

} // namespace

extern "C" {
int assay_sctp_pthread_mutex_lock(pthread_mutex_t*);
int assay_sctp_pthread_mutex_trylock(pthread_mutex_t*);
int assay_sctp_pthread_mutex_unlock(pthread_mutex_t*);
int assay_sctp_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t*);
int assay_sctp_pthread_create(pthread_t* thread, pthread_attr_t const* how, void* (*run)(void*), void* argument);

int assay_sctp_pthread_mutex_lock(pthread_mutex_t*) { return 0; }
int assay_sctp_pthread_mutex_trylock(pthread_mutex_t*) { return 0; }
int assay_sctp_pthread_mutex_unlock(pthread_mutex_t*) { return 0; }

int assay_sctp_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t*) {
    return pthread_cond_wait(condition, assay::sctp::stack::instance().mutex.native_handle());
}

int assay_sctp_pthread_create(pthread_t* thread, pthread_attr_t const* how, void* (*run)(void*), void* argument) {
    auto what = std::make_unique<routine>(run, argument);
    int const error = pthread_create(thread, how, run_locked, what.get());
    if (error == 0) (void)what.release(); // it is the thread's
    return error;
}
}
