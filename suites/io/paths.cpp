// Which file is opened, and by whom (MPI-5.0 sections 14.2.1 and 14.5): names that mean the same file, folders, communicators of
// sessions, and files that other numbers of processes have written.
#include "suites/io/numbers.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

using namespace assay;
using namespace assay::io;

ASSAY_TEST(io, names, requirements{"io.open.names"}, over(communicators::few_intra(), ints(), seventeen()),
           note{"the ranks name one file by its path, with /./ and // in it, and by a symbolic link"}, thread_safe{}) {
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    auto const slash = scratch.path().rfind('/');
    auto const file_name = scratch.path().substr(slash + 1), link = scratch.folder() + "/link";
    if (mpi.rank == 0) mpi.check(::symlink(file_name.c_str(), link.c_str()) == 0, finding::file, "cannot make a link");
    meet(mpi);
    std::string const names[] = {scratch.path(), scratch.folder() + "/./" + file_name, link,
                                 scratch.folder() + "//" + file_name};
    auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
    {
        open_file file(mpi, names[mpi.rank % 4], MPI_MODE_RDWR);
        if (!file.opened()) return;
        file.set(content.in_file());
        auto &out = mpi.incoming(), &data = mpi.incoming();
        auto status = poisoned_status();
        mpi.ok(MPI_File_read_at_all(file, static_cast<MPI_Offset>(own), data, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
        content.expect(data, own, mpi.elements);
        out.fill(key_of_piece(mpi, mpi.rank));
        mpi.ok(MPI_File_write_ordered(file, out, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
    }
    auto expected = starts_with(content.content());
    place_pieces(mpi, expected, content.in_file());
    scratch.expect(expected);
}

namespace {
axis<int> const for_writing("amode", {{{"rdwr", "MPI_MODE_RDWR"}, MPI_MODE_RDWR},
                                      {{"wronly", "MPI_MODE_WRONLY"}, MPI_MODE_WRONLY},
                                      {{"create", "MPI_MODE_RDWR and CREATE"}, MPI_MODE_RDWR | MPI_MODE_CREATE}});
} // namespace

ASSAY_TEST(io, directory, requirements{"io.open.directory"}, over(axis_use{&for_writing}, communicators::few_intra()),
           note{"the name of a folder"}, thread_safe{}) {
    scratch_file scratch(mpi);
    scratch.make(nullptr);
    MPI_File file = MPI_FILE_NULL;
    int const code = MPI_File_open(mpi.comm, scratch.folder().c_str(), mpi.at(for_writing), MPI_INFO_NULL, &file);
    mpi.check(code != MPI_SUCCESS, finding::return_, "MPI_File_open of a folder for writing returned MPI_SUCCESS");
    if (code == MPI_SUCCESS && file != MPI_FILE_NULL) mpi.ok(MPI_File_close(&file));
    meet(mpi);
    mpi.check(std::filesystem::is_directory(scratch.folder()), finding::file, "the folder is gone");
    meet(mpi);
}

namespace {
axis<char const*> const sets("set",
                             {{{"self", "mpi://SELF"}, "mpi://SELF"}, {{"world", "mpi://WORLD"}, "mpi://WORLD"}});
} // namespace

ASSAY_TEST(io, session_file, requirements{"io.open.session"},
           over(axis_use{&sets}, communicators::world(), ints(), seventeen()),
           needs_procedures({"MPI_Session_init", "MPI_Group_from_session_pset", "MPI_Comm_create_from_group"}),
           note{"a file is opened with a communicator that was made of a process set"}) {
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    mpi.ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    mpi.ok(MPI_Group_from_session_pset(session, mpi.at(sets), &group));
    mpi.ok(MPI_Comm_create_from_group(group, "assay.io", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    mpi.ok(MPI_Group_free(&group));
    if (comm != MPI_COMM_NULL) {
        open_file file(mpi, comm, scratch.path(), MPI_MODE_RDWR);
        if (file.opened()) {
            file.set(content.in_file());
            auto& out = mpi.incoming();
            out.fill(key_of_piece(mpi, mpi.rank));
            auto status = poisoned_status();
            auto const own = static_cast<MPI_Offset>(static_cast<std::size_t>(mpi.rank) * mpi.elements);
            mpi.ok(MPI_File_write_at_all(file, own, out, mpi.count, mpi.type, &status));
            mpi.expect(status).count(mpi.elements);
        }
        file.close();
        mpi.ok(MPI_Comm_free(&comm));
    }
    mpi.ok(MPI_Session_finalize(&session));
    auto expected = starts_with(content.content());
    place_pieces(mpi, expected, content.in_file());
    scratch.expect(expected);
}

namespace {
enum class readers { one, halves };
axis<readers> const read_by("read_by", {{{"one", "each process for itself"}, readers::one},
                                        {{"halves", "two groups, with a handle each"}, readers::halves}});
axis<char const*> const representations("datarep", {{{"native", "native"}, "native"},
                                                    {{"internal", "internal"}, "internal"},
                                                    {{"external32", "external32"}, "external32"}});
} // namespace

ASSAY_TEST(io, other_groups, requirements{"io.interop.processes"},
           over(axis_use{&read_by}, axis_use{&representations}, communicators::of({"world", "reversed"}), ints(),
                seventeen()),
           note{"what all processes wrote together is read by other numbers of processes"}, thread_safe{}) {
    view const v = make_view(mpi, view_kind::type, 0);
    auto const* const how = mpi.at(representations);
    auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
    scratch_file scratch(mpi);
    scratch.make(nullptr);
    auto status = poisoned_status();
    {
        open_file file(mpi, scratch.path(), MPI_MODE_WRONLY | MPI_MODE_CREATE);
        if (!file.opened()) return;
        if (!file.set(v, how)) return;
        auto& out = mpi.incoming();
        out.fill(key_of_piece(mpi, mpi.rank));
        mpi.ok(MPI_File_write_at_all(file, static_cast<MPI_Offset>(own), out, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
    }
    meet(mpi);
    MPI_Comm part = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_split(mpi.comm, mpi.at(read_by) == readers::one ? mpi.rank : mpi.rank % 2, 0, &part));
    if (part == MPI_COMM_NULL) return;
    {
        open_file file(mpi, part, scratch.path(), MPI_MODE_RDONLY);
        if (file.opened()) {
            file.set(v, how);
            for (int r = 0; r < mpi.size; ++r) { // each reads all
                auto& in = mpi.incoming();
                mpi.ok(MPI_File_read_at_all(file, static_cast<MPI_Offset>(static_cast<std::size_t>(r) * mpi.elements),
                                            in, mpi.count, mpi.type, &status));
                mpi.expect(status).count(mpi.elements);
                in.expect(key_of_piece(mpi, r), mpi.elements, fmt::format("of the piece of rank {}", r));
            }
        }
    }
    mpi.ok(MPI_Comm_free(&part));
    meet(mpi);
}
