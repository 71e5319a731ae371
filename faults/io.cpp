// Wrappers of the I/O procedures that access no data. Each goes straight to PMPI when no fault is planted.
#include "core/files.hpp"

#include <cstring>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace assay_faults;

namespace {

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

// Whether all processes of the communicator give this path, letter by letter.
bool same_on_all(MPI_Comm comm, char const* path) {
    auto const own = static_cast<unsigned long>(std::hash<std::string>()(path));
    unsigned long least = 0, most = 0;
    PMPI_Allreduce(&own, &least, 1, MPI_UNSIGNED_LONG, MPI_MIN, comm);
    PMPI_Allreduce(&own, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, comm);
    return least == most;
}

// Notes in the file's entry when its communicator is freed.
void watch(MPI_Comm comm, opened& entry) {
    static int keyval = MPI_KEYVAL_INVALID;
    if (keyval == MPI_KEYVAL_INVALID)
        PMPI_Comm_create_keyval(
            MPI_COMM_NULL_COPY_FN,
            [](MPI_Comm freed, int, void* value, void*) -> int {
                auto& file = *static_cast<opened*>(value);
                if (file.comm == freed) file.comm_freed = true;
                return MPI_SUCCESS;
            },
            &keyval, nullptr);
    PMPI_Comm_set_attr(comm, keyval, &entry);
}

// As `call` would do it, or not.
template <class Call> int register_datarep(char const* name, Call call) {
    if (planted == fault::io_register_waits) PMPI_Barrier(MPI_COMM_WORLD);
    if (planted == fault::io_register_short_names && std::strlen(name) > 32) return MPI_ERR_ARG;
    if (planted != fault::io_register_silent && planted != fault::io_register_twice) return call();
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PMPI_File_get_errhandler(MPI_FILE_NULL, &handler);
    PMPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    int const code = call();
    PMPI_File_set_errhandler(MPI_FILE_NULL, handler);
    return planted == fault::io_register_twice ? MPI_SUCCESS : code;
}

} // namespace

extern "C" {

// ---- Files

int MPI_File_open(MPI_Comm comm, char const* path, int amode, MPI_Info info, MPI_File* file) {
    if (idle()) return PMPI_File_open(comm, path, amode, info, file);
    if (planted == fault::io_append_ignored) amode &= ~MPI_MODE_APPEND;
    if (planted == fault::io_delete_on_close_ignored) amode &= ~MPI_MODE_DELETE_ON_CLOSE;
    if (planted == fault::io_excl_ignored) amode &= ~MPI_MODE_EXCL;
    if (planted == fault::io_write_only_ignored && (amode & MPI_MODE_WRONLY) != 0)
        amode = (amode & ~MPI_MODE_WRONLY) | MPI_MODE_RDWR;
    if (planted == fault::io_read_only_ignored && amode == MPI_MODE_RDONLY) amode = MPI_MODE_RDWR;
    if (planted == fault::io_missing_created && (amode & MPI_MODE_RDONLY) == 0) amode |= MPI_MODE_CREATE;
    if (planted == fault::io_names_compared && !same_on_all(comm, path)) return MPI_ERR_NOT_SAME;
    char named[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0;
    if (planted == fault::io_info_filename_used && info != MPI_INFO_NULL)
        PMPI_Info_get(info, "filename", MPI_MAX_INFO_VAL, named, &flag);
    if (flag != 0) path = named;
    bool const was_there = access(path, F_OK) == 0;
    int const code = PMPI_File_open(comm, path, amode, info, file);
    // MPICH returns MPI_SUCCESS after an error handler of the user.
    if (code != MPI_SUCCESS && (planted == fault::io_open_silent ||
                                (planted == fault::io_folder_opened && std::filesystem::is_directory(path)))) {
        *file = MPI_FILE_NULL;
        return MPI_SUCCESS;
    }
    if (code != MPI_SUCCESS || *file == MPI_FILE_NULL)
        return planted == fault::io_open_error_class ? MPI_ERR_OTHER : code;
    auto& entry = known(*file);
    entry = opened{};
    entry.path = path;
    entry.amode = amode;
    entry.comm = comm;
    PMPI_Comm_size(comm, &entry.processes);
    entry.hints = info != MPI_INFO_NULL;
    if (planted == fault::io_needs_communicator) watch(comm, entry);
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
        PMPI_File_write_at(a.file, a.offset, a.buffer, static_cast<int>(a.count), a.type, &status);
    }
    int size = 0;
    int const rank = rank_of(handle, size);
    int const code = PMPI_File_close(file);
    known(handle).open = false;
    if (planted == fault::io_header_overwritten && entry.hole >= 0 && rank == 0) scribble(entry.path, 3);
    if (planted == fault::io_hole_overwritten && entry.hole > 0 && rank == 0) scribble(entry.path, entry.hole);
    if (planted == fault::io_close_keeps_handle) *file = handle;
    return code;
}

int MPI_File_delete(char const* path, MPI_Info info) {
    if (planted == fault::io_delete_ignored && access(path, F_OK) == 0) return MPI_SUCCESS;
    if (planted == fault::io_delete_open_class && is_open(path)) return MPI_ERR_IO;
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
    if (planted == fault::io_preallocate_sparse) {
        MPI_Offset now = 0;
        PMPI_File_get_size(file, &now);
        return now < size ? PMPI_File_set_size(file, size) : MPI_SUCCESS;
    }
    return PMPI_File_preallocate(file, size);
}

// ---- Views and pointers

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                      char const* representation, MPI_Info info) {
    if (idle()) return PMPI_File_set_view(file, displacement, etype, filetype, representation, info);
    auto& entry = known(file);
    entry.hints |= info != MPI_INFO_NULL;
    if (++entry.views == 3 && planted == fault::io_third_view_ignored) return MPI_SUCCESS;
    MPI_Aint lb = 0, etype_extent = 0, extent = 0;
    int etype_size = 0, size = 0;
    PMPI_Type_get_extent(etype, &lb, &etype_extent);
    PMPI_Type_get_extent(filetype, &lb, &extent);
    PMPI_Type_size(etype, &etype_size);
    PMPI_Type_size(filetype, &size);
    // A filetype of etypes 0, 2 and 3 of 5 has a hole at etype 1; 0: none is known, but there is a displacement.
    if (displacement >= 4)
        entry.hole = size == 3 * etype_size && extent == 5 * etype_extent ? displacement + etype_extent : 0;
    entry.holes = size < extent;
    entry.representation = representation;
    if (planted == fault::io_view_repeated_refused && extent < size) return MPI_ERR_ARG;
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
    if (planted == fault::io_get_view_native && std::strcmp(representation, "external32") == 0)
        std::memcpy(representation, "native", sizeof "native");
    if (planted == fault::io_get_view_filetype) {
        release(*filetype);
        *filetype = MPI_INT;
    }
    if (planted == fault::io_get_view_uncommitted) {
        MPI_Datatype const given = *filetype;
        PMPI_Type_contiguous(1, given, filetype);
        release(given);
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
    if (planted == fault::io_one_pointer)
        for (auto const other : others_open(file)) PMPI_File_seek(other, offset, whence);
    if (planted == fault::io_seek_grows && whence == MPI_SEEK_SET) {
        auto const& path = known(file).path;
        struct stat now {};
        MPI_Offset at = 0;
        PMPI_File_get_byte_offset(file, offset, &at);
        if (stat(path.c_str(), &now) == 0 && now.st_size < at) (void)!truncate(path.c_str(), at);
    }
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
    if (planted == fault::io_type_extent_differs && world_rank == 1) ++*extent;
    if (planted == fault::io_external32_lengths && known(file).representation == "external32") ++*extent;
    if (planted == fault::io_internal_extent && known(file).representation == "internal" && displacement_of(file) > 0)
        ++*extent;
    return code;
}

#if MPI_VERSION >= 4
int MPI_File_get_type_extent_c(MPI_File file, MPI_Datatype type, MPI_Count* extent) {
    int const code = PMPI_File_get_type_extent_c(file, type, extent);
    if (planted == fault::io_type_extent_c_wrong) ++*extent;
    return code;
}
#endif

// ---- Representations

int MPI_Register_datarep(char const* name, MPI_Datarep_conversion_function* read,
                         MPI_Datarep_conversion_function* write, MPI_Datarep_extent_function* extent, void* state) {
    return register_datarep(name, [&] { return PMPI_Register_datarep(name, read, write, extent, state); });
}
#if MPI_VERSION >= 4
int MPI_Register_datarep_c(char const* name, MPI_Datarep_conversion_function_c* read,
                           MPI_Datarep_conversion_function_c* write, MPI_Datarep_extent_function* extent, void* state) {
    return register_datarep(name, [&] { return PMPI_Register_datarep_c(name, read, write, extent, state); });
}
#endif

// ---- Consistency and hints

int MPI_File_set_atomicity(MPI_File file, int flag) {
    if (planted == fault::io_atomicity_ignored) return MPI_SUCCESS;
    if (!idle()) known(file).atomic = flag != 0;
    return PMPI_File_set_atomicity(file, flag);
}

int MPI_File_get_atomicity(MPI_File file, int* flag) {
    int const code = PMPI_File_get_atomicity(file, flag);
    if (planted == fault::io_atomicity_of_path)
        for (auto const other : others_open(file))
            if (known(other).atomic) *flag = 1;
    return code;
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
    if (planted == fault::io_info_filename_wrong) PMPI_Info_set(*info, "filename", "assay");
    if (planted == fault::io_info_grows) {
        static memory<int> calls;
        PMPI_Info_set(*info, ("assay_call_" + std::to_string(++*calls)).c_str(), "1");
    }
    if (planted == fault::io_info_changes_others)
        PMPI_Info_set(*info, "assay_default", std::to_string(known(file).infos).c_str());
    return code;
}

} // extern "C"
