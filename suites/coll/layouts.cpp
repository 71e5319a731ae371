// Processes that describe their blocks in different ways: only the type signature has to be the same (MPI-5.0 sections 6.1,
// 6.4 to 6.8).
#include "suites/coll/collective.hpp"

#include <array>

using namespace assay;
using namespace assay::coll;

namespace {

// One way to describe 6·m elements of the case's datatype.
class shape {
public:
    static constexpr int ways = 5;

    shape(test_run& mpi, int way) : type(mpi.type), mpi_(mpi) {
        auto const& one = mpi.map;
        auto const m = mpi.elements;
        switch (way % ways) {
        case 0: // elements side by side
            map = one;
            count = 6 * m;
            return;
        case 1: // pairs with gaps
            map = layout::vector(3, 2, 3, one);
            count = m;
            mpi.ok(MPI_Type_vector(3, 2, 3, mpi.type, &type));
            break;
        case 2: { // backwards in memory
            std::vector<int> const lengths(6, 1), places{5, 4, 3, 2, 1, 0};
            map = layout::indexed(lengths, places, one);
            count = m;
            mpi.ok(MPI_Type_indexed(6, lengths.data(), places.data(), mpi.type, &type));
            break;
        }
        case 3: // all as one
            map = layout::contiguous(6 * m, one);
            count = m == 0 ? 0 : 1;
            mpi.ok(MPI_Type_contiguous(static_cast<int>(6 * m), mpi.type, &type));
            break;
        default: { // two and one
            std::vector<int> const lengths{2, 1}, places{0, 3};
            map = layout::indexed(lengths, places, one);
            count = 2 * m;
            mpi.ok(MPI_Type_indexed(2, lengths.data(), places.data(), mpi.type, &type));
        }
        }
        made_ = true;
        mpi.ok(MPI_Type_commit(&type));
    }
    ~shape() {
        if (made_) mpi_.ok(MPI_Type_free(&type));
    }
    shape(shape const&) = delete;
    shape& operator=(shape const&) = delete;

    int n() const { return static_cast<int>(count); }
    buffer& room(int blocks = 1) { return mpi_.bytes(map, count * static_cast<std::size_t>(blocks)); }
    segment block(int i, std::uint64_t key) const { return {static_cast<std::size_t>(i) * count, count, key}; }

    layout map;
    std::size_t count = 0;
    MPI_Datatype type;

private:
    test_run& mpi_;
    bool made_ = false;
};

enum class move { bcast, gather, scatter, allgather, alltoall };
axis<move> const moves("move", {{{"bcast", "MPI_Bcast"}, move::bcast},
                                {{"gather", "MPI_Gather"}, move::gather},
                                {{"scatter", "MPI_Scatter"}, move::scatter},
                                {{"allgather", "MPI_Allgather"}, move::allgather},
                                {{"alltoall", "MPI_Alltoall"}, move::alltoall}});
axis<int> const turns("turn", {{{"0", "process i uses description i"}, 0},
                               {{"1", "process i uses description i + 1"}, 1},
                               {{"3", "process i uses description 3 i"}, 3}});

} // namespace

ASSAY_TEST(coll, layouts, requirements{"coll.signature", "coll.type_maps"},
           over(axis_use{&moves}, axis_use{&turns}, axis_use{&starts()}, axis_use{&roots()},
                communicators::of({"world", "reversed"}), datatypes::of({"int", "double"}),
                only(count_ladder(), [](count_value const& c) { return c.n <= 1 || c.n == 17 || c.n == 8192; })),
           thread_safe{}) {
    auto const how = mpi.at(moves);
    auto const turn = mpi.at(turns);
    int const way = turn == 3 ? 3 * mpi.rank : mpi.rank + turn, n = mpi.size;
    auto const root = root_of(mpi);
    shape sent(mpi, way), received(mpi, way + 2);
    bool const all = how == move::allgather || how == move::alltoall;
    bool const sends = how == move::gather || how == move::allgather || all || root.here,
               receives = how != move::gather || root.here;
    auto& out = sent.room(!sends ? 0 : how == move::alltoall || how == move::scatter ? n : 1);
    auto& in = received.room(!receives ? 0 : all || how == move::gather ? n : 1);
    for (calling c(mpi); c.next();) {
        auto const to_all = [&](int from) { return key_of_all(mpi, 0, from, c.round); };
        auto const between = [&](int from, int to) { return mpi.key(0, from, 0, to, c.round); };
        std::vector<segment> expected, given;
        for (int i = 0; i < n; ++i) switch (how) {
            case move::gather:
                if (root.here) expected.push_back(received.block(i, to_all(i)));
                break;
            case move::allgather: expected.push_back(received.block(i, to_all(i))); break;
            case move::scatter:
                if (root.here) given.push_back(sent.block(i, between(mpi.rank, i)));
                break;
            case move::alltoall:
                expected.push_back(received.block(i, between(i, mpi.rank)));
                given.push_back(sent.block(i, between(mpi.rank, i)));
                break;
            case move::bcast: break;
            }
        if (how == move::gather || how == move::allgather) given.push_back(sent.block(0, to_all(mpi.rank)));
        if (how == move::scatter) expected.push_back(received.block(0, between(root.rank, mpi.rank)));
        if (how == move::bcast)
            (root.here ? given : expected).push_back((root.here ? sent : received).block(0, to_all(root.rank)));
        in.poison();
        if (given.empty()) out.poison();
        else out.fill(given);
        switch (how) {
        case move::bcast:
            if (root.here) ASSAY_COLLECTIVE(c, Bcast, Ibcast, out.address(), sent.n(), sent.type, root.rank, mpi.comm);
            else ASSAY_COLLECTIVE(c, Bcast, Ibcast, in.address(), received.n(), received.type, root.rank, mpi.comm);
            break;
        case move::gather:
            ASSAY_COLLECTIVE(c, Gather, Igather, out, sent.n(), sent.type, in, received.n(), received.type, root.rank,
                             mpi.comm);
            break;
        case move::scatter:
            ASSAY_COLLECTIVE(c, Scatter, Iscatter, out, sent.n(), sent.type, in, received.n(), received.type, root.rank,
                             mpi.comm);
            break;
        case move::allgather:
            ASSAY_COLLECTIVE(c, Allgather, Iallgather, out, sent.n(), sent.type, in, received.n(), received.type,
                             mpi.comm);
            break;
        case move::alltoall:
            ASSAY_COLLECTIVE(c, Alltoall, Ialltoall, out, sent.n(), sent.type, in, received.n(), received.type,
                             mpi.comm);
            break;
        }
        if (expected.empty()) in.expect_untouched();
        else in.expect(expected, "of another layout");
        out.expect_unchanged();
    }
}
