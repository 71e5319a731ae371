// Keller: "Read Convert" — data representations (MPI-5.0 section 14.5). What a file holds in "native" and "external32" is
// known to us (table 13 of section 14.5.2); "internal" is read back only.
#include "suites/io/file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace assay;
using namespace assay::io;

namespace {

enum class representation { native, internal, external32 };
axis<representation> const datareps("datarep",
                                    {{value_info("native", "native").in_thesis("Read Convert"), representation::native},
                                     {{"internal", "internal"}, representation::internal},
                                     {{"external32", "external32"}, representation::external32}});
char const* name_of(representation r) {
    return r == representation::native ? "native" : r == representation::internal ? "internal" : "external32";
}
enum class maker { mpi, outside };
axis<maker> const makers("written_by", {{{"mpi", "MPI_File_write_at"}, maker::mpi},
                                        {{"outside", "POSIX, from our own definition"}, maker::outside}});

// Bytes that are turned around together, for types whose length in external32 is that in memory and whose values do not
// change with their order of bytes; 0 for others (long, long double, wchar and pairs with them).
std::size_t turned(basic_type const& type) {
    static std::map<std::string, std::size_t> const parts = {{"c_float_complex", 4},
                                                             {"c_double_complex", 8},
                                                             {"c_complex", 4},
                                                             {"cxx_float_complex", 4},
                                                             {"cxx_double_complex", 8}};
    for (auto const* word : {"long_double", "wchar", "bool", "logical"})
        if (type.name.find(word) != std::string::npos) return 0;
    if (type.name == "long" || type.name == "unsigned_long") return 0;
    auto const found = parts.find(type.name);
    if (found != parts.end()) return found->second;
    return type.name.find("complex") == std::string::npos && type.significant == type.size ? type.size : 0;
}

// One run of one basic type: table 13 gives its length, and there are no gaps that scaling would change.
bool converted_by_table(layout const& map) {
    return map.runs().size() == 1 && turned(*map.runs()[0].type) > 0 &&
           static_cast<std::size_t>(map.extent()) == map.size();
}

std::vector<unsigned char> big_endian(std::vector<unsigned char> bytes, std::size_t part) {
    if (std::endian::native == std::endian::little)
        for (std::size_t at = 0; at + part <= bytes.size(); at += part)
            std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         bytes.begin() + static_cast<std::ptrdiff_t>(at + part));
    return bytes;
}

} // namespace

ASSAY_TEST(io, datarep,
           requirements{"io.datarep.native", "io.datarep.internal", "io.datarep.external32", "io.datarep.type_extent"},
           over(axis_use{&datareps}, axis_use{&makers}, thesis_comms(), datatypes::all(), few_counts()), fits_file(2),
           etypes_only(),
           where(datareps, makers,
                 [](representation r, maker m) { return r != representation::internal || m == maker::mpi; }),
           where(datareps, type_axis(),
                 [](representation r, datatype const& t) {
                     return r != representation::external32 || converted_by_table(t.map);
                 }),
           thread_safe{}) {
    auto const how = mpi.at(datareps);
    bool const by_mpi = mpi.at(makers) == maker::mpi;
    auto const key = [&](int rank) { return mpi.key(0, rank, 0, rank, 0); };
    auto const v = make_view(mpi, how == representation::external32 ? view_kind::type : view_kind::hole, mpi.rank);
    image expected = [&] {
        image made(header, false);
        if (how != representation::external32) {
            for (int r = 0; r < mpi.size; ++r)
                made.place(v, static_cast<std::size_t>(r) * mpi.elements, mpi.map, key(r), mpi.elements, r);
        } else if (mpi.elements > 0) {
            auto const part = turned(*mpi.map.runs()[0].type);
            for (int r = 0; r < mpi.size; ++r) {
                std::vector<unsigned char> data;
                buffer::packed(mpi.map, key(r), mpi.elements, data);
                auto const at = header + static_cast<std::size_t>(r) * data.size();
                made.place(at, big_endian(std::move(data), part), r);
            }
        }
        return made;
    }();
    int const next = (mpi.rank + 1) % mpi.size;
    std::vector<unsigned char> const first(header, poison_byte);
    scratch_file scratch(mpi);
    scratch.make(by_mpi ? &first : &expected.bytes);
    auto const set_view = [&](open_file& file) {
        file.set(v, name_of(how));
        MPI_Aint extent = -7;
        mpi.ok(MPI_File_get_type_extent(file, mpi.type, &extent));
        if (how != representation::internal)
            mpi.check(extent == mpi.map.extent(), finding::value,
                      fmt::format("MPI_File_get_type_extent gives {}, expected {}", extent, mpi.map.extent()));
    };
    auto& out = mpi.incoming();
    out.fill(key(mpi.rank));
    auto status = poisoned_status();
    if (by_mpi) {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        set_view(file);
        mpi.ok(MPI_File_write_at_all(file, mpi.rank * static_cast<MPI_Offset>(mpi.elements), out, mpi.count, mpi.type,
                                     &status));
        mpi.expect(status).count(mpi.elements);
    }
    meet(mpi);
    auto& in = mpi.incoming();
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDONLY);
        if (!file.opened()) return;
        set_view(file);
        mpi.ok(
            MPI_File_read_at_all(file, next * static_cast<MPI_Offset>(mpi.elements), in, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
    }
    out.expect_unchanged();
    in.expect(key(next), mpi.elements, fmt::format("of the piece of rank {}", next));
    if (how == representation::internal) meet(mpi);
    else scratch.expect(expected);
}
