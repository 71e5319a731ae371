// Keller: "Read" to "Write ordered begin", 24 tests — every rank writes or reads two pieces of one file.
#include "suites/io/access.hpp"

#include <array>
#include <fmt/format.h>

namespace assay::io {

axis<data_access> const& accesses() {
    using enum direction;
    using enum positioning;
    using enum synchronism;
    static axis<data_access> const axis(
        "call",
        {{value_info("read", "MPI_File_read").in_thesis("Read"), {read, individual, false, blocking}},
         {value_info("write", "MPI_File_write").in_thesis("Write"), {write, individual, false, blocking}},
         {value_info("iread", "MPI_File_iread").in_thesis("Iread"), {read, individual, false, nonblocking}},
         {value_info("iwrite", "MPI_File_iwrite").in_thesis("Iwrite"), {write, individual, false, nonblocking}},
         {value_info("read_all", "MPI_File_read_all").in_thesis("Read all"), {read, individual, true, blocking}},
         {value_info("write_all", "MPI_File_write_all").in_thesis("Write all"), {write, individual, true, blocking}},
         {{"iread_all", "MPI_File_iread_all"}, {read, individual, true, nonblocking}},
         {{"iwrite_all", "MPI_File_iwrite_all"}, {write, individual, true, nonblocking}},
         {value_info("read_all_begin", "MPI_File_read_all_begin and _end").in_thesis("Read all begin"),
          {read, individual, true, split}},
         {value_info("write_all_begin", "MPI_File_write_all_begin and _end").in_thesis("Write all begin"),
          {write, individual, true, split}},
         {value_info("read_at", "MPI_File_read_at").in_thesis("Read at"), {read, explicit_offset, false, blocking}},
         {value_info("write_at", "MPI_File_write_at").in_thesis("Write at"), {write, explicit_offset, false, blocking}},
         {value_info("iread_at", "MPI_File_iread_at").in_thesis("Iread at"),
          {read, explicit_offset, false, nonblocking}},
         {value_info("iwrite_at", "MPI_File_iwrite_at").in_thesis("Iwrite at"),
          {write, explicit_offset, false, nonblocking}},
         {value_info("read_at_all", "MPI_File_read_at_all").in_thesis("Read at all"),
          {read, explicit_offset, true, blocking}},
         {value_info("write_at_all", "MPI_File_write_at_all").in_thesis("Write at all"),
          {write, explicit_offset, true, blocking}},
         {{"iread_at_all", "MPI_File_iread_at_all"}, {read, explicit_offset, true, nonblocking}},
         {{"iwrite_at_all", "MPI_File_iwrite_at_all"}, {write, explicit_offset, true, nonblocking}},
         {value_info("read_at_all_begin", "MPI_File_read_at_all_begin and _end").in_thesis("Read at all begin"),
          {read, explicit_offset, true, split}},
         {value_info("write_at_all_begin", "MPI_File_write_at_all_begin and _end").in_thesis("Write at all begin"),
          {write, explicit_offset, true, split}},
         {value_info("read_shared", "MPI_File_read_shared").in_thesis("Read shared"), {read, shared, false, blocking}},
         {value_info("write_shared", "MPI_File_write_shared").in_thesis("Write shared"),
          {write, shared, false, blocking}},
         {value_info("iread_shared", "MPI_File_iread_shared").in_thesis("Iread shared"),
          {read, shared, false, nonblocking}},
         {value_info("iwrite_shared", "MPI_File_iwrite_shared").in_thesis("Iwrite shared"),
          {write, shared, false, nonblocking}},
         {value_info("read_ordered", "MPI_File_read_ordered").in_thesis("Read ordered"),
          {read, ordered, true, blocking}},
         {value_info("write_ordered", "MPI_File_write_ordered").in_thesis("Write ordered"),
          {write, ordered, true, blocking}},
         {value_info("read_ordered_begin", "MPI_File_read_ordered_begin and _end").in_thesis("Read ordered begin"),
          {read, ordered, true, split}},
         {value_info("write_ordered_begin", "MPI_File_write_ordered_begin and _end").in_thesis("Write ordered begin"),
          {write, ordered, true, split}}});
    return axis;
}

constraint shared_pointer_needs_same_view() {
    return where(accesses(), views(),
                 [](data_access const& a, view_kind v) { return !a.uses_shared_pointer() || same_on_all_ranks(v); });
}

axis<bool> const& forms() {
    static axis<bool> const axis("form",
                                 {{{"int", "counts are int"}, false},
                                  {{"count", "counts are MPI_Count: MPI_File_write_c and its like; since MPI-4.0",
                                    needs_procedures({"MPI_File_write_c"})},
                                   true}});
    return axis;
}

// The binding that the case asks for.
#define EITHER(name, ...) (large_ ? MPI_File_##name##_c(__VA_ARGS__) : MPI_File_##name(__VA_ARGS__))

int running_access::call(MPI_Offset offset, void* buffer, int count) {
    auto const type = type_;
    bool const all = what_.collective;
    auto* const status = to_;
    auto* const request = &request_;
    using enum synchronism;
    if (what_.way == direction::write) switch (what_.where) {
        case positioning::individual:
            if (what_.how == split) return EITHER(write_all_begin, file_, buffer, count, type);
            if (what_.how == blocking)
                return all ? EITHER(write_all, file_, buffer, count, type, status)
                           : EITHER(write, file_, buffer, count, type, status);
            return all ? EITHER(iwrite_all, file_, buffer, count, type, request)
                       : EITHER(iwrite, file_, buffer, count, type, request);
        case positioning::explicit_offset:
            if (what_.how == split) return EITHER(write_at_all_begin, file_, offset, buffer, count, type);
            if (what_.how == blocking)
                return all ? EITHER(write_at_all, file_, offset, buffer, count, type, status)
                           : EITHER(write_at, file_, offset, buffer, count, type, status);
            return all ? EITHER(iwrite_at_all, file_, offset, buffer, count, type, request)
                       : EITHER(iwrite_at, file_, offset, buffer, count, type, request);
        case positioning::shared:
            return what_.how == blocking ? EITHER(write_shared, file_, buffer, count, type, status)
                                         : EITHER(iwrite_shared, file_, buffer, count, type, request);
        case positioning::ordered:
            return what_.how == split ? EITHER(write_ordered_begin, file_, buffer, count, type)
                                      : EITHER(write_ordered, file_, buffer, count, type, status);
        }
    switch (what_.where) {
    case positioning::individual:
        if (what_.how == split) return EITHER(read_all_begin, file_, buffer, count, type);
        if (what_.how == blocking)
            return all ? EITHER(read_all, file_, buffer, count, type, status)
                       : EITHER(read, file_, buffer, count, type, status);
        return all ? EITHER(iread_all, file_, buffer, count, type, request)
                   : EITHER(iread, file_, buffer, count, type, request);
    case positioning::explicit_offset:
        if (what_.how == split) return EITHER(read_at_all_begin, file_, offset, buffer, count, type);
        if (what_.how == blocking)
            return all ? EITHER(read_at_all, file_, offset, buffer, count, type, status)
                       : EITHER(read_at, file_, offset, buffer, count, type, status);
        return all ? EITHER(iread_at_all, file_, offset, buffer, count, type, request)
                   : EITHER(iread_at, file_, offset, buffer, count, type, request);
    case positioning::shared:
        return what_.how == blocking ? EITHER(read_shared, file_, buffer, count, type, status)
                                     : EITHER(iread_shared, file_, buffer, count, type, request);
    case positioning::ordered:
        return what_.how == split ? EITHER(read_ordered_begin, file_, buffer, count, type)
                                  : EITHER(read_ordered, file_, buffer, count, type, status);
    }
    return MPI_ERR_INTERN;
}

void running_access::judge(int code) {
    if (!may_fail_) mpi_.ok(code);
    else if (failure_ == MPI_SUCCESS) failure_ = code;
}

void running_access::begin(std::size_t offset, void* buffer, int count) {
    buffer_ = buffer;
    judge(call(static_cast<MPI_Offset>(offset), buffer, count));
    if (failure_ != MPI_SUCCESS) request_ = MPI_REQUEST_NULL; // nothing was started
}

MPI_Status const& running_access::end() {
    bool const writing = what_.way == direction::write;
    if (what_.how == synchronism::nonblocking) {
        judge(MPI_Wait(&request_, to_));
        if (failure_ == MPI_SUCCESS) mpi_.check_null(request_); // after an error its state is undefined (section 14.7)
    } else if (what_.how == synchronism::split) {
        switch (what_.where) {
        case positioning::individual:
            judge(writing ? MPI_File_write_all_end(file_, buffer_, to_) : MPI_File_read_all_end(file_, buffer_, to_));
            break;
        case positioning::explicit_offset:
            judge(writing ? MPI_File_write_at_all_end(file_, buffer_, to_)
                          : MPI_File_read_at_all_end(file_, buffer_, to_));
            break;
        default:
            judge(writing ? MPI_File_write_ordered_end(file_, buffer_, to_)
                          : MPI_File_read_ordered_end(file_, buffer_, to_));
        }
    }
    return status_;
}

namespace {

constexpr int pieces = 2; // a rank writes or reads: the second shows how the first moved the file pointer

enum class before { nothing, longer, readable };
axis<before> const files("file", {{{"new", "MPI_MODE_WRONLY, the file is created"}, before::nothing},
                                  {{"longer", "MPI_MODE_WRONLY, an existing file that is longer"}, before::longer},
                                  {{"readable", "MPI_MODE_RDWR, an existing file that is longer"}, before::readable}});

// Where the pieces lie: `slot` counts pieces in the view.
struct plan_of_pieces {
    test_run& mpi;
    data_access call;
    view_kind kind;

    std::size_t slot(int rank, int piece) const {
        if (call.where == positioning::ordered) return static_cast<std::size_t>(piece * mpi.size + rank);
        if (kind == view_kind::interleaved) return static_cast<std::size_t>(piece);
        return static_cast<std::size_t>(rank * pieces + piece); // of shared accesses: one order of many
    }
    std::size_t offset(view const& v, std::size_t at) const { return v.etypes(mpi.map, mpi.elements) * at; }
    std::uint64_t key(int rank, int piece) const { return mpi.key(0, rank, 0, rank, piece); }
    view view_of(int rank) const { return make_view(mpi, kind, rank); }

    image whole(image in) const {
        for (int r = 0; r < mpi.size; ++r)
            for (int p = 0; p < pieces; ++p) {
                auto const v = view_of(r);
                in.place(v, offset(v, slot(r, p)), mpi.map, key(r, p), mpi.elements, r);
            }
        return in;
    }
};

// Small pieces may be equal: then nobody can tell in which order those of one rank stand.
bool told_apart(test_run const& mpi) { return mpi.elements * mpi.map.size() >= 64; }

// All pieces at the places that the shared pointer led them to: any order in which those of one rank keep theirs.
image in_order_of(plan_of_pieces const& plan, image const& found, image expected) {
    auto& mpi = plan.mpi;
    auto const v = plan.view_of(0);
    int const all = mpi.size * pieces;
    std::vector<bool> used(static_cast<std::size_t>(all), false);
    for (int slot = 0; slot < all; ++slot) {
        auto const offset = plan.offset(v, static_cast<std::size_t>(slot));
        int which = -1; // piece stands here; if none does, any that is left: the comparison will tell
        for (int i = 0; i < all; ++i) {
            auto const at = static_cast<std::size_t>(i);
            if (used[at] || (told_apart(mpi) && i % pieces > 0 && !used[at - 1])) continue;
            bool const fits = found.agrees(v, offset, mpi.map, plan.key(i / pieces, i % pieces), mpi.elements);
            if (which < 0 || fits) which = i;
            if (fits) break;
        }
        used[static_cast<std::size_t>(which)] = true;
        expected.place(v, offset, mpi.map, plan.key(which / pieces, which % pieces), mpi.elements, which / pieces);
    }
    return expected;
}

void begin_and_end(test_run& mpi, plan_of_pieces const& plan, MPI_File file, std::vector<buffer*> const& buffers) {
    auto const v = plan.view_of(mpi.rank);
    auto const& call = plan.call;
    std::array<running_access, pieces> running{running_access(mpi, call, file), running_access(mpi, call, file)};
    auto const judge = [&](running_access& r) {
        auto const& status = r.end();
        mpi.expect(status).count(mpi.elements);
    };
    for (int p = 0; p < pieces; ++p) {
        auto const n = static_cast<std::size_t>(p);
        running[n].begin(plan.offset(v, plan.slot(mpi.rank, p)), *buffers[n], mpi.count);
        if (call.how != synchronism::nonblocking) judge(running[n]);
    }
    if (call.how == synchronism::nonblocking)
        for (auto& r : running) judge(r);
}

void judge_pointers(test_run& mpi, plan_of_pieces const& plan, open_file& file) {
    auto const v = plan.view_of(mpi.rank);
    auto const of_piece = v.etypes(mpi.map, mpi.elements);
    bool const moves = plan.call.where == positioning::individual;
    file.expect_position(moves ? of_piece * (plan.slot(mpi.rank, pieces - 1) + 1) : 0);
    if (!plan.call.uses_shared_pointer()) return;
    meet(mpi); // until all have moved it
    file.expect_shared_position(of_piece * static_cast<std::size_t>(mpi.size * pieces));
}

void seek_to_own(test_run& mpi, plan_of_pieces const& plan, MPI_File file) {
    if (plan.call.where != positioning::individual) return;
    auto const v = plan.view_of(mpi.rank);
    mpi.ok(MPI_File_seek(file, static_cast<MPI_Offset>(plan.offset(v, plan.slot(mpi.rank, 0))), MPI_SEEK_SET));
}

} // namespace

ASSAY_TEST(io, write,
           requirements{"io.write.data", "io.view.holes", "io.status.count", "io.pointer.individual",
                        "io.pointer.shared", "io.pointer.ordered", "io.pointer.explicit", "io.split_collective",
                        "io.nonblocking", "io.open.create", "io.file_size.high_byte", "io.write.keeps_buffer",
                        "io.view.tiles", "io.view.per_process", "io.view.bytes_match", "io.free.types",
                        "io.interop.offsets", "io.nonblocking_collective.many"},
           over(writes(), axis_use{&views()}, axis_use{&files}, file_comms(), datatypes::all(), file_counts(),
                placements::all()),
           views_of_etypes(), shared_pointer_needs_same_view(), fits_file(2 * pieces), thread_safe{}) {
    plan_of_pieces const plan{mpi, mpi.at(accesses()), mpi.at(views())};
    auto const prior = mpi.at(files);
    scratch_file scratch(mpi);
    // A longer file: whatever lies between the pieces and after them has to stay.
    image const start(prior == before::nothing ? 0 : plan.whole(image()).bytes.size() + 29, prior == before::nothing);
    scratch.make(prior == before::nothing ? nullptr : &start.bytes);
    std::vector<buffer*> buffers;
    for (int p = 0; p < pieces; ++p) {
        buffers.push_back(&mpi.incoming());
        buffers.back()->fill(plan.key(mpi.rank, p));
    }
    open_file file(mpi, scratch.path(),
                   prior == before::nothing  ? MPI_MODE_WRONLY | MPI_MODE_CREATE
                   : prior == before::longer ? MPI_MODE_WRONLY
                                             : MPI_MODE_RDWR);
    if (!file.opened()) return;
    if (auto const v = plan.view_of(mpi.rank); !v.by_default) file.set(v);
    seek_to_own(mpi, plan, file);
    begin_and_end(mpi, plan, file, buffers);
    judge_pointers(mpi, plan, file);
    file.close();
    for (auto* b : buffers) b->expect_unchanged();
    meet(mpi);
    bool const any_order = plan.call.where == positioning::shared;
    scratch.expect(mpi.rank != 0 ? image() : any_order ? in_order_of(plan, scratch.read(), start) : plan.whole(start));
}

ASSAY_TEST(io, read,
           requirements{"io.read.data", "io.view.holes", "io.status.count", "io.pointer.individual",
                        "io.pointer.shared", "io.pointer.ordered", "io.pointer.explicit", "io.split_collective",
                        "io.nonblocking", "io.view.tiles", "io.view.per_process", "io.view.bytes_match",
                        "io.free.types", "io.interop.offsets", "io.nonblocking_collective.many"},
           over(reads(), axis_use{&views()}, file_comms(), datatypes::all(), file_counts(), placements::all()),
           views_of_etypes(), shared_pointer_needs_same_view(), fits_file(2 * pieces),
           note{"the file is made without MPI; ranks that share a file pointer mark the pieces that they were given"},
           thread_safe{}) {
    plan_of_pieces const plan{mpi, mpi.at(accesses()), mpi.at(views())};
    scratch_file scratch(mpi);
    image const content = plan.whole(image());
    scratch.make(&content.bytes);
    std::vector<buffer*> buffers;
    for (int p = 0; p < pieces; ++p) buffers.push_back(&mpi.incoming());
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (!file.opened()) return;
    if (auto const v = plan.view_of(mpi.rank); !v.by_default) file.set(v);
    seek_to_own(mpi, plan, file);
    begin_and_end(mpi, plan, file, buffers);
    judge_pointers(mpi, plan, file);
    file.close();
    if (plan.call.where != positioning::shared) {
        for (int p = 0; p < pieces; ++p)
            buffers[static_cast<std::size_t>(p)]->expect(plan.key(mpi.rank, p), mpi.elements, "of the file");
    } else if (mpi.elements * mpi.map.size() > 0) {
        // Each piece goes to one rank. Who got which is told by marks; equal pieces are as good as each other.
        int const all = mpi.size * pieces;
        for (int p = 0, from = 0; p < pieces; ++p) {
            int mine = from;
            auto& b = *buffers[static_cast<std::size_t>(p)];
            auto const got = [&](int piece) {
                segment const whole{0, mpi.elements, plan.key(piece / pieces, piece % pieces)};
                return b.holds(std::span(&whole, 1)) && scratch.mark(std::to_string(piece));
            };
            while (mine < all && !got(mine)) ++mine;
            from = mine < all && told_apart(mpi) ? mine + 1 : 0;
            if (mine == all)
                b.expect(
                    plan.key(mpi.rank, p), mpi.elements,
                    fmt::format("of piece {}: not one that no other rank has and that follows the piece before", p));
        }
    }
    scratch.expect(content);
}

} // namespace assay::io
