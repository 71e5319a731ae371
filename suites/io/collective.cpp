// What collective accesses owe to the group and what noncollective ones do not (MPI-5.0 sections 14.2.1, 14.4.1.3, 14.4.4.2,
// 14.6.4, 14.6.5 and 14.6.7).
#include "suites/io/numbers.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

using namespace assay;
using namespace assay::io;

namespace {

axis_use collective_ones() {
    return only(accesses(), [](data_access const& a) { return a.collective; });
}

enum class difference { none_of_first, counts, types, backwards };
axis<difference> const differences("difference",
                                   {{{"counts", "rank r accesses 3r + 1 elements"}, difference::counts},
                                    {{"none_of_first", "rank 0 accesses nothing"}, difference::none_of_first},
                                    {{"types", "odd ranks say pairs of elements"}, difference::types},
                                    {{"backwards", "the last rank has the first piece"}, difference::backwards}});

std::size_t elements_of(difference how, int rank) {
    if (how == difference::counts) return 3 * static_cast<std::size_t>(rank) + 1;
    return how == difference::none_of_first && rank == 0 ? 0 : 18;
}

// Where the piece of a rank begins.
std::size_t place_of(difference how, int rank, int size) {
    std::size_t at = 0;
    if (how == difference::backwards) return elements_of(how, 0) * static_cast<std::size_t>(size - 1 - rank);
    for (int r = 0; r < rank; ++r) at += elements_of(how, r);
    return at;
}

} // namespace

ASSAY_TEST(io, arguments_differ,
           requirements{"io.collective.arguments", "io.pointer.ordered", "io.status.count", "io.large_count"},
           over(collective_ones(), axis_use{&differences}, axis_use{&forms()}, communicators::few_intra(), ints(),
                seventeen()),
           where(accesses(), differences,
                 [](data_access const& a, difference d) {
                     return !a.uses_shared_pointer() || d != difference::backwards;
                 }),
           note{"the processes of a collective access say different amounts, datatypes and places"}, thread_safe{}) {
    auto const call = mpi.at(accesses());
    auto const how = mpi.at(differences);
    bool const writing = call.way == direction::write;
    auto const n = elements_of(how, mpi.rank), first = place_of(how, mpi.rank, mpi.size);
    std::size_t total = 0;
    for (int r = 0; r < mpi.size; ++r) total += elements_of(how, r);
    numbers const content(mpi, total + 3);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    auto pair = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_contiguous(2, mpi.type, &pair));
    mpi.ok(MPI_Type_commit(&pair));
    bool const pairs = how == difference::types && mpi.rank % 2 == 1;
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (file.opened()) {
            file.set(content.in_file(call, first));
            auto& data = mpi.incoming(n);
            if (writing) data.fill(key_of_piece(mpi, mpi.rank));
            running_access running(mpi, call, file);
            running.with_large_counts(mpi.at(forms()));
            if (pairs) running.of_type(pair);
            running.begin(first, data, static_cast<int>(pairs ? n / 2 : n));
            auto const& status = running.end();
            if (pairs) mpi.expect(status).count(n / 2, pair, 2 * mpi.map.size());
            else mpi.expect(status).count(n);
            if (writing) data.expect_unchanged();
            else content.expect(data, first, n);
            if (call.uses_shared_pointer()) {
                meet(mpi);
                file.expect_shared_position(total);
                meet(mpi);
            }
        }
    }
    mpi.ok(MPI_Type_free(&pair));
    auto expected = starts_with(content.content());
    for (int r = 0; r < mpi.size && writing; ++r)
        if (elements_of(how, r) > 0)
            expected.place(content.in_file(), place_of(how, r, mpi.size), mpi.map, key_of_piece(mpi, r),
                           elements_of(how, r), r);
    scratch.expect(expected);
}

ASSAY_TEST(
    io, communicator_apart, requirements{"io.collective.duplicate", "io.open.comm_usable"},
    over(axis_use{&accesses()}, communicators::few_intra(), ints(), seventeen()), wildcards{},
    note{"around an access each rank waits for any message of the communicator, and half of the ranks call a barrier "
         "first: neither may meet what the library does for the file"}) {
    auto const call = mpi.at(accesses());
    numbers const content(mpi, 2 * static_cast<std::size_t>(mpi.size) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    int const next = (mpi.rank + 1) % mpi.size, previous = (mpi.rank + mpi.size - 1) % mpi.size;
    int const sent = 1000 + mpi.rank;
    int got = -7;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        file.set(content.in_file(call, static_cast<std::size_t>(mpi.rank) * mpi.elements));
        meet(mpi); // whose messages a receive of any would take
        mpi.ok(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, mpi.comm, &requests[0]));
        auto const barrier = [&] { mpi.ok(MPI_Ibarrier(mpi.comm, &requests[1])); };
        if (mpi.rank % 2 == 0) barrier();
        auto const offset = static_cast<std::size_t>(mpi.rank) * mpi.elements;
        auto& data = mpi.incoming();
        if (call.way == direction::write) data.fill(key_of_piece(mpi, mpi.rank));
        running_access running(mpi, call, file);
        running.begin(offset, data, mpi.count);
        if (mpi.rank % 2 == 1) barrier();
        mpi.expect(running.end()).count(mpi.elements);
        auto status = poisoned_status();
        mpi.ok(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        mpi.ok(MPI_Send(&sent, 1, MPI_INT, next, mpi.tag(3), mpi.comm));
        mpi.ok(MPI_Wait(&requests[0], &status));
        mpi.expect(status).source(previous).tag(mpi.tag(3));
        mpi.check(got == 1000 + previous, finding::data,
                  fmt::format("the message of rank {} says {}, expected {}", previous, got, 1000 + previous));
        if (call.way == direction::read && call.where != positioning::shared)
            content.expect(data, offset, mpi.elements);
    }
    meet(mpi);
}

ASSAY_TEST(io, freed_communicator, requirements{"io.free.comm"},
           over(collective_ones(), communicators::few_intra(), ints(), seventeen()),
           note{"the communicator that a file was opened with is freed while the file is in use"}, thread_safe{}) {
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * mpi.elements + 4);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    MPI_Comm twin = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &twin));
    {
        open_file file(mpi, twin, scratch.path(), MPI_MODE_RDWR);
        mpi.ok(MPI_Comm_free(&twin));
        if (!file.opened()) return;
        auto const offset = static_cast<std::size_t>(mpi.rank) * mpi.elements;
        file.set(content.in_file(call, offset));
        auto& data = mpi.incoming();
        if (writing) data.fill(key_of_piece(mpi, mpi.rank));
        running_access running(mpi, call, file);
        running.begin(offset, data, mpi.count);
        mpi.expect(running.end()).count(mpi.elements);
        if (!writing) content.expect(data, offset, mpi.elements);
    }
    auto expected = starts_with(content.content());
    if (writing) place_pieces(mpi, expected, content.in_file());
    scratch.expect(expected);
}

// ---- Who waits for whom

namespace {
// One access of the rank's own piece, with whatever the caller does between its begin and its end.
template <class Between>
void access_own_piece(test_run& mpi, data_access const& call, numbers const& content, MPI_File file, Between between) {
    auto const offset = static_cast<std::size_t>(mpi.rank) * mpi.elements;
    auto& data = mpi.incoming();
    if (call.way == direction::write) data.fill(key_of_piece(mpi, mpi.rank));
    running_access running(mpi, call, file);
    running.begin(offset, data, mpi.count);
    between();
    mpi.expect(running.end()).count(mpi.elements);
    if (call.way == direction::read) content.expect(data, offset, mpi.elements);
}

void pass_on(test_run& mpi) { // to the rank after this
    if (mpi.rank + 1 < mpi.size) mpi.ok(MPI_Send(nullptr, 0, MPI_BYTE, mpi.rank + 1, mpi.tag(2), mpi.comm));
}
void wait_for_turn(test_run& mpi) {
    if (mpi.rank > 0) mpi.ok(MPI_Recv(nullptr, 0, MPI_BYTE, mpi.rank - 1, mpi.tag(2), mpi.comm, MPI_STATUS_IGNORE));
}
} // namespace

ASSAY_TEST(io, one_by_one, requirements{"io.noncollective.alone"},
           over(only(accesses(), [](data_access const& a) { return !a.collective; }), communicators::few_intra(),
                ints(), seventeen()),
           note{"each rank accesses the file, and completes that, while all others wait for messages"}, thread_safe{}) {
    auto const call = mpi.at(accesses());
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        file.set(content.in_file(call, static_cast<std::size_t>(mpi.rank) * mpi.elements));
        meet(mpi);
        wait_for_turn(mpi);
        // In turns the shared pointer leads each rank to its own piece.
        access_own_piece(mpi, call, content, file, [] {});
        pass_on(mpi);
        meet(mpi); // files are closed together
    }
    auto expected = starts_with(content.content());
    if (call.way == direction::write) place_pieces(mpi, expected, content.in_file());
    scratch.expect(expected);
}

ASSAY_TEST(
    io, begin_is_local, requirements{"io.nonblocking_collective.local"},
    over(only(accesses(), [](data_access const& a) { return a.collective && a.how == synchronism::nonblocking; }),
         communicators::few_intra(), ints(), seventeen()),
    note{"a rank begins a nonblocking collective access only when the rank before it has come back from beginning it"},
    thread_safe{}) {
    auto const call = mpi.at(accesses());
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    file.set(content.in_file(call, static_cast<std::size_t>(mpi.rank) * mpi.elements));
    wait_for_turn(mpi);
    access_own_piece(mpi, call, content, file, [&] { pass_on(mpi); });
    file.close();
    auto expected = starts_with(content.content());
    if (call.way == direction::write) place_pieces(mpi, expected, content.in_file());
    scratch.expect(expected);
}
