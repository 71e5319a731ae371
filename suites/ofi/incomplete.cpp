// Receives that do not get what they were posted for: messages that are too long, and receives that are taken back.
#include "suites/ofi/messages.hpp"

#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

axis_use plain_ways() {
    return only(send_ways(), [](send_way way) { return way.how == form::plain; });
}

struct overrun {
    std::size_t sent, room;
};
axis<overrun> const& overruns() {
    static axis<overrun> const axis("overrun", {{{"one_byte", "18 bytes where 17 fit"}, {18, 17}},
                                                {{"no_room", "5 bytes where none fit"}, {5, 0}},
                                                {{"half", "8,192 bytes where 4,096 fit"}, {8192, 4096}},
                                                {{"long", "200,000 bytes where 100 fit"}, {200'000, 100}}});
    return axis;
}

} // namespace

OFI_TEST(truncation, requirements{"ofi.cq.truncation"},
         over(axis_use{&providers()}, plain_ways(), axis_use{&overruns()})) {
    auto const way = ofi.at(send_ways());
    auto const [bytes, room] = ofi.at(overruns());
    auto what = needs_of(way, bytes);
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    auto& in = ofi.incoming(room);
    auto& received = receive(end, way.tagged, receive_form::plain, in, -1, 0x51);
    auto& after = ofi.incoming(17);
    auto& next = receive(end, way.tagged, receive_form::plain, after, -1, 0x51);
    end.meet();
    auto* const sent = send(end, way, ofi.outgoing(ofi.right(), bytes), ofi.right(), 0x51);
    auto said = end.complete(received).error(FI_ETRUNC);
    if (said && said->error == FI_ETRUNC) {
        said.cut(bytes - room);
        if (way.tagged) said.tag(0x51);
        // What fits may be there or not; nothing may be written beyond it.
        auto const arrived = std::min(room, said->length);
        in.expect(ofi.key(ofi.left(), ofi.rank), arrived, "of a message that is too long");
    }
    // Whether the sender hears of it, the pages leave open; it must end.
    end.complete(*sent);
    // The endpoint works on.
    auto* const again = send(end, way, ofi.outgoing(ofi.right(), 17, 1), ofi.right(), 0x51);
    end.complete(next).received(17);
    ofi.expect(after, ofi.left(), 17, 1);
    end.complete(*again).sent();
    end.finish();
}

OFI_TEST(cancel, requirements{"ofi.cancel"}, over(axis_use{&providers()}, plain_ways(), few_sizes())) {
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    endpoint end(ofi, ofi.at(providers()), needs_of(way, bytes));
    auto& in = ofi.incoming(bytes);
    auto& first = receive(end, way.tagged, receive_form::plain, in, -1, 0x52);
    auto& in_second = ofi.incoming(bytes);
    auto& second = receive(end, way.tagged, receive_form::plain, in_second, -1, 0x52);
    ofi.ok(fi_cancel(&end.ep->fid, &first));
    end.complete(first).error(FI_ECANCELED);
    end.meet();
    auto* const sent = send(end, way, ofi.outgoing(ofi.right(), bytes), ofi.right(), 0x52);
    end.complete(second).received(bytes);
    ofi.expect(in_second, ofi.left(), bytes);
    in.expect_untouched();
    end.complete(*sent).sent();
    // What has completed cannot be taken back, and no entry says that somebody tried.
    fi_cancel(&end.ep->fid, &second);
    end.silent(second);
    end.finish();
}
