// Wrappers of the data access routines. Each goes straight to PMPI when no fault is planted.
#include "core/files.hpp"

#include <algorithm>
#include <map>
#include <unistd.h>

using namespace assay_faults;

namespace {

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

char* first_byte(data_access const& a) {
    MPI_Aint true_lb = 0, true_extent = 0;
    PMPI_Type_get_true_extent(a.type, &true_lb, &true_extent);
    return true_extent > 0 && a.count > 0 ? static_cast<char*>(a.buffer) + true_lb : nullptr;
}
char* after_last_byte(data_access const& a) {
    MPI_Aint true_lb = 0, true_extent = 0, lb = 0, extent = 0;
    PMPI_Type_get_true_extent(a.type, &true_lb, &true_extent);
    PMPI_Type_get_extent(a.type, &lb, &extent);
    return a.count > 0 && extent > 0
               ? static_cast<char*>(a.buffer) + (static_cast<MPI_Aint>(a.count) - 1) * extent + true_lb + true_extent
               : nullptr;
}

// As if `count` elements had been accessed.
void set_count(MPI_Status* status, MPI_Datatype type, MPI_Count count) {
    int size = 0;
    PMPI_Type_size(type, &size);
    PMPI_Status_set_elements(status, MPI_BYTE, static_cast<int>(size * count));
}

// Whether the datatype leaves gaps within what it spans.
bool has_gaps(MPI_Datatype type) {
    int size = 0;
    MPI_Aint true_lb = 0, true_extent = 0;
    PMPI_Type_size(type, &size);
    PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
    return size > 0 && size < true_extent;
}
// How many blocks MPI_Type_indexed was given for it.
int blocks(MPI_Datatype type) {
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_INDEXED ? (integers - 1) / 2 : 1;
}
bool writes(data_access const& a) { return a.direction == way::write; }
// The processes that a file was written by together, by its path.
memory<std::map<std::string, int>> writers;

// Changes what is done.
void before(data_access& a) {
    bool const writes = ::writes(a);
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
    case fault::io_large_count_as_int:
        if (a.large && !writes) a.count = static_cast<int>(a.count);
        return;
    case fault::io_iwrite_all_c_short: return shorten_if(writes && a.large && a.collective && a.kind == how::immediate);
    case fault::io_read_c_offset:
        if (a.large && !writes && a.position == pointer::none && a.count > 0) ++a.offset;
        return;
    case fault::io_derived_write_all_short:
        return shorten_if(writes && a.collective && a.kind == how::blocking && !is_named(a.type));
    case fault::io_third_split_write_short:
        return shorten_if(writes && a.kind == how::split && ++known(a.file).split_writes == 3);
    case fault::io_fourth_iwrite_short:
        return shorten_if(writes && a.kind == how::immediate && ++known(a.file).nonblocking_writes % 4 == 0);
    case fault::io_third_write_at_all_lost:
        if (writes && a.collective && a.kind == how::blocking && a.position == pointer::none &&
            ++known(a.file).collective_writes == 3)
            a.count = 0;
        return;
    case fault::io_gaps_on_both_sides_short:
        return shorten_if(writes && a.collective && a.position == pointer::none && a.kind == how::blocking &&
                          has_gaps(a.type) && known(a.file).holes);
    case fault::io_append_moves_offset:
        if (writes && a.position == pointer::none && a.count > 0 && (known(a.file).amode & MPI_MODE_APPEND) != 0)
            ++a.offset;
        return;
    default: return;
    }
}

// Changes what was done. `a` is what the caller asked for; `status` is nullptr where there is none yet.
void after(data_access const& a, MPI_Status* status) {
    bool const writes = ::writes(a);
    switch (planted) {
    case fault::io_read_first_byte:
        if (char* first = writes || a.kind != how::blocking ? nullptr : first_byte(a)) spoil(first);
        return;
    case fault::io_read_past_end:
        if (char* end = writes || a.kind != how::blocking ? nullptr : after_last_byte(a)) spoil(end);
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
    case fault::io_shared_moves_individual:
        if (a.position == pointer::shared) PMPI_File_seek(a.file, 1, MPI_SEEK_CUR);
        return;
    case fault::io_individual_moves_shared:
        if (a.position == pointer::individual && a.collective && a.kind == how::blocking)
            PMPI_File_seek_shared(a.file, 1, MPI_SEEK_CUR);
        return;
    case fault::io_split_moves_pointer_late:
        if (a.position == pointer::individual && a.kind == how::split) PMPI_File_seek(a.file, -etypes(a), MPI_SEEK_CUR);
        return;
    case fault::io_ordered_moves_by_amount: // of what was there for all
        if (!writes && a.position == pointer::ordered && status != nullptr) {
            int size = 0;
            PMPI_Type_size(a.type, &size);
            auto got = a;
            got.count = size > 0 ? bytes_of(status) / size : a.count;
            long long missing = etypes(a) - etypes(got), all = 0;
            PMPI_Allreduce(&missing, &all, 1, MPI_LONG_LONG, MPI_SUM, known(a.file).comm);
            if (all > 0) PMPI_File_seek_shared(a.file, -all, MPI_SEEK_CUR);
        }
        return;
    case fault::io_iwrite_at_all_unseen: // by MPI_File_read, before MPI_File_sync
        if (writes && a.kind == how::immediate && a.collective && a.position == pointer::none)
            known(a.file).unsynced = true;
        else if (!writes && a.kind == how::blocking && !a.collective && a.position == pointer::individual &&
                 known(a.file).unsynced)
            spoil(first_byte(a));
        return;
    case fault::io_other_handle_unseen:
        if (!writes && a.position == pointer::none && !a.collective && a.kind == how::blocking &&
            !others_open(a.file).empty())
            spoil(first_byte(a));
        return;
    case fault::io_fewer_readers: {
        auto& most = (*writers)[known(a.file).path];
        if (writes && a.collective) most = std::max(most, known(a.file).processes);
        else if (!writes && a.collective && a.kind == how::blocking && known(a.file).processes < most)
            spoil(first_byte(a));
        return;
    }
    case fault::io_many_blocks_read_wrong:
        if (!writes && !a.collective && a.kind == how::blocking && blocks(a.type) > 64 && !known(a.file).holes)
            spoil(first_byte(a));
        return;
    default: return;
    }
}

// What a call says instead of doing anything, or MPI_SUCCESS.
int refuse(data_access const& a) {
    auto const& file = known(a.file);
    switch (planted) {
    case fault::io_needs_communicator: return file.comm_freed && a.collective ? MPI_ERR_COMM : MPI_SUCCESS;
    case fault::io_split_busy: return !a.collective && !file.split.empty() ? MPI_ERR_OTHER : MPI_SUCCESS;
    case fault::io_split_one_file:
        return a.kind == how::split && another_is_splitting(a.file) ? MPI_ERR_OTHER : MPI_SUCCESS;
    default: return MPI_SUCCESS;
    }
}

// What has nothing to do with the data.
void beside(data_access const& a) {
    auto const& file = known(a.file);
    if (planted == fault::io_uses_communicator && a.collective && a.kind == how::blocking && !file.comm_freed) {
        static int const number = 7;
        int size = 1, rank = 0;
        PMPI_Comm_size(file.comm, &size);
        PMPI_Comm_rank(file.comm, &rank);
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Isend(&number, 1, MPI_INT, (rank + 1) % size, 7, file.comm, &request);
        PMPI_Request_free(&request);
    }
    bool const waits = (planted == fault::io_iwrite_at_waits && writes(a) && !a.collective &&
                        a.position == pointer::none && a.kind == how::immediate) ||
                       (planted == fault::io_iread_all_waits && !writes(a) && a.collective && a.kind == how::immediate);
    if (waits) PMPI_Barrier(file.comm);
}

// Before a write of MPI_File_write_at: the size of the file, where the write begins at its end, else 0.
MPI_Offset grows_from(data_access const& a) {
    MPI_Offset size = 0, begin = -1;
    if (planted != fault::io_growing_write_spoils || !writes(a) || a.collective || a.position != pointer::none)
        return 0;
    PMPI_File_get_size(a.file, &size);
    PMPI_File_get_byte_offset(a.file, a.offset, &begin);
    return begin == size && a.count > 0 ? size : 0;
}

memory<bool> write_was_refused;

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
    case fault::io_refused_lasts: *write_was_refused = true; return code;
    default: return code;
    }
}

template <class Call> int with_status(data_access a, MPI_Status* given, Call call) {
    if (idle()) return call(a, given);
    if (int const refusal = refuse(a); refusal != MPI_SUCCESS) return refusal;
    beside(a);
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
        return PMPI_File_read_at(a.file, 0, a.buffer, static_cast<int>(a.count), a.type, status);
    if (planted == fault::io_write_shared_same && a.position == pointer::shared && a.direction == way::write)
        return PMPI_File_write_at(a.file, 0, a.buffer, static_cast<int>(a.count), a.type, status);
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
        return a.direction == way::write
                   ? PMPI_File_write_at_all(a.file, there, a.buffer, static_cast<int>(a.count), a.type, status)
                   : PMPI_File_read_at_all(a.file, there, a.buffer, static_cast<int>(a.count), a.type, status);
    }
    before(a);
    auto const grown = grows_from(a);
    int const code = call(a, status);
    if (code != MPI_SUCCESS) return refused(asked, status, code);
    if (grown > 0) scribble(known(a.file).path, grown - 1);
    // Faults that shorten an access keep silent about it.
    if (a.count != asked.count) set_count(status, a.type, asked.count);
    after(asked, status);
    if (planted == fault::io_nothing_is_error && a.collective && asked.count == 0) return MPI_ERR_COUNT;
    if (planted == fault::io_end_is_error && !writes(a) && a.collective && a.position == pointer::none &&
        asked.count > 0 && bytes_of(status) == 0)
        return MPI_ERR_IO;
    return code;
}

template <class Call> int without_status(data_access a, Call call) {
    if (idle()) return call(a);
    if (int const refusal = refuse(a); refusal != MPI_SUCCESS) return refusal;
    beside(a);
    auto const asked = a;
    before(a);
    int const code = call(a);
    if (a.kind == how::split && code == MPI_SUCCESS) known(a.file).split = {asked};
    after(asked, nullptr);
    return code == MPI_SUCCESS ? code : refused(asked, nullptr, code);
}

// The split collective access of this file has ended.
void ended(MPI_File file) {
    if (idle()) return;
    auto& split = known(file).split;
    if (planted == fault::io_split_moves_pointer_late && !split.empty() && split[0].position == pointer::individual)
        PMPI_File_seek(file, etypes(split[0]), MPI_SEEK_CUR);
    split.clear();
}

} // namespace

extern "C" {

// The 28 data access routines, in two bindings each, differ in a few words.
#define A_READ void*
#define A_WRITE void const*
#define BUFFER_OF(direction) A_##direction
#define WAY_READ way::read
#define WAY_WRITE way::write
#define COUNT(Count) static_cast<Count>(a.count)

#define AT(name, direction, all, Count, large)                                                                         \
    int MPI_File_##name(MPI_File file, MPI_Offset offset, BUFFER_OF(direction) buffer, Count count, MPI_Datatype type, \
                        MPI_Status* status) {                                                                          \
        return with_status({WAY_##direction, pointer::none, all, how::blocking, large, file, offset,                   \
                            const_cast<void*>(buffer), count, type},                                                   \
                           status, [](data_access const& a, MPI_Status* s) {                                           \
                               return PMPI_File_##name(a.file, a.offset, a.buffer, COUNT(Count), a.type, s);           \
                           });                                                                                         \
    }
#define BY_POINTER(name, direction, which, all, Count, large)                                                          \
    int MPI_File_##name(MPI_File file, BUFFER_OF(direction) buffer, Count count, MPI_Datatype type,                    \
                        MPI_Status* status) {                                                                          \
        return with_status({WAY_##direction, pointer::which, all, how::blocking, large, file, 0,                       \
                            const_cast<void*>(buffer), count, type},                                                   \
                           status, [](data_access const& a, MPI_Status* s) {                                           \
                               return PMPI_File_##name(a.file, a.buffer, COUNT(Count), a.type, s);                     \
                           });                                                                                         \
    }
#define REQUEST_AT(name, direction, all, Count, large)                                                                 \
    int MPI_File_##name(MPI_File file, MPI_Offset offset, BUFFER_OF(direction) buffer, Count count, MPI_Datatype type, \
                        MPI_Request* request) {                                                                        \
        return without_status({WAY_##direction, pointer::none, all, how::immediate, large, file, offset,               \
                               const_cast<void*>(buffer), count, type},                                                \
                              [request](data_access const& a) {                                                        \
                                  return PMPI_File_##name(a.file, a.offset, a.buffer, COUNT(Count), a.type, request);  \
                              });                                                                                      \
    }
#define REQUEST_BY_POINTER(name, direction, which, all, Count, large)                                                  \
    int MPI_File_##name(MPI_File file, BUFFER_OF(direction) buffer, Count count, MPI_Datatype type,                    \
                        MPI_Request* request) {                                                                        \
        return without_status({WAY_##direction, pointer::which, all, how::immediate, large, file, 0,                   \
                               const_cast<void*>(buffer), count, type},                                                \
                              [request](data_access const& a) {                                                        \
                                  return PMPI_File_##name(a.file, a.buffer, COUNT(Count), a.type, request);            \
                              });                                                                                      \
    }
#define BEGIN_AT(name, direction, Count, large)                                                                        \
    int MPI_File_##name(MPI_File file, MPI_Offset offset, BUFFER_OF(direction) buffer, Count count,                    \
                        MPI_Datatype type) {                                                                           \
        return without_status(                                                                                         \
            {WAY_##direction, pointer::none, true, how::split, large, file, offset, const_cast<void*>(buffer), count,  \
             type},                                                                                                    \
            [](data_access const& a) { return PMPI_File_##name(a.file, a.offset, a.buffer, COUNT(Count), a.type); });  \
    }
#define BEGIN_BY_POINTER(name, direction, which, Count, large)                                                         \
    int MPI_File_##name(MPI_File file, BUFFER_OF(direction) buffer, Count count, MPI_Datatype type) {                  \
        return without_status(                                                                                         \
            {WAY_##direction, pointer::which, true, how::split, large, file, 0, const_cast<void*>(buffer), count,      \
             type},                                                                                                    \
            [](data_access const& a) { return PMPI_File_##name(a.file, a.buffer, COUNT(Count), a.type); });            \
    }
#define ALL_ROUTINES(_c, Count, large)                                                                                 \
    AT(read_at##_c, READ, false, Count, large)                                                                         \
    AT(read_at_all##_c, READ, true, Count, large)                                                                      \
    BY_POINTER(read##_c, READ, individual, false, Count, large)                                                        \
    BY_POINTER(read_all##_c, READ, individual, true, Count, large)                                                     \
    BY_POINTER(read_shared##_c, READ, shared, false, Count, large)                                                     \
    BY_POINTER(read_ordered##_c, READ, ordered, true, Count, large)                                                    \
    REQUEST_AT(iread_at##_c, READ, false, Count, large)                                                                \
    REQUEST_AT(iread_at_all##_c, READ, true, Count, large)                                                             \
    REQUEST_BY_POINTER(iread##_c, READ, individual, false, Count, large)                                               \
    REQUEST_BY_POINTER(iread_all##_c, READ, individual, true, Count, large)                                            \
    REQUEST_BY_POINTER(iread_shared##_c, READ, shared, false, Count, large)                                            \
    BEGIN_AT(read_at_all_begin##_c, READ, Count, large)                                                                \
    BEGIN_BY_POINTER(read_all_begin##_c, READ, individual, Count, large)                                               \
    BEGIN_BY_POINTER(read_ordered_begin##_c, READ, ordered, Count, large)                                              \
    AT(write_at##_c, WRITE, false, Count, large)                                                                       \
    AT(write_at_all##_c, WRITE, true, Count, large)                                                                    \
    BY_POINTER(write##_c, WRITE, individual, false, Count, large)                                                      \
    BY_POINTER(write_all##_c, WRITE, individual, true, Count, large)                                                   \
    BY_POINTER(write_shared##_c, WRITE, shared, false, Count, large)                                                   \
    BY_POINTER(write_ordered##_c, WRITE, ordered, true, Count, large)                                                  \
    REQUEST_AT(iwrite_at##_c, WRITE, false, Count, large)                                                              \
    REQUEST_AT(iwrite_at_all##_c, WRITE, true, Count, large)                                                           \
    REQUEST_BY_POINTER(iwrite##_c, WRITE, individual, false, Count, large)                                             \
    REQUEST_BY_POINTER(iwrite_all##_c, WRITE, individual, true, Count, large)                                          \
    REQUEST_BY_POINTER(iwrite_shared##_c, WRITE, shared, false, Count, large)                                          \
    BEGIN_AT(write_at_all_begin##_c, WRITE, Count, large)                                                              \
    BEGIN_BY_POINTER(write_all_begin##_c, WRITE, individual, Count, large)                                             \
    BEGIN_BY_POINTER(write_ordered_begin##_c, WRITE, ordered, Count, large)
ALL_ROUTINES(, int, false)
#if MPI_VERSION >= 4
ALL_ROUTINES(_c, MPI_Count, true)
#endif

#define END(name, direction)                                                                                           \
    int MPI_File_##name(MPI_File file, BUFFER_OF(direction) buffer, MPI_Status* status) {                              \
        int const code = PMPI_File_##name(file, buffer, status);                                                       \
        ended(file);                                                                                                   \
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
    if (!idle()) known(file).unsynced = false;
    return *write_was_refused ? MPI_ERR_OTHER : code;
}

} // extern "C"
