#include "framework/mpi/engine.hpp"
#include "framework/check/logical.hpp"

#include "framework/mpi/attached.hpp"
#include "framework/mpi/child.hpp"
#include "framework/process/event_log.hpp"
#include "framework/process/layer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace assay {
namespace {

int lowest_free_descriptor() {
    int const fd = fcntl(2, F_DUPFD, 3);
    if (fd >= 0) close(fd);
    return fd;
}

bool is_free(int descriptor) { return fcntl(descriptor, F_GETFD) < 0; }

long size_of_stderr() {
    struct stat s {};
    return fstat(2, &s) == 0 && S_ISREG(s.st_mode) ? static_cast<long>(s.st_size) : -1;
}

std::string new_stderr(long from, long to) {
    std::string text(static_cast<std::size_t>(std::min<long>(to - from, 1 << 20)), '\0');
    // stderr was opened for writing: read the file by its other name.
    int const fd = open("/proc/self/fd/2", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return "(unreadable)";
    auto const n = pread(fd, text.data(), text.size(), from);
    close(fd);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
}

std::string difference(MPI_Comm comm, membership const& expected, bool inter) {
    calls_of_the_framework const then_as_before;
    unrecorded const own;
    int rank = -1, size = -1, remote = 0, is_inter = opposite(inter);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_test_inter(comm, &is_inter);
    if (logical(is_inter) != inter) return fmt::format("MPI_Comm_test_inter gives {}", is_inter);
    if (inter) MPI_Comm_remote_size(comm, &remote);
    if (rank == expected.rank && size == expected.size && remote == expected.remote_size) return "";
    return fmt::format("rank/size/remote size are {}/{}/{}, by definition {}/{}/{}", rank, size, remote, expected.rank,
                       expected.size, expected.remote_size);
}

char const* level_name(int level) {
    return level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
           : level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED"
                                          : "MPI_THREAD_SINGLE";
}

} // namespace

engine::engine(job const& j) : job_(j) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size_);
    MPI_Comm_dup(MPI_COMM_WORLD, &sync_);
    MPI_Query_thread(&thread_level_);
    recorder_.memory = requirement("terms.memory");
    lowest_descriptor_ = lowest_free_descriptor();
    stderr_size_ = size_of_stderr();
}

engine::~engine() = default;

engine::made_communicator const& engine::communicator_for(communicator const& entry, int thread, bool own) {
    auto const key = std::make_tuple(&entry, thread, own);
    if (auto const found = comms_.find(key); found != comms_.end()) return found->second;
    made_communicator made;
    made.place = entry.layout(world_size_, world_rank_);
    try {
        if (thread == 0 && !own) {
            made.comm = entry.make();
        } else if (auto const& base = communicator_for(entry, 0, false); !base.broken.empty() || base.failure) {
            made.broken = base.broken;
            made.failure = base.failure;
        } else if (base.comm != MPI_COMM_NULL) {
            must(MPI_Comm_dup(base.comm, &made.comm), "MPI_Comm_dup");
        }
        bool const wanted = made.place.member && entry.kind != comm_kind::null;
        if (!made.broken.empty() || made.failure) {
            // known already
        } else if ((made.comm != MPI_COMM_NULL) != wanted) {
            made.broken =
                wanted ? "MPI_COMM_NULL on a rank that is a member" : "a communicator on a rank that is not a member";
        } else if (wanted) {
            must(MPI_Comm_set_errhandler(made.comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
            made.broken = difference(made.comm, made.place, entry.kind == comm_kind::inter);
        }
    } catch (end_of_body const& failure) {
        made.failure = failure;
    }
    return comms_.emplace(key, made).first->second;
}

MPI_Datatype engine::datatype_for(datatype const& entry) {
    auto const found = types_.find(&entry);
    return found != types_.end() ? found->second : types_.emplace(&entry, entry.make()).first->second;
}

// A library that gives back a reference too many frees a datatype that is still in use. The case that did it must fail, not
// one that comes later and dies.
void engine::look_at(datatype const& entry) {
    auto const found = types_.find(&entry);
    if (entry.predefined || found == types_.end() || found->second == MPI_DATATYPE_NULL) return;
    int size = -1;
    {
        calls_of_the_framework const then_as_before;
        unrecorded const own;
        MPI_Type_size(found->second, &size);
    }
    if (static_cast<std::size_t>(size) == entry.map.size()) return;
    recorder_.add(requirement("datatype.lasting"), finding::value,
                  fmt::format("datatype {} is damaged: after the case MPI_Type_size gives {}, expected {}", entry.name,
                              size, entry.map.size()),
                  std::source_location::current());
    types_.erase(found);
}

// A dissemination barrier (Hensgen, Finkel, Manber 1988) out of zero-byte messages: some libraries' MPI_Barrier takes
// milliseconds when there are more ranks than cores.
void engine::synchronize() {
    calls_of_the_framework const then_as_before;
    unrecorded const own;
    for (int distance = 1; distance < world_size_; distance *= 2) {
        MPI_Sendrecv(nullptr, 0, MPI_BYTE, (world_rank_ + distance) % world_size_, 0, nullptr, 0, MPI_BYTE,
                     (world_rank_ - distance + world_size_) % world_size_, 0, sync_, MPI_STATUS_IGNORE);
    }
}

void engine::check_leftover_messages(test_run& mpi, planned_case const& c) {
    ended_case ended{c, {}};
    bool left = false;
    auto const look = [&](MPI_Comm comm, std::vector<int> const& tags) {
        if (comm == MPI_COMM_NULL) return;
        for (int tag : tags) {
            left = is_left(comm, tag) || left;
            ended.tags.emplace_back(comm, tag);
        }
    };
    look(mpi.comm, mpi.used_tags());
    for (auto const& lane : mpi.lanes()) look(lane.comm, lane.used_tags());
    // A case that failed may leave messages for that reason, and has been reported.
    if (left || recorder_.failed(false) || ended.tags.empty()) return;
    std::lock_guard const lock(ended_mutex_);
    ended_.push_back(std::move(ended));
}

void engine::check_late_messages(planned_case const& c) {
    synchronize();
    for (auto const& ended : ended_)
        for (auto const& [comm, tag] : ended.tags)
            is_left(comm, tag,
                    ended.planned.test == c.test && ended.planned.values == c.values ? "" : ended.planned.name());
    ended_.clear();
}

bool engine::is_left(MPI_Comm comm, int tag, std::string const& of_case) {
    int flag = 0;
    MPI_Status status;
    {
        calls_of_the_framework const then_as_before;
        unrecorded const own;
        if (comm == MPI_COMM_NULL || MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &flag, &status) != MPI_SUCCESS) return false;
    }
    if (flag == 0) return false;
    recorder_.add(
        requirement("p2p.message.once"), finding::leftover,
        fmt::format("a message from rank {} with tag {} is left that nobody received{}", status.MPI_SOURCE,
                    status.MPI_TAG,
                    of_case.empty() ? "" : fmt::format("; it came late, the case that used this tag is {}", of_case)),
        std::source_location::current());
    return true;
}

engine::outcome engine::run_once(planned_case const& c, int serial) {
    auto const& t = *c.test;
    if (t.own_threads > 1 && thread_level_ < MPI_THREAD_MULTIPLE)
        return {'u', fmt::format("needs MPI_THREAD_MULTIPLE; the MPI library provides {}", level_name(thread_level_))};
    communicator const* comm_entry = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    for (std::size_t a = 0; a < c.values.size(); ++a) {
        if (t.axes[a].axis == &comm_axis()) comm_entry = &comm_axis().at(c.values[a]);
        if (t.axes[a].axis == &type_axis()) {
            auto const& entry = type_axis().at(c.values[a]);
            try {
                type = datatype_for(entry);
            } catch (end_of_body const& failure) {
                failure.record_in(recorder_);
                return {'f', ""};
            }
            if (type == MPI_DATATYPE_NULL) return {'u', fmt::format("the MPI library has no datatype {}", entry.name)};
        }
    }
    int const bodies = t.thread_safe ? job_.threads : 1, threads = std::max(bodies, t.own_threads);
    static made_communicator const none{MPI_COMM_NULL, {}, "", {}};
    std::vector<made_communicator const*> comms; // collective, so before any thread starts
    for (int thread = 0; thread < threads; ++thread)
        comms.push_back(
            comm_entry != nullptr
                ? &communicator_for(*comm_entry, thread, t.own_communicator && comm_entry->kind != comm_kind::null)
                : &none);
    std::vector<MPI_Comm> handles;
    for (auto const* made : comms) {
        if (made->failure) {
            made->failure->record_in(recorder_);
            return {'f', ""};
        }
        if (!made->broken.empty()) {
            recorder_.add(requirement("comm.members"), finding::value,
                          fmt::format("communicator {}: {}", comm_entry->name, made->broken),
                          std::source_location::current());
            return {'f', ""};
        }
        handles.push_back(made->comm);
    }
    while (pools_.size() < comms.size()) pools_.push_back(std::make_unique<memory_pool>());
    // MPI_COMM_NULL has no members, yet there are tests of what can be done without a communicator.
    bool const member = comms[0]->place.member || (comm_entry != nullptr && comm_entry->kind == comm_kind::null);
    auto const key = case_key(c, job_);
    std::string unsupported;
    auto const body = [&](int thread) {
        // Threads may share a communicator that the test did not choose, such as MPI_COMM_SELF: each has tags of its
        // own. All stay below 32767, the smallest MPI_TAG_UB (section 9.1.2).
        int const first_tag = (serial * job_.threads + thread) % 1024 * 16;
        test_run mpi({job_, c, recorder_, handles[static_cast<std::size_t>(thread)], comms[0]->place, type, key,
                      first_tag, thread, pools_, handles});
        auto reason = run_body(recorder_, thread, [&] { t.body(mpi); });
        if (thread == 0) unsupported = std::move(reason);
        check_leftover_messages(mpi, c);
    };
    if (member) {
        auto const in_thread = [&body](int thread) {
            return std::jthread([&body, thread] {
                thread_of_case const known;
                body(thread);
            });
        };
        if (t.threads_in_turns) {
            body(0);
            for (int thread = 1; thread < bodies; ++thread) in_thread(thread).join();
        } else {
            std::vector<std::jthread> others;
            for (int thread = 1; thread < bodies; ++thread) others.push_back(in_thread(thread));
            body(0);
        }
        calls_of_the_framework const then_as_before;
        unrecorded const own;
        if (auto const* wrong = attached_buffer().detach(); *wrong != '\0')
            recorder_.add(finding::return_, wrong, std::source_location::current());
    }
    for (std::size_t a = 0; a < c.values.size(); ++a)
        if (t.axes[a].axis == &type_axis()) look_at(type_axis().at(c.values[a]));
    for (auto& pool : pools_) pool->take_back();
    if (t.own_communicator) {
        // A rank that ran ahead must not hand its next messages to a wildcard of this case. Between two synchronizations
        // all messages of the case are sent and no others: whatever is there was not asked for, whatever its tag.
        synchronize();
        if (member)
            for (auto const* made : comms) is_left(made->comm, MPI_ANY_TAG);
        synchronize();
    }
    if (!unsupported.empty()) return {'u', unsupported};
    if (!member) return {'-', ""};
    return {recorder_.failed(job_.strict) ? 'f' : 'p', ""};
}

// What was made under one setting is freed before the next one, and no rank is still in a case of the other. So a setting finds
// what the first case of a launch finds.
void engine::set_layer_for(planned_case const& c) {
    if (c.setting == setting_) return;
    setting_ = c.setting;
    set_layer("");
    free_objects();
    for (auto comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    descriptor_growth_.clear();
    lowest_descriptor_ = lowest_free_descriptor();
    synchronize();
    set_layer(setting_);
}

std::vector<std::string> engine::run(planned_case const& c, long index, bool last) {
    set_layer_for(c);
    events().begin(index);
    if (recorded) tell_layer({.event = "case", .text = c.name().c_str()});
    recorder_.begin(index, c.test->rests_on);
    outcome result{'p', ""};
    for (int i = 0; i < job_.repeat; ++i) {
        // Every time on every rank, also where it is no member: ranks may synchronize after each one.
        auto once = run_once(c, serial_++);
        if (once.status != 'p') result = std::move(once);
    }
    // Often enough that no tag is used again before (there are 1024 sets), and that a late message is found near its case.
    constexpr long between = 32;
    if (index % between == between - 1 || last) check_late_messages(c);
    auto const here = std::source_location::current();
    if (!is_free(lowest_descriptor_)) { // a new descriptor takes the lowest free number
        int const lowest = lowest_free_descriptor();
        // Libraries open descriptors when a path is first used; one that does so in case after case leaks them.
        if (++descriptor_growth_[c.test] == 8)
            recorder_.add(
                requirement("terms.descriptors"), finding::fd,
                fmt::format("file descriptors are left open by case after case of this test (lowest free one: {})",
                            lowest),
                here);
        lowest_descriptor_ = lowest;
    }
    if (long const size = size_of_stderr(); size != stderr_size_) {
        if (size > stderr_size_ && stderr_size_ >= 0) {
            // Spawned processes tell their findings here (child.cpp); whatever else is there is the library's.
            auto const text = new_stderr(stderr_size_, size);
            recorder_.add(told_by_child(text) ? std::nullopt : std::optional(requirement("terms.silence")),
                          finding::stderr_, "unexpected output on stderr: " + text.substr(0, 2000), here);
        }
        stderr_size_ = size;
    }
    if (result.status == 'p' && recorder_.failed(job_.strict)) result.status = 'f';
    events().end(index, result.status, result.reason);
    if (recorded) tell_layer({.event = "end"});
    if (result.status == 'f') return recorder_.messages();
    recorder_.print_advice(c.name());
    return {};
}

void engine::free_objects() {
    for (auto& [key, made] : comms_) {
        auto const& [entry, thread, own] = key;
        bool const duplicate = thread != 0 || own;
        if (made.comm != MPI_COMM_NULL && (duplicate || !entry->predefined)) MPI_Comm_free(&made.comm);
    }
    for (auto& [key, made] : comms_)
        if (auto const& [entry, thread, own] = key; thread == 0 && !own && entry->release) entry->release();
    for (auto& [entry, type] : types_)
        if (!entry->predefined && type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    comms_.clear();
    types_.clear();
}

void engine::tear_down() {
    free_objects();
    if (sync_ != MPI_COMM_NULL) MPI_Comm_free(&sync_);
}

} // namespace assay
