// Calls of datatype constructors and all that MPI has to say of their results: the type map by our own algebra
// (framework/check/layout.hpp) and the arguments that MPI_Type_get_contents gives back.
#pragma once
#include "datatypes/definition.hpp"
#include "framework/mpi/run.hpp"

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace assay::types {

using constructors::handles;

// One call of a constructor, in the binding with int arguments and in that with MPI_Count ones.
struct recipe : constructors::contents {
    int combiner = 0;
    std::vector<definition> old; // the datatype arguments
    layout map;
    std::function<int(handles const&, MPI_Datatype*)> make,
        make_c; // of the datatype arguments; MPI_Type_dup has no second
    // Libraries disagree about the bounds of these: only tests of bounds and data use them, so that this does not hide what
    // else they do.
    bool disputed = false;
    bool overlapping = false;  // entries share bytes: it can be sent, but not received
    bool side_by_side = false; // several elements do not overlap
    definition tidy;           // a struct of the same signature: entries in order, each at the next aligned address
};

axis<recipe> const& recipes();
axis_use common_recipes();     // without those that are disputed
axis_use receivable_recipes(); // of these, what several elements can be received with

// The binding that constructs.
enum class binding { small, large };
axis<binding> const& bindings();
constraint has_binding(); // of recipes() and bindings(): there is a large count form

// Which form of a query is called.
enum class query { plain, x, c };
axis<query> const& queries(); // MPI_Type_size, MPI_Type_size_x, MPI_Type_size_c and the like

inline bool is_derived(definition const& d) { return !d.is_predefined; }

// The handles of the datatype arguments and the datatype that was made of them; frees what is not predefined.
class made_type {
public:
    made_type(test_run& mpi, recipe const& how, binding with, bool commit = true);
    ~made_type();
    made_type(made_type const&) = delete;
    made_type& operator=(made_type const&) = delete;

    operator MPI_Datatype() const { return made_; }
    // false: it could not be made, and that is recorded
    explicit operator bool() const { return made_ != MPI_DATATYPE_NULL; }
    handles const& old() const { return old_; }

private:
    recipe const& how_;
    handles old_;
    MPI_Datatype made_ = MPI_DATATYPE_NULL;
};

// A datatype that is freed at the end of a block; committed.
class own_type {
public:
    own_type(test_run& mpi, definition const& how);
    explicit own_type(MPI_Datatype made) : type_(made) {}
    ~own_type();
    own_type(own_type const&) = delete;
    own_type& operator=(own_type const&) = delete;
    operator MPI_Datatype() const { return type_; }
    MPI_Datatype* address() { return &type_; }

private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    bool keep_ = false;
};

// Records a finding unless the two numbers are the same.
bool equal(test_run& mpi, std::string const& what, std::int64_t got, std::int64_t expected,
           std::source_location where = std::source_location::current());
std::string list(std::vector<std::int64_t> const& numbers); // "1, 2, 3"
template <class T> std::vector<std::int64_t> wide(std::vector<T> const& numbers) {
    return {numbers.begin(), numbers.end()};
}

// Size, bounds and true bounds by one form of the queries, compared with a type map.
void expect_bounds(test_run& mpi, MPI_Datatype type, query how, layout const& map, std::string const& what,
                   std::source_location where = std::source_location::current());

// The error class that a call with wrong arguments raised, and whether it is one of those that make sense. MPI need not
// notice wrong arguments (section 9.3): tests of them declare no requirement that is must.
void expect_refused(test_run& mpi, int code, std::vector<int> const& classes, std::string const& what,
                    std::source_location where = std::source_location::current());

} // namespace assay::types
