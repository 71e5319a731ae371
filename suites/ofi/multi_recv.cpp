// One buffer for many messages (FI_MULTI_RECV).
#include "suites/ofi/messages.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

axis<std::size_t> const& fillings() {
    static axis<std::size_t> const axis(
        "message",
        {{{"8", "8 bytes each"}, 8}, {{"100", "100 bytes each"}, 100}, {{"1000", "1,000 bytes each"}, 1000}});
    return axis;
}

} // namespace

// Messages fill the buffer one after the other; it is given back when less is left than FI_OPT_MIN_MULTI_RECV, and the next
// buffer takes what comes then.
OFI_TEST(multi_recv, requirements{"ofi.multi_recv.fill", "ofi.multi_recv.release"},
         over(axis_use{&providers()}, axis_use{&fillings()})) {
    constexpr std::size_t room = 4096, least = 1024;
    auto const bytes = ofi.at(fillings());
    wish what;
    what.caps = FI_MSG | FI_MULTI_RECV;
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    std::size_t minimum = least;
    if (!ofi.ok(fi_setopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &minimum, sizeof minimum))) return;
    std::size_t size = sizeof minimum;
    minimum = 0;
    if (ofi.ok(fi_getopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &minimum, &size)))
        ofi.check(minimum == least, finding::value,
                  fmt::format("FI_OPT_MIN_MULTI_RECV is {}, it was set to {}", minimum, least));
    struct place {
        operation* op;
        std::vector<unsigned char> bytes;
        std::size_t used = 0;
        bool released = false;
    };
    std::vector<place> places(2);
    for (auto& one : places) {
        one.bytes.assign(room, poison_byte);
        one.op = &end.start("fi_recvmsg");
        iovec const piece{one.bytes.data(), room};
        void* descriptor = end.descriptor(one.bytes.data(), room);
        fi_msg const message{&piece, &descriptor, 1, FI_ADDR_UNSPEC, one.op, 0};
        if (!end.post([&] { return fi_recvmsg(end.ep.get(), &message, FI_MULTI_RECV | FI_COMPLETION); })) return;
    }
    end.meet();
    // The first buffer is full when less than `least` is left; some more go to the second one.
    int const fit = static_cast<int>((room - least) / bytes + 1), many = fit + 2;
    std::vector<operation*> sends;
    for (int n = 0; n < many; ++n)
        sends.push_back(send(end, {form::plain, false}, ofi.outgoing(ofi.right(), bytes, n), ofi.right()));
    int got = 0;
    while (got < many) {
        completion const* said = nullptr;
        place* in = nullptr;
        bool const came = end.until([&] {
            for (auto& one : places)
                if (said == nullptr && one.op->used < one.op->said.size()) {
                    said = &one.op->said[one.op->used++];
                    in = &one;
                }
            return said != nullptr;
        });
        if (!ofi.check(came, finding::request, fmt::format("{} of {} messages came", got, many))) break;
        if (!ofi.check(said->error == 0, finding::error, fmt::format("a completion has the error {}", said->error)))
            break;
        ofi.check(!in->released, finding::request, "a completion for a buffer that had been given back");
        in->released |= (said->flags & FI_MULTI_RECV) != 0;
        if (!(said->flags & FI_RECV)) continue; // says only that the buffer is free
        auto const at = static_cast<unsigned char*>(said->buffer) - in->bytes.data();
        if (ofi.check(at >= static_cast<std::ptrdiff_t>(in->used) &&
                          static_cast<std::size_t>(at) + said->length <= room && said->length == bytes,
                      finding::position,
                      fmt::format("message {} of {} bytes: {} bytes at {} of the buffer, of which {} were used", got,
                                  bytes, said->length, at, in->used))) {
            std::vector<unsigned char> expected(bytes);
            stream_bytes(ofi.key(ofi.left(), ofi.rank, got), 0, expected.data(), bytes);
            ofi.check(std::equal(expected.begin(), expected.end(), in->bytes.begin() + at), finding::data,
                      fmt::format("message {} is not what was sent", got));
            in->used = static_cast<std::size_t>(at) + said->length;
        }
        ++got;
    }
    for (auto* one : sends) end.complete(*one).sent();
    auto& first = places[0];
    if (!first.released && end.until([&] { return first.op->used < first.op->said.size(); }))
        first.released = first.op->said[first.op->used++].flags & FI_MULTI_RECV;
    ofi.check(first.released, finding::request,
              "the first buffer is full, and no completion gives it back (FI_MULTI_RECV)");
    ofi.check(!places[1].released, finding::request, "the second buffer is given back, though it has room");
    fi_cancel(&end.ep->fid, places[1].op);
    end.look_for(*places[1].op);
    end.finish();
}
