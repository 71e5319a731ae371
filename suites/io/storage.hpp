// Storage that refuses what is written to it: a file system that is or gets full, a limit on the size of files, and places
// where nothing may be changed. All of it ends with the case, also with a process that dies.
#pragma once
#include "suites/io/file.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::io {

// A file system of its own over the folder of a scratch_file, seen by the processes of the case alone. Rank 0 mounts it
// (tmpfs(5)) in a mount namespace that the others enter, so that the system forgets it with its last process
// (mount_namespaces(7)). All members of the case's communicator make and destroy it together, in tests that are not thread_safe.
class own_file_system {
public:
    // Room for `bytes` of data, rounded up to pages. Ends the body as unsupported where the ranks run on several machines.
    own_file_system(test_run& mpi, scratch_file const& scratch, std::size_t bytes);
    ~own_file_system();
    own_file_system(own_file_system const&) = delete;
    own_file_system& operator=(own_file_system const&) = delete;

    // Of rank 0: makes the file of these bytes. Returns whether there was room.
    bool write(std::vector<unsigned char> const& content) const;
    void fill() const;           // of rank 0: nothing more can be written
    void make_read_only() const; // of rank 0: while no file is open

    // For axes: why this process may not mount, or "".
    static std::string lacks(job const& j);
    static std::size_t page(); // bytes: the room of a file system is a multiple

private:
    void leave();

    test_run& mpi_;
    std::string folder_, path_, before_; // before_: the working directory, which setns(2) changes
    int home_ = -1;                      // descriptor of the namespace that the process came from
};

// While it lives, this process can write no file beyond `bytes`: setrlimit(2) with SIGXFSZ ignored, so that the system
// says EFBIG.
class file_size_limit {
public:
    explicit file_size_limit(std::size_t bytes);
    ~file_size_limit();
    file_size_limit(file_size_limit const&) = delete;
    file_size_limit& operator=(file_size_limit const&) = delete;

    static std::string lacks(job const& j); // for axes: why there can be none, or ""

private:
    unsigned long before_ = 0; // the limit
    void (*handler_)(int) = nullptr;
};

// While it lives, permissions bind this thread even if it is root's: CAP_DAC_OVERRIDE is laid down (capabilities(7)).
class bound_by_permissions {
public:
    bound_by_permissions();
    ~bound_by_permissions();
    bound_by_permissions(bound_by_permissions const&) = delete;
    bound_by_permissions& operator=(bound_by_permissions const&) = delete;

private:
    bool had_ = false;
};

} // namespace assay::io
