#include "suites/common/described.hpp"

#include <array>
#include <vector>

namespace assay {
namespace {

std::vector<axis<description>::entry> ways() {
    using enum description;
    return {{{"elements", "elements side by side"}, elements},
            {{"pairs", "vectors of three pairs with gaps between them"}, pairs},
            {{"backwards", "six at a time, against the order of their addresses"}, backwards},
            {{"whole", "all as one element of a contiguous datatype"}, whole},
            {{"two_and_one", "two elements, a gap and one"}, two_and_one},
            {{"strided", "all as one vector with a gap after each element"}, strided},
            {{"spread", "elements of twice the extent"}, spread},
            {{"block", "a block of three by two out of four by three"}, block},
            {{"halves", "a struct whose second member lies below the first"}, halves}};
}

} // namespace

axis<description> const& sent_as() {
    static axis<description> const all("sent_as", ways());
    return all;
}
axis<description> const& received_as() {
    static axis<description> const all("received_as", ways());
    return all;
}

axis_use described_types() { return datatypes::of({"int", "byte", "double", "double_int", "vector_int", "type_mix"}); }

axis_use described_counts() {
    return only(count_ladder(), [](count_value const& c) {
        return c.kind == count_value::unit::elements
                   ? c.n <= 1 || c.n == 17
                   : c.kind == count_value::unit::bytes_nearest && (c.n == 1024 || c.n == 65536);
    });
}

described::described(test_run& mpi, description how) : type(mpi.type), mpi_(mpi) {
    auto const& one = mpi.map;
    auto const m = mpi.elements;
    auto const extent = static_cast<MPI_Aint>(one.extent());
    count = m;
    switch (how) {
    case description::elements:
        map = one;
        count = 6 * m;
        return;
    case description::pairs:
        map = layout::vector(3, 2, 3, one);
        mpi.ok(MPI_Type_vector(3, 2, 3, mpi.type, &type));
        break;
    case description::backwards: {
        std::vector<int> const lengths(6, 1), places{5, 4, 3, 2, 1, 0};
        map = layout::indexed(lengths, places, one);
        mpi.ok(MPI_Type_indexed(6, lengths.data(), places.data(), mpi.type, &type));
        break;
    }
    case description::whole:
        map = layout::contiguous(6 * m, one);
        count = m == 0 ? 0 : 1;
        mpi.ok(MPI_Type_contiguous(static_cast<int>(6 * m), mpi.type, &type));
        break;
    case description::two_and_one: {
        std::vector<int> const lengths{2, 1}, places{0, 3};
        map = layout::indexed(lengths, places, one);
        count = 2 * m;
        mpi.ok(MPI_Type_indexed(2, lengths.data(), places.data(), mpi.type, &type));
        break;
    }
    case description::strided:
        map = layout::vector(6 * m, 1, 2, one);
        count = m == 0 ? 0 : 1;
        mpi.ok(MPI_Type_vector(static_cast<int>(6 * m), 1, 2, mpi.type, &type));
        break;
    case description::spread:
        map = layout::resized(one, one.lb(), 2 * extent);
        count = 6 * m;
        mpi.ok(MPI_Type_create_resized(mpi.type, one.lb(), 2 * extent, &type));
        break;
    case description::block: {
        std::array<int, 2> const sizes{4, 3}, part{3, 2}, start{1, 1};
        map = layout::subarray({4, 3}, {3, 2}, {1, 1}, true, one);
        mpi.ok(MPI_Type_create_subarray(2, sizes.data(), part.data(), start.data(), MPI_ORDER_C, mpi.type, &type));
        break;
    }
    case description::halves: {
        // Four elements, then two that lie before them in memory; the extent is that of eight.
        std::array<int, 2> const lengths{4, 2};
        std::array<MPI_Aint, 2> const places{3 * extent, 0};
        std::array<MPI_Datatype, 2> const old{mpi.type, mpi.type};
        MPI_Datatype both = MPI_DATATYPE_NULL;
        map = layout::resized(layout::structure({4, 2}, {places[0], places[1]}, {one, one}), one.lb(), 8 * extent);
        if (!mpi.ok(MPI_Type_create_struct(2, lengths.data(), places.data(), old.data(), &both))) return;
        mpi.ok(MPI_Type_create_resized(both, one.lb(), 8 * extent, &type));
        mpi.ok(MPI_Type_free(&both));
        break;
    }
    }
    made_ = true;
    mpi.ok(MPI_Type_commit(&type));
}

described::~described() {
    if (made_) mpi_.ok(MPI_Type_free(&type));
}

} // namespace assay
