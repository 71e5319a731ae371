// The info object of a file (MPI-5.0 sections 14.2.8 and 14.2.8.1): whose it is, the reserved key filename, and hints that only some
// processes give.
#include "suites/common/info.hpp"
#include "suites/io/numbers.hpp"

#include <fmt/format.h>
#include <map>

using namespace assay;
using namespace assay::io;

namespace {
using hints = std::map<std::string, std::string>;

hints in(test_run& mpi, MPI_Info info) {
    hints found;
    for (auto const& key : keys_of(mpi, info))
        if (auto const value = value_of(mpi, info, key.c_str())) found[key] = *value;
    return found;
}

// An info object that lives as long as its block.
struct own_info {
    own_info(test_run& m, hints const& wanted) : mpi(m) {
        mpi.ok(MPI_Info_create(&handle));
        for (auto const& [key, value] : wanted) mpi.ok(MPI_Info_set(handle, key.c_str(), value.c_str()));
    }
    own_info(test_run& m, MPI_File file) : mpi(m) { mpi.ok(MPI_File_get_info(file, &handle)); }
    ~own_info() {
        if (handle != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&handle));
    }
    own_info(own_info const&) = delete;
    own_info& operator=(own_info const&) = delete;

    test_run& mpi;
    MPI_Info handle = MPI_INFO_NULL;
};

enum class given { open, set_view, set_info };
axis<given> const givens("given", {{{"open", "to MPI_File_open"}, given::open},
                                   {{"set_view", "to MPI_File_set_view"}, given::set_view},
                                   {{"set_info", "to MPI_File_set_info"}, given::set_info}});
enum class who { different, rank_0 };
axis<who> const whose("whose", {{{"different", "each rank has another access_style"}, who::different},
                                {{"rank_0", "MPI_INFO_NULL on all ranks but rank 0"}, who::rank_0}});

void give(test_run& mpi, open_file& file, given how, numbers const& content, MPI_Info info) {
    file.set(content.in_file(), "native", how == given::set_view ? info : MPI_INFO_NULL);
    if (how == given::set_info) mpi.ok(MPI_File_set_info(file, info));
}
} // namespace

ASSAY_TEST(io, info_object, requirements{"io.info.new_object"}, over(communicators::few_intra()),
           note{"what is done to the info object of MPI_File_get_info is of no matter to the file"}, thread_safe{}) {
    std::vector<unsigned char> const content(100, poison_byte);
    scratch_file scratch(mpi);
    scratch.make(&content);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    hints before;
    {
        own_info first(mpi, file);
        if (!mpi.check(first.handle != MPI_INFO_NULL, finding::info, "MPI_File_get_info gives MPI_INFO_NULL")) return;
        before = in(mpi, first.handle);
        mpi.ok(MPI_Info_set(first.handle, "assay_not_of_the_file", "1"));
        for (auto const& [key, value] : before) mpi.ok(MPI_Info_delete(first.handle, key.c_str()));
        own_info const second(mpi, file);
        mpi.check(in(mpi, second.handle) == before, finding::info,
                  "keys that were set and deleted in the info object of MPI_File_get_info changed what it gives next");
    }
    own_info const third(mpi, file); // the others are freed
    mpi.check(in(mpi, third.handle) == before, finding::info,
              "MPI_File_get_info gives other hints after the info object that it gave first was freed");
    file.close();
    meet(mpi);
}

ASSAY_TEST(io, info_filename, requirements{"io.info.filename", "io.info.filename_ignored"},
           over(axis_use{&givens}, communicators::few_intra(), ints(), seventeen()),
           note{"the key filename names another file when it is given, and the file itself when it is returned"},
           thread_safe{}) {
    auto const how = mpi.at(givens);
    numbers const content(mpi, mpi.elements);
    std::vector<unsigned char> const elsewhere(content.size(), 0x3c);
    scratch_file scratch(mpi), other(mpi, 1);
    scratch.make(&content.content());
    other.make(&elsewhere);
    own_info const info(mpi, {{"filename", other.path()}});
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDONLY, how == given::open ? info.handle : MPI_INFO_NULL);
        if (!file.opened()) return;
        give(mpi, file, how, content, info.handle);
        auto& data = mpi.incoming();
        auto status = poisoned_status();
        {
            auto const rest = mpi.resting_on("io.info.filename_ignored");
            mpi.ok(MPI_File_read_at_all(file, 0, data, mpi.count, mpi.type, &status));
            mpi.expect(status).count(mpi.elements);
            content.expect(data, 0, mpi.elements);
        }
        own_info const now(mpi, file);
        auto const found = in(mpi, now.handle);
        // A library need not return it.
        if (auto const name = found.find("filename"); name != found.end())
            mpi.check(
                "io.info.filename", name->second == scratch.path(), finding::info,
                fmt::format("MPI_File_get_info gives the filename {}, expected {}", name->second, scratch.path()));
    }
    meet(mpi);
    if (mpi.rank == 0) {
        auto const rest = mpi.resting_on("io.info.filename_ignored");
        mpi.ok(MPI_File_delete(scratch.path().c_str(), info.handle));
        mpi.check(!scratch.exists() && other.read().bytes == elsewhere, finding::file,
                  "MPI_File_delete with the key filename did not delete the file that it was asked to");
    }
    meet(mpi);
}

ASSAY_TEST(io, info_of_some, requirements{"io.info.varies", "io.info.harmless"},
           over(axis_use{&givens}, axis_use{&whose}, communicators::few_intra(), ints(), seventeen()), thread_safe{}) {
    auto const how = mpi.at(givens);
    static char const* const styles[] = {"read_once", "write_once,random", "reverse_sequential"};
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    own_info const info(mpi,
                        {{"access_style", styles[mpi.rank % 3]}, {"assay_no_such_hint", std::to_string(mpi.rank)}});
    auto const mine = mpi.at(whose) == who::rank_0 && mpi.rank != 0 ? MPI_INFO_NULL : info.handle;
    auto expected = starts_with(content.content());
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR, how == given::open ? mine : MPI_INFO_NULL);
        if (!file.opened()) return;
        // MPI_INFO_NULL is for MPI_File_open and MPI_File_set_view; an object without keys says as little.
        own_info const nothing(mpi, hints{});
        give(mpi, file, how, content, how == given::set_info && mine == MPI_INFO_NULL ? nothing.handle : mine);
        auto &out = mpi.incoming(), &data = mpi.incoming();
        auto status = poisoned_status();
        auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
        mpi.ok(MPI_File_read_at_all(file, static_cast<MPI_Offset>(own), data, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
        content.expect(data, own, mpi.elements);
        out.fill(key_of_piece(mpi, mpi.rank));
        mpi.ok(MPI_File_write_at_all(file, static_cast<MPI_Offset>(own), out, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
    }
    place_pieces(mpi, expected, content.in_file());
    scratch.expect(expected);
}
