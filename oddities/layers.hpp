// How oddities stand in front of MPI procedures. Each procedure has a list of layers, which the oddities add when the library is
// loaded. A layer gets the arguments and what comes after it: the next layer or, at last, the procedure that would have been
// called without this library. It is passed over while its oddity is not on.
#pragma once
#include "oddity_list.hpp" // made by CMake from oddities/*.toml
#include "preload/versions.hpp"

#include <atomic>
#include <cstddef>
#include <mpi.h>
#include <tuple>
#include <type_traits>
#include <utility>

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

// Appends its name to the file that ASSAY_ODD_TRIED names, once in a process.
void note_tried(setting& of);

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

using any_procedure = void (*)();

// What the stacks of all procedures have in common. There are some 500 of these: what is not a template is compiled once.
struct any_stack {
    any_procedure library = nullptr; // the procedure that comes after this library; found at the first call
};

// The layers in front of a procedure.
template <class Procedure> struct stack;
template <class R, class... A> struct stack<R(A...)> : any_stack {
    struct layer {
        setting* of; // null for layers that are never passed over
        R (*what)(layer const& self, any_stack const& whole, A... a);
        layer const* below; // the next one, null before the procedure itself
    };
    // What comes after a layer.
    struct rest {
        any_stack const& whole;
        layer const* below;
        R operator()(A... a) const {
            auto const* next = below;
            while (next != nullptr && next->of != nullptr && !next->of->on) next = next->below;
            if (next != nullptr) {
                if (next->of != nullptr && !next->of->tried.load(std::memory_order_relaxed)) note_tried(*next->of);
                return next->what(*next, whole, a...);
            }
            return reinterpret_cast<R (*)(A...)>(whole.library)(a...);
        }
    };
    // A layer that does what a function object does.
    template <class What> struct layer_of : layer {
        What does;
        layer_of(setting* whose, layer const* after, What action)
            : layer{whose, call, after}, does(std::move(action)) {}
        static R call(layer const& self, any_stack const& whole, A... a) {
            return static_cast<layer_of const&>(self).does(rest{whole, self.below}, a...);
        }
    };
    using result = R;
    template <std::size_t N> using argument = std::tuple_element_t<N, std::tuple<A...>>;

    layer const* outermost = nullptr;

    R call(A... a) const { return rest{*this, outermost}(a...); }
    // Layers stay until the process ends.
    template <class What> void add(setting* of, What what) {
        outermost = new layer_of<What>(of, outermost, std::move(what));
    }
};

// Those in front of MPI_X, by the address of PMPI_X.
template <auto P> inline constinit stack<std::remove_pointer_t<decltype(P)>> layers_of{};

// Adds a layer, outside of those there: `what(rest, arguments…)`.
template <auto P, class What> void over(What what) { layers_of<P>.add(setting_of_layers, std::move(what)); }

// The same for what must be known or undone after its oddity is off again.
template <auto P, class What> void always_over(What what) { layers_of<P>.add(nullptr, std::move(what)); }

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
