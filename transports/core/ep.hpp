// Endpoint: sends, receives and remote memory, over one wire of its own.
//
// msg.cpp, tagged.cpp, rma.cpp and atomic.cpp are what programs call; requests.cpp begins what goes out, receives.cpp what comes in, and
// progress.cpp answers the wire. All with the domain's lock held.
#pragma once
#include "transports/core/av.hpp"
#include "transports/core/cntr.hpp"
#include "transports/core/counters.hpp"
#include "transports/core/cq.hpp"
#include "transports/core/domain.hpp"
#include "transports/core/eq.hpp"
#include "transports/core/faults.hpp"
#include "transports/core/match.hpp"
#include "transports/core/operation.hpp"
#include "transports/core/packet.hpp"
#include "transports/core/settings.hpp"
#include "transports/core/table.hpp"
#include "transports/net/pieces.hpp"
#include "transports/net/transport.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <rdma/fi_atomic.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <span>
#include <unordered_map>
#include <vector>

namespace assay::ofi {

inline constexpr std::size_t most_pieces = 4; // of a message in memory, and of remote memory
// What a program is told of the room for operations. None is refused: a program that may not wait for its peers, as in
// MPI_Isend, can have any number of sends that have no receive yet, and they take no room but its own memory.
inline constexpr std::size_t queue_size = 4096;
inline constexpr std::size_t most_atomic = 64 * 1024; // bytes of remote memory that one call changes
inline constexpr std::size_t default_least = 64;      // FI_OPT_MIN_MULTI_RECV
// Operations that one peer may have to answer at a time: announced messages that have no receive yet, reads, writes and atomic
// operations. What goes beyond waits at the side that began it, which has the memory for it anyway.
inline constexpr std::uint64_t most_awaited = 16 * 1024;
// Frames of one peer, other than answers that were asked for, that may have begun to arrive at a time. Those whose order matters come
// one after the other.
inline constexpr std::uint64_t most_begun = 1024;

// Bytes of credit that a message takes.
inline std::uint64_t credit_for(std::uint64_t size) { return size + net::head_size; }
// Bytes that are kept for one peer: what it reads and is about to be changed, and what atomic operations have found.
inline std::uint64_t most_kept() { return std::max<std::uint64_t>(configured().window, most_atomic); }
// Answers to one peer that the wire has not sent: a grant and a confirmation for each announced message, and one for each message
// that came with credit.
inline std::uint64_t most_replies() { return 2 * most_awaited + configured().window / net::head_size; }

// Memory in a few pieces, without an allocation.
class pieces {
public:
    pieces() = default;
    explicit pieces(std::span<iovec const> given) {
        for (auto const& one : given) add(one);
    }
    void add(iovec const& one) {
        list_[count_++] = one;
        size_ += one.iov_len;
    }
    std::size_t size() const { return size_; }
    std::span<iovec const> list() const { return {list_.data(), count_}; }
    void* front() const { return count_ > 0 ? list_[0].iov_base : nullptr; }
    // [from, from + size) as far as it is there.
    pieces part(std::size_t from, std::size_t size) const {
        pieces found;
        net::each_of_part(list(), from, size, [&](iovec const& one) { found.add(one); });
        return found;
    }
    void store(std::byte const* data, std::size_t size) const { net::scatter(data, size, list()); }
    void load(std::byte* data) const { net::gather(list(), data, size_); }

private:
    std::array<iovec, most_pieces> list_;
    std::size_t count_ = 0, size_ = 0;
};

inline pieces one_piece(void const* buffer, std::size_t size) {
    pieces found;
    found.add({const_cast<void*>(buffer), size});
    return found;
}

// How an operation is to be done and reported.
struct manner {
    fi_addr_t peer = FI_ADDR_UNSPEC;
    void* context = nullptr;
    std::uint64_t flags = 0;
    bool report = true; // a completion when it goes well
    bool with_data = false;
    std::uint64_t data = 0;
};

// A receive that was posted.
struct receive {
    pieces memory;
    void* context = nullptr;
    wanted what;
    bool tagged = false;
    bool report = true;
    bool multi = false;    // takes several messages, one after the other
    std::size_t used = 0;  // bytes that a multi-receive has given to messages
    unsigned filling = 0;  // messages that are on their way into it
    bool finished = false; // takes no more
};

// A message that comes in, or has come and waits for a receive.
struct arrival {
    net::peer from = 0;
    packet head;
    receive* into = nullptr;
    pieces places;                     // in the receive's memory
    std::unique_ptr<std::byte[]> body; // of a message that came before its receive
    bool here = false;                 // its body is complete; of an announced message: it has not been asked for
    bool coming = false;               // its data, which was granted, has begun to arrive
    bool discarded = false;            // it is dropped when its body is complete
    bool kept_offer = false;           // it counts among the offers that are kept for its sender
    int error = 0;                     // it will never be complete: its sender is gone, or there is no memory for it
    std::uint64_t number = 0;          // in granted_
};

// An atomic operation that a program asks for.
struct atomic_request {
    fi_datatype type;
    fi_op op;
    form how;
    pieces operand = {}, compare = {}, result = {}; // each empty or as long as the remote memory
    std::span<fi_rma_iov const> remote = {};
};

// What the wire gives back as the token of a frame that was sent.
struct sending {
    bool is_reply;
};

// An answer that the wire has not sent completely.
struct reply : sending {
    reply() : sending{true} {}
    net::peer to = 0;
    region* from = nullptr; // whose memory it still uses
    iovec data{};
    std::unique_ptr<std::byte[]> copy;
    std::uint64_t kept = 0; // bytes of a copy, which count for the peer
};

// An operation that this endpoint has begun and that is not complete.
struct request : sending {
    request() : sending{false} {}
    enum class kind { send, write, read, atomic } what = kind::send;
    net::peer to = 0;
    pieces memory;
    std::unique_ptr<std::byte[]> copy;
    void* context = nullptr;
    std::uint64_t flags = 0; // of the completion; they say which counter counts it, too
    bool report = true;
    bool injected = false; // the program takes it for complete since the call that began it
    unsigned queued = 0;   // frames that the wire has not finished with
    unsigned awaited = 0;  // answers that have not come completely
    unsigned coming = 0;   // of these: answers whose data is arriving in the memory
    std::size_t got = 0;   // bytes that answers have brought
    bool offered = false;  // waits for a grant
    bool lasting = false;  // the receiver must confirm that the message is in its memory
    int error = 0;
    std::uint64_t number = 0; // in requests_
};

class endpoint : public fid_ep, private net::sink {
public:
    endpoint(domain& in, fi_info const& info);
    ~endpoint() override;

    int bind(::fid& to, std::uint64_t flags);
    int enable();
    bool ready() const { return enabled_; }
    bool progress() noexcept;
    int wait_fd() const { return wire_->wait_fd(); }
    net::address const& name() const { return name_; }
    int option(int name, void* value, std::size_t* size) const;
    int set_option(int name, void const* value, std::size_t size);
    int flags(std::uint64_t& which, bool set);

    // flags of the calls that take none, and whether an operation with these flags is reported.
    std::uint64_t usual_send_flags() const { return send_flags_; }
    std::uint64_t usual_receive_flags() const { return receive_flags_; }
    bool reports_send(std::uint64_t flags) const { return !selective_send_ || flags & FI_COMPLETION; }
    bool reports_receive(std::uint64_t flags) const { return !selective_receive_ || flags & FI_COMPLETION; }

    ssize_t send(bool with_tag, pieces const& memory, std::uint64_t tag, manner const& how);
    ssize_t post(bool with_tag, pieces const& memory, std::uint64_t tag, std::uint64_t ignore, manner const& how);
    ssize_t write(pieces const& memory, std::span<fi_rma_iov const> remote, manner const& how);
    ssize_t read(pieces const& memory, std::span<fi_rma_iov const> remote, manner const& how);
    ssize_t atomic_operation(atomic_request const& it, manner const& how);
    ssize_t cancel(void const* context);
    void withdraw(void* token); // the memory that this frame arrives in is about to vanish
    void abandon(reply& one);   // the memory that this answer is sent from is

    domain& in;

private:
    // How much of what a peer has sent is kept here, within a limit. What was kept when a connection ended does not count against the
    // next one, up to the same limit.
    struct account {
        std::uint64_t now = 0, before = 0;
        bool take(std::uint64_t cost, std::uint64_t limit) {
            if (now + cost > limit + before) return false;
            now += cost;
            return true;
        }
        void free(std::uint64_t cost) { now -= std::min(now, cost); }
        void ended(std::uint64_t limit) { before = std::min(now, limit); }
    };
    // What an operation asks of a peer.
    struct burden {
        std::uint64_t answers;     // how many
        std::uint64_t results = 0; // bytes that they bring
        bool kept = false;         // the peer has to keep the results until they are sent
        bool changes = false;      // the peer may have to keep those of earlier operations
    };
    // An operation that waits until the peer has answered others.
    struct delayed {
        burden asked;
        std::function<void()> start;
    };
    struct peer_state {
        std::uint64_t in_flight = 0; // eager bytes that the peer has not said it has used up
        std::uint64_t owed = 0;      // eager bytes of the peer that were used up here; it has not been told
        std::uint64_t awaited = 0;   // answers that the peer owes
        std::uint64_t results = 0;   // bytes that they bring
        std::unique_ptr<std::deque<delayed>> waiting; // null: none
        account eager, offers;                        // of its messages
        std::uint64_t replies = 0;                    // to it, that the wire has not sent
        std::uint64_t kept = 0;                       // bytes of these that are copies
        std::uint64_t begun = 0;                      // frames that are arriving, but for answers that were asked for
        // Why nothing more comes from there, until it is heard of or called again. 0: something may come.
        int gone = 0;
        fi_addr_t number = FI_ADDR_NOTAVAIL;
    };
    // What a token of the wire stands for.
    struct landing;

    // requests.cpp
    bool find_peer(fi_addr_t number, net::peer& found);
    bool ready(net::peer to);
    bool dispatch(net::peer to, packet& head, std::span<iovec const> payload, net::memory how, void* token);
    std::unique_ptr<request> begin(request::kind what, pieces const& memory, manner const& how, net::peer to);
    void keep_copy(request& one);
    void launch(request& one, packet& head, pieces const& payload);
    void settle(request& one);
    static std::uint64_t results_of(request const& one);
    static bool takes(peer_state& by, burden const& it);
    template <typename Start> void in_turn(net::peer to, burden const& asked, Start start);
    void came(net::peer from, std::uint64_t answers, std::uint64_t results);
    void respond(net::peer to, packet& head, iovec const& data = {}, region* from = nullptr,
                 std::unique_ptr<std::byte[]> copy = {});
    bool keep(reply& one, std::uint64_t limit);
    void retire(reply& one);
    void see_off();
    void granted(net::peer from, packet const& head);
    void answered(request& one, int error);
    request* find_request(net::peer from, packet const& head) const;

    // receives.cpp
    void give(arrival& message, receive& to);
    void take_here(std::unique_ptr<arrival> message);
    void grant(arrival& message);
    void complete(arrival& message, int error);
    void release(receive& one);
    void used_up(net::peer from, packet const& head);
    ssize_t peek(bool with_tag, wanted const& what, manner const& how);
    ssize_t take_claimed(bool with_tag, pieces const& memory, manner const& how);
    receive* make_receive(bool with_tag, pieces const& memory, wanted const& what, manner const& how);
    void discard(arrival& message);
    void release_offer(arrival& message);
    void report(receive const& one, completion it);
    void end(receive& one, int error, fi_addr_t from);
    fi_addr_t number_of(net::peer who);
    posted<receive>& receives(bool with_tag) { return with_tag ? tagged_receives_ : plain_receives_; }
    unexpected<arrival>& messages(bool with_tag) { return with_tag ? tagged_messages_ : plain_messages_; }

    // progress.cpp
    net::destination begun(net::peer from, std::byte const* head, std::uint64_t size) override;
    void arrived(net::peer from, void* token) override;
    void lost(void* token) override;
    void sent(void* token) override;
    void failed(void* token, int error) override;
    void closed(net::peer which, int error) override;
    arrival& match(net::peer from, packet const& head);
    void begun_frame(net::peer from, std::uint64_t size, landing& to);
    void arrived_frame(net::peer from, landing& it);
    void announced(net::peer from, packet const& head);
    void keep_before_change(net::peer by, region& memory, std::byte const* place, std::uint64_t size);
    void begun_message(net::peer from, packet head, std::uint64_t size, landing& to);
    void begun_bulk(net::peer from, packet const& head, std::uint64_t size, landing& to);
    void begun_found(net::peer from, packet const& head, std::uint64_t size, landing& to);
    void done(net::peer from, packet const& head);
    void begun_write(net::peer from, packet const& head, std::uint64_t size, landing& to);
    void begun_atomic(packet const& head, std::uint64_t size, landing& to);
    void serve_read(net::peer from, packet const& head);
    void serve_atomic(net::peer from, landing& what);
    void written(net::peer from, landing& what);
    void count(counter* which, int error) {
        if (which) ++(error ? which->bad : which->good);
    }

    std::unique_ptr<net::wire> wire_;
    net::address name_;
    address_vector* av_ = nullptr;
    completion_queue *send_queue_ = nullptr, *receive_queue_ = nullptr;
    event_queue* events_ = nullptr;
    counter *send_counter_ = nullptr, *receive_counter_ = nullptr, *read_counter_ = nullptr, *write_counter_ = nullptr,
            *remote_read_counter_ = nullptr, *remote_write_counter_ = nullptr;
    bool enabled_ = false, selective_send_ = false, selective_receive_ = false;
    bool source_, directed_;
    std::uint64_t send_flags_, receive_flags_;
    std::size_t least_ = default_least; // room that a multi-receive needs to go on

    std::vector<peer_state> peers_;    // by net::peer
    std::vector<net::peer> by_number_; // by fi_addr_t; any_peer: not looked up yet
    posted<receive> plain_receives_, tagged_receives_;
    unexpected<arrival> plain_messages_, tagged_messages_;
    std::unordered_map<void const*, arrival*> claimed_; // by the context that claimed it
    table<request> requests_;
    table<arrival> granted_;
    std::vector<std::unique_ptr<reply>> spare_replies_;
    traffic traffic_;
};

extern fi_ops_msg msg_ops;
extern fi_ops_tagged tagged_ops;
extern fi_ops_rma rma_ops;
extern fi_ops_atomic atomic_ops;
int query_atomic(fi_datatype type, fi_op op, fi_atomic_attr* about, std::uint64_t flags);

int open_ep(domain& in, fi_info* info, fid_ep** made, void* context);
inline endpoint& endpoint_of(fid_ep* it) { return static_cast<endpoint&>(*it); }

// The transport of this provider, and assay_NAME: transports/provider.cpp.
extern net::transport const& transport;
extern char const provider_name[];

} // namespace assay::ofi
