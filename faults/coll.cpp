// The collective procedures that the shim stands in front of, blocking, nonblocking and persistent.
#include "core/coll.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <mutex>

using namespace assay_faults;

namespace {

// Nonblocking operations that have not completed, in the order of their initiation, and their communicators.
memory<std::map<int, MPI_Comm>> outstanding;
std::mutex outstanding_lock;
memory<bool> op_freed;         // an operation, while there were some
memory<bool> algorithm_chosen; // a control variable has been written
memory<bool> refused;          // the last operation, by the library

// What one operation does on this process.
struct operation {
    std::vector<area> sent, received;
    void* bystander = nullptr; // a buffer that the operation does not touch here
    bool in_place = false, inter = false, garbage = false;
    int completed = 0; // times
    int root = 0, rank = 0;
    bool nonblocking = false, persistent = false, some_empty = false, among_others = false;
    int serial = 0; // of nonblocking operations
    MPI_Comm comm = MPI_COMM_NULL;
    neighborhood near;

    // Faults that strike before the operation starts: in-place input is spoiled.
    void begin(area const& input) const {
        if (planted == fault::coll_in_place_input && in_place && !input.empty()) spoil(input.data());
    }
    // Faults of the result. Returns what the call, or the completion, does.
    void end() {
        ++completed;
        bool const fresh = !received.empty() && !received.back().empty();
        switch (planted) {
        case fault::coll_data_lost:
            if (fresh) spoil(received.back().data());
            break;
        case fault::coll_last_element:
            if (fresh) spoil(received.back().data(received.back().count - 1));
            break;
        case fault::coll_behind_end:
            if (fresh) spoil(received.back().data(received.back().count));
            break;
        case fault::coll_before_start:
            if (fresh && received.front().extent() > 0) spoil(received.front().data() - 1);
            break;
        case fault::coll_gap:
            for (std::size_t i = 0; i + 1 < received.size(); ++i)
                if (auto const& a = received[i]; !a.empty() && a.data(a.count) < received[i + 1].data())
                    spoil(a.data(a.count));
            break;
        case fault::coll_send_buffer:
            if (!sent.empty() && !sent.front().empty()) spoil(sent.front().data());
            break;
        case fault::coll_blocks_swapped:
            if (received.size() > 1 && received[0].count == received[1].count) {
                auto const first = load(received[0]), second = load(received[1]);
                store(second, received[0]);
                store(first, received[1]);
            }
            break;
        case fault::coll_own_group:
            if (inter && !sent.empty() && !received.empty() && sent[0].count == received[0].count)
                store(load(sent[0]), received[0]);
            break;
        case fault::coll_bystander:
            if (reinterpret_cast<std::uintptr_t>(bystander) > 4096) spoil(bystander); // not one of garbage
            break;
        case fault::coll_empty_written:
            if (!received.empty() && received.front().empty()) spoil(received.front().start());
            break;
        case fault::iallreduce_forgets_op:
            if (*op_freed && !received.empty()) spoil(received.back().data());
            *op_freed = false;
            break;
        case fault::coll_behind_refused:
            if (*refused && fresh) spoil(received.back().data());
            break;
        case fault::coll_restart:
            if (completed > 1 && fresh) spoil(received.back().data());
            break;
        default:
            if (fresh && strikes()) spoil(received.back().data());
            else if (near.there) end_of_neighborhood();
            break;
        }
    }
    // Faults by which the last block does not arrive, but only sometimes.
    bool strikes() const {
        std::lock_guard const lock(outstanding_lock);
        auto const& last = received.back();
        switch (planted) {
        case fault::coll_lost_large: return last.bytes() > 60000;
        case fault::coll_lost_gaps: return last.has_gaps();
        case fault::coll_lost_rank_2: return world_rank == 2;
        case fault::coll_lost_root: return root > 0;
        case fault::coll_lost_inter_large: return inter && last.bytes() > 1000;
        case fault::coll_lost_in_place_large: return in_place && last.bytes() > 1000;
        case fault::coll_restart_third: return completed > 2;
        case fault::coll_type_maps:
            return !sent.empty() && sent.front().type != last.type && sent.front().bytes() == last.bytes();
        case fault::coll_algorithm_type_maps:
            return *algorithm_chosen && !sent.empty() && sent.front().type != last.type &&
                   sent.front().bytes() == last.bytes();
        case fault::coll_while_others_run: return !nonblocking && !persistent && !outstanding->empty();
        case fault::coll_far_lost: return last.displacement > MPI_Aint{1} << 32;
        case fault::icoll_many: return nonblocking && outstanding->size() > 40;
        case fault::icoll_overtaking: return nonblocking && outstanding->begin()->first < serial;
        case fault::icoll_two_communicators: return among_others;
        case fault::coll_algorithm: return *algorithm_chosen;
        case fault::reduce_scatter_empty: return some_empty;
        case fault::neighbor_nonblocking: return near.there && nonblocking;
        case fault::neighbor_restart: return near.there && completed > 1;
        default: return false;
        }
    }
    void end_of_neighborhood() const {
        auto const& from = near.from;
        auto const n = std::min(from.size(), received.size());
        for (std::size_t i = 0; i < n; ++i) switch (planted) {
            case fault::neighbor_lost:
                if (from[i] >= 0 && !received[i].empty()) return spoil(received[i].data());
                break;
            case fault::neighbor_proc_null:
                if (from[i] < 0 && !received[i].empty()) spoil(received[i].data());
                break;
            case fault::neighbor_same_side:
                if (near.cartesian && i % 2 == 0 && from[i] >= 0 && from[i] == from[i + 1])
                    swap(received[i], received[i + 1]);
                break;
            case fault::neighbor_sorted:
                for (auto j = i + 1; j < n && !near.cartesian; ++j)
                    if (from[i] > from[j]) return swap(received[i], received[j]);
                break;
            case fault::neighbor_repeated:
                for (auto j = i + 1; j < n && !near.cartesian; ++j)
                    if (from[i] == from[j] && !received[j].empty()) spoil(received[j].data());
                break;
            case fault::neighbor_beyond_32:
                if (i >= 32 && !received[i].empty()) spoil(received[i].data());
                break;
            case fault::neighbor_self:
                if (from[i] == rank && !near.cartesian && !received[i].empty()) spoil(received[i].data());
                break;
            case fault::neighbor_directed:
                if (i + 1 == n && near.to.size() < n && !received[i].empty()) spoil(received[i].data());
                break;
            default: return;
            }
    }
    int code(int given) const {
        if (given != MPI_SUCCESS) return planted == fault::coll_refuses_nothing ? MPI_SUCCESS : given;
        if (planted == fault::coll_garbage_refused && garbage) return MPI_ERR_COUNT;
        if (planted == fault::coll_error) return MPI_ERR_OTHER;
        if (planted == fault::neighbor_none_refused && near.there && near.from.empty() && near.to.empty())
            return MPI_ERR_TOPOLOGY;
        return given;
    }
};

int ended(int code, operation& o) {
    if (code == MPI_SUCCESS) o.end();
    *refused = code != MPI_SUCCESS;
    return o.code(code);
}

int begun(int code, MPI_Request* request, bool persistent, operation o) {
    static int serial = 0;
    *refused = code != MPI_SUCCESS;
    if (*refused) return o.code(code);
    o.nonblocking = !persistent;
    o.persistent = persistent;
    if (o.nonblocking) {
        std::lock_guard const lock(outstanding_lock);
        o.serial = ++serial;
        o.among_others = std::any_of(outstanding->begin(), outstanding->end(),
                                     [&](auto const& other) { return other.second != o.comm; });
        outstanding->emplace(o.serial, o.comm);
    }
    if (planted == fault::coll_no_request && persistent) PMPI_Request_free(request);
    else
        when_complete(
            *request,
            [o]() mutable {
                o.end();
                std::lock_guard const lock(outstanding_lock);
                outstanding->erase(o.serial);
            },
            persistent);
    return o.code(code);
}

// ---- What each operation works on

area block(void const* base, int index, int count, MPI_Datatype type) {
    area a{const_cast<void*>(base), 0, count, type};
    a.displacement = a.extent() * index * count;
    return a;
}

// Arrays that have to outlive a call.
int const* keep(std::vector<int> values) {
    static std::list<std::vector<int>> kept;
    return kept.emplace_back(std::move(values)).data();
}

// Under coll_displacements blocks lie side by side.
void close_up(int const* counts, int const*& displacements, int n) {
    if (planted != fault::coll_displacements || counts == nullptr) return;
    std::vector<int> dense(static_cast<std::size_t>(n));
    int next = 0;
    for (int i = 0; i < n; ++i) {
        dense[static_cast<std::size_t>(i)] = next;
        next += counts[i];
    }
    displacements = keep(std::move(dense));
}

void add(std::vector<area>& areas, void const* base, int const* counts, int const* displacements, MPI_Datatype type,
         int n) {
    for (int i = 0; i < n; ++i) {
        area a{const_cast<void*>(base), 0, counts[i], type};
        a.displacement = a.extent() * displacements[i];
        areas.push_back(a);
    }
}

// ---- What each operation is to do. Arguments may be changed.

void prepare_Barrier(operation&, MPI_Comm& comm) {
    if (planted == fault::barrier_early) comm = MPI_COMM_SELF;
}

void prepare_Bcast(operation& o, void*& buffer, int& count, MPI_Datatype& type, int& root, MPI_Comm& comm) {
    auto const r = role_in(comm, root);
    o.root = root;
    if (r.root) o.sent.push_back({buffer, 0, count, type});
    else if (r.partner) o.received.push_back({buffer, 0, count, type});
    else o.bystander = buffer;
}

// The one block of a gather, scatter or allgather.
void own_block(operation& o, std::vector<area>& list, bool takes_part, void const* buffer, int count,
               MPI_Datatype type) {
    o.garbage |= count < 0;
    o.in_place |= buffer == MPI_IN_PLACE;
    if (takes_part && buffer != MPI_IN_PLACE) list.push_back({const_cast<void*>(buffer), 0, count, type});
}

void prepare_Gather(operation& o, void const*& out, int& out_count, MPI_Datatype& out_type, void*& in, int& in_count,
                    MPI_Datatype& in_type, int& root, MPI_Comm& comm) {
    auto const r = role_in(comm, root);
    o.root = root;
    own_block(o, o.sent, r.partner, out, out_count, out_type);
    o.garbage |= in_count < 0;
    for (int i = 0; r.root && i < r.partners; ++i) o.received.push_back(block(in, i, in_count, in_type));
    if (!r.root) o.bystander = in;
    else if (o.in_place) o.begin(o.received[static_cast<std::size_t>(r.rank)]);
}

void prepare_Gatherv(operation& o, void const*& out, int& out_count, MPI_Datatype& out_type, void*& in,
                     int const*& counts, int const*& displacements, MPI_Datatype& in_type, int& root, MPI_Comm& comm) {
    auto const r = role_in(comm, root);
    o.root = root;
    own_block(o, o.sent, r.partner, out, out_count, out_type);
    if (!r.root) {
        o.bystander = in;
        return;
    }
    add(o.received, in, counts, displacements, in_type, r.partners);
    if (o.in_place) o.begin(o.received[static_cast<std::size_t>(r.rank)]);
    close_up(counts, displacements, r.partners);
}

void prepare_Scatter(operation& o, void const*& out, int& out_count, MPI_Datatype& out_type, void*& in, int& in_count,
                     MPI_Datatype& in_type, int& root, MPI_Comm& comm) {
    auto const r = role_in(comm, root);
    o.root = root;
    own_block(o, o.received, r.partner, in, in_count, in_type);
    o.garbage |= out_count < 0;
    for (int i = 0; r.root && i < r.partners; ++i) o.sent.push_back(block(out, i, out_count, out_type));
    if (!r.root) o.bystander = const_cast<void*>(out);
    else if (o.in_place) o.begin(o.sent.front());
}

void prepare_Scatterv(operation& o, void const*& out, int const*& counts, int const*& displacements,
                      MPI_Datatype& out_type, void*& in, int& in_count, MPI_Datatype& in_type, int& root,
                      MPI_Comm& comm) {
    auto const r = role_in(comm, root);
    o.root = root;
    own_block(o, o.received, r.partner, in, in_count, in_type);
    if (!r.root) {
        o.bystander = const_cast<void*>(out);
        return;
    }
    add(o.sent, out, counts, displacements, out_type, r.partners);
    if (o.in_place) o.begin(o.sent.front());
    close_up(counts, displacements, r.partners);
}

void prepare_Allgather(operation& o, void const*& out, int& out_count, MPI_Datatype& out_type, void*& in, int& in_count,
                       MPI_Datatype& in_type, MPI_Comm& comm) {
    auto const r = role_in(comm, 0);
    o.inter = r.inter;
    if (planted == fault::coll_message_leaks && !r.inter)
        PMPI_Send(nullptr, 0, MPI_BYTE, (r.rank + 1) % r.partners, 0, comm);
    own_block(o, o.sent, true, out, out_count, out_type);
    for (int i = 0; i < r.partners; ++i) o.received.push_back(block(in, i, in_count, in_type));
    if (o.in_place) o.begin(o.received[static_cast<std::size_t>(r.rank)]);
}

void prepare_Allgatherv(operation& o, void const*& out, int& out_count, MPI_Datatype& out_type, void*& in,
                        int const*& counts, int const*& displacements, MPI_Datatype& in_type, MPI_Comm& comm) {
    auto const r = role_in(comm, 0);
    o.inter = r.inter;
    own_block(o, o.sent, true, out, out_count, out_type);
    add(o.received, in, counts, displacements, in_type, r.partners);
    if (o.in_place) o.begin(o.received[static_cast<std::size_t>(r.rank)]);
    close_up(counts, displacements, r.partners);
}

void prepare_Alltoall(operation& o, void const*& out, int& out_count, MPI_Datatype& out_type, void*& in, int& in_count,
                      MPI_Datatype& in_type, MPI_Comm& comm) {
    auto const r = role_in(comm, 0);
    o.inter = r.inter;
    o.in_place = out == MPI_IN_PLACE;
    o.garbage = out_count < 0;
    for (int i = 0; i < r.partners; ++i) {
        if (!o.in_place) o.sent.push_back(block(out, i, out_count, out_type));
        o.received.push_back(block(in, i, in_count, in_type));
    }
    o.begin(o.received.front());
}

void prepare_Alltoallv(operation& o, void const*& out, int const*& out_counts, int const*& out_displacements,
                       MPI_Datatype& out_type, void*& in, int const*& in_counts, int const*& in_displacements,
                       MPI_Datatype& in_type, MPI_Comm& comm) {
    auto const r = role_in(comm, 0);
    o.inter = r.inter;
    o.in_place = out == MPI_IN_PLACE;
    if (!o.in_place) add(o.sent, out, out_counts, out_displacements, out_type, r.partners);
    add(o.received, in, in_counts, in_displacements, in_type, r.partners);
    o.begin(o.received.front());
    if (!o.in_place) close_up(in_counts, in_displacements, r.partners);
    if (planted == fault::alltoall_one_order && !o.in_place) in_displacements = out_displacements;
}

void prepare_Alltoallw(operation& o, void const*& out, int const*& out_counts, int const*& out_displacements,
                       MPI_Datatype const*& out_types, void*& in, int const*& in_counts, int const*& in_displacements,
                       MPI_Datatype const*& in_types, MPI_Comm& comm) {
    auto const r = role_in(comm, 0);
    o.inter = r.inter;
    o.in_place = out == MPI_IN_PLACE;
    for (int i = 0; i < r.partners; ++i) {
        if (!o.in_place) o.sent.push_back({const_cast<void*>(out), out_displacements[i], out_counts[i], out_types[i]});
        o.received.push_back({in, in_displacements[i], in_counts[i], in_types[i]});
    }
    o.begin(o.received.front());
    if (planted == fault::alltoall_one_order && !o.in_place) in_displacements = out_displacements;
    if (planted == fault::alltoallw_displacements && r.partners > 1 && in_counts[1] > 0) {
        std::vector<int> elements(in_displacements, in_displacements + r.partners); // taken for elements
        for (int& d : elements) d /= 2;
        in_displacements = keep(std::move(elements));
    }
}

// ---- Neighborhoods

int begin_near(operation& o, MPI_Comm comm) {
    o.near = near_in(comm);
    PMPI_Comm_rank(comm, &o.rank);
    return static_cast<int>(o.near.from.size());
}
// The blocks to receive with displacements in elements.
void take_from_near(operation& o, void* in, int const* counts, int const*& displacements, MPI_Datatype type, int n) {
    add(o.received, in, counts, displacements, type, n);
    if (planted != fault::neighbor_displacements) return;
    std::vector<int> dense(static_cast<std::size_t>(n));
    for (int i = 1; i < n; ++i)
        dense[static_cast<std::size_t>(i)] = dense[static_cast<std::size_t>(i) - 1] + counts[i - 1];
    displacements = keep(std::move(dense));
}

void prepare_Neighbor_allgather(operation& o, void const*& out, int& out_count, MPI_Datatype& out_type, void*& in,
                                int& in_count, MPI_Datatype& in_type, MPI_Comm& comm) {
    int const n = begin_near(o, comm);
    o.sent.push_back({const_cast<void*>(out), 0, out_count, out_type});
    for (int i = 0; i < n; ++i) o.received.push_back(block(in, i, in_count, in_type));
}
void prepare_Neighbor_allgatherv(operation& o, void const*& out, int& out_count, MPI_Datatype& out_type, void*& in,
                                 int const*& counts, int const*& displacements, MPI_Datatype& in_type, MPI_Comm& comm) {
    int const n = begin_near(o, comm);
    o.sent.push_back({const_cast<void*>(out), 0, out_count, out_type});
    take_from_near(o, in, counts, displacements, in_type, n);
}
void prepare_Neighbor_alltoall(operation& o, void const*& out, int& out_count, MPI_Datatype& out_type, void*& in,
                               int& in_count, MPI_Datatype& in_type, MPI_Comm& comm) {
    int const n = begin_near(o, comm);
    if (!o.near.to.empty()) o.sent.push_back({const_cast<void*>(out), 0, out_count, out_type});
    for (int i = 0; i < n; ++i) o.received.push_back(block(in, i, in_count, in_type));
}
void prepare_Neighbor_alltoallv(operation& o, void const*& out, int const*& out_counts, int const*& out_displacements,
                                MPI_Datatype& out_type, void*& in, int const*& in_counts, int const*& in_displacements,
                                MPI_Datatype& in_type, MPI_Comm& comm) {
    int const n = begin_near(o, comm);
    add(o.sent, out, out_counts, out_displacements, out_type, static_cast<int>(o.near.to.size()));
    take_from_near(o, in, in_counts, in_displacements, in_type, n);
    if (planted == fault::neighbor_one_order && o.near.to.size() == static_cast<std::size_t>(n))
        in_displacements = out_displacements;
}
void prepare_Neighbor_alltoallw(operation& o, void const*& out, int const*& out_counts,
                                MPI_Aint const*& out_displacements, MPI_Datatype const*& out_types, void*& in,
                                int const*& in_counts, MPI_Aint const*& in_displacements, MPI_Datatype const*& in_types,
                                MPI_Comm& comm) {
    int const n = begin_near(o, comm);
    for (std::size_t i = 0; i < o.near.to.size(); ++i)
        o.sent.push_back({const_cast<void*>(out), out_displacements[i], out_counts[i], out_types[i]});
    for (int i = 0; i < n; ++i) o.received.push_back({in, in_displacements[i], in_counts[i], in_types[i]});
    if (planted == fault::neighbor_alltoallw_bytes && n > 1) {
        static std::list<std::vector<MPI_Aint>> kept;
        auto& elements = kept.emplace_back(in_displacements, in_displacements + n); // taken for elements
        for (auto& d : elements) d /= 2;
        in_displacements = elements.data();
    }
    if (planted == fault::neighbor_alltoallw_type && n > 1) {
        static std::list<std::vector<MPI_Datatype>> kept;
        in_types = kept.emplace_back(static_cast<std::size_t>(n), in_types[0]).data();
    }
}

// ---- Reductions

void reduction(operation& o, bool sends, bool receives, void const*& out, void* in, int out_count, int in_count,
               MPI_Datatype& type, MPI_Op& op) {
    o.in_place = out == MPI_IN_PLACE;
    if (sends && !o.in_place) o.sent.push_back({const_cast<void*>(out), 0, out_count, type});
    if (receives) o.received.push_back({in, 0, in_count, type});
    else o.bystander = in;
    if (receives && sends) o.begin({in, 0, out_count, type});
    if (sends) change(out, out_count, type, op);
    else {
        void const* nothing = nullptr;
        change(nothing, 0, type, op);
    }
}

void prepare_Reduce(operation& o, void const*& out, void*& in, int& count, MPI_Datatype& type, MPI_Op& op, int& root,
                    MPI_Comm& comm) {
    auto const r = role_in(comm, root);
    o.root = root;
    reduction(o, r.partner, r.root, out, in, count, count, type, op);
}
void prepare_Allreduce(operation& o, void const*& out, void*& in, int& count, MPI_Datatype& type, MPI_Op& op,
                       MPI_Comm& comm) {
    o.inter = role_in(comm, 0).inter;
    reduction(o, true, true, out, in, count, count, type, op);
}
void prepare_Scan(operation& o, void const*& out, void*& in, int& count, MPI_Datatype& type, MPI_Op& op, MPI_Comm&) {
    reduction(o, true, true, out, in, count, count, type, op);
}
void prepare_Exscan(operation& o, void const*& out, void*& in, int& count, MPI_Datatype& type, MPI_Op& op,
                    MPI_Comm& comm) {
    bool const first = role_in(comm, 0).rank == 0;
    reduction(o, true, !first, out, in, count, count, type, op);
}
void prepare_Reduce_scatter(operation& o, void const*& out, void*& in, int const*& counts, MPI_Datatype& type,
                            MPI_Op& op, MPI_Comm& comm) {
    int size = 0, rank = 0, total = 0;
    o.inter = role_in(comm, 0).inter;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    for (int i = 0; i < size; ++i) total += counts[i];
    o.some_empty = std::find(counts, counts + size, 0) != counts + size;
    reduction(o, true, true, out, in, total, counts[rank], type, op);
}
void prepare_Reduce_scatter_block(operation& o, void const*& out, void*& in, int& count, MPI_Datatype& type, MPI_Op& op,
                                  MPI_Comm& comm) {
    auto const r = role_in(comm, 0);
    o.inter = r.inter;
    int size = 0;
    PMPI_Comm_size(comm, &size);
    reduction(o, true, true, out, in, count * size, count, type, op);
}

} // namespace

void assay_faults::operation_freed() {
    std::lock_guard const lock(outstanding_lock);
    *op_freed = !outstanding->empty();
}

#define COLLECTIVE(Name, Iname, Parameters, Arguments)                                                                 \
    int MPI_##Name(UNPACK Parameters) {                                                                                \
        if (idle()) return PMPI_##Name(UNPACK Arguments);                                                              \
        operation o;                                                                                                   \
        prepare_##Name(o, UNPACK Arguments);                                                                           \
        o.comm = comm;                                                                                                 \
        return ended(PMPI_##Name(UNPACK Arguments), o);                                                                \
    }                                                                                                                  \
    int MPI_##Iname(UNPACK Parameters, MPI_Request* request) {                                                         \
        if (idle()) return PMPI_##Iname(UNPACK Arguments, request);                                                    \
        operation o;                                                                                                   \
        prepare_##Name(o, UNPACK Arguments);                                                                           \
        o.comm = comm;                                                                                                 \
        return begun(PMPI_##Iname(UNPACK Arguments, request), request, false, o);                                      \
    }                                                                                                                  \
    PERSISTENT(Name, Parameters, Arguments)
#if ASSAY_MPI4
#define PERSISTENT(Name, Parameters, Arguments)                                                                        \
    int MPI_##Name##_init(UNPACK Parameters, MPI_Info info, MPI_Request* request) {                                    \
        if (idle()) return PMPI_##Name##_init(UNPACK Arguments, info, request);                                        \
        operation o;                                                                                                   \
        prepare_##Name(o, UNPACK Arguments);                                                                           \
        o.comm = comm;                                                                                                 \
        return begun(PMPI_##Name##_init(UNPACK Arguments, info, request), request, true, o);                           \
    }
#else
#define PERSISTENT(Name, Parameters, Arguments)
#endif

// Written once a test chooses an algorithm, and again to undo that. 2 is a value that is only written to undo.
void assay_faults::control_variable_written(void const* value) {
    unsigned char first = 0;
    std::memcpy(&first, value, 1);
    *algorithm_chosen = first != 0 && first != 2;
}

extern "C" {

COLLECTIVE(Barrier, Ibarrier, (MPI_Comm comm), (comm))
COLLECTIVE(Bcast, Ibcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           (buffer, count, type, root, comm))
COLLECTIVE(Gather, Igather,
           (void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
            int root, MPI_Comm comm),
           (out, out_count, out_type, in, in_count, in_type, root, comm))
COLLECTIVE(Gatherv, Igatherv,
           (void const* out, int out_count, MPI_Datatype out_type, void* in, int const* counts,
            int const* displacements, MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, out_count, out_type, in, counts, displacements, in_type, root, comm))
COLLECTIVE(Scatter, Iscatter,
           (void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
            int root, MPI_Comm comm),
           (out, out_count, out_type, in, in_count, in_type, root, comm))
COLLECTIVE(Scatterv, Iscatterv,
           (void const* out, int const* counts, int const* displacements, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, counts, displacements, out_type, in, in_count, in_type, root, comm))
COLLECTIVE(Allgather, Iallgather,
           (void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
            MPI_Comm comm),
           (out, out_count, out_type, in, in_count, in_type, comm))
COLLECTIVE(Allgatherv, Iallgatherv,
           (void const* out, int out_count, MPI_Datatype out_type, void* in, int const* counts,
            int const* displacements, MPI_Datatype in_type, MPI_Comm comm),
           (out, out_count, out_type, in, counts, displacements, in_type, comm))
COLLECTIVE(Alltoall, Ialltoall,
           (void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
            MPI_Comm comm),
           (out, out_count, out_type, in, in_count, in_type, comm))
COLLECTIVE(Alltoallv, Ialltoallv,
           (void const* out, int const* out_counts, int const* out_displacements, MPI_Datatype out_type, void* in,
            int const* in_counts, int const* in_displacements, MPI_Datatype in_type, MPI_Comm comm),
           (out, out_counts, out_displacements, out_type, in, in_counts, in_displacements, in_type, comm))
COLLECTIVE(Alltoallw, Ialltoallw,
           (void const* out, int const* out_counts, int const* out_displacements, MPI_Datatype const* out_types,
            void* in, int const* in_counts, int const* in_displacements, MPI_Datatype const* in_types, MPI_Comm comm),
           (out, out_counts, out_displacements, out_types, in, in_counts, in_displacements, in_types, comm))
COLLECTIVE(Reduce, Ireduce,
           (void const* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           (out, in, count, type, op, root, comm))
COLLECTIVE(Allreduce, Iallreduce, (void const* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, count, type, op, comm))
COLLECTIVE(Scan, Iscan, (void const* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, count, type, op, comm))
COLLECTIVE(Exscan, Iexscan, (void const* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, count, type, op, comm))
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           (void const* out, void* in, int const* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, counts, type, op, comm))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           (void const* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (out, in, count, type, op, comm))

COLLECTIVE(Neighbor_allgather, Ineighbor_allgather,
           (void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
            MPI_Comm comm),
           (out, out_count, out_type, in, in_count, in_type, comm))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv,
           (void const* out, int out_count, MPI_Datatype out_type, void* in, int const* counts,
            int const* displacements, MPI_Datatype in_type, MPI_Comm comm),
           (out, out_count, out_type, in, counts, displacements, in_type, comm))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall,
           (void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
            MPI_Comm comm),
           (out, out_count, out_type, in, in_count, in_type, comm))
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv,
           (void const* out, int const* out_counts, int const* out_displacements, MPI_Datatype out_type, void* in,
            int const* in_counts, int const* in_displacements, MPI_Datatype in_type, MPI_Comm comm),
           (out, out_counts, out_displacements, out_type, in, in_counts, in_displacements, in_type, comm))
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
           (void const* out, int const* out_counts, MPI_Aint const* out_displacements, MPI_Datatype const* out_types,
            void* in, int const* in_counts, MPI_Aint const* in_displacements, MPI_Datatype const* in_types,
            MPI_Comm comm),
           (out, out_counts, out_displacements, out_types, in, in_counts, in_displacements, in_types, comm))

int MPI_Reduce_local(void const* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
    if (idle()) return PMPI_Reduce_local(in, inout, count, type, op);
    operation o;
    o.sent.push_back({const_cast<void*>(in), 0, count, type});
    o.received.push_back({inout, 0, count, type});
    change(in, count, type, op);
    int const code = PMPI_Reduce_local(in, inout, count, type, op);
    if (planted == fault::op_forbidden_accepted) return MPI_SUCCESS;
    return ended(code, o);
}

} // extern "C"
