#include "suites/io/file.hpp"

#include "framework/process/layer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::io {

void meet(test_run& mpi) { // a dissemination barrier (Hensgen, Finkel, Manber 1988)
    if (recorded) tell_layer({.event = "meet", .memory = &mpi.comm, .size = sizeof mpi.comm});
    unrecorded const own;
    for (int distance = 1; distance < mpi.size; distance *= 2)
        mpi.ok(MPI_Sendrecv(nullptr, 0, MPI_BYTE, (mpi.rank + distance) % mpi.size, mpi.tag(15), nullptr, 0, MPI_BYTE,
                            (mpi.rank - distance + mpi.size) % mpi.size, mpi.tag(15), mpi.comm, MPI_STATUS_IGNORE));
}

std::size_t view::etypes(layout const& map, std::size_t elements) const {
    return elements * map.size() / etype.map.size();
}

std::size_t view::position(std::size_t k) const {
    auto const& map = filetype.map;
    auto const tile = k / map.size();
    auto rest = k % map.size();
    for (auto const& run : map.runs()) {
        auto const bytes = run.count * run.type->size;
        if (rest < bytes)
            return displacement + tile * static_cast<std::size_t>(map.extent()) + static_cast<std::size_t>(run.offset) +
                   rest;
        rest -= bytes;
    }
    return displacement;
}

axis<view_kind> const& views() {
    static axis<view_kind> const axis(
        "view",
        {{{"type", "etype and filetype are the case's datatype, displacement 13 bytes"}, view_kind::type},
         {{"bytes", "the file as it was opened: a stream of MPI_BYTE"}, view_kind::bytes},
         {{"hole", "filetype of etypes 0, 2 and 3 of 5: two holes"}, view_kind::hole},
         {{"interleaved", "of as many etypes as there are ranks each rank sees its own"}, view_kind::interleaved}});
    return axis;
}

namespace {
constexpr int tile = 5; // etypes in a filetype with holes
} // namespace

definition type_of_case(test_run const& mpi) {
    return {mpi.map, [type = mpi.type] { return type; }, true};
}

view make_view(test_run const& mpi, view_kind kind, int rank) {
    auto const type = type_of_case(mpi);
    auto const extent = mpi.map.extent();
    switch (kind) {
    case view_kind::bytes: return {0, predefined("byte"), predefined("byte"), true};
    case view_kind::type: return {header, type, type, false};
    case view_kind::hole: return {header, type, resized(0, tile * extent, indexed_block(1, {0, 2, 3}, type)), false};
    case view_kind::interleaved: break;
    }
    return {header + static_cast<std::size_t>(rank * extent), type, resized(0, mpi.size * extent, type), false};
}

std::uint64_t divided_file::key(int rank) const { return mpi_.key(0, rank, 0, rank, 0); }

MPI_Offset divided_file::first(int rank) const {
    return kind_ == view_kind::interleaved ? 0 : MPI_Offset{rank} * static_cast<MPI_Offset>(mpi_.elements);
}

image divided_file::in(image into) const {
    for (int r = 0; r < mpi_.size; ++r)
        into.place(view_of(r), static_cast<std::size_t>(first(r)), mpi_.map, key(r), mpi_.elements, r);
    return into;
}

image divided_file::blank() const { return image(in(image()).bytes.size() + 5, false); }

bool is_etype(layout const& map) {
    if (map.size() == 0 || map.true_lb() < 0 || map.extent() < map.true_extent()) return false;
    std::ptrdiff_t end = 0;
    for (auto const& run : map.runs()) {
        if (run.offset < end) return false;
        end = run.offset + static_cast<std::ptrdiff_t>(run.count * run.type->size);
    }
    return true;
}

constraint views_of_etypes() {
    return where(views(), type_axis(),
                 [](view_kind kind, datatype const& t) { return kind == view_kind::bytes || is_etype(t.map); });
}

constraint fits_file(int parts) {
    return where(comm_axis(), type_axis(), count_ladder(),
                 [parts](job const& j, communicator const& comm, datatype const& t, count_value const& count) {
                     auto const extent =
                         static_cast<std::size_t>(std::max(std::abs(t.map.extent()), t.map.true_extent()));
                     auto const members = static_cast<std::size_t>(largest_size(comm, j.np) * parts);
                     return extent * count.of(t.map) * members <= std::size_t{4} << 20;
                 });
}

axis_use file_counts() {
    return only(count_ladder(), [](count_value const& c) {
        return c.kind == count_value::unit::elements || (c.kind == count_value::unit::bytes_ceil && c.n < 1u << 20);
    });
}
axis_use few_counts() {
    return only(count_ladder(), [](count_value const& c) {
        return c.kind == count_value::unit::elements ? c.n <= 1 || c.n == 17
                                                     : c.kind == count_value::unit::bytes_ceil && c.n < 1u << 20;
    });
}
axis_use file_comms() {
    return only(comm_axis(), [](communicator const& c) { return c.kind == comm_kind::intra && !c.title.empty(); });
}
axis_use thesis_comms() {
    return only(comm_axis(), [](communicator const& c) {
        return c.kind == comm_kind::intra && !c.title.empty() && !c.sources && c.cart_dims == nullptr;
    });
}
axis_use thesis_types() {
    return only(type_axis(), [](datatype const& t) { return !t.title.empty(); });
}
axis_use some_types() { return datatypes::of({"char", "int", "double_int", "vector_int", "type_mix_lb_ub"}); }
constraint etypes_only() {
    return where(type_axis(), [](datatype const& t) { return is_etype(t.map); });
}

// ---- What a file should hold

namespace {
// Which bytes of one element's packed data carry its value.
std::vector<bool> carrying(layout const& map) {
    std::vector<bool> carries;
    for (auto const& run : map.runs())
        for (std::size_t i = 0; i < run.count; ++i)
            for (std::size_t k = 0; k < run.type->size; ++k) carries.push_back(run.type->carries(k));
    return carries;
}

// Calls piece(place in the file, place in the data, bytes) for `size` bytes of data of a view from data byte `first`.
template <class Piece> void each_piece(view const& v, std::size_t first, std::size_t size, Piece piece) {
    auto const& map = v.filetype.map;
    std::size_t done = 0;
    for (auto t = first / map.size(); done < size; ++t) {
        auto data = t * map.size();
        auto const base = v.displacement + t * static_cast<std::size_t>(map.extent());
        for (auto const& run : map.runs()) {
            auto const bytes = run.count * run.type->size;
            auto const skip = data < first + done ? std::min(first + done - data, bytes) : 0;
            auto const n = std::min(bytes - skip, size - done);
            if (n > 0) piece(base + static_cast<std::size_t>(run.offset) + skip, done, n);
            done += n;
            data += bytes;
        }
    }
}
} // namespace

image::image(std::size_t size, bool new_file)
    : bytes(size, poison_byte), owner_(size, std::int16_t(new_file ? undefined : untouched)) {}

void image::resize(std::size_t size) {
    bytes.resize(size, poison_byte);
    owner_.resize(size, undefined);
}

void image::place(view const& v, std::size_t offset, layout const& map, std::uint64_t key, std::size_t elements,
                  int who) {
    std::vector<unsigned char> data;
    buffer::packed(map, key, elements, data);
    auto const carries = carrying(map);
    each_piece(v, offset * v.etype.map.size(), data.size(), [&](std::size_t to, std::size_t from, std::size_t n) {
        if (bytes.size() < to + n) resize(to + n);
        std::memcpy(bytes.data() + to, data.data() + from, n);
        for (std::size_t k = 0; k < n; ++k)
            owner_[to + k] = static_cast<std::int16_t>(carries[(from + k) % carries.size()] ? who : undefined);
    });
}

void image::place(std::size_t at, std::vector<unsigned char> const& data, int who) {
    if (bytes.size() < at + data.size()) resize(at + data.size());
    std::copy(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    std::fill_n(owner_.begin() + static_cast<std::ptrdiff_t>(at), data.size(), static_cast<std::int16_t>(who));
}

bool image::agrees(view const& v, std::size_t offset, layout const& map, std::uint64_t key,
                   std::size_t elements) const {
    std::vector<unsigned char> data;
    buffer::packed(map, key, elements, data);
    auto const carries = carrying(map);
    bool same = true;
    each_piece(v, offset * v.etype.map.size(), data.size(), [&](std::size_t at, std::size_t from, std::size_t n) {
        for (std::size_t k = 0; k < n && same; ++k)
            same = !carries[(from + k) % carries.size()] || (at + k < bytes.size() && bytes[at + k] == data[from + k]);
    });
    return same;
}

std::vector<unsigned char> image::where_defined(image const& found) const {
    auto all = found.bytes;
    for (std::size_t i = 0; i < std::min(all.size(), bytes.size()); ++i)
        if (owner_[i] != undefined) all[i] = bytes[i];
    return all;
}

std::string image::difference(image const& found) const {
    if (found.bytes.size() != bytes.size())
        return fmt::format("the file has {} bytes, expected {}", found.bytes.size(), bytes.size());
    std::size_t first = bytes.size(), last = 0, wrong = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (owner_[i] == undefined || bytes[i] == found.bytes[i]) continue;
        first = std::min(first, i);
        last = i;
        ++wrong;
    }
    if (wrong == 0) return "";
    auto const whose =
        owner_[first] == untouched ? std::string("which nobody writes") : fmt::format("data of rank {}", owner_[first]);
    auto text =
        fmt::format("byte {} of the file, {}: expected {:02x}, found {:02x}; {} of {} bytes wrong, the last one {}",
                    first, whose, bytes[first], found.bytes[first], wrong, bytes.size(), last);
    // Two lines of 16 bytes from the line in which the first wrong byte lies; -- is not judged.
    for (std::size_t line = first / 16 * 16, n = 0; line < bytes.size() && n < 2; line += 16, ++n) {
        std::string e, g;
        for (std::size_t i = line; i < std::min(line + 16, bytes.size()); ++i) {
            e += owner_[i] == undefined ? " --" : fmt::format(" {:02x}", bytes[i]);
            g += fmt::format(" {:02x}", found.bytes[i]);
        }
        text += fmt::format("\n{:>8} expected{}\n         found   {}", line, e, g);
    }
    return text;
}

// ---- The file itself

scratch_file::scratch_file(test_run& mpi, int number)
    : mpi_(mpi),
      folder_(
          fmt::format("{}/case-{:016x}", mpi.the_job.scratch, mpi.key(number, 0, 0, 0, 0))), // tells apart threads too
      path_(folder_ + "/" + folder_.substr(folder_.size() - 16)) {
    mpi.needs_procedure("MPI_File_open"); // a library has all of chapter 14 or nothing
}

scratch_file::~scratch_file() {
    std::error_code ignored;
    if (mpi_.rank == 0) std::filesystem::remove_all(folder_, ignored);
}

void scratch_file::make(std::vector<unsigned char> const* content) {
    if (mpi_.rank == 0) {
        if (recorded)
            tell_layer({.event = "file",
                        .memory = content == nullptr ? nullptr
                                  : content->empty() ? path_.data()
                                                     : static_cast<void const*>(content->data()),
                        .size = content == nullptr ? 0 : content->size(),
                        .text = path_.c_str()});
        std::error_code trouble;
        std::filesystem::remove_all(folder_, trouble); // of the same case before, if that was not finished
        std::filesystem::create_directories(folder_, trouble);
        if (trouble) mpi_.check(false, finding::value, fmt::format("cannot make {}: {}", folder_, trouble.message()));
        if (content != nullptr) {
            int const fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
            auto const n = fd < 0 ? -1 : ::write(fd, content->data(), content->size());
            mpi_.check(n == static_cast<ssize_t>(content->size()), finding::value,
                       fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
            if (fd >= 0) ::close(fd);
        }
    }
    meet(mpi_);
}

bool scratch_file::exists() const { return ::access(path_.c_str(), F_OK) == 0; }

image scratch_file::read(std::size_t from) const {
    image found;
    int const fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat s {};
    if (fd >= 0 && fstat(fd, &s) == 0) {
        found.resize(std::max(static_cast<std::size_t>(s.st_size), from) - from);
        std::size_t at = 0;
        while (at < found.bytes.size()) {
            auto const n = ::pread(fd, found.bytes.data() + at, found.bytes.size() - at, static_cast<off_t>(from + at));
            if (n <= 0) break;
            at += static_cast<std::size_t>(n);
        }
    }
    if (fd >= 0) ::close(fd);
    return found;
}

void scratch_file::expect(image const& expected, std::source_location where) {
    meet(mpi_);
    if (mpi_.rank != 0) return;
    if (!mpi_.check(exists(), finding::file, "there is no file", where)) return;
    auto const found = read();
    if (recorded && !found.bytes.empty()) {
        auto const all = expected.where_defined(found);
        tell_layer({.event = "file",
                    .memory = found.bytes.data(),
                    .expected = all.data(),
                    .size = found.bytes.size(),
                    .text = path_.c_str()});
    }
    auto const difference = expected.difference(found);
    mpi_.check(difference.empty(), finding::file, difference, where);
}

bool scratch_file::mark(std::string const& name) const {
    int const fd = ::open((folder_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) ::close(fd);
    return fd >= 0;
}

// ---- An open MPI file

open_file::open_file(test_run& mpi, std::string const& path, int amode, MPI_Info info)
    : open_file(mpi, mpi.comm, path, amode, info) {}

open_file::open_file(test_run& mpi, MPI_Comm comm, std::string const& path, int amode, MPI_Info info) : mpi_(mpi) {
    if (!mpi.ok(MPI_File_open(comm, path.c_str(), amode, info, &handle_))) handle_ = MPI_FILE_NULL;
}

bool open_file::set(view const& v, char const* representation, MPI_Info info) {
    auto const make = [this](definition const& d) {
        auto type = d.make();
        if (!d.is_predefined) mpi_.ok(MPI_Type_commit(&type));
        return type;
    };
    auto etype = make(v.etype), filetype = make(v.filetype);
    bool const done = mpi_.ok(
        MPI_File_set_view(handle_, static_cast<MPI_Offset>(v.displacement), etype, filetype, representation, info));
    // Section 14.6.7: both may be freed at once.
    if (!v.etype.is_predefined) mpi_.ok(MPI_Type_free(&etype));
    if (!v.filetype.is_predefined) mpi_.ok(MPI_Type_free(&filetype));
    return done;
}

void open_file::expect_position(std::size_t etypes, std::source_location where) {
    MPI_Offset got = -7;
    if (!mpi_.ok(MPI_File_get_position(handle_, &got), where)) return;
    mpi_.check(got == static_cast<MPI_Offset>(etypes), finding::position,
               fmt::format("MPI_File_get_position gives {}, expected {} etypes", got, etypes), where);
}

void open_file::expect_shared_position(std::size_t etypes, std::source_location where) {
    MPI_Offset got = -7;
    if (!mpi_.ok(MPI_File_get_position_shared(handle_, &got), where)) return;
    mpi_.check(got == static_cast<MPI_Offset>(etypes), finding::position,
               fmt::format("MPI_File_get_position_shared gives {}, expected {} etypes", got, etypes), where);
}

void open_file::close() {
    if (handle_ == MPI_FILE_NULL) return;
    mpi_.ok(MPI_File_close(&handle_));
    mpi_.check(handle_ == MPI_FILE_NULL, finding::request, "MPI_File_close must set the handle to MPI_FILE_NULL");
    handle_ = MPI_FILE_NULL;
}

int open_file::close_that_may_fail() {
    int const code = MPI_File_close(&handle_);
    handle_ = MPI_FILE_NULL; // what is left of it after an error nobody knows
    return code;
}

} // namespace assay::io
