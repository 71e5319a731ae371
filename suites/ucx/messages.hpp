// Tagged messages: ways to send, protocols, and how a buffer is described.
#pragma once
#include "suites/ucx/worker.hpp"

namespace assay::ucx {

enum class send_call { send, sync };
axis<send_call> const& send_calls(); // axis mode

// Which protocol large and small messages take.
using settings = std::vector<std::pair<char const*, char const*>>;
axis<settings> const& protocols(); // axis protocol
wish with_protocol(std::uint64_t features, settings const& protocol);

// How a call is told where the bytes are.
enum class shape { bytes, elements, pieces };
axis<shape> const& shapes(); // axis layout

constexpr ucp_tag_t any_bits = 0;         // a mask: every tag matches
constexpr ucp_tag_t all_bits = ~any_bits; // only this tag

operation& send(worker& by, send_call call, buffer& out, int to, ucp_tag_t tag, completion how = completion::poll,
                shape form = shape::bytes, std::source_location where = std::source_location::current());
operation& receive(worker& by, buffer& in, ucp_tag_t tag, ucp_tag_t mask = all_bits, completion how = completion::poll,
                   shape form = shape::bytes, std::source_location where = std::source_location::current());

// Describes the buffer in `op`; what count to give to the call, and which address.
struct described {
    void* address;
    std::size_t count;
};
described describe(operation& op, buffer& all, shape form);

} // namespace assay::ucx
