#include "files.hpp"

#include <fcntl.h>
#include <map>
#include <mutex>
#include <unistd.h>

namespace assay_faults {

namespace {
std::mutex lock;
std::map<MPI_File, opened> files;
} // namespace

opened& known(MPI_File file) {
    std::lock_guard const guard(lock);
    return files[file]; // references into a map stay valid
}

std::vector<MPI_File> others_open(MPI_File file) {
    std::lock_guard const guard(lock);
    std::vector<MPI_File> found;
    for (auto const& [other, entry] : files)
        if (other != file && entry.open && entry.path == files[file].path) found.push_back(other);
    return found;
}

bool is_open(std::string const& path) {
    std::lock_guard const guard(lock);
    for (auto const& [file, entry] : files)
        if (entry.open && entry.path == path) return true;
    return false;
}

bool another_is_splitting(MPI_File file) {
    std::lock_guard const guard(lock);
    for (auto const& [other, entry] : files)
        if (other != file && entry.open && !entry.split.empty()) return true;
    return false;
}

int rank_of(MPI_File file, int& size) {
    MPI_Group group = MPI_GROUP_NULL;
    int rank = 0;
    PMPI_File_get_group(file, &group);
    PMPI_Group_rank(group, &rank);
    PMPI_Group_size(group, &size);
    PMPI_Group_free(&group);
    return rank;
}

void release(MPI_Datatype type) {
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&type);
}

namespace {
struct view {
    explicit view(MPI_File file) { PMPI_File_get_view(file, &displacement, &etype, &filetype, representation); }
    ~view() {
        release(etype);
        release(filetype);
    }
    view(view const&) = delete;
    view& operator=(view const&) = delete;

    MPI_Offset displacement = 0;
    MPI_Datatype etype = MPI_BYTE, filetype = MPI_BYTE;
    char representation[MPI_MAX_DATAREP_STRING + 1] = "";
};
} // namespace

MPI_Offset etypes(data_access const& a) {
    view const v(a.file);
    int whole = 0, one = 1;
    PMPI_Type_size(v.etype, &one);
    PMPI_Type_size(a.type, &whole);
    return MPI_Offset{whole} * a.count / (one > 0 ? one : 1);
}

MPI_Offset displacement_of(MPI_File file) { return view(file).displacement; }

void scribble(std::string const& path, MPI_Offset at) {
    int const fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    char const byte = 0x11;
    if (fd < 0) return;
    (void)!pwrite(fd, &byte, 1, at);
    close(fd);
}

} // namespace assay_faults
