// Accesses of many pieces (MPI-5.0 sections 14.3 and 14.4.1.4): memory and file contiguous or not, each by itself. Libraries hand
// lists of pieces to the system, often 64 at a time, or copy them through a buffer.
#include "suites/io/access.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
axis<int> const& pieces_of(char const* name, char const* what) {
    auto const value = [&](char const* number, int n) {
        return axis<int>::entry{{number, fmt::format("{}: {} pieces", what, number)}, n};
    };
    static std::vector<std::unique_ptr<axis<int>>> all;
    all.push_back(
        std::make_unique<axis<int>>(name, std::vector<axis<int>::entry>{value("1", 1), value("63", 63), value("64", 64),
                                                                        value("65", 65), value("130", 130)}));
    return *all.back();
}
axis<int> const& memory = pieces_of("memory", "in memory");
axis<int> const& in_file = pieces_of("file", "in the file");

axis<char const*> const sievings("sieving", {{{"default", "no hint"}, nullptr},
                                             {{"disable", "romio_ds_read and romio_ds_write: disable"}, "disable"},
                                             {{"enable", "romio_ds_read and romio_ds_write: enable"}, "enable"}});
constexpr int total = 390; // elements of a rank: pieces of 3 to 7 elements, or one

// `total` elements of MPI_INT in so many pieces with a gap of one element after each but the last.
definition in_pieces(int pieces) {
    if (pieces == 1) return contiguous(total, predefined("int"));
    std::vector<int> lengths, places;
    for (int i = 0, at = 0, left = total; i < pieces; ++i) {
        int const n = left / (pieces - i);
        lengths.push_back(n);
        places.push_back(at);
        at += n + 1;
        left -= n;
    }
    return indexed(lengths, places, predefined("int"));
}
} // namespace

ASSAY_TEST(io, segments,
           requirements{"io.memory.layout", "io.write.data", "io.read.data", "io.view.holes", "io.status.count",
                        "io.large_count"},
           over(only(accesses(), [](data_access const& a) { return !a.uses_shared_pointer(); }), axis_use{&memory},
                axis_use{&in_file}, axis_use{&sievings}, axis_use{&forms()}, communicators::of({"world"})),
           note{"each rank accesses 390 elements in one call"}, thread_safe{}) {
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    auto const of_memory = in_pieces(mpi.at(memory)), of_file = in_pieces(mpi.at(in_file));
    auto const room = static_cast<std::size_t>(of_file.map.extent()) + sizeof(int);
    auto const view_of = [&](int rank) {
        return view{header + static_cast<std::size_t>(rank) * room, predefined("int"), of_file, false};
    };
    auto const key = [&](int rank) { return mpi.key(0, rank, 0, rank, 0); };
    image const blank(header + static_cast<std::size_t>(mpi.size) * room + 5, false);
    auto whole = blank;
    for (int r = 0; r < mpi.size; ++r) whole.place(view_of(r), 0, of_memory.map, key(r), 1, r);
    scratch_file scratch(mpi);
    scratch.make(writing ? &blank.bytes : &whole.bytes);
    MPI_Info info = MPI_INFO_NULL;
    if (auto const* const sieving = mpi.at(sievings)) {
        mpi.ok(MPI_Info_create(&info));
        mpi.ok(MPI_Info_set(info, "romio_ds_read", sieving));
        mpi.ok(MPI_Info_set(info, "romio_ds_write", sieving));
    }
    auto type = of_memory.make();
    mpi.ok(MPI_Type_commit(&type));
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR, info);
        if (file.opened()) {
            file.set(view_of(mpi.rank));
            auto& data = mpi.bytes(of_memory.map, 1);
            if (writing) data.fill(key(mpi.rank));
            running_access running(mpi, call, file);
            running.of_type(type);
            running.with_large_counts(mpi.at(forms()));
            running.begin(0, data, 1);
            mpi.expect(running.end()).count(1, type, of_memory.map.size());
            data.expect(segment{0, 1, key(mpi.rank)},
                        writing ? "of what was written, which MPI may not change" : "of the file");
        }
    }
    mpi.ok(MPI_Type_free(&type));
    if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
    scratch.expect(whole);
}
