// Buffers of buffered sends.
#include "core/core.hpp"

#include <climits>
#include <map>

using namespace assay_faults;

namespace {

// The buffer of the process, as a library without a byte to spare would keep its books.
struct {
    bool attached = false, automatic = false;
    long long size = 0, used = 0;
    int messages = 0;
} process;

void attached(void const* memory, long long size) {
    process = {true, false, size, 0, 0};
#ifdef MPI_BUFFER_AUTOMATIC
    process.automatic = memory == MPI_BUFFER_AUTOMATIC;
#else
    (void)memory;
#endif
}

} // namespace

namespace assay_faults {

int before_buffered(send const& message) {
    if (message.destination == MPI_PROC_NULL)
        return planted == fault::bsend_null_needs_room && !process.attached ? MPI_ERR_BUFFER : MPI_SUCCESS;
    if (!process.attached) return MPI_SUCCESS;
    ++process.messages;
    if (planted == fault::automatic_is_limited && process.automatic && process.messages > 10) return MPI_ERR_BUFFER;
    if (planted == fault::bsend_needs_more && !process.automatic) {
        int packed = 0;
        PMPI_Pack_size(message.count, message.type, message.comm, &packed);
        process.used += packed + MPI_BSEND_OVERHEAD + 16;
        if (process.used > process.size) return MPI_ERR_BUFFER;
    }
    return MPI_SUCCESS;
}

} // namespace assay_faults

extern "C" {

int MPI_Buffer_attach(void* memory, int size) {
    if (planted == fault::attach_twice && process.attached) return MPI_SUCCESS;
    int const code = PMPI_Buffer_attach(memory, size);
    if (code == MPI_SUCCESS) attached(memory, size);
    return code;
}

int MPI_Buffer_detach(void* memory, int* size) {
    int const code = PMPI_Buffer_detach(memory, size);
    process.attached = false;
    if (planted == fault::detach_size && code == MPI_SUCCESS && *size > 0) *size -= 1;
    if (planted == fault::detach_address && code == MPI_SUCCESS) *static_cast<char**>(memory) += 8;
    if (planted == fault::detach_size_wrapped && *size == MPI_UNDEFINED) *size = INT_MAX;
    if (planted == fault::automatic_address && process.automatic) *static_cast<void**>(memory) = nullptr;
    return code;
}

#if ASSAY_MPI4
#if MPI_VERSION >= 4
int MPI_Buffer_attach_c(void* memory, MPI_Count size) {
    if (planted == fault::attach_c_cut) size = static_cast<int>(size);
    return PMPI_Buffer_attach_c(memory, size);
}
int MPI_Buffer_detach_c(void* memory, MPI_Count* size) {
    int const code = PMPI_Buffer_detach_c(memory, size);
    if (planted == fault::detach_c_cut) *size = static_cast<int>(*size);
    return code;
}
#endif
#endif

#if ASSAY_MPI41
namespace {
// Buffers that were not handed on.
memory<std::map<MPI_Comm, std::pair<void*, int>>> ignored;
memory<std::pair<void*, int>> ignored_session;
} // namespace

int MPI_Comm_attach_buffer(MPI_Comm comm, void* memory, int size) {
    if (planted == fault::comm_buffer_ignored) {
        (*ignored)[comm] = {memory, size};
        return MPI_SUCCESS;
    }
    return PMPI_Comm_attach_buffer(comm, memory, size);
}
int MPI_Comm_detach_buffer(MPI_Comm comm, void* memory, int* size) {
    if (planted == fault::comm_buffer_ignored) {
        *static_cast<void**>(memory) = (*ignored)[comm].first;
        *size = (*ignored)[comm].second;
        return MPI_SUCCESS;
    }
    int const code = PMPI_Comm_detach_buffer(comm, memory, size);
    if (planted == fault::comm_detach_size && code == MPI_SUCCESS) *size += 1;
    if (planted == fault::comm_buffer_stays && code == MPI_SUCCESS && *size > 0)
        PMPI_Comm_attach_buffer(comm, *static_cast<void**>(memory), *size);
    return code;
}
int MPI_Comm_attach_buffer_c(MPI_Comm comm, void* memory, MPI_Count size) {
    if (planted == fault::comm_attach_c_cut) size = static_cast<int>(size);
    return PMPI_Comm_attach_buffer_c(comm, memory, size);
}
int MPI_Comm_detach_buffer_c(MPI_Comm comm, void* memory, MPI_Count* size) {
    int const code = PMPI_Comm_detach_buffer_c(comm, memory, size);
    if (planted == fault::comm_detach_c_address && code == MPI_SUCCESS) *static_cast<char**>(memory) += 8;
    return code;
}
int MPI_Session_attach_buffer(MPI_Session session, void* memory, int size) {
    if (planted == fault::session_buffer_ignored) {
        *ignored_session = {memory, size};
        return MPI_SUCCESS;
    }
    return PMPI_Session_attach_buffer(session, memory, size);
}
int MPI_Session_detach_buffer(MPI_Session session, void* memory, int* size) {
    if (planted == fault::session_buffer_ignored) {
        *static_cast<void**>(memory) = ignored_session->first;
        *size = ignored_session->second;
        return MPI_SUCCESS;
    }
    int const code = PMPI_Session_detach_buffer(session, memory, size);
    if (planted == fault::session_detach_size && code == MPI_SUCCESS) *size += 1;
    return code;
}
int MPI_Session_detach_buffer_c(MPI_Session session, void* memory, MPI_Count* size) {
    int const code = PMPI_Session_detach_buffer_c(session, memory, size);
    if (planted == fault::session_detach_c_size && code == MPI_SUCCESS) *size += 1;
    return code;
}
int MPI_Buffer_flush(void) {
    if (planted == fault::flush_detaches) {
        void* memory = nullptr;
        int size = 0;
        return PMPI_Buffer_detach(&memory, &size);
    }
    return PMPI_Buffer_flush();
}
int MPI_Comm_flush_buffer(MPI_Comm comm) {
    return planted == fault::comm_flush_refused ? MPI_ERR_BUFFER : PMPI_Comm_flush_buffer(comm);
}
int MPI_Session_flush_buffer(MPI_Session session) {
    if (planted == fault::session_flush_detaches) {
        void* memory = nullptr;
        int size = 0;
        return PMPI_Session_detach_buffer(session, &memory, &size);
    }
    return PMPI_Session_flush_buffer(session);
}
int MPI_Buffer_iflush(MPI_Request* request) {
    int const code = PMPI_Buffer_iflush(request);
    if (planted == fault::iflush_detaches) {
        void* memory = nullptr;
        int size = 0;
        PMPI_Buffer_detach(&memory, &size);
    }
    return code;
}
int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
    int const code = PMPI_Comm_iflush_buffer(comm, request);
    return planted == fault::comm_iflush_refused ? MPI_ERR_BUFFER : code;
}
int MPI_Session_iflush_buffer(MPI_Session session, MPI_Request* request) {
    int const code = PMPI_Session_iflush_buffer(session, request);
    return planted == fault::session_iflush_refused ? MPI_ERR_BUFFER : code;
}
#endif

} // extern "C"
