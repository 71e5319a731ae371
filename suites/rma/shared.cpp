// Windows in shared memory (MPI-5.0 section 12.2.3): each rank loads from and stores to the memory of the others.
#include "suites/rma/window.hpp"

#include <cstring>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

ASSAY_TEST(rma, shared_memory,
           requirements{"rma.shared.query", "rma.shared.query_size", "rma.shared.contiguous", "rma.shared.load_store"},
           over(axis_use{&units()}, axis_use{&hints()}, communicators::intra(),
                datatypes::of({"int", "type_mix", "vector_negative_int"}),
                only(count_ladder(), [](count_value const& c) { return c.n == 3 || c.n == 8192; })),
           note{"fence and direct stores into the memory of the right neighbour"}, thread_safe{}) {
    bool const contiguous = !mpi.at(hints()); // the info object asks for alloc_shared_noncontig
    auto const who = pattern_of(mpi, shape::ring);
    window win(mpi, {flavor::shared, mpi.at(units()), mpi.at(hints())}, mpi.map, mpi.elements, 1, false);
    if (!win.made()) return;
    std::vector<unsigned char*> bases;
    MPI_Aint bytes_before = 0;
    for (int rank = 0; rank <= mpi.size; ++rank) {
        // MPI_PROC_NULL asks for the first one that has memory, and all have.
        int const asked = rank < mpi.size ? rank : MPI_PROC_NULL, meant = rank < mpi.size ? rank : 0;
        MPI_Aint size = -7;
        int unit = -7;
        unsigned char* base = nullptr;
        mpi.ok(MPI_Win_shared_query(win, asked, &size, &unit, &base));
        expect_shared_size(mpi, meant, size, win.size(meant), !contiguous);
        mpi.check(unit == win.unit_of(meant), finding::window,
                  fmt::format("the unit of rank {} is {}, expected {}", meant, unit, win.unit_of(meant)));
        if (rank == mpi.rank)
            mpi.check(base == win.base(), finding::window, "the query gives another address than the window");
        if (contiguous && rank > 0 && rank < mpi.size)
            mpi.check(base == bases[0] + bytes_before, finding::window,
                      fmt::format("the memory of rank {} does not begin where that of rank {} ends", rank, rank - 1));
        if (asked == MPI_PROC_NULL)
            mpi.check(base == bases[0], finding::window, "the query of MPI_PROC_NULL gives another address");
        bases.push_back(base);
        bytes_before += size;
    }
    int const to = who.targets[0], from = who.origins[0];
    auto& there = mpi.over({bases[static_cast<std::size_t>(to)], static_cast<std::size_t>(win.size(to))},
                           bases[static_cast<std::size_t>(to)] + win.first_byte(to), mpi.map, mpi.elements);
    auto content = win.slot(0);
    win.memory().poison();
    mpi.ok(MPI_Win_fence(0, win));
    content.key = mpi.key_to(to);
    there.fill(content);
    mpi.ok(MPI_Win_fence(0, win));
    content.key = mpi.key_from(from);
    win.memory().expect(content, "stored by rank " + std::to_string(from));
}
