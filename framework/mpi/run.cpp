#include "framework/mpi/run.hpp"

#include "framework/mpi/attached.hpp"
#include "framework/process/calls.hpp"
#include "framework/process/layer.hpp"

#include <cstring>
#include <fmt/format.h>
#include <thread>
#include <xxhash.h>

namespace assay {
namespace {

layout const no_layout;

layout const& map_of(datatype const* entry) { return entry != nullptr ? entry->map : no_layout; }

template <class Entry> Entry const* entry_of(planned_case const& planned, catalogue_axis<Entry> const& axis) {
    for (std::size_t a = 0; a < planned.values.size(); ++a)
        if (planned.test->axes[a].axis == &axis) return &axis.at(planned.values[a]);
    return nullptr;
}

// To the layer that records: a program that is made of the case checks the same.
void tell(MPI_Status const& status, char const* field, long expected) {
    if (recorded)
        tell_layer({.event = "status", .memory = &status, .text = fmt::format("{} {}", field, expected).c_str()});
}

} // namespace

MPI_Status poisoned_status() {
    MPI_Status status;
    std::memset(&status, poison_byte, sizeof status);
    return status;
}

int followed_version() {
    static int const both = [] {
        int version = 0, subversion = 0;
        MPI_Get_version(&version, &subversion);
        return version * 10 + subversion;
    }();
    return both;
}

test_run::test_run(surroundings const& around)
    : comm(around.comm),
      type(around.type),
      map(map_of(entry_of(around.planned, type_axis()))),
      rank(around.place.rank),
      size(around.place.size),
      remote_size(around.place.remote_size),
      side(around.place.side),
      inter(around.place.remote_size > 0),
      peers(inter ? remote_size : size),
      the_job(around.job),
      comm_entry(entry_of(around.planned, comm_axis())),
      type_entry(entry_of(around.planned, type_axis())),
      findings(around.findings),
      around_(around),
      pool_(*around.pools[static_cast<std::size_t>(around.thread)]) {
    auto const& planned = around_.planned;
    for (std::size_t a = 0; a < planned.values.size(); ++a)
        if (planned.test->axes[a].axis == &count_ladder()) elements = count_ladder().at(planned.values[a]).of(map);
    count = static_cast<int>(elements);
}

std::size_t test_run::value_of(axis_base const& axis) const {
    auto const& planned = around_.planned;
    for (std::size_t a = 0; a < planned.values.size(); ++a)
        if (planned.test->axes[a].axis == &axis) return planned.values[a];
    fmt::print(stderr, "assay-suite: {} uses the axis {} that it does not cross\n", planned.test->full_name(),
               axis.name());
    std::abort();
}

int test_run::tag(int k) {
    int const value = around_.first_tag + k;
    for (int used : tags_)
        if (used == value) return value;
    tags_.push_back(value);
    return value;
}

std::uint64_t test_run::key(int from_side, int from, int to_side, int to, int serial) const {
    auto const id = [this](int s, int r) {
        return (static_cast<std::uint64_t>(around_.place.color) << 33) | (static_cast<std::uint64_t>(s) << 32) |
               static_cast<std::uint32_t>(r);
    };
    return message_key(around_.case_key ^ (static_cast<std::uint64_t>(around_.thread) << 48), id(from_side, from),
                       id(to_side, to), static_cast<std::uint64_t>(serial));
}

std::uint64_t test_run::key_to(int peer, int serial) const {
    return key(side, rank, inter ? 1 - side : side, peer, serial);
}
std::uint64_t test_run::key_from(int peer, int serial) const {
    return key(inter ? 1 - side : side, peer, side, rank, serial);
}

placement test_run::where_to_place() const {
    auto const& planned = around_.planned;
    for (std::size_t a = 0; a < planned.values.size(); ++a)
        if (planned.test->axes[a].axis == &placement_axis()) return placement_axis().at(planned.values[a]);
    return placement::heap;
}

buffer& test_run::outgoing(int to, int serial) {
    auto& b = buffers_.emplace_back(pool_, findings, map, elements, where_to_place());
    b.fill(key_to(to, serial));
    return b;
}

buffer& test_run::incoming() { return incoming(elements); }

buffer& test_run::unfilled(std::size_t n) { return buffers_.emplace_back(pool_, findings, map, n, where_to_place()); }

buffer& test_run::incoming(std::size_t n) {
    auto& b = unfilled(n);
    b.poison();
    return b;
}

buffer& test_run::bytes(layout const& other, std::size_t n) {
    auto& b = buffers_.emplace_back(pool_, findings, other, n, where_to_place());
    b.poison();
    return b;
}

buffer& test_run::over(std::span<unsigned char> memory, void* address, layout const& other, std::size_t n) {
    return buffers_.emplace_back(pool_, findings, other, n, memory, address);
}

bool test_run::ok(int code, std::source_location where) {
    if (code == MPI_SUCCESS) return true;
    check(false, finding::return_, fmt::format("{} returned {}", last_call.name, error_text(code)), where);
    return false;
}

bool test_run::check(bool holds, finding kind, std::string const& message, std::source_location where) {
    if (!holds) findings.add(rests_on_, kind, message, where, around_.thread);
    return holds;
}

bool test_run::check(requirement rests_on, bool holds, finding kind, std::string const& message,
                     std::source_location where) {
    if (!holds) findings.add(rests_on, kind, message, where, around_.thread);
    return holds;
}

bool test_run::check_null(MPI_Request request, std::source_location where) {
    if (request == MPI_REQUEST_NULL) return true;
    return check(false, finding::request, "a completed request must have become MPI_REQUEST_NULL", where);
}

void test_run::in_threads(int n, bool own_communicators, std::function<void(test_run&)> const& body) {
    for (int t = static_cast<int>(lanes_.size()); t < n; ++t) {
        auto lane = surroundings(around_);
        lane.comm = own_communicators ? around_.comms[static_cast<std::size_t>(t)] : comm;
        lane.first_tag += 4 * t;
        lane.thread = t;
        lanes_.emplace_back(lane);
    }
    std::vector<std::string> reasons(lanes_.size()); // why a thread found the case unsupported
    auto const run = [this, &body, &reasons](test_run& lane) {
        auto const thread = lane.around_.thread;
        reasons[static_cast<std::size_t>(thread)] = run_body(findings, thread, [&] { body(lane); });
    };
    {
        std::vector<std::jthread> others; // joined whatever happens
        for (auto lane = std::next(lanes_.begin()); lane != lanes_.end(); ++lane)
            others.emplace_back([&run, &lane = *lane] {
                thread_of_case const known;
                run(lane);
            });
        run(lanes_.front());
    }
    for (auto& reason : reasons)
        if (!reason.empty()) unsupported(std::move(reason));
}

test_run& test_run::on(MPI_Comm other, membership const& there) {
    auto place = surroundings(around_);
    place.comm = other;
    place.place = there;
    place.first_tag = 0;
    ok(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    return elsewhere_.emplace_back(place);
}

void test_run::attach_buffer(int messages) {
    if (messages == 0) return;
    int packed = 0;
    ok(MPI_Pack_size(count, type, comm, &packed));
    auto const bytes = static_cast<std::size_t>(messages) *
                       (static_cast<std::size_t>(packed) + MPI_BSEND_OVERHEAD + 64) *
                       static_cast<std::size_t>(the_job.threads);
    if (int const code = attached_buffer().attach(bytes); code != MPI_SUCCESS)
        findings.add(finding::return_,
                     fmt::format("MPI_Buffer_attach of {} bytes returned {}", bytes, error_text(code)),
                     std::source_location::current(), around_.thread);
}

std::uint64_t case_key(planned_case const& c, job const& j) {
    auto const name = c.name();
    return XXH3_64bits_withSeed(name.data(), name.size(), j.seed);
}

void test_run::unsupported(std::string reason) { throw unsupported_here{std::move(reason)}; }
void test_run::needs_procedure(char const* name) {
    if (auto reason = needs_procedures({name}).lacks(the_job); !reason.empty()) unsupported(std::move(reason));
}

status_check& status_check::source(int expected) {
    tell(status_, "source", expected);
    if (status_.MPI_SOURCE != expected)
        mpi_.check(false, finding::source,
                   fmt::format("status.MPI_SOURCE is {}, expected {}", status_.MPI_SOURCE, expected), where_);
    return *this;
}

status_check& status_check::tag(int expected) {
    tell(status_, "tag", expected);
    if (status_.MPI_TAG != expected)
        mpi_.check(false, finding::tag, fmt::format("status.MPI_TAG is {}, expected {}", status_.MPI_TAG, expected),
                   where_);
    return *this;
}

status_check& status_check::count(std::size_t expected) { return count(expected, mpi_.type, mpi_.map.size()); }

status_check& status_check::count(std::size_t expected, MPI_Datatype type, std::size_t size_of_one) {
    // A datatype of no size: zero bytes are zero copies of it (section 3.2.5).
    auto const copies = size_of_one == 0 ? 0 : static_cast<int>(expected);
    tell(status_, "bytes", static_cast<long>(expected * size_of_one));
    calls_of_the_framework const then_as_before;
    unrecorded const own; // what is checked next is about the call that gave the status
    int got = -1;
    mpi_.ok(MPI_Get_count(&status_, type, &got), where_);
    if (got != copies)
        mpi_.check(false, finding::count,
                   got == MPI_UNDEFINED ? fmt::format("MPI_Get_count gives MPI_UNDEFINED, expected {}", copies)
                                        : fmt::format("MPI_Get_count gives {}, expected {}", got, copies),
                   where_);
    return *this;
}

status_check& status_check::not_cancelled() {
    tell(status_, "cancelled", 0);
    calls_of_the_framework const then_as_before;
    unrecorded const own;
    int flag = -1;
    mpi_.ok(MPI_Test_cancelled(&status_, &flag), where_);
    if (flag != 0)
        mpi_.check(false, finding::cancelled,
                   fmt::format("MPI_Test_cancelled gives flag {} for a message that nobody cancelled", flag), where_);
    return *this;
}

status_check& status_check::error_untouched(requirement rests_on) {
    auto const before = poisoned_status().MPI_ERROR;
    tell(status_, "error", before);
    if (status_.MPI_ERROR != before)
        mpi_.check(rests_on, false, finding::error,
                   fmt::format("status.MPI_ERROR was set to {} by a call that returned MPI_SUCCESS", status_.MPI_ERROR),
                   where_);
    return *this;
}

status_check& status_check::empty() {
    source(MPI_ANY_SOURCE).tag(MPI_ANY_TAG).not_cancelled();
    tell(status_, "bytes", 0);
    calls_of_the_framework const then_as_before;
    unrecorded const own;
    int got = -1;
    mpi_.ok(MPI_Get_count(&status_, MPI_BYTE, &got), where_);
    if (got != 0)
        mpi_.check(false, finding::count, fmt::format("an empty status must give count 0, MPI_Get_count gives {}", got),
                   where_);
    return *this;
}

} // namespace assay
