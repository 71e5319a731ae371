#include "recording/recording.hpp"

#include <mpi.h>

using namespace assay_recording;

#define PROCEDURE(name, parameters, arguments)                                                                         \
    extern "C" int name parameters {                                                                                   \
        static auto const next = reinterpret_cast<decltype(&P##name)>(next_procedure(#name));                          \
        if (!wanted()) return next arguments;                                                                          \
        static procedure const about(#name, #parameters);                                                              \
        auto const words = words_of arguments;                                                                         \
        call recorded(about, words.data());                                                                            \
        return recorded.returned(next arguments);                                                                      \
    }
// The library is given a function that writes down when it is called.
#define HANDED_A_HANDLER(name, parameters, arguments)                                                                  \
    extern "C" int name parameters {                                                                                   \
        static auto const next = reinterpret_cast<decltype(&P##name)>(next_procedure(#name));                          \
        if (!wanted()) return next arguments;                                                                          \
        static procedure const about(#name, #parameters);                                                              \
        auto const words = words_of arguments;                                                                         \
        call recorded(about, words.data());                                                                            \
        auto const call_next = [](auto... argument) { return next(watched(argument)...); };                            \
        return recorded.returned(call_next arguments);                                                                 \
    }
#include "procedures.inc"
