// A file of MPI_INTs of which each can be told apart, for tests about positions: what was read says where it stood.
#pragma once
#include "suites/io/access.hpp"

#include <vector>

namespace assay::io {

// The numbers of a case, one after the other from `header` on, in a view whose etype is MPI_INT. The case's datatype is MPI_INT.
class numbers {
public:
    numbers(test_run& mpi, std::size_t how_many);

    view in_file() const { return make_view(mpi_, view_kind::type, 0); }
    // The view through which such an access begins at etype `first` without a seek: the individual file pointer begins with its
    // view. Other accesses have the view of all, in which an offset or the shared file pointer leads them there.
    view in_file(data_access const& call, std::size_t first) const;
    std::vector<unsigned char> const& content() const { return content_; } // of the file, header included
    std::size_t size() const { return content_.size(); }                   // of the file, bytes
    // That `buffer` holds `n` numbers, from number `first` on.
    void expect(buffer& found, std::size_t first, std::size_t n,
                std::source_location where = std::source_location::current()) const;

private:
    test_run& mpi_;
    std::vector<unsigned char> content_;
};

// What each rank writes in such a test: the message of rank r and serial s, at an offset of the view.
std::uint64_t key_of_piece(test_run const& mpi, int rank, int serial = 0);
// Places these messages of all ranks in a file, one after the other from offset `from` of the view on, in etypes.
void place_pieces(test_run const& mpi, image& in, view const& v, std::size_t from = 0, int serial = 0);
// After a read that got `got` elements of the case's count: what lies after them in the buffer shall be as it was (the standard does
// not say so: io.read.rest), and is poison again.
void set_rest_aside(test_run& mpi, buffer& read, std::size_t got);
// A file that begins with these bytes, which have to stay.
image starts_with(std::vector<unsigned char> const& bytes);

} // namespace assay::io
