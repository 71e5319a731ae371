#include "suites/coll/collective.hpp"

#include "suites/common/completion.hpp"

#include <cstring>
#include <fmt/format.h>

namespace assay::coll {
axis<start> const& starts() {
    using enum start::way;
    auto const persistents = needs_procedures({"MPI_Bcast_init"}), // a library has all of a kind, or none
        large = needs_procedures({"MPI_Bcast_c", "MPI_Bcast_init"});
    static axis<start> const axis(
        "start",
        {{{"blocking", "the blocking call"}, {blocking, false}},
         {{"nonblocking", "the nonblocking call, then MPI_Wait"}, {nonblocking, false}},
         {{"polled", "the nonblocking call, then MPI_Test until done"}, {polled, false}},
         {{"persistent", "initialized once, started twice; since MPI-4.0", persistents}, {persistent, false}},
         {{"blocking_c", "the blocking call with counts of type MPI_Count; since MPI-4.0", large}, {blocking, true}},
         {{"nonblocking_c", "the nonblocking call with counts of type MPI_Count; since MPI-4.0", large},
          {nonblocking, true}},
         {{"persistent_c", "initialized with counts of type MPI_Count; since MPI-4.0", large}, {persistent, true}}});
    return axis;
}

axis_use small_starts() {
    return only(starts(), [](start s) { return !s.large; });
}

void calling::complete() {
    bool const persistent = how == start::persistent;
    if (persistent) {
        if (!mpi.check(request != MPI_REQUEST_NULL, finding::request,
                       "a persistent collective request must stay until it is freed"))
            return;
        mpi.ok(MPI_Start(&request));
    }
    assay::complete(mpi, how == start::polled ? completion_by("test") : completion_by("wait"), {&request, 1},
                    {.persistent = {persistent}, .ignore = true});
}

calling::~calling() {
    if (how == start::persistent && request != MPI_REQUEST_NULL) mpi.ok(MPI_Request_free(&request));
}

axis<root_rank> const& roots() {
    static axis<root_rank> const axis(
        "root", {{{"first", "rank 0; of the first group of an intercommunicator"}, root_rank::first},
                 {{"last", "the highest rank; of the second group of an intercommunicator"}, root_rank::last},
                 {{"middle", "half the size; of the first group of an intercommunicator"}, root_rank::middle}});
    return axis;
}

root root_of(test_run const& mpi) {
    auto const which = mpi.at(roots());
    root r;
    r.side = mpi.inter && which == root_rank::last ? 1 : 0;
    bool const same_side = !mpi.inter || mpi.side == r.side;
    int const group = same_side ? mpi.size : mpi.remote_size;
    r.rank = which == root_rank::first ? 0 : which == root_rank::last ? group - 1 : group / 2;
    r.here = same_side && mpi.rank == r.rank;
    r.other_side = !mpi.inter || !same_side;
    r.argument = !mpi.inter || !same_side ? r.rank : r.here ? MPI_ROOT : MPI_PROC_NULL;
    r.partners = !mpi.inter ? mpi.size : same_side ? mpi.remote_size : mpi.size;
    return r;
}

axis<bool> const& in_place_axis() {
    static axis<bool> const axis(
        "in_place",
        {{value_info("no", "separate buffers").in_thesis("Allgather"), false},
         {value_info("yes", "MPI_IN_PLACE where the call permits it").in_thesis("Allgather w/ MPI_IN_PLACE"), true}});
    return axis;
}

constraint in_place_needs_intra() {
    return where(in_place_axis(), comm_axis(),
                 [](bool in_place, communicator const& c) { return !in_place || c.kind == comm_kind::intra; });
}

axis<bool> const& ignored_axis() {
    static axis<bool> const axis("ignored", {{{"valid", "arguments that are not significant are valid"}, false},
                                             {{"garbage", "arguments that are not significant are invalid"}, true}});
    return axis;
}

axis<bool> const& block_axis() {
    static axis<bool> const axis("block",
                                 {{{"elements", "a block is so many elements of the datatype"}, false},
                                  {{"contiguous", "a single block is one element of an MPI_Type_contiguous"}, true}});
    return axis;
}

constraint block_fits_type() {
    return where(
        block_axis(), type_axis(), count_ladder(), [](bool contiguous, datatype const& type, count_value const& count) {
            return !contiguous ||
                   (count.of(type.map) > 0 && layout::contiguous(3, type.map).extent() == 3 * type.map.extent());
        });
}

block::block(test_run& mpi, std::size_t elements, bool contiguous)
    : type(mpi.type), count(static_cast<int>(elements)), mpi_(mpi), made_(contiguous && elements > 0) {
    if (!made_) return;
    mpi.ok(MPI_Type_contiguous(count, mpi.type, &type));
    mpi.ok(MPI_Type_commit(&type));
    count = 1;
}

block::~block() {
    if (made_) mpi_.ok(MPI_Type_free(&type));
}

axis<form> const& forms() {
    static axis<form> const axis(
        "form",
        {{value_info("plain", "equal blocks, the call without counts").in_thesis("Scatter"), form::plain},
         {value_info("v", "the call with counts and displacements, equal blocks").in_thesis("Scatterv"), form::v},
         {value_info("v_stride", "different blocks with gaps between them").in_thesis("Scatterv stride"),
          form::v_stride},
         {{"v_reversed", "the same, highest rank first"}, form::v_reversed},
         {{"v_sparse", "most blocks are empty"}, form::v_sparse},
         {{"w", "displacements in bytes, different datatypes"}, form::w},
         {{"v_directed", "other counts and another order on the two sides"}, form::v_directed},
         {{"w_directed", "the same with displacements in bytes and other datatypes on the two sides"},
          form::w_directed}});
    return axis;
}

bool uneven(form f) { return f != form::plain && f != form::v; }
bool directed(form f) { return f == form::v_directed || f == form::w_directed; }
bool is_w(form f) { return f == form::w || f == form::w_directed; }

std::size_t block_size(form f, std::size_t elements, int i) {
    if (!uneven(f)) return elements;
    if (f == form::v_sparse) return i % 3 == 1 ? elements : 0;
    return i % 3 == 0 ? elements : i % 3 == 1 ? elements + 1 : elements / 2;
}

namespace {
std::vector<std::size_t> sizes_of(form f, std::size_t elements, int n, int first) {
    std::vector<std::size_t> sizes(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) sizes[static_cast<std::size_t>(i)] = block_size(f, elements, first + i);
    return sizes;
}
} // namespace

blocks::blocks(form f, std::size_t elements, int n, int first) : blocks(f, elements, sizes_of(f, elements, n, first)) {}

blocks::blocks(form f, std::size_t elements, std::vector<std::size_t> const& sizes)
    : counts(sizes.size()), displacements(sizes.size()) {
    std::size_t const gap = uneven(f) ? elements / 2 + 1 : 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
        auto const i = f == form::v_reversed ? counts.size() - 1 - k : k;
        if (k > 0) room += gap;
        counts[i] = static_cast<int>(sizes[i]);
        displacements[i] = static_cast<int>(room);
        room += sizes[i];
    }
}

blocks outgoing_blocks(form f, std::size_t elements, std::vector<std::size_t> const& sizes) {
    return {f, elements, sizes};
}
blocks incoming_blocks(form f, std::size_t elements, std::vector<std::size_t> const& sizes) {
    return {directed(f) ? form::v_reversed : f, elements, sizes};
}

block_types::block_types(test_run& mpi, blocks const& places, bool first) {
    for (std::size_t i = 0; i < places.counts.size(); ++i) {
        auto const& b = made.emplace_back(mpi, static_cast<std::size_t>(places.counts[i]), (i % 2 == 1) != first);
        counts.push_back(b.count);
        types.push_back(b.type);
        addresses.push_back(places.displacements[i] * static_cast<MPI_Aint>(mpi.map.extent()));
        displacements.push_back(static_cast<int>(addresses.back()));
    }
}

segment blocks::at(int i, std::uint64_t key) const {
    auto const k = static_cast<std::size_t>(i);
    return {static_cast<std::size_t>(displacements[k]), static_cast<std::size_t>(counts[k]), key, nullptr, i};
}

std::vector<unsigned char> as_it_is(buffer const& b, layout const& map, std::size_t first, std::size_t n) {
    std::vector<unsigned char> stream;
    stream.reserve(n * map.size());
    auto const* element =
        static_cast<unsigned char const*>(b.address()) + static_cast<std::ptrdiff_t>(first) * map.extent();
    for (std::size_t e = 0; e < n; ++e, element += map.extent())
        for (auto const& run : map.runs())
            stream.insert(stream.end(), element + run.offset, element + run.offset + run.count * run.type->size);
    return stream;
}

} // namespace assay::coll
