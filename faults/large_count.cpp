// The forms with a large count: each of them can lose its last element.
#include "core/core.hpp"

#include <climits>

using namespace assay_faults;

#if MPI_VERSION >= 4

namespace {

MPI_Count cut(fault f, MPI_Count count) { return planted == f && count > 0 ? count - 1 : count; }

// Requests under irecv_c_flips and its like: the buffer is spoiled when the receive completes.
void spoil_when_complete(fault f, MPI_Request request, void* buffer, MPI_Count count, MPI_Datatype type,
                         bool persistent) {
    int size = 0;
    PMPI_Type_size(type, &size);
    MPI_Aint lb = 0, extent = 0;
    PMPI_Type_get_true_extent(type, &lb, &extent);
    if (planted == f && count > 0 && size > 0)
        when_complete(
            request, [buffer, lb] { spoil(static_cast<char*>(buffer) + lb); }, persistent);
}
void spoil_now(fault f, void* buffer, MPI_Count count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    MPI_Aint lb = 0, extent = 0;
    PMPI_Type_get_true_extent(type, &lb, &extent);
    if (planted == f && count > 0 && size > 0) spoil(static_cast<char*>(buffer) + lb);
}

} // namespace

extern "C" {

#define SEND_C(name, f)                                                                                                \
    int MPI_##name(void const* buffer, MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {  \
        return PMPI_##name(buffer, cut(fault::f, count), type, destination, tag, comm);                                \
    }
#define REQUEST_SEND_C(name, f)                                                                                        \
    int MPI_##name(void const* buffer, MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,    \
                   MPI_Request* request) {                                                                             \
        return PMPI_##name(buffer, cut(fault::f, count), type, destination, tag, comm, request);                       \
    }
SEND_C(Send_c, send_c_short)
SEND_C(Bsend_c, bsend_c_short)
SEND_C(Ssend_c, ssend_c_short)
SEND_C(Rsend_c, rsend_c_short)
REQUEST_SEND_C(Ibsend_c, ibsend_c_short)
REQUEST_SEND_C(Issend_c, issend_c_short)
REQUEST_SEND_C(Irsend_c, irsend_c_short)
REQUEST_SEND_C(Send_init_c, send_init_c_short)
REQUEST_SEND_C(Bsend_init_c, bsend_init_c_short)
REQUEST_SEND_C(Ssend_init_c, ssend_init_c_short)
REQUEST_SEND_C(Rsend_init_c, rsend_init_c_short)

int MPI_Isend_c(void const* buffer, MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                MPI_Request* request) {
    if (planted == fault::isend_c_refuses_large && count > INT_MAX) return MPI_ERR_COUNT;
    return PMPI_Isend_c(buffer, cut(fault::isend_c_short, count), type, destination, tag, comm, request);
}

int MPI_Recv_c(void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Status* status) {
    int const code = PMPI_Recv_c(buffer, count, type, source, tag, comm, status);
    spoil_now(fault::recv_c_flips, buffer, count, type);
    return code;
}
int MPI_Irecv_c(void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Request* request) {
    int const code = PMPI_Irecv_c(buffer, count, type, source, tag, comm, request);
    spoil_when_complete(fault::irecv_c_flips, *request, buffer, count, type, false);
    return code;
}
int MPI_Recv_init_c(void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                    MPI_Request* request) {
    int const code = PMPI_Recv_init_c(buffer, count, type, source, tag, comm, request);
    spoil_when_complete(fault::recv_init_c_flips, *request, buffer, count, type, true);
    return code;
}
int MPI_Mrecv_c(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
    int const code = PMPI_Mrecv_c(buffer, count, type, message, status);
    spoil_now(fault::mrecv_c_flips, buffer, count, type);
    return code;
}
int MPI_Imrecv_c(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
    int const code = PMPI_Imrecv_c(buffer, count, type, message, request);
    spoil_when_complete(fault::imrecv_c_flips, *request, buffer, count, type, false);
    return code;
}

int MPI_Sendrecv_c(void const* out, MPI_Count out_count, MPI_Datatype out_type, int destination, int out_tag, void* in,
                   MPI_Count in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                   MPI_Status* status) {
    return PMPI_Sendrecv_c(out, cut(fault::sendrecv_c_short, out_count), out_type, destination, out_tag, in, in_count,
                           in_type, source, in_tag, comm, status);
}
int MPI_Sendrecv_replace_c(void* buffer, MPI_Count count, MPI_Datatype type, int destination, int out_tag, int source,
                           int in_tag, MPI_Comm comm, MPI_Status* status) {
    int const code = PMPI_Sendrecv_replace_c(buffer, count, type, destination, out_tag, source, in_tag, comm, status);
    spoil_now(fault::sendrecv_replace_c_flips, buffer, count, type);
    return code;
}
int MPI_Isendrecv_c(void const* out, MPI_Count out_count, MPI_Datatype out_type, int destination, int out_tag, void* in,
                    MPI_Count in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                    MPI_Request* request) {
    return PMPI_Isendrecv_c(out, cut(fault::isendrecv_c_short, out_count), out_type, destination, out_tag, in, in_count,
                            in_type, source, in_tag, comm, request);
}
int MPI_Isendrecv_replace_c(void* buffer, MPI_Count count, MPI_Datatype type, int destination, int out_tag, int source,
                            int in_tag, MPI_Comm comm, MPI_Request* request) {
    int const code = PMPI_Isendrecv_replace_c(buffer, count, type, destination, out_tag, source, in_tag, comm, request);
    spoil_when_complete(fault::isendrecv_replace_c_flips, *request, buffer, count, type, false);
    return code;
}

} // extern "C"

#endif
