// Keller: "MPI_REQUEST_NULL" — completing nothing succeeds at once and gives an empty status (MPI-5.0 sections 3.7.3, 3.7.5).
#include "suites/p2p/completion.hpp"

#include <array>

using namespace assay;

namespace {
axis<p2p::call> const& calls = p2p::completion_calls();
axis<int> const lengths("requests", {{{"1", "one null request"}, 1},
                                     {{"0", "an empty array"}, 0},
                                     {{"5", "five null requests"}, 5}});
} // namespace

ASSAY_TEST(env, request_null, requirements{"p2p.request_null.empty_status", "p2p.request_null.undefined_index"},
           over(only(calls, p2p::since_31), axis_use{&lengths}, communicators::any()),
           where(calls, lengths, [](p2p::call c, int n) { return !p2p::is_single(c) || n == 1; }), thread_safe{}) {
    std::array<MPI_Request, 5> requests;
    requests.fill(MPI_REQUEST_NULL);
    auto const n = static_cast<std::size_t>(mpi.at(lengths));
    p2p::expect_nothing_active(mpi, p2p::ask(mpi.at(calls), std::span(requests).first(n)), n);
    for (auto request : requests) mpi.check_null(request);
}
