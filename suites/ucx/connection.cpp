// Endpoints that come and go, with what is still under way.
#include "suites/ucx/messages.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "suites/ucx/calls.hpp"

using namespace assay;
using namespace assay::ucx;

namespace {

int open_descriptors() {
    int n = 0;
    for ([[maybe_unused]] auto const& one : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
    return n;
}

// One small message around the ring.
void say_hello(worker& w, int serial) {
    auto& in = w.ucx.incoming(17);
    auto& received = receive(w, in, 0xc0);
    auto& sent = send(w, send_call::send, w.ucx.outgoing(w.right(), 17, serial), w.right(), 0xc0);
    w.complete(received).received(17);
    w.ucx.expect(in, w.left(), 17, serial);
    w.complete(sent).ok();
}

wish told_of_errors() {
    wish what;
    what.peer_errors = true;
    return what;
}

} // namespace

// Over which transports an endpoint talks is what UCX_TLS says.
UCX_TEST(lanes, requirements{"ucx.config.tls"}, over(axis_use{&transports()})) {
    auto const& over = ucx.at(transports());
    wish what;
    what.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    worker w(ucx, over, what);
    say_hello(w, 0);
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const stream = open_memstream(&text, &size);
    ucp_ep_print_info(w.to(w.right()), stream);
    std::fclose(stream);
    std::string const said(text, size);
    std::free(text);
    int lanes = 0;
    // "lane[0]:  0:posix/memory.0 md[0] …"
    for (std::size_t at = said.find("lane["); at != std::string::npos; at = said.find("lane[", at + 1)) {
        auto const colon = said.find(':', said.find("]:", at) + 2), slash = said.find('/', colon);
        if (slash == std::string::npos) break;
        auto const name = said.substr(colon + 1, slash - colon - 1);
        ++lanes;
        ucx.check(("," + over.tls + ",").find("," + name + ",") != std::string::npos, finding::value,
                  fmt::format("an endpoint with UCX_TLS={} uses {}", over.tls, name));
    }
    ucx.check(lanes > 0, finding::value, "ucp_ep_print_info names no transport");
    w.finish();
}

// Closing an endpoint without force ends what was started on it, with success.
UCX_TEST(close_flush, requirements{"ucx.close.flush"}, over(to_others(), axis_use{&protocols()}, few_sizes())) {
    constexpr int many = 10;
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), with_protocol(UCP_FEATURE_TAG, ucx.at(protocols())));
    // In one direction: a receive may need the endpoint on its side until it ends.
    bool const sends = ucx.rank % 2 == 0 && ucx.rank + 1 < ucx.size;
    if (sends) {
        std::vector<operation*> started;
        for (int n = 0; n < many; ++n)
            started.push_back(&send(w, send_call::send, ucx.outgoing(w.right(), bytes, n), w.right(), 0xc2));
        w.close(w.right());
        for (auto* one : started) w.complete(*one).ok();
    } else if (ucx.rank % 2 == 1) {
        for (int n = 0; n < many; ++n) {
            auto& in = ucx.incoming(bytes);
            w.complete(receive(w, in, 0xc2)).received(bytes);
            ucx.expect(in, w.left(), bytes, n);
        }
    }
    w.finish();
}

// Closing one by force ends what is under way with UCS_ERR_CANCELED, at once.
UCX_TEST(close_force, requirements{"ucx.close.force"}, over(axis_use{&transports()})) {
    auto what = told_of_errors();
    what.settings = {{"RNDV_THRESH", "0"}};
    worker w(ucx, ucx.at(transports()), what);
    say_hello(w, 0);
    w.meet();
    bool const closes = ucx.rank % 2 == 0;
    if (closes) {
        // Nobody receives this one.
        auto& sent = send(w, send_call::send, ucx.outgoing(w.right(), 300'000), w.right(), 0xdead);
        ucx.check(!w.ended(sent), finding::request, "a rendezvous ends that nobody takes part in");
        w.close(w.right(), true);
        if (!sent.complete) w.complete(sent).status(UCS_ERR_CANCELED);
    }
    w.meet();
    board::of_job().meet([&] { w.progress(); });
}

// Whose peer is gone, hears of it: the handler is called, once, and operations end.
UCX_TEST(peer_gone, requirements{"ucx.error.handler"},
         // A process that lives on with its worker destroyed is not missed in shared memory.
         over(only(transports(), [](transport const& one) { return one.tls == "tcp"; }), axis_use{&completions()})) {
    worker w(ucx, ucx.at(transports()), told_of_errors());
    auto& from_all = ucx.incoming(17);
    say_hello(w, 0);
    w.meet();
    bool const goes = ucx.rank == ucx.size - 1 && ucx.size > 1;
    bool const looks = ucx.rank == 0 && ucx.size > 1;
    if (goes) w.abandon();
    board::of_job().meet([&] { w.progress(); });
    if (looks) {
        int const gone = ucx.size - 1;
        auto const ep = w.to(gone);
        // There is nobody any more: it fails sooner or later.
        auto& sent = send(w, send_call::send, ucx.outgoing(gone, 300'000, 1), gone, 0xc3, ucx.at(completions()));
        auto const said = w.complete(sent);
        ucx.check(!said || said->status != UCS_OK, finding::error,
                  "a message of 300,000 bytes to a worker that is gone succeeds");
        w.until([&] { return !w.failures.empty(); });
        for (int n = 0; n < 100; ++n) w.progress();
        ucx.check(w.failures.size() == 1 && w.failures.front().ep == ep && UCS_STATUS_IS_ERR(w.failures.front().status),
                  finding::value,
                  fmt::format(
                      "the error handler was called {} times with the endpoint of the peer that is gone and an error; "
                      "once is right",
                      w.failures.size()));
        w.close(gone, true);
    }
    from_all.expect_untouched();
    board::of_job().meet([&] { w.progress(); });
}

// Workers go with receives that nobody served, and the next ones work.
UCX_TEST(reopen, requirements{"ucx.worker.again", "ucx.tag.data"}, over(axis_use{&transports()})) {
    for (int round = 0; round < 4; ++round) {
        worker w(ucx, ucx.at(transports()), {});
        receive(w, ucx.incoming(17), 0xdead);
        receive(w, ucx.incoming(100'000), 0xdead);
        say_hello(w, round);
        w.finish();
    }
}

// Descriptors are given back.
UCX_TEST(descriptors, requirements{"ucx.worker.resources"}, over(axis_use{&transports()})) {
    int before = 0, after = 0;
    for (int round = 0; round < 6; ++round) {
        {
            worker w(ucx, ucx.at(transports()), {});
            say_hello(w, round);
            w.finish();
        }
        after = open_descriptors();
        if (round == 1) before = after; // the first ones may open what stays
    }
    ucx.check(after <= before, finding::fd, fmt::format("{} descriptors after 2 workers, {} after 6", before, after));
}

// A rank leaves early: the others go on.
UCX_TEST(leave, requirements{"ucx.close.others"}, over(to_others()), needs{[](job const& j) {
             return j.np >= 3 ? std::string() : fmt::format("needs at least 3 ranks; this job has {}", j.np);
         }}) {
    auto w = std::make_unique<worker>(ucx, ucx.at(transports()), wish{});
    say_hello(*w, 0);
    int const last = ucx.size - 1;
    w->meet();
    // Both sides close, then one is gone.
    if (ucx.rank != last) w->close(last);
    else
        for (int rank = 0; rank < last; ++rank) w->close(rank);
    w->meet();
    if (ucx.rank == last) w.reset();
    auto const progress = [&] {
        if (w) w->progress();
    };
    board::of_job().meet(progress);
    if (w) { // a ring of those that are left
        int const to = (ucx.rank + 1) % last, from = (ucx.rank + last - 1) % last;
        auto& in = ucx.incoming(17);
        auto& received = receive(*w, in, 0xc1);
        auto& sent = send(*w, send_call::send, ucx.outgoing(to, 17, 1), to, 0xc1);
        w->complete(received).received(17);
        ucx.expect(in, from, 17, 1);
        w->complete(sent).ok();
    }
    board::of_job().meet(progress);
}
