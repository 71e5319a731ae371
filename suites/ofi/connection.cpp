// Addresses, and endpoints that come and go.
#include "suites/ofi/messages.hpp"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

int open_descriptors() {
    int n = 0;
    for ([[maybe_unused]] auto const& one : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
    return n;
}

axis<fi_av_type> const& tables() {
    static axis<fi_av_type> const axis("av",
                                       {{{"map", "FI_AV_MAP"}, FI_AV_MAP}, {{"table", "FI_AV_TABLE"}, FI_AV_TABLE}});
    return axis;
}

// One small message around the ring.
void say_hello(endpoint& end, int serial) {
    auto& ofi = end.ofi;
    auto& in = ofi.incoming(17);
    auto& received = receive(end, true, receive_form::plain, in, -1, 0xc0);
    auto* const sent = send(end, {form::plain, true}, ofi.outgoing(ofi.right(), 17, serial), ofi.right(), 0xc0);
    end.complete(received).received(17);
    ofi.expect(in, ofi.left(), 17, serial);
    end.complete(*sent).sent();
}

wish tagged_only() {
    wish what;
    what.caps = FI_TAGGED;
    return what;
}

} // namespace

// What was inserted can be looked up, taken out and inserted again. A table numbers its entries from 0.
OFI_TEST(address_vector, requirements{"ofi.av.lookup", "ofi.av.table", "ofi.av.remove"},
         over(axis_use{&providers()}, axis_use{&tables()})) {
    auto what = tagged_only();
    what.table = ofi.at(tables());
    endpoint end(ofi, ofi.at(providers()), what);
    for (int rank = 0; rank < ofi.size; ++rank) {
        auto const number = end.peers[static_cast<std::size_t>(rank)];
        auto const& name = end.names[static_cast<std::size_t>(rank)];
        if (what.table == FI_AV_TABLE)
            ofi.check(number == static_cast<fi_addr_t>(rank), finding::value,
                      fmt::format("entry {} of a table has the number {:#x}", rank, number));
        std::array<char, 512> found{};
        std::size_t size = found.size();
        if (!ofi.ok(fi_av_lookup(end.av.get(), number, found.data(), &size))) continue;
        ofi.check(std::string(found.data(), std::min(size, found.size())) == name, finding::value,
                  fmt::format("fi_av_lookup gives {} bytes that are not the {} that were inserted", size, name.size()));
        std::array<char, 256> text{};
        size = text.size();
        auto const* const words = fi_av_straddr(end.av.get(), name.data(), text.data(), &size);
        ofi.check(words == text.data() && text[0] != '\0', finding::value, "fi_av_straddr writes nothing");
    }
    say_hello(end, 0);
    end.meet();
    auto& number = end.peers[static_cast<std::size_t>(ofi.right())];
    if (ofi.size > 1 && ofi.ok(fi_av_remove(end.av.get(), &number, 1, 0))) {
        int const inserted =
            fi_av_insert(end.av.get(), end.names[static_cast<std::size_t>(ofi.right())].data(), 1, &number, 0, nullptr);
        ofi.check(inserted == 1, finding::return_,
                  fmt::format("fi_av_insert returned {}, not 1", error_text(inserted)));
    }
    end.meet();
    say_hello(end, 1);
    end.finish();
}

// A buffer that is too small for a name: as much as fits, and how much it would have been.
OFI_TEST(name, requirements{"ofi.cm.getname"}, over(axis_use{&providers()})) {
    endpoint end(ofi, ofi.at(providers()), {});
    auto const& whole = end.names[static_cast<std::size_t>(ofi.rank)];
    std::array<char, 512> bytes{};
    bytes.fill(static_cast<char>(poison_byte));
    std::size_t size = whole.size() - 1;
    int const code = fi_getname(&end.ep->fid, bytes.data(), &size);
    ofi.check(code == -FI_ETOOSMALL, finding::return_,
              fmt::format("fi_getname with too small a buffer returned {}, not -FI_ETOOSMALL", error_text(code)));
    ofi.check(size == whole.size(), finding::value,
              fmt::format("it says {} bytes would do; the name has {}", size, whole.size()));
    ofi.check(bytes[whole.size() - 1] == static_cast<char>(poison_byte), finding::guard,
              "it writes beyond the end of the buffer");
    end.finish();
}

// What an endpoint uses cannot be closed before it.
OFI_TEST(close_busy, requirements{"ofi.close.busy"}, over(axis_use{&providers()})) {
    endpoint end(ofi, ofi.at(providers()), {});
    int const code = fi_close(&end.cq->fid);
    if (!ofi.check(code == -FI_EBUSY, finding::return_,
                   fmt::format("fi_close of a completion queue that an endpoint uses returned {}, not -FI_EBUSY",
                               error_text(code))))
        end.cq.forget();
    end.meet();
}

// An endpoint goes with receives that nobody served, and the next ones work.
OFI_TEST(reopen, requirements{"ofi.close.pending", "ofi.msg.data"}, over(axis_use{&providers()})) {
    for (int round = 0; round < 5; ++round) {
        endpoint end(ofi, ofi.at(providers()), tagged_only());
        receive(end, true, receive_form::plain, ofi.incoming(17), -1, 0xdead);
        receive(end, true, receive_form::plain, ofi.incoming(100'000), -1, 0xdead);
        say_hello(end, round);
        end.finish();
    }
}

// Descriptors are given back.
OFI_TEST(descriptors, requirements{"ofi.close.resources"}, over(axis_use{&providers()})) {
    int before = 0, after = 0;
    for (int round = 0; round < 6; ++round) {
        {
            endpoint end(ofi, ofi.at(providers()), tagged_only());
            say_hello(end, round);
            end.finish();
        }
        after = open_descriptors();
        if (round == 1) before = after; // the first ones may open what stays
    }
    ofi.check(after <= before, finding::fd, fmt::format("{} descriptors after 2 endpoints, {} after 6", before, after));
}

// A rank leaves early: the others go on.
OFI_TEST(leave, requirements{"ofi.close.others"}, over(axis_use{&providers()}), needs{[](job const& j) {
             return j.np >= 3 ? std::string() : fmt::format("needs at least 3 ranks; this job has {}", j.np);
         }}) {
    auto end = std::make_unique<endpoint>(ofi, ofi.at(providers()), tagged_only());
    say_hello(*end, 0);
    end->meet();
    bool const goes = ofi.rank == ofi.size - 1;
    if (goes) end.reset();
    auto const progress = [&] {
        if (end) end->progress();
    };
    board::of_job().meet(progress);
    if (!goes) { // a ring of those that are left
        int const others = ofi.size - 1, to = (ofi.rank + 1) % others, from = (ofi.rank + others - 1) % others;
        auto& in = ofi.incoming(17);
        auto& received = receive(*end, true, receive_form::plain, in, -1, 0xc1);
        auto* const sent = send(*end, {form::plain, true}, ofi.outgoing(to, 17, 1), to, 0xc1);
        end->complete(received).received(17);
        ofi.expect(in, from, 17, 1);
        end->complete(*sent).sent();
    }
    board::of_job().meet(progress);
}
