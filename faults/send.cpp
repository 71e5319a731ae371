// The calls that send. What goes wrong with a message whatever sends it stands in messages.cpp.
#include "core/core.hpp"

using namespace assay_faults;

namespace {

thread_local struct {
    MPI_Request request = MPI_REQUEST_NULL;
    void* buffer = nullptr;
} last_send;

template <typename Call> int blocking_send(send message, Call call) {
    if (idle()) return call(message);
    if (message.m == mode::buffered)
        if (int const refused = before_buffered(message); refused != MPI_SUCCESS) return refused;
    if (int const refused = before_send(message); refused != MPI_SUCCESS) return refused;
    return after_send(message, call(message));
}

} // namespace

void assay_faults::note_send(MPI_Request request, void const* buffer) {
    last_send.request = request;
    last_send.buffer = const_cast<void*>(buffer);
}
void* assay_faults::buffer_of_send(MPI_Request request) {
    return request == last_send.request ? last_send.buffer : nullptr;
}

extern "C" {

// The twelve ways to send differ in two words.
#define BLOCKING_SEND(name, m)                                                                                         \
    int MPI_##name(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {        \
        return blocking_send(                                                                                          \
            {buffer, count, type, destination, tag, comm, m, departure::blocking},                                     \
            [](send const& s) { return PMPI_##name(s.buffer, s.count, s.type, s.destination, s.tag, s.comm); });       \
    }
#define REQUEST_SEND(name, m, how)                                                                                     \
    int MPI_##name(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,          \
                   MPI_Request* request) {                                                                             \
        return blocking_send({buffer, count, type, destination, tag, comm, m, how}, [request](send const& s) {         \
            int const code = PMPI_##name(s.buffer, s.count, s.type, s.destination, s.tag, s.comm, request);            \
            note_send(*request, s.buffer);                                                                             \
            return code;                                                                                               \
        });                                                                                                            \
    }
BLOCKING_SEND(Send, mode::standard)
BLOCKING_SEND(Ssend, mode::synchronous)
BLOCKING_SEND(Rsend, mode::ready)
REQUEST_SEND(Isend, mode::standard, departure::immediate)
REQUEST_SEND(Ibsend, mode::buffered, departure::immediate)
REQUEST_SEND(Irsend, mode::ready, departure::immediate)
REQUEST_SEND(Send_init, mode::standard, departure::persistent)
REQUEST_SEND(Bsend_init, mode::buffered, departure::persistent)
REQUEST_SEND(Rsend_init, mode::ready, departure::persistent)

int MPI_Bsend(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
    return blocking_send(
        {buffer, count, type, destination, tag, comm, mode::buffered, departure::blocking}, [](send const& s) {
            if (planted == fault::bsend_synchronous && s.destination != MPI_PROC_NULL)
                return PMPI_Ssend(s.buffer, s.count, s.type, s.destination, s.tag, s.comm);
            if (planted == fault::bsend_not_copied && s.destination != MPI_PROC_NULL) {
                MPI_Request request = MPI_REQUEST_NULL;
                int const code = PMPI_Isend(s.buffer, s.count, s.type, s.destination, s.tag, s.comm, &request);
                PMPI_Request_free(&request);
                return code;
            }
            int const code = PMPI_Bsend(s.buffer, s.count, s.type, s.destination, s.tag, s.comm);
            return planted == fault::bsend_overflow_class && code != MPI_SUCCESS ? MPI_ERR_OTHER : code;
        });
}
int MPI_Issend(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
               MPI_Request* request) {
    return blocking_send({buffer, count, type, destination, tag, comm, mode::synchronous, departure::immediate},
                         [request](send const& s) {
                             auto* const call = planted == fault::issend_eager ? PMPI_Isend : PMPI_Issend;
                             int const code = call(s.buffer, s.count, s.type, s.destination, s.tag, s.comm, request);
                             note_send(*request, s.buffer);
                             return code;
                         });
}
int MPI_Ssend_init(void const* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                   MPI_Request* request) {
    return blocking_send({buffer, count, type, destination, tag, comm, mode::synchronous, departure::persistent},
                         [request](send const& s) {
                             auto* const call = planted == fault::ssend_init_eager ? PMPI_Send_init : PMPI_Ssend_init;
                             return call(s.buffer, s.count, s.type, s.destination, s.tag, s.comm, request);
                         });
}

} // extern "C"
