#include "suites/io/numbers.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::io {

numbers::numbers(test_run& mpi, std::size_t how_many) : mpi_(mpi) {
    image made(header, false);
    if (how_many > 0) made.place(in_file(), 0, mpi.map, mpi.key(0, 0, 0, 0, 7), how_many, 0);
    content_ = made.bytes;
}

view numbers::in_file(data_access const& call, std::size_t first) const {
    auto v = in_file();
    if (call.where == positioning::individual) v.displacement += first * static_cast<std::size_t>(mpi_.map.extent());
    return v;
}

void numbers::expect(buffer& found, std::size_t first, std::size_t n, std::source_location where) const {
    found.expect(segment{0, n, 0, content_.data() + header + first * mpi_.map.size()},
                 fmt::format("of the file, from etype {}", first), where);
}

std::uint64_t key_of_piece(test_run const& mpi, int rank, int serial) { return mpi.key(0, rank, 0, rank, serial); }

void place_pieces(test_run const& mpi, image& in, view const& v, std::size_t from, int serial) {
    for (int r = 0; r < mpi.size; ++r)
        in.place(v, from + static_cast<std::size_t>(r) * mpi.elements, mpi.map, key_of_piece(mpi, r, serial),
                 mpi.elements, r);
}

void set_rest_aside(test_run& mpi, buffer& read, std::size_t got) {
    if (got >= mpi.elements) return;
    auto const extent = static_cast<std::size_t>(mpi.map.extent());
    auto* const rest = static_cast<unsigned char*>(read.address()) + mpi.map.true_lb() + got * extent;
    auto* const end = rest + (mpi.elements - got - 1) * extent + mpi.map.true_extent();
    mpi.check("io.read.rest", std::all_of(rest, end, [](auto byte) { return byte == poison_byte; }), finding::data,
              "the buffer was changed after the data that the file had");
    std::fill(rest, end, poison_byte);
}

image starts_with(std::vector<unsigned char> const& bytes) {
    image made(bytes.size(), false);
    made.bytes = bytes;
    return made;
}

} // namespace assay::io
