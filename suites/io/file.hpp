// Files of a case: made and judged outside MPI by rank 0 of the case's communicator, from our own type maps.
#pragma once
#include "datatypes/definition.hpp"
#include "framework/mpi/run.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::io {

// Until all members of the case's communicator are here: no rank leaves before every rank has come. Made of messages
// with the tags of the case, since nothing else of the library under test should be needed to look at a file.
void meet(test_run& mpi);

// A file view (MPI-5.0 section 14.3) by definition: the type maps say which byte of the file is which of the data.
struct view {
    std::size_t displacement = 0; // bytes
    definition etype, filetype;
    bool by_default = false; // what a file has when it was opened: nothing is to be set

    std::size_t etypes(layout const& map, std::size_t elements) const; // that hold the data of `elements`
    // Where data byte k of the view lies in the file.
    std::size_t position(std::size_t k) const;
};

enum class view_kind { bytes, type, hole, interleaved };
axis<view_kind> const& views();
view make_view(test_run const& mpi, view_kind kind, int rank);
inline bool same_on_all_ranks(view_kind kind) { return kind != view_kind::interleaved; }
// Whether a datatype may be an etype: displacements that only grow and are not negative (section 14.1.1).
bool is_etype(layout const& map);
constraint views_of_etypes();
// The file of a case in which each rank owns `parts` times the count stays below 4 MiB.
constraint fits_file(int parts);
// A case with a file costs more than one with a message, and files know nothing of topologies or protocols: the counts are
// fewer, the communicators those of the thesis. The tests of what does not depend on how data are laid out take its
// datatypes, and fewer still.
axis_use file_counts();
axis_use file_comms();
axis_use thesis_comms(); // without topologies
axis_use thesis_types();
axis_use some_types();
axis_use few_counts();
constraint etypes_only();
definition type_of_case(test_run const& mpi); // to build filetypes of
constexpr std::size_t header = 13;            // bytes before the first etype of a view; a multiple of nothing

// What a file should hold, byte by byte, and whose bytes these are.
class image {
public:
    // A file of `size` bytes of poison that have to stay, or (new_file) no file yet: then holes are undefined.
    explicit image(std::size_t size = 0, bool new_file = true);
    // The message of `key`, `elements` of `map`, written by rank `who` at an offset (in etypes) of a view.
    void place(view const& v, std::size_t offset, layout const& map, std::uint64_t key, std::size_t elements, int who);
    void place(std::size_t at, std::vector<unsigned char> const& data, int who); // bytes as they stand in the file
    void resize(std::size_t size);                                               // what is new is undefined
    bool agrees(view const& v, std::size_t offset, layout const& map, std::uint64_t key, std::size_t elements) const;
    std::string difference(image const& found) const; // "" if `found` has the same size and the same judged bytes

    // The bytes of `found` with those that are judged as they have to be.
    std::vector<unsigned char> where_defined(image const& found) const;

    std::vector<unsigned char> bytes;

private:
    std::vector<std::int16_t> owner_; // rank, or one of these
    enum : std::int16_t { undefined = -2, untouched = -1 };
};

// A file of which each member of the case's communicator has one piece: the count of elements, in its own view of a kind.
class divided_file {
public:
    divided_file(test_run const& mpi, view_kind kind) : mpi_(mpi), kind_(kind) {}
    view view_of(int rank) const { return make_view(mpi_, kind_, rank); }
    std::uint64_t key(int rank) const;
    MPI_Offset first(int rank) const; // etypes from the begin of the view to the piece
    image in(image into) const;       // with all pieces
    image blank() const;              // a file that has room for all, and a few bytes after them

private:
    test_run const& mpi_;
    view_kind kind_;
};

// One file in a folder of its own, which disappears with the case.
class scratch_file {
public:
    explicit scratch_file(test_run& mpi, int number = 0); // each of a case has another number
    ~scratch_file();
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;

    std::string const& path() const { return path_; }
    std::string const& folder() const { return folder_; }
    // Rank 0 makes the file (nothing: there shall be none); all ranks go on when it is there.
    void make(std::vector<unsigned char> const* content);
    // All ranks have closed or synchronized the file: rank 0 looks at it. All ranks have to call it.
    void expect(image const& expected, std::source_location where = std::source_location::current());
    bool exists() const;
    image read(std::size_t from = 0) const; // what stands there from a byte on, read without MPI
    // Leaves a mark that every rank can see. Returns false if it is there already.
    bool mark(std::string const& name) const;

private:
    test_run& mpi_;
    std::string folder_, path_;
};

// An open MPI file; closed at the end of its life at the latest.
class open_file {
public:
    // Collective. Records what goes wrong; then opened() is false and the body should end.
    open_file(test_run& mpi, std::string const& path, int amode, MPI_Info info = MPI_INFO_NULL);
    open_file(test_run& mpi, MPI_Comm comm, std::string const& path, int amode, MPI_Info info = MPI_INFO_NULL);
    ~open_file() { close(); }
    open_file(open_file const&) = delete;
    open_file& operator=(open_file const&) = delete;

    operator MPI_File() const { return handle_; }
    bool opened() const { return handle_ != MPI_FILE_NULL; }
    // MPI_File_set_view. Returns whether it succeeded.
    bool set(view const& v, char const* representation = "native", MPI_Info info = MPI_INFO_NULL);
    void expect_position(std::size_t etypes, std::source_location where = std::source_location::current());
    void expect_shared_position(std::size_t etypes, std::source_location where = std::source_location::current());
    void close();
    int close_that_may_fail(); // the error code is no finding

private:
    test_run& mpi_;
    MPI_File handle_ = MPI_FILE_NULL;
};

} // namespace assay::io
