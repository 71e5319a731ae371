// Which file pointers there are, and which of them an access moves, and when (MPI-5.0 sections 14.2.4, 14.4.1.1, 14.4.3, 14.4.4).
#include "suites/io/numbers.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
constexpr std::size_t individual_at = 5, shared_at = 11, explicit_at = 2; // etypes

// Puts the pointers of a file apart from each other and from the beginning, by accesses: MPI_File_seek has tests of its own.
void move_apart(test_run& mpi, MPI_File file) {
    auto& skipped = mpi.incoming();
    mpi.ok(MPI_File_read(file, skipped, individual_at, mpi.type, MPI_STATUS_IGNORE));
    mpi.ok(MPI_File_read_ordered(file, skipped, mpi.rank == 0 ? shared_at : 0, mpi.type, MPI_STATUS_IGNORE));
    meet(mpi); // all have moved the shared one
}

// After each of `mpi.size` processes has begun an access of `n` etypes.
void expect_pointers(test_run& mpi, open_file& file, data_access const& call, std::size_t n) {
    file.expect_position(individual_at + (call.where == positioning::individual ? n : 0));
    meet(mpi); // all have begun
    file.expect_shared_position(shared_at + (call.uses_shared_pointer() ? n * static_cast<std::size_t>(mpi.size) : 0));
    meet(mpi); // all have looked
}
} // namespace

ASSAY_TEST(io, pointer_moves, requirements{"io.pointer.at_begin", "io.pointer.kinds_apart", "io.large_count"},
           over(axis_use{&accesses()}, axis_use{&forms()}, communicators::few_intra(), ints(), seventeen()),
           note{"both pointers are looked at between the begin of an access and its end, and after it"},
           thread_safe{}) {
    auto const call = mpi.at(accesses());
    numbers const content(mpi, shared_at + (static_cast<std::size_t>(mpi.size) + 1) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    file.set(content.in_file());
    move_apart(mpi, file);
    auto& data = mpi.incoming();
    // Ranks may write to the same place: what the file then holds is not asked for.
    if (call.way == direction::write) data.fill(key_of_piece(mpi, 0));
    running_access running(mpi, call, file);
    running.with_large_counts(mpi.at(forms()));
    running.begin(explicit_at, data, mpi.count);
    if (call.how != synchronism::blocking) expect_pointers(mpi, file, call, mpi.elements);
    mpi.expect(running.end()).count(mpi.elements);
    expect_pointers(mpi, file, call, mpi.elements);
    if (call.way == direction::write) data.expect_unchanged();
    else if (call.where == positioning::explicit_offset) content.expect(data, explicit_at, mpi.elements);
    else if (call.where == positioning::individual) content.expect(data, individual_at, mpi.elements);
    else if (call.where == positioning::ordered)
        content.expect(data, shared_at + static_cast<std::size_t>(mpi.rank) * mpi.elements, mpi.elements);
    file.close();
    meet(mpi);
}

namespace {
axis<bool> const pointers("pointer", {{{"individual", "the file pointer of each process"}, false},
                                      {{"shared", "the file pointer of all processes"}, true}});
} // namespace

ASSAY_TEST(io, pointer_handles, requirements{"io.pointer.per_handle", "io.pointer.per_open"},
           over(axis_use{&pointers}, communicators::few_intra(), ints(), seventeen()),
           note{"a file is opened twice at once: what one handle moves does not move the other's pointers"},
           thread_safe{}) {
    auto const own = static_cast<std::size_t>(mpi.rank) + 3, all = static_cast<std::size_t>(mpi.size) * mpi.elements;
    numbers const content(mpi, own + all + 20);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    open_file a(mpi, scratch.path(), MPI_MODE_RDONLY), b(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (!a.opened() || !b.opened()) return;
    a.set(content.in_file());
    b.set(content.in_file());
    auto& in = mpi.incoming();
    auto status = poisoned_status();
    if (!mpi.at(pointers)) {
        auto const rest = mpi.resting_on("io.pointer.per_handle");
        mpi.ok(MPI_File_seek(a, static_cast<MPI_Offset>(own), MPI_SEEK_SET));
        mpi.ok(MPI_File_seek(b, 10, MPI_SEEK_SET));
        mpi.ok(MPI_File_read(a, in, mpi.count, mpi.type, &status));
        content.expect(in, own, mpi.elements);
        a.expect_position(own + mpi.elements);
        b.expect_position(10);
        in.poison();
        mpi.ok(MPI_File_read(b, in, mpi.count, mpi.type, &status));
        content.expect(in, 10, mpi.elements);
        return meet(mpi);
    }
    auto const rest = mpi.resting_on("io.pointer.per_open");
    auto const ordered = [&](open_file& file) {
        in.poison();
        mpi.ok(MPI_File_read_ordered(file, in, mpi.count, mpi.type, &status));
        content.expect(in, static_cast<std::size_t>(mpi.rank) * mpi.elements, mpi.elements);
        meet(mpi);
    };
    ordered(a);
    a.expect_shared_position(all);
    b.expect_shared_position(0);
    ordered(b);
    a.expect_shared_position(all);
    meet(mpi);
}

ASSAY_TEST(io, pointer_beyond,
           requirements{"io.set_size.pointer_beyond", "io.seek.keeps_size", "io.set_size.pointers",
                        "io.read.beyond_end"},
           over(axis_use{&pointers}, communicators::few_intra(), ints(), seventeen()),
           note{"a file is cut below its pointers: they stay, nothing is to be read there, and writing goes on there"},
           thread_safe{}) {
    bool const shared = mpi.at(pointers);
    constexpr std::size_t before = 100, kept = 10, far = 130;
    numbers const content(mpi, before), rest_of_it(mpi, kept);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    file.set(content.in_file());
    auto const own = far + (shared ? 0 : static_cast<std::size_t>(mpi.rank) * mpi.elements);
    auto const expect_at = [&](std::size_t etypes) {
        if (shared) file.expect_shared_position(etypes);
        else file.expect_position(etypes);
    };
    auto const expect_size = [&](std::size_t bytes) {
        MPI_Offset got = -7;
        mpi.ok(MPI_File_get_size(file, &got));
        mpi.check(got == static_cast<MPI_Offset>(bytes), finding::file,
                  fmt::format("MPI_File_get_size gives {}, expected {}", got, bytes));
    };
    auto const all_see = [&] { // the change of the size (section 14.6.10)
        mpi.ok(MPI_File_sync(file));
        meet(mpi);
        mpi.ok(MPI_File_sync(file));
    };
    mpi.ok(shared ? MPI_File_seek_shared(file, static_cast<MPI_Offset>(own), MPI_SEEK_SET)
                  : MPI_File_seek(file, static_cast<MPI_Offset>(own), MPI_SEEK_SET));
    meet(mpi);
    expect_size(content.size());
    all_see();
    mpi.ok(MPI_File_set_size(file, static_cast<MPI_Offset>(rest_of_it.size())));
    all_see();
    expect_at(own);
    expect_size(rest_of_it.size());
    meet(mpi);
    auto& in = mpi.incoming();
    auto status = poisoned_status();
    mpi.ok(MPI_File_read_at(file, static_cast<MPI_Offset>(own), in, mpi.count, mpi.type, &status));
    mpi.expect(status).count(0);
    all_see();
    auto& out = mpi.incoming();
    out.fill(key_of_piece(mpi, mpi.rank));
    mpi.ok(shared ? MPI_File_write_ordered(file, out, mpi.count, mpi.type, &status)
                  : MPI_File_write(file, out, mpi.count, mpi.type, &status));
    mpi.expect(status).count(mpi.elements);
    file.close();
    image expected = starts_with(rest_of_it.content());
    place_pieces(mpi, expected, content.in_file(), far);
    scratch.expect(expected);
}

ASSAY_TEST(io, pointer_requested, requirements{"io.pointer.ordered_requested"},
           over(communicators::few_intra(), ints(), seventeen()),
           note{"an ordered read finds less than was asked for: the pointer goes on by what was asked for"},
           thread_safe{}) {
    numbers const content(mpi, 5);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (!file.opened()) return;
    file.set(content.in_file());
    auto& in = mpi.incoming();
    mpi.ok(MPI_File_read_ordered(file, in, mpi.count, mpi.type, MPI_STATUS_IGNORE));
    file.expect_shared_position(static_cast<std::size_t>(mpi.size) * mpi.elements);
    meet(mpi);
}

ASSAY_TEST(io, append_elsewhere, requirements{"io.append.explicit"},
           over(communicators::few_intra(), ints(), seventeen()),
           note{"MPI_MODE_APPEND is about the first position only: writing elsewhere is no appending"}, thread_safe{}) {
    numbers const content(mpi, 3 * static_cast<std::size_t>(mpi.size) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR | MPI_MODE_APPEND);
    if (!file.opened()) return;
    file.set(content.in_file());
    auto& out = mpi.incoming();
    auto status = poisoned_status();
    auto expected = starts_with(content.content());
    for (int piece = 0; piece < 2; ++piece) {
        auto const at = [&](int rank) { return static_cast<std::size_t>(rank + piece * mpi.size) * mpi.elements + 1; };
        out.fill(key_of_piece(mpi, mpi.rank, piece));
        auto const own = static_cast<MPI_Offset>(at(mpi.rank));
        if (piece == 0) mpi.ok(MPI_File_write_at(file, own, out, mpi.count, mpi.type, &status));
        else {
            mpi.ok(MPI_File_seek(file, own, MPI_SEEK_SET));
            mpi.ok(MPI_File_write(file, out, mpi.count, mpi.type, &status));
        }
        mpi.expect(status).count(mpi.elements);
        for (int r = 0; r < mpi.size; ++r)
            expected.place(content.in_file(), at(r), mpi.map, key_of_piece(mpi, r, piece), mpi.elements, r);
    }
    file.close();
    scratch.expect(expected);
}
