// The data access routines of table 12 of MPI-5.0 (section 14.4.1): position × coordination × synchronism.
#pragma once
#include "suites/io/file.hpp"

namespace assay::io {

enum class direction { read, write };
enum class positioning { explicit_offset, individual, shared, ordered };
enum class synchronism { blocking, nonblocking, split };

struct data_access {
    direction way;
    positioning where;
    bool collective;
    synchronism how;
    bool uses_shared_pointer() const { return where == positioning::shared || where == positioning::ordered; }
};

axis<data_access> const& accesses();
// Whether counts are MPI_Count: the procedures whose names end in _c.
axis<bool> const& forms();
inline axis_use reads() {
    return only(accesses(), [](data_access const& a) { return a.way == direction::read; });
}
inline axis_use writes() {
    return only(accesses(), [](data_access const& a) { return a.way == direction::write; });
}
// For tests in which neither the datatype nor the count matters: 17 elements of MPI_INT.
inline axis_use ints() { return datatypes::of({"int"}); }
inline axis_use seventeen() { return counts::elements({17}); }
// All ranks must have the same view when the shared file pointer is used (section 14.4.4).
constraint shared_pointer_needs_same_view();

// One access of `count` elements of the case's datatype: begun, and completed with its status.
class running_access {
public:
    running_access(test_run& mpi, data_access const& what, MPI_File file)
        : mpi_(mpi), what_(what), file_(file), type_(mpi.type) {}
    running_access(running_access const&) = delete;
    running_access& operator=(running_access const&) = delete;
    void begin(std::size_t offset, void* buffer, int count); // `offset` in etypes, for explicit offsets only
    MPI_Status const& end();
    void ignore_status() { to_ = MPI_STATUS_IGNORE; }
    void with_large_counts(bool wanted) { large_ = wanted; }
    void of_type(MPI_Datatype type) { type_ = type; } // another one than the case's
    MPI_Request& request() { return request_; }       // of a nonblocking access, for who completes it without end()
    void may_fail() { may_fail_ = true; }             // error codes are no findings: failure() has them
    int failure() const { return failure_; }          // the first code that was not MPI_SUCCESS

private:
    int call(MPI_Offset offset, void* buffer, int count);
    void judge(int code);

    test_run& mpi_;
    data_access what_;
    MPI_File file_;
    MPI_Datatype type_;
    void* buffer_ = nullptr;
    MPI_Request request_ = MPI_REQUEST_NULL;
    MPI_Status status_ = poisoned_status();
    MPI_Status* to_ = &status_;
    bool large_ = false, may_fail_ = false;
    int failure_ = MPI_SUCCESS;
};

} // namespace assay::io
