// Messages between two endpoints stay in order where the provider says so (FI_ORDER_SAS), whatever their size.
#include "suites/ofi/messages.hpp"

#include <array>

using namespace assay;
using namespace assay::fabric;

namespace {

enum class posting { before, after, between };
axis<posting> const& postings() {
    static axis<posting> const axis("posted", {{{"before", "receives come before the sends"}, posting::before},
                                               {{"after", "sends come before the receives"}, posting::after},
                                               {{"between", "half of the receives come before"}, posting::between}});
    return axis;
}

// Around the sizes at which providers change how they send.
constexpr std::array<std::size_t, 12> lengths = {8, 70'000, 0, 4096, 17, 300'000, 1, 16'385, 64, 65'536, 200, 9000};

} // namespace

OFI_TEST(order, requirements{"ofi.order.messages", "ofi.msg.data"},
         over(axis_use{&providers()},
              only(send_ways(), [](send_way way) { return way.how == form::plain || way.how == form::message; }),
              axis_use{&postings()})) {
    auto const way = ofi.at(send_ways());
    auto const when = ofi.at(postings());
    auto what = needs_of(way, 0);
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    int const many = 2 * static_cast<int>(lengths.size());
    auto const length = [](int n) { return lengths[static_cast<std::size_t>(n) % lengths.size()]; };
    std::vector<std::pair<operation*, buffer*>> posted;
    auto const post = [&](int upto) {
        for (int n = static_cast<int>(posted.size()); n < upto; ++n) {
            auto& in = ofi.incoming(300'000);
            posted.emplace_back(&receive(end, way.tagged, receive_form::plain, in, -1, 5), &in);
        }
    };
    post(when == posting::before ? many : when == posting::between ? many / 2 : 0);
    end.meet();
    std::vector<operation*> sends;
    for (int n = 0; n < many; ++n)
        sends.push_back(send(end, way, ofi.outgoing(ofi.right(), length(n), n), ofi.right(), 5));
    post(many);
    for (int n = 0; n < many; ++n) {
        auto [op, in] = posted[static_cast<std::size_t>(n)];
        end.complete(*op).received(length(n));
        ofi.expect(*in, ofi.left(), length(n), n);
    }
    for (auto* one : sends) end.complete(*one).sent();
    end.finish();
}

// Receives are searched in the order in which they were posted, also where one that is more general comes first.
OFI_TEST(receive_order, requirements{"ofi.order.receives", "ofi.tagged.match"},
         over(axis_use{&providers()}, few_sizes())) {
    auto const bytes = ofi.at(sizes());
    wish what;
    what.caps = FI_TAGGED;
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    struct wanted {
        std::uint64_t tag, ignore;
    };
    constexpr std::array<wanted, 4> receives = {{{0x10, 0xf}, {0x12, 0}, {0, ~std::uint64_t{0}}, {0x12, 0}}};
    std::vector<std::pair<operation*, buffer*>> posted;
    for (auto const& r : receives) {
        auto& in = ofi.incoming(bytes);
        posted.emplace_back(&receive(end, true, receive_form::plain, in, -1, r.tag, r.ignore), &in);
    }
    end.meet();
    std::vector<operation*> sends;
    // The third message with this tag finds the receive for any tag before the fourth receive.
    for (int n = 0; n < 3; ++n)
        sends.push_back(send(end, {form::plain, true}, ofi.outgoing(ofi.right(), bytes, n), ofi.right(), 0x12));
    for (std::size_t n = 0; n < 3; ++n) {
        auto [op, in] = posted[n];
        end.complete(*op).received(bytes).tag(0x12);
        ofi.expect(*in, ofi.left(), bytes, static_cast<int>(n));
    }
    auto [last, in] = posted[3];
    end.silent(*last);
    end.meet(); // nobody sends the last message before all have looked
    sends.push_back(send(end, {form::plain, true}, ofi.outgoing(ofi.right(), bytes, 3), ofi.right(), 0x12));
    end.complete(*last).received(bytes).tag(0x12);
    ofi.expect(*in, ofi.left(), bytes, 3);
    for (auto* one : sends) end.complete(*one).sent();
    end.finish();
}
