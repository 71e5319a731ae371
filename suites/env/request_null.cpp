// Keller: "MPI_REQUEST_NULL" — completing nothing succeeds at once and gives an empty status (MPI-5.0 sections 3.7.3, 3.7.5).
#include "suites/common/completion.hpp"

#include <array>

using namespace assay;

namespace {
axis<completion_call> const& calls = completion_calls();
axis<int> const lengths("requests", {{{"1", "one null request"}, 1},
                                     {{"0", "an empty array"}, 0},
                                     {{"5", "five null requests"}, 5}});
} // namespace

ASSAY_TEST(env, request_null, requirements{"p2p.request_null.empty_status", "p2p.request_null.undefined_index"},
           over(only(calls, [](completion_call const& c) { return !c.looks_at_list(); }), axis_use{&lengths},
                communicators::any()),
           where(calls, lengths, [](completion_call const& c, int n) { return !c.single() || n == 1; }),
           thread_safe{}) {
    std::array<MPI_Request, 5> requests;
    requests.fill(MPI_REQUEST_NULL);
    auto const n = static_cast<std::size_t>(mpi.at(lengths));
    expect_nothing_active(mpi, ask(mpi.at(calls), std::span(requests).first(n)));
    for (auto request : requests) mpi.check_null(request);
}
