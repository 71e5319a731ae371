// Keller: "IO w/ Info" — hints may be ignored, yet must not change what is written and read (MPI-5.0 section 14.2.8).
#include "suites/common/info.hpp"
#include "suites/io/access.hpp"

#include <fmt/format.h>
#include <map>

using namespace assay;
using namespace assay::io;

namespace {
using hints = std::map<std::string, std::string>;
axis<hints> const axis_of_hints(
    "hints",
    {{value_info("collective_buffering", "reserved keys: small collective buffers on one node").in_thesis("IO w/ Info"),
      {{"collective_buffering", "true"}, {"cb_block_size", "512"}, {"cb_buffer_size", "512"}, {"cb_nodes", "1"}}},
     {{"access_style", "reserved keys: access_style and file_perm"},
      {{"access_style", "write_once,random"}, {"file_perm", "0600"}}},
     {{"unknown", "keys that no library knows"}, {{"assay_no_such_hint", "17"}}},
     {{"romio_collective", "collective buffering and data sieving always"},
      {{"romio_cb_write", "enable"},
       {"romio_cb_read", "enable"},
       {"romio_ds_write", "enable"},
       {"romio_ds_read", "enable"},
       {"ind_wr_buffer_size", "512"},
       {"ind_rd_buffer_size", "512"}}},
     {{"romio_independent", "collective buffering and data sieving never"},
      {{"romio_cb_write", "disable"},
       {"romio_cb_read", "disable"},
       {"romio_ds_write", "disable"},
       {"romio_ds_read", "disable"}}}});

enum class given { open, set_view, set_info };
axis<given> const givens("given", {{{"open", "to MPI_File_open"}, given::open},
                                   {{"set_view", "to MPI_File_set_view"}, given::set_view},
                                   {{"set_info", "to MPI_File_set_info"}, given::set_info}});

MPI_Info make_info(test_run& mpi, hints const& wanted) {
    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_Info_create(&info));
    for (auto const& [key, value] : wanted) mpi.ok(MPI_Info_set(info, key.c_str(), value.c_str()));
    return info;
}

hints hints_of(test_run& mpi, MPI_File file) {
    hints found;
    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_File_get_info(file, &info));
    if (!mpi.check(info != MPI_INFO_NULL, finding::info, "MPI_File_get_info must give an info object, if an empty one"))
        return found;
    for (auto const& key : keys_of(mpi, info)) {
        auto const value = value_of(mpi, info, key.c_str());
        mpi.check(value.has_value(), finding::info, fmt::format("the info object has no value of its own key {}", key));
        if (value) found[key] = *value;
    }
    mpi.ok(MPI_Info_free(&info));
    return found;
}
} // namespace

ASSAY_TEST(io, info,
           requirements{"io.info.set", "io.info.get", "io.info.keeps_others", "io.info.harmless", "io.free.info"},
           over(axis_use{&axis_of_hints}, axis_use{&givens},
                only(views(), [](view_kind v) { return v != view_kind::bytes; }), thesis_comms(), thesis_types(),
                few_counts()),
           etypes_only(), fits_file(2), thread_safe{}) {
    divided_file const all(mpi, mpi.at(views()));
    auto const how = mpi.at(givens);
    auto const v = all.view_of(mpi.rank);
    scratch_file scratch(mpi);
    auto const start = all.blank();
    scratch.make(&start.bytes);
    auto info = make_info(mpi, mpi.at(axis_of_hints)), other = make_info(mpi, {{"assay_no_such_hint", "1"}});
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR, how == given::open ? info : MPI_INFO_NULL);
    if (file.opened()) {
        file.set(v, "native", how == given::set_view ? info : MPI_INFO_NULL);
        if (how == given::set_info) mpi.ok(MPI_File_set_info(file, info));
        // Section 14.6.7: the object may be freed once the call is complete.
        mpi.ok(MPI_Info_free(&info));
        auto const before = hints_of(mpi, file);
        mpi.ok(MPI_File_set_info(file, other));
        auto const after = hints_of(mpi, file);
        for (auto const& [hint, value] : before) {
            if (hint == "assay_no_such_hint") continue;
            auto const now = after.find(hint);
            mpi.check(now != after.end() && now->second == value, finding::info,
                      fmt::format("MPI_File_set_info without the hint {} changed it from \"{}\" to \"{}\"", hint, value,
                                  now == after.end() ? "(none)" : now->second));
        }
        auto &out = mpi.incoming(), &in = mpi.incoming();
        out.fill(all.key(mpi.rank));
        auto status = poisoned_status();
        auto const offset = all.first(mpi.rank);
        mpi.ok(MPI_File_write_at_all(file, offset, out, mpi.count, mpi.type, &status));
        mpi.expect(status).count(mpi.elements);
        mpi.ok(MPI_File_read_at_all(file, offset, in, mpi.count, mpi.type, &status)); // what this rank wrote itself
        mpi.expect(status).count(mpi.elements);
        file.close();
        out.expect_unchanged();
        in.expect(all.key(mpi.rank), mpi.elements, "of the file");
    } else {
        mpi.ok(MPI_Info_free(&info));
    }
    mpi.ok(MPI_Info_free(&other));
    scratch.expect(all.in(start));
}
