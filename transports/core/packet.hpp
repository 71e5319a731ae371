// The head of a frame, by which two endpoints talk to each other. It is in this machine's byte order, because both sides run the same code.
//
// A message up to the eager limit is one frame, `message`. A longer one, or one that the receiver may have no room for,
// is announced by `offer`; when a receive matches it, the receiver answers `grant`, and `bulk` brings the data. Remote
// memory is written by `write`, read by `read` and changed by `atomic`, whose payload is the operand and what to compare with.
// `found` answers with what stood there, `done` says how a request ended.
#pragma once
#include "transports/net/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace assay::ofi {

enum class kind : std::uint8_t { message = 1, offer, grant, bulk, write, read, found, done, credit, atomic };

enum : std::uint8_t {
    none = 0,
    is_tagged = 1,
    has_data = 2,   // packet::data is for the receiver's completion
    wants_done = 4, // the sender waits for `done`
    fetches = 8,    // atomic: it waits for `found`
    compares = 16,  // atomic: and there is something to compare with
};

struct packet {
    kind what{};
    std::uint8_t flags = 0;
    std::uint8_t type = 0, op = 0; // atomic: fi_datatype, fi_op
    std::uint32_t credit = 0; // bytes of eager messages that the sender of this head has used up since its last head
    std::uint64_t tag = 0;    // of a message; write, read, atomic: the address
    std::uint64_t data = 0;   // for the completion; read, atomic, found: where the answer goes in the reader's memory
    std::uint64_t size = 0;   // of the whole message; read, atomic: bytes there; grant: bytes that will be taken
    std::uint64_t id = 0;     // of the request at the side that began it
    std::uint64_t other = 0;  // write, read, atomic: the key; grant: the receiver's number; bulk: the same, given back
    std::int32_t status = 0;  // done, found: an error number
    std::uint32_t unused2 = 0;
};
static_assert(sizeof(packet) == net::head_size && std::is_trivially_copyable_v<packet>);

inline packet understand(std::byte const* head) {
    packet p;
    std::memcpy(&p, head, sizeof p);
    return p;
}

} // namespace assay::ofi
