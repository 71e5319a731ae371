// What the unit tests are about, said before any of them begins.
#include "framework/mpi/subject.hpp"

namespace {
[[maybe_unused]] bool const known = (assay::set_subject(assay::mpi_library()), true);
}
