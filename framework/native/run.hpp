// What the body of a test sees of a job without MPI (as `ofi` or `ucx`): its rank, buffers whose content every rank can compute,
// and checks that record and go on. Endpoints are the suite's own.
#pragma once
#include "framework/check/body.hpp"
#include "framework/check/buffer.hpp"
#include "framework/check/data.hpp"
#include "framework/check/record.hpp"
#include "framework/check/standard.hpp"
#include "framework/native/ranks.hpp"
#include "framework/plan/plan.hpp"

#include <deque>
#include <list>
#include <sys/types.h>

namespace assay {

class native_run : public case_context {
public:
    native_run(job const& j, planned_case const& planned, recorder& to, memory_pool& pool, int rank);

    job const& the_job;
    int const rank, size;
    int right() const { return (rank + 1) % size; }
    int left() const { return (rank + size - 1) % size; }
    recorder& findings;

    template <class Axis> auto const& at(Axis const& axis) const { return axis.at(value_of(axis)); }
    std::string case_name() const { return planned_.name(); }

    // Messages: `serial` tells apart several messages between the same two ranks.
    std::uint64_t key(int from, int to, int serial = 0) const;
    buffer& outgoing(int to, std::size_t bytes, int serial = 0); // holds the message
    buffer& incoming(std::size_t bytes);                         // all poison
    buffer& in_memory(std::span<unsigned char> memory, std::size_t first,
                      std::size_t bytes); // of the framework; all poison
    void expect(buffer& in, int from, std::size_t bytes, int serial = 0,
                std::source_location where = std::source_location::current());

    // Records a finding unless `holds`. It rests on the requirements of the test: it is must when one of them is.
    bool check(bool holds, finding kind, std::string const& message,
               std::source_location where = std::source_location::current());
    // The same, resting on this requirement of standard/.
    bool check(requirement rests_on, bool holds, finding kind, std::string const& message,
               std::source_location where = std::source_location::current());
    // Records a call that did not return 0. Returns whether it did.
    bool ok(ssize_t code, std::source_location where = std::source_location::current());

    [[noreturn]] void unsupported(std::string reason); // leaves the body; before any communication, and on all ranks

private:
    std::size_t value_of(axis_base const& axis) const;

    planned_case const& planned_;
    memory_pool& pool_;
    std::uint64_t key_;
    placement where_;
    std::list<buffer> buffers_; // their addresses must not change
};

} // namespace assay

namespace assay::native {

// What a call returned, in the words of the framework under test.
std::string error_text(ssize_t code);

// The number of bytes of a message. Any number can be asked for.
class size_axis : public axis_base {
public:
    size_axis();
    std::size_t size() const override { return entries_.size(); }
    value_info info(std::size_t value) const override;
    std::string const& name_of(std::size_t value) const override { return entries_[value].first; }
    std::size_t value_named(std::string const& name) const override;
    std::size_t const& at(std::size_t value) const { return entries_[value].second; }

private:
    mutable std::deque<std::pair<std::string, std::size_t>> entries_; // what at() returns stays where it is
};
size_axis const& sizes();
axis_use few_sizes(); // none, some, and one that is not sent at once
axis<placement> const& placements();

} // namespace assay::native
