// Sessions, handles and values of performance variables (MPI-5.0 sections 15.3.7.3 to 15.3.7.6).
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>

using namespace assay;
using namespace assay::tool;

namespace {

axis<int> const classes("class",
                        {{{"state", "a state"}, MPI_T_PVAR_CLASS_STATE},
                         {{"level", "the utilization of a resource"}, MPI_T_PVAR_CLASS_LEVEL},
                         {{"size", "the size of a resource"}, MPI_T_PVAR_CLASS_SIZE},
                         {{"percentage", "the utilization of a resource, 0 to 1"}, MPI_T_PVAR_CLASS_PERCENTAGE},
                         {{"highwatermark", "the highest utilization"}, MPI_T_PVAR_CLASS_HIGHWATERMARK},
                         {{"lowwatermark", "the lowest utilization"}, MPI_T_PVAR_CLASS_LOWWATERMARK},
                         {{"counter", "a number of events"}, MPI_T_PVAR_CLASS_COUNTER},
                         {{"aggregate", "a sum over events"}, MPI_T_PVAR_CLASS_AGGREGATE},
                         {{"timer", "a sum of times"}, MPI_T_PVAR_CLASS_TIMER},
                         {{"generic", "anything else"}, MPI_T_PVAR_CLASS_GENERIC}});

bool counts_up(int c) {
    return c == MPI_T_PVAR_CLASS_COUNTER || c == MPI_T_PVAR_CLASS_AGGREGATE || c == MPI_T_PVAR_CLASS_TIMER;
}
bool grows(int c) { return counts_up(c) || c == MPI_T_PVAR_CLASS_HIGHWATERMARK; }
bool is_nonnegative(int c) {
    return grows(c) || c == MPI_T_PVAR_CLASS_LEVEL || c == MPI_T_PVAR_CLASS_SIZE || c == MPI_T_PVAR_CLASS_LOWWATERMARK;
}

std::vector<pvar> of_class(test_run& mpi) {
    auto all = pvars(mpi);
    std::erase_if(all, [&](pvar const& one) { return one.var_class != mpi.at(classes); });
    if (all.empty()) mpi.unsupported("the MPI library has no performance variable of this class");
    return all;
}

class session {
public:
    explicit session(test_run& mpi) : mpi_(mpi) {
        int const code = MPI_T_pvar_session_create(&handle);
        if (!succeeded(mpi, code, "MPI_T_pvar_session_create")) throw cannot_go_on();
    }
    ~session() {
        if (handle != MPI_T_PVAR_SESSION_NULL) MPI_T_pvar_session_free(&handle);
    }
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    void free() {
        succeeded(mpi_, MPI_T_pvar_session_free(&handle), "MPI_T_pvar_session_free");
        mpi_.check("tools.pvar.session", handle == MPI_T_PVAR_SESSION_NULL, finding::value,
                   "MPI_T_pvar_session_free leaves a session");
    }
    MPI_T_pvar_session handle = MPI_T_PVAR_SESSION_NULL;

private:
    test_run& mpi_;
};

using value = std::vector<unsigned char>;

// The elements of a value as numbers.
std::vector<double> numbers(pvar const& one, value const& bytes) {
    auto const step = size_of(one.type);
    std::vector<double> all;
    for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
        auto const take = [&]<class T>(T element) {
            std::memcpy(&element, bytes.data() + at, sizeof element);
            all.push_back(static_cast<double>(element));
        };
        if (one.type == MPI_DOUBLE) take(double());
        else if (one.type == MPI_INT || one.type == MPI_INT32_T) take(std::int32_t());
        else if (step == 4) take(std::uint32_t());
        else if (one.type == MPI_COUNT || one.type == MPI_INT64_T) take(std::int64_t());
        else if (step == 8) take(std::uint64_t());
    }
    return all;
}

// A handle of a performance variable in a session.
class opened_pvar {
public:
    opened_pvar(test_run& mpi, pvar const& one, MPI_T_pvar_session in, void* object) : mpi_(mpi), one_(one), in_(in) {
        open_ = succeeded(mpi, MPI_T_pvar_handle_alloc(in, one.index, object, &handle, &count),
                          "MPI_T_pvar_handle_alloc of " + one.name) &&
                mpi.check("tools.pvar.alloc", handle != MPI_T_PVAR_HANDLE_NULL && count >= 0, finding::count,
                          fmt::format("{} has {} elements, or a null handle", one.name, count));
    }
    ~opened_pvar() {
        if (handle != MPI_T_PVAR_HANDLE_NULL) MPI_T_pvar_handle_free(in_, &handle);
    }
    opened_pvar(opened_pvar const&) = delete;
    opened_pvar& operator=(opened_pvar const&) = delete;
    explicit operator bool() const { return open_; }

    value read(int (*by)(MPI_T_pvar_session, MPI_T_pvar_handle, void*) = plain) {
        auto const size = size_of(one_.type) * static_cast<std::size_t>(count);
        value bytes(size + 64, poison_byte);
        succeeded(mpi_, by(in_, handle, bytes.data()), "reading " + one_.name);
        mpi_.check("tools.pvar.read",
                   std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end(),
                               [](unsigned char c) { return c == poison_byte; }),
                   finding::guard, "reading " + one_.name + " writes more than its elements");
        bytes.resize(size);
        for (double x : numbers(one_, bytes)) {
            if (is_nonnegative(one_.var_class))
                mpi_.check("tools.pvar.nonnegative", x >= 0, finding::value, fmt::format("{} is {}", one_.name, x));
            if (one_.var_class == MPI_T_PVAR_CLASS_PERCENTAGE)
                mpi_.check("tools.pvar.percentage", x >= 0 && x <= 1, finding::value,
                           fmt::format("{} is {}", one_.name, x));
        }
        return bytes;
    }
    static int plain(MPI_T_pvar_session in, MPI_T_pvar_handle of, void* to) { return MPI_T_pvar_read(in, of, to); }

    // What came later than `before`, without a reset between them.
    void expect_order(value const& before, value const& after) {
        auto const a = numbers(one_, before), b = numbers(one_, after);
        for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
            if (grows(one_.var_class))
                mpi_.check("tools.pvar.monotonic", b[i] >= a[i], finding::value,
                           fmt::format("{} is {}, and then {}", one_.name, a[i], b[i]));
            if (one_.var_class == MPI_T_PVAR_CLASS_LOWWATERMARK)
                mpi_.check("tools.pvar.monotonic", b[i] <= a[i], finding::value,
                           fmt::format("{} is {}, and then {}", one_.name, a[i], b[i]));
        }
    }
    void expect_start(value const& now, char const* when) {
        if (!counts_up(one_.var_class)) return;
        for (double x : numbers(one_, now))
            mpi_.check("tools.pvar.starts_at_zero", x == 0, finding::value,
                       fmt::format("{} is {} {}, expected 0", one_.name, x, when));
    }

    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -77;

private:
    test_run& mpi_;
    pvar const& one_;
    MPI_T_pvar_session in_;
    bool open_ = false;
};

// How a variable of its own accord goes on: reads it some times while the library works.
void watch(test_run& mpi, opened_pvar& a, value before) {
    for (int i = 0; i < 3; ++i) {
        stir(mpi);
        auto const now = a.read();
        a.expect_order(before, now);
        before = now;
    }
}

} // namespace

ASSAY_TEST(tool, pvar_sessions, requirements{"tools.pvar.session"}) {
    open(mpi);
    session first(mpi), second(mpi), third(mpi);
    mpi.check(first.handle != second.handle && second.handle != third.handle && first.handle != third.handle,
              finding::value, "two sessions have the same identifier");
    second.free();
    session fourth(mpi);
    first.free();
    fourth.free();
    third.free();
}

// Values of variables that run, and how they are started, stopped and reset.
ASSAY_TEST(tool, pvar_values,
           requirements{"tools.pvar.alloc", "tools.pvar.free", "tools.pvar.read", "tools.pvar.nonnegative",
                        "tools.pvar.percentage", "tools.pvar.monotonic", "tools.pvar.stopped", "tools.pvar.start",
                        "tools.pvar.no_startstop", "tools.pvar.starts_at_zero", "tools.pvar.object_ignored"},
           over(axis_use{&classes})) {
    open(mpi);
    objects things(mpi);
    session in(mpi);
    for (auto const& one : of_class(mpi)) {
        opened_pvar a(mpi, one, in.handle, things.of(one.bind)), other(mpi, one, in.handle, things.of(one.bind));
        if (!a || !other) continue;
        if (one.bind == MPI_T_BIND_NO_OBJECT) {
            int nonsense[4] = {-1, -1, -1, -1};
            auto const rest = mpi.resting_on("tools.pvar.object_ignored");
            opened_pvar const third(mpi, one, in.handle, nonsense);
        }
        if (one.continuous != 0) {
            auto const rest = mpi.resting_on("tools.pvar.no_startstop");
            returned(mpi, MPI_T_pvar_start(in.handle, a.handle), MPI_T_ERR_PVAR_NO_STARTSTOP,
                     "MPI_T_pvar_start of the continuous " + one.name);
            returned(mpi, MPI_T_pvar_stop(in.handle, a.handle), MPI_T_ERR_PVAR_NO_STARTSTOP,
                     "MPI_T_pvar_stop of the continuous " + one.name);
            watch(mpi, a, a.read());
        } else {
            auto const start = a.read();
            a.expect_start(start, "before it was started");
            stir(mpi);
            mpi.check("tools.pvar.stopped", a.read() == start, finding::value,
                      one.name + " changes before it was started");
            auto const rest = mpi.resting_on("tools.pvar.start");
            succeeded(mpi, MPI_T_pvar_start(in.handle, a.handle), "MPI_T_pvar_start of " + one.name);
            watch(mpi, a, a.read());
            succeeded(mpi, MPI_T_pvar_stop(in.handle, a.handle), "MPI_T_pvar_stop of " + one.name);
            auto const last = a.read();
            stir(mpi);
            mpi.check("tools.pvar.stopped", a.read() == last, finding::value,
                      one.name + " changes after it was stopped");
        }
        auto const rest = mpi.resting_on("tools.pvar.free");
        succeeded(mpi, MPI_T_pvar_handle_free(in.handle, &a.handle), "MPI_T_pvar_handle_free of " + one.name);
        mpi.check(a.handle == MPI_T_PVAR_HANDLE_NULL, finding::value,
                  "MPI_T_pvar_handle_free leaves a handle of " + one.name);
        other.read(); // still valid
    }
}

// Values that the user sets.
ASSAY_TEST(tool, pvar_set,
           requirements{"tools.pvar.write", "tools.pvar.no_write", "tools.pvar.readreset", "tools.pvar.no_atomic",
                        "tools.pvar.starts_at_zero", "tools.pvar.read", "tools.pvar.alloc", "tools.pvar.nonnegative",
                        "tools.pvar.percentage", "tools.pvar.monotonic"},
           over(axis_use{&classes})) {
    open(mpi);
    objects things(mpi);
    session in(mpi);
    for (auto const& one : of_class(mpi)) {
        opened_pvar a(mpi, one, in.handle, things.of(one.bind));
        if (!a) continue;
        bool const can_stop = one.continuous == 0, readonly = one.readonly == 1;
        if (can_stop) {
            MPI_T_pvar_start(in.handle, a.handle);
            stir(mpi);
            MPI_T_pvar_stop(in.handle, a.handle);
        }
        auto now = a.read();
        auto const write = MPI_T_pvar_write(in.handle, a.handle, now.data());
        auto const reset = MPI_T_pvar_reset(in.handle, a.handle);
        if (readonly) {
            auto const rest = mpi.resting_on("tools.pvar.no_write");
            returned(mpi, write, MPI_T_ERR_PVAR_NO_WRITE, "MPI_T_pvar_write of " + one.name);
            returned(mpi, reset, MPI_T_ERR_PVAR_NO_WRITE, "MPI_T_pvar_reset of " + one.name);
            if (can_stop)
                mpi.check(a.read() == now, finding::value, one.name + " can only be read, and changes all the same");
        } else {
            {
                auto const rest = mpi.resting_on("tools.pvar.write");
                succeeded(mpi, write, "MPI_T_pvar_write of " + one.name);
                succeeded(mpi, reset, "MPI_T_pvar_reset of " + one.name);
            }
            if (can_stop) {
                a.expect_start(a.read(), "after MPI_T_pvar_reset");
                value other = now;
                if (!other.empty() && one.type != MPI_DOUBLE && one.values == MPI_T_ENUM_NULL)
                    other[0] = static_cast<unsigned char>(other[0] ^ 1);
                for (auto const& set : {other, now}) {
                    auto const rest = mpi.resting_on("tools.pvar.write");
                    bool const taken = succeeded(mpi, MPI_T_pvar_write(in.handle, a.handle, set.data()),
                                                 "MPI_T_pvar_write of " + one.name);
                    // Elements that are not independent of each other may not take different values.
                    if (taken && !set.empty())
                        mpi.check(std::memcmp(a.read().data(), set.data(), size_of(one.type)) == 0, finding::value,
                                  one.name + " is not what MPI_T_pvar_write has written");
                }
            }
        }
        value bytes(size_of(one.type) * static_cast<std::size_t>(a.count) + 64);
        if (one.atomic == 0) {
            auto const rest = mpi.resting_on("tools.pvar.no_atomic");
            returned(mpi, MPI_T_pvar_readreset(in.handle, a.handle, bytes.data()), MPI_T_ERR_PVAR_NO_ATOMIC,
                     "MPI_T_pvar_readreset of " + one.name);
        } else if (can_stop && !readonly) {
            auto const rest = mpi.resting_on("tools.pvar.readreset");
            now = a.read();
            mpi.check(a.read([](MPI_T_pvar_session s, MPI_T_pvar_handle h, void* to) -> int {
                return MPI_T_pvar_readreset(s, h, to);
            }) == now,
                      finding::value,
                      "MPI_T_pvar_readreset gives another value of " + one.name + " than MPI_T_pvar_read");
            a.expect_start(a.read(), "after MPI_T_pvar_readreset");
        }
    }
}

// All variables of a session at once, and a session that has none.
ASSAY_TEST(tool, pvar_all, requirements{"tools.pvar.all", "tools.pvar.reset_all"}) {
    open(mpi);
    objects things(mpi);
    session in(mpi), empty(mpi);
    auto const all = pvars(mpi);
    std::vector<std::pair<pvar const*, MPI_T_pvar_handle>> handles;
    for (auto const& one : all) {
        MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
        int count = 0;
        if (MPI_T_pvar_handle_alloc(in.handle, one.index, things.of(one.bind), &handle, &count) == MPI_SUCCESS &&
            count <= 4096)
            handles.emplace_back(&one, handle);
    }
    auto const read = [&](pvar const& one, MPI_T_pvar_handle handle) {
        value bytes(size_of(one.type) * 4096);
        MPI_T_pvar_read(in.handle, handle, bytes.data());
        return bytes;
    };
    for (auto s : {in.handle, empty.handle}) {
        auto const which = s == in.handle ? "of all handles" : "of a session without handles";
        for (int turn = 0; turn < 2; ++turn) { // those that run, and those that do not, are ignored
            auto const rest = mpi.resting_on("tools.pvar.all");
            succeeded(mpi, MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES), fmt::format("MPI_T_pvar_start {}", which));
        }
        stir(mpi);
        for (int turn = 0; turn < 2; ++turn) {
            auto const rest = mpi.resting_on("tools.pvar.all");
            succeeded(mpi, MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES), fmt::format("MPI_T_pvar_stop {}", which));
        }
    }
    std::vector<value> last;
    for (auto const& [one, handle] : handles) last.push_back(read(*one, handle));
    stir(mpi);
    for (std::size_t i = 0; i < handles.size(); ++i) {
        auto const& [one, handle] = handles[i];
        if (one->continuous == 0)
            mpi.check("tools.pvar.all", read(*one, handle) == last[i], finding::value,
                      one->name + " changes after all were stopped");
    }
    for (auto s : {in.handle, empty.handle}) {
        auto const rest = mpi.resting_on("tools.pvar.reset_all");
        succeeded(mpi, MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES), "MPI_T_pvar_reset of all handles");
    }
    for (auto const& [one, handle] : handles)
        if (one->continuous == 0 && one->readonly == 0 && counts_up(one->var_class))
            mpi.check("tools.pvar.reset_all", numbers(*one, read(*one, handle))[0] == 0, finding::value,
                      one->name + " is not 0 after all were reset");
}

// Two sessions with the same variable do not disturb each other, and do not take each other's handles.
ASSAY_TEST(tool, pvar_sessions_apart, requirements{"tools.pvar.sessions_apart"}, over(axis_use{&classes})) {
    open(mpi);
    objects things(mpi);
    session one_session(mpi), other_session(mpi);
    bool tried = false;
    for (auto const& one : of_class(mpi)) {
        if (one.continuous != 0) continue;
        int count = 0;
        MPI_T_pvar_handle a = MPI_T_PVAR_HANDLE_NULL, b = MPI_T_PVAR_HANDLE_NULL;
        auto const object = things.of(one.bind);
        if (!succeeded(mpi, MPI_T_pvar_handle_alloc(one_session.handle, one.index, object, &a, &count),
                       "MPI_T_pvar_handle_alloc of " + one.name) ||
            !succeeded(mpi, MPI_T_pvar_handle_alloc(other_session.handle, one.index, object, &b, &count),
                       "MPI_T_pvar_handle_alloc of " + one.name))
            continue;
        tried = true;
        auto const read = [&] {
            value bytes(size_of(one.type) * static_cast<std::size_t>(count));
            succeeded(mpi, MPI_T_pvar_read(one_session.handle, a, bytes.data()), "MPI_T_pvar_read of " + one.name);
            return bytes;
        };
        MPI_T_pvar_start(one_session.handle, a);
        stir(mpi);
        MPI_T_pvar_stop(one_session.handle, a);
        auto const stopped = read();
        value bytes(stopped.size());
        MPI_T_pvar_start(other_session.handle, b);
        stir(mpi);
        mpi.check(read() == stopped, finding::value, one.name + " is started in another session, and runs in this one");
        MPI_T_pvar_stop(other_session.handle, b);
        MPI_T_pvar_reset(other_session.handle, b);
        mpi.check(read() == stopped, finding::value,
                  one.name + " is reset in another session, and changes in this one");
        if (one.readonly == 0) {
            MPI_T_pvar_write(other_session.handle, b, bytes.data());
            mpi.check(read() == stopped, finding::value,
                      one.name + " is written in another session, and changes in this one");
        }
        MPI_T_pvar_handle_free(one_session.handle, &a);
        MPI_T_pvar_handle_free(other_session.handle, &b);
    }
    if (!tried) mpi.unsupported("the MPI library has no performance variable of this class that can be stopped");
}

namespace {

struct use {
    char const* call;
    int (*with)(MPI_T_pvar_session, MPI_T_pvar_handle, void* value);
};
axis<use> const
    uses("call",
         {{{"start", "MPI_T_pvar_start"},
           {"MPI_T_pvar_start",
            [](MPI_T_pvar_session s, MPI_T_pvar_handle h, void*) -> int { return MPI_T_pvar_start(s, h); }}},
          {{"stop", "MPI_T_pvar_stop"},
           {"MPI_T_pvar_stop",
            [](MPI_T_pvar_session s, MPI_T_pvar_handle h, void*) -> int { return MPI_T_pvar_stop(s, h); }}},
          {{"read", "MPI_T_pvar_read"},
           {"MPI_T_pvar_read",
            [](MPI_T_pvar_session s, MPI_T_pvar_handle h, void* v) -> int { return MPI_T_pvar_read(s, h, v); }}},
          {{"write", "MPI_T_pvar_write"},
           {"MPI_T_pvar_write",
            [](MPI_T_pvar_session s, MPI_T_pvar_handle h, void* v) -> int { return MPI_T_pvar_write(s, h, v); }}},
          {{"reset", "MPI_T_pvar_reset"},
           {"MPI_T_pvar_reset",
            [](MPI_T_pvar_session s, MPI_T_pvar_handle h, void*) -> int { return MPI_T_pvar_reset(s, h); }}},
          {{"readreset", "MPI_T_pvar_readreset"},
           {"MPI_T_pvar_readreset",
            [](MPI_T_pvar_session s, MPI_T_pvar_handle h, void* v) -> int { return MPI_T_pvar_readreset(s, h, v); }}},
          {{"handle_free", "MPI_T_pvar_handle_free"},
           {"MPI_T_pvar_handle_free",
            [](MPI_T_pvar_session s, MPI_T_pvar_handle h, void*) -> int { return MPI_T_pvar_handle_free(s, &h); }}}});

} // namespace

ASSAY_TEST(tool, pvar_other_session, requirements{"tools.pvar.other_session"}, over(axis_use{&uses})) {
    open(mpi);
    objects things(mpi);
    session own(mpi), foreign(mpi);
    for (auto const& one : pvars(mpi)) {
        MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
        int count = 0;
        if (MPI_T_pvar_handle_alloc(own.handle, one.index, things.of(one.bind), &handle, &count) != MPI_SUCCESS)
            continue;
        value bytes(size_of(one.type) * static_cast<std::size_t>(count) + 64);
        auto const& u = mpi.at(uses);
        int const code = u.with(foreign.handle, handle, bytes.data());
        // What the variable refuses in its own session, too, may be refused for that reason.
        bool const right =
            code == MPI_T_ERR_PVAR_NO_STARTSTOP || code == MPI_T_ERR_PVAR_NO_WRITE ||
            code == MPI_T_ERR_PVAR_NO_ATOMIC ||
            returned(mpi, code, MPI_T_ERR_INVALID_HANDLE,
                     fmt::format("{} of {} in a session that did not allocate the handle", u.call, one.name));
        if (!right) return; // the handle may be gone
        MPI_T_pvar_handle_free(own.handle, &handle);
    }
}
