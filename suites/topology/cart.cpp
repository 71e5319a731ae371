// Cartesian topologies (MPI-5.0 sections 8.5.1 and 8.5.5 to 8.5.8): what the library says of a grid, against arithmetic.
// Ranks are row-major: the last coordinate runs fastest.
#include "suites/comm/comm.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

using namespace assay;

namespace {

struct grid {
    std::vector<int> dims, periods;

    int dimensions() const { return static_cast<int>(dims.size()); }
    int size() const { return std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>()); }
    std::vector<int> coordinates(int rank) const {
        std::vector<int> c(dims.size());
        for (std::size_t d = dims.size(); d-- > 0;) {
            c[d] = rank % dims[d];
            rank /= dims[d];
        }
        return c;
    }
    // MPI_PROC_NULL beyond an end that is one.
    int rank(std::vector<int> c) const {
        int r = 0;
        for (std::size_t d = 0; d < dims.size(); ++d) {
            if (periods[d] != 0) c[d] = (c[d] % dims[d] + dims[d]) % dims[d];
            if (c[d] < 0 || c[d] >= dims[d]) return MPI_PROC_NULL;
            r = r * dims[d] + c[d];
        }
        return r;
    }
};

// The factor of n that is next to its square root from below.
int lower_factor(int n) {
    int best = 1;
    for (int f = 1; f * f <= n; ++f)
        if (n % f == 0) best = f;
    return best;
}

using shape = grid (*)(int n); // of n processes at most
axis<shape> const shapes("grid", {{{"line", "one dimension, two ends"},
                                   [](int n) {
                                       return grid{{n}, {0}};
                                   }},
                                  {{"ring", "one dimension, periodic"},
                                   [](int n) {
                                       return grid{{n}, {1}};
                                   }},
                                  {{"plane", "two dimensions"},
                                   [](int n) {
                                       return grid{{n / lower_factor(n), lower_factor(n)}, {0, 0}};
                                   }},
                                  {{"torus", "two dimensions, both periodic"},
                                   [](int n) {
                                       return grid{{lower_factor(n), n / lower_factor(n)}, {1, 1}};
                                   }},
                                  {{"cylinder", "two dimensions, the second one periodic"},
                                   [](int n) {
                                       return grid{{n / lower_factor(n), lower_factor(n)}, {0, 1}};
                                   }},
                                  {{"flat", "three dimensions, the outer ones of length 1"},
                                   [](int n) {
                                       return grid{{1, n, 1}, {1, 0, 0}};
                                   }},
                                  {{"cube", "2 by 2 by 1, periodic at the first and last"},
                                   [](int n) {
                                       return n >= 4 ? grid{{2, 2, 1}, {1, 0, 1}} : grid{{1, n, 1}, {1, 1, 1}};
                                   }},
                                  {{"smaller", "one process is left over"},
                                   [](int n) {
                                       return grid{{std::max(1, n - 1)}, {1}};
                                   }},
                                  {{"zero", "no dimensions: a grid of one process"}, [](int) {
                                       return grid{{}, {}};
                                   }}});

axis<int> const reorders("reorder", {{{"0", "ranks stay"}, 0}, {{"1", "ranks may change"}, 1}});

// No null pointer, not even for no dimensions.
int const* address(std::vector<int> const& values) {
    static int const nothing = 0;
    return values.empty() ? &nothing : values.data();
}

MPI_Comm make_grid(test_run& mpi, grid const& g, int reorder) {
    MPI_Comm made = MPI_COMM_WORLD;
    mpi.ok(MPI_Cart_create(mpi.comm, g.dimensions(), address(g.dims), address(g.periods), reorder, &made));
    return made;
}

// Everything that can be asked of a grid, in the process with this rank in it.
void examine(test_run& mpi, MPI_Comm comm, grid const& g, int rank, std::string const& whose) {
    int kind = -7, dimensions = -7;
    mpi.ok(MPI_Topo_test(comm, &kind));
    mpi.check(kind == MPI_CART, finding::value, fmt::format("{}: MPI_Topo_test gives {}, not MPI_CART", whose, kind));
    mpi.ok(MPI_Cartdim_get(comm, &dimensions));
    if (!expect_number(mpi, dimensions, g.dimensions(), whose + ": MPI_Cartdim_get")) return;
    auto const n = g.dims.size();
    // One more than needed: what lies after stays.
    std::vector<int> dims(n + 1, -7), periods(n + 1, -7), coordinates(n + 1, -7);
    mpi.ok(MPI_Cart_get(comm, g.dimensions(), dims.data(), periods.data(), coordinates.data()));
    auto const equal = [&](std::vector<int> got, std::vector<int> expected, std::string const& what) {
        expected.push_back(-7);
        return mpi.check(got == expected, finding::value,
                         fmt::format("{}: {} {}, expected {} (the last number lies after the array)", whose, what,
                                     text(got), text(expected)));
    };
    for (auto& period : periods) period = period == -7 ? -7 : period != 0;
    equal(dims, g.dims, "MPI_Cart_get gives the dimensions");
    equal(periods, g.periods, "MPI_Cart_get gives the periods");
    equal(coordinates, g.coordinates(rank), "MPI_Cart_get gives the own coordinates");
    for (int other = 0; other < g.size(); ++other) {
        std::fill(coordinates.begin(), coordinates.end(), -7);
        mpi.ok(MPI_Cart_coords(comm, other, g.dimensions(), coordinates.data()));
        equal(coordinates, g.coordinates(other), fmt::format("MPI_Cart_coords of rank {} gives", other));
        // The same place under other names: once around in each periodic dimension, in both directions.
        for (int turns : {0, 1, -1, 2, -3}) {
            auto c = g.coordinates(other);
            for (std::size_t d = 0; d < n; ++d)
                if (g.periods[d] != 0) c[d] += turns * g.dims[d];
            int got = -7;
            mpi.ok(MPI_Cart_rank(comm, address(c), &got));
            if (!expect_number(mpi, got, other, fmt::format("{}: MPI_Cart_rank of {}", whose, text(c)))) return;
        }
    }
    for (int direction = 0; direction < g.dimensions(); ++direction)
        for (int step : {1, -1, 2, -3, g.dims[static_cast<std::size_t>(direction)], 5 * g.size() + 1}) {
            auto const d = static_cast<std::size_t>(direction);
            auto to = g.coordinates(rank), from = to;
            to[d] += step;
            from[d] -= step;
            int source = -7, destination = -7;
            mpi.ok(MPI_Cart_shift(comm, direction, step, &source, &destination));
            if (!mpi.check(source == g.rank(from) && destination == g.rank(to), finding::value,
                           fmt::format("{}: MPI_Cart_shift by {} in direction {} gives source {} and destination {}, "
                                       "expected {} and {} ({} is MPI_PROC_NULL)",
                                       whose, step, direction, source, destination, g.rank(from), g.rank(to),
                                       MPI_PROC_NULL)))
                return;
        }
}

// Where the process stands in a grid that may be ordered anew: any rank, if each is there once.
int look_at_ranks(test_run& mpi, MPI_Comm comm, grid const& g, int reorder, processes const& old) {
    int size = -7, rank = -7;
    mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    mpi.ok(MPI_Comm_size(comm, &size));
    mpi.ok(MPI_Comm_rank(comm, &rank));
    if (!expect_number(mpi, size, g.size(), "the size of the grid")) return -1;
    if (reorder == 0) {
        if (!expect_number(mpi, rank, mpi.rank, "the rank in a grid that keeps the order")) return -1;
        auto members = old;
        members.resize(static_cast<std::size_t>(g.size()));
        return expect_communicator(mpi, comm, members, {}, "the grid") ? rank : -1;
    }
    processes all(static_cast<std::size_t>(size), -7);
    int const me = own_process();
    mpi.ok(MPI_Allgather(&me, 1, MPI_INT, all.data(), 1, MPI_INT, comm));
    bool const fine =
        mpi.check(rank >= 0 && rank < size && all[static_cast<std::size_t>(rank)] == me, finding::order,
                  fmt::format("process {} has rank {} in a grid of the processes {}", me, rank, text(all)));
    std::sort(all.begin(), all.end());
    mpi.check(std::adjacent_find(all.begin(), all.end()) == all.end(), finding::value,
              "a process is in the grid twice: " + text(all));
    return fine ? rank : -1;
}

} // namespace

ASSAY_TEST(topology, cart,
           requirements{"topology.cart_create", "topology.cart_create.smaller", "topology.cart_create.zero_dimensions",
                        "topology.cart_create.reorder", "topology.topo_test", "topology.cartdim_get",
                        "topology.cart_get", "topology.cart_rank", "topology.cart_rank.periodic",
                        "topology.cart_coords", "topology.cart_shift", "topology.row_major", "topology.zero_dimensions",
                        "topology.dup"},
           over(axis_use{&shapes}, axis_use{&reorders}, few()), thread_safe{}) {
    auto const g = mpi.at(shapes)(mpi.size);
    int const reorder = mpi.at(reorders);
    MPI_Comm comm = make_grid(mpi, g, reorder);
    if (!mpi.check(comm != MPI_COMM_WORLD, finding::value, "MPI_Cart_create did not write the new communicator"))
        return;
    // Who is left out is the library's choice where it may order anew.
    if (reorder == 0 && !mpi.check((comm != MPI_COMM_NULL) == (mpi.rank < g.size()), finding::value,
                                   fmt::format("rank {} {} a grid of {} processes", mpi.rank,
                                               comm == MPI_COMM_NULL ? "is not in" : "is in", g.size())))
        return;
    if (comm == MPI_COMM_NULL) return;
    int const rank = look_at_ranks(mpi, comm, g, reorder, local_of(mpi));
    if (rank >= 0) {
        examine(mpi, comm, g, rank, "the grid");
        MPI_Comm copy = MPI_COMM_NULL;
        mpi.ok(MPI_Comm_dup(comm, &copy));
        if (mpi.check(copy != MPI_COMM_NULL, finding::value, "the duplicate of the grid is MPI_COMM_NULL"))
            examine(mpi, copy, g, rank, "the duplicate of the grid");
        free_communicator(mpi, copy);
    }
    free_communicator(mpi, comm);
}

// Each selection of dimensions: processes that agree in the others come together.
ASSAY_TEST(topology, cart_sub,
           requirements{"topology.cart_sub", "topology.cart_sub.periods", "topology.cart_sub.zero_dimensions"},
           over(axis_use{&shapes}, axis_use{&reorders}, few()), thread_safe{}) {
    auto const g = mpi.at(shapes)(mpi.size);
    MPI_Comm comm = make_grid(mpi, g, mpi.at(reorders));
    if (comm == MPI_COMM_NULL || !mpi.check(comm != MPI_COMM_WORLD, finding::value, "no grid was made")) return;
    auto const n = g.dims.size();
    int rank = -7;
    mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    mpi.ok(MPI_Comm_rank(comm, &rank));
    // Who stands where: with reordering only the grid itself knows.
    processes all(static_cast<std::size_t>(g.size()), -7);
    int const me = own_process();
    mpi.ok(MPI_Allgather(&me, 1, MPI_INT, all.data(), 1, MPI_INT, comm));
    auto const own = g.coordinates(rank);
    for (unsigned kept = 0; kept < 1U << n; ++kept) {
        grid part;
        std::vector<int> remain(n + 1), place;
        for (std::size_t d = 0; d < n; ++d) {
            remain[d] = (kept >> d & 1U) != 0 ? 1 : 0;
            if (remain[d] == 0) continue;
            part.dims.push_back(g.dims[d]);
            part.periods.push_back(g.periods[d]);
            place.push_back(own[d]);
        }
        processes members; // in row-major order of the whole, so of the part
        for (int other = 0; other < g.size(); ++other) {
            auto const there = g.coordinates(other);
            bool together = true;
            for (std::size_t d = 0; d < n; ++d) together = together && (remain[d] != 0 || there[d] == own[d]);
            if (together) members.push_back(all[static_cast<std::size_t>(other)]);
        }
        MPI_Comm sub = MPI_COMM_NULL;
        if (!mpi.ok(MPI_Cart_sub(comm, remain.data(), &sub))) break;
        remain.pop_back();
        auto const whose = "the part of the grid that keeps " + text(remain);
        if (!expect_communicator(mpi, sub, members, {}, whose)) break;
        examine(mpi, sub, part, part.rank(place), whose);
        free_communicator(mpi, sub);
    }
    free_communicator(mpi, comm);
}

// MPI_Cart_map places the caller; any placement will do in which each rank of the grid occurs once.
ASSAY_TEST(topology, cart_map, requirements{"topology.cart_map", "topology.cart_map.outside"},
           over(axis_use{&shapes}, few()), thread_safe{}) {
    auto const g = mpi.at(shapes)(mpi.size);
    int mapped = -7;
    mpi.ok(MPI_Cart_map(mpi.comm, g.dimensions(), address(g.dims), address(g.periods), &mapped));
    std::vector<int> all(static_cast<std::size_t>(mpi.size), -7);
    mpi.ok(MPI_Allgather(&mapped, 1, MPI_INT, all.data(), 1, MPI_INT, mpi.comm));
    auto const found = text(all);
    mpi.check("topology.cart_map.outside", std::count(all.begin(), all.end(), MPI_UNDEFINED) == mpi.size - g.size(),
              finding::value,
              fmt::format("MPI_Cart_map gives {}: MPI_UNDEFINED ({}) is for each process outside of the grid", found,
                          MPI_UNDEFINED));
    std::erase_if(all, [&](int rank) { return rank == MPI_UNDEFINED || rank >= g.size(); });
    std::sort(all.begin(), all.end());
    std::vector<int> expected(static_cast<std::size_t>(g.size()));
    std::iota(expected.begin(), expected.end(), 0);
    mpi.check(all == expected, finding::value,
              fmt::format("MPI_Cart_map gives {} ({} is MPI_UNDEFINED): each rank below {} must be there once", found,
                          MPI_UNDEFINED, g.size()));
}

ASSAY_TEST(topology, none, requirements{"topology.topo_test.none", "topology.not_inherited"}, over(few()),
           thread_safe{}) {
    int kind = -7;
    mpi.ok(MPI_Topo_test(mpi.comm, &kind));
    mpi.check(kind == MPI_UNDEFINED, finding::value,
              fmt::format("MPI_Topo_test of a plain communicator gives {}", kind));
    // Only duplicates keep a topology.
    int const extent = mpi.size, period = 1;
    MPI_Comm ring = MPI_COMM_NULL, split = MPI_COMM_NULL, created = MPI_COMM_NULL;
    group_handle whole;
    mpi.ok(MPI_Cart_create(mpi.comm, 1, &extent, &period, 0, &ring));
    mpi.ok(MPI_Comm_split(ring, 0, mpi.rank, &split));
    mpi.ok(MPI_Comm_group(ring, whole.address()));
    mpi.ok(MPI_Comm_create(ring, whole, &created));
    for (auto* made : {&split, &created}) {
        kind = -7;
        mpi.ok(MPI_Topo_test(*made, &kind));
        mpi.check(kind == MPI_UNDEFINED, finding::value,
                  fmt::format("MPI_Topo_test gives {} for what {} made of a ring", kind,
                              made == &split ? "MPI_Comm_split" : "MPI_Comm_create"));
        free_communicator(mpi, *made);
    }
    free_communicator(mpi, ring);
}

// Grids that do not fit, and coordinates that are none.
namespace {
enum class misuse { too_large, negative_dimensions, beyond_end, no_topology, direction, rank };
axis<misuse> const
    misuses("wrong", {{{"too_large", "MPI_Cart_create of more processes than there are"}, misuse::too_large},
                      {{"negative_dimensions", "MPI_Cart_create of -1 dimensions"}, misuse::negative_dimensions},
                      {{"beyond_end", "MPI_Cart_rank beyond the end of a line"}, misuse::beyond_end},
                      {{"no_topology", "MPI_Cartdim_get of a communicator without topology"}, misuse::no_topology},
                      {{"direction", "MPI_Cart_shift in direction 1 of a line"}, misuse::direction},
                      {{"rank", "MPI_Cart_coords of a rank that is none"}, misuse::rank}});
} // namespace

ASSAY_TEST(topology, cart_misuse,
           requirements{"topology.cart_create.too_large", "topology.cart_rank.out_of_range",
                        "topology.cart_shift.direction"},
           over(axis_use{&misuses}, communicators::world()), thread_safe{}) {
    int const extent = mpi.size, larger = mpi.size + 1, period = 0, beyond = mpi.size;
    MPI_Comm line = MPI_COMM_NULL, made = MPI_COMM_NULL;
    mpi.ok(MPI_Cart_create(mpi.comm, 1, &extent, &period, 0, &line));
    mpi.ok(MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN));
    int code = MPI_SUCCESS, one = -7, two = -7;
    erroneous_from_here();
    switch (mpi.at(misuses)) {
    case misuse::too_large: code = MPI_Cart_create(mpi.comm, 1, &larger, &period, 0, &made); break;
    case misuse::negative_dimensions: code = MPI_Cart_create(mpi.comm, -1, &extent, &period, 0, &made); break;
    case misuse::beyond_end: code = MPI_Cart_rank(line, &beyond, &one); break;
    case misuse::no_topology: code = MPI_Cartdim_get(mpi.comm, &one); break;
    case misuse::direction: code = MPI_Cart_shift(line, 1, 1, &one, &two); break;
    case misuse::rank: code = MPI_Cart_coords(line, beyond, 1, &one); break;
    }
    mpi.check(code != MPI_SUCCESS, finding::return_, "the wrong argument is not noticed: MPI_SUCCESS");
    if (code == MPI_SUCCESS) free_communicator(mpi, made);
    free_communicator(mpi, line);
}

// Every way to duplicate keeps the topology.
ASSAY_TEST(topology, dup, requirements{"topology.dup"}, over(axis_use{&duplications()}, few()), thread_safe{}) {
    auto const g = grid{{mpi.size}, {1}};
    MPI_Comm ring = make_grid(mpi, g, 0);
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), ring);
    if (mpi.check(copy != MPI_COMM_NULL, finding::value, "the duplicate of the ring is MPI_COMM_NULL"))
        examine(mpi, copy, g, mpi.rank, "the duplicate of the ring");
    free_communicator(mpi, copy);
    free_communicator(mpi, ring);
}
