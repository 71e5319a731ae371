// Keller: "Read/Write w/ MPI_Type_create_darray", "… subarray" — a two-dimensional array in a file, distributed over the
// ranks by the filetype (MPI-5.0 section 14.3, example 14.9.2).
#include "suites/io/access.hpp"

using namespace assay;
using namespace assay::io;

namespace {
enum class division { darray_block, darray_cyclic, darray_rows, subarray_block, subarray_columns };
axis<division> const
    divisions("array",
              {{value_info("darray_block", "block by block, C order").in_thesis("Read/Write w/ MPI_Type_create_darray"),
                division::darray_block},
               {{"darray_cyclic", "cyclic(2) by cyclic, Fortran order"}, division::darray_cyclic},
               {{"darray_rows", "cyclic rows, columns not distributed"}, division::darray_rows},
               {value_info("subarray_block", "a block for each rank, C order")
                    .in_thesis("Read/Write w/ MPI_Type_create_subarray"),
                division::subarray_block},
               {{"subarray_columns", "adjacent columns of an array in Fortran order"}, division::subarray_columns}});

// The part of one rank. The array has about as many elements a rank as the count says.
definition part(test_run const& mpi, division how, int rank) {
    using enum layout::distribution;
    auto const type = type_of_case(mpi);
    int down = 1; // the process grid: down × across
    for (int d = 1; d * d <= mpi.size; ++d)
        if (mpi.size % d == 0) down = d;
    int const across = mpi.size / down;
    int const columns = mpi.count < 7 ? 2 : 7, rows = mpi.count / columns + 1; // of a block
    switch (how) {
    case division::darray_block: // the last blocks are smaller
        return darray(rank, {{down * rows + 1, block, 0, down}, {across * columns - 1, block, 0, across}}, true, type);
    case division::darray_cyclic:
        return darray(rank, {{down * rows + 1, cyclic, 2, down}, {across * columns, cyclic, 0, across}}, false, type);
    case division::darray_rows:
        return darray(rank, {{mpi.size * rows + 1, cyclic, 0, mpi.size}, {columns, none, 0, 1}}, true, type);
    case division::subarray_block:
        return subarray({down * rows, across * columns}, {rows, columns},
                        {rank / across * rows, rank % across * columns}, true, type);
    case division::subarray_columns: break;
    }
    return subarray({rows + 2, mpi.size * columns}, {rows, columns}, {1, rank * columns}, false, type);
}
} // namespace

ASSAY_TEST(io, array, requirements{"io.view.darray", "io.view.subarray", "io.view.holes", "io.status.count"},
           over(axis_use{&divisions},
                only(accesses(),
                     [](data_access const& a) {
                         return a.where == positioning::individual && a.how == synchronism::blocking;
                     }),
                thesis_comms(), thesis_types(), few_counts()),
           etypes_only(), fits_file(3), thread_safe{}) {
    auto const how = mpi.at(divisions);
    auto const call = mpi.at(accesses());
    scratch_file scratch(mpi);
    auto const view_of = [&](int rank) { return view{header, type_of_case(mpi), part(mpi, how, rank), false}; };
    auto const elements_of = [&](view const& v) { return v.filetype.map.size() / mpi.map.size(); };
    auto const key = [&](int rank) { return mpi.key(0, rank, 0, rank, 0); };
    auto const whole = [&](image in) {
        for (int r = 0; r < mpi.size; ++r)
            if (auto const v = view_of(r); elements_of(v) > 0) in.place(v, 0, mpi.map, key(r), elements_of(v), r);
        return in;
    };
    image const content = whole(image());
    image const start(content.bytes.size(), false);
    bool const writing = call.way == direction::write;
    scratch.make(writing ? &start.bytes : &content.bytes);
    auto const mine = view_of(mpi.rank);
    auto const n = elements_of(mine);
    auto& data = mpi.incoming(n);
    if (writing) data.fill(key(mpi.rank));
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    // A rank that owns nothing has no filetype to speak of: it looks on with the etype.
    file.set(n > 0 ? mine : view{header, mine.etype, mine.etype, false});
    running_access running(mpi, call, file);
    running.begin(0, data, static_cast<int>(n));
    mpi.expect(running.end()).count(n);
    file.expect_position(n);
    file.close();
    data.expect(segment{0, n, key(mpi.rank)}, writing ? "of the send buffer, which MPI may not change" : "of the file");
    scratch.expect(writing ? whole(start) : content);
}
