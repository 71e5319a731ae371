// What collective tests share (MPI-5.0 chapter 6): how an operation is started, who is its root, where blocks lie, what is
// passed for arguments that are not significant.
#pragma once
#include "framework/mpi/run.hpp"

#include <list>
#include <mpi.h>
#include <type_traits>
#include <vector>

namespace assay::coll {

// Blocking, nonblocking (section 6.12; completed by MPI_Wait or by MPI_Test) and persistent (section 6.13), with counts of
// type int or MPI_Count.
struct start {
    enum way { blocking, nonblocking, polled, persistent } how;
    bool large; // the procedures whose names end in _c
};
axis<start> const& starts();
axis_use small_starts(); // for operations without counts

// What a test passes where a procedure takes an array of counts or displacements, of type int or wider. Has to outlive the
// operation, like the array itself.
struct ints {
    ints() = default; // nullptr
    ints(std::vector<int> const& v) : data(v.data()), size(v.size()) {}
    operator int const*() const { return data; }
    template <class T>
    requires(std::is_same_v<T, MPI_Count> || std::is_same_v<T, MPI_Aint>) operator T const*() const {
        if (data == nullptr) return nullptr;
        auto& wide = [this]() -> std::vector<T>& {
            if constexpr (std::is_same_v<T, MPI_Count>) return counts_;
            else return addresses_;
        }();
        wide.assign(data, data + size);
        return wide.data();
    }
    int const* data = nullptr;
    std::size_t size = 0;

private:
    mutable std::vector<MPI_Count> counts_;
    mutable std::vector<MPI_Aint> addresses_;
};

// Repeats an operation as often as its way of starting asks for; a persistent one is started twice:
//
//   for (calling c(mpi); c.next();) {
//       …fill the buffers with the data of round c.round…
//       ASSAY_COLLECTIVE(c, Bcast, Ibcast, buffer, mpi.count, mpi.type, root.argument, mpi.comm);
//       …judge…
//   }
class calling {
public:
    explicit calling(test_run& run) : mpi(run), how(run.at(starts()).how), large(run.at(starts()).large) {}
    ~calling();
    calling(calling const&) = delete;
    calling& operator=(calling const&) = delete;

    bool next() { return ++round < (how == start::persistent ? 2 : 1); }
    void complete(); // waits for `request`

    test_run& mpi;
    start::way const how;
    bool const large;
    int round = -1;
    MPI_Request request = MPI_REQUEST_NULL;
};

#define ASSAY_COLLECTIVE_AS(c, Call, Icall, Init, ...)                                                                 \
    do {                                                                                                               \
        if ((c).how == ::assay::coll::start::blocking) {                                                               \
            (c).mpi.ok(Call(__VA_ARGS__));                                                                             \
            break;                                                                                                     \
        }                                                                                                              \
        if ((c).how != ::assay::coll::start::persistent) (c).mpi.ok(Icall(__VA_ARGS__, &(c).request));                 \
        else if ((c).round == 0) (c).mpi.ok(Init(__VA_ARGS__, MPI_INFO_NULL, &(c).request));                           \
        (c).complete();                                                                                                \
    } while (false)

// For operations without counts.
#define ASSAY_COLLECTIVE_SMALL(c, Name, Iname, ...)                                                                    \
    ASSAY_COLLECTIVE_AS(c, MPI_##Name, MPI_##Iname, MPI_##Name##_init, __VA_ARGS__)

#define ASSAY_COLLECTIVE(c, Name, Iname, ...)                                                                          \
    do {                                                                                                               \
        if ((c).large) ASSAY_COLLECTIVE_AS(c, MPI_##Name##_c, MPI_##Iname##_c, MPI_##Name##_init_c, __VA_ARGS__);      \
        else ASSAY_COLLECTIVE_SMALL(c, Name, Iname, __VA_ARGS__);                                                      \
    } while (false)

// The root: a process of the group, or of one of the two groups of an intercommunicator.
enum class root_rank { first, middle, last };
axis<root_rank> const& roots();
struct root {
    bool here = false;      // this process is it
    bool other_side = true; // this process exchanges data with it: all others, on an intercommunicator the other group
    int side = 0, rank = 0; // in its group
    int argument = 0;       // what this process passes (section 6.2.3)
    int partners = 0;       // those that exchange data with it; on an intracommunicator itself, too
};
root root_of(test_run const& mpi);

axis<bool> const& in_place_axis(); // MPI_IN_PLACE; only on intracommunicators
constraint in_place_needs_intra();

// What to pass where the standard ignores arguments: valid ones or garbage.
axis<bool> const& ignored_axis();
class ignored {
public:
    explicit ignored(test_run const& mpi) : garbage_(mpi.at(ignored_axis())) {}
    void* address(void* valid) const { return garbage_ ? reinterpret_cast<void*>(0x10) : valid; }
    int count(int valid) const { return garbage_ ? -1 : valid; }
    MPI_Datatype type(MPI_Datatype valid) const { return garbage_ ? MPI_DATATYPE_NULL : valid; }
    ints array(ints const& valid) const { return garbage_ ? ints() : valid; }

private:
    bool const garbage_;
};

// How a process describes its one block: as elements of the case's datatype, or as one element of a contiguous datatype of
// the same signature. Not a block of no elements: a count of 1 where the others have 0.
axis<bool> const& block_axis();
constraint block_fits_type();
class block {
public:
    block(test_run& mpi, std::size_t elements) : block(mpi, elements, mpi.at(block_axis())) {}
    block(test_run& mpi, std::size_t elements, bool contiguous);
    ~block();
    block(block&& other) noexcept : type(other.type), count(other.count), mpi_(other.mpi_), made_(other.made_) {
        other.made_ = false;
    }
    block& operator=(block&&) = delete;

    MPI_Datatype type;
    int count;

private:
    test_run& mpi_;
    bool made_;
};

// Where the blocks of several processes lie in one buffer.
enum class form {
    plain,      // equal blocks side by side: the calls without counts
    v,          // the same with counts and displacements
    v_stride,   // blocks of different size with gaps between them
    v_reversed, // the same, that of the highest rank first
    v_sparse,   // most blocks are empty, with gaps between all
    w,          // MPI_Alltoallw: displacements in bytes, different datatypes
    v_directed, // what goes from i to j is not as much as what goes from j to i, and it lies in another order
    w_directed, // the same with displacements in bytes, and other datatypes on the two sides
};
axis<form> const& forms();
bool uneven(form f);
bool directed(form f); // the counts, displacements and datatypes of the two directions differ
bool is_w(form f);
inline bool of_one_block(form f) { return !is_w(f) && !directed(f); } // where each process has one block for all
// Elements of the block of process `i`; for a block from i to j that of i + j, so that both directions are equal.
std::size_t block_size(form f, std::size_t elements, int i);

struct blocks {
    // The blocks of n processes; that of process i is as large as block_size says of first + i.
    blocks(form f, std::size_t elements, int n, int first = 0);
    // Blocks of these sizes; `elements` is what gaps are made of.
    blocks(form f, std::size_t elements, std::vector<std::size_t> const& sizes);
    std::vector<int> counts, displacements; // in elements
    std::size_t room = 0;                   // elements of the whole buffer
    // The block of process i, with the data of a key.
    segment at(int i, std::uint64_t key) const;
    // One block of each process; key(i) names its data.
    template <class Key> std::vector<segment> all(Key key) const {
        std::vector<segment> segments;
        segments.reserve(counts.size());
        for (int i = 0; i < static_cast<int>(counts.size()); ++i) segments.push_back(at(i, key(i)));
        return segments;
    }
};

// Where the blocks of a process lie that go to `sizes.size()` others, or come from them.
blocks outgoing_blocks(form f, std::size_t elements, std::vector<std::size_t> const& sizes);
blocks incoming_blocks(form f, std::size_t elements, std::vector<std::size_t> const& sizes);

// What MPI_Alltoallw wants of one direction: every other block is one element of a contiguous datatype, the second one or
// (`first`) the first.
struct block_types {
    block_types(test_run& mpi, blocks const& places, bool first = false);
    std::list<block> made;
    std::vector<int> counts, displacements; // displacements in bytes
    std::vector<MPI_Aint> addresses;        // the same, as neighborhood collectives take them
    std::vector<MPI_Datatype> types;
};

// The message that a process hands to everyone.
inline std::uint64_t key_of_all(test_run const& mpi, int side, int rank, int round) {
    return mpi.key(side, rank, 2, 0, round);
}
// The side whose data this process gets in operations of all to all.
inline int data_side(test_run const& mpi) { return mpi.inter ? 1 - mpi.side : mpi.side; }

// What elements [first, first + n) of a buffer hold, as a packed stream: for expectations of what the standard leaves open.
std::vector<unsigned char> as_it_is(buffer const& b, layout const& map, std::size_t first, std::size_t n);

} // namespace assay::coll
