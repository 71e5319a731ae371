// Completion queues: formats, two of them, waiting, and completions only where somebody wants them.
#include "suites/ofi/messages.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <thread>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

constexpr send_way tsenddata{form::with_data, true}, tsend{form::plain, true};

axis<fi_cq_format> const& formats() {
    static axis<fi_cq_format> const axis("format", {{{"context", "FI_CQ_FORMAT_CONTEXT"}, FI_CQ_FORMAT_CONTEXT},
                                                    {{"msg", "FI_CQ_FORMAT_MSG"}, FI_CQ_FORMAT_MSG},
                                                    {{"data", "FI_CQ_FORMAT_DATA"}, FI_CQ_FORMAT_DATA},
                                                    {{"tagged", "FI_CQ_FORMAT_TAGGED"}, FI_CQ_FORMAT_TAGGED}});
    return axis;
}

std::size_t size_of(fi_cq_format format) {
    return format == FI_CQ_FORMAT_CONTEXT ? sizeof(fi_cq_entry)
           : format == FI_CQ_FORMAT_MSG   ? sizeof(fi_cq_msg_entry)
           : format == FI_CQ_FORMAT_DATA  ? sizeof(fi_cq_data_entry)
                                          : sizeof(fi_cq_tagged_entry);
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

// Several entries at once lie side by side in the size of their format, and nothing is written beyond them.
OFI_TEST(cq_formats, requirements{"ofi.cq.formats", "ofi.cq.fields", "ofi.cq.data"},
         over(axis_use{&providers()}, axis_use{&formats()})) {
    constexpr std::size_t many = 3;
    wish what = needs_of(tsenddata, 17);
    what.format = ofi.at(formats());
    what.two_queues = true;
    endpoint end(ofi, ofi.at(providers()), what);
    end.own_reads = true;
    std::vector<operation*> receives;
    for (std::size_t n = 0; n < many; ++n)
        receives.push_back(&receive(end, true, receive_form::plain, ofi.incoming(17), -1, 0x61 + n));
    end.meet();
    for (std::size_t n = 0; n < many; ++n) {
        auto* const op =
            send(end, tsenddata, ofi.outgoing(ofi.right(), 17, static_cast<int>(n)), ofi.right(), 0x61 + n, 0x100 + n);
        auto said = end.complete(*op).sent();
        ofi.check(!said || said->of_sends, finding::value, "a send completes on the queue for receives");
    }
    // One entry more than there are: what lies beyond them is looked at.
    auto const size = size_of(what.format);
    std::vector<unsigned char> entries(size * (many + 1), poison_byte);
    std::size_t got = 0;
    end.until([&] {
        ssize_t const n = fi_cq_read(end.cq.get(), entries.data(), many);
        if (n == -FI_EAGAIN) return false;
        if (!ofi.check(n > 0 && n <= static_cast<ssize_t>(many), finding::return_,
                       fmt::format("fi_cq_read returned {}", error_text(n))))
            return true;
        for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
            fi_cq_tagged_entry entry{};
            std::memcpy(static_cast<void*>(&entry), entries.data() + k * size, size);
            auto const at = std::find(receives.begin(), receives.end(), entry.op_context);
            if (!ofi.check(at != receives.end(), finding::request, "an entry with the context of no receive")) continue;
            auto const which = static_cast<std::uint64_t>(at - receives.begin());
            if (what.format >= FI_CQ_FORMAT_MSG)
                ofi.check(entry.len == 17 && entry.flags & FI_RECV, finding::count,
                          fmt::format("an entry of a receive says {} bytes and flags {:#x}", entry.len, entry.flags));
            if (what.format >= FI_CQ_FORMAT_DATA)
                ofi.check(entry.data == 0x100 + which, finding::value,
                          fmt::format("an entry has the data {:#x}", entry.data));
            if (what.format >= FI_CQ_FORMAT_TAGGED)
                ofi.check(entry.tag == 0x61 + which, finding::tag,
                          fmt::format("an entry has the tag {:#x}", entry.tag));
        }
        auto const end_of_entries = entries.begin() + n * static_cast<std::ptrdiff_t>(size);
        ofi.check(std::all_of(end_of_entries, entries.end(), [](unsigned char c) { return c == poison_byte; }),
                  finding::guard,
                  fmt::format("fi_cq_read returned {} entries of {} bytes and wrote beyond them", n, size));
        std::fill(entries.begin(), entries.end(), poison_byte);
        got += static_cast<std::size_t>(n);
        return got == many;
    });
    ofi.check(got == many, finding::request, fmt::format("{} of {} completions came", got, many));
    end.own_reads = false;
    end.finish();
}

// Nothing is said of what succeeds without FI_COMPLETION; what asks for it, is said.
OFI_TEST(selective_completion, requirements{"ofi.cq.selective"},
         over(axis_use{&providers()}, only(send_ways(), [](send_way way) { return way.how == form::plain; }),
              few_sizes())) {
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    auto what = needs_of(way, bytes);
    what.selective = true;
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    auto& in_quiet = ofi.incoming(bytes);
    auto& quiet = receive(end, way.tagged, receive_form::plain, in_quiet, -1, 0x71);
    auto& in_loud = ofi.incoming(bytes);
    auto& loud = receive(end, way.tagged, receive_form::message, in_loud, -1, 0x71);
    end.meet();
    auto* const sent_quietly = send(end, way, ofi.outgoing(ofi.right(), bytes, 0), ofi.right(), 0x71);
    auto* const sent_loudly =
        send(end, {form::message, way.tagged}, ofi.outgoing(ofi.right(), bytes, 1), ofi.right(), 0x71);
    end.complete(loud).received(bytes); // the quiet one was before it
    ofi.expect(in_loud, ofi.left(), bytes, 1);
    end.complete(*sent_loudly).sent();
    end.silent(quiet);
    end.silent(*sent_quietly);
    end.meet();
    ofi.expect(in_quiet, ofi.left(), bytes, 0);
    end.finish();
}

// Errors are said, whether somebody asked or not.
OFI_TEST(selective_error, requirements{"ofi.cq.selective_error"},
         over(axis_use{&providers()}, only(send_ways(), [](send_way way) { return way.how == form::plain; }))) {
    auto const way = ofi.at(send_ways());
    auto what = needs_of(way, 8);
    what.selective = true;
    endpoint end(ofi, ofi.at(providers()), what);
    auto& cut = receive(end, way.tagged, receive_form::plain, ofi.incoming(1), -1, 0x72);
    end.meet();
    auto* const too_long = send(end, way, ofi.outgoing(ofi.right(), 8, 1), ofi.right(), 0x72);
    end.complete(cut).error(FI_ETRUNC);
    end.look_for(*too_long); // may fail at the sender, too
    end.finish();
}

namespace {
axis<fi_wait_obj> const& wait_objects() {
    static axis<fi_wait_obj> const axis(
        "wait", {{{"unspec", "FI_WAIT_UNSPEC"}, FI_WAIT_UNSPEC}, {{"fd", "FI_WAIT_FD"}, FI_WAIT_FD}});
    return axis;
}
} // namespace

// fi_cq_sread: gives up after its time, and returns when something is there.
OFI_TEST(cq_wait, requirements{"ofi.cq.sread"}, over(axis_use{&providers()}, axis_use{&wait_objects()})) {
    wish what = needs_of(tsend, 17);
    what.wait = ofi.at(wait_objects());
    what.two_queues = true;
    endpoint end(ofi, ofi.at(providers()), what);
    fi_cq_tagged_entry entry{};
    auto begin = std::chrono::steady_clock::now();
    ssize_t const nothing = fi_cq_sread(end.cq.get(), &entry, 1, nullptr, 30);
    ofi.check(nothing == -FI_EAGAIN, finding::return_,
              fmt::format("fi_cq_sread of an empty queue returned {}, not -FI_EAGAIN", error_text(nothing)));
    ofi.check(milliseconds_since(begin) >= 25, finding::return_,
              fmt::format("fi_cq_sread was to wait 30 ms and took {:.1f}", milliseconds_since(begin)));
    end.own_reads = ofi.rank != 0;
    end.meet();
    if (ofi.rank == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the others are waiting
        std::vector<operation*> sends;
        for (int to = 1; to < ofi.size; ++to) sends.push_back(send(end, tsend, ofi.outgoing(to, 17), to, 0x81));
        for (auto* one : sends) end.complete(*one).sent();
    } else {
        auto& in = ofi.incoming(17);
        auto& op = receive(end, true, receive_form::plain, in, -1, 0x81);
        begin = std::chrono::steady_clock::now();
        ssize_t got = -FI_EAGAIN;
        // A wait may end early, with -FI_EAGAIN: what counts is that it does not sleep through the message.
        while (got == -FI_EAGAIN && milliseconds_since(begin) < 1500)
            got = fi_cq_sread(end.cq.get(), &entry, 1, nullptr, 1000);
        ofi.check(got == 1 && entry.op_context == &op && milliseconds_since(begin) < 900, finding::request,
                  fmt::format("fi_cq_sread returned {}, after {:.0f} ms, while a message came", error_text(got),
                              milliseconds_since(begin)));
        if (got == 1) ofi.expect(in, 0, 17);
    }
    end.finish();
}

// The descriptor of a queue can be polled, once fi_trywait says that nothing is there.
OFI_TEST(cq_descriptor, requirements{"ofi.cq.wait_fd"}, over(axis_use{&providers()})) {
    wish what = needs_of(tsend, 17);
    what.wait = FI_WAIT_FD;
    what.two_queues = true;
    endpoint end(ofi, ofi.at(providers()), what);
    int descriptor = -1;
    if (!ofi.ok(fi_control(&end.cq->fid, FI_GETWAIT, &descriptor))) return;
    end.own_reads = ofi.rank != 0;
    end.meet();
    if (ofi.rank == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        std::vector<operation*> sends;
        for (int to = 1; to < ofi.size; ++to) sends.push_back(send(end, tsend, ofi.outgoing(to, 17), to, 0x82));
        for (auto* one : sends) end.complete(*one).sent();
    } else {
        auto& in = ofi.incoming(17);
        auto& op = receive(end, true, receive_form::plain, in, -1, 0x82);
        auto const begin = std::chrono::steady_clock::now();
        ssize_t got = -FI_EAGAIN;
        fi_cq_tagged_entry entry{};
        while (got == -FI_EAGAIN && milliseconds_since(begin) < 1500) {
            fid* queue = &end.cq->fid;
            int const may_wait = fi_trywait(end.fabric.get(), &queue, 1);
            if (may_wait == 0) {
                pollfd wait{descriptor, POLLIN, 0};
                poll(&wait, 1, 1000);
            } else if (!ofi.check(may_wait == -FI_EAGAIN, finding::return_,
                                  fmt::format("fi_trywait returned {}", error_text(may_wait)))) {
                break;
            }
            got = fi_cq_read(end.cq.get(), &entry, 1);
        }
        ofi.check(got == 1 && entry.op_context == &op && milliseconds_since(begin) < 900, finding::request,
                  fmt::format("fi_cq_read returned {} after {:.0f} ms of waiting at its descriptor", error_text(got),
                              milliseconds_since(begin)));
        if (got == 1) ofi.expect(in, 0, 17);
    }
    end.finish();
}

// With FI_MATCH_COMPLETE a send is complete only when a receive has taken the message; with FI_DELIVERY_COMPLETE when the peer
// has processed it. All others may complete as soon as they like.
OFI_TEST(match_complete, requirements{"ofi.cq.match_complete"}, over(axis_use{&providers()}, few_sizes())) {
    auto const bytes = ofi.at(sizes());
    wish what = needs_of(tsend, bytes);
    what.send_flags = FI_MATCH_COMPLETE;
    endpoint end(ofi, ofi.at(providers()), what);
    auto* const sent = send(end, tsend, ofi.outgoing(ofi.right(), bytes), ofi.right(), 0x83);
    end.meet();
    end.silent(*sent);
    end.meet(); // no receive anywhere before all have looked
    auto& in = ofi.incoming(bytes);
    auto& received = receive(end, true, receive_form::plain, in, -1, 0x83);
    end.complete(received).received(bytes);
    ofi.expect(in, ofi.left(), bytes);
    end.complete(*sent).sent();
    end.finish();
}

// A posted receive has got its data when the send with FI_DELIVERY_COMPLETE is complete. The receiver makes no progress for a
// while: a send that is complete by then must have been delivered without its help.
OFI_TEST(delivery_complete, requirements{"ofi.cq.delivery_complete"},
         over(axis_use{&providers()}, only(send_ways(), [](send_way way) { return way.how == form::plain; }),
              few_sizes())) {
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    auto what = needs_of(way, bytes);
    what.send_flags = FI_DELIVERY_COMPLETE;
    endpoint end(ofi, ofi.at(providers()), what);
    bool const sends = ofi.rank % 2 == 0 && ofi.rank + 1 < ofi.size;
    auto& first = ofi.incoming(1); // connects the two
    auto& in = ofi.incoming(bytes);
    operation* received = nullptr;
    if (ofi.rank % 2 == 1) {
        end.complete(receive(end, way.tagged, receive_form::plain, first, -1, 0x84)).received(1);
        received = &receive(end, way.tagged, receive_form::plain, in, -1, 0x84);
    } else if (sends) {
        end.complete(*send(end, way, ofi.outgoing(ofi.rank + 1, 1, 1), ofi.rank + 1, 0x84)).sent();
    }
    end.meet();
    if (sends) {
        end.complete(*send(end, way, ofi.outgoing(ofi.rank + 1, bytes), ofi.rank + 1, 0x84)).sent();
        board::of_job().say();
    } else if (received != nullptr) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (board::of_job().has_said(ofi.rank - 1)) ofi.expect(in, ofi.rank - 1, bytes);
        end.complete(*received).received(bytes);
        ofi.expect(in, ofi.rank - 1, bytes);
    }
    end.finish();
}
