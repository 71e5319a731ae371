// Ways to send and to receive: every call of fi_msg(3) and fi_tagged(3) as a value of an axis.
#pragma once
#include "suites/ofi/endpoint.hpp"

namespace assay::fabric {

enum class form { plain, vector, message, with_data, inject, inject_with_data };

struct send_way {
    form how = form::plain;
    bool tagged = false;
    bool data() const { return how == form::with_data || how == form::inject_with_data; }
    bool injects() const { return how == form::inject || how == form::inject_with_data; }
};
axis<send_way> const& send_ways(); // axis mode

enum class receive_form { plain, vector, message };
axis<receive_form> const& receive_ways(); // axis receive

// What both sides need for a message of so many bytes sent in this way.
wish needs_of(send_way way, std::size_t bytes);

constexpr std::uint64_t immediate = 0xa1b2c3d4; // fits into 4 bytes, which every provider with immediate data has

// Sends; the operation, or nullptr for those that have no completion (fi_inject).
operation* send(endpoint& by, send_way way, buffer& out, int to, std::uint64_t tag = 0, std::uint64_t data = immediate,
                std::source_location where = std::source_location::current());
// Receives from `from`, or from anybody with -1.
operation& receive(endpoint& by, bool tagged, receive_form how, buffer& in, int from, std::uint64_t tag = 0,
                   std::uint64_t ignore = 0, std::source_location where = std::source_location::current());

} // namespace assay::fabric
