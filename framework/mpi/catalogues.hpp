// The axes that every suite shares: communicator, datatype, count, placement of buffers.
#pragma once
#include "communicators/catalogue.hpp"
#include "datatypes/catalogue.hpp"
#include "framework/check/placement.hpp"
#include "framework/plan/axis.hpp"

#include <algorithm>
#include <deque>

namespace assay {

// A number of elements: either as such, or as many as make up `n` bytes of data.
struct count_value {
    enum class unit { elements, bytes_floor, bytes_nearest, bytes_ceil } kind = unit::elements;
    std::size_t n = 0;

    std::size_t of(layout const& map) const; // at least 1 for a size in bytes
};

// An axis over a catalogue that is complete only once main has begun.
template <class T> class catalogue_axis : public axis_base {
public:
    catalogue_axis(std::string name, std::vector<T> const& (*entries)())
        : axis_base(std::move(name)), entries_(entries) {}
    std::size_t size() const override { return entries_().size(); }
    value_info info(std::size_t value) const override {
        auto const& entry = at(value);
        return value_info(entry.name, entry.note, entry.lacks).in_thesis(entry.title);
    }
    std::string const& name_of(std::size_t value) const override { return at(value).name; }
    T const& at(std::size_t value) const { return entries_()[value]; }

private:
    std::vector<T> const& (*entries_)();
};

// The ladder of sizes that tests cross, and whatever other number of elements is asked for by name.
class count_axis : public axis_base {
public:
    explicit count_axis(std::string name);
    std::size_t size() const override { return entries_.size(); }
    value_info info(std::size_t value) const override { return entries_[value].info; }
    std::string const& name_of(std::size_t value) const override { return entries_[value].info.name; }
    count_value const& at(std::size_t value) const { return entries_[value].value; }
    // The thesis names no sizes: none, one and some elements, 1 and 8 KiB, and whatever number was asked for.
    bool in_keller(std::size_t value) const override;

    std::size_t value_named(std::string const& name) const override; // any decimal number has one

private:
    mutable std::deque<axis<count_value>::entry>
        entries_; // grows by what is asked for; what at() returns stays where it is
};

catalogue_axis<communicator> const& comm_axis();
catalogue_axis<datatype> const& type_axis();
count_axis const& count_ladder();
axis<placement> const& placement_axis();

namespace communicators {
inline axis_use any() { return {&comm_axis()}; } // MPI_COMM_NULL too
inline axis_use intra() {
    return only(comm_axis(), [](communicator const& c) { return c.kind == comm_kind::intra; });
}
inline axis_use inter() {
    return only(comm_axis(), [](communicator const& c) { return c.kind == comm_kind::inter; });
}
inline axis_use usable() {
    return only(comm_axis(), [](communicator const& c) { return c.kind != comm_kind::null; });
}
inline axis_use cartesian() {
    return only(comm_axis(), [](communicator const& c) { return c.cart_dims != nullptr; });
}
inline axis_use topologies() {
    return only(comm_axis(), [](communicator const& c) { return static_cast<bool>(c.sources); });
}
inline axis_use of(std::vector<std::string> names) { return named(comm_axis(), std::move(names)); }
inline axis_use world() { return of({"world"}); } // for what knows nothing of communicators
// For what communicators hardly change: all processes in two orders, a process alone, and two groups.
inline axis_use few() { return of({"world", "self", "reversed", "inter_halved"}); }
inline axis_use few_intra() { return of({"world", "self", "reversed"}); }
} // namespace communicators
namespace datatypes {
inline axis_use all() { return {&type_axis()}; }
inline axis_use of(std::vector<std::string> names) { return named(type_axis(), std::move(names)); }
} // namespace datatypes
namespace counts {
inline axis_use ladder() { return {&count_ladder()}; }
// So many elements, of those on the ladder; sizes in bytes stay out.
inline axis_use elements(std::vector<std::size_t> numbers) {
    return only(count_ladder(), [numbers = std::move(numbers)](count_value const& c) {
        return c.kind == count_value::unit::elements && std::count(numbers.begin(), numbers.end(), c.n) > 0;
    });
}
} // namespace counts
namespace placements {
inline axis_use all() { return {&placement_axis()}; }
} // namespace placements

// The fewest and the most members that a communicator of this job has on any of its members (local group).
int smallest_size(communicator const& comm, int np);
int largest_size(communicator const& comm, int np); // local or remote group

// The messages of one rank, one to each of `peers` members of the largest group, stay below 16 MiB of memory.
constraint fits_memory(bool to_every_member);

} // namespace assay
