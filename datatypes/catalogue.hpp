// The datatypes that messages are made of. One file per family; each entry carries the type map that we computed
// ourselves next to the recipe that makes the datatype with the library under test.
#pragma once
#include "framework/check/layout.hpp"
#include "framework/plan/job.hpp"

#include <functional>
#include <mpi.h>
#include <string>
#include <vector>

namespace assay {

struct datatype {
    std::string name;                   // as in a case name: alphabet [a-z0-9_.+]
    std::string title;                  // the name in table 4.5 of Keller's thesis, "" if it does not stand there
    std::string note;                   // one line: how it is made, with the section of MPI-5.0
    assay::layout map;                  // of one element
    std::function<MPI_Datatype()> make; // committed, ready to communicate; MPI_DATATYPE_NULL: the library lacks it
    bool predefined = false;            // not to be freed
    // Why it cannot exist here, or "".
    std::function<std::string(job const&)> lacks = [](job const&) { return std::string(); };
};

// Registration: a namespace-scope object in the family's file. The catalogue is ordered by name.
struct register_datatype {
    explicit register_datatype(datatype entry);
};
std::vector<datatype> const& all_datatypes();

} // namespace assay
