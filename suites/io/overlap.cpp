// Views that show bytes more than once, to one process or to several (MPI-5.0 sections 14.1.1 and 14.3). Such files may only be read.
#include "suites/io/numbers.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
enum class repeats { twice, in_turns, after };
axis<repeats> const filetypes("filetype", {{{"twice", "etypes 0, 0, 1"}, repeats::twice},
                                           {{"in_turns", "etypes 0, 1, 1, 2, 2, 3"}, repeats::in_turns},
                                           {{"after", "etypes 0 to 3 and 3 to 6, of 9"}, repeats::after}});

// Which etype each etype of the filetype is, and its extent in etypes.
std::pair<std::vector<int>, int> shape(repeats how) {
    if (how == repeats::twice) return {{0, 0, 1}, 2};
    if (how == repeats::in_turns) return {{0, 1, 1, 2, 2, 3}, 4};
    return {{0, 1, 2, 3, 3, 4, 5, 6}, 9};
}
axis_use plain_reads() {
    return only(accesses(), [](data_access const& a) { return a.way == direction::read && !a.uses_shared_pointer(); });
}
} // namespace

ASSAY_TEST(io, view_repeated, requirements{"io.view.repeated_bytes", "io.read.data", "io.status.count"},
           over(axis_use{&filetypes}, plain_reads(), communicators::few_intra(), ints(), seventeen()),
           note{"the displacements of a filetype need not be distinct: the same bytes are read once for each"},
           thread_safe{}) {
    auto const [places, extent] = shape(mpi.at(filetypes));
    auto const size = mpi.map.size();
    numbers const content(mpi, static_cast<std::size_t>(extent) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    std::vector<MPI_Aint> bytes;
    for (int const place : places) bytes.push_back(static_cast<MPI_Aint>(place) * static_cast<MPI_Aint>(size));
    MPI_Datatype pieces = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_create_hindexed_block(static_cast<int>(bytes.size()), 1, bytes.data(), mpi.type, &pieces));
    mpi.ok(MPI_Type_create_resized(pieces, 0, static_cast<MPI_Aint>(extent) * static_cast<MPI_Aint>(size), &filetype));
    mpi.ok(MPI_Type_commit(&filetype));
    mpi.ok(MPI_Type_free(&pieces));
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (file.opened() && mpi.ok(MPI_File_set_view(file, header, mpi.type, filetype, "native", MPI_INFO_NULL))) {
        std::vector<unsigned char> wanted;
        for (std::size_t i = 0; i < mpi.elements; ++i) {
            auto const tile = i / places.size(), within = static_cast<std::size_t>(places[i % places.size()]);
            auto const from = header + (tile * static_cast<std::size_t>(extent) + within) * size;
            wanted.insert(wanted.end(), content.content().begin() + static_cast<std::ptrdiff_t>(from),
                          content.content().begin() + static_cast<std::ptrdiff_t>(from + size));
        }
        auto& data = mpi.incoming();
        running_access running(mpi, mpi.at(accesses()), file);
        running.begin(0, data, mpi.count);
        mpi.expect(running.end()).count(mpi.elements);
        data.expect(segment{0, mpi.elements, 0, wanted.data()}, "of the bytes that the filetype shows");
    }
    mpi.ok(MPI_Type_free(&filetype));
    file.close();
    meet(mpi);
}

ASSAY_TEST(io, view_shared, requirements{"io.view.shared_bytes", "io.read.data"},
           over(plain_reads(), axis_use{&forms()}, communicators::few_intra(), ints(), seventeen()),
           note{"the filetypes of different processes overlap: each reads from the etype of its rank on, two of three"},
           thread_safe{}) {
    numbers const content(mpi, 3 * mpi.elements + static_cast<std::size_t>(mpi.size));
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    auto const extent = mpi.map.extent();
    view const v{header + static_cast<std::size_t>(mpi.rank * extent), type_of_case(mpi),
                 resized(0, 3 * extent, indexed_block(1, {0, 1}, type_of_case(mpi))), false};
    open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
    if (!file.opened()) return;
    file.set(v);
    std::vector<unsigned char> wanted;
    for (std::size_t k = 0; k < mpi.elements * mpi.map.size(); ++k) wanted.push_back(content.content()[v.position(k)]);
    auto& data = mpi.incoming();
    running_access running(mpi, mpi.at(accesses()), file);
    running.with_large_counts(mpi.at(forms()));
    running.begin(0, data, mpi.count);
    mpi.expect(running.end()).count(mpi.elements);
    data.expect(segment{0, mpi.elements, 0, wanted.data()}, "of the view of this rank");
    file.close();
    meet(mpi);
}
