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

// What a body sees: framework/mpi/run.hpp, as `mpi`; framework/native/run.hpp, as `ofi` or `ucx`, in the programs that know no MPI.
class test_run;

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
struct thread_unsafe {}; // the body must not run in several threads at once
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
    bool thread_safe = true;
    int own_threads = 1; // that the body runs at most; more than 1: it needs MPI_THREAD_MULTIPLE
    bool own_communicator = false;
    bool own_job = false;
    std::string remark;
    char const* file = "";
    int line = 0;
    void (*body)(test_run&) = nullptr;

    template <class... Part>
    test(char const* suite_, char const* name_, char const* file_, int line_, void (*body_)(test_run&), Part... part)
        : suite(suite_), name(name_), file(file_), line(line_), body(body_) {
        (take(part), ...);
    }

private:
    void take(requirements const& r) { rests_on = r.list; }
    void take(axes_of_test const& a) { axes = a.axes; }
    void take(constraint const& c) { constraints.push_back(c); }
    void take(needs const& n) { conditions.push_back(n); }
    void take(thread_unsafe) { thread_safe = false; }
    void take(assay::own_threads t) {
        thread_safe = false;
        own_threads = t.most;
    }
    void take(assay::own_job) {
        thread_safe = false;
        own_job = true;
    }
    void take(wildcards) { own_communicator = true; }
    void take(note const& n) { remark = n.text; }
};

// Every test, ordered by suite and name.
std::vector<test> const& all_tests();

struct register_test {
    explicit register_test(test t);
};

} // namespace assay

#define ASSAY_TEST(suite_, name_, ...) ASSAY_TEST_THAT_SEES(mpi, suite_, name_, __VA_ARGS__)
#define ASSAY_TEST_THAT_SEES(run_, suite_, name_, ...)                                                                 \
    static void body_##suite_##_##name_(::assay::test_run& run_);                                                      \
    static ::assay::register_test const test_##suite_##_##name_(                                                       \
        ::assay::test(#suite_, #name_, __FILE__, __LINE__, body_##suite_##_##name_, __VA_ARGS__));                     \
    static void body_##suite_##_##name_([[maybe_unused]] ::assay::test_run& run_)
