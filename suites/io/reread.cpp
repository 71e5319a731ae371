// Keller: "IO Sync", "IO Atomar", "Asyncio Atomar", "IO w/ hole", "IO w/ Arrange" — each rank writes its piece of a file
// and reads that of its neighbour, as soon as MPI-5.0 section 14.6.1 says that it must be seen.
#include "framework/check/logical.hpp"
#include "suites/io/access.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
enum class made_seen { sync, atomic, atomic_nonblocking, reopen };
axis<made_seen> const hows(
    "how",
    {{value_info("sync", "MPI_File_sync by the writers, messages, MPI_File_sync by the readers").in_thesis("IO Sync"),
      made_seen::sync},
     {value_info("atomic", "atomic mode and messages").in_thesis("IO Atomar"), made_seen::atomic},
     {value_info("atomic_nonblocking", "the same with MPI_File_iwrite_at and MPI_File_iread_at")
          .in_thesis("Asyncio Atomar"),
      made_seen::atomic_nonblocking},
     {{"reopen", "MPI_File_close, messages, MPI_File_open"}, made_seen::reopen}});

enum class arrangement { hole, by_seek, interleaved, adjacent };
axis<arrangement> const arrangements(
    "arrangement",
    {{value_info("hole", "pieces with holes of the filetype in them").in_thesis("IO w/ hole"), arrangement::hole},
     {{"by_seek", "element by element, two left out by MPI_File_seek after each one"}, arrangement::by_seek},
     {value_info("interleaved", "each rank owns every n-th element").in_thesis("IO w/ Arrange"),
      arrangement::interleaved},
     {{"adjacent", "piece after piece"}, arrangement::adjacent}});
} // namespace

ASSAY_TEST(io, reread,
           requirements{"io.consistency.sync", "io.consistency.atomic", "io.consistency.reopen", "io.atomicity.flag",
                        "io.view.holes", "io.status.count", "io.pointer.seek"},
           over(axis_use{&hows}, axis_use{&arrangements}, thesis_comms(), thesis_types(), few_counts()), etypes_only(),
           fits_file(3),
           where(arrangements, count_ladder(),
                 [](arrangement a, count_value const& c) {
                     return a != arrangement::by_seek || (c.kind == count_value::unit::elements && c.n <= 17);
                 }),
           thread_safe{}) {
    auto const how = mpi.at(hows);
    auto const order = mpi.at(arrangements);
    bool const by_seek = order == arrangement::by_seek;
    auto const kind = order == arrangement::hole          ? view_kind::hole
                      : order == arrangement::interleaved ? view_kind::interleaved
                                                          : view_kind::type;
    int const next = (mpi.rank + 1) % mpi.size;
    auto const key = [&](int rank) { return mpi.key(0, rank, 0, rank, 0); };
    auto const first = [&](int rank) { // in etypes of the view
        return order == arrangement::interleaved ? 0
                                                 : static_cast<std::size_t>(rank) * mpi.elements * (by_seek ? 3 : 1);
    };
    auto const whole = [&](image in) {
        for (int r = 0; r < mpi.size; ++r) {
            auto const v = make_view(mpi, kind, r);
            // After each element of a piece by_seek leaves two out: a filetype of one etype in three.
            auto const place = by_seek ? view{v.displacement + first(r) * static_cast<std::size_t>(mpi.map.extent()),
                                              v.etype, resized(0, 3 * mpi.map.extent(), v.etype), false}
                                       : v;
            in.place(place, by_seek ? 0 : first(r), mpi.map, key(r), mpi.elements, r);
        }
        return in;
    };
    scratch_file scratch(mpi);
    image const start(whole(image()).bytes.size() + 5, false);
    scratch.make(&start.bytes);
    auto& out = mpi.incoming();
    out.fill(key(mpi.rank));
    auto& in = mpi.incoming();
    bool const nonblocking = how == made_seen::atomic_nonblocking;
    bool const atomic = how == made_seen::atomic || nonblocking;
    auto const extent = mpi.map.extent();
    auto const transfer = [&](MPI_File file, bool writing, int rank, void* data) {
        data_access const call{writing ? direction::write : direction::read,
                               by_seek ? positioning::individual : positioning::explicit_offset, false,
                               nonblocking ? synchronism::nonblocking : synchronism::blocking};
        auto const offset = static_cast<MPI_Offset>(first(rank));
        if (!by_seek) {
            running_access running(mpi, call, file);
            running.begin(first(rank), data, mpi.count);
            mpi.expect(running.end()).count(mpi.elements);
            return;
        }
        mpi.ok(MPI_File_seek(file, offset, MPI_SEEK_SET));
        for (int e = 0; e < mpi.count; ++e) {
            running_access running(mpi, call, file);
            running.begin(0, static_cast<char*>(data) + e * extent, 1);
            mpi.expect(running.end()).count(1);
            mpi.ok(MPI_File_seek(file, 2, MPI_SEEK_CUR));
        }
    };
    auto const prepare = [&](open_file& file, int whose) {
        file.set(make_view(mpi, kind, whose));
        mpi.ok(MPI_File_set_atomicity(file, atomic));
        int flag = opposite(atomic);
        mpi.ok(MPI_File_get_atomicity(file, &flag));
        mpi.check(logical(flag) == atomic, finding::value,
                  fmt::format("MPI_File_get_atomicity gives {} after MPI_File_set_atomicity({})", flag, atomic));
    };
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        int flag = -1;
        mpi.ok(MPI_File_get_atomicity(file, &flag));
        mpi.check(flag == 0, finding::value, "a file must be in nonatomic mode when it was opened");
        prepare(file, mpi.rank);
        transfer(file, true, mpi.rank, out);
        if (how == made_seen::sync) mpi.ok(MPI_File_sync(file));
        if (how != made_seen::reopen) {
            meet(mpi);
            if (how == made_seen::sync) mpi.ok(MPI_File_sync(file));
            if (order == arrangement::interleaved) file.set(make_view(mpi, kind, next));
            transfer(file, false, next, in);
        }
    }
    if (how == made_seen::reopen) {
        meet(mpi);
        open_file again(mpi, scratch.path(), MPI_MODE_RDONLY);
        if (!again.opened()) return;
        prepare(again, next);
        transfer(again, false, next, in);
    }
    out.expect_unchanged();
    in.expect(key(next), mpi.elements, fmt::format("of the piece of rank {}", next));
    scratch.expect(whole(start));
}

ASSAY_TEST(io, atomicity, requirements{"io.atomicity.conflict"},
           over(only(views(), [](view_kind v) { return v == view_kind::type || v == view_kind::hole; }), thesis_comms(),
                some_types(), few_counts()),
           etypes_only(), fits_file(2),
           note{"all ranks write the same bytes at once: what is read and what remains is of one write"},
           thread_safe{}) {
    constexpr int rounds = 3;
    auto const v = make_view(mpi, mpi.at(views()), 0);
    auto const key = [&](int rank, int round) { return mpi.key(0, rank, 0, rank, round); };
    scratch_file scratch(mpi);
    image start(0, false);
    start.place(v, 0, mpi.map, key(0, 0), mpi.elements, 0);
    scratch.make(&start.bytes);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    file.set(v);
    mpi.ok(MPI_File_set_atomicity(file, 1));
    auto &out = mpi.incoming(), &in = mpi.incoming();
    for (int round = 0; round < rounds; ++round) {
        out.fill(key(mpi.rank, round));
        in.poison();
        auto status = poisoned_status();
        mpi.ok(MPI_File_write_at(file, 0, out, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
        mpi.ok(MPI_File_read_at(file, 0, in, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
        bool one = false; // ranks may be in other rounds
        for (int i = 0; i < mpi.size * rounds && !one; ++i) {
            segment const whole{0, mpi.elements, key(i / rounds, i % rounds)};
            one = in.holds(std::span(&whole, 1));
        }
        if (!one)
            in.expect(key(mpi.rank, round), mpi.elements, "of one write: there is no write that all bytes are of");
    }
    file.close();
    meet(mpi);
    if (mpi.rank == 0) {
        auto const found = scratch.read();
        int last = 0; // the last write of some rank
        while (last + 1 < mpi.size && !found.agrees(v, 0, mpi.map, key(last, rounds - 1), mpi.elements)) ++last;
        start.place(v, 0, mpi.map, key(last, rounds - 1), mpi.elements, last);
    }
    scratch.expect(start);
}
