// Opening and closing the tools interface (MPI-5.0 section 15.3.4), and what stays the same whenever it is used.
#include "framework/mpi/own_job.hpp"
#include "framework/process/erroneous.hpp"
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace assay;

namespace {

axis<int> const levels("required", {{{"single", "MPI_THREAD_SINGLE"}, MPI_THREAD_SINGLE},
                                    {{"funneled", "MPI_THREAD_FUNNELED"}, MPI_THREAD_FUNNELED},
                                    {{"serialized", "MPI_THREAD_SERIALIZED"}, MPI_THREAD_SERIALIZED},
                                    {{"multiple", "MPI_THREAD_MULTIPLE"}, MPI_THREAD_MULTIPLE}});

// A variable that has a value for the whole process, and a handle of it.
struct variable {
    tool::cvar info;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    std::vector<unsigned char> value;
};
variable any_variable(test_run& mpi) {
    for (auto const& one : tool::cvars(mpi)) {
        if (one.bind != MPI_T_BIND_NO_OBJECT || one.scope == MPI_T_SCOPE_READONLY || one.type == MPI_CHAR) continue;
        variable v{one, MPI_T_CVAR_HANDLE_NULL, {}};
        int count = 0;
        if (!tool::succeeded(mpi, MPI_T_cvar_handle_alloc(one.index, nullptr, &v.handle, &count),
                             "MPI_T_cvar_handle_alloc of " + one.name))
            throw cannot_go_on();
        v.value.resize(tool::size_of(one.type) * static_cast<std::size_t>(count));
        tool::succeeded(mpi, MPI_T_cvar_read(v.handle, v.value.data()), "MPI_T_cvar_read of " + one.name);
        return v;
    }
    mpi.unsupported("the MPI library has no control variable of the process with numbers");
}
void expect_unchanged(test_run& mpi, variable const& v, char const* when) {
    tool::cvar now;
    tool::succeeded(mpi, tool::get(v.info.index, now), "MPI_T_cvar_get_info of " + v.info.name);
    mpi.check(now == v.info, finding::value, fmt::format("{} has other properties {}", v.info.name, when));
    std::vector<unsigned char> value(v.value.size());
    if (tool::succeeded(mpi, MPI_T_cvar_read(v.handle, value.data()), "MPI_T_cvar_read of " + v.info.name))
        mpi.check(value == v.value, finding::value, fmt::format("{} has another value {}", v.info.name, when));
}

enum class moment { before, after };
axis<moment> const moments("seen",
                           {{{"before_init", "before MPI_Init, compared with after it"}, moment::before},
                            {{"after_finalize", "after MPI_Finalize, compared with before it"}, moment::after}});

axis<bool> const closed("when", {{{"before", "before it is opened"}, false}, {{"after", "after it was closed"}, true}});

// The variables, by index. Nothing is asked of MPI_Type_size: MPI may not be initialized.
std::vector<tool::cvar> listed(test_run& mpi) {
    std::vector<tool::cvar> all;
    int n = -7;
    succeeded(mpi, MPI_T_cvar_get_num(&n));
    for (int i = 0; i < n; ++i) {
        tool::cvar one;
        if (tool::get(i, one) == MPI_SUCCESS) all.push_back(one);
    }
    return all;
}

} // namespace

ASSAY_TEST(tool, init, requirements{"tools.init.level", "tools.init.no_effect"}, over(axis_use{&levels})) {
    tool::open(mpi);
    auto const v = any_variable(mpi);
    for (int turn = 0; turn < 3; ++turn) {
        int provided = -7;
        tool::succeeded(mpi, MPI_T_init_thread(mpi.at(levels), &provided), "MPI_T_init_thread");
        mpi.check("tools.init.level",
                  provided == MPI_THREAD_SINGLE || provided == MPI_THREAD_FUNNELED ||
                      provided == MPI_THREAD_SERIALIZED || provided == MPI_THREAD_MULTIPLE,
                  finding::value, fmt::format("MPI_T_init_thread provides {}, which is no thread level", provided));
        auto const rest = mpi.resting_on("tools.init.no_effect");
        expect_unchanged(mpi, v, "after MPI_T_init_thread was called again");
    }
    for (int turn = 0; turn < 3; ++turn) {
        auto const rest = mpi.resting_on("tools.init.no_effect");
        tool::succeeded(mpi, MPI_T_finalize(), "MPI_T_finalize");
        expect_unchanged(mpi, v, "after MPI_T_finalize, which was called less often than MPI_T_init_thread");
    }
    auto handle = v.handle;
    MPI_T_cvar_handle_free(&handle);
}

// Rank 0 asks while the other processes wait for it.
ASSAY_TEST(tool, local, requirements{"tools.local"}, over(communicators::world())) {
    tool::open(mpi);
    if (mpi.rank == 0) {
        auto const all = tool::cvars(mpi);
        auto const v = any_variable(mpi);
        expect_unchanged(mpi, v, "the second time");
        auto handle = v.handle;
        MPI_T_cvar_handle_free(&handle);
        int n = -7;
        tool::succeeded(mpi, MPI_T_category_get_num(&n), "MPI_T_category_get_num");
        for (int i = 0; i < n; ++i) {
            tool::category one;
            tool::get(i, one); // it may not be active
        }
        mpi.check(!all.empty(), finding::value, "the control variable that was read is not listed");
    }
    mpi.ok(MPI_Barrier(mpi.comm));
}

ASSAY_TEST(tool, moments, requirements{"tools.outside.stays"}, over(axis_use{&moments}), own_job{}) {
    int provided = -7;
    succeeded(mpi, MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    std::vector<tool::cvar> first, second;
    if (mpi.at(moments) == moment::before) first = listed(mpi);
    initialize(mpi);
    (mpi.at(moments) == moment::before ? second : first) = listed(mpi);
    finalize(mpi);
    if (mpi.at(moments) == moment::after) second = listed(mpi);
    for (auto const& one : first) {
        auto const again =
            std::find_if(second.begin(), second.end(), [&](tool::cvar const& c) { return c.index == one.index; });
        if (again == second.end()) continue; // not active any more
        mpi.check(*again == one, finding::value,
                  fmt::format("control variable {} is {} and then {}, or has other properties", one.index, one.name,
                              again->name));
    }
    int n = -7;
    succeeded(mpi, MPI_T_cvar_get_num(&n));
    mpi.check(first.empty() || n > first.back().index, finding::count,
              fmt::format("there are {} control variables, after there were at least {}", n, first.size()));
    succeeded(mpi, MPI_T_finalize());
}

ASSAY_TEST(tool, finalize_too_often, requirements{"tools.finalize.too_often"}, own_job{}) {
    int provided = -7, n = -7;
    initialize(mpi);
    succeeded(mpi, MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    succeeded(mpi, MPI_T_finalize());
    mpi.check(MPI_T_finalize() != MPI_SUCCESS, finding::return_,
              "MPI_T_finalize is called more often than MPI_T_init_thread and succeeds");
    succeeded(mpi, MPI_T_init_thread(MPI_THREAD_SINGLE, &provided)); // the count is not below zero
    succeeded(mpi, MPI_T_cvar_get_num(&n));
    succeeded(mpi, MPI_T_finalize());
    finalize(mpi);
}

ASSAY_TEST(tool, not_initialized, requirements{"tools.not_initialized"}, over(axis_use{&closed}), own_job{}) {
    int provided = -7, n = -7;
    initialize(mpi);
    if (mpi.at(closed)) {
        succeeded(mpi, MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
        succeeded(mpi, MPI_T_finalize());
    }
    erroneous_from_here();
    tool::returned(mpi, MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED, "MPI_T_cvar_get_num");
    tool::returned(mpi, MPI_T_pvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED, "MPI_T_pvar_get_num");
    tool::returned(mpi, MPI_T_category_get_num(&n), MPI_T_ERR_NOT_INITIALIZED, "MPI_T_category_get_num");
    finalize(mpi);
}
