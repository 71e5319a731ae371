// Writes down the MPI calls of a case, one line of JSON each (recording/README.md): before the call what goes in, after it what
// came out. So a call that kills the process is there, too.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
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
};

// The procedure of this name that comes after this library in the order of loading: that of another preloaded library, or of MPI.
void* next_procedure(char const* name);

} // namespace assay_recording
