// MPI_File_get_view (MPI-5.0 section 14.3): the view that it gives is the one that was set, and can be used in its place.
#include "suites/io/file.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

namespace {
// A datatype that MPI_File_get_view made, freed unless it is predefined.
struct given_type {
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    void release(test_run& mpi) {
        int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
        if (handle == MPI_DATATYPE_NULL) return;
        mpi.ok(MPI_Type_get_envelope(handle, &integers, &addresses, &types, &combiner));
        if (combiner != MPI_COMBINER_NAMED) mpi.ok(MPI_Type_free(&handle));
    }
    void expect(test_run& mpi, layout const& map, char const* which) const {
        MPI_Aint lb = -7, extent = -7, true_lb = -7, true_extent = -7;
        int size = -7;
        mpi.ok(MPI_Type_get_extent(handle, &lb, &extent));
        mpi.ok(MPI_Type_get_true_extent(handle, &true_lb, &true_extent));
        mpi.ok(MPI_Type_size(handle, &size));
        mpi.check(lb == map.lb() && extent == map.extent() && true_lb == map.true_lb() &&
                      true_extent == map.true_extent() && size == static_cast<int>(map.size()),
                  finding::value,
                  fmt::format("the {} of MPI_File_get_view has lb {}, extent {}, true lb {}, true extent {}, size {}; "
                              "expected {}, {}, {}, {}, {}",
                              which, lb, extent, true_lb, true_extent, size, map.lb(), map.extent(), map.true_lb(),
                              map.true_extent(), map.size()));
    }
};
} // namespace

ASSAY_TEST(io, get_view, requirements{"io.get_view", "io.view.resets_pointers", "io.get_view.committed"},
           over(only(views(), [](view_kind v) { return v != view_kind::bytes; }), thesis_comms(), thesis_types(),
                few_counts()),
           etypes_only(), fits_file(2), thread_safe{}) {
    divided_file const all(mpi, mpi.at(views()));
    auto const v = all.view_of(mpi.rank);
    scratch_file scratch(mpi);
    auto const start = all.blank();
    scratch.make(&start.bytes);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    file.set(v);
    MPI_Offset displacement = -7;
    given_type etype, filetype;
    char representation[MPI_MAX_DATAREP_STRING + 1] = "";
    mpi.ok(MPI_File_get_view(file, &displacement, &etype.handle, &filetype.handle, representation));
    mpi.check(displacement == static_cast<MPI_Offset>(v.displacement), finding::value,
              fmt::format("MPI_File_get_view gives displacement {}, expected {}", displacement, v.displacement));
    mpi.check(std::string(representation) == "native", finding::value,
              fmt::format("MPI_File_get_view gives representation \"{}\", expected \"native\"", representation));
    etype.expect(mpi, v.etype.map, "etype");
    filetype.expect(mpi, v.filetype.map, "filetype");
    // Another view in between, so that the one that is set again counts. Both datatypes are committed.
    mpi.ok(MPI_File_seek(file, 1, MPI_SEEK_SET));
    mpi.ok(MPI_File_set_view(file, 3, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    file.expect_position(0);
    mpi.ok(MPI_File_set_view(file, displacement, etype.handle, filetype.handle, representation, MPI_INFO_NULL));
    etype.release(mpi);
    filetype.release(mpi);
    auto& out = mpi.incoming();
    out.fill(all.key(mpi.rank));
    auto status = poisoned_status();
    mpi.ok(MPI_File_write_at(file, all.first(mpi.rank), out, mpi.count, mpi.type, &status));
    mpi.expect(status).count(mpi.elements);
    file.close();
    out.expect_unchanged();
    scratch.expect(all.in(start));
}

namespace {
axis<char const*> const representations("datarep", {{{"native", "native"}, "native"},
                                                    {{"internal", "internal"}, "internal"},
                                                    {{"external32", "external32"}, "external32"}});
} // namespace

ASSAY_TEST(io, get_datarep, requirements{"io.get_view"}, over(axis_use{&representations}, communicators::few_intra()),
           thread_safe{}) {
    scratch_file scratch(mpi);
    std::vector<unsigned char> const content(100, poison_byte);
    scratch.make(&content);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened() || !file.set({header, predefined("int"), predefined("int"), false}, mpi.at(representations)))
        return;
    MPI_Offset displacement = -7;
    given_type etype, filetype;
    char representation[MPI_MAX_DATAREP_STRING + 1] = "";
    mpi.ok(MPI_File_get_view(file, &displacement, &etype.handle, &filetype.handle, representation));
    mpi.check(displacement == static_cast<MPI_Offset>(header) && std::string(representation) == mpi.at(representations),
              finding::value,
              fmt::format("MPI_File_get_view gives displacement {} and representation \"{}\", expected {} and \"{}\"",
                          displacement, representation, header, mpi.at(representations)));
    etype.release(mpi);
    filetype.release(mpi);
    file.close();
    meet(mpi);
}
