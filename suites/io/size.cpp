// Keller: "Set Size", "Preallocate" — the size of a file and what changes it (MPI-5.0 sections 14.2.4 to 14.2.6, 14.6.10).
#include "suites/io/file.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
struct change {
    bool preallocate;
    int halves; // of the size it had
};
axis<change> const
    changes("change",
            {{value_info("grow", "MPI_File_set_size to more").in_thesis("Set Size"), {false, 3}},
             {{"shrink", "MPI_File_set_size to less"}, {false, 1}},
             {{"empty", "MPI_File_set_size to 0"}, {false, 0}},
             {{"same", "MPI_File_set_size to what it is"}, {false, 2}},
             {value_info("preallocate_more", "MPI_File_preallocate of more").in_thesis("Preallocate"), {true, 3}},
             {{"preallocate_less", "MPI_File_preallocate of less"}, {true, 1}}});
// Sizes are those of the file, wherever the view begins.
axis<std::size_t> const displacements("displacement", {{{"0", "the view that a file has when it is opened"}, 0},
                                                       {{"13", "a view that begins after 13 bytes"}, header}});
} // namespace

ASSAY_TEST(io, size,
           requirements{"io.set_size", "io.preallocate", "io.get_size", "io.set_size.pointers",
                        "io.file_size.high_byte"},
           over(axis_use{&changes}, thesis_comms(), thesis_types(), few_counts(), axis_use{&displacements}),
           fits_file(2), thread_safe{}) {
    auto const how = mpi.at(changes);
    view const v{mpi.at(displacements), predefined("byte"), predefined("byte"), mpi.at(displacements) == 0};
    auto const bytes_of_rank = mpi.elements * mpi.map.size();
    auto const key = [&](int rank) { return mpi.key(0, rank, 0, rank, 0); };
    scratch_file scratch(mpi);
    image expected;
    for (int r = 0; r < mpi.size; ++r)
        expected.place(v, static_cast<std::size_t>(r) * bytes_of_rank, mpi.map, key(r), mpi.elements, r);
    auto const size = expected.bytes.size(), wanted = size * static_cast<std::size_t>(how.halves) / 2;
    scratch.make(nullptr);
    auto& out = mpi.incoming();
    out.fill(key(mpi.rank));
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR | MPI_MODE_CREATE);
    if (!file.opened()) return;
    auto const expect_size = [&](std::size_t bytes) {
        MPI_Offset got = -7;
        mpi.ok(MPI_File_get_size(file, &got));
        mpi.check(got == static_cast<MPI_Offset>(bytes), finding::file,
                  fmt::format("MPI_File_get_size gives {}, expected {}", got, bytes));
    };
    expect_size(0);
    if (!v.by_default) file.set(v);
    // To write, to ask for the size and to change it conflict: each sees the other only across a sync (section 14.6.1).
    auto const settle = [&] {
        mpi.ok(MPI_File_sync(file));
        meet(mpi);
        mpi.ok(MPI_File_sync(file));
    };
    settle();
    auto status = poisoned_status();
    auto const own = static_cast<std::size_t>(mpi.rank) * bytes_of_rank;
    mpi.ok(MPI_File_seek(file, static_cast<MPI_Offset>(own), MPI_SEEK_SET));
    mpi.ok(MPI_File_write(file, out, mpi.count, mpi.type, &status));
    mpi.expect(status).count(mpi.elements);
    settle();
    expect_size(size);
    settle();
    mpi.ok(how.preallocate ? MPI_File_preallocate(file, static_cast<MPI_Offset>(wanted))
                           : MPI_File_set_size(file, static_cast<MPI_Offset>(wanted)));
    settle();
    auto const after = how.preallocate ? std::max(size, wanted) : wanted;
    expect_size(after);
    file.expect_position(own + bytes_of_rank);
    file.close();
    out.expect_unchanged();
    expected.resize(after);
    scratch.expect(expected);
}
