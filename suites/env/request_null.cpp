// Keller: "MPI_REQUEST_NULL" — completing nothing succeeds at once and gives an empty status (MPI-5.0 sections 3.7.3, 3.7.5).
#include "framework/run.hpp"
#include "mpi_calls.hpp"

#include <array>

using namespace assay;

namespace {
enum class way { wait, test, waitall, testall, waitany, testany, waitsome, testsome, get_status };
axis<way> const calls("call", {{{"wait", "", "MPI_Wait", nullptr}, way::wait},
                               {{"test", "", "MPI_Test", nullptr}, way::test},
                               {{"waitall", "", "MPI_Waitall", nullptr}, way::waitall},
                               {{"testall", "", "MPI_Testall", nullptr}, way::testall},
                               {{"waitany", "", "MPI_Waitany", nullptr}, way::waitany},
                               {{"testany", "", "MPI_Testany", nullptr}, way::testany},
                               {{"waitsome", "", "MPI_Waitsome", nullptr}, way::waitsome},
                               {{"testsome", "", "MPI_Testsome", nullptr}, way::testsome},
                               {{"get_status", "", "MPI_Request_get_status", nullptr}, way::get_status}});
axis<int> const lengths("requests", {{{"1", "", "one null request", nullptr}, 1},
                                     {{"0", "", "an empty array", nullptr}, 0},
                                     {{"5", "", "five null requests", nullptr}, 5}});
bool is_single(way w) { return w == way::wait || w == way::test || w == way::get_status; }
} // namespace

ASSAY_TEST(env, request_null, requirements{"p2p.request_null.empty_status", "p2p.request_null.undefined_index"},
           over(axis_use{&calls}, axis_use{&lengths}, communicators::any()),
           where(calls, lengths, [](way w, int n) { return !is_single(w) || n == 1; })) {
    constexpr int most = 5;
    std::array<MPI_Request, most> requests;
    std::array<MPI_Status, most> statuses;
    std::array<int, most> indices{};
    requests.fill(MPI_REQUEST_NULL);
    statuses.fill(poisoned_status());
    int const n = mpi.at(lengths);
    int flag = -1, index = -7, outcount = -7;
    auto& first = statuses[0];
    switch (mpi.at(calls)) {
    case way::wait: mpi.ok(MPI_Wait(requests.data(), &first)); break;
    case way::test: mpi.ok(MPI_Test(requests.data(), &flag, &first)); break;
    case way::get_status: mpi.ok(MPI_Request_get_status(requests[0], &flag, &first)); break;
    case way::waitall: mpi.ok(MPI_Waitall(n, requests.data(), statuses.data())); break;
    case way::testall: mpi.ok(MPI_Testall(n, requests.data(), &flag, statuses.data())); break;
    case way::waitany: mpi.ok(MPI_Waitany(n, requests.data(), &index, &first)); break;
    case way::testany: mpi.ok(MPI_Testany(n, requests.data(), &index, &flag, &first)); break;
    case way::waitsome: mpi.ok(MPI_Waitsome(n, requests.data(), &outcount, indices.data(), statuses.data())); break;
    case way::testsome: mpi.ok(MPI_Testsome(n, requests.data(), &outcount, indices.data(), statuses.data())); break;
    }
    auto const w = mpi.at(calls);
    if (w == way::test || w == way::get_status || w == way::testall || w == way::testany)
        mpi.check(flag == 1, "request", "flag must be true: there is nothing to wait for");
    if (w == way::waitany || w == way::testany)
        mpi.check(index == MPI_UNDEFINED, "request",
                  "index must be MPI_UNDEFINED without an active request, got " + std::to_string(index));
    if (w == way::waitsome || w == way::testsome)
        mpi.check(outcount == MPI_UNDEFINED, "request",
                  "outcount must be MPI_UNDEFINED without an active request, got " + std::to_string(outcount));
    // Waitsome and Testsome return no status when nothing completed.
    int const written = w == way::waitall || w == way::testall ? n : w == way::waitsome || w == way::testsome ? 0 : 1;
    for (int i = 0; i < written; ++i) mpi.expect(statuses[static_cast<std::size_t>(i)]).empty();
    for (auto request : requests) mpi.check_null(request);
}
