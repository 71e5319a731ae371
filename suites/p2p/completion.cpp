#include "suites/p2p/completion.hpp"
#include "framework/check/logical.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace assay::p2p {

axis<call> const& completion_calls() {
    static axis<call> const all(
        "call", {{{"wait", "MPI_Wait"}, call::wait},
                 {{"test", "MPI_Test"}, call::test},
                 {{"waitall", "MPI_Waitall"}, call::waitall},
                 {{"testall", "MPI_Testall"}, call::testall},
                 {{"waitany", "MPI_Waitany"}, call::waitany},
                 {{"testany", "MPI_Testany"}, call::testany},
                 {{"waitsome", "MPI_Waitsome"}, call::waitsome},
                 {{"testsome", "MPI_Testsome"}, call::testsome},
                 {{"get_status", "MPI_Request_get_status"}, call::get_status},
                 {{"get_status_all", "MPI_Request_get_status_all, since MPI-4.1"}, call::get_status_all},
                 {{"get_status_any", "MPI_Request_get_status_any, since MPI-4.1"}, call::get_status_any},
                 {{"get_status_some", "MPI_Request_get_status_some, since MPI-4.1"}, call::get_status_some}});
    return all;
}

bool is_single(call c) { return c == call::wait || c == call::test || c == call::get_status; }
bool is_all(call c) { return c == call::waitall || c == call::testall || c == call::get_status_all; }
bool is_any(call c) { return c == call::waitany || c == call::testany || c == call::get_status_any; }
bool waits(call c) { return c == call::wait || c == call::waitall || c == call::waitany || c == call::waitsome; }
bool since_41(call c) { return c > call::get_status; }
bool since_31(call c) { return !since_41(c); }
bool only_looks(call c) { return c >= call::get_status; }

answer ask(call c, std::span<MPI_Request> requests, bool ignore) {
    answer a;
    a.asked = c;
    auto const n = static_cast<int>(requests.size());
    a.indices.assign(requests.size() + 1, -7);
    a.statuses.assign(requests.size() + 1, poisoned_status());
    auto* const all = ignore ? MPI_STATUSES_IGNORE : a.statuses.data();
    auto* const one = ignore ? MPI_STATUS_IGNORE : a.statuses.data();
    auto* const r = requests.data();
    switch (c) {
    case call::wait: a.code = MPI_Wait(r, one); break;
    case call::test: a.code = MPI_Test(r, &a.flag, one); break;
    case call::waitall: a.code = MPI_Waitall(n, r, all); break;
    case call::testall: a.code = MPI_Testall(n, r, &a.flag, all); break;
    case call::waitany: a.code = MPI_Waitany(n, r, &a.index, one); break;
    case call::testany: a.code = MPI_Testany(n, r, &a.index, &a.flag, one); break;
    case call::waitsome: a.code = MPI_Waitsome(n, r, &a.outcount, a.indices.data(), all); break;
    case call::testsome: a.code = MPI_Testsome(n, r, &a.outcount, a.indices.data(), all); break;
    case call::get_status: a.code = MPI_Request_get_status(*r, &a.flag, one); break;
    case call::get_status_all: a.code = MPI_Request_get_status_all(n, r, &a.flag, all); break;
    case call::get_status_any: a.code = MPI_Request_get_status_any(n, r, &a.index, &a.flag, one); break;
    case call::get_status_some: a.code = MPI_Request_get_status_some(n, r, &a.outcount, a.indices.data(), all); break;
    }
    if (waits(c)) a.flag = 1;
    return a;
}

std::vector<int> answer::finished() const {
    auto const requests = indices.size() - 1;
    if (flag == 0) return {};
    if (is_any(asked)) return {index};
    if (!is_single(asked) && !is_all(asked)) {
        auto const n = std::clamp(outcount, 0, static_cast<int>(requests));
        return {indices.begin(), indices.begin() + n};
    }
    std::vector<int> all(requests);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

void expect_nothing_active(test_run& mpi, answer const& a, std::size_t length) {
    auto const c = a.asked;
    mpi.ok(a.code);
    if (is_single(c) || is_all(c) || is_any(c))
        mpi.check(logical(a.flag), finding::request,
                  fmt::format("flag is {}, expected true: no request is active", a.flag));
    if (!is_single(c) && !is_all(c)) {
        int const said = is_any(c) ? a.index : a.outcount;
        mpi.check(said == MPI_UNDEFINED, finding::request,
                  fmt::format("{} is {}, expected MPI_UNDEFINED: no request is active",
                              is_any(c) ? "index" : "outcount", said));
    }
    std::size_t const written = is_all(c) ? length : is_single(c) || is_any(c) ? 1 : 0;
    for (std::size_t i = 0; i < written; ++i) mpi.expect(a.statuses[i]).empty();
}

} // namespace assay::p2p
