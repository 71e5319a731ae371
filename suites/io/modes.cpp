// Keller: "Append Modus", "Sequential Modus", "IO Commself" — access modes of MPI_File_open (MPI-5.0 section 14.2.1), and
// one file opened by each process for itself.
#include "suites/io/access.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {

struct opening {
    int amode;
    bool exists_before;
};
int const create = MPI_MODE_CREATE;
axis<opening> const
    amodes("amode", {{{"create", "MPI_MODE_RDWR and CREATE, no file before"}, {MPI_MODE_RDWR | create, false}},
                     {{"rdonly", "MPI_MODE_RDONLY"}, {MPI_MODE_RDONLY, true}},
                     {{"wronly", "MPI_MODE_WRONLY"}, {MPI_MODE_WRONLY, true}},
                     {{"rdwr", "MPI_MODE_RDWR"}, {MPI_MODE_RDWR, true}},
                     {{"create_existing", "MPI_MODE_RDWR and CREATE"}, {MPI_MODE_RDWR | create, true}},
                     {{"excl", "MPI_MODE_WRONLY, CREATE and EXCL"}, {MPI_MODE_WRONLY | create | MPI_MODE_EXCL, false}},
                     {{"delete_on_close", "MPI_MODE_RDWR, CREATE and DELETE_ON_CLOSE"},
                      {MPI_MODE_RDWR | create | MPI_MODE_DELETE_ON_CLOSE, false}},
                     {{"delete_existing", "MPI_MODE_RDONLY and DELETE_ON_CLOSE"},
                      {MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, true}},
                     {{"unique_open", "MPI_MODE_RDWR, CREATE and UNIQUE_OPEN"},
                      {MPI_MODE_RDWR | create | MPI_MODE_UNIQUE_OPEN, false}}});

enum class wrong { missing, exists, delete_missing, datarep, read_write_only, write_read_only };
axis<wrong> const
    mistakes("mistake", {{{"missing", "to open a file that does not exist, without MPI_MODE_CREATE"}, wrong::missing},
                         {{"exists", "MPI_MODE_EXCL with a file that exists"}, wrong::exists},
                         {{"delete_missing", "MPI_File_delete of a file that does not exist"}, wrong::delete_missing},
                         {{"datarep", "MPI_File_set_view with an unknown representation"}, wrong::datarep},
                         {{"read_write_only", "to read a file opened with MPI_MODE_WRONLY"}, wrong::read_write_only},
                         {{"write_read_only", "to write a file opened with MPI_MODE_RDONLY"}, wrong::write_read_only}});

requirement clause(wrong what) {
    switch (what) {
    case wrong::missing: return "io.open.missing";
    case wrong::exists: return "io.open.excl";
    case wrong::delete_missing: return "io.delete.missing";
    case wrong::datarep: return "io.view.unknown_datarep";
    case wrong::read_write_only: return "io.open.write_only";
    case wrong::write_read_only: break;
    }
    return "io.open.read_only";
}

enum class pointer { individual, ordered };
axis<pointer> const pointers("pointer", {{{"ordered", "MPI_File_write_ordered by all"}, pointer::ordered},
                                         {{"individual", "MPI_File_write by rank 0"}, pointer::individual}});

axis<bool> const
    current("displacement",
            {{{"default", "the view that the file has when it is opened"}, false},
             {{"current", "MPI_File_set_view at MPI_DISPLACEMENT_CURRENT before the second piece"}, true}});

view stream() { return {0, predefined("byte"), predefined("byte"), true}; }

} // namespace

ASSAY_TEST(io, open,
           requirements{"io.open.create", "io.open.amode", "io.open.group", "io.open.delete_on_close", "io.get_size",
                        "io.open.default_view", "io.open.keeps", "io.close.handle"},
           over(axis_use{&amodes}, file_comms()), thread_safe{}) {
    auto const how = mpi.at(amodes);
    image const content = [&] {
        image made;
        auto const type = predefined("int").map;
        if (how.exists_before) made.place(stream(), 0, type, mpi.key(0, 0, 0, 0, 0), 17, 0);
        return made;
    }();
    scratch_file scratch(mpi);
    scratch.make(how.exists_before ? &content.bytes : nullptr);
    {
        open_file file(mpi, scratch.path(), how.amode);
        if (!file.opened()) return;
        int amode = -1;
        mpi.ok(MPI_File_get_amode(file, &amode));
        mpi.check(amode == how.amode, finding::value,
                  fmt::format("MPI_File_get_amode gives {}, expected {}", amode, how.amode));
        MPI_Offset size = -7, displacement = -7;
        mpi.ok(MPI_File_get_size(file, &size));
        mpi.check(size == static_cast<MPI_Offset>(content.bytes.size()), finding::file,
                  fmt::format("MPI_File_get_size gives {}, expected {}", size, content.bytes.size()));
        MPI_Group of_file = MPI_GROUP_NULL, of_comm = MPI_GROUP_NULL;
        int relation = -1;
        mpi.ok(MPI_File_get_group(file, &of_file));
        mpi.ok(MPI_Comm_group(mpi.comm, &of_comm));
        mpi.ok(MPI_Group_compare(of_file, of_comm, &relation));
        mpi.check(relation == MPI_IDENT, finding::value,
                  "MPI_File_get_group gives another group than that of the communicator");
        mpi.ok(MPI_Group_free(&of_file));
        mpi.ok(MPI_Group_free(&of_comm));
        MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
        char representation[MPI_MAX_DATAREP_STRING + 1] = "";
        mpi.ok(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
        mpi.check(displacement == 0 && etype == MPI_BYTE && filetype == MPI_BYTE &&
                      std::string(representation) == "native",
                  finding::value,
                  "the view of a file that was opened must be of MPI_BYTE, from displacement 0, in native data");
        mpi.check(scratch.exists(), finding::file, "there is no file while it is open");
        file.expect_position(0);
    }
    if ((how.amode & MPI_MODE_DELETE_ON_CLOSE) == 0) return scratch.expect(content);
    meet(mpi);
    mpi.check(!scratch.exists(), finding::file,
              "the file is still there after MPI_File_close with MPI_MODE_DELETE_ON_CLOSE");
    meet(mpi);
}

ASSAY_TEST(io, errors,
           requirements{"io.errors.class", "io.delete.missing", "io.open.excl", "io.open.missing", "io.open.write_only",
                        "io.open.read_only", "io.view.unknown_datarep"},
           over(axis_use{&mistakes}, thesis_comms()),
           note{"the default error handler of files is MPI_ERRORS_RETURN (section 14.7)"}, thread_safe{}) {
    auto const what = mpi.at(mistakes);
    scratch_file scratch(mpi);
    std::vector<unsigned char> const content(100, poison_byte);
    bool const there = what != wrong::missing && what != wrong::delete_missing;
    scratch.make(there ? &content : nullptr);
    auto const* const path = scratch.path().c_str();
    MPI_File file = MPI_FILE_NULL;
    int code = MPI_SUCCESS;
    std::vector<int> wanted;
    auto const open = [&](int amode) {
        MPI_File opened = MPI_FILE_NULL; // what a call that failed leaves there is undefined
        int const result = MPI_File_open(mpi.comm, path, amode, MPI_INFO_NULL, &opened);
        if (result == MPI_SUCCESS) file = opened;
        return result;
    };
    char bytes[8] = "";
    switch (what) {
    case wrong::missing:
        wanted = {MPI_ERR_NO_SUCH_FILE};
        code = open(MPI_MODE_RDWR);
        break;
    case wrong::exists:
        wanted = {MPI_ERR_FILE_EXISTS};
        code = open(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
        break;
    case wrong::delete_missing:
        wanted = {MPI_ERR_NO_SUCH_FILE};
        code = MPI_File_delete(path, MPI_INFO_NULL);
        break;
    case wrong::datarep:
        wanted = {MPI_ERR_UNSUPPORTED_DATAREP};
        mpi.ok(open(MPI_MODE_RDWR));
        code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such representation", MPI_INFO_NULL);
        break;
    case wrong::read_write_only:
        wanted = {MPI_ERR_ACCESS, MPI_ERR_AMODE, MPI_ERR_UNSUPPORTED_OPERATION};
        mpi.ok(open(MPI_MODE_WRONLY));
        code = MPI_File_read_at(file, 0, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE);
        break;
    case wrong::write_read_only:
        wanted = {MPI_ERR_READ_ONLY, MPI_ERR_ACCESS, MPI_ERR_AMODE, MPI_ERR_UNSUPPORTED_OPERATION};
        mpi.ok(open(MPI_MODE_RDONLY));
        code = MPI_File_write_at(file, 0, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE);
        break;
    }
    int error_class = MPI_SUCCESS;
    auto const rest = mpi.resting_on(clause(what));
    if (mpi.check(code != MPI_SUCCESS, finding::return_, "the call must fail and returned MPI_SUCCESS")) {
        mpi.ok(MPI_Error_class(code, &error_class));
        mpi.check(std::find(wanted.begin(), wanted.end(), error_class) != wanted.end(), finding::return_,
                  fmt::format("the call failed with another error class: {}", error_text(code)));
    }
    if (file != MPI_FILE_NULL) mpi.ok(MPI_File_close(&file));
    meet(mpi);
    if (mpi.rank == 0)
        mpi.check(scratch.exists() == there && (!there || scratch.read().bytes == content), finding::file,
                  "a call that failed has changed the file");
    meet(mpi);
}

ASSAY_TEST(io, append, requirements{"io.open.append", "io.pointer.ordered", "io.pointer.individual"},
           over(axis_use{&pointers}, thesis_comms(), thesis_types(), few_counts()), fits_file(2), note{"Append Modus"},
           thread_safe{}) {
    bool const ordered = mpi.at(pointers) == pointer::ordered;
    auto const key = [&](int rank) { return mpi.key(0, rank, 0, rank, 0); };
    auto const piece = mpi.elements * mpi.map.size();
    image expected(29, false); // what is there already
    auto const before = expected.bytes;
    scratch_file scratch(mpi);
    scratch.make(&before);
    auto& out = mpi.incoming();
    out.fill(key(mpi.rank));
    open_file file(mpi, scratch.path(), MPI_MODE_WRONLY | MPI_MODE_APPEND);
    if (!file.opened()) return;
    file.expect_position(before.size());
    file.expect_shared_position(before.size());
    meet(mpi); // all have seen the pointers where they were
    auto status = poisoned_status();
    if (ordered) mpi.ok(MPI_File_write_ordered(file, out, mpi.count, mpi.type, &status));
    else if (mpi.rank == 0) mpi.ok(MPI_File_write(file, out, mpi.count, mpi.type, &status));
    if (ordered || mpi.rank == 0) mpi.expect(status).count(mpi.elements);
    file.expect_position(before.size() + (!ordered && mpi.rank == 0 ? piece : 0));
    file.close();
    out.expect_unchanged();
    for (int r = 0; r < (ordered ? mpi.size : 1); ++r)
        expected.place(stream(), before.size() + static_cast<std::size_t>(r) * piece, mpi.map, key(r), mpi.elements, r);
    scratch.expect(expected);
}

ASSAY_TEST(io, sequential, requirements{"io.open.sequential", "io.view.displacement_current", "io.pointer.ordered"},
           over(axis_use{&current}, thesis_comms(), thesis_types(), few_counts()), fits_file(2),
           where(current, type_axis(), // etypes with holes are erroneous here (section 14.6.2)
                 [](bool typed, datatype const& t) {
                     return !typed || (is_etype(t.map) && static_cast<std::size_t>(t.map.extent()) == t.map.size());
                 }),
           note{"Sequential Modus"}, thread_safe{}) {
    bool const typed = mpi.at(current);
    auto const key = [&](int rank, int piece) { return mpi.key(0, rank, 0, rank, piece); };
    scratch_file scratch(mpi);
    scratch.make(nullptr);
    image expected;
    for (int p = 0; p < 2; ++p)
        for (int r = 0; r < mpi.size; ++r)
            expected.place(stream(), static_cast<std::size_t>(p * mpi.size + r) * mpi.elements * mpi.map.size(),
                           mpi.map, key(r, p), mpi.elements, r);
    auto const set_view = [&](MPI_File file) {
        if (typed)
            mpi.ok(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, mpi.type, mpi.type, "native", MPI_INFO_NULL));
    };
    auto& out = mpi.incoming();
    {
        open_file file(mpi, scratch.path(), MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL);
        if (!file.opened()) return;
        for (int p = 0; p < 2; ++p) {
            auto status = poisoned_status();
            out.fill(key(mpi.rank, p));
            if (p == 1) set_view(file);
            mpi.ok(MPI_File_write_ordered(file, out, mpi.count, mpi.type, &status));
            mpi.expect(status).count(mpi.elements);
        }
    }
    meet(mpi);
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
        if (!file.opened()) return;
        for (int p = 0; p < 2; ++p) {
            auto status = poisoned_status();
            auto& in = mpi.incoming();
            if (p == 1) set_view(file);
            mpi.ok(MPI_File_read_ordered(file, in, mpi.count, mpi.type, &status));
            mpi.expect(status).count(mpi.elements);
            in.expect(key(mpi.rank, p), mpi.elements, "of the file");
        }
    }
    scratch.expect(expected);
}

ASSAY_TEST(io, commself, requirements{"io.consistency.separate_opens", "io.open.independent", "io.write.data"},
           over(only(views(), [](view_kind v) { return v != view_kind::bytes; }), thesis_comms(), thesis_types(),
                few_counts()),
           etypes_only(), fits_file(2),
           note{"IO Commself: each process opens the same file on MPI_COMM_SELF and writes its own bytes of it"},
           thread_safe{}) {
    divided_file const all(mpi, mpi.at(views()));
    int const next = (mpi.rank + 1) % mpi.size;
    scratch_file scratch(mpi);
    auto const start = all.blank();
    scratch.make(&start.bytes);
    auto &out = mpi.incoming(), &in = mpi.incoming();
    out.fill(all.key(mpi.rank));
    auto status = poisoned_status();
    {
        open_file file(mpi, MPI_COMM_SELF, scratch.path(), MPI_MODE_RDWR);
        if (file.opened()) {
            file.set(all.view_of(mpi.rank));
            mpi.ok(MPI_File_write_at_all(file, all.first(mpi.rank), out, mpi.count, mpi.type, &status));
            mpi.expect(status).count(mpi.elements);
        }
    }
    meet(mpi);
    {
        open_file file(mpi, MPI_COMM_SELF, scratch.path(), MPI_MODE_RDONLY);
        if (file.opened()) {
            file.set(all.view_of(next));
            mpi.ok(MPI_File_read_at_all(file, all.first(next), in, mpi.count, mpi.type, &status));
            mpi.expect(status).count(mpi.elements);
        }
    }
    out.expect_unchanged();
    in.expect(all.key(next), mpi.elements, fmt::format("of the piece of rank {}", next));
    scratch.expect(all.in(start));
}
