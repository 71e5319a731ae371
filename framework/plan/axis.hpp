// An axis is one dimension with named values; a test declares which axes it crosses and which values make sense for it.
#pragma once
#include "framework/plan/job.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

struct value_info {
    // Why a value cannot exist in a job ("needs at least 4 ranks; this job has 2"), or "".
    using reason = std::function<std::string(job const&)>;
    value_info(std::string name_, std::string note_, reason lacks_ = nullptr)
        : name(std::move(name_)), note(std::move(note_)), lacks(std::move(lacks_)) {}
    // The same value with the name that Keller's thesis gives it: profile keller-2008 keeps it.
    value_info in_thesis(std::string name_there) && {
        title = std::move(name_there);
        return std::move(*this);
    }

    std::string name;  // as in a case name: alphabet [a-z0-9_.+]
    std::string title; // what Keller's thesis calls it, "" if the thesis does not have it
    std::string note;  // one line for people
    reason lacks;      // nullptr: it exists in every job
};

class axis_base {
public:
    explicit axis_base(std::string name);
    virtual ~axis_base() = default;
    axis_base(axis_base const&) = delete;
    axis_base& operator=(axis_base const&) = delete;

    std::string const& name() const { return name_; }
    virtual std::size_t size() const = 0;
    virtual value_info info(std::size_t value) const = 0;
    virtual std::string const& name_of(std::size_t value) const = 0; // that of info, without a copy
    // The value of this name, or size(). An axis of numbers adds one that does not stand on its ladder.
    virtual std::size_t value_named(std::string const& name) const;
    // Profile keller-2008 keeps the values that stand in the thesis; of an axis that it does not know, the first.
    virtual bool in_keller(std::size_t value) const;

private:
    std::string name_;
};

// Every axis of the program, in order of name.
std::vector<axis_base const*> all_axes();

// An axis whose values a suite (or the framework) writes down itself.
template <class T> class axis : public axis_base {
public:
    struct entry {
        value_info info;
        T value;
    };
    axis(std::string name, std::vector<entry> entries) : axis_base(std::move(name)), entries_(std::move(entries)) {}

    std::size_t size() const override { return entries_.size(); }
    value_info info(std::size_t value) const override { return entries_[value].info; }
    std::string const& name_of(std::size_t value) const override { return entries_[value].info.name; }
    T const& at(std::size_t value) const { return entries_[value].value; }

private:
    std::vector<entry> entries_;
};

// An axis of which a test uses the values that `keep` accepts.
struct axis_use {
    axis_base const* axis;
    std::function<bool(std::size_t)> keep = nullptr; // nullptr: all
};

template <class Axis, class Keep> axis_use only(Axis const& of, Keep keep) {
    return {&of, [&of, keep](std::size_t value) { return static_cast<bool>(keep(of.at(value))); }};
}

// The values with these names. Throws std::logic_error, when a plan is made, for a name that the axis does not have.
axis_use named(axis_base const& of, std::vector<std::string> names);

// A combination of values that makes sense. Asked only with values of its own axes, in their order.
struct constraint {
    std::vector<axis_base const*> axes;
    std::function<bool(std::size_t const* values, job const&)> holds;
};

} // namespace assay
