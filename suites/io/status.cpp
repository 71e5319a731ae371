// What a data access says of itself: at the end of the file, and whether it was cancelled (MPI-5.0 section 14.4.1.4).
#include "suites/io/numbers.hpp"

using namespace assay;
using namespace assay::io;

ASSAY_TEST(io, end_of_file, requirements{"io.status.end_of_file", "io.read.data", "io.read.rest"},
           over(reads(), only(views(), [](view_kind v) { return v != view_kind::interleaved; }),
                communicators::of({"world", "self"}), datatypes::of({"int", "vector_int"}),
                only(count_ladder(), [](count_value const& c) { return c.n == 17 || c.n == 8195; })),
           etypes_only(), fits_file(2),
           where(accesses(), [](data_access const& a) { return a.where != positioning::shared; }),
           note{"the last rank finds half of what it asked for"}, thread_safe{}) {
    auto const call = mpi.at(accesses());
    auto const v = make_view(mpi, mpi.at(views()), mpi.rank);
    auto const key = [&](int rank) { return mpi.key(0, rank, 0, rank, 0); };
    auto const piece = v.etypes(mpi.map, mpi.elements);
    auto const there = [&](int rank) { return rank == mpi.size - 1 ? mpi.elements / 2 : mpi.elements; };
    scratch_file scratch(mpi);
    image content(v.by_default ? 0 : header);
    for (int r = 0; r < mpi.size; ++r)
        content.place(v, static_cast<std::size_t>(r) * piece, mpi.map, key(r), there(r), r);
    scratch.make(&content.bytes);
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (!file.opened()) return;
    if (!v.by_default) file.set(v);
    auto& in = mpi.incoming();
    auto const offset = static_cast<std::size_t>(mpi.rank) * piece;
    if (call.where == positioning::individual)
        mpi.ok(MPI_File_seek(file, static_cast<MPI_Offset>(offset), MPI_SEEK_SET));
    running_access running(mpi, call, file);
    running.begin(offset, in, mpi.count);
    mpi.expect(running.end()).count(there(mpi.rank));
    auto const got = there(mpi.rank);
    set_rest_aside(mpi, in, got);
    in.expect(key(mpi.rank), got, "of the file, which ends after it");
    file.close();
    scratch.expect(content);
}

ASSAY_TEST(io, status,
           requirements{"io.status.cancelled", "io.status.count", "io.status.ignore", "io.status.error_field"},
           over(axis_use{&accesses()}, thesis_comms(), datatypes::of({"int"}), few_counts()), thread_safe{}) {
    auto const call = mpi.at(accesses());
    scratch_file scratch(mpi);
    std::vector<unsigned char> const zeros(2 * static_cast<std::size_t>(mpi.size) * mpi.elements * mpi.map.size());
    scratch.make(&zeros);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    auto& data = mpi.incoming();
    running_access running(mpi, call, file);
    running.begin(0, data, mpi.count);
    mpi.expect(running.end()).count(mpi.elements).not_cancelled().error_untouched("io.status.error_field");
    running.ignore_status();
    running.begin(0, data, mpi.count);
    running.end();
}
