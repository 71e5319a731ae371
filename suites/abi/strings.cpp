// Constants for the length of strings (MPI-5.0 section 19.3.9): in C they count the null character.
#include "suites/abi/kinds.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <vector>

using namespace assay;

namespace {

// Room for one of MPI's strings of the length `most`, and some more.
class text_room {
public:
    explicit text_room(int most)
        : most_(static_cast<std::size_t>(most)), room_(most_ + 16, static_cast<char>(poison_byte)) {}
    char* data() { return room_.data(); }
    int length = -7; // as the call gives it
    void expect(test_run& mpi, std::string const& what) const {
        auto const end = room_.find('\0');
        mpi.check(end < most_, finding::value,
                  fmt::format("{}: {} characters and no null character among the first {}", what, room_.size(), most_));
        if (end >= most_) return;
        mpi.check(length == static_cast<int>(end), finding::value,
                  fmt::format("{}: the length {} for a string of {}", what, length, end));
        mpi.check(room_.find_first_not_of(static_cast<char>(poison_byte), most_) == std::string::npos, finding::guard,
                  fmt::format("{}: characters were written after the first {}", what, most_));
    }

private:
    std::size_t most_;
    std::string room_;
};

using check = void (*)(test_run&);
axis<check> const checks("string",
                         {{{"error", "MPI_MAX_ERROR_STRING: of each error class"},
                           [](test_run& mpi) {
                               int known = 0;
                               for (int error_class = 0; error_class < 100; ++error_class) {
                                   text_room text(MPI_MAX_ERROR_STRING);
                                   if (MPI_Error_string(error_class, text.data(), &text.length) != MPI_SUCCESS)
                                       continue;
                                   ++known;
                                   text.expect(mpi, fmt::format("the text of error class {}", error_class));
                               }
                               mpi.check(known > 0, finding::value, "no error class has a text");
                           }},
                          {{"processor", "MPI_MAX_PROCESSOR_NAME"},
                           [](test_run& mpi) {
                               text_room text(MPI_MAX_PROCESSOR_NAME);
                               mpi.ok(MPI_Get_processor_name(text.data(), &text.length));
                               text.expect(mpi, "the name of the processor");
                           }},
                          {{"library", "MPI_MAX_LIBRARY_VERSION_STRING"},
                           [](test_run& mpi) {
                               text_room text(MPI_MAX_LIBRARY_VERSION_STRING);
                               mpi.ok(MPI_Get_library_version(text.data(), &text.length));
                               text.expect(mpi, "the version of the library");
                           }},
                          {{"comm", "MPI_MAX_OBJECT_NAME: a name as long as it may be"},
                           [](test_run& mpi) {
                               MPI_Comm comm = MPI_COMM_NULL;
                               if (!mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &comm))) return;
                               std::string const name(MPI_MAX_OBJECT_NAME - 1, 'n');
                               text_room text(MPI_MAX_OBJECT_NAME);
                               mpi.ok(MPI_Comm_set_name(comm, name.c_str()));
                               mpi.ok(MPI_Comm_get_name(comm, text.data(), &text.length));
                               text.expect(mpi, "the name of a communicator");
                               mpi.check(text.data() == name, finding::value,
                                         fmt::format("a name of {} characters came back changed", name.size()));
                               mpi.ok(MPI_Comm_free(&comm));
                           }},
                          {{"datatype", "MPI_MAX_OBJECT_NAME: of each predefined datatype"}, [](test_run& mpi) {
                               for (auto const& one : abi::datatypes().constants) {
                                   if (one.handle == MPI_DATATYPE_NULL) continue;
                                   text_room text(MPI_MAX_OBJECT_NAME);
                                   mpi.ok(MPI_Type_get_name(one.handle, text.data(), &text.length));
                                   text.expect(mpi, fmt::format("the name of {}", one.name));
                               }
                           }}});

} // namespace

ASSAY_TEST(abi, string_length, requirements{"lang.constants.strings"}, over(axis_use{&checks})) { mpi.at(checks)(mpi); }
