// Split collective accesses (MPI-5.0 sections 14.4.5 and 14.9.1): what may happen between begin and end, and one after another.
#include "suites/io/numbers.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
axis_use split_ones() {
    return only(accesses(), [](data_access const& a) { return a.how == synchronism::split; });
}
axis<synchronism> const
    between("between", {{{"blocking", "MPI_File_write_at and MPI_File_read_at"}, synchronism::blocking},
                        {{"nonblocking", "MPI_File_iwrite_at and MPI_File_iread_at"}, synchronism::nonblocking}});
axis<bool> const ends("ends", {{{"in_order", "the access that was begun first is ended first"}, false},
                               {{"backwards", "the access that was begun last is ended first"}, true}});
} // namespace

ASSAY_TEST(io, split_between, requirements{"io.split.noncollective_between", "io.split_collective"},
           over(split_ones(), axis_use{&between}, communicators::few_intra(), ints(), seventeen()),
           note{"between begin and end the file handle is used for noncollective accesses to other bytes"},
           thread_safe{}) {
    auto const call = mpi.at(accesses());
    auto const how = mpi.at(between);
    bool const writing = call.way == direction::write;
    auto const all = static_cast<std::size_t>(mpi.size) * mpi.elements;
    auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
    numbers const content(mpi, 3 * all); // of the split access, of the writes and of the reads between
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    auto expected = starts_with(content.content());
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        file.set(content.in_file(call, own));
        auto const begin_of_view = call.where == positioning::individual ? own : 0;
        auto &data = mpi.incoming(), &out = mpi.incoming(), &in = mpi.incoming();
        if (writing) data.fill(key_of_piece(mpi, mpi.rank, 0));
        out.fill(key_of_piece(mpi, mpi.rank, 1));
        running_access running(mpi, call, file);
        running.begin(own, data, mpi.count);
        running_access write(mpi, {direction::write, positioning::explicit_offset, false, how}, file);
        running_access read(mpi, {direction::read, positioning::explicit_offset, false, how}, file);
        {
            auto const rest = mpi.resting_on("io.split.noncollective_between");
            write.begin(all + own - begin_of_view, out, mpi.count);
            read.begin(2 * all + own - begin_of_view, in, mpi.count);
            mpi.expect(write.end()).count(mpi.elements);
            mpi.expect(read.end()).count(mpi.elements);
            content.expect(in, 2 * all + own, mpi.elements);
            file.expect_position(call.where == positioning::individual ? mpi.elements : 0);
        }
        mpi.expect(running.end()).count(mpi.elements);
        if (writing) data.expect_unchanged();
        else content.expect(data, own, mpi.elements);
    }
    if (writing) place_pieces(mpi, expected, content.in_file(), 0, 0);
    place_pieces(mpi, expected, content.in_file(), all, 1);
    scratch.expect(expected);
}

ASSAY_TEST(io, split_files, requirements{"io.split.two_files", "io.split_collective"},
           over(split_ones(), axis_use{&ends}, communicators::few_intra(), ints(), seventeen()),
           note{"two file handles have a split collective access each at the same time"}, thread_safe{}) {
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * mpi.elements + 3);
    scratch_file one(mpi), two(mpi, 1);
    one.make(&content.content());
    two.make(&content.content());
    {
        open_file first(mpi, one.path(), MPI_MODE_RDWR), second(mpi, two.path(), MPI_MODE_RDWR);
        if (!first.opened() || !second.opened()) return;
        running_access a(mpi, call, first), b(mpi, call, second);
        auto &of_a = mpi.incoming(), &of_b = mpi.incoming();
        auto const begin = [&](open_file& file, running_access& access, buffer& data, int serial) {
            file.set(content.in_file(call, own));
            if (writing) data.fill(key_of_piece(mpi, mpi.rank, serial));
            access.begin(own, data, mpi.count);
        };
        begin(first, a, of_a, 0);
        begin(second, b, of_b, 1);
        auto const end = [&](running_access& access, buffer& data) {
            mpi.expect(access.end()).count(mpi.elements);
            if (!writing) content.expect(data, own, mpi.elements);
        };
        if (mpi.at(ends)) end(b, of_b);
        end(a, of_a);
        if (!mpi.at(ends)) end(b, of_b);
    }
    for (int serial = 0; serial < 2; ++serial) {
        auto expected = starts_with(content.content());
        if (writing) place_pieces(mpi, expected, content.in_file(), 0, serial);
        (serial == 0 ? one : two).expect(expected);
    }
}

ASSAY_TEST(io, split_rounds,
           requirements{"io.split.one_after_another", "io.split_collective", "io.status.count", "io.large_count"},
           over(split_ones(), axis_use{&forms()}, communicators::few_intra(), ints(), seventeen()),
           note{"double buffering as in section 14.9.1: the next access begins when the one before has ended"},
           thread_safe{}) {
    constexpr int rounds = 5;
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    auto const all = static_cast<std::size_t>(mpi.size) * mpi.elements;
    auto const begin_of = [&](int rank, int round) { // in etypes: individual file pointers go on from piece to piece
        return mpi.elements * static_cast<std::size_t>(call.where == positioning::individual ? rank * rounds + round
                                                                                             : round * mpi.size + rank);
    };
    numbers const content(mpi, rounds * all);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    auto expected = starts_with(content.content());
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        file.set(content.in_file(call, begin_of(mpi.rank, 0)));
        buffer* const halves[] = {&mpi.incoming(), &mpi.incoming()};
        for (int round = 0; round < rounds; ++round) {
            auto const own = begin_of(mpi.rank, round);
            auto &data = *halves[round % 2], &other = *halves[(round + 1) % 2];
            if (writing) data.fill(key_of_piece(mpi, mpi.rank, round));
            else data.poison();
            running_access running(mpi, call, file);
            running.with_large_counts(mpi.at(forms()));
            running.begin(own, data, mpi.count);
            if (round > 0 && !writing)
                content.expect(other, begin_of(mpi.rank, round - 1), mpi.elements); // the program's again
            mpi.expect(running.end()).count(mpi.elements);
            if (!writing) content.expect(data, own, mpi.elements);
        }
    }
    for (int round = 0; round < rounds && writing; ++round)
        for (int r = 0; r < mpi.size; ++r)
            expected.place(content.in_file(), begin_of(r, round), mpi.map, key_of_piece(mpi, r, round), mpi.elements,
                           r);
    scratch.expect(expected);
}
