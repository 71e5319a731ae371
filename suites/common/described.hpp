// Several descriptions of the same elements: datatypes of one type signature with different type maps. Only the signature has to
// be the same where two ends meet (MPI-5.0 sections 3.3.1, 4.2, 6.1 and 12.3).
#pragma once
#include "framework/mpi/run.hpp"

namespace assay {

// How one end describes 6·m elements of the case's datatype, where m is the value of the axis `count`.
enum class description { elements, pairs, backwards, whole, two_and_one, strided, spread, block, halves };
constexpr int descriptions = 9;
axis<description> const& sent_as();     // "sent_as"
axis<description> const& received_as(); // "received_as"

// Datatypes and counts for such tests. Of the datatypes several elements lie side by side without sharing bytes.
axis_use described_types();
axis_use described_counts();

// A datatype and a count for 6·m elements, freed at the end of the scope.
class described {
public:
    described(test_run& mpi, description how);
    ~described();
    described(described const&) = delete;
    described& operator=(described const&) = delete;

    int n() const { return static_cast<int>(count); }
    // Room for so many blocks of 6·m elements side by side, all poison; the message of a key in one of them.
    buffer& room(int blocks = 1) const { return mpi_.bytes(map, count * static_cast<std::size_t>(blocks)); }
    segment block(int i, std::uint64_t key) const { return {static_cast<std::size_t>(i) * count, count, key}; }

    layout map;            // of `type`
    std::size_t count = 0; // of `type`
    MPI_Datatype type;

private:
    test_run& mpi_;
    bool made_ = false;
};

} // namespace assay
