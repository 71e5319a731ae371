// Counters count what has completed.
#include "suites/ofi/messages.hpp"

#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

void expect_value(endpoint& end, fid_cntr* counter, std::uint64_t expected, char const* of,
                  std::source_location where = std::source_location::current()) {
    std::uint64_t value = 0;
    end.until([&] { return (value = fi_cntr_read(counter)) >= expected; });
    end.ofi.check(value == expected, finding::count,
                  fmt::format("the counter of {} says {}, expected {}", of, value, expected), where);
}

} // namespace

OFI_TEST(counters, requirements{"ofi.cntr.completions"},
         over(axis_use{&providers()},
              only(send_ways(),
                   [](send_way way) {
                       return way.how == form::plain || way.how == form::message || way.how == form::inject;
                   }),
              few_sizes())) {
    constexpr std::uint64_t many = 7;
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    auto what = needs_of(way, bytes);
    what.counters = true;
    endpoint end(ofi, ofi.at(providers()), what);
    expect_value(end, end.sends.get(), 0, "sends");
    expect_value(end, end.receives.get(), 0, "receives");
    std::vector<operation*> operations;
    auto& in = ofi.incoming(bytes);
    for (std::uint64_t n = 0; n < many; ++n)
        operations.push_back(&receive(end, way.tagged, receive_form::plain, in, -1, 0x91));
    end.meet();
    auto& out = ofi.outgoing(ofi.right(), bytes);
    for (std::uint64_t n = 0; n < many; ++n)
        if (auto* const op = send(end, way, out, ofi.right(), 0x91); op != nullptr) operations.push_back(op);
    for (auto* op : operations) end.complete(*op).error(0);
    expect_value(end, end.receives.get(), many, "receives");
    expect_value(end, end.sends.get(), many, "sends"); // what fi_inject sends has no entry in a queue, but counts
    ofi.check(fi_cntr_readerr(end.sends.get()) == 0 && fi_cntr_readerr(end.receives.get()) == 0, finding::error,
              "a counter says that something failed");
    end.finish();
}

// A receive that is taken back counts as an error, and not as a receive.
OFI_TEST(counters_of_errors, requirements{"ofi.cntr.errors", "ofi.cntr.errors_value"}, over(axis_use{&providers()})) {
    wish what;
    what.caps = FI_TAGGED;
    what.counters = true;
    endpoint end(ofi, ofi.at(providers()), what);
    auto& op = receive(end, true, receive_form::plain, ofi.incoming(17), -1, 0x92);
    ofi.ok(fi_cancel(&end.ep->fid, &op));
    end.complete(op).error(FI_ECANCELED);
    std::uint64_t errors = 0;
    end.until([&] { return (errors = fi_cntr_readerr(end.receives.get())) >= 1; });
    // fi_cntr(3) says that errors may be counted, fi_endpoint(3) that they are.
    ofi.check("ofi.cntr.errors_value", errors == 1, finding::count,
              fmt::format("the error value of the counter is {}, expected 1", errors));
    expect_value(end, end.receives.get(), 0, "receives");
    end.finish();
}

OFI_TEST(counter_values, requirements{"ofi.cntr.values"}, over(axis_use{&providers()})) {
    wish what;
    what.counters = true;
    endpoint end(ofi, ofi.at(providers()), what);
    auto* const counter = end.sends.get();
    ofi.ok(fi_cntr_set(counter, 40));
    expect_value(end, counter, 40, "sends, which was set to 40");
    ofi.ok(fi_cntr_add(counter, 2));
    expect_value(end, counter, 42, "sends, which was set to 40 and got 2 more");
    ofi.ok(fi_cntr_adderr(counter, 3));
    ofi.check(fi_cntr_readerr(counter) == 3, finding::count, "the error value of a counter is not what was added");
    expect_value(end, counter, 42, "sends, after something was added to its error value");
    end.finish();
}
