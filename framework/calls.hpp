// The last MPI procedure that a thread entered, and whether it has returned. Read by the signal handlers.
#pragma once

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

} // namespace assay
