// Consistency of accesses without atomic mode (MPI-5.0 section 14.6.1): in the order of a program, at the same time to different
// bytes, and over several open handles of one file.
#include "framework/check/logical.hpp"
#include "suites/io/numbers.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
// The reads of table 12, as a second axis of accesses.
axis<data_access> const& later_reads() {
    static axis<data_access> const axis("then", [] {
        std::vector<assay::axis<data_access>::entry> entries;
        for (std::size_t i = 0; i < accesses().size(); ++i)
            if (accesses().at(i).way == direction::read) entries.push_back({accesses().info(i), accesses().at(i)});
        return entries;
    }());
    return axis;
}
} // namespace

ASSAY_TEST(
    io, own_order, requirements{"io.consistency.program_order", "io.write.data", "io.read.data", "io.status.count"},
    over(writes(), axis_use{&later_reads()},
         only(views(), [](view_kind v) { return v == view_kind::type || v == view_kind::hole; }),
         communicators::of({"world", "self"}), ints(), seventeen()),
    where(accesses(), later_reads(), comm_axis(),
          [](data_access const& a, data_access const& b, communicator const& c) {
              // Where several ranks use the shared pointer without order, none knows what is its own.
              return c.name == "self" || (a.where != positioning::shared && b.where != positioning::shared);
          }),
    where(accesses(), later_reads(), views(), // individual file pointers begin with their view, which has no holes then
          [](data_access const& a, data_access const& b, view_kind v) {
              return v == view_kind::type || (a.where != positioning::individual && b.where != positioning::individual);
          }),
    note{"a rank reads with one routine what it has written with another through the same handle, without a sync"},
    thread_safe{}) {
    auto const write = mpi.at(accesses()), read = mpi.at(later_reads());
    auto const v = make_view(mpi, mpi.at(views()), 0);
    auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
    auto const pieces = [&](image in) {
        place_pieces(mpi, in, v);
        return in;
    };
    image const start(pieces(image()).bytes.size() + 5, false);
    scratch_file scratch(mpi);
    scratch.make(&start.bytes);
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        auto &out = mpi.incoming(), &in = mpi.incoming();
        out.fill(key_of_piece(mpi, mpi.rank));
        auto const access = [&](data_access const& call, buffer& data) {
            auto mine = v; // a new view puts the file pointers to its beginning
            if (call.where == positioning::individual)
                mine.displacement += own * static_cast<std::size_t>(mpi.map.extent());
            file.set(mine);
            running_access running(mpi, call, file);
            running.begin(own, data, mpi.count);
            mpi.expect(running.end()).count(mpi.elements);
        };
        access(write, out);
        meet(mpi); // all have used the shared file pointer
        access(read, in);
        in.expect(key_of_piece(mpi, mpi.rank), mpi.elements, "of what this rank has written");
    }
    scratch.expect(pieces(start));
}

// ---- At the same time

ASSAY_TEST(io, disjoint, requirements{"io.consistency.disjoint", "io.view.holes", "io.write.data"},
           over(only(accesses(),
                     [](data_access const& a) { return a.way == direction::write && !a.uses_shared_pointer(); }),
                communicators::of({"world", "reversed"}), datatypes::of({"char", "int", "double_int"}), seventeen()),
           note{"ranks write again and again to bytes that lie between those of the others, at the same time"},
           thread_safe{}) {
    constexpr int rounds = 8;
    auto const call = mpi.at(accesses());
    auto const view_of = [&](int rank) { return make_view(mpi, view_kind::interleaved, rank); };
    auto const pieces = [&](image in) {
        for (int r = 0; r < mpi.size; ++r)
            for (int round = 0; round < rounds; ++round)
                in.place(view_of(r), static_cast<std::size_t>(round) * mpi.elements, mpi.map,
                         key_of_piece(mpi, r, round), mpi.elements, r);
        return in;
    };
    image const start(pieces(image()).bytes.size() + 5, false);
    scratch_file scratch(mpi);
    scratch.make(&start.bytes);
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        file.set(view_of(mpi.rank));
        auto& out = mpi.incoming();
        for (int round = 0; round < rounds; ++round) {
            out.fill(key_of_piece(mpi, mpi.rank, round));
            running_access running(mpi, call, file);
            running.begin(static_cast<std::size_t>(round) * mpi.elements, out, mpi.count);
            mpi.expect(running.end()).count(mpi.elements);
        }
    }
    scratch.expect(pieces(start));
}

ASSAY_TEST(io, extend, requirements{"io.consistency.extend", "io.file_size.high_byte"},
           over(communicators::of({"world", "reversed"}), ints(), seventeen()),
           note{"rank 0 makes the file longer, write after write, while the others read what was there before"},
           thread_safe{}) {
    constexpr int rounds = 12;
    auto const before = static_cast<std::size_t>(mpi.size) * mpi.elements;
    numbers const content(mpi, before);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    auto expected = starts_with(content.content());
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        file.set(content.in_file());
        auto& data = mpi.incoming();
        auto status = poisoned_status();
        auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
        for (int round = 0; round < rounds; ++round) {
            auto const at = before + static_cast<std::size_t>(round) * mpi.elements;
            if (mpi.rank == 0) {
                data.fill(key_of_piece(mpi, 0, round));
                mpi.ok(MPI_File_write_at(file, static_cast<MPI_Offset>(at), data, mpi.count, mpi.type, &status));
            } else {
                data.poison();
                mpi.ok(MPI_File_read_at(file, static_cast<MPI_Offset>(own), data, mpi.count, mpi.type, &status));
                content.expect(data, own, mpi.elements);
            }
            mpi.expect(status).count(mpi.elements);
        }
        for (int round = 0; round < rounds; ++round)
            expected.place(content.in_file(), before + static_cast<std::size_t>(round) * mpi.elements, mpi.map,
                           key_of_piece(mpi, 0, round), mpi.elements, 0);
        // What the others have to see of it: sync, message, sync.
        mpi.ok(MPI_File_sync(file));
        meet(mpi);
        mpi.ok(MPI_File_sync(file));
        MPI_Offset size = -7;
        mpi.ok(MPI_File_get_size(file, &size));
        mpi.check(size == static_cast<MPI_Offset>(expected.bytes.size()), finding::file,
                  fmt::format("MPI_File_get_size gives {}, expected {}", size, expected.bytes.size()));
        data.poison();
        auto const last = before + (rounds - 1) * mpi.elements;
        mpi.ok(MPI_File_read_at_all(file, static_cast<MPI_Offset>(last), data, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
        data.expect(key_of_piece(mpi, 0, rounds - 1), mpi.elements, "of what rank 0 has written last");
    }
    scratch.expect(expected);
}

// ---- Several handles

namespace {
enum class second_open { together, each };
axis<second_open> const opens("second", {{{"together", "opened by all ranks once more"}, second_open::together},
                                         {{"each", "opened by each rank on MPI_COMM_SELF"}, second_open::each}});
axis<int> const amodes("amode", {{{"rdwr", "the second handle is opened with MPI_MODE_RDWR"}, MPI_MODE_RDWR},
                                 {{"rdonly", "the second handle is opened with MPI_MODE_RDONLY"}, MPI_MODE_RDONLY}});
} // namespace

ASSAY_TEST(
    io, two_opens, requirements{"io.consistency.two_opens"},
    over(axis_use{&opens}, axis_use{&amodes}, writes(), communicators::few_intra(), ints(), seventeen()),
    where(accesses(), [](data_access const& a) { return a.where != positioning::shared; }),
    note{"what was written through one handle is read through another, which was open all the time: MPI_File_sync of "
         "the first, messages, MPI_File_sync of the second"},
    thread_safe{}) {
    auto const call = mpi.at(accesses());
    auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
    int const next = (mpi.rank + 1) % mpi.size;
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    open_file one(mpi, scratch.path(), MPI_MODE_RDWR);
    open_file two(mpi, mpi.at(opens) == second_open::together ? mpi.comm : MPI_COMM_SELF, scratch.path(),
                  mpi.at(amodes));
    if (!one.opened() || !two.opened()) return;
    one.set(content.in_file(call, own));
    two.set(content.in_file());
    auto &out = mpi.incoming(), &in = mpi.incoming();
    auto status = poisoned_status();
    // Before the write, so that a cache of the second handle has old data.
    auto const theirs = static_cast<std::size_t>(next) * mpi.elements;
    auto const read = [&] {
        in.poison();
        mpi.ok(MPI_File_read_at(two, static_cast<MPI_Offset>(theirs), in, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
    };
    read();
    content.expect(in, theirs, mpi.elements);
    mpi.ok(MPI_File_sync(two));
    meet(mpi);
    out.fill(key_of_piece(mpi, mpi.rank));
    running_access running(mpi, call, one);
    running.begin(own, out, mpi.count);
    mpi.expect(running.end()).count(mpi.elements);
    mpi.ok(MPI_File_sync(one));
    meet(mpi);
    mpi.ok(MPI_File_sync(two));
    read();
    in.expect(key_of_piece(mpi, next), mpi.elements, fmt::format("of what rank {} has written", next));
    one.close();
    two.close();
    meet(mpi);
}

ASSAY_TEST(io, atomic_opens, requirements{"io.atomicity.this_open", "io.atomicity.flag"},
           over(communicators::few_intra()), note{"atomic mode of one open is none of another open of the same file"},
           thread_safe{}) {
    std::vector<unsigned char> const content(100, poison_byte);
    scratch_file scratch(mpi);
    scratch.make(&content);
    open_file one(mpi, scratch.path(), MPI_MODE_RDWR), two(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!one.opened() || !two.opened()) return;
    auto const expect = [&](open_file& file, bool atomic, char const* which) {
        int flag = opposite(atomic);
        mpi.ok(MPI_File_get_atomicity(file, &flag));
        mpi.check(logical(flag) == atomic, finding::value,
                  fmt::format("MPI_File_get_atomicity of the {} handle gives {}, expected {}", which, flag, atomic));
    };
    for (bool const atomic : {true, false, true}) {
        mpi.ok(MPI_File_set_atomicity(one, atomic));
        expect(one, atomic, "first");
        expect(two, false, "second");
    }
    mpi.ok(MPI_File_set_atomicity(two, 1));
    mpi.ok(MPI_File_set_atomicity(one, 0));
    expect(one, false, "first");
    expect(two, true, "second");
    one.close();
    two.close();
    meet(mpi);
}

// ---- As libraries for self-describing files do it

ASSAY_TEST(io, datasets, requirements{"io.view.changed", "io.view.holes", "io.write.data", "io.read.data"},
           over(communicators::of({"world", "reversed"}), datatypes::of({"int", "double_int"}), seventeen()),
           note{"after each head of bytes that rank 0 writes, all ranks write their columns of a dataset, and rank 0 "
                "says in the "
                "first bytes of the file where it ends; then all is read back through the same views"},
           thread_safe{}) {
    constexpr std::size_t first = 32, head = 40;
    constexpr int datasets = 4;
    auto const type = type_of_case(mpi);
    auto const bytes_of = [&](int dataset) { return static_cast<std::size_t>(dataset) + 1; }; // rows
    auto const columns = mpi.count;
    auto const extent = static_cast<std::size_t>(mpi.map.extent());
    auto const begin_of = [&](int dataset) {
        std::size_t at = first;
        for (int d = 0; d < dataset; ++d)
            at += head + bytes_of(d) * static_cast<std::size_t>(columns * mpi.size) * extent;
        return at;
    };
    auto const view_of = [&](int dataset, int rank) {
        int const rows = dataset + 1;
        return view{begin_of(dataset) + head, type,
                    subarray({rows, columns * mpi.size}, {rows, columns}, {0, rank * columns}, true, type), false};
    };
    auto const head_of = [&](int dataset, std::size_t n) {
        std::vector<unsigned char> bytes(n);
        for (std::size_t i = 0; i < n; ++i)
            bytes[i] = static_cast<unsigned char>(i * 5 + static_cast<std::size_t>(dataset) * 31 + 1);
        return bytes;
    };
    view const bytes{0, predefined("byte"), predefined("byte"), true};
    scratch_file scratch(mpi);
    scratch.make(nullptr);
    image expected;
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR | MPI_MODE_CREATE);
        if (!file.opened()) return;
        auto status = poisoned_status();
        auto const write_bytes = [&](std::size_t at, std::vector<unsigned char> const& what) {
            expected.place(at, what, 0);
            if (mpi.rank != 0) return;
            mpi.ok(MPI_File_write_at(file, static_cast<MPI_Offset>(at), what.data(), static_cast<int>(what.size()),
                                     MPI_BYTE, &status));
            mpi.expect(status).count(what.size(), MPI_BYTE, 1);
        };
        auto const elements = [&](int dataset) { return static_cast<std::size_t>(dataset + 1) * mpi.elements; };
        for (int d = 0; d < datasets; ++d) {
            write_bytes(begin_of(d), head_of(d, head));
            file.set(view_of(d, mpi.rank));
            auto& out = mpi.incoming(elements(d));
            out.fill(key_of_piece(mpi, mpi.rank, d));
            mpi.ok(MPI_File_write_all(file, out, static_cast<int>(elements(d)), mpi.type, &status));
            mpi.expect(status).count(elements(d));
            for (int r = 0; r < mpi.size; ++r)
                expected.place(view_of(d, r), 0, mpi.map, key_of_piece(mpi, r, d), elements(d), r);
            mpi.ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
            write_bytes(0, head_of(d + 100, first)); // what it was before is written over
        }
        for (int d = datasets; d-- > 0;) {
            file.set(view_of(d, mpi.rank));
            auto& in = mpi.incoming(elements(d));
            mpi.ok(MPI_File_read_all(file, in, static_cast<int>(elements(d)), mpi.type, &status));
            mpi.expect(status).count(elements(d));
            in.expect(key_of_piece(mpi, mpi.rank, d), elements(d), fmt::format("of dataset {}", d));
        }
    }
    scratch.expect(expected);
}
