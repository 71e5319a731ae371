// Storage that refuses what is written to it. "The amount of data accessed will be the amount requested, unless an error is
// raised" (MPI-5.0 section 14.4.1.4): every routine has to tell, by its own code or at the latest by that of MPI_File_sync or
// MPI_File_close, which put all that was written on the storage device (section 14.6.1); and each has to return.
#include "suites/io/access.hpp"
#include "suites/io/storage.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>

using namespace assay;
using namespace assay::io;

namespace {

enum class refusal { limit, filling, full };
axis<refusal> const storages(
    "storage",
    {{{"limit", "no file may grow beyond the middle of the data (RLIMIT_FSIZE)", file_size_limit::lacks},
      refusal::limit},
     {{"filling", "a file system that is full in the middle of the data", own_file_system::lacks}, refusal::filling},
     {{"full", "a file system that was full before", own_file_system::lacks}, refusal::full}});

axis_use two_types() { return datatypes::of({"int", "vector_int"}); }
constexpr std::size_t large = std::size_t{64} << 10; // bytes of a piece that fills several pages
axis_use two_counts() {
    return only(count_ladder(), [](count_value const& c) {
        return c.kind == count_value::unit::elements ? c.n == 17
                                                     : c.kind == count_value::unit::bytes_nearest && c.n == large;
    });
}
axis_use plain_writes() { // the blocking ones without the shared file pointer, which may need room for itself
    return only(accesses(), [](data_access const& a) {
        return a.way == direction::write && a.how == synchronism::blocking && !a.uses_shared_pointer();
    });
}
axis_use views_with_displacement() {
    return only(views(), [](view_kind v) { return v != view_kind::bytes; });
}

// Where the pieces of the ranks lie. MPI_File_seek is not needed: with individual file pointers each view begins at the piece.
struct geometry {
    test_run const& mpi;
    data_access call;
    view_kind kind;
    std::size_t base; // where views begin in the file

    view view_of(int rank) const {
        auto v = make_view(mpi, kind, rank);
        v.displacement += base;
        if (call.where == positioning::individual && kind != view_kind::interleaved) {
            auto const size = v.filetype.map.size(), tiles = (mpi.elements * mpi.map.size() + size - 1) / size;
            v.displacement +=
                static_cast<std::size_t>(rank) * tiles * static_cast<std::size_t>(v.filetype.map.extent());
        }
        return v;
    }
    std::size_t offset(int slot) const { // in etypes, which are elements
        bool const own_begin = call.where == positioning::individual || kind == view_kind::interleaved;
        return own_begin ? 0 : static_cast<std::size_t>(slot) * mpi.elements;
    }
    // Bytes from `base` to the end of all pieces.
    std::size_t size() const {
        std::size_t end = 0;
        for (int r = 0; r < mpi.size; ++r)
            end = std::max(end, view_of(r).position((offset(r) + mpi.elements) * mpi.map.size() - 1) + 1);
        return end - base;
    }
    bool holds(image const& from_base, std::uint64_t key) const {
        auto v = view_of(mpi.rank);
        v.displacement -= base;
        bool const anywhere = call.where == positioning::shared; // in an order that nobody knows
        for (int slot = anywhere ? 0 : mpi.rank; slot < (anywhere ? mpi.size : mpi.rank + 1); ++slot)
            if (from_base.agrees(v, offset(slot), mpi.map, key, mpi.elements)) return true;
        return false;
    }
};

// Limits of a gibibyte, so that nothing else that the process writes meets them; what lies before is a hole.
constexpr std::size_t far_away = std::size_t{1} << 30;

// One write of every rank to storage of a kind.
class refused_write {
public:
    refused_write(test_run& mpi, refusal how)
        : mpi_(mpi),
          scratch_(mpi),
          place_{mpi, mpi.at(accesses()), mpi.at(views()), how == refusal::limit ? far_away : 0},
          key_(mpi.key(0, mpi.rank, 0, mpi.rank, 0)) {
        scratch_.make(nullptr);
        if (how != refusal::limit) small_.emplace(mpi, scratch_, how == refusal::full ? 1 : place_.size() / 2);
        if (how == refusal::full && mpi.rank == 0) small_->fill();
        meet(mpi);
        run(how);
    }
    ~refused_write() { meet(mpi_); } // rank 0 removes the file that others still read
    refused_write(refused_write const&) = delete;
    refused_write& operator=(refused_write const&) = delete;

    int told() const { return told_; }
    int by_write() const { return by_write_; }
    MPI_Status const& status() const { return status_; }
    bool opened() const { return opened_; }
    bool is_in_file() const { return place_.holds(scratch_.read(place_.base), key_); }

private:
    void run(refusal how) {
        auto& out = mpi_.incoming();
        out.fill(key_);
        open_file file(mpi_, scratch_.path(), MPI_MODE_RDWR | MPI_MODE_CREATE);
        if (!file.opened()) return;
        opened_ = true;
        file.set(place_.view_of(mpi_.rank));
        running_access running(mpi_, place_.call, file);
        running.with_large_counts(mpi_.at(forms()));
        running.may_fail();
        {
            std::optional<file_size_limit> limit;
            if (how == refusal::limit) limit.emplace(place_.base + place_.size() / 2);
            running.begin(place_.offset(mpi_.rank), out, mpi_.count);
            status_ = running.end();
            by_write_ = running.failure();
            int const sync = MPI_File_sync(file), close = file.close_that_may_fail();
            told_ = by_write_ != MPI_SUCCESS ? by_write_ : sync != MPI_SUCCESS ? sync : close;
        }
        out.expect_unchanged();
        meet(mpi_);
    }

    test_run& mpi_;
    scratch_file scratch_;
    geometry place_;
    std::uint64_t key_;
    std::optional<own_file_system> small_;
    bool opened_ = false;
    int by_write_ = MPI_SUCCESS, told_ = MPI_SUCCESS;
    MPI_Status status_ = poisoned_status();
};

constraint pages_enough() { // a piece of few bytes fits into the page that is the smallest room
    return where(storages, count_ladder(), [](refusal r, count_value const& c) {
        return r != refusal::filling || c.kind != count_value::unit::elements;
    });
}

} // namespace

ASSAY_TEST(io, refused,
           requirements{"io.refused.amount", "io.refused.told", "io.refused.completes", "io.refused.other_files"},
           over(axis_use{&storages}, writes(), views_with_displacement(), communicators::world(), two_types(),
                two_counts(), axis_use{&forms()}),
           etypes_only(), shared_pointer_needs_same_view(), pages_enough(),
           note{"not all that the ranks write finds room: whose data are not in the file must get an error, and other "
                "files are none the worse for it"}) {
    scratch_file elsewhere(mpi, 1);
    elsewhere.make(nullptr);
    meet(mpi);
    open_file other(mpi, elsewhere.path(), MPI_MODE_RDWR | MPI_MODE_CREATE);
    if (!other.opened()) return;
    refused_write const write(mpi, mpi.at(storages));
    if (!write.opened()) return;
    // A library may write at once or later, so that another call tells.
    if (write.by_write() == MPI_SUCCESS) mpi.expect(write.status()).count(mpi.elements);
    if (write.told() == MPI_SUCCESS)
        mpi.check(write.is_in_file(), finding::file,
                  "the write, MPI_File_sync and MPI_File_close returned MPI_SUCCESS, and the data are not in the file");
    mpi.check("io.refused.other_files", MPI_File_sync(other) == MPI_SUCCESS, finding::error,
              "MPI_File_sync fails on another file than that to which the storage refused a write");
}

ASSAY_TEST(io, refused_class, requirements{"io.refused.class"},
           over(only(storages, [](refusal r) { return r == refusal::full; }), plain_writes(), communicators::world(),
                two_types(),
                only(count_ladder(),
                     [](count_value const& c) { return c.kind == count_value::unit::bytes_nearest && c.n == large; }),
                only(views(), [](view_kind v) { return v == view_kind::type; }), axis_use{&forms()}),
           etypes_only(), note{"an error of a write for which there is no room says so"}) {
    refused_write const write(mpi, mpi.at(storages));
    int error_class = MPI_ERR_NO_SPACE;
    if (write.by_write() != MPI_SUCCESS) mpi.ok(MPI_Error_class(write.by_write(), &error_class));
    mpi.check(error_class == MPI_ERR_NO_SPACE, finding::error,
              fmt::format("on a file system that is full a write fails with {}, expected MPI_ERR_NO_SPACE",
                          error_text(write.by_write())));
}

// ---- The size of a file

namespace {
enum class resize { set_size, preallocate };
axis<resize> const resizes("call", {{{"set_size", "MPI_File_set_size"}, resize::set_size},
                                    {{"preallocate", "MPI_File_preallocate"}, resize::preallocate}});
} // namespace

ASSAY_TEST(
    io, refused_size, requirements{"io.refused.size", "io.refused.preallocate"},
    over(axis_use{&resizes}, axis_use{&storages}, communicators::world()),
    // Whether MPI_File_set_size takes space is left open (section 14.2.4); MPI_File_preallocate of a gibibyte takes long.
    where(resizes, storages,
          [](resize how, refusal r) { return (how == resize::preallocate) != (r == refusal::limit); }),
    note{"a file is made larger than it may be: every rank gets an error, or the file has that size"}) {
    auto const how = mpi.at(storages);
    bool const preallocate = mpi.at(resizes) == resize::preallocate;
    auto const room = 16 * own_file_system::page(), wanted = 2 * room + 13;
    std::vector<unsigned char> const content(100, poison_byte);
    scratch_file scratch(mpi);
    scratch.make(&content);
    std::optional<own_file_system> small;
    if (how != refusal::limit) {
        small.emplace(mpi, scratch, room);
        if (mpi.rank == 0) {
            mpi.check(small->write(content), finding::file, "there is no room for the file");
            if (how == refusal::full) small->fill();
        }
        meet(mpi);
    }
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    std::size_t const size = preallocate ? wanted : far_away + wanted;
    int code = MPI_SUCCESS;
    {
        std::optional<file_size_limit> limit;
        if (how == refusal::limit) limit.emplace(size - room);
        code = preallocate ? MPI_File_preallocate(file, static_cast<MPI_Offset>(size))
                           : MPI_File_set_size(file, static_cast<MPI_Offset>(size));
    }
    meet(mpi);
    struct stat now {};
    if (code == MPI_SUCCESS && mpi.check(::stat(scratch.path().c_str(), &now) == 0, finding::file, "the file is gone"))
        mpi.check(static_cast<std::size_t>(now.st_size) == size &&
                      (!preallocate || static_cast<std::size_t>(now.st_blocks) * 512 >= size),
                  finding::file,
                  fmt::format("{} of {} bytes returned MPI_SUCCESS: the file has {} bytes in {} blocks of 512",
                              preallocate ? "MPI_File_preallocate" : "MPI_File_set_size", size, now.st_size,
                              now.st_blocks));
    MPI_Offset got = -7;
    mpi.ok(MPI_File_get_size(file, &got));
    mpi.check(::stat(scratch.path().c_str(), &now) == 0 && got == now.st_size, finding::file,
              fmt::format("MPI_File_get_size gives {}, the file has {} bytes", got, now.st_size));
    file.close_that_may_fail();
    meet(mpi);
    auto const found = scratch.read();
    mpi.check(
        std::equal(content.begin(), content.end(), found.bytes.begin(),
                   found.bytes.begin() + static_cast<std::ptrdiff_t>(std::min(content.size(), found.bytes.size()))),
        finding::file, "what was in the file has changed");
    meet(mpi); // all have looked
}

// ---- Places where nothing may be changed

namespace {
enum class locked { file_system, folder, file };
axis<locked> const places("place", {{{"file_system", "a file system that is mounted read-only", own_file_system::lacks},
                                     locked::file_system},
                                    {{"folder", "a folder without permission to write"}, locked::folder},
                                    {{"file", "a file without permission to write"}, locked::file}});

enum class attempt { create, write, read_write, remove };
axis<attempt> const attempts("attempt", {{{"create", "MPI_File_open with MPI_MODE_CREATE of a file that is not there"},
                                          attempt::create},
                                         {{"write", "MPI_File_open with MPI_MODE_WRONLY"}, attempt::write},
                                         {{"read_write", "MPI_File_open with MPI_MODE_RDWR"}, attempt::read_write},
                                         {{"delete", "MPI_File_delete"}, attempt::remove}});
} // namespace

ASSAY_TEST(io, refused_open, requirements{"io.refused.open", "io.refused.read_only"},
           over(axis_use{&places}, axis_use{&attempts}, communicators::world()),
           where(places, attempts,
                 [](locked where, attempt what) {
                     if (where == locked::file) return what == attempt::write || what == attempt::read_write;
                     return where == locked::file_system || what == attempt::create || what == attempt::remove;
                 }),
           note{"every rank gets an error that says why, nothing changes, and reading is still possible"}) {
    auto const where_to = mpi.at(places);
    auto const what = mpi.at(attempts);
    bool const there = what != attempt::create;
    std::vector<unsigned char> content(100);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<unsigned char>(3 * i + 1);
    scratch_file scratch(mpi);
    scratch.make(there ? &content : nullptr);
    std::optional<own_file_system> own;
    if (where_to == locked::file_system) own.emplace(mpi, scratch, 4 * own_file_system::page());
    auto const* const path = scratch.path().c_str();
    auto const permit = [&](unsigned folder, unsigned file) {
        if (mpi.rank != 0) return;
        if (where_to == locked::folder) ::chmod(scratch.folder().c_str(), folder);
        if (where_to == locked::file) ::chmod(path, file);
    };
    if (mpi.rank == 0 && own) {
        if (there) mpi.check(own->write(content), finding::file, "there is no room for the file");
        own->make_read_only();
    }
    permit(0555, 0444);
    meet(mpi);
    MPI_File file = MPI_FILE_NULL;
    int code = MPI_SUCCESS;
    bool const mine = what != attempt::remove || mpi.rank == 0; // MPI_File_delete is not collective
    {
        bound_by_permissions const bound;
        auto const amode = what == attempt::create  ? MPI_MODE_RDWR | MPI_MODE_CREATE
                           : what == attempt::write ? MPI_MODE_WRONLY
                                                    : MPI_MODE_RDWR;
        if (what != attempt::remove) code = MPI_File_open(mpi.comm, path, amode, MPI_INFO_NULL, &file);
        else if (mine) code = MPI_File_delete(path, MPI_INFO_NULL);
    }
    if (mine && mpi.check(code != MPI_SUCCESS, finding::return_, "the call must fail and returned MPI_SUCCESS")) {
        std::vector<int> wanted{MPI_ERR_READ_ONLY, MPI_ERR_ACCESS};
        if (what != attempt::remove) wanted.push_back(MPI_ERR_AMODE); // "errors related to the access mode"
        int error_class = MPI_SUCCESS;
        mpi.ok(MPI_Error_class(code, &error_class));
        mpi.check(
            std::find(wanted.begin(), wanted.end(), error_class) != wanted.end(), finding::error,
            fmt::format("the call failed with {}, expected MPI_ERR_READ_ONLY or MPI_ERR_ACCESS", error_text(code)));
    }
    if (code == MPI_SUCCESS && file != MPI_FILE_NULL) MPI_File_close(&file);
    meet(mpi);
    mpi.check(scratch.exists() == there, finding::file, there ? "the file is gone" : "there is a file");
    if (there) {
        open_file readable(mpi, scratch.path(), MPI_MODE_RDONLY);
        std::vector<unsigned char> got(content.size(), poison_byte);
        if (readable.opened())
            mpi.ok(
                MPI_File_read_at(readable, 0, got.data(), static_cast<int>(got.size()), MPI_BYTE, MPI_STATUS_IGNORE));
        mpi.check(got == content, finding::file, "what is read from the file afterwards is not what stood there");
    }
    meet(mpi);
    permit(0755, 0644);
}
