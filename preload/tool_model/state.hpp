// What the parts of the model share: whether it is open, and how procedures look things up and give them back.
#pragma once
#include "preload/tool_model/tool_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace tool_model {

inline long calls = 0; // of this interface: what the performance variables count

// Whether the interface is closed. Every procedure asks: that is a call which counts.
bool is_closed();

inline bool fits(int index, std::size_t n) { return index >= 0 && static_cast<std::size_t>(index) < n; }

template <class T> void put(T* to, T value) {
    if (to != nullptr) *to = value;
}
void put(std::string const& text, char* to, int* length); // section 15.3.3

// Handles are addresses of what they are of, which lies in a list.
template <class Handle, class T> Handle handle_of(T& what) { return reinterpret_cast<Handle>(&what); }
template <class T, class Handle> typename std::list<T>::iterator find(std::list<T>& all, Handle handle) {
    return std::find_if(all.begin(), all.end(), [handle](T& one) { return handle_of<Handle>(one) == handle; });
}

template <class List> int index_named(List const& all, char const* name, int* index) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    auto const found = std::find_if(all.begin(), all.end(), [name](auto const& one) { return one.name == name; });
    if (found == all.end()) return MPI_T_ERR_INVALID_NAME;
    *index = static_cast<int>(found - all.begin());
    return MPI_SUCCESS;
}

std::size_t size_of(MPI_Datatype type);
MPI_T_enum enumeration_handle(int n);               // the n-th, or none
std::vector<std::pair<std::string, int>> objects(); // the kinds that variables are bound to
void raise_events();                                // of all registrations

// What is left open when the interface is closed.
void forget_controls();
void forget_performances();
void forget_registrations();

} // namespace tool_model
