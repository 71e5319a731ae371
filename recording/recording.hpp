// Writes down the MPI calls of a case, one line of JSON each (recording/README.md): before the call what goes in, after it what
// came out. So a call that kills the process is there, too.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay_recording {

// A parameter as the header declares it: `const int recvcounts[]` is int, a constant pointer, recvcounts.
struct parameter {
    std::string type, name;
    bool pointer = false, constant = false;
};

struct procedure {
    procedure(char const* its_name, char const* declared); // "(const void *buf, int count)"

    char const* name;
    std::vector<parameter> parameters;
};

// Arguments as numbers of 64 bits: integers with their sign, handles and pointers by value.
template <class T> std::uint64_t word_of(T value) {
    if constexpr (std::is_pointer_v<T>) return reinterpret_cast<std::uintptr_t>(value);
    else return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}
template <class... T> std::array<std::uint64_t, sizeof...(T)> words_of(T... values) { return {word_of(values)...}; }

// Whether this call is to be recorded: it is one of the case, and does not come from inside another one.
bool wanted();

// One call that is recorded, from before it to after it.
class call {
public:
    call(procedure const& which, std::uint64_t const* words);
    int returned(int code);
    call(call const&) = delete;
    call& operator=(call const&) = delete;

private:
    procedure const& which_;
    std::vector<std::uint64_t> words_;
    std::shared_ptr<nlohmann::json> before_; // the arguments
};

// The library calls an error handler of the program.
void handler_called(std::uint64_t function);

// Functions that stand in for the error handlers of the program, each for one of them: they say that they are called.
template <class Handle> class handlers {
public:
    using function = void (*)(Handle*, int*, ...);
    // The one for this handler; the handler itself when there are too many.
    static function instead_of(function handler) {
        for (std::size_t k = 0; k < most; ++k) {
            if (given_[k] != nullptr && given_[k] != handler) continue;
            given_[k] = handler;
            return stand_ins_[k];
        }
        return handler;
    }

private:
    static constexpr std::size_t most = 8;
    template <std::size_t k> static void stand_in(Handle* object, int* code, ...) {
        handler_called(word_of(given_[k]));
        given_[k](object, code);
    }
    template <std::size_t... k> static constexpr std::array<function, most> all(std::index_sequence<k...>) {
        return {stand_in<k>...};
    }
    static inline std::array<function, most> given_{};
    static constexpr std::array<function, most> stand_ins_ = all(std::make_index_sequence<most>());
};
template <class T> T watched(T argument) { return argument; }
template <class Handle> auto watched(void (*handler)(Handle*, int*, ...)) {
    return handlers<Handle>::instead_of(handler);
}

// The procedure of this name that comes after this library in the order of loading: that of another preloaded library, or of MPI.
void* next_procedure(char const* name);

} // namespace assay_recording
