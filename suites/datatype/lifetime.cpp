// Commit, free, duplicate (MPI-5.0 sections 5.1.9 and 5.1.10).
#include "suites/datatype/recipe.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;
using namespace assay::types;

namespace {

// n elements through MPI_COMM_SELF from one datatype into another of the same map.
void carry(test_run& mpi, layout const& map, MPI_Datatype from, MPI_Datatype to, int serial, std::string const& how) {
    auto &out = mpi.bytes(map, 2), &in = mpi.bytes(map, 2);
    auto const key = mpi.key(0, 0, 0, 0, serial);
    out.fill(key);
    in.poison();
    mpi.ok(MPI_Sendrecv(out, 2, from, 0, mpi.tag(), in, 2, to, 0, mpi.tag(), MPI_COMM_SELF, MPI_STATUS_IGNORE));
    in.expect(key, 2, how);
}

// What is freed while a receive is on its way.
enum class use { irecv, isend, persistent };
axis<use> const uses("pending", {{{"irecv", "MPI_Irecv"}, use::irecv},
                                 {{"isend", "MPI_Isend"}, use::isend},
                                 {{"persistent", "MPI_Recv_init, started"}, use::persistent}});

} // namespace

ASSAY_TEST(datatype, commit, requirements{"datatype.commit", "datatype.commit.again"},
           over(receivable_recipes(), axis_use{&bindings()}), has_binding(), thread_safe{}) {
    auto const& how = mpi.at(recipes());
    made_type type(mpi, how, mpi.at(bindings()), false);
    if (!type) return;
    MPI_Datatype handle = type;
    MPI_Datatype const before = handle;
    for (int round = 0; round < 2; ++round) { // the second commit is a no-op
        mpi.ok(MPI_Type_commit(&handle));
        mpi.check(handle == before, finding::value,
                  fmt::format("MPI_Type_commit number {} changed the handle", round + 1));
        carry(mpi, how.map, type, type, round, round == 0 ? "after the first commit" : "after the second commit");
    }
    expect_bounds(mpi, type, query::plain, how.map, "the committed datatype");
}

ASSAY_TEST(datatype, commit_predefined, requirements{"datatype.commit.predefined"},
           over(only(type_axis(), [](datatype const& t) { return t.predefined; })), thread_safe{}) {
    MPI_Datatype type = mpi.type;
    mpi.ok(MPI_Type_commit(&type));
    mpi.check(type == mpi.type, finding::value, "MPI_Type_commit changed the handle of a predefined datatype");
    carry(mpi, mpi.map, mpi.type, type, 0, "after the commit");
}

ASSAY_TEST(datatype, free_pending, requirements{"datatype.free", "datatype.free.pending"},
           over(receivable_recipes(), axis_use{&uses}), thread_safe{}) {
    auto const& how = mpi.at(recipes());
    MPI_Datatype mine = MPI_DATATYPE_NULL;
    made_type other(mpi, how, binding::small);
    if (!other || !mpi.ok(how.make(other.old(), &mine)) || !mpi.ok(MPI_Type_commit(&mine))) return;
    auto &out = mpi.bytes(how.map, 2), &in = mpi.bytes(how.map, 2);
    auto const key = mpi.key(0, 0, 0, 0, 0);
    out.fill(key);
    in.poison();
    auto const use_it = mpi.at(uses);
    MPI_Request request = MPI_REQUEST_NULL;
    auto status = poisoned_status();
    if (use_it == use::isend) mpi.ok(MPI_Isend(out, 2, mine, 0, mpi.tag(), MPI_COMM_SELF, &request));
    else if (use_it == use::irecv) mpi.ok(MPI_Irecv(in, 2, mine, 0, mpi.tag(), MPI_COMM_SELF, &request));
    else {
        mpi.ok(MPI_Recv_init(in, 2, mine, 0, mpi.tag(), MPI_COMM_SELF, &request));
        mpi.ok(MPI_Start(&request));
    }
    mpi.ok(MPI_Type_free(&mine));
    mpi.check(mine == MPI_DATATYPE_NULL, finding::value,
              "the handle of a freed datatype must have become MPI_DATATYPE_NULL");
    // A library that forgets the pending operation may give the memory of the datatype to these.
    std::vector<MPI_Datatype> others(8, MPI_DATATYPE_NULL);
    for (auto& t : others)
        if (mpi.ok(MPI_Type_contiguous(1, MPI_CHAR, &t))) mpi.ok(MPI_Type_commit(&t));
    if (use_it == use::isend) mpi.ok(MPI_Recv(in, 2, other, 0, mpi.tag(), MPI_COMM_SELF, &status));
    else mpi.ok(MPI_Send(out, 2, other, 0, mpi.tag(), MPI_COMM_SELF));
    mpi.ok(MPI_Wait(&request, use_it == use::isend ? MPI_STATUS_IGNORE : &status));
    if (use_it == use::persistent) mpi.ok(MPI_Request_free(&request));
    mpi.expect(status).count(2, other, how.map.size());
    in.expect(key, 2, "by an operation whose datatype was freed");
    for (auto& t : others) mpi.ok(MPI_Type_free(&t));
}

ASSAY_TEST(datatype, free_old, requirements{"datatype.free.derived", "datatype.by_value"},
           over(receivable_recipes(), axis_use{&bindings()}), has_binding(), thread_safe{}) {
    auto const& how = mpi.at(recipes());
    // Every datatype argument is derived here, and freed as soon as the new datatype is there.
    handles old;
    for (auto const& o : how.old) {
        MPI_Datatype const plain = o.make();
        MPI_Datatype copy = plain;
        if (o.is_predefined) mpi.ok(MPI_Type_contiguous(1, plain, &copy));
        old.push_back(copy);
    }
    MPI_Datatype made = MPI_DATATYPE_NULL;
    bool const there = mpi.ok((mpi.at(bindings()) == binding::large ? how.make_c : how.make)(old, &made));
    for (auto& o : old) {
        mpi.ok(MPI_Type_free(&o));
        mpi.check(o == MPI_DATATYPE_NULL, finding::value,
                  "the handle of a freed datatype must have become MPI_DATATYPE_NULL");
    }
    if (!there) return;
    own_type type(made);
    for (int i = 0; i < 8; ++i) { // more datatypes, where the freed ones were
        MPI_Datatype more = MPI_DATATYPE_NULL;
        if (mpi.ok(MPI_Type_vector(2, 1, 5 + i, MPI_CHAR, &more))) mpi.ok(MPI_Type_free(&more));
    }
    mpi.ok(MPI_Type_commit(type.address()));
    expect_bounds(mpi, type, query::plain, how.map, "the datatype");
    own_type const tidy(mpi, how.tidy);
    auto& out = mpi.bytes(how.tidy.map, 2);
    auto& in = mpi.bytes(how.map, 2);
    auto const key = mpi.key(0, 0, 0, 0, 0);
    out.fill(key);
    in.poison();
    mpi.ok(MPI_Sendrecv(out, 2, tidy, 0, mpi.tag(), in, 2, type, 0, mpi.tag(), MPI_COMM_SELF, MPI_STATUS_IGNORE));
    in.expect(key, 2, "by a datatype whose arguments were freed");
}

ASSAY_TEST(datatype, dup, requirements{"datatype.dup", "datatype.dup.committed", "datatype.dup.independent"},
           over(receivable_recipes(), axis_use{&bindings()}), has_binding(), thread_safe{}) {
    auto const& how = mpi.at(recipes());
    MPI_Datatype copy = MPI_DATATYPE_NULL, second = MPI_DATATYPE_NULL;
    {
        made_type type(mpi, how, mpi.at(bindings()));
        if (!type || !mpi.ok(MPI_Type_dup(type, &copy))) return;
        mpi.check(copy != MPI_Datatype(type), finding::value, "the duplicate has the handle of its original");
        expect_bounds(mpi, copy, query::plain, how.map, "the duplicate");
        carry(mpi, how.map, copy, type, 0, "sent as the duplicate, which is committed as its original is");
        carry(mpi, how.map, type, copy, 1, "received as the duplicate");
        mpi.ok(MPI_Type_dup(copy, &second));
        mpi.ok(MPI_Type_free(&second));
        expect_bounds(mpi, type, query::plain, how.map, "the original, after a duplicate was freed");
    }
    carry(mpi, how.map, copy, copy, 2, "by the duplicate, after the original was freed");
    mpi.ok(MPI_Type_free(&copy));
}
