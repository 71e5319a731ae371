// Handles as integers: those of MPI-5.0 section 20.4.5 (MPI_Comm_toint, MPI_Comm_fromint and so on) and those for Fortran
// of section 19.3.4 (MPI_Comm_c2f, MPI_Comm_f2c and so on). Both lead back to the same object.
#include "suites/abi/kinds.hpp"

#include <array>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

using namespace assay;

namespace {

// What the checks rest on, either way.
struct rules {
    requirement null, predefined, equal, distinct, reused, freed, threads;
};
constexpr rules to_integers = {"abi.int.null",   "abi.int.predefined", "abi.int.equal",  "abi.int.distinct",
                               "abi.int.reused", "abi.int.freed",      "abi.int.threads"};
constexpr rules to_fortran = {"lang.c2f.null",   "lang.c2f.predefined", "lang.c2f.equal",  "lang.c2f.distinct",
                              "lang.c2f.reused", "lang.objects.freed",  "lang.c2f.threads"};

// A pair of procedures that convert one kind of handle.
class conversion {
public:
    virtual ~conversion() = default;
    virtual void null(test_run& mpi) const = 0;
    virtual void predefined(test_run& mpi) const = 0;
    virtual void made(test_run& mpi) const = 0;
    virtual void several(test_run& mpi) const = 0;
    virtual void reused(test_run& mpi) const = 0;
    virtual void freed(test_run& mpi) const = 0;
    virtual void in_threads(test_run& mpi) const = 0;
};

template <class Handle> class conversion_of : public conversion {
public:
    using out_function = long long (*)(Handle);
    using in_function = Handle (*)(long long);
    conversion_of(abi::kind<Handle> const& kind, out_function out, in_function in, requirement own, bool fortran)
        : kind_(kind), out_(out), in_(in), own_(own), fortran_(fortran), rules_(fortran ? to_fortran : to_integers) {}

    void null(test_run& mpi) const override {
        auto const number = out_(kind_.null);
        mpi.check(rules_.null, in_(number) == kind_.null, finding::value,
                  fmt::format("the null handle becomes {}, which does not lead to the null handle", number));
    }

    void predefined(test_run& mpi) const override {
        bool const standard = !fortran_ && abi::has_standard_abi();
        for (auto const& one : kind_.constants) {
            // Before the ABI, a datatype that the library did not have was null.
            if (one.handle == kind_.null && &one != &kind_.constants.front()) continue;
            auto const number = out_(one.handle);
            mpi.check(rules_.predefined, in_(number) == one.handle, finding::value,
                      fmt::format("{} becomes {}, which does not lead to {}", one.name, number, one.name));
            if (standard)
                mpi.check("abi.int.values", number == one.value, finding::value,
                          fmt::format("{} becomes {}, expected {}", one.name, number, one.value));
            if (!fortran_) stable(mpi, one.handle, number, one.name);
        }
    }

    void made(test_run& mpi) const override {
        abi::room its;
        bool const standard = abi::has_standard_abi();
        Handle handle = kind_.make(mpi, its, 0);
        if (handle == kind_.null) return;
        auto const number = out_(handle);
        if (!fortran_) stable(mpi, handle, number, "the handle");
        if (standard) {
            auto const bits = abi::bits(handle);
            mpi.check("abi.handles.reserved", bits < 0 || bits > last_reserved, finding::value,
                      fmt::format("the handle is {}, of those that are reserved for predefined ones", bits));
            if (!fortran_)
                mpi.check("abi.int.reserved", number < 1 || number > last_reserved, finding::value,
                          fmt::format("the handle becomes {}, of the integers of predefined handles", number));
        }
        Handle back = in_(number);
        mpi.check(rules_.equal, back == handle, finding::value,
                  fmt::format("{} leads to another handle than the one that became it", number));
        if (back == kind_.null) {
            mpi.check(own_, false, finding::value, fmt::format("{} leads to the null handle", number));
            return kind_.release(mpi, its, handle);
        }
        use(mpi, its, back, 0, own_);
        if (!kind_.once) kind_.release(mpi, its, handle);
    }

    void several(test_run& mpi) const override {
        std::array<abi::room, abi::most_objects> rooms;
        std::array<Handle, abi::most_objects> handles;
        std::array<long long, abi::most_objects> numbers{};
        for (std::size_t i = 0; i < handles.size(); ++i) {
            handles[i] = kind_.make(mpi, rooms[i], static_cast<int>(i));
            if (handles[i] == kind_.null) return;
            numbers[i] = out_(handles[i]);
        }
        mpi.check(rules_.distinct, std::set(numbers.begin(), numbers.end()).size() == numbers.size(), finding::value,
                  fmt::format("the handles of four objects become {}", fmt::join(numbers, ", ")));
        std::array<Handle, abi::most_objects> backs; // all, before any other conversion
        for (std::size_t i = 0; i < backs.size(); ++i) backs[i] = in_(numbers[i]);
        for (std::size_t i = handles.size(); i-- > 0;) {
            if (!fortran_) stable(mpi, handles[i], numbers[i], "the handle");
            if (!mpi.check(own_, backs[i] != kind_.null, finding::value,
                           fmt::format("{} leads to the null handle", numbers[i]))) {
                kind_.release(mpi, rooms[i], handles[i]);
                continue;
            }
            use(mpi, rooms[i], backs[i], static_cast<int>(i), own_);
            if (!kind_.once) kind_.release(mpi, rooms[i], handles[i]);
        }
    }

    void reused(test_run& mpi) const override {
        for (int i = 0; i < 3; ++i) {
            abi::room before, its;
            Handle first = kind_.make(mpi, before, 1);
            if (first == kind_.null) return;
            auto const gone = out_(first);
            kind_.release(mpi, before, first);
            Handle handle = kind_.make(mpi, its, 2); // may take the place of the freed one
            if (handle == kind_.null) return;
            auto const number = out_(handle);
            Handle back = in_(number);
            if (!mpi.check(rules_.reused, back != kind_.null, finding::value,
                           fmt::format("{} leads to the null handle; the object freed before was {}", number, gone)))
                return kind_.release(mpi, its, handle);
            use(mpi, its, back, 2, rules_.reused);
            if (!kind_.once) kind_.release(mpi, its, handle);
        }
    }

    void freed(test_run& mpi) const override {
        abi::room its;
        Handle const handle = kind_.make(mpi, its, 0);
        if (handle == kind_.null) return;
        Handle back = in_(out_(handle));
        if (!mpi.check(rules_.freed, back != kind_.null, finding::value, "the handle leads to the null handle")) {
            Handle original = handle;
            return kind_.release(mpi, its, original);
        }
        auto const was = mpi.resting_on(rules_.freed);
        kind_.release(mpi, its, back);
        mpi.check(back == kind_.null, finding::value, "freeing the object did not make its converted handle null");
    }

    // Each thread converts its own object and several predefined handles all the time; then each takes what the next has made.
    void in_threads(test_run& mpi) const override {
        std::array<abi::room, abi::most_objects> rooms;
        std::array<Handle, abi::most_objects> handles;
        std::array<long long, abi::most_objects> numbers{};
        for (std::size_t i = 0; i < handles.size(); ++i) {
            handles[i] = kind_.make(mpi, rooms[i], static_cast<int>(i));
            if (handles[i] == kind_.null) return;
        }
        bool const equal = in_(out_(handles[0])) == handles[0]; // which is no must
        mpi.in_threads(abi::most_objects, false, [&](test_run& mine) {
            auto const me = static_cast<std::size_t>(mine.thread());
            numbers[me] = out_(handles[me]);
            for (int i = 0; i < 200; ++i) {
                auto const& one = kind_.constants[static_cast<std::size_t>(i) % kind_.constants.size()];
                bool const right = (in_(out_(handles[me])) == handles[me]) == equal;
                bool const absent = one.handle == kind_.null;
                if (!mine.check(rules_.threads, right && (absent || in_(out_(one.handle)) == one.handle),
                                finding::value,
                                fmt::format("after {} conversions {} does not lead to its handle any more", i,
                                            right ? one.name : "the handle of an object")))
                    return;
            }
        });
        std::mutex turns; // so that the objects, but not the conversions, are used one after the other
        mpi.in_threads(abi::most_objects, false, [&](test_run& mine) {
            auto const next = static_cast<std::size_t>(mine.thread() + 1) % handles.size();
            Handle back = in_(numbers[next]);
            std::lock_guard const lock(turns);
            if (!mine.check(rules_.threads, back != kind_.null, finding::value,
                            fmt::format("{} of another thread leads to the null handle", numbers[next])))
                return kind_.release(mine, rooms[next], handles[next]);
            // Tags of the thread that made the objects.
            use(mpi, rooms[next], back, static_cast<int>(next), rules_.threads);
            if (!kind_.once) kind_.release(mpi, rooms[next], handles[next]);
        });
    }

private:
    static constexpr std::intptr_t last_reserved = 4095;

    void stable(test_run& mpi, Handle handle, long long number, std::string const& what) const {
        auto const again = out_(handle);
        mpi.check("abi.int.stable", again == number, finding::value,
                  fmt::format("{} becomes {} and then {}", what, number, again));
    }
    void use(test_run& mpi, abi::room& its, Handle& handle, int which, requirement rests_on) const {
        auto const resting = mpi.resting_on(rests_on);
        auto const seen = kind_.use(mpi, its, handle, which);
        mpi.check(seen.empty(), finding::value,
                  fmt::format("the converted handle of object {} leads to something else: {}", which, seen));
        if (kind_.once)
            mpi.check(handle == kind_.null, finding::value, "the object was used up, and its handle is not null");
    }

    abi::kind<Handle> const& kind_;
    out_function out_;
    in_function in_;
    requirement own_;
    bool fortran_;
    rules rules_;
};

using conversion_of_kind = std::shared_ptr<conversion const>;

needs with(char const* out, char const* in, std::vector<char const*> more) {
    more.push_back(out);
    more.push_back(in);
    return needs_procedures(std::move(more));
}
needs two_ranks_with(char const* out, char const* in, std::vector<char const*> more) {
    auto const procedures = with(out, in, std::move(more));
    return {[procedures](job const& j) {
        return j.np < 2 ? "needs at least 2 ranks; this job has 1" : procedures.lacks(j);
    }};
}

// PREFIX as in MPI_Comm_toint; HANDLE is its type in C.
#define TO_INTEGER(PREFIX, HANDLE, KIND, RULE)                                                                         \
    std::make_shared<conversion_of<HANDLE>>(                                                                           \
        abi::KIND(), [](HANDLE handle) -> long long { return PREFIX##_toint(handle); },                                \
        [](long long number) -> HANDLE { return PREFIX##_fromint(static_cast<int>(number)); }, requirement(RULE),      \
        false)
#define TO_FORTRAN(PREFIX, HANDLE, KIND, RULE)                                                                         \
    std::make_shared<conversion_of<HANDLE>>(                                                                           \
        abi::KIND(), [](HANDLE handle) -> long long { return PREFIX##_c2f(handle); },                                  \
        [](long long number) -> HANDLE { return PREFIX##_f2c(static_cast<MPI_Fint>(number)); }, requirement(RULE),     \
        true)
#define INTEGER_ROW(NAME, NOTE, NEEDS, PREFIX, HANDLE, KIND, RULE, ...)                                                \
    {{NAME, NOTE, NEEDS(#PREFIX "_toint", #PREFIX "_fromint", {__VA_ARGS__})},                                         \
     TO_INTEGER(PREFIX, HANDLE, KIND, "abi.int." RULE)},
#define FORTRAN_ROW(NAME, NOTE, NEEDS, PREFIX, HANDLE, KIND, RULE, ...)                                                \
    {{NAME, NOTE, NEEDS(#PREFIX "_c2f", #PREFIX "_f2c", {__VA_ARGS__})},                                               \
     TO_FORTRAN(PREFIX, HANDLE, KIND, "lang.c2f." RULE)},
// The same kinds for both conversions.
#define KINDS(ROW)                                                                                                     \
    ROW("comm", "", with, MPI_Comm, MPI_Comm, comms, "comm")                                                           \
    ROW("datatype", "", with, MPI_Type, MPI_Datatype, datatypes, "datatype")                                           \
    ROW("errhandler", "", with, MPI_Errhandler, MPI_Errhandler, errhandlers, "errhandler")                             \
    ROW("file", "", with, MPI_File, MPI_File, files, "file")                                                           \
    ROW("group", "", two_ranks_with, MPI_Group, MPI_Group, groups, "group")                                            \
    ROW("info", "", with, MPI_Info, MPI_Info, infos, "info")                                                           \
    ROW("message", "", with, MPI_Message, MPI_Message, messages, "message")                                            \
    ROW("op", "", with, MPI_Op, MPI_Op, ops, "op")                                                                     \
    ROW("request", "of a nonblocking receive", with, MPI_Request, MPI_Request, requests, "request")                    \
    ROW("persistent", "request of a persistent receive", with, MPI_Request, MPI_Request, persistent_requests,          \
        "request")                                                                                                     \
    ROW("session", "", with, MPI_Session, MPI_Session, sessions, "session", "MPI_Session_init",                        \
        "MPI_Session_create_errhandler", "MPI_Session_call_errhandler", "MPI_Session_set_errhandler",                  \
        "MPI_Session_get_num_psets")                                                                                   \
    ROW("win", "", with, MPI_Win, MPI_Win, wins, "win")

axis<conversion_of_kind> const integers("handle", {KINDS(INTEGER_ROW)});
axis<conversion_of_kind> const for_fortran("handle", {KINDS(FORTRAN_ROW)});

// What becomes of the object between the two conversions.
using state = void (*)(conversion const&, test_run&);
axis<state> const
    states("state",
           {{{"null", "the null handle"}, [](conversion const& c, test_run& mpi) { c.null(mpi); }},
            {{"predefined", "every predefined handle"}, [](conversion const& c, test_run& mpi) { c.predefined(mpi); }},
            {{"made", "an object of the program's own"}, [](conversion const& c, test_run& mpi) { c.made(mpi); }},
            {{"several", "four objects at once"}, [](conversion const& c, test_run& mpi) { c.several(mpi); }},
            {{"reused", "an object made after another one was freed"},
             [](conversion const& c, test_run& mpi) { c.reused(mpi); }},
            {{"freed", "an object freed through the converted handle"},
             [](conversion const& c, test_run& mpi) { c.freed(mpi); }}});

} // namespace

ASSAY_TEST(abi, handle_integer,
           requirements{"abi.int.comm",        "abi.int.datatype", "abi.int.errhandler", "abi.int.file",
                        "abi.int.group",       "abi.int.info",     "abi.int.message",    "abi.int.op",
                        "abi.int.request",     "abi.int.session",  "abi.int.win",        "abi.int.null",
                        "abi.int.predefined",  "abi.int.values",   "abi.int.stable",     "abi.int.reserved",
                        "abi.int.equal",       "abi.int.distinct", "abi.int.reused",     "abi.int.freed",
                        "abi.handles.reserved"},
           over(axis_use{&integers}, axis_use{&states})) {
    mpi.at(states)(*mpi.at(integers), mpi);
}

ASSAY_TEST(abi, handle_fortran,
           requirements{"lang.c2f.comm", "lang.c2f.datatype", "lang.c2f.errhandler", "lang.c2f.file", "lang.c2f.group",
                        "lang.c2f.info", "lang.c2f.message", "lang.c2f.op", "lang.c2f.request", "lang.c2f.session",
                        "lang.c2f.win", "lang.c2f.null", "lang.c2f.predefined", "lang.c2f.equal", "lang.c2f.distinct",
                        "lang.c2f.reused", "lang.objects.freed"},
           over(axis_use{&for_fortran}, axis_use{&states})) {
    mpi.at(states)(*mpi.at(for_fortran), mpi);
}

ASSAY_TEST(abi, handle_integer_threads, requirements{"abi.int.threads"}, over(axis_use{&integers}),
           own_threads{abi::most_objects}) {
    mpi.at(integers)->in_threads(mpi);
}

ASSAY_TEST(abi, handle_fortran_threads, requirements{"lang.c2f.threads"}, over(axis_use{&for_fortran}),
           own_threads{abi::most_objects}) {
    mpi.at(for_fortran)->in_threads(mpi);
}
