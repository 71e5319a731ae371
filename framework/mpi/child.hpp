// Processes that a case spawned: copies of this program that run the body of the same case, on the other side. They have no
// event log; what they find they write to the standard error of the rank that spawned them, where the engine sees it.
#pragma once
#include "framework/mpi/run.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Whether this process was spawned by a case, the arguments that the case gave it, and what it is to tell at its end.
bool is_child();
std::vector<std::string> const& arguments_of_child();
void tell_findings(); // while the parents still wait for a message: what is told later could be another case's

// What to hand to MPI_Comm_spawn on the root.
class child_command {
public:
    child_command(test_run const& mpi, std::vector<std::string> const& arguments);
    char* program() { return words_.front().data(); }
    char** arguments() { return pointers_.data(); }

private:
    std::vector<std::string> words_;
    std::vector<char*> pointers_;
};

// Whether what came on stderr holds a finding, or the last words, of a spawned process.
bool told_by_child(std::string_view text);

// The end of main for a process started by such a command; -1 if this process is none.
int run_as_child(int argc, char** argv);

} // namespace assay
