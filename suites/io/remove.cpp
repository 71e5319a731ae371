// MPI_File_delete (MPI-5.0 section 14.2.3), also of a file that is open, and the space of MPI_File_preallocate (section 14.2.5).
#include "suites/io/numbers.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

using namespace assay;
using namespace assay::io;

namespace {
axis<bool> const infos("info", {{{"null", "MPI_INFO_NULL"}, false},
                                {{"given", "an info object with a key nobody knows"}, true}});
} // namespace

ASSAY_TEST(io, delete_closed, requirements{"io.delete.removes", "io.delete.missing"},
           over(axis_use{&infos}, communicators::few_intra()), thread_safe{}) {
    std::vector<unsigned char> const content(100, poison_byte);
    scratch_file scratch(mpi), stays(mpi, 1);
    scratch.make(&content);
    stays.make(&content);
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR); // that it was open before is of no matter
    }
    meet(mpi);
    if (mpi.rank == 0) {
        MPI_Info info = MPI_INFO_NULL;
        if (mpi.at(infos)) {
            mpi.ok(MPI_Info_create(&info));
            mpi.ok(MPI_Info_set(info, "assay_no_such_hint", "17"));
        }
        mpi.ok(MPI_File_delete(scratch.path().c_str(), info));
        mpi.check("io.delete.removes", !scratch.exists(), finding::file, "MPI_File_delete left the file");
        int error_class = MPI_SUCCESS;
        mpi.ok(MPI_Error_class(MPI_File_delete(scratch.path().c_str(), info), &error_class));
        mpi.check("io.delete.missing", error_class == MPI_ERR_NO_SUCH_FILE, finding::return_,
                  fmt::format("MPI_File_delete of a file that was deleted gives {}", error_text(error_class)));
        if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
        mpi.check("io.delete.removes", stays.read().bytes == content, finding::file,
                  "MPI_File_delete has changed another file");
    }
    meet(mpi);
}

ASSAY_TEST(io, delete_open, requirements{"io.delete.open"}, over(communicators::few_intra()),
           note{"a file that is open is deleted, or there is an error and it stays"}, thread_safe{}) {
    std::vector<unsigned char> const content(100, poison_byte);
    scratch_file scratch(mpi);
    scratch.make(&content);
    int code = MPI_SUCCESS;
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        meet(mpi);
        if (mpi.rank == 0) code = MPI_File_delete(scratch.path().c_str(), MPI_INFO_NULL);
        meet(mpi);
        file.close_that_may_fail(); // the behavior of any access to the file is implementation dependent
    }
    meet(mpi);
    if (mpi.rank == 0 && code == MPI_SUCCESS) {
        mpi.check(!scratch.exists(), finding::file,
                  "MPI_File_delete of an open file returned MPI_SUCCESS, and it is there");
    } else if (mpi.rank == 0) {
        int error_class = MPI_SUCCESS;
        mpi.ok(MPI_Error_class(code, &error_class));
        mpi.check(scratch.exists(), finding::file, "MPI_File_delete of an open file failed, and the file is gone");
        mpi.check(error_class == MPI_ERR_FILE_IN_USE || error_class == MPI_ERR_ACCESS, finding::return_,
                  fmt::format("MPI_File_delete of an open file fails with {}, expected MPI_ERR_FILE_IN_USE or "
                              "MPI_ERR_ACCESS",
                              error_text(code)));
    }
    meet(mpi);
}

ASSAY_TEST(io, preallocated, requirements{"io.preallocate.storage", "io.preallocate"}, over(communicators::few_intra()),
           note{"the file system says how many blocks the file has"}, thread_safe{}) {
    constexpr std::size_t before = 100, wanted = 300'000;
    std::vector<unsigned char> const content(before, 0x3c);
    scratch_file scratch(mpi);
    scratch.make(&content);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    mpi.ok(MPI_File_preallocate(file, wanted));
    mpi.ok(MPI_File_sync(file));
    meet(mpi);
    if (mpi.rank == 0) {
        struct stat now {};
        bool const there = ::stat(scratch.path().c_str(), &now) == 0;
        mpi.check("io.preallocate.storage", there && static_cast<std::size_t>(now.st_blocks) * 512 >= wanted,
                  finding::file,
                  fmt::format("the file has {} blocks of 512 bytes after MPI_File_preallocate of {} bytes",
                              now.st_blocks, wanted));
    }
    file.close();
    auto expected = starts_with(content);
    expected.resize(wanted);
    scratch.expect(expected);
}
