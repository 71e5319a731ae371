// Requests of data accesses: completed by each call that completes requests, and what their statuses say (MPI-5.0 sections
// 14.4.1.2, 14.4.1.4 and 14.6.5).
#include "suites/common/completion.hpp"
#include "suites/io/numbers.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::io;

ASSAY_TEST(
    io, completion,
    requirements{"io.nonblocking.completion", "io.nonblocking_collective.many", "io.status.count", "io.large_count"},
    over(only(accesses(),
              [](data_access const& a) { return a.how == synchronism::nonblocking && a.where != positioning::shared; }),
         axis_use{&completions()}, axis_use{&forms()}, communicators::few_intra(), ints(), seventeen()),
    note{"four accesses of each rank are outstanding on one file handle"}, thread_safe{}) {
    constexpr int outstanding = 4;
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    auto const n = mpi.elements, own = static_cast<std::size_t>(mpi.rank) * outstanding * n;
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * outstanding * n + 3);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        file.set(content.in_file(call, own));
        std::vector<buffer*> data;
        std::vector<MPI_Request> requests;
        for (int i = 0; i < outstanding; ++i) {
            data.push_back(&mpi.incoming());
            if (writing) data.back()->fill(key_of_piece(mpi, mpi.rank, i));
            running_access running(mpi, call, file);
            running.with_large_counts(mpi.at(forms()));
            running.begin(own + static_cast<std::size_t>(i) * n, *data.back(), mpi.count);
            requests.push_back(running.request());
        }
        for (auto const& status : complete(mpi, callable(mpi.at(completions())), requests)) mpi.expect(status).count(n);
        for (int i = 0; i < outstanding; ++i) {
            auto& one = *data[static_cast<std::size_t>(i)];
            if (writing) one.expect_unchanged();
            else content.expect(one, own + static_cast<std::size_t>(i) * n, n);
        }
    }
    auto expected = starts_with(content.content());
    for (int r = 0; r < mpi.size && writing; ++r)
        for (int i = 0; i < outstanding; ++i)
            expected.place(content.in_file(), static_cast<std::size_t>(r * outstanding + i) * n, mpi.map,
                           key_of_piece(mpi, r, i), n, r);
    scratch.expect(expected);
}

ASSAY_TEST(io, elements, requirements{"io.status.elements"},
           over(axis_use{&accesses()}, communicators::of({"world"}), datatypes::of({"int", "vector_int", "struct_int"}),
                seventeen()),
           etypes_only(), note{"the predefined elements that the status of an access counts"}, thread_safe{}) {
    auto const call = mpi.at(accesses());
    view v = make_view(mpi, view_kind::type, 0);
    image content;
    content.place(v, 0, mpi.map, mpi.key(0, 0, 0, 0, 0), static_cast<std::size_t>(mpi.size) * mpi.elements, 0);
    scratch_file scratch(mpi);
    scratch.make(&content.bytes);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened()) return;
    auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
    if (call.where == positioning::individual) v.displacement += own * static_cast<std::size_t>(mpi.map.extent());
    file.set(v);
    auto& data = mpi.incoming();
    if (call.way == direction::write) data.fill(key_of_piece(mpi, mpi.rank));
    running_access running(mpi, call, file);
    running.begin(own, data, mpi.count);
    auto const status = running.end();
    auto const expected = mpi.elements * mpi.map.elements();
    int number = -7;
    MPI_Count wide = -7;
    mpi.ok(MPI_Get_elements(&status, mpi.type, &number));
    mpi.ok(MPI_Get_elements_x(&status, mpi.type, &wide));
    mpi.check(number == static_cast<int>(expected) && wide == static_cast<MPI_Count>(expected), finding::count,
              fmt::format("MPI_Get_elements gives {} and MPI_Get_elements_x {}, expected {}", number, wide, expected));
    file.close();
    meet(mpi);
}
