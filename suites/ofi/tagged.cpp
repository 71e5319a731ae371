// Matching of tagged messages: bits to ignore, receives from one peer, and looking at messages before they are received.
#include "suites/ofi/messages.hpp"

#include <array>
#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

constexpr send_way tsend{form::plain, true};

ssize_t try_peek(endpoint& end, operation& op, std::uint64_t tag, std::uint64_t flags) {
    fi_msg_tagged const message{nullptr, nullptr, 0, FI_ADDR_UNSPEC, tag, 0, &op, 0};
    return end.attempt([&] { return fi_trecvmsg(end.ep.get(), &message, flags); });
}

// One look that finds nothing; where the provider cannot look at all, the test ends on all ranks.
void find_nothing(endpoint& end, std::uint64_t tag) {
    auto& op = end.start("fi_trecvmsg");
    ssize_t const code = try_peek(end, op, tag, FI_PEEK);
    if (code == -FI_ENOSYS || code == -FI_EOPNOTSUPP || code == -FI_EBADFLAGS)
        end.ofi.unsupported(fmt::format("fi_trecvmsg with FI_PEEK returns {}", error_text(code)));
    if (end.ofi.ok(code)) end.complete(op).error(FI_ENOMSG);
}

// Looks until the message is there. The operation that found it, or nullptr (recorded).
operation* find(endpoint& end, std::uint64_t tag, std::uint64_t flags, std::size_t bytes) {
    operation* found = nullptr;
    bool on = true;
    bool const came = end.until([&] {
        auto& op = end.start("fi_trecvmsg");
        on = end.ofi.ok(try_peek(end, op, tag, FI_PEEK | flags));
        if (!on) return true;
        auto said = end.complete(op);
        if (!said) return !(on = false);
        if (said->error == FI_ENOMSG) return false;
        said.error(0).tag(tag);
        end.ofi.check(said->length == bytes, finding::count,
                      fmt::format("FI_PEEK finds a message of {} bytes, {} were sent", said->length, bytes));
        found = &op;
        return true;
    });
    end.ofi.check(came, finding::request, "FI_PEEK never finds the message, which was sent");
    return found;
}

} // namespace

OFI_TEST(ignore_bits, requirements{"ofi.tagged.match", "ofi.cq.fields"}, over(axis_use{&providers()}, few_sizes())) {
    auto const bytes = ofi.at(sizes());
    wish what;
    what.caps = FI_TAGGED;
    endpoint end(ofi, ofi.at(providers()), what);
    // Only one of the receives fits each message: bits at both ends of the tag. What a provider keeps of a tag, it says.
    auto const format = end.info->ep_attr->mem_tag_format;
    std::uint64_t const high = format == 0 ? std::uint64_t{1} << 62 : std::uint64_t{1} << 47;
    struct wanted {
        std::uint64_t tag, ignore, sent;
    };
    std::array<wanted, 5> const all = {{{high | 0x1, 0, high | 0x1},
                                        {0x0ff0, 0xff, 0x0f5a},
                                        {high, 0xf, high | 0x6},
                                        {0x8000, high, high | 0x8000},
                                        {0x40, 0, 0x40}}};
    std::vector<std::pair<operation*, buffer*>> posted;
    for (auto const& one : all) {
        auto& in = ofi.incoming(bytes);
        posted.emplace_back(&receive(end, true, receive_form::plain, in, -1, one.tag, one.ignore), &in);
    }
    std::vector<operation*> sends;
    for (int n = static_cast<int>(all.size()) - 1; n >= 0; --n)
        sends.push_back(
            send(end, tsend, ofi.outgoing(ofi.right(), bytes, n), ofi.right(), all[static_cast<std::size_t>(n)].sent));
    for (std::size_t n = 0; n < all.size(); ++n) {
        auto [op, in] = posted[n];
        end.complete(*op).received(bytes).tag(all[n].sent);
        ofi.expect(*in, ofi.left(), bytes, static_cast<int>(n));
    }
    for (auto* one : sends) end.complete(*one).sent();
    end.finish();
}

// A receive from one peer takes nothing of another, though it was posted first.
OFI_TEST(directed, requirements{"ofi.tagged.directed"},
         over(axis_use{&providers()}, only(send_ways(), [](send_way way) { return way.how == form::plain; }),
              few_sizes())) {
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    auto what = needs_of(way, bytes);
    what.caps |= FI_DIRECTED_RECV;
    endpoint end(ofi, ofi.at(providers()), what);
    auto& nothing = ofi.incoming(bytes);
    auto& from_self = receive(end, way.tagged, receive_form::plain, nothing, ofi.rank, 4);
    std::vector<std::pair<operation*, buffer*>> posted;
    for (int n = 1; n < ofi.size; ++n) {
        auto& in = ofi.incoming(bytes);
        posted.emplace_back(&receive(end, way.tagged, receive_form::plain, in, (ofi.rank + n) % ofi.size, 4), &in);
    }
    std::vector<operation*> sends;
    for (int n = 1; n < ofi.size; ++n) {
        int const to = (ofi.rank + n) % ofi.size;
        sends.push_back(send(end, way, ofi.outgoing(to, bytes), to, 4));
    }
    for (int n = 1; n < ofi.size; ++n) {
        auto [op, in] = posted[static_cast<std::size_t>(n - 1)];
        end.complete(*op).received(bytes);
        ofi.expect(*in, (ofi.rank + n) % ofi.size, bytes);
    }
    for (auto* one : sends) end.complete(*one).sent();
    end.silent(from_self);
    nothing.expect_untouched();
    end.ofi.ok(fi_cancel(&end.ep->fid, &from_self));
    end.complete(from_self).error(FI_ECANCELED);
    end.finish();
}

OFI_TEST(peek, requirements{"ofi.tagged.peek"}, over(axis_use{&providers()}, few_sizes())) {
    auto const bytes = ofi.at(sizes());
    wish what;
    what.caps = FI_TAGGED;
    endpoint end(ofi, ofi.at(providers()), what);
    find_nothing(end, 0x31);
    end.meet();
    auto* const sent = send(end, tsend, ofi.outgoing(ofi.right(), bytes), ofi.right(), 0x31);
    if (find(end, 0x31, 0, bytes) != nullptr) find(end, 0x31, 0, bytes); // it stays where it is
    auto& in = ofi.incoming(bytes);
    auto& received = receive(end, true, receive_form::plain, in, -1, 0x31);
    end.complete(received).received(bytes).tag(0x31);
    ofi.expect(in, ofi.left(), bytes);
    end.complete(*sent).sent();
    find_nothing(end, 0x31);
    end.finish();
}

// What was claimed goes to the receive that says so, and to no other.
OFI_TEST(claim, requirements{"ofi.tagged.claim"}, over(axis_use{&providers()}, few_sizes())) {
    auto const bytes = ofi.at(sizes());
    wish what;
    what.caps = FI_TAGGED;
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    find_nothing(end, 0x32);
    end.meet();
    auto* const first = send(end, tsend, ofi.outgoing(ofi.right(), bytes, 0), ofi.right(), 0x32);
    auto* const second = send(end, tsend, ofi.outgoing(ofi.right(), bytes, 1), ofi.right(), 0x32);
    auto* const claimed = find(end, 0x32, FI_CLAIM, bytes);
    auto& other = ofi.incoming(bytes);
    auto& passing = receive(end, true, receive_form::plain, other, -1, 0x32);
    end.complete(passing).received(bytes);
    ofi.expect(other, ofi.left(), bytes, claimed != nullptr ? 1 : 0);
    if (claimed != nullptr) {
        auto& in = ofi.incoming(bytes);
        iovec const piece{in.address(), bytes};
        void* descriptor = end.descriptor(in.address(), bytes);
        fi_msg_tagged const message{&piece, &descriptor, 1, FI_ADDR_UNSPEC, 0x32, 0, claimed, 0};
        if (end.post([&] { return fi_trecvmsg(end.ep.get(), &message, FI_CLAIM); })) {
            end.complete(*claimed).received(bytes).tag(0x32);
            ofi.expect(in, ofi.left(), bytes, 0);
        }
    }
    end.complete(*first).sent();
    end.complete(*second).sent();
    end.finish();
}

OFI_TEST(discard, requirements{"ofi.tagged.discard"}, over(axis_use{&providers()}, few_sizes())) {
    auto const bytes = ofi.at(sizes());
    wish what;
    what.caps = FI_TAGGED;
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    find_nothing(end, 0x33);
    end.meet();
    auto* const first = send(end, tsend, ofi.outgoing(ofi.right(), bytes, 0), ofi.right(), 0x33);
    auto* const second = send(end, tsend, ofi.outgoing(ofi.right(), bytes, 1), ofi.right(), 0x33);
    bool const gone = find(end, 0x33, FI_DISCARD, bytes) != nullptr;
    auto& in = ofi.incoming(bytes);
    auto& received = receive(end, true, receive_form::plain, in, -1, 0x33);
    end.complete(received).received(bytes);
    ofi.expect(in, ofi.left(), bytes, gone ? 1 : 0);
    end.complete(*first).sent();
    end.complete(*second).sent();
    end.finish();
}
