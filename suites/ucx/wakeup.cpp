// Sleeping until something happens: the descriptor of a worker, ucp_worker_wait, and signals.
#include "suites/ucx/messages.hpp"

#include <chrono>
#include <fmt/format.h>
#include <poll.h>
#include <thread>

#include "suites/ucx/calls.hpp"

using namespace assay;
using namespace assay::ucx;

namespace {

using clock_type = std::chrono::steady_clock;
double milliseconds_since(clock_type::time_point begin) {
    return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}

wish with_wakeup() {
    wish what;
    what.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
    return what;
}

enum class way { descriptor, wait };
axis<way> const& ways() {
    static axis<way> const axis("wait", {{{"fd", "ucp_worker_get_efd, ucp_worker_arm, poll"}, way::descriptor},
                                         {{"wait", "ucp_worker_wait"}, way::wait}});
    return axis;
}

// Signals a worker after a while, so that a wait without a time limit ends.
class alarm_clock {
public:
    alarm_clock(ucp_worker_h worker, int milliseconds)
        : thread_([worker, milliseconds](std::stop_token stop) {
              auto const begin = clock_type::now();
              while (milliseconds_since(begin) < milliseconds)
                  if (stop.stop_requested()) return;
                  else std::this_thread::sleep_for(std::chrono::milliseconds(1));
              ucp_worker_signal(worker); // safe from any thread
          }) {}

private:
    std::jthread thread_;
};

bool readable(int descriptor, int milliseconds) {
    pollfd wait{descriptor, POLLIN, 0};
    return poll(&wait, 1, milliseconds) == 1;
}

// Arms the worker once there is nothing to do: it may be armed with events that only progress takes away, and over tcp
// its descriptor then stays readable (ucp_worker_arm: drain first).
ucs_status_t arm(worker& w) {
    ucs_status_t status = UCS_ERR_BUSY;
    w.until([&] {
        while (ucp_worker_progress(w.handle) != 0) {}
        return (status = ucp_worker_arm(w.handle)) != UCS_ERR_BUSY;
    });
    return status;
}

} // namespace

// A sleeping worker is woken by a message.
UCX_TEST(wakeup, requirements{"ucx.wakeup.fd", "ucx.wakeup.wait"}, over(to_others(), axis_use{&ways()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), with_wakeup());
    int descriptor = -1;
    if (!ucx.ok(ucp_worker_get_efd(w.handle, &descriptor))) return;
    // The way is open before.
    for (int from = 1; from < ucx.size; ++from)
        if (ucx.rank == 0) w.complete(send(w, send_call::send, ucx.outgoing(from, 1, 1), from, 1)).ok();
    if (ucx.rank != 0) w.complete(receive(w, ucx.incoming(1), 1)).received(1);
    w.meet();
    if (ucx.rank == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the others are waiting
        std::vector<operation*> sends;
        for (int to = 1; to < ucx.size; ++to)
            sends.push_back(&send(w, send_call::send, ucx.outgoing(to, bytes), to, 2));
        for (auto* one : sends) w.complete(*one).ok();
    } else {
        auto& in = ucx.incoming(bytes);
        auto& op = receive(w, in, 2);
        auto const begin = clock_type::now();
        {
            alarm_clock const limit(w.handle, 900);
            while (!w.ended(op) && milliseconds_since(begin) < 1500) {
                if (ucp_worker_progress(w.handle) != 0) continue;
                if (ucx.at(ways()) == way::wait) {
                    if (!ucx.ok(ucp_worker_wait(w.handle))) break;
                } else {
                    ucs_status_t const armed = ucp_worker_arm(w.handle);
                    if (armed == UCS_ERR_BUSY) continue;
                    if (!ucx.ok(armed)) break;
                    readable(descriptor, 1000);
                }
            }
        }
        ucx.check(w.ended(op) && milliseconds_since(begin) < 800, finding::request,
                  fmt::format("a message came while the worker slept, and it was seen after {:.0f} ms",
                              milliseconds_since(begin)));
        w.complete(op).received(bytes);
        ucx.expect(in, 0, bytes);
    }
    w.finish();
}

// An armed worker to which nothing happens stays asleep; a signal wakes it.
UCX_TEST(signal, requirements{"ucx.wakeup.signal", "ucx.wakeup.fd"}, over(axis_use{&transports()}, axis_use{&ways()})) {
    worker w(ucx, ucx.at(transports()), with_wakeup());
    int descriptor = -1;
    if (!ucx.ok(ucp_worker_get_efd(w.handle, &descriptor))) return;
    // All connections are made before: they are events, too.
    auto& first = receive(w, ucx.incoming(1), 1);
    auto& opens = send(w, send_call::send, ucx.outgoing(w.right(), 1, 1), w.right(), 1);
    w.complete(first).received(1);
    w.complete(opens).ok();
    w.meet();
    if (ucx.at(ways()) == way::descriptor) {
        bool quiet = false;
        for (int n = 0; n < 20 && !quiet; ++n) quiet = arm(w) == UCS_OK && !readable(descriptor, 20);
        if (ucx.check(quiet, finding::value,
                      "the descriptor of an armed worker is readable again and again, though nothing happens")) {
            ucx.ok(ucp_worker_signal(w.handle));
            ucx.check(readable(descriptor, 900), finding::value,
                      "ucp_worker_signal does not make the descriptor readable");
        }
    } else {
        auto const begin = clock_type::now();
        int const after = 30;
        {
            alarm_clock const early(w.handle, after), late(w.handle, 900);
            // It may wake for what is left to do.
            for (int n = 0; n < 100 && milliseconds_since(begin) < after; ++n) {
                w.progress();
                if (!ucx.ok(ucp_worker_wait(w.handle))) break;
            }
        }
        double const took = milliseconds_since(begin);
        ucx.check(took >= after - 2 && took < 800, finding::value,
                  fmt::format("ucp_worker_wait ended after {:.0f} ms, it was signalled after {}", took, after));
    }
    for (int n = 0; n < 20; ++n) w.progress();
    w.finish();
}

// A worker to which something has happened says so when it is armed, or its descriptor does.
UCX_TEST(arm_busy, requirements{"ucx.wakeup.arm"}, over(axis_use{&transports()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), with_wakeup());
    int descriptor = -1;
    if (!ucx.ok(ucp_worker_get_efd(w.handle, &descriptor))) return;
    auto& first = receive(w, ucx.incoming(1), 1);
    auto& opens = send(w, send_call::send, ucx.outgoing(w.right(), 1, 1), w.right(), 1);
    w.complete(first).received(1);
    w.complete(opens).ok();
    auto& in = ucx.incoming(bytes);
    auto& received = receive(w, in, 2);
    w.meet();
    bool const others = w.right() != ucx.rank;
    bool const sends = others ? ucx.rank % 2 == 0 && ucx.rank + 1 < ucx.size : true;
    bool const looks = others ? ucx.rank % 2 == 1 : true;
    operation* sent = nullptr;
    if (looks && others) { // no progress from here on, until the message is on its way
        ucs_status_t armed = arm(w);
        board::of_job().say();
        if (armed == UCS_OK)
            ucx.check(readable(descriptor, 900), finding::value,
                      "the descriptor of an armed worker does not tell of a message");
        armed = ucp_worker_arm(w.handle);
        ucx.check(
            armed == UCS_ERR_BUSY || readable(descriptor, 0), finding::return_,
            fmt::format(
                "ucp_worker_arm returned {} with an event that nobody has looked at, and the descriptor says nothing",
                error_text(armed)));
    }
    if (sends) {
        if (others) w.until([&] { return board::of_job().has_said(w.right()); });
        sent = &send(w, send_call::send, ucx.outgoing(w.right(), bytes), w.right(), 2);
    }
    if (sent != nullptr) w.complete(*sent).ok();
    if (looks) {
        w.complete(received).received(bytes);
        ucx.expect(in, w.left(), bytes);
    }
    w.finish();
}
