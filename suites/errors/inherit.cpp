// Which error handler a new communicator or file has (MPI-5.0 sections 9.3.1 and 14.7).
#include "suites/errors/object.hpp"

#include <array>
#include <fmt/format.h>
#include <unistd.h>

using namespace assay;

namespace {

enum class maker {
    dup,
    idup,
    dup_with_info,
    split,
    split_type,
    create,
    create_group,
    cart,
    graph,
    dist_graph,
    intercomm,
    merge
};
axis<maker> const makers("maker", {{{"dup", "MPI_Comm_dup"}, maker::dup},
                                   {{"idup", "MPI_Comm_idup"}, maker::idup},
                                   {{"dup_with_info", "MPI_Comm_dup_with_info"}, maker::dup_with_info},
                                   {{"split", "MPI_Comm_split"}, maker::split},
                                   {{"split_type", "MPI_Comm_split_type"}, maker::split_type},
                                   {{"create", "MPI_Comm_create"}, maker::create},
                                   {{"create_group", "MPI_Comm_create_group"}, maker::create_group},
                                   {{"cart", "MPI_Cart_create"}, maker::cart},
                                   {{"graph", "MPI_Graph_create"}, maker::graph},
                                   {{"dist_graph", "MPI_Dist_graph_create_adjacent"}, maker::dist_graph},
                                   {{"intercomm", "MPI_Intercomm_create"}, maker::intercomm},
                                   {{"merge", "MPI_Intercomm_merge"}, maker::merge}});

bool needs_two(maker how) { return how == maker::intercomm || how == maker::merge; }

// Section 7.4.2 says it of duplicates and section 7.6.2 of intercommunicators; of the others only an advice to users does.
requirement rests_on(maker how) {
    bool const said = how == maker::dup || how == maker::idup || how == maker::dup_with_info || how == maker::intercomm;
    return said ? requirement("errors.inherit") : requirement("errors.inherit.advised");
}

// An intercommunicator of the first process and all others, whose `half` of `parent` has the given handler.
MPI_Comm make_inter(test_run& mpi, MPI_Comm parent, MPI_Errhandler handler, MPI_Comm& half) {
    MPI_Comm made = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_split(parent, mpi.rank == 0 ? 0 : 1, mpi.rank, &half));
    mpi.ok(MPI_Comm_set_errhandler(half, handler));
    mpi.ok(MPI_Intercomm_create(half, 0, parent, mpi.rank == 0 ? 1 : 0, mpi.tag(), &made));
    return made;
}

} // namespace

ASSAY_TEST(errors, inherit, requirements{"errors.inherit", "errors.inherit.advised"},
           over(axis_use{&makers}, communicators::world()),
           where(makers, [](job const& j, maker how) { return !needs_two(how) || j.np > 1; })) {
    MPI_Comm parent = MPI_COMM_NULL, made = MPI_COMM_NULL, half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &parent));
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    mpi.ok(errors::create_for_comm(1, &handler));
    mpi.ok(MPI_Comm_set_errhandler(parent, handler));
    int const size = mpi.size, right = (mpi.rank + 1) % size, left = (mpi.rank + size - 1) % size;
    switch (mpi.at(makers)) {
    case maker::dup: mpi.ok(MPI_Comm_dup(parent, &made)); break;
    case maker::idup: {
        MPI_Request request = MPI_REQUEST_NULL;
        mpi.ok(MPI_Comm_idup(parent, &made, &request));
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    }
    case maker::dup_with_info: mpi.ok(MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &made)); break;
    case maker::split: mpi.ok(MPI_Comm_split(parent, 0, -mpi.rank, &made)); break;
    case maker::split_type: mpi.ok(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made)); break;
    case maker::create:
    case maker::create_group: {
        MPI_Group group = MPI_GROUP_NULL;
        mpi.ok(MPI_Comm_group(parent, &group));
        if (mpi.at(makers) == maker::create) mpi.ok(MPI_Comm_create(parent, group, &made));
        else mpi.ok(MPI_Comm_create_group(parent, group, mpi.tag(), &made));
        mpi.ok(MPI_Group_free(&group));
        break;
    }
    case maker::cart: {
        int const period = 1;
        mpi.ok(MPI_Cart_create(parent, 1, &size, &period, 0, &made));
        break;
    }
    case maker::graph: {
        // Each process has one neighbour: a ring.
        std::vector<int> index(static_cast<std::size_t>(size)), edges(index);
        for (int i = 0; i < size; ++i) {
            index[static_cast<std::size_t>(i)] = i + 1;
            edges[static_cast<std::size_t>(i)] = (i + 1) % size;
        }
        mpi.ok(MPI_Graph_create(parent, size, index.data(), edges.data(), 0, &made));
        break;
    }
    case maker::dist_graph:
        mpi.ok(MPI_Dist_graph_create_adjacent(parent, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                              MPI_INFO_NULL, 0, &made));
        break;
    case maker::intercomm: made = make_inter(mpi, parent, handler, half); break;
    case maker::merge:
        inter = make_inter(mpi, parent, handler, half);
        mpi.ok(MPI_Comm_set_errhandler(inter, handler));
        mpi.ok(MPI_Intercomm_merge(inter, mpi.rank == 0 ? 0 : 1, &made));
        break;
    }
    mpi.ok(MPI_Errhandler_free(&handler));
    // A call of a fatal handler would end the process: look first.
    MPI_Errhandler has = MPI_ERRHANDLER_NULL;
    if (mpi.check(made != MPI_COMM_NULL, finding::value, "no communicator was made") &&
        mpi.ok(MPI_Comm_get_errhandler(made, &has)) &&
        mpi.check(rests_on(mpi.at(makers)), has != MPI_ERRORS_ARE_FATAL && has != MPI_ERRORS_RETURN, finding::value,
                  fmt::format("the new communicator has {}, not the handler of its parent",
                              has == MPI_ERRORS_RETURN ? "MPI_ERRORS_RETURN" : "MPI_ERRORS_ARE_FATAL"))) {
        mpi.ok(MPI_Errhandler_free(&has));
        errors::expect_comm(made);
        mpi.ok(MPI_Comm_call_errhandler(made, MPI_ERR_OTHER));
        errors::expect_one_call(mpi, 1, MPI_ERR_OTHER, "on the new communicator");
        // From now on each has its own.
        mpi.ok(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
        mpi.ok(MPI_Comm_call_errhandler(made, MPI_ERR_OTHER));
        errors::expect_one_call(mpi, 1, MPI_ERR_OTHER, "when the parent has got another handler");
    }
    for (auto* comm : {&made, &inter, &half, &parent})
        if (*comm != MPI_COMM_NULL) mpi.ok(MPI_Comm_free(comm));
}

// The default of files is that of MPI_FILE_NULL, and can be changed there.
ASSAY_TEST(errors, file_default, requirements{"errors.file_null", "errors.file_null.new_files"},
           over(communicators::of({"self"})), needs_procedures({"MPI_File_open"})) {
    MPI_Errhandler got = MPI_ERRHANDLER_NULL, handler = MPI_ERRHANDLER_NULL;
    mpi.ok(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    mpi.check(got == MPI_ERRORS_RETURN, finding::value, "MPI_FILE_NULL does not begin with MPI_ERRORS_RETURN");
    auto const path = fmt::format("{}/default-{}", mpi.the_job.scratch, getpid());
    errors::object const helper(mpi, errors::kind::file);
    mpi.ok(helper.create(0, &handler));
    mpi.ok(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    mpi.ok(MPI_Errhandler_free(&handler));
    errors::calls().clear();
    MPI_File file = MPI_FILE_NULL;
    // A file that is not there: the error belongs to no file, so to MPI_FILE_NULL.
    MPI_File_open(MPI_COMM_SELF, (path + "-missing").c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    mpi.check(errors::calls().size() == 1, finding::value,
              fmt::format("MPI_File_open of a file that does not exist called {} handlers of MPI_FILE_NULL, expected 1",
                          errors::calls().size()));
    errors::calls().clear();
    if (mpi.ok(MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &file))) {
        mpi.ok(MPI_File_call_errhandler(file, MPI_ERR_IO));
        mpi.check(errors::calls().size() == 1 && errors::calls().front().code == MPI_ERR_IO, finding::value,
                  fmt::format("a new file called {} handlers, expected that of MPI_FILE_NULL", errors::calls().size()));
        mpi.ok(MPI_File_close(&file));
    }
    mpi.ok(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    errors::calls().clear();
}

// A file that gets another handler takes nothing from MPI_FILE_NULL.
ASSAY_TEST(errors, file_default_stays, requirements{"errors.file_null"}, over(communicators::of({"self"})),
           needs_procedures({"MPI_File_open"})) {
    auto const path = fmt::format("{}/stays-{}", mpi.the_job.scratch, getpid());
    errors::object const helper(mpi, errors::kind::file);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    mpi.ok(helper.create(0, &handler));
    mpi.ok(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    mpi.ok(MPI_Errhandler_free(&handler));
    MPI_File file = MPI_FILE_NULL;
    if (mpi.ok(MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &file))) {
        mpi.ok(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
        mpi.ok(MPI_File_close(&file));
    }
    errors::calls().clear();
    MPI_File_delete((path + "-missing").c_str(), MPI_INFO_NULL); // belongs to no file, so to MPI_FILE_NULL
    mpi.check(
        errors::calls().size() == 1, finding::value,
        fmt::format("MPI_FILE_NULL called {} handlers, expected the one that it was given", errors::calls().size()));
    mpi.ok(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    errors::calls().clear();
}
