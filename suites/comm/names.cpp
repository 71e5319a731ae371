// Names of communicators (MPI-5.0 section 7.8).
#include "suites/comm/comm.hpp"

#include <cstring>
#include <fmt/format.h>

using namespace assay;

namespace {

void expect_name(test_run& mpi, MPI_Comm comm, std::string const& expected, std::string const& whose,
                 std::source_location where = std::source_location::current()) {
    char got[MPI_MAX_OBJECT_NAME + 16];
    std::memset(got, poison_byte, sizeof got);
    int length = -7;
    if (!mpi.ok(MPI_Comm_get_name(comm, got, &length), where)) return;
    auto const* const end = static_cast<char const*>(std::memchr(got, 0, MPI_MAX_OBJECT_NAME));
    if (!mpi.check(end != nullptr, finding::value,
                   whose + ": MPI_Comm_get_name gives a string that does not end in time", where))
        return;
    std::string const found(got, static_cast<std::size_t>(end - got));
    mpi.check(found == expected, finding::value,
              fmt::format("{} has the name \"{}\", expected \"{}\"", whose, found, expected), where);
    expect_number(mpi, length, static_cast<int>(found.size()), whose + ": the length of its name", where);
    for (auto i = static_cast<std::size_t>(MPI_MAX_OBJECT_NAME); i < sizeof got; ++i)
        if (!mpi.check(got[i] == static_cast<char>(poison_byte), finding::guard,
                       whose + ": MPI_Comm_get_name wrote after MPI_MAX_OBJECT_NAME characters", where))
            break;
}

} // namespace

ASSAY_TEST(comm, name_predefined, requirements{"name.predefined", "name.max"}, over(communicators::world()),
           thread_safe{}) {
    expect_name(mpi, MPI_COMM_WORLD, "MPI_COMM_WORLD", "MPI_COMM_WORLD");
    expect_name(mpi, MPI_COMM_SELF, "MPI_COMM_SELF", "MPI_COMM_SELF");
    if (followed_version() >= 30) // before, the standard did not say how long names may be
        mpi.check(MPI_MAX_OBJECT_NAME >= 64, finding::value,
                  fmt::format("MPI_MAX_OBJECT_NAME is {}, less than 64", MPI_MAX_OBJECT_NAME));
}

ASSAY_TEST(comm, name_null, requirements{"name.null"}, over(communicators::world()), thread_safe{}) {
    if (followed_version() < 41) mpi.unsupported("before MPI-4.1 MPI_COMM_NULL had no name");
    expect_name(mpi, MPI_COMM_NULL, "MPI_COMM_NULL", "MPI_COMM_NULL");
}

ASSAY_TEST(comm, name,
           requirements{"name.empty", "name.set", "name.replaced", "name.copied", "name.leading", "name.local"},
           over(few()), thread_safe{}) {
    MPI_Comm copy = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &copy));
    expect_name(mpi, copy, "", "a new communicator");
    char text[64] = "the first name";
    mpi.ok(MPI_Comm_set_name(copy, text));
    std::memset(text, 'x', 14);
    expect_name(mpi, copy, "the first name", "a named communicator");
    mpi.ok(MPI_Comm_set_name(copy, "short"));
    expect_name(mpi, copy, "short", "a communicator with another name");
    mpi.ok(MPI_Comm_set_name(copy, "  two blanks in front"));
    expect_name(mpi, copy, "  two blanks in front", "a communicator whose name begins with blanks");
    auto const own = fmt::format("of process {}", own_process());
    mpi.ok(MPI_Comm_set_name(copy, own.c_str()));
    expect_name(mpi, copy, own, "a communicator with a name of each process's own");
    mpi.ok(MPI_Comm_set_name(copy, ""));
    expect_name(mpi, copy, "", "a communicator whose name was taken away");
    free_communicator(mpi, copy);
}

ASSAY_TEST(comm, name_longest, requirements{"name.max", "name.truncated"}, over(communicators::world()),
           thread_safe{}) {
    MPI_Comm copy = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &copy));
    std::string longest;
    for (int i = 0; i < MPI_MAX_OBJECT_NAME - 1; ++i) longest += static_cast<char>('a' + i % 26);
    mpi.ok(MPI_Comm_set_name(copy, longest.c_str()));
    expect_name(mpi, copy, longest, "a communicator with the longest name");
    mpi.ok(MPI_Comm_set_name(copy, "in between"));
    mpi.ok(MPI_Comm_set_name(copy, (longest + "beyond it").c_str()));
    expect_name(mpi, copy, longest, "a communicator with a name that is too long");
    free_communicator(mpi, copy);
}

ASSAY_TEST(comm, name_not_inherited, requirements{"name.not_inherited"}, over(axis_use{&duplications()}, few()),
           thread_safe{}) {
    MPI_Comm base = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &base));
    mpi.ok(MPI_Comm_set_name(base, "original"));
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), base);
    expect_name(mpi, copy, "", "the duplicate of a named communicator");
    expect_name(mpi, base, "original", "the original");
    mpi.ok(MPI_Comm_set_name(copy, "duplicate"));
    expect_name(mpi, base, "original", "the original after the duplicate was named");
    free_communicator(mpi, copy);
    free_communicator(mpi, base);
}

// A name given by MPI does not prevent another.
ASSAY_TEST(comm, name_of_world, requirements{"name.predefined.replaced"}, over(communicators::world())) {
    mpi.ok(MPI_Comm_set_name(MPI_COMM_WORLD, "everybody"));
    expect_name(mpi, MPI_COMM_WORLD, "everybody", "MPI_COMM_WORLD with a name of its own");
    mpi.ok(MPI_Comm_set_name(MPI_COMM_WORLD, "MPI_COMM_WORLD"));
    expect_name(mpi, MPI_COMM_WORLD, "MPI_COMM_WORLD", "MPI_COMM_WORLD");
}
