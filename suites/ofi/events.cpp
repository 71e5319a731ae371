// Event queues: what a program writes to one comes out again.
#include "suites/ofi/messages.hpp"

#include <chrono>
#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

OFI_TEST(event_queue, requirements{"ofi.eq.order", "ofi.eq.sread"}, over(axis_use{&providers()})) {
    endpoint end(ofi, ofi.at(providers()), {});
    handle<fid_eq> queue(ofi);
    fi_eq_attr attributes{};
    attributes.size = 16;
    attributes.flags = FI_WRITE;
    attributes.wait_obj = FI_WAIT_UNSPEC;
    int const opened = fi_eq_open(end.fabric.get(), &attributes, queue.address(), nullptr);
    if (opened == -FI_ENOSYS || opened == -FI_EOPNOTSUPP)
        ofi.unsupported(fmt::format("fi_eq_open returns {}", error_text(opened)));
    if (!ofi.ok(opened)) return;
    std::uint32_t event = 0;
    fi_eq_entry entry{};
    ssize_t const nothing = fi_eq_read(queue.get(), &event, &entry, sizeof entry, 0);
    ofi.check(nothing == -FI_EAGAIN, finding::return_,
              fmt::format("fi_eq_read of an empty queue returned {}, not -FI_EAGAIN", error_text(nothing)));
    auto const begin = std::chrono::steady_clock::now();
    ssize_t const waited = fi_eq_sread(queue.get(), &event, &entry, sizeof entry, 30, 0);
    double const took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    ofi.check(
        waited == -FI_EAGAIN && took >= 25, finding::return_,
        fmt::format("fi_eq_sread of an empty queue for 30 ms returned {} after {:.1f}", error_text(waited), took));
    for (std::uint64_t n = 0; n < 3; ++n) {
        fi_eq_entry const written{&queue->fid, &end, 0x700 + n};
        ssize_t const code = fi_eq_write(queue.get(), FI_NOTIFY, &written, sizeof written, 0);
        ofi.check(code == sizeof written, finding::return_, fmt::format("fi_eq_write returned {}", error_text(code)));
    }
    for (std::uint64_t n = 0; n < 4; ++n) { // the first one is looked at before it is taken
        entry = {};
        ssize_t const code = fi_eq_read(queue.get(), &event, &entry, sizeof entry, n == 0 ? FI_PEEK : 0);
        auto const expected = 0x700 + (n == 0 ? 0 : n - 1);
        ofi.check(code == sizeof entry && event == FI_NOTIFY && entry.data == expected && entry.context == &end,
                  finding::order,
                  fmt::format("fi_eq_read returned {}, event {}, data {:#x}; expected {:#x}", error_text(code), event,
                              entry.data, expected));
    }
    ofi.check(fi_eq_read(queue.get(), &event, &entry, sizeof entry, 0) == -FI_EAGAIN, finding::leftover,
              "fi_eq_read returns more events than were written");
    end.finish();
}
