// A layer that is preloaded between the program and the library under test, such as libassay_faults.so: the plan may say for
// each case what the layer is to do (docs/formats.md section 3).
#pragma once
#include <cstddef>
#include <string>

namespace assay {

bool has_layer(); // whether a preloaded library has assay_layer_setting

// Hands the words on to the layer; "": it is to do nothing. Only where has_layer().
void set_layer(std::string const& words);

// Whether the layer records the cases that run now: it has words, and assay_layer_hears. Then the layer hears of a case what its
// calls of MPI do not say (recording/README.md), and message data are such that a short program can make them: byte k is
// (first + k) % 160, where `first` comes from the key of the message. So it never is poison.
inline bool recorded = false;
struct heard {
    char const* event; // case, end, content, expected, status, finding, pause, resume
    void const* memory = nullptr;
    void const* expected = nullptr; // what the memory has to hold
    std::size_t size = 0;           // bytes of both
    char const* text = "";
};
void tell_layer(heard const& what); // only where `recorded`

// While it lives, calls of this thread are not recorded: the framework makes them for purposes of its own.
class unrecorded {
public:
    unrecorded() {
        if (recorded) tell_layer({.event = "pause"});
    }
    ~unrecorded() {
        if (recorded) tell_layer({.event = "resume"});
    }
    unrecorded(unrecorded const&) = delete;
    unrecorded& operator=(unrecorded const&) = delete;
};

} // namespace assay
