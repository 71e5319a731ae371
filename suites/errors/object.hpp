// The four kinds of objects that have error handlers, behind one face (MPI-5.0 sections 9.3.1 to 9.3.4).
#pragma once
#include "framework/mpi/run.hpp"

#include <vector>

namespace assay::errors {

enum class kind { comm, window, file, session };
axis<kind> const& kinds();

// What a handler was told. `who` tells apart the handlers of a test.
struct call {
    int who = -7, code = -7;
    bool right_object = false; // the one that the test works on
};
std::vector<call>& calls(); // since they were last cleared

class object {
public:
    object(test_run& mpi, kind k); // a duplicate of MPI_COMM_SELF, a window, file or session of one's own
    ~object();
    object(object const&) = delete;
    object& operator=(object const&) = delete;

    int create(int who, MPI_Errhandler* handler) const; // who: 0 or 1
    int set(MPI_Errhandler handler) const;
    int get(MPI_Errhandler* handler) const;
    int call_handler(int code) const;
    char const* name() const; // "MPI_Comm", as procedures begin
    MPI_Comm comm() const { return comm_; }
    MPI_Win window() const { return window_; }
    MPI_File file() const { return file_; }

private:
    test_run& mpi_;
    kind kind_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    MPI_File file_ = MPI_FILE_NULL;
    MPI_Session session_ = MPI_SESSION_NULL;
};

// A handler of communicators that notes its calls; `expected` is the communicator that it should be told of.
int create_for_comm(int who, MPI_Errhandler* handler);
void expect_comm(MPI_Comm expected);

// Records a finding unless exactly one handler was called, `who`, with this code and the right object. Then forgets the calls.
void expect_one_call(test_run& mpi, int who, int code, char const* why,
                     std::source_location where = std::source_location::current());
void expect_no_call(test_run& mpi, char const* why, std::source_location where = std::source_location::current());

} // namespace assay::errors
