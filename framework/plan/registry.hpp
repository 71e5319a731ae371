// Tests and how they come into being. A test is declared once, with the axes it crosses:
//
//   ASSAY_TEST(p2p, ring_sendrecv, requirements{"p2p.sendrecv.data"},
//              over(communicators::intra(), datatypes::all(), counts::ladder(), placements::all())) { …body, with `mpi`… }
#pragma once
#include "framework/check/requirement.hpp"
#include "framework/plan/axis.hpp"

#include <string>
#include <vector>

namespace assay {

// What a body sees. Each program has its own class of it: test_run (framework/mpi/run.hpp), as `mpi`, and native_run
// (framework/native/run.hpp), as `ofi` or `ucx`, in the programs that know no MPI.
class case_context {
protected:
    case_context() = default;
    ~case_context() = default;
    case_context(case_context const&) = default;
    case_context& operator=(case_context const&) = default;
};

struct requirements {
    std::vector<requirement> list;
    requirements(std::initializer_list<requirement> all) : list(all) {}
};

struct axes_of_test {
    std::vector<axis_use> axes;
};
template <class... Use> axes_of_test over(Use... use) { return {{axis_use(use)...}}; }

// A test, or a value of an axis, that cannot exist in every job says why: returns the reason, or "".
struct needs {
    std::function<std::string(job const&)> lacks;
    operator std::function<std::string(job const&)>() const { return lacks; } // for value_info
};
// The one way to say that a library lacks something that MPI has. Procedures are asked for, not the version that the library
// says it follows: Open MPI 5.0 says 3.1 and has most of 4.0. In a body: test_run::needs_procedure.
inline needs needs_procedures(std::vector<char const*> names) {
    return {[names](job const&) {
        for (auto name : names)
            if (!has_procedure(name)) return std::string("the MPI library has no ") + name;
        return std::string();
    }};
}

// The body runs before MPI_Init, in a job of its own: see framework/mpi/own_job.hpp. It crosses neither communicators nor datatypes.
struct own_job {};
// Under --threads the body runs in several threads of a process at once. It uses nothing that a process has once, such as the
// names of predefined objects, settings, or memory to its limit; what all its threads make at once are objects of their own.
struct thread_safe {};
// The body attaches a buffer for buffered sends of its own, of which a process has one (section 3.6): its threads take turns.
// Not where test_run::attach_buffer does it, which shares one among the threads.
struct uses_attached_buffer {};
// The body starts threads of its own with test_run::in_threads, up to `most` at once: it needs MPI_THREAD_MULTIPLE.
struct own_threads {
    int most;
};
struct wildcards {}; // the body receives with MPI_ANY_SOURCE or MPI_ANY_TAG: it gets a communicator of its own
struct note {
    std::string text;
};

// Combinations of values that make sense; the function takes the values of the named axes and, if it wants, the job first.
template <class Function, class... Axis> constraint where_impl(Function function, Axis const&... axis) {
    return {{&axis...}, [function, &axis...](std::size_t const* values, job const& j) {
                return [&]<std::size_t... I>(std::index_sequence<I...>)->bool {
                    if constexpr (requires { function(j, axis.at(values[I])...); })
                        return function(j, axis.at(values[I])...);
                    else return function(axis.at(values[I])...);
                }
                (std::index_sequence_for<Axis...>{});
            }};
}
template <class A, class F> constraint where(A const& a, F function) { return where_impl(function, a); }
template <class A, class B, class F> constraint where(A const& a, B const& b, F function) {
    return where_impl(function, a, b);
}
template <class A, class B, class C, class F> constraint where(A const& a, B const& b, C const& c, F function) {
    return where_impl(function, a, b, c);
}

struct test {
    std::string suite, name; // "p2p", "ring"
    std::string full_name() const { return suite + "." + name; }
    std::vector<requirement> rests_on; // findings that name no requirement rest on these
    std::vector<axis_use> axes;
    std::vector<constraint> constraints;
    std::vector<needs> conditions;
    bool thread_safe = false;
    bool threads_in_turns = false; // one after the other
    int own_threads = 1;           // that the body runs at most; more than 1: it needs MPI_THREAD_MULTIPLE
    bool own_communicator = false;
    bool own_job = false;
    std::string remark;
    char const* file = "";
    int line = 0;
    void (*body)(case_context&) = nullptr;

    template <class... Part>
    test(char const* suite_, char const* name_, char const* file_, int line_, void (*body_)(case_context&),
         Part... part)
        : suite(suite_), name(name_), file(file_), line(line_), body(body_) {
        (take(part), ...);
    }

private:
    void take(requirements const& r) { rests_on = r.list; }
    void take(axes_of_test const& a) { axes = a.axes; }
    void take(constraint const& c) { constraints.push_back(c); }
    void take(needs const& n) { conditions.push_back(n); }
    void take(assay::thread_safe) { thread_safe = true; }
    void take(uses_attached_buffer) { threads_in_turns = true; }
    void take(assay::own_threads t) { own_threads = t.most; }
    void take(assay::own_job) { own_job = true; }
    void take(wildcards) { own_communicator = true; }
    void take(note const& n) { remark = n.text; }
};

// Every test, ordered by suite and name.
std::vector<test> const& all_tests();

struct register_test {
    explicit register_test(test t);
};

} // namespace assay

#define ASSAY_TEST(suite_, name_, ...) ASSAY_TEST_THAT_SEES(::assay::test_run, mpi, suite_, name_, __VA_ARGS__)
// The body is a function by itself in the binary: the runner reads from its call graph which procedures a test calls.
#define ASSAY_TEST_THAT_SEES(class_, run_, suite_, name_, ...)                                                         \
    [[gnu::noinline, gnu::used]] static void body_##suite_##_##name_(class_& run_);                                    \
    static ::assay::register_test const test_##suite_##_##name_(::assay::test(                                         \
        #suite_, #name_, __FILE__, __LINE__,                                                                           \
        [](::assay::case_context& c) { body_##suite_##_##name_(static_cast<class_&>(c)); }, __VA_ARGS__));             \
    static void body_##suite_##_##name_([[maybe_unused]] class_& run_)
