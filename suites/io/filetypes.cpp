// Views of every kind of filetype (MPI-5.0 sections 14.1.1 and 14.3): made with each constructor, in both bindings, of an
// etype at each depth; data that end before, at and after the end of a filetype; and what files say of such views.
#include "suites/datatype/recipe.hpp"
#include "suites/io/access.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

using namespace assay;
using namespace assay::io;
using assay::types::binding;
using assay::types::recipe;

namespace {

enum class depth { innermost, argument, whole };
axis<depth> const depths("etype",
                         {{{"innermost", "the basic type that all of the filetype is made of"}, depth::innermost},
                          {{"argument", "the derived datatype that the constructor was given"}, depth::argument},
                          {{"whole", "the filetype itself"}, depth::whole}});

bool is_homogeneous(layout const& map) {
    return std::all_of(map.runs().begin(), map.runs().end(),
                       [&](auto const& run) { return run.type == map.runs().front().type; });
}
bool fits_a_view(layout const& map) {
    return is_etype(map) && map.lb() == 0 && map.true_lb() + map.true_extent() <= map.extent();
}

bool has_etype(recipe const& r, depth at) {
    if (!fits_a_view(r.map)) return false;
    if (at == depth::innermost) return is_homogeneous(r.map);
    return at == depth::whole || (r.old.size() == 1 && !r.old.front().is_predefined && fits_a_view(r.old.front().map));
}
constraint sensible_etype() { return where(types::recipes(), depths, has_etype); }
axis_use filetypes() {
    return only(types::recipes(), [](recipe const& r) { return !r.disputed && has_etype(r, depth::whole); });
}

// A view, with datatypes that it keeps.
class typed_view {
public:
    typed_view(test_run& mpi, recipe const& r, binding with, depth at) : filetype_(mpi, r, with) {
        if (!filetype_) return;
        auto const given = [](layout const& map, MPI_Datatype handle) {
            return definition{map, [handle] { return handle; }, true}; // neither to be committed nor to be freed
        };
        etype_ = filetype_;
        view_.filetype = view_.etype = given(r.map, filetype_);
        if (at == depth::innermost)
            view_.etype = predefined(r.map.runs().front().type->name), etype_ = view_.etype.make();
        if (at == depth::argument) {
            etype_ = filetype_.old().front();
            mpi.ok(MPI_Type_commit(&etype_));
            view_.etype = given(r.old.front().map, etype_);
        }
    }
    explicit operator bool() const { return static_cast<bool>(filetype_); }
    view at(std::size_t displacement) const {
        auto v = view_;
        v.displacement = displacement;
        return v;
    }
    MPI_Datatype etype() const { return etype_; }
    layout const& map() const { return view_.etype.map; }                                       // of the etype
    std::size_t per_tile() const { return view_.filetype.map.size() / view_.etype.map.size(); } // etypes in a filetype
    std::size_t extent() const { return static_cast<std::size_t>(view_.filetype.map.extent()); }

private:
    types::made_type filetype_;
    MPI_Datatype etype_ = MPI_DATATYPE_NULL;
    view view_;
};

// Where etype k of the view begins in the file; its first bytes may be a gap.
std::size_t start_of(view const& v, std::size_t k) {
    return v.position(k * v.etype.map.size()) - static_cast<std::size_t>(v.etype.map.true_lb());
}

void expect_byte_offset(test_run& mpi, MPI_File file, view const& v, std::size_t etype) {
    if (v.etype.map.true_lb() != 0) return; // the standard leaves open whether the gap in front counts
    MPI_Offset got = -7;
    mpi.ok(MPI_File_get_byte_offset(file, static_cast<MPI_Offset>(etype), &got));
    mpi.check(got == static_cast<MPI_Offset>(start_of(v, etype)), finding::position,
              fmt::format("MPI_File_get_byte_offset of {} gives {}, expected {}", etype, got, start_of(v, etype)));
}

enum class amount { one, below, tile, above, many };
axis<amount> const amounts("amount", {{{"above", "one etype more than a filetype has"}, amount::above},
                                      {{"one", "an etype"}, amount::one},
                                      {{"below", "one etype less than a filetype has"}, amount::below},
                                      {{"tile", "as many etypes as a filetype has"}, amount::tile},
                                      {{"many", "of five filetypes, and one more"}, amount::many}});
constexpr std::size_t most_tiles = 8; // of a rank's data, which may begin at the second etype

std::size_t count_of(amount how_many, std::size_t per_tile) {
    switch (how_many) {
    case amount::one: return 1;
    case amount::below: return per_tile - 1;
    case amount::tile: return per_tile;
    case amount::above: return per_tile + 1;
    case amount::many: break;
    }
    return 5 * per_tile + 1;
}

} // namespace

ASSAY_TEST(io, filetype,
           requirements{"io.view.nested", "io.view.large_count", "io.view.holes", "io.write.data", "io.read.data",
                        "io.status.count", "io.byte_offset", "io.pointer.individual", "io.view.size_in_bytes"},
           over(filetypes(), axis_use{&types::bindings()}, axis_use{&depths}, axis_use{&amounts},
                only(accesses(),
                     [](data_access const& a) {
                         return a.how == synchronism::blocking &&
                                (a.collective ? a.where == positioning::individual
                                              : a.where == positioning::explicit_offset);
                     }),
                communicators::world()),
           types::has_binding(), sensible_etype(),
           note{"each rank sees its own part of the file through a filetype of every constructor"}) {
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    typed_view const types(mpi, mpi.at(assay::types::recipes()), mpi.at(assay::types::bindings()), mpi.at(depths));
    if (!types) return;
    auto const n = count_of(mpi.at(amounts), types.per_tile());
    auto const room = most_tiles * types.extent();
    std::size_t const first =
        call.collective ? 0 : 1; // etype: an explicit offset can be any, a new view's pointer is 0
    auto const view_of = [&](int rank) { return types.at(header + static_cast<std::size_t>(rank) * room); };
    auto const key = [&](int rank) { return mpi.key(0, rank, 0, rank, 0); };
    image const blank(header + static_cast<std::size_t>(mpi.size) * room + 5, false);
    auto whole = blank;
    for (int r = 0; r < mpi.size; ++r) whole.place(view_of(r), first, types.map(), key(r), n, r);
    scratch_file scratch(mpi);
    scratch.make(writing ? &blank.bytes : &whole.bytes);
    auto& data = mpi.bytes(types.map(), n);
    if (writing) data.fill(key(mpi.rank));
    open_file file(mpi, scratch.path(), writing ? MPI_MODE_RDWR : MPI_MODE_RDONLY);
    if (!file.opened()) return;
    auto const v = view_of(mpi.rank);
    file.set(v);
    auto status = poisoned_status();
    int const count = static_cast<int>(n);
    if (writing)
        mpi.ok(call.collective ? MPI_File_write_all(file, data, count, types.etype(), &status)
                               : MPI_File_write_at(file, 1, data, count, types.etype(), &status));
    else
        mpi.ok(call.collective ? MPI_File_read_all(file, data, count, types.etype(), &status)
                               : MPI_File_read_at(file, 1, data, count, types.etype(), &status));
    mpi.expect(status).count(n, types.etype(), types.map().size());
    file.expect_position(call.collective ? n : 0);
    for (std::size_t const etype : {std::size_t{0}, std::size_t{1}, types.per_tile() - 1, types.per_tile(),
                                    types.per_tile() + 1, 5 * types.per_tile() + 1})
        expect_byte_offset(mpi, file, v, etype);
    MPI_Offset size = -7; // no write makes the file longer
    mpi.ok(MPI_File_get_size(file, &size));
    mpi.check(size == static_cast<MPI_Offset>(blank.bytes.size()), finding::file,
              fmt::format("MPI_File_get_size gives {}, expected {}", size, blank.bytes.size()));
    file.close();
    data.expect(segment{0, n, key(mpi.rank)}, writing ? "of the send buffer, which MPI may not change" : "of the file");
    scratch.expect(whole);
}

// ---- The end of the file, as a view sees it

namespace {
enum class ending { before_view, at_view, in_etype, after_etype, in_hole, after_tile };
axis<ending> const
    endings("end", {{{"after_etype", "the file ends with the first etype of the second filetype"}, ending::after_etype},
                    {{"before_view", "the file ends before the displacement"}, ending::before_view},
                    {{"at_view", "the file ends at the displacement"}, ending::at_view},
                    {{"in_etype", "the file ends in the middle of an etype"}, ending::in_etype},
                    {{"in_hole", "the file ends one byte after an etype"}, ending::in_hole},
                    {{"after_tile", "the file ends with a whole filetype"}, ending::after_tile}});
axis<bool> const pointers("pointer",
                          {{{"individual", "MPI_File_seek"}, false}, {{"shared", "MPI_File_seek_shared"}, true}});

// Whether an etype starts with its first byte or with a gap before it the standard does not say.
bool starts_with_data(recipe const& r, depth at) {
    if (at == depth::innermost) return true; // a basic type
    return (at == depth::argument ? r.old.front().map : r.map).true_lb() == 0;
}

std::size_t size_of_file(ending how, typed_view const& types, view const& v) {
    auto const tile = types.per_tile(), bytes = types.map().size();
    auto const after = [&](std::size_t etype) { return v.position((etype + 1) * bytes - 1) + 1; };
    switch (how) {
    case ending::before_view: return v.displacement - 6;
    case ending::at_view: return v.displacement;
    case ending::in_etype: return after(tile) - bytes / 2;
    case ending::after_etype: return after(tile);
    case ending::in_hole: return after(tile) + 1;
    case ending::after_tile: break;
    }
    return v.displacement + 2 * types.extent();
}
} // namespace

ASSAY_TEST(io, view_end,
           requirements{"io.pointer.seek_end", "io.pointer.seek_shared", "io.view.size_in_bytes", "io.view.nested",
                        "io.byte_offset"},
           over(filetypes(), axis_use{&depths}, axis_use{&endings}, axis_use{&pointers}, communicators::world()),
           sensible_etype(), where(types::recipes(), depths, starts_with_data),
           note{"MPI_SEEK_END is the first etype of the view that starts after the last byte of the file"}) {
    bool const shared = mpi.at(pointers);
    typed_view const types(mpi, mpi.at(assay::types::recipes()), binding::small, mpi.at(depths));
    if (!types) return;
    auto const v = types.at(header);
    std::vector<unsigned char> const content(size_of_file(mpi.at(endings), types, v), poison_byte);
    std::size_t end = 0;
    while (start_of(v, end) < content.size()) ++end;
    scratch_file scratch(mpi);
    scratch.make(&content);
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (!file.opened()) return;
    file.set(v);
    auto const seek = [&](std::ptrdiff_t offset, int whence, std::size_t expected) {
        if (shared) meet(mpi); // nobody still looks at the pointer
        mpi.ok(shared ? MPI_File_seek_shared(file, offset, whence) : MPI_File_seek(file, offset, whence));
        if (shared) meet(mpi);
        if (shared) file.expect_shared_position(expected);
        else file.expect_position(expected);
    };
    seek(0, MPI_SEEK_END, end);
    seek(3, MPI_SEEK_END, end + 3);
    if (end > 0) seek(-1, MPI_SEEK_END, end - 1);
    expect_byte_offset(mpi, file, v, end);
    MPI_Offset size = -7;
    mpi.ok(MPI_File_get_size(file, &size));
    mpi.check(size == static_cast<MPI_Offset>(content.size()), finding::file,
              fmt::format("MPI_File_get_size gives {}, expected {}", size, content.size()));
    file.close();
    meet(mpi);
}

// ---- Numbers that no int holds

namespace {
constexpr std::size_t two_gibi = std::size_t{1} << 31, four_gibi = std::size_t{1} << 32;
axis<std::size_t> const displacements("displacement", {{{"13", "bytes"}, 13},
                                                       {{"2gib", "2^31 - 3 bytes"}, two_gibi - 3},
                                                       {{"4gib", "2^32 + 13 bytes"}, four_gibi + 13}});
axis<std::size_t> const offsets("offset", {{{"2gi_less", "2^31 - 1 etypes"}, two_gibi - 1},
                                           {{"0", "the first etype"}, 0},
                                           {{"2gi", "2^31 etypes"}, two_gibi},
                                           {{"4gi", "2^32 + 1 etypes"}, four_gibi + 1}});
bool is_dense(recipe const& r) { return static_cast<std::size_t>(r.map.extent()) == r.map.size(); }
} // namespace

ASSAY_TEST(io, far_offset,
           requirements{"io.pointer.large", "io.byte_offset", "io.pointer.seek", "io.view.size_in_bytes",
                        "io.file_size.high_byte", "io.write.data", "io.read.data"},
           over(axis_use{&displacements}, axis_use{&offsets}, axis_use{&depths}, axis_use{&pointers},
                only(types::recipes(),
                     [](recipe const& r) { return !r.disputed && has_etype(r, depth::whole) && r.map.size() <= 32; }),
                communicators::world()),
           sensible_etype(),
           // A library may need time for each hole of the filetypes before an offset.
           where(types::recipes(), offsets,
                 [](recipe const& r, std::size_t offset) { return offset == 0 || is_dense(r); }),
           note{"each rank writes an etype far out in a file that is a hole otherwise"}) {
    typed_view const types(mpi, mpi.at(assay::types::recipes()), binding::small, mpi.at(depths));
    if (!types) return;
    bool const shared = mpi.at(pointers);
    auto const v = types.at(mpi.at(displacements));
    auto const first = mpi.at(offsets), own = first + static_cast<std::size_t>(mpi.rank);
    auto const key = mpi.key(0, mpi.rank, 0, mpi.rank, 0);
    scratch_file scratch(mpi);
    scratch.make(nullptr);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR | MPI_MODE_CREATE);
    if (!file.opened()) return;
    file.set(v);
    expect_byte_offset(mpi, file, v, own);
    auto const go = [&](std::ptrdiff_t offset, int whence, std::size_t expected) {
        if (shared) meet(mpi);
        mpi.ok(shared ? MPI_File_seek_shared(file, offset, whence) : MPI_File_seek(file, offset, whence));
        if (shared) meet(mpi);
        if (shared) file.expect_shared_position(expected);
        else file.expect_position(expected);
    };
    go(static_cast<std::ptrdiff_t>(first), MPI_SEEK_SET, first);
    if (is_dense(mpi.at(assay::types::recipes()))) {
        go(static_cast<std::ptrdiff_t>(four_gibi), MPI_SEEK_CUR, first + four_gibi);
        go(-static_cast<std::ptrdiff_t>(four_gibi), MPI_SEEK_CUR, first);
    }
    auto &out = mpi.bytes(types.map(), 1), &in = mpi.bytes(types.map(), 1);
    out.fill(key);
    auto status = poisoned_status();
    mpi.ok(MPI_File_write_at(file, static_cast<MPI_Offset>(own), out, 1, types.etype(), &status));
    mpi.expect(status).count(1, types.etype(), types.map().size());
    mpi.ok(MPI_File_read_at(file, static_cast<MPI_Offset>(own), in, 1, types.etype(), &status));
    mpi.expect(status).count(1, types.etype(), types.map().size());
    in.expect(key, 1, "of the file");
    mpi.ok(MPI_File_sync(file)); // all have written before one asks (section 14.6.1)
    meet(mpi);
    mpi.ok(MPI_File_sync(file));
    auto const last = first + static_cast<std::size_t>(mpi.size) - 1;
    auto const size = v.position((last + 1) * types.map().size() - 1) + 1;
    MPI_Offset got = -7;
    mpi.ok(MPI_File_get_size(file, &got));
    mpi.check(got == static_cast<MPI_Offset>(size), finding::file,
              fmt::format("MPI_File_get_size gives {}, expected {}", got, size));
    file.close();
    meet(mpi);
    if (mpi.rank != 0) return;
    auto const from =
        v.displacement + first / types.per_tile() * types.extent(); // the filetype that holds the first etype
    auto const found = scratch.read(from);
    auto near = v;
    near.displacement = 0;
    for (int r = 0; r < mpi.size; ++r)
        mpi.check(found.agrees(near, first % types.per_tile() + static_cast<std::size_t>(r), types.map(),
                               mpi.key(0, r, 0, r, 0), 1),
                  finding::file, fmt::format("the etype that rank {} wrote is not where it belongs", r));
}
