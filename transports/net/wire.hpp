// What a transport implements: it carries frames between processes, reliably and in order, except frames whose flow says that their
// order does not matter. It knows neither libfabric nor MPI.
//
// A frame is a head of head_size bytes and a payload of any size. Peers are reached by address, and a connection is
// made when the first frame goes to or comes from a peer. A wire is driven from one thread at a time, never blocks but in
// flush(), and reports what happens only from within poll().
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <sys/uio.h>

namespace assay::net {

inline constexpr std::size_t head_size = 56;
inline constexpr std::size_t longest_address = 64;

using address = std::string; // bytes that only the wire understands, at most longest_address
using peer = std::uint32_t;  // a small number that stands for an address, valid as long as the wire

enum class memory {
    borrow, // the payload stays as it is until sent() or failed()
    copy    // the wire copies what it cannot send at once
};

// Which frames belong together. A wire with several streams chooses the stream by it; a wire with one stream ignores it.
struct flow {
    std::uint32_t context = 0, tag = 0;
    bool control = false;   // the frame belongs to the protocol of the two sides and carries no data of a program
    bool unordered = false; // the frame may overtake others, and they may overtake it
};

// Where a payload goes. What does not fit is dropped.
struct destination {
    std::span<iovec const> places;
    void* token = nullptr; // comes back with arrived() or lost()
};

// What a wire reports. The functions may call send(), reach() and withdraw(), but not poll().
class sink {
public:
    virtual ~sink() = default;
    // A frame has begun to arrive; its payload has `size` bytes, which may be 0.
    virtual destination begun(peer from, std::byte const* head, std::uint64_t size) = 0;
    virtual void arrived(peer from, void* token) = 0; // the payload is in its place
    virtual void lost(void* token) = 0;               // the payload will never be complete
    virtual void sent(void* token) = 0;               // borrowed memory is free again
    virtual void failed(void* token,
                        int error) = 0; // borrowed memory is free again, and the peer did not get the frame
    virtual void closed(peer which,
                        int error) = 0; // nothing more comes from there; error 0: the peer announced the end
};

struct counters {
    std::uint64_t frames_sent = 0, frames_received = 0;
    std::uint64_t bytes_sent = 0, bytes_received = 0; // as given to the system, with what the wire adds
    std::uint64_t connections = 0, accepted = 0;
    std::uint64_t writes = 0, reads = 0; // calls of the system, or packets
    std::uint64_t held = 0;              // frames that came before their turn
    std::uint64_t dropped = 0;           // packets that a bad network has lost here
    std::uint64_t bytes_aside = 0;       // bytes sent to other addresses of peers than their first
    std::uint64_t paths_lost = 0;        // how often an address of a peer stopped answering
};

class wire {
public:
    virtual ~wire() = default; // reports what has not been sent as failed, and what was arriving as lost

    // Begins to take connections at `where` (of longest_address at most; empty: the wire chooses). Returns the address
    // at which peers reach it. Throws std::system_error.
    virtual address listen(address const& where) = 0;

    // The number of an address. Nothing is sent.
    virtual peer reach(address const& where) = 0;
    virtual address const& address_of(peer who) const = 0;

    // Whether there is a connection, so that send() sends a frame at once as long as the system has room. Begins to connect if there is
    // none. Also true for a peer that could not be reached the last time: send() tries again, and reports the outcome.
    virtual bool ready(peer to) = 0;

    // Sends a frame. True: the memory is free. False (only with memory::borrow): sent(token) or failed(token) follows.
    // A peer that cannot be reached is reported later. `head` is copied.
    virtual bool send(peer to, void const* head, std::span<iovec const> payload, flow const& where, memory how,
                      void* token) = 0;

    // What still comes for this token is dropped, and arrived() follows all the same: its places are about to vanish.
    virtual void withdraw(void* token) = 0;
    // Copies what is left to be sent for this token, if anything is: its memory is about to vanish or to change. sent() or
    // failed() follows as before. Throws std::bad_alloc.
    virtual void keep(void* token) = 0;

    // Gives up all connections with a peer, for this error: one of the next calls of poll() reports them as closed. Until then
    // nothing is read from memory that was borrowed for it.
    virtual void give_up(peer which, int error) = 0;

    // Sends and receives what is possible without waiting. Returns whether there was anything.
    virtual bool poll() = 0;
    virtual int wait_fd() const = 0; // readable when poll() has something to do

    // Waits until the other sides have acknowledged everything. Gives up when none of it is acknowledged within `limit`. Returns whether
    // all of it was.
    virtual bool flush(std::chrono::milliseconds limit) = 0;

    // Bytes that wait to be sent to a peer.
    virtual std::uint64_t backlog(peer to) const = 0;

    virtual counters const& counted() const = 0;
};

} // namespace assay::net
