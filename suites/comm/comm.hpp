// What tests of groups and communicators share. Processes are named by their ranks in MPI_COMM_WORLD; which of them belong
// to a communicator is computed from its definition in communicators/.
#pragma once
#include "framework/mpi/run.hpp"

#include <source_location>
#include <string>
#include <vector>

namespace assay {

using processes = std::vector<int>; // ranks in MPI_COMM_WORLD, in the order of a group
std::string text(std::vector<int> const& numbers);

int own_process(); // the caller's rank in MPI_COMM_WORLD
// The groups of the case's communicator, by definition; `remote` is empty for an intracommunicator.
processes local_of(test_run const& mpi);
processes remote_of(test_run const& mpi);

// The communicators that tests of objects cross: few, for what moves no data does not depend on more.
axis_use few(); // all processes in order, in reverse, and subsets

// Records unless the numbers agree; "<what> is 3, expected 2".
bool expect_number(test_run& mpi, long long got, long long expected, std::string const& what,
                   std::source_location where = std::source_location::current());

// Whether `group` has exactly these members in this order.
bool expect_group(test_run& mpi, MPI_Group group, processes const& expected, std::string const& what,
                  std::source_location where = std::source_location::current());

// Whether `comm` joins exactly these processes in this order: asked from it, and proven by a collective operation on it.
// Every member calls it. Makes errors on `comm` return.
bool expect_communicator(test_run& mpi, MPI_Comm comm, processes const& local, processes const& remote,
                         std::string const& what, std::source_location where = std::source_location::current());

// The handle must become MPI_COMM_NULL. MPI_COMM_NULL is left alone.
void free_communicator(test_run& mpi, MPI_Comm& comm, std::source_location where = std::source_location::current());

// Ranks `ranks` of the group of an intracommunicator, to be freed by the caller.
MPI_Group subgroup(test_run& mpi, MPI_Comm comm, std::vector<int> const& ranks);

// Frees a group at the end of its scope.
class group_handle {
public:
    explicit group_handle(MPI_Group group = MPI_GROUP_NULL) : group_(group) {}
    ~group_handle();
    group_handle(group_handle const&) = delete;
    group_handle& operator=(group_handle const&) = delete;
    operator MPI_Group() const { return group_; }
    MPI_Group* address() { return &group_; }

private:
    MPI_Group group_;
};

// The four ways to duplicate a communicator (section 7.4.2).
enum class duplication { dup, idup, dup_with_info, idup_with_info };
axis<duplication> const& duplications();
// Collective. The name of the procedure; and a duplicate, with `info` where the call takes one.
char const* name_of(duplication how);
MPI_Comm duplicate(test_run& mpi, duplication how, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL);
bool takes_info(duplication how);

} // namespace assay
