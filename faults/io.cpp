// Wrappers of the I/O procedures. Each goes straight to PMPI when no fault is planted.
#include "core/core.hpp"

#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

using namespace assay_faults;

namespace {

enum class way { read, write };
enum class pointer { none, individual, shared, ordered };
enum class how { blocking, immediate, split };

// One data access, as the caller asked for it or as it is done in the end.
struct data_access {
    way direction;
    pointer position;
    bool collective;
    how kind;
    MPI_File file;
    MPI_Offset offset;
    void* buffer;
    int count;
    MPI_Datatype type;
};

// What is known of an open file; handles are opaque.
struct opened {
    std::string path;
    MPI_Offset hole = -1; // a byte that the view does not show
    bool hints = false;   // somebody gave some
    int infos = 0;        // calls of MPI_File_set_info
    bool atomic = false;
    std::vector<data_access> late = {}; // writes that are done at the end
};
std::mutex lock;
std::map<MPI_File, opened> files;

opened& known(MPI_File file) {
    std::lock_guard const guard(lock);
    return files[file]; // references into a map stay valid
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

// None leaves before all have come.
void wait_for_all(MPI_File file) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    PMPI_File_get_group(file, &group);
    PMPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
    PMPI_Barrier(comm);
    PMPI_Comm_free(&comm);
    PMPI_Group_free(&group);
}

void release(MPI_Datatype type) {
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&type);
}

// Whether a binding with MPI_Count arguments made it (MPI-5.0 section 5.1.13).
bool has_large_counts([[maybe_unused]] MPI_Datatype type) {
    MPI_Count counts = 0;
#if MPI_VERSION >= 4
    MPI_Count integers = 0, addresses = 0, types = 0;
    int combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
#endif
    return counts > 0;
}

// Etypes of the current view that hold `count` elements.
MPI_Offset etypes(data_access const& a) {
    MPI_Offset displacement = 0;
    MPI_Datatype etype = MPI_BYTE, filetype = MPI_BYTE;
    char representation[MPI_MAX_DATAREP_STRING + 1];
    int whole = 0, one = 1;
    PMPI_File_get_view(a.file, &displacement, &etype, &filetype, representation);
    PMPI_Type_size(etype, &one);
    PMPI_Type_size(a.type, &whole);
    release(etype);
    release(filetype);
    return MPI_Offset{whole} * a.count / (one > 0 ? one : 1);
}

char* first_byte(data_access const& a) {
    MPI_Aint true_lb = 0, true_extent = 0;
    PMPI_Type_get_true_extent(a.type, &true_lb, &true_extent);
    return true_extent > 0 && a.count > 0 ? static_cast<char*>(a.buffer) + true_lb : nullptr;
}
char* behind_last_byte(data_access const& a) {
    MPI_Aint true_lb = 0, true_extent = 0, lb = 0, extent = 0;
    PMPI_Type_get_true_extent(a.type, &true_lb, &true_extent);
    PMPI_Type_get_extent(a.type, &lb, &extent);
    return a.count > 0 && extent > 0 ? static_cast<char*>(a.buffer) + (a.count - 1) * extent + true_lb + true_extent
                                     : nullptr;
}

// As if `count` elements had been accessed.
void set_count(MPI_Status* status, MPI_Datatype type, int count) {
    int size = 0;
    PMPI_Type_size(type, &size);
    PMPI_Status_set_elements(status, MPI_BYTE, size * count);
}

// Changes what is done.
void before(data_access& a) {
    bool const writes = a.direction == way::write;
    auto const shorten_if = [&](bool applies) {
        if (applies && a.count > 0) --a.count;
    };
    switch (planted) {
    case fault::io_write_short: return shorten_if(writes && a.kind == how::blocking && !a.collective);
    case fault::io_write_all_short: return shorten_if(writes && a.kind == how::blocking && a.collective);
    case fault::io_iwrite_short: return shorten_if(writes && a.kind == how::immediate);
    case fault::io_iread_short: return shorten_if(!writes && a.kind == how::immediate);
    case fault::io_split_write_short: return shorten_if(writes && a.kind == how::split);
    case fault::io_split_read_short: return shorten_if(!writes && a.kind == how::split);
    case fault::io_collective_rank_lost:
        if (writes && a.collective && world_rank == 1) a.count = 0;
        return;
    case fault::io_offset_plus_one:
        if (a.position == pointer::none && a.count > 0) ++a.offset;
        return;
    case fault::io_hints_harm: return shorten_if(writes && known(a.file).hints);
    default: return;
    }
}

// Changes what was done. `a` is what the caller asked for; `status` is nullptr where there is none yet.
void after(data_access const& a, MPI_Status* status) {
    bool const writes = a.direction == way::write;
    switch (planted) {
    case fault::io_read_first_byte:
        if (char* first = writes || a.kind != how::blocking ? nullptr : first_byte(a)) spoil(first);
        return;
    case fault::io_read_past_end:
        if (char* end = writes || a.kind != how::blocking ? nullptr : behind_last_byte(a)) spoil(end);
        return;
    case fault::io_write_spoils_buffer:
        if (char* first = writes && a.kind == how::blocking ? first_byte(a) : nullptr) spoil(first);
        return;
    case fault::io_status_count:
        if (status != nullptr) PMPI_Status_set_elements(status, MPI_BYTE, bytes_of(status) + 1);
        return;
    case fault::io_status_of_request: // of all that was asked for, whatever there was
        if (status != nullptr) set_count(status, a.type, a.count);
        return;
    case fault::io_status_cancelled:
        if (status != nullptr) PMPI_Status_set_cancelled(status, 1);
        return;
    case fault::io_pointer_stays:
        if (a.position == pointer::individual) PMPI_File_seek(a.file, -etypes(a), MPI_SEEK_CUR);
        return;
    case fault::io_explicit_moves_pointer:
        if (a.position == pointer::none && a.count > 0) PMPI_File_seek(a.file, 1, MPI_SEEK_CUR);
        return;
    default: return;
    }
}

bool write_was_refused = false;

// What comes of a write that failed.
int refused(data_access const& a, MPI_Status* status, int code) {
    if (a.direction == way::read) return code;
    switch (planted) {
    case fault::io_refused_hangs:
        for (;;) pause();
    case fault::io_refused_short:
        if (status != nullptr) set_count(status, a.type, a.count / 2);
        return MPI_SUCCESS;
    case fault::io_refused_silent:
        if (status != nullptr) set_count(status, a.type, a.count);
        return MPI_SUCCESS;
    case fault::io_refused_lasts: write_was_refused = true; return code;
    default: return code;
    }
}

template <class Call> int with_status(data_access a, MPI_Status* given, Call call) {
    if (idle()) return call(a, given);
    MPI_Status own{};
    MPI_Status* const status = given == MPI_STATUS_IGNORE ? &own : given;
    auto const asked = a;
    if (planted == fault::io_writes_late && a.direction == way::write && a.position == pointer::none && !a.collective) {
        set_count(status, a.type, a.count);
        PMPI_Status_set_cancelled(status, 0);
        known(a.file).late.push_back(a);
        return MPI_SUCCESS;
    }
    if (planted == fault::io_atomic_torn && a.direction == way::write && known(a.file).atomic && world_rank == 1 &&
        a.position == pointer::none && a.count > 1) { // the first element is missing
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_extent(a.type, &lb, &extent);
        a.buffer = static_cast<char*>(a.buffer) + extent;
        data_access one = a;
        one.count = 1;
        a.offset += etypes(one);
        --a.count;
        int const code = call(a, status);
        set_count(status, a.type, asked.count);
        return code;
    }
    if (planted == fault::io_read_shared_same && a.position == pointer::shared && a.direction == way::read)
        return PMPI_File_read_at(a.file, 0, a.buffer, a.count, a.type, status);
    if (planted == fault::io_write_shared_same && a.position == pointer::shared && a.direction == way::write)
        return PMPI_File_write_at(a.file, 0, a.buffer, a.count, a.type, status);
    if (planted == fault::io_ordered_backwards && a.position == pointer::ordered && a.kind == how::blocking) {
        int size = 1;
        int const rank = rank_of(a.file, size);
        // The last rank comes first. The pointer is moved by an ordered access of the same size.
        MPI_Offset at = 0;
        int amode = 0;
        PMPI_File_get_amode(a.file, &amode);
        if ((amode & MPI_MODE_SEQUENTIAL) != 0) return call(a, status);
        PMPI_File_get_position_shared(a.file, &at);
        wait_for_all(a.file); // before the first of them moves it
        auto const each = etypes(a);
        PMPI_File_seek_shared(a.file, at + each * size, MPI_SEEK_SET);
        auto const there = at + each * (size - 1 - rank);
        return a.direction == way::write ? PMPI_File_write_at_all(a.file, there, a.buffer, a.count, a.type, status)
                                         : PMPI_File_read_at_all(a.file, there, a.buffer, a.count, a.type, status);
    }
    before(a);
    int const code = call(a, status);
    if (code != MPI_SUCCESS) return refused(asked, status, code);
    // Faults that shorten an access keep silent about it.
    if (a.count != asked.count) set_count(status, a.type, asked.count);
    after(asked, status);
    return code;
}

template <class Call> int without_status(data_access a, Call call) {
    if (idle()) return call(a);
    auto const asked = a;
    before(a);
    int const code = call(a);
    after(asked, nullptr);
    return code == MPI_SUCCESS ? code : refused(asked, nullptr, code);
}

// Where the view begins, in bytes.
MPI_Offset displacement_of(MPI_File file) {
    MPI_Offset displacement = 0;
    MPI_Datatype types[2];
    char representation[MPI_MAX_DATAREP_STRING];
    PMPI_File_get_view(file, &displacement, &types[0], &types[1], representation);
    for (auto& type : types) {
        int integers = 0, addresses = 0, old = 0, combiner = MPI_COMBINER_NAMED;
        PMPI_Type_get_envelope(type, &integers, &addresses, &old, &combiner);
        if (combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&type);
    }
    return displacement;
}

} // namespace

extern "C" {

// The 28 data access routines differ in a few words.
#define A_READ void*
#define A_WRITE void const*
#define BUFFER_OF(direction) A_##direction
#define WAY_READ way::read
#define WAY_WRITE way::write

#define AT(name, direction, all)                                                                                       \
    int MPI_File_##name(MPI_File file, MPI_Offset offset, BUFFER_OF(direction) buffer, int count, MPI_Datatype type,   \
                        MPI_Status* status) {                                                                          \
        return with_status({WAY_##direction, pointer::none, all, how::blocking, file, offset,                          \
                            const_cast<void*>(buffer), count, type},                                                   \
                           status, [](data_access const& a, MPI_Status* s) {                                           \
                               return PMPI_File_##name(a.file, a.offset, a.buffer, a.count, a.type, s);                \
                           });                                                                                         \
    }
#define BY_POINTER(name, direction, which, all)                                                                        \
    int MPI_File_##name(MPI_File file, BUFFER_OF(direction) buffer, int count, MPI_Datatype type,                      \
                        MPI_Status* status) {                                                                          \
        return with_status(                                                                                            \
            {WAY_##direction, pointer::which, all, how::blocking, file, 0, const_cast<void*>(buffer), count, type},    \
            status, [](data_access const& a, MPI_Status* s) {                                                          \
                return PMPI_File_##name(a.file, a.buffer, a.count, a.type, s);                                         \
            });                                                                                                        \
    }
#define REQUEST_AT(name, direction, all)                                                                               \
    int MPI_File_##name(MPI_File file, MPI_Offset offset, BUFFER_OF(direction) buffer, int count, MPI_Datatype type,   \
                        MPI_Request* request) {                                                                        \
        return without_status({WAY_##direction, pointer::none, all, how::immediate, file, offset,                      \
                               const_cast<void*>(buffer), count, type},                                                \
                              [request](data_access const& a) {                                                        \
                                  return PMPI_File_##name(a.file, a.offset, a.buffer, a.count, a.type, request);       \
                              });                                                                                      \
    }
#define REQUEST_BY_POINTER(name, direction, which, all)                                                                \
    int MPI_File_##name(MPI_File file, BUFFER_OF(direction) buffer, int count, MPI_Datatype type,                      \
                        MPI_Request* request) {                                                                        \
        return without_status(                                                                                         \
            {WAY_##direction, pointer::which, all, how::immediate, file, 0, const_cast<void*>(buffer), count, type},   \
            [request](data_access const& a) { return PMPI_File_##name(a.file, a.buffer, a.count, a.type, request); }); \
    }
#define BEGIN_AT(name, direction)                                                                                      \
    int MPI_File_##name(MPI_File file, MPI_Offset offset, BUFFER_OF(direction) buffer, int count, MPI_Datatype type) { \
        return without_status(                                                                                         \
            {WAY_##direction, pointer::none, true, how::split, file, offset, const_cast<void*>(buffer), count, type},  \
            [](data_access const& a) { return PMPI_File_##name(a.file, a.offset, a.buffer, a.count, a.type); });       \
    }
#define BEGIN_BY_POINTER(name, direction, which)                                                                       \
    int MPI_File_##name(MPI_File file, BUFFER_OF(direction) buffer, int count, MPI_Datatype type) {                    \
        return without_status(                                                                                         \
            {WAY_##direction, pointer::which, true, how::split, file, 0, const_cast<void*>(buffer), count, type},      \
            [](data_access const& a) { return PMPI_File_##name(a.file, a.buffer, a.count, a.type); });                 \
    }
AT(read_at, READ, false)
AT(write_at, WRITE, false)
AT(read_at_all, READ, true)
AT(write_at_all, WRITE, true)
BY_POINTER(read, READ, individual, false)
BY_POINTER(write, WRITE, individual, false)
BY_POINTER(read_all, READ, individual, true)
BY_POINTER(write_all, WRITE, individual, true)
BY_POINTER(read_shared, READ, shared, false)
BY_POINTER(write_shared, WRITE, shared, false)
BY_POINTER(read_ordered, READ, ordered, true)
BY_POINTER(write_ordered, WRITE, ordered, true)
REQUEST_AT(iread_at, READ, false)
REQUEST_AT(iwrite_at, WRITE, false)
REQUEST_AT(iread_at_all, READ, true)
REQUEST_AT(iwrite_at_all, WRITE, true)
REQUEST_BY_POINTER(iread, READ, individual, false)
REQUEST_BY_POINTER(iwrite, WRITE, individual, false)
REQUEST_BY_POINTER(iread_all, READ, individual, true)
REQUEST_BY_POINTER(iwrite_all, WRITE, individual, true)
REQUEST_BY_POINTER(iread_shared, READ, shared, false)
REQUEST_BY_POINTER(iwrite_shared, WRITE, shared, false)
BEGIN_AT(read_at_all_begin, READ)
BEGIN_AT(write_at_all_begin, WRITE)
BEGIN_BY_POINTER(read_all_begin, READ, individual)
BEGIN_BY_POINTER(write_all_begin, WRITE, individual)
BEGIN_BY_POINTER(read_ordered_begin, READ, ordered)
BEGIN_BY_POINTER(write_ordered_begin, WRITE, ordered)

#define END(name, direction)                                                                                           \
    int MPI_File_##name(MPI_File file, BUFFER_OF(direction) buffer, MPI_Status* status) {                              \
        int const code = PMPI_File_##name(file, buffer, status);                                                       \
        if (planted == fault::io_status_cancelled && status != MPI_STATUS_IGNORE)                                      \
            PMPI_Status_set_cancelled(status, 1);                                                                      \
        if (planted == fault::io_refused_silent && WAY_##direction == way::write) return MPI_SUCCESS;                  \
        return code;                                                                                                   \
    }
END(read_at_all_end, READ)
END(write_at_all_end, WRITE)
END(read_all_end, READ)
END(write_all_end, WRITE)
END(read_ordered_end, READ)
END(write_ordered_end, WRITE)

int MPI_File_sync(MPI_File file) {
    int const code = PMPI_File_sync(file);
    return write_was_refused ? MPI_ERR_OTHER : code;
}

// ---- Files

int MPI_File_open(MPI_Comm comm, char const* path, int amode, MPI_Info info, MPI_File* file) {
    if (idle()) return PMPI_File_open(comm, path, amode, info, file);
    if (planted == fault::io_append_ignored) amode &= ~MPI_MODE_APPEND;
    if (planted == fault::io_delete_on_close_ignored) amode &= ~MPI_MODE_DELETE_ON_CLOSE;
    if (planted == fault::io_excl_ignored) amode &= ~MPI_MODE_EXCL;
    bool const was_there = access(path, F_OK) == 0;
    int const code = PMPI_File_open(comm, path, amode, info, file);
    // MPICH returns MPI_SUCCESS after an error handler of the user.
    if (code != MPI_SUCCESS && planted == fault::io_open_silent) {
        *file = MPI_FILE_NULL;
        return MPI_SUCCESS;
    }
    if (code != MPI_SUCCESS || *file == MPI_FILE_NULL)
        return planted == fault::io_open_error_class ? MPI_ERR_OTHER : code;
    auto& entry = known(*file);
    entry = opened{path};
    entry.hints = info != MPI_INFO_NULL;
    if (planted == fault::io_open_truncates && was_there && (amode & MPI_MODE_RDWR) != 0) PMPI_File_set_size(*file, 0);
    if (planted == fault::io_sequential_refused && (amode & MPI_MODE_SEQUENTIAL) != 0) {
        PMPI_File_close(file);
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return code;
}

int MPI_File_close(MPI_File* file) {
    if (idle()) return PMPI_File_close(file);
    auto const entry = known(*file);
    auto const handle = *file;
    for (auto const& a : entry.late) {
        MPI_Status status;
        PMPI_File_write_at(a.file, a.offset, a.buffer, a.count, a.type, &status);
    }
    int size = 0;
    int const rank = rank_of(handle, size);
    int const code = PMPI_File_close(file);
    auto const scribble = [&](MPI_Offset at) {
        int const fd = rank == 0 ? ::open(entry.path.c_str(), O_WRONLY) : -1;
        char const byte = 0x11;
        if (fd >= 0) {
            (void)!pwrite(fd, &byte, 1, at);
            close(fd);
        }
    };
    if (planted == fault::io_header_overwritten && entry.hole >= 0) scribble(3);
    if (planted == fault::io_hole_overwritten && entry.hole > 0) scribble(entry.hole);
    if (planted == fault::io_close_keeps_handle) *file = handle;
    return code;
}

int MPI_File_delete(char const* path, MPI_Info info) {
    int const code = PMPI_File_delete(path, info);
    return planted == fault::io_delete_silent ? MPI_SUCCESS : code;
}

int MPI_File_get_amode(MPI_File file, int* amode) {
    int const code = PMPI_File_get_amode(file, amode);
    if (planted == fault::io_amode_wrong) *amode &= ~(MPI_MODE_RDWR | MPI_MODE_CREATE);
    return code;
}

int MPI_File_get_group(MPI_File file, MPI_Group* group) {
    if (planted == fault::io_group_wrong) return PMPI_Comm_group(MPI_COMM_SELF, group);
    return PMPI_File_get_group(file, group);
}

int MPI_File_get_size(MPI_File file, MPI_Offset* size) {
    int const code = PMPI_File_get_size(file, size);
    if (planted == fault::io_get_size_plus_one) ++*size;
    return code;
}

int MPI_File_set_size(MPI_File file, MPI_Offset size) {
    if (planted == fault::io_set_size_ignored) return MPI_SUCCESS;
    if (planted == fault::io_set_size_empties) PMPI_File_set_size(file, 0);
    if (planted == fault::io_set_size_from_view) size += displacement_of(file);
    int const code = PMPI_File_set_size(file, size);
    if (planted == fault::io_set_size_moves_pointer) PMPI_File_seek(file, 0, MPI_SEEK_SET);
    return code;
}

int MPI_File_preallocate(MPI_File file, MPI_Offset size) {
    if (planted == fault::io_preallocate_ignored) return MPI_SUCCESS;
    if (planted == fault::io_preallocate_shortens) return PMPI_File_set_size(file, size);
    return PMPI_File_preallocate(file, size);
}

// ---- Views and pointers

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                      char const* representation, MPI_Info info) {
    if (idle()) return PMPI_File_set_view(file, displacement, etype, filetype, representation, info);
    auto& entry = known(file);
    entry.hints |= info != MPI_INFO_NULL;
    MPI_Aint lb = 0, etype_extent = 0, extent = 0;
    int etype_size = 0, size = 0;
    PMPI_Type_get_extent(etype, &lb, &etype_extent);
    PMPI_Type_get_extent(filetype, &lb, &extent);
    PMPI_Type_size(etype, &etype_size);
    PMPI_Type_size(filetype, &size);
    // A filetype of etypes 0, 2 and 3 of 5 has a hole at etype 1; 0: none is known, but there is a displacement.
    if (displacement >= 4)
        entry.hole = size == 3 * etype_size && extent == 5 * etype_extent ? displacement + etype_extent : 0;
    if (planted == fault::io_view_displacement && displacement > 0) --displacement;
    if (planted == fault::io_view_filetype || (planted == fault::io_view_large_count && has_large_counts(filetype)))
        filetype = etype;
    if (planted == fault::io_external32_native && std::strcmp(representation, "external32") == 0)
        representation = "native";
    int code = PMPI_File_set_view(file, displacement, etype, filetype, representation, info);
    if (planted == fault::io_datarep_accepted) code = MPI_SUCCESS;
    if (planted == fault::io_view_keeps_pointer) PMPI_File_seek(file, 1, MPI_SEEK_SET);
    return code;
}

int MPI_File_get_view(MPI_File file, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                      char* representation) {
    int const code = PMPI_File_get_view(file, displacement, etype, filetype, representation);
    if (planted == fault::io_get_view_displacement) ++*displacement;
    if (planted == fault::io_get_view_representation) std::memcpy(representation, "internal", sizeof "internal");
    if (planted == fault::io_get_view_filetype) {
        release(*filetype);
        *filetype = MPI_INT;
    }
    return code;
}

int MPI_File_get_position(MPI_File file, MPI_Offset* offset) {
    int const code = PMPI_File_get_position(file, offset);
    if (planted == fault::io_position_plus_one) ++*offset;
    if (planted == fault::io_position_32_bits) *offset = static_cast<int>(*offset);
    return code;
}

int MPI_File_get_position_shared(MPI_File file, MPI_Offset* offset) {
    int const code = PMPI_File_get_position_shared(file, offset);
    if (planted == fault::io_shared_position_plus_one) ++*offset;
    return code;
}

int MPI_File_seek(MPI_File file, MPI_Offset offset, int whence) {
    if (planted == fault::io_seek_end_from_start && whence == MPI_SEEK_END)
        return PMPI_File_seek(file, offset < 0 ? 0 : offset, MPI_SEEK_SET);
    if (planted == fault::io_seek_end_in_bytes && whence == MPI_SEEK_END) {
        MPI_Offset size = 0;
        PMPI_File_get_size(file, &size); // whatever the view
        return PMPI_File_seek(file, size + offset, MPI_SEEK_SET);
    }
    if (planted == fault::io_seek_current_ignored && whence == MPI_SEEK_CUR) return MPI_SUCCESS;
    int const code = PMPI_File_seek(file, offset, whence);
    if (planted == fault::file_error_told_self_too && whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR &&
        whence != MPI_SEEK_END)
        PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_ARG);
    return code;
}

int MPI_File_seek_shared(MPI_File file, MPI_Offset offset, int whence) {
    if (planted == fault::io_seek_shared_ignored) return MPI_SUCCESS;
    return PMPI_File_seek_shared(file, offset, whence);
}

int MPI_File_get_byte_offset(MPI_File file, MPI_Offset offset, MPI_Offset* displacement) {
    int const code = PMPI_File_get_byte_offset(file, offset, displacement);
    if (planted == fault::io_byte_offset_wrong) *displacement += offset;
    if (planted == fault::io_byte_offset_32_bits) *displacement = static_cast<int>(*displacement);
    return code;
}

int MPI_File_get_type_extent(MPI_File file, MPI_Datatype type, MPI_Aint* extent) {
    int const code = PMPI_File_get_type_extent(file, type, extent);
    if (planted == fault::io_type_extent_wrong) ++*extent;
    return code;
}

// ---- Consistency and hints

int MPI_File_set_atomicity(MPI_File file, int flag) {
    if (planted == fault::io_atomicity_ignored) return MPI_SUCCESS;
    if (!idle()) known(file).atomic = flag != 0;
    return PMPI_File_set_atomicity(file, flag);
}

int MPI_File_set_info(MPI_File file, MPI_Info info) {
    if (!idle()) {
        auto& entry = known(file);
        entry.hints = true;
        ++entry.infos;
    }
    return PMPI_File_set_info(file, info);
}

int MPI_File_get_info(MPI_File file, MPI_Info* info) {
    if (planted == fault::io_info_null) {
        *info = MPI_INFO_NULL;
        return MPI_SUCCESS;
    }
    int const code = PMPI_File_get_info(file, info);
    if (planted == fault::io_info_changes_others)
        PMPI_Info_set(*info, "assay_default", std::to_string(known(file).infos).c_str());
    return code;
}

} // extern "C"
