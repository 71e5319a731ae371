// The main of a program of tests about a framework under MPI. It starts its ranks itself: by hand assay-ofi --np=2
// --gtest_filter='ofi.ring/*', under the runner --plan=FILE --job=DIR --np=N. See docs/formats.md.
#pragma once
#include <string>
#include <sys/types.h>

namespace assay::native {

struct tested_framework {
    char const* program; // "assay-ofi"
    char const* about;
    std::string headers;                     // the version that it is built with
    std::string (*library)();                // the name and version of what is loaded: "libfabric 1.17"
    std::string (*error_text)(ssize_t code); // what a call returned, in the framework's own words
};

int main_of(tested_framework const& about, int argc, char** argv);

} // namespace assay::native
