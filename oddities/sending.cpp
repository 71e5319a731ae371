// When and how messages leave and arrive, and the buffers that they use.
#include "layers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace assay_oddities;

namespace {

void moment(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

// Every `period`th call of any of these procedures takes longer.
template <auto... P> void late(unsigned period, std::chrono::microseconds time) {
    auto const one = [ period, time ]<auto Q>() {
        over<Q>([period, time](auto rest, auto... a) {
            static std::atomic<unsigned> calls{0};
            if (++calls % period == 0) moment(time);
            return rest(a...);
        });
    };
    (one.template operator()<P>(), ...);
}

// P is called in place of Q, with the layers that it has.
template <auto Q, auto P> void in_place() {
    over<Q>([](auto, auto... a) { return P(a...); });
}

// ---- Messages that MPI_Send left to us

struct departing {
    std::unique_ptr<char[]> data;
    MPI_Request request;
};
std::mutex lock;
std::list<departing> messages;

void release_sent() {
    std::lock_guard const guard(lock);
    messages.remove_if([](departing& one) {
        int done = 0;
        PMPI_Test(&one.request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    });
}

// The copy has the layout of the original: what it is sent with is the caller's datatype, since a library may treat messages
// of type MPI_PACKED in another way (known/reproducers/mpich_packed_split.c).
int send_copy(void const* data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
    MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    int room = 0, size = 0, position = 0;
    for (int const code :
         {PMPI_Type_get_extent(type, &lb, &extent), PMPI_Type_get_true_extent(type, &true_lb, &true_extent),
          PMPI_Pack_size(count, type, comm, &room)})
        if (code != MPI_SUCCESS) return code;
    std::vector<char> packed(static_cast<std::size_t>(room) + 1);
    if (int const code = PMPI_Pack(data, count, type, packed.data(), room, &size, comm); code != MPI_SUCCESS)
        return code;
    // With a negative extent the last element comes first.
    MPI_Aint const others = extent * (count - 1);
    std::unique_ptr<char[]> copy(new char[static_cast<std::size_t>(true_extent + std::abs(others)) + 1]);
    char* const begin = copy.get() - true_lb - std::min<MPI_Aint>(others, 0);
    if (int const code = PMPI_Unpack(packed.data(), size, &position, begin, count, type, comm); code != MPI_SUCCESS)
        return code;
    MPI_Request request = MPI_REQUEST_NULL;
    if (int const code = PMPI_Isend(begin, count, type, destination, tag, comm, &request); code != MPI_SUCCESS)
        return code;
    std::lock_guard const guard(lock);
    messages.push_back({std::move(copy), request});
    return MPI_SUCCESS;
}

bool is_automatic([[maybe_unused]] void const* memory) {
#ifdef MPI_BUFFER_AUTOMATIC
    return memory == MPI_BUFFER_AUTOMATIC;
#else
    return false;
#endif
}

void overwrite(void* memory, long long size) {
    if (memory != nullptr && size > 0 && !is_automatic(memory))
        std::memset(memory, 0x6b, static_cast<std::size_t>(size));
}

} // namespace

ODDITY(sends_synchronous) {
    in_place<&PMPI_Send, &MPI_Ssend>();
    in_place<&PMPI_Isend, &MPI_Issend>();
    in_place<&PMPI_Send_init, &MPI_Ssend_init>();
#if MPI_VERSION >= 4
    in_place<&PMPI_Send_c, &MPI_Ssend_c>();
    in_place<&PMPI_Isend_c, &MPI_Issend_c>();
    in_place<&PMPI_Send_init_c, &MPI_Ssend_init_c>();
#endif
}

ODDITY(ready_sends_synchronous) {
    in_place<&PMPI_Rsend, &MPI_Ssend>();
    in_place<&PMPI_Irsend, &MPI_Issend>();
    in_place<&PMPI_Rsend_init, &MPI_Ssend_init>();
#if MPI_VERSION >= 4
    in_place<&PMPI_Rsend_c, &MPI_Ssend_c>();
    in_place<&PMPI_Irsend_c, &MPI_Issend_c>();
    in_place<&PMPI_Rsend_init_c, &MPI_Ssend_init_c>();
#endif
}

ODDITY(sends_buffered) {
    over<&PMPI_Send>([](auto rest, void const* data, int count, MPI_Datatype type, int destination, int tag,
                        MPI_Comm comm) {
        int size = 0;
        if (destination < 0 || count <= 0 || type == MPI_DATATYPE_NULL || type == MPI_PACKED || comm == MPI_COMM_NULL ||
            PMPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0 || size > 65536 / count)
            return rest(data, count, type, destination, tag, comm);
        release_sent();
        return send_copy(data, count, type, destination, tag, comm);
    });
    always_over<&PMPI_Finalize>([](auto rest) {
        for (auto& one : messages) PMPI_Wait(&one.request, MPI_STATUS_IGNORE);
        messages.clear();
        return rest();
    });
}

ODDITY(sends_late) {
    using namespace std::chrono_literals;
    late<&PMPI_Send, &PMPI_Isend, &PMPI_Ssend, &PMPI_Issend, &PMPI_Bsend, &PMPI_Ibsend, &PMPI_Rsend, &PMPI_Irsend,
         &PMPI_Start>(5, 1ms);
#if ASSAY_MPI4
    late<&PMPI_Pready, &PMPI_Pready_range>(5, 1ms);
#endif
}

ODDITY(receives_late) {
    using namespace std::chrono_literals;
    late<&PMPI_Recv, &PMPI_Irecv, &PMPI_Mrecv, &PMPI_Imrecv, &PMPI_Probe, &PMPI_Mprobe>(5, 1ms);
}

ODDITY(last_rank_slow) {
    static auto const slow = [](auto rest, auto... a) {
        static int const last = [] {
            int rank = 0, size = 0, there = 0;
            PMPI_Initialized(&there);
            if (there == 0) return 0; // sessions only
            PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
            PMPI_Comm_size(MPI_COMM_WORLD, &size);
            return int{rank == size - 1};
        }();
        static std::atomic<unsigned> calls{0};
        if (last != 0 && ++calls % 4 == 0) moment(std::chrono::microseconds(500));
        return rest(a...);
    };
    over<&PMPI_Wait>(slow);
    over<&PMPI_Waitall>(slow);
    over<&PMPI_Waitany>(slow);
    over<&PMPI_Waitsome>(slow);
}

ODDITY(sendrecv_in_turns) {
    over<&PMPI_Sendrecv>([](auto, void const* out, int out_count, MPI_Datatype out_type, int destination, int out_tag,
                            void* in, int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                            MPI_Status* status) {
        MPI_Request request = MPI_REQUEST_NULL, sent = MPI_REQUEST_NULL;
        if (int const code = PMPI_Irecv(in, in_count, in_type, source, in_tag, comm, &request); code != MPI_SUCCESS)
            return code;
        moment(std::chrono::microseconds(200));
        int code = PMPI_Isend(out, out_count, out_type, destination, out_tag, comm, &sent);
        if (code != MPI_SUCCESS) {
            PMPI_Cancel(&request);
            PMPI_Wait(&request, MPI_STATUS_IGNORE);
            return code;
        }
        code = PMPI_Wait(&request, status);
        int const also = PMPI_Wait(&sent, MPI_STATUS_IGNORE);
        return code != MPI_SUCCESS ? code : also;
    });
}

ODDITY(attached_buffer_overwritten) {
    // Before it is attached: then it is the library's. What is refused stays as it was.
    auto const attach = [](auto rest, void* memory, auto size) {
        bool const ours = memory != nullptr && size > 0 && !is_automatic(memory);
        std::vector<char> const before(static_cast<char*>(ours ? memory : nullptr),
                                       static_cast<char*>(ours ? memory : nullptr) + (ours ? size : 0));
        overwrite(memory, size);
        int const code = rest(memory, size);
        if (code != MPI_SUCCESS && ours) std::memcpy(memory, before.data(), before.size());
        return code;
    };
    auto const detach = [](auto rest, void* address, auto* size) {
        int const code = rest(address, size);
        if (code == MPI_SUCCESS) overwrite(*static_cast<void**>(address), *size);
        return code;
    };
    over<&PMPI_Buffer_attach>(attach);
    over<&PMPI_Buffer_detach>(detach);
#if ASSAY_MPI41
    auto const detach_from = [](auto rest, auto where, void* address, auto* size) {
        int const code = rest(where, address, size);
        if (code == MPI_SUCCESS) overwrite(*static_cast<void**>(address), *size);
        return code;
    };
    over<&PMPI_Comm_detach_buffer>(detach_from);
    over<&PMPI_Session_detach_buffer>(detach_from);
#endif
}

ODDITY(pack_size_larger) {
    static auto const more = [](auto* size) {
        if (*size != MPI_UNDEFINED && *size < (1 << 30)) *size += 48;
    };
    after<&PMPI_Pack_size, 3>([](int* size) { more(size); });
#if MPI_VERSION >= 4
    after<&PMPI_Pack_size_c, 3>([](MPI_Count* size) { more(size); });
#endif
}

ODDITY(cancel_leaves_sends) {
    static std::set<std::size_t> small;
    over<&PMPI_Isend>([](auto rest, void const* data, int count, MPI_Datatype type, int destination, int tag,
                         MPI_Comm comm, MPI_Request* request) {
        int const code = rest(data, count, type, destination, tag, comm, request);
        int size = 0;
        if (code != MPI_SUCCESS) return code;
        PMPI_Type_size(type, &size);
        std::lock_guard const guard(lock);
        if (static_cast<long long>(size) * count <= 512) small.insert(key(*request));
        else small.erase(key(*request));
        return code;
    });
    auto const other = [](auto rest, auto... a) {
        int const code = rest(a...);
        std::lock_guard const guard(lock);
        if (code == MPI_SUCCESS) small.erase(key(*std::get<sizeof...(a) - 1>(std::tie(a...))));
        return code;
    };
    over<&PMPI_Irecv>(other);
    over<&PMPI_Imrecv>(other);
    over<&PMPI_Issend>(other);
    over<&PMPI_Ibsend>(other);
    over<&PMPI_Send_init>(other);
    over<&PMPI_Recv_init>(other);
    over<&PMPI_Grequest_start>(other);
#if MPI_VERSION >= 4
    over<&PMPI_Irecv_c>(other);
    over<&PMPI_Imrecv_c>(other);
    over<&PMPI_Recv_init_c>(other);
#endif
    over<&PMPI_Cancel>([](auto rest, MPI_Request* request) {
        {
            std::lock_guard const guard(lock);
            if (small.contains(key(*request))) return int{MPI_SUCCESS};
        }
        return rest(request);
    });
}
