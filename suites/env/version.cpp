// What a library says of itself (MPI-5.0 section 9.1.1).
#include "framework/mpi/run.hpp"
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

using namespace assay;

ASSAY_TEST(env, version, requirements{"env.get_version", "env.library_version"}, over(communicators::world()),
           thread_safe{}) {
    using version = std::pair<int, int>;
    constexpr std::array<version, 12> published = {
        {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 2}, {3, 0}, {3, 1}, {4, 0}, {4, 1}, {5, 0}}};
    version is{-7, -7};
    mpi.ok(MPI_Get_version(&is.first, &is.second));
    // A library may keep to a version that came after this test.
    mpi.check(is > published.back() || std::find(published.begin(), published.end(), is) != published.end(),
              finding::value,
              "MPI_Get_version gives " + std::to_string(is.first) + "." + std::to_string(is.second) +
                  ", which is no version of MPI");
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 16> text;
    text.fill(static_cast<char>(poison_byte));
    int length = -7;
    mpi.ok(MPI_Get_library_version(text.data(), &length));
    auto const* const end = static_cast<char const*>(std::memchr(text.data(), 0, MPI_MAX_LIBRARY_VERSION_STRING));
    if (mpi.check(end != nullptr, finding::value, "MPI_Get_library_version gives a string that does not end in time"))
        mpi.check(length == end - text.data(), finding::value,
                  "MPI_Get_library_version gives length " + std::to_string(length) + " for a string of " +
                      std::to_string(end - text.data()) + " characters");
    mpi.check(std::all_of(text.begin() + MPI_MAX_LIBRARY_VERSION_STRING, text.end(),
                          [](char c) { return c == static_cast<char>(poison_byte); }),
              finding::guard, "MPI_Get_library_version wrote after MPI_MAX_LIBRARY_VERSION_STRING characters");
}
