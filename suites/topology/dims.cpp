// MPI_Dims_create (MPI-5.0 section 8.5.2), against all factorizations.
#include "suites/comm/comm.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

using namespace assay;

namespace {

struct example {
    int nodes;
    std::vector<int> given, expected;
};
// Those of the standard, and some whose only balanced answer is plain.
std::vector<example> const& examples() {
    static std::vector<example> const all{
        {6, {0, 0}, {3, 2}},       {7, {0, 0}, {7, 1}},        {6, {0, 3, 0}, {2, 3, 1}},  {1, {0}, {1}},
        {1, {0, 0, 0}, {1, 1, 1}}, {16, {0, 0}, {4, 4}},       {27, {0, 0, 0}, {3, 3, 3}}, {5, {5}, {5}},
        {12, {2, 0}, {2, 6}},      {12, {0, 0, 4}, {3, 1, 4}}, {8, {2, 2, 2}, {2, 2, 2}},  {30, {0, 0, 0}, {5, 3, 2}},
    };
    return all;
}

axis<int> const dimensions("dimensions",
                           {{{"1", "one"}, 1}, {{"2", "two"}, 2}, {{"3", "three"}, 3}, {{"4", "four"}, 4}});

std::vector<int> create(test_run& mpi, int nodes, std::vector<int> dims) {
    dims.push_back(-7);
    mpi.ok(MPI_Dims_create(nodes, static_cast<int>(dims.size()) - 1, dims.data()));
    mpi.check(dims.back() == -7, finding::guard, "MPI_Dims_create wrote after its array");
    dims.pop_back();
    return dims;
}

// The least difference between the largest and the smallest of `n` factors of `nodes`.
int least_spread(int nodes, int n, int largest, int smallest) {
    if (n == 0) return nodes == 1 ? largest - smallest : 1 << 30;
    int best = 1 << 30;
    for (int f = 1; f <= nodes; ++f)
        if (nodes % f == 0)
            best = std::min(best, least_spread(nodes / f, n - 1, std::max(largest, f), std::min(smallest, f)));
    return best;
}

} // namespace

ASSAY_TEST(topology, dims_examples, requirements{"topology.dims_create.constraints", "topology.dims_create.product"},
           over(communicators::world()), thread_safe{}) {
    for (auto const& one : examples()) {
        auto const got = create(mpi, one.nodes, one.given);
        mpi.check(got == one.expected, finding::value,
                  fmt::format("MPI_Dims_create of {} nodes in {} gives {}, expected {}", one.nodes, text(one.given),
                              text(got), text(one.expected)));
    }
    if (followed_version() >= 40) {
        int untouched = -7;
        mpi.check(MPI_Dims_create(1, 0, &untouched) == MPI_SUCCESS && untouched == -7, finding::return_,
                  "MPI_Dims_create of one node in no dimensions must return MPI_SUCCESS and write nothing");
    }
}

ASSAY_TEST(topology, dims_create,
           requirements{"topology.dims_create.product", "topology.dims_create.order", "topology.dims_create.balanced",
                        "topology.dims_create.constraints"},
           over(axis_use{&dimensions}, communicators::world()), thread_safe{}) {
    int const n = mpi.at(dimensions);
    int unbalanced = 0;
    std::string first_unbalanced;
    for (int nodes = 1; nodes <= 200; ++nodes) {
        auto const got = create(mpi, nodes, std::vector<int>(static_cast<std::size_t>(n), 0));
        int const product = std::accumulate(got.begin(), got.end(), 1, std::multiplies<>());
        if (!mpi.check(product == nodes && std::all_of(got.begin(), got.end(), [](int d) { return d > 0; }),
                       finding::value,
                       fmt::format("MPI_Dims_create of {} nodes in {} dimensions gives {}", nodes, n, text(got))))
            return;
        if (!mpi.check(
                std::is_sorted(got.rbegin(), got.rend()), finding::order,
                fmt::format("MPI_Dims_create of {} nodes gives {}: not in nonincreasing order", nodes, text(got))))
            return;
        if (got.front() - got.back() > least_spread(nodes, n, 0, 1 << 30)) {
            if (unbalanced++ == 0) first_unbalanced = fmt::format("{} nodes as {}", nodes, text(got));
        }
        // A dimension that is given stays, wherever it stands.
        for (int fixed = 1; n > 1 && fixed <= 7; ++fixed) {
            if (nodes % fixed != 0) continue;
            for (int at = 0; at < n; ++at) {
                std::vector<int> given(static_cast<std::size_t>(n), 0);
                given[static_cast<std::size_t>(at)] = fixed;
                auto rest = create(mpi, nodes, given);
                int const whole = std::accumulate(rest.begin(), rest.end(), 1, std::multiplies<>());
                bool const kept = rest[static_cast<std::size_t>(at)] == fixed;
                auto const what =
                    fmt::format("MPI_Dims_create of {} nodes in {} gives {}", nodes, text(given), text(rest));
                if (!mpi.check(whole == nodes && kept, finding::value, what)) return;
                rest.erase(rest.begin() + at);
                if (!mpi.check(std::is_sorted(rest.rbegin(), rest.rend()), finding::order,
                               what + ": what it chose is not in nonincreasing order"))
                    return;
            }
        }
    }
    // "As close to each other as possible", by "an appropriate algorithm": how close is the library's business.
    mpi.check("topology.dims_create.balanced", unbalanced == 0, finding::value,
              fmt::format("of 200 numbers of nodes {} are divided less evenly than possible, first {}", unbalanced,
                          first_unbalanced));
}

namespace {
enum class misuse { no_multiple, negative };
axis<misuse> const misuses("wrong", {{{"no_multiple", "7 nodes, one dimension of 3"}, misuse::no_multiple},
                                     {{"negative", "a dimension of -1"}, misuse::negative}});
} // namespace

ASSAY_TEST(topology, dims_misuse, requirements{"topology.dims_create.no_multiple", "topology.dims_create.negative"},
           over(axis_use{&misuses}, communicators::world()), thread_safe{}) {
    int dims[] = {0, mpi.at(misuses) == misuse::negative ? -1 : 3, 0};
    erroneous_from_here();
    int const code = MPI_Dims_create(7, 3, dims);
    mpi.check(code != MPI_SUCCESS, finding::return_, "the wrong argument is not noticed: MPI_SUCCESS");
}
