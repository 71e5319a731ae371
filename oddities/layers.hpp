// How oddities stand in front of MPI procedures. Each procedure has a list of layers, which the oddities add when the library is
// loaded. A layer gets the arguments and what comes after it: the next layer or, at last, the procedure that would have been
// called without this library. It is passed over while its oddity is not on.
#pragma once
#include "oddity_list.hpp" // made by CMake from oddities/*.toml
#include "preload/versions.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <mpi.h>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay_oddities {

enum class oddity {
#define F(name) name,
    ASSAY_ODDITIES(F)
#undef F
};

// What is known of an oddity in this process.
struct setting {
    bool on = false;                // ASSAY_ODD names it, or the plan does for this case (docs/formats.md section 3)
    std::atomic<bool> tried{false}; // a procedure that it changes was called while it was on
};

// Registers an oddity of the catalogue; `add_layers` is called at once.
struct definition {
    definition(oddity which, void (*add_layers)());
};

#define ODDITY(name)                                                                                                   \
    static void add_layers_of_##name();                                                                                \
    static definition const defines_##name(oddity::name, add_layers_of_##name);                                        \
    static void add_layers_of_##name()

// That of the oddity whose layers are being added.
extern setting* setting_of_layers;

// The procedure of this name that comes after this library in the order of loading: that of another preloaded library, or of MPI.
void* next_procedure(char const* name);

// The layers in front of a procedure.
template <class Procedure> struct stack;
template <class R, class... A> struct stack<R(A...)> {
    // What comes after a layer.
    class rest {
    public:
        rest(stack const& whole, std::size_t below) : whole_(&whole), below_(below) {}
        R operator()(A... a) const {
            for (auto n = below_; n > 0; --n)
                if (auto const& next = whole_->layers[n - 1]; next.of == nullptr || next.of->on) {
                    if (next.of != nullptr) next.of->tried.store(true, std::memory_order_relaxed);
                    return next.what(rest(*whole_, n - 1), a...);
                }
            return whole_->library(a...);
        }

    private:
        stack const* whole_;
        std::size_t below_;
    };
    template <std::size_t N> using argument = std::tuple_element_t<N, std::tuple<A...>>;

    struct layer {
        setting* of; // null for layers that are never passed over
        std::function<R(rest, A...)> what;
    };

    R (*library)(A...);
    std::vector<layer> layers{};

    R call(A... a) const { return rest(*this, layers.size())(a...); }
};

// Those in front of MPI_X, by the address of PMPI_X.
template <auto P> inline constinit stack<std::remove_pointer_t<decltype(P)>> layers_of{P};

// Adds a layer, outside of those there: `what(rest, arguments…)`.
template <auto P, class What> void over(What what) {
    layers_of<P>.layers.push_back({setting_of_layers, std::move(what)});
}

// The same for what must be known or undone after its oddity is off again.
template <auto P, class What> void always_over(What what) { layers_of<P>.layers.push_back({nullptr, std::move(what)}); }

// Adds a layer that changes argument N after the procedure has succeeded.
template <auto P, std::size_t N, class Change> void after(Change change) {
    over<P>([change](auto rest, auto... a) {
        int const code = rest(a...);
        if (code == MPI_SUCCESS) change(std::get<N>(std::tie(a...)));
        return code;
    });
}

// Handles are integers in one library and pointers in another; both can be keys of a map.
template <class Handle> std::size_t key(Handle handle) { return (std::size_t)handle; } // NOLINT: either kind of cast

} // namespace assay_oddities
