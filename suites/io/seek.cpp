// The individual and the shared file pointer (MPI-5.0 sections 14.4.3 and 14.4.4.3): MPI_File_seek and MPI_File_seek_shared
// with each whence, what the pointers are then and which data are read there; byte positions of offsets.
#include "suites/io/access.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
axis<bool> const pointers("pointer",
                          {{{"individual", "MPI_File_seek"}, false}, {{"shared", "MPI_File_seek_shared"}, true}});
axis<bool> const whences("whence",
                         {{{"set_and_cur", "MPI_SEEK_SET and MPI_SEEK_CUR"}, false}, {{"end", "MPI_SEEK_END"}, true}});
} // namespace

ASSAY_TEST(io, seek,
           requirements{"io.pointer.seek", "io.pointer.seek_end", "io.pointer.seek_shared", "io.byte_offset",
                        "io.view.resets_pointers"},
           over(axis_use{&pointers}, axis_use{&whences}, axis_use{&views()}, thesis_comms(), thesis_types(),
                few_counts()),
           views_of_etypes(), fits_file(3),
           where(pointers, whences, views(),
                 [](bool shared, bool end, view_kind v) {
                     // Where the file ends for an interleaved view depends on who owns the last byte.
                     return (!shared && !end) || same_on_all_ranks(v);
                 }),
           thread_safe{}) {
    bool const shared = mpi.at(pointers);
    auto const kind = mpi.at(views());
    auto const v = make_view(mpi, kind, mpi.rank);
    bool const own = kind == view_kind::interleaved;
    auto const key = [&](int rank, int part) { return mpi.key(0, rank, 0, own ? rank : 0, part); };
    auto const part = v.etypes(mpi.map, mpi.elements); // three parts, of each rank or of all
    scratch_file scratch(mpi);
    image content(kind == view_kind::bytes ? 0 : header);
    for (int r = 0; r < (own ? mpi.size : 1); ++r)
        for (std::size_t p = 0; p < 3; ++p)
            content.place(make_view(mpi, kind, r), p * part, mpi.map, key(own ? r : 0, static_cast<int>(p)),
                          mpi.elements, r);
    scratch.make(&content.bytes);
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (!file.opened()) return;
    auto const seek = [&](std::ptrdiff_t offset, int whence) {
        if (shared) meet(mpi); // nobody still looks at the pointer
        mpi.ok(shared ? MPI_File_seek_shared(file, offset, whence) : MPI_File_seek(file, offset, whence));
        if (shared) meet(mpi);
    };
    auto const expect_at = [&](std::size_t etypes) {
        if (shared) file.expect_shared_position(etypes);
        else file.expect_position(etypes);
    };
    auto const read = [&](int p) {
        auto& in = mpi.incoming();
        auto status = poisoned_status();
        if (shared) meet(mpi); // all have seen the pointer where it is
        if (shared && mpi.rank != 0) return;
        mpi.ok(shared ? MPI_File_read_shared(file, in, mpi.count, mpi.type, &status)
                      : MPI_File_read(file, in, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
        in.expect(key(own ? mpi.rank : 0, p), mpi.elements, "of the file");
    };
    // A new view puts both pointers to its beginning (section 14.3).
    seek(static_cast<std::ptrdiff_t>(part), MPI_SEEK_SET);
    if (!v.by_default) {
        file.set(v);
        if (shared) meet(mpi);
        expect_at(0);
    }
    if (mpi.at(whences)) {
        seek(-static_cast<std::ptrdiff_t>(part), MPI_SEEK_END);
        expect_at(2 * part);
        read(2);
        seek(4, MPI_SEEK_END); // beyond the end is allowed
        expect_at(3 * part + 4);
    } else {
        seek(static_cast<std::ptrdiff_t>(part), MPI_SEEK_SET);
        expect_at(part);
        read(1);
        seek(0, MPI_SEEK_CUR);
        expect_at(2 * part);
        seek(-2 * static_cast<std::ptrdiff_t>(part), MPI_SEEK_CUR);
        expect_at(0);
        read(0);
    }
    // Positions before the first byte of an etype that has no data there are the same etype: not asked for.
    if (v.etype.map.true_lb() == 0)
        for (std::size_t offset : {std::size_t{0}, std::size_t{1}, 2 * part, 3 * part + 1}) {
            MPI_Offset got = -7;
            auto const wanted = v.position(offset * v.etype.map.size());
            mpi.ok(MPI_File_get_byte_offset(file, static_cast<MPI_Offset>(offset), &got));
            mpi.check(got == static_cast<MPI_Offset>(wanted), finding::position,
                      fmt::format("MPI_File_get_byte_offset of {} gives {}, expected {}", offset, got, wanted));
        }
    file.close();
    scratch.expect(content);
}
