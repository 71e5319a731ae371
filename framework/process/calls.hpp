// The last MPI procedure that a thread entered, and whether it has returned. Read by the signal handlers.
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace assay {

struct call_trace {
    char const* volatile name = "";
    volatile bool inside = false;
};
inline thread_local constinit call_trace last_call;

inline void entering(char const* name) {
    last_call.name = name;
    last_call.inside = true;
}
template <class Result> Result returned(Result result) {
    last_call.inside = false;
    return result;
}

// While it lives, the framework calls for purposes of its own, such as the text of an error. After that the last call is again
// the one before: findings are about the calls of the test.
class calls_of_the_framework {
public:
    calls_of_the_framework() : name_(last_call.name), inside_(last_call.inside) {}
    ~calls_of_the_framework() {
        last_call.name = name_;
        last_call.inside = inside_;
    }
    calls_of_the_framework(calls_of_the_framework const&) = delete;
    calls_of_the_framework& operator=(calls_of_the_framework const&) = delete;

private:
    char const* name_;
    bool inside_;
};

// A thread of a case beside the main one holds it for as long as it runs. The main thread then waits in pthread_join, so a rank
// that is asked where it is stuck looks for a thread that is inside a call.
class thread_of_case {
public:
    thread_of_case();
    ~thread_of_case();
    thread_of_case(thread_of_case const&) = delete;
    thread_of_case& operator=(thread_of_case const&) = delete;

private:
    int slot_; // -1: more threads than there are slots, so nobody finds this one
};
// The system's number (gettid(2)) of a thread of the case that is inside a call, 0 if there is none. Async-signal-safe.
int thread_inside_a_call();

// Stands for a procedure that the header of the library lacks (mpi_calls.hpp). Its arguments are compiled, not evaluated.
template <class... Argument> int unevaluated(Argument&&...);
struct absent {
    char const* name;
    absent(char const* procedure, std::size_t) : name(procedure) {}
    template <class Result> operator Result() const {
        std::fprintf(stderr, "%s is called, which the header of this MPI library lacks: say so with needs_procedures\n",
                     name);
        std::abort();
    }
};

} // namespace assay
