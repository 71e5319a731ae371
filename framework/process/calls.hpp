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
inline int returned(int code) {
    last_call.inside = false;
    return code;
}

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
