// What the body of a test sees as `mpi`: its communicator, datatype and count, buffers whose content every rank can
// compute, and checks that record and go on.
#pragma once
#include "framework/check/body.hpp"
#include "framework/check/buffer.hpp"
#include "framework/check/data.hpp"
#include "framework/check/record.hpp"
#include "framework/check/standard.hpp"
#include "framework/mpi/catalogues.hpp"
#include "framework/mpi/failure.hpp"
#include "framework/plan/plan.hpp"

#include <functional>
#include <list>
#include <memory>
#include <mpi.h>
#include <optional>

namespace assay {

// A status filled with poison, so that a field that was not set is seen.
MPI_Status poisoned_status();
// The version of MPI that the library says it follows: 41 is 4.1. May be called at any time (MPI-5.0 section 11.4.1).
int followed_version();

// Judges the fields of one status (MPI-5.0 section 3.2.5). Each call checks one field and returns *this.
class status_check {
public:
    status_check(class test_run& mpi, MPI_Status const& status, std::source_location where)
        : mpi_(mpi), status_(status), where_(where) {}
    status_check& source(int expected);
    status_check& tag(int expected);
    status_check& count(std::size_t expected); // MPI_Get_count in the case's datatype
    status_check& count(std::size_t expected, MPI_Datatype type, std::size_t size_of_one);
    status_check& not_cancelled();
    status_check& error_untouched(requirement rests_on = "p2p.status.error_field"); // MPI_ERROR is as it was
    status_check& empty(); // what section 3.7.3 calls an empty status

private:
    class test_run& mpi_;
    MPI_Status const& status_;
    std::source_location where_;
};

class test_run : public case_context {
public:
    struct surroundings {
        assay::job const& job;
        planned_case const& planned;
        recorder& findings;
        MPI_Comm comm;
        membership place;
        MPI_Datatype type;
        std::uint64_t case_key;
        int first_tag; // of those that no other case in flight uses
        int thread;
        std::span<std::unique_ptr<memory_pool> const> pools; // by thread
        std::span<MPI_Comm const> comms;                     // by thread: `comm` and duplicates of it
    };
    explicit test_run(surroundings const& around);

    // The point at which the test runs.
    MPI_Comm const comm; // MPI_COMM_NULL without an axis comm
    MPI_Datatype const type;
    std::size_t elements = 0; // the axis count, in elements of `type`
    int count = 0;            // the same for MPI's int arguments
    layout const& map;        // of `type`
    int const rank, size;     // in `comm`; of the local group of an intercommunicator
    int const remote_size;    // 0 on an intracommunicator
    int const side;           // 0 or 1: which group of an intercommunicator
    bool const inter;
    int const peers; // those that this rank can send to: `remote_size` or `size`
    job const& the_job;
    communicator const* comm_entry = nullptr;
    datatype const* type_entry = nullptr;

    template <class Axis> auto const& at(Axis const& axis) const { return axis.at(value_of(axis)); }

    // Tags of this case; k in 0…15. All ranks get the same, and other cases in flight use others.
    int tag(int k = 0);
    std::string case_name() const { return around_.planned.name(); }
    int first_tag() const { return around_.first_tag; } // tag(0), without using it
    int thread() const { return around_.thread; }       // 0 in the thread that called MPI_Init

    // Messages: `serial` tells apart several messages between the same two ranks.
    std::uint64_t key(int from_side, int from, int to_side, int to, int serial) const;
    std::uint64_t key_to(int peer, int serial = 0) const;
    std::uint64_t key_from(int peer, int serial = 0) const;

    buffer& outgoing(int to, int serial = 0);        // holds the message
    buffer& incoming();                              // all poison
    buffer& bytes(layout const& map, std::size_t n); // of another layout, all poison
    buffer& incoming(std::size_t elements);          // room for another number of elements
    buffer& unfilled(std::size_t elements);          // the same with undefined content: fill() or poison() comes first
    // `n` elements from `address` in memory that is there already (see buffer), with undefined content.
    buffer& over(std::span<unsigned char> memory, void* address, layout const& map, std::size_t n);

    // Records an MPI call that did not return MPI_SUCCESS. Returns whether it did.
    bool ok(int code, std::source_location where = std::source_location::current());
    status_check expect(MPI_Status const& status, std::source_location where = std::source_location::current()) {
        return {*this, status, where};
    }
    // Records a finding unless `holds`. It rests on the requirements of the test: it is must when one of them is.
    bool check(bool holds, finding kind, std::string const& message,
               std::source_location where = std::source_location::current());
    // The same, resting on this requirement of standard/: check("p2p.recv.truncated", …).
    bool check(requirement rests_on, bool holds, finding kind, std::string const& message,
               std::source_location where = std::source_location::current());
    // Until the end of its block, checks of this test_run that name no requirement rest on this one.
    class resting {
    public:
        resting(test_run& mpi, requirement on) : mpi_(mpi), before_(mpi.rests_on_) { mpi.rests_on_ = on; }
        ~resting() { mpi_.rests_on_ = before_; }
        resting(resting const&) = delete;
        resting& operator=(resting const&) = delete;

    private:
        test_run& mpi_;
        std::optional<requirement> before_;
    };
    [[nodiscard]] resting resting_on(requirement one) { return {*this, one}; }
    bool check_null(MPI_Request request, std::source_location where = std::source_location::current());

    // Runs `body` in `n` threads at once, of which the caller's is the first, and waits for all. Each gets a test_run of
    // its own: buffers, message keys, tags of k in 0…3, and this communicator or a duplicate that is its own. A second
    // call finds them as the first one left them. Only for tests with own_threads.
    void in_threads(int n, bool own_communicators, std::function<void(test_run&)> const& body);
    std::list<test_run> const& lanes() const { return lanes_; } // the test_runs of the threads

    // The same test on another communicator, in which this process has this place: for communicators that a test makes.
    // Buffers, keys and tags are its own. MPI_ERRORS_RETURN is set.
    test_run& on(MPI_Comm other, membership const& there);

    // Space for buffered sends of `messages` messages of this case (section 3.6). The buffer of a process is shared by
    // the threads of a case and detached when the case ends.
    void attach_buffer(int messages);

    [[noreturn]] void unsupported(std::string reason); // leaves the body; only before any communication
    void needs_procedure(char const* name);            // the same, unless the library has it

    std::vector<int> const& used_tags() const { return tags_; }
    recorder& findings;

private:
    std::size_t value_of(axis_base const& axis) const;
    placement where_to_place() const; // heap for tests that do not cross placements

    surroundings const around_;
    memory_pool& pool_;
    std::list<test_run> lanes_, elsewhere_; // must not move either
    std::vector<int> tags_;
    std::list<buffer> buffers_; // their addresses must not change
    std::optional<requirement> rests_on_;
};

// What distinguishes the data of this case from that of others.
std::uint64_t case_key(planned_case const& c, job const& j);

} // namespace assay
