// Reads where the file has no data any more (MPI-5.0 sections 14.4.1.4 and 14.6.2), and amounts that no int holds.
#include "suites/io/numbers.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/mman.h>

using namespace assay;
using namespace assay::io;

namespace {
enum class beginning { at_end, beyond, empty, before_view };
axis<beginning> const beginnings("from", {{{"at_end", "the end of the file"}, beginning::at_end},
                                          {{"beyond", "999 etypes after the end"}, beginning::beyond},
                                          {{"empty", "the beginning of a file without any bytes"}, beginning::empty},
                                          {{"before_view", "the beginning of a view that begins after the end"},
                                           beginning::before_view}});
} // namespace

ASSAY_TEST(io, beyond_end, requirements{"io.read.beyond_end", "io.read.rest", "io.large_count"},
           over(reads(), axis_use{&beginnings}, axis_use{&forms()},
                only(views(), [](view_kind v) { return v == view_kind::type || v == view_kind::hole; }),
                communicators::of({"world", "self"}), ints(), seventeen()),
           note{"nothing is there to be read: no error, and an amount of 0"}, thread_safe{}) {
    auto const call = mpi.at(accesses());
    auto const from = mpi.at(beginnings);
    auto v = make_view(mpi, mpi.at(views()), 0);
    constexpr std::size_t there = 12; // etypes: whole filetypes of both views
    image content;
    if (from != beginning::empty) content.place(v, 0, mpi.map, mpi.key(0, 0, 0, 0, 0), there, 0);
    if (from == beginning::before_view) v.displacement = content.bytes.size() + 100;
    std::size_t offset = from == beginning::at_end ? there : from == beginning::beyond ? there + 999 : 0;
    if (call.where != positioning::explicit_offset) { // file pointers begin with their view
        auto const per_tile = v.filetype.map.size() / v.etype.map.size();
        v.displacement += offset / per_tile * static_cast<std::size_t>(v.filetype.map.extent());
        offset = 0;
    }
    scratch_file scratch(mpi);
    scratch.make(&content.bytes);
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (!file.opened()) return;
    file.set(v);
    auto& in = mpi.incoming();
    running_access running(mpi, call, file);
    running.with_large_counts(mpi.at(forms()));
    running.begin(offset, in, mpi.count);
    mpi.expect(running.end()).count(0);
    set_rest_aside(mpi, in, 0);
    in.expect_untouched();
    file.close();
    scratch.expect(content);
}

ASSAY_TEST(io, end_shared, requirements{"io.status.end_of_file", "io.read.data"},
           over(only(accesses(),
                     [](data_access const& a) { return a.way == direction::read && a.where == positioning::shared; }),
                axis_use{&forms()}, communicators::of({"self"}), ints(), seventeen()),
           note{"a read with the shared file pointer finds less than it asked for"}, thread_safe{}) {
    numbers const content(mpi, mpi.elements + 5);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (!file.opened()) return;
    file.set(content.in_file());
    std::size_t first = 0;
    for (std::size_t const there : {mpi.elements, std::size_t{5}}) {
        auto& in = mpi.incoming();
        running_access running(mpi, mpi.at(accesses()), file);
        running.with_large_counts(mpi.at(forms()));
        running.begin(0, in, mpi.count);
        mpi.expect(running.end()).count(there);
        set_rest_aside(mpi, in, there);
        content.expect(in, first, there);
        first += there;
    }
}

ASSAY_TEST(io, sequential_end, requirements{"io.sequential.amount"},
           over(only(accesses(),
                     [](data_access const& a) { return a.way == direction::read && a.where == positioning::ordered; }),
                communicators::few_intra(), ints(), seventeen()),
           note{"a sequential file is read until it ends: the amount is what was asked for but for the last rank"},
           thread_safe{}) {
    std::size_t const short_by = 6;
    auto const bytes = mpi.map.size();
    auto const all = 2 * static_cast<std::size_t>(mpi.size) * mpi.elements - short_by;
    image content;
    view const stream{0, predefined("byte"), predefined("byte"), true};
    content.place(stream, 0, mpi.map, mpi.key(0, 0, 0, 0, 0), all, 0);
    scratch_file scratch(mpi);
    scratch.make(&content.bytes);
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
    if (!file.opened()) return;
    for (int round = 0; round < 2; ++round) {
        auto& in = mpi.incoming();
        running_access running(mpi, mpi.at(accesses()), file);
        running.begin(0, in, mpi.count);
        bool const last = round == 1 && mpi.rank == mpi.size - 1;
        auto const n = mpi.elements - (last ? short_by : 0);
        mpi.expect(running.end()).count(n);
        set_rest_aside(mpi, in, n);
        auto const first = static_cast<std::size_t>(round * mpi.size + mpi.rank) * mpi.elements;
        in.expect(segment{0, n, 0, content.bytes.data() + first * bytes}, fmt::format("of the file, round {}", round));
    }
    file.close();
    meet(mpi);
}

ASSAY_TEST(io, beyond_int, requirements{"io.large_count.beyond_int"},
           over(only(accesses(),
                     [](data_access const& a) {
                         return a.way == direction::read && !a.collective && a.where != positioning::shared;
                     }),
                communicators::of({"world", "self"})),
           needs_procedures({"MPI_File_read_c"}),
           note{"a read asks for 2^32 + 17 bytes of a file that has 100: memory that is never touched is not there"}) {
    constexpr MPI_Count wanted = (MPI_Count{1} << 32) + 17;
    constexpr std::size_t there = 100;
    std::vector<unsigned char> content(there);
    for (std::size_t i = 0; i < there; ++i) content[i] = static_cast<unsigned char>(3 * i + 1);
    scratch_file scratch(mpi);
    void* const memory = ::mmap(nullptr, static_cast<std::size_t>(wanted), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) mpi.unsupported("there is no address space for 4 GiB");
    scratch.make(&content);
    {
        auto const call = mpi.at(accesses());
        open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
        if (file.opened()) {
            auto status = poisoned_status();
            MPI_Request request = MPI_REQUEST_NULL;
            bool const at = call.where == positioning::explicit_offset;
            if (call.how == synchronism::nonblocking) {
                mpi.ok(at ? MPI_File_iread_at_c(file, 0, memory, wanted, MPI_BYTE, &request)
                          : MPI_File_iread_c(file, memory, wanted, MPI_BYTE, &request));
                mpi.ok(MPI_Wait(&request, &status));
            } else {
                mpi.ok(at ? MPI_File_read_at_c(file, 0, memory, wanted, MPI_BYTE, &status)
                          : MPI_File_read_c(file, memory, wanted, MPI_BYTE, &status));
            }
            mpi.expect(status).count(there, MPI_BYTE, 1);
            mpi.check(std::equal(content.begin(), content.end(), static_cast<unsigned char*>(memory)), finding::data,
                      "what was read is not what stands in the file");
        }
    }
    ::munmap(memory, static_cast<std::size_t>(wanted));
    meet(mpi);
}
