// Statuses that a program writes itself (MPI-5.0 section 13.3).
#include "framework/check/logical.hpp"
#include "framework/mpi/run.hpp"

#include <fmt/format.h>

using namespace assay;

namespace {
enum class field { source, tag, error };
axis<field> const fields("field", {{{"source", "MPI_Status_set_source"}, field::source},
                                   {{"tag", "MPI_Status_set_tag"}, field::tag},
                                   {{"error", "MPI_Status_set_error"}, field::error}});
axis<int> const
    numbers("value",
            {{{"0", ""}, 0}, {{"1", ""}, 1}, {{"32767", ""}, 32767}, {{"undefined", "MPI_UNDEFINED"}, MPI_UNDEFINED}});
} // namespace

ASSAY_TEST(env, status_set_fields, requirements{"status.set_fields"}, over(axis_use{&fields}, axis_use{&numbers}),
           needs_procedures({"MPI_Status_set_source", "MPI_Status_set_tag", "MPI_Status_set_error",
                             "MPI_Status_get_source", "MPI_Status_get_tag", "MPI_Status_get_error"}),
           thread_safe{}) {
    auto status = poisoned_status();
    constexpr int elements = 5;
    mpi.ok(MPI_Status_set_elements(&status, MPI_INT, elements));
    mpi.ok(MPI_Status_set_cancelled(&status, 1));
    int source = status.MPI_SOURCE, tag = status.MPI_TAG, error = status.MPI_ERROR;
    int const value = mpi.at(numbers);
    switch (mpi.at(fields)) {
    case field::source: mpi.ok(MPI_Status_set_source(&status, source = value)); break;
    case field::tag: mpi.ok(MPI_Status_set_tag(&status, tag = value)); break;
    case field::error: mpi.ok(MPI_Status_set_error(&status, error = value)); break;
    }
    mpi.check(status.MPI_SOURCE == source && status.MPI_TAG == tag && status.MPI_ERROR == error, finding::value,
              fmt::format("the fields source, tag and error must be {}, {} and {}; they are {}, {} and {}", source, tag,
                          error, status.MPI_SOURCE, status.MPI_TAG, status.MPI_ERROR));
    int got_source = -7, got_tag = -7, got_error = -7, count = -7, flag = 0;
    mpi.ok(MPI_Status_get_source(&status, &got_source));
    mpi.ok(MPI_Status_get_tag(&status, &got_tag));
    mpi.ok(MPI_Status_get_error(&status, &got_error));
    mpi.check(got_source == source && got_tag == tag && got_error == error, finding::value,
              fmt::format("MPI_Status_get_source, _tag and _error must give {}, {} and {}; they give {}, {} and {}",
                          source, tag, error, got_source, got_tag, got_error));
    mpi.ok(MPI_Get_count(&status, MPI_INT, &count));
    mpi.ok(MPI_Test_cancelled(&status, &flag));
    mpi.check(count == elements && logical(flag), finding::value,
              fmt::format("count and cancelled, set before, must still be {} and true; they are {} and {}", elements,
                          count, flag));
}
