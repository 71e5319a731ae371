// The one usrsctp of this process. It makes and understands packets, but does not send or receive them: peers are numbers
// for it (AF_CONN), and packets are given to it and taken from it here.
//
// Its timers have no thread. Time passes when a wire is polled. Where no wire is, because the program computes, the keeper
// takes over after a moment: a peer must not be thought dead for that, and what was sent must get there.
#pragma once
#include "transports/net/wire.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace assay::sctp {

// A wire, as the stack sees it. Called with the stack's lock held.
class client {
public:
    virtual ~client() = default;
    virtual void transmit(net::peer to, std::byte const* packet, std::size_t size) = 0;
    // The peer with this number has said which addresses it has (addresses.hpp). Returns what the stack calls them.
    virtual std::vector<void*> learn(net::peer from, std::span<std::byte const> parameters) = 0;
    virtual bool tend() = 0;          // gives the stack what has come; returns whether anything has
    virtual bool pending() = 0;       // there is something to report
    virtual void wake() = 0;          // whoever sleeps until there is
    bool polled = false;              // since the keeper looked
    bool look = true;                 // the stack may have something for it
    std::vector<std::byte> addresses; // that INIT and INIT ACK list; empty: only the one that they come from
};

class stack {
public:
    static stack& instance();

    std::mutex mutex; // for all of usrsctp, and for all below

    void attach(client& one);                     // the first one starts the keeper
    void detach(client& one);                     // the last one ends it; without the lock
    void* add_peer(client& of, net::peer number); // what usrsctp calls it
    void remove_peer(void* name);
    bool knows(void* name, net::peer& number) const; // false: it was removed
    std::vector<void*> learn(void* from, std::span<std::byte const> parameters);

    void pass_time();
    void tend_all(); // all wires of this process, by whoever waits for them
    void input(void* from, std::byte const* packet, std::size_t size);

private:
    struct target {
        client* of;
        net::peer number;
    };
    stack();
    static int output(void* name, void* packet, std::size_t size, std::uint8_t, std::uint8_t);
    void keep();

    std::vector<client*> clients_;
    std::unordered_map<void*, target> peers_;
    std::uintptr_t next_ = 1;
    std::chrono::steady_clock::time_point passed_ = std::chrono::steady_clock::now();
    std::thread keeper_;
    std::condition_variable ending_;
    bool end_ = false;
};

inline constexpr std::size_t header_size = 12; // of a packet

// Whether it is a packet of SCTP, and arrived as it was sent. Else it may be anybody's. Its checksum, which counts as 0, is 0 then.
bool is_packet(std::byte* packet, std::size_t size);

} // namespace assay::sctp
