// Active messages: header and data to a handler of the other side.
#include "suites/ucx/messages.hpp"

#include <cstring>
#include <fmt/format.h>
#include <memory>

#include "suites/ucx/calls.hpp"

using namespace assay;
using namespace assay::ucx;

namespace {

struct arrived {
    std::string header;
    std::uint64_t attributes = 0;
    ucp_ep_h reply = nullptr;
    std::size_t length = 0;
    std::string data;           // copied in the handler
    void* descriptor = nullptr; // where UCX keeps the data, or a rendezvous that has to be received
};

struct handler {
    std::vector<arrived> came;

    static ucs_status_t call(void* argument, void const* header, std::size_t header_length, void* data,
                             std::size_t length, ucp_am_recv_param_t const* param) {
        arrived one;
        one.attributes = param->recv_attr;
        one.header.assign(static_cast<char const*>(header), header_length);
        one.length = length;
        if (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) one.reply = param->reply_ep;
        bool const stays = param->recv_attr & (UCP_AM_RECV_ATTR_FLAG_DATA | UCP_AM_RECV_ATTR_FLAG_RNDV);
        if (stays) one.descriptor = data;
        else one.data.assign(static_cast<char const*>(data), length);
        static_cast<handler*>(argument)->came.push_back(std::move(one));
        return stays ? UCS_INPROGRESS : UCS_OK;
    }

    void set(worker& w, unsigned id, std::uint32_t flags) {
        ucp_am_handler_param_t param{};
        param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                           UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
        param.id = id;
        param.flags = flags;
        param.cb = call;
        param.arg = this;
        if (!w.ucx.ok(ucp_worker_set_am_recv_handler(w.handle, &param))) throw cannot_go_on{};
    }

    bool await(worker& w, std::size_t many = 1) {
        return w.ucx.check(w.until([&] { return came.size() >= many; }), finding::request,
                           fmt::format("{} active messages came, {} expected", came.size(), many));
    }
};

struct flags_of {
    std::uint32_t bits;
};
axis<flags_of> const& send_flags() {
    static axis<flags_of> const axis("flags", {{{"none", "as UCX chooses"}, {0}},
                                               {{"eager", "UCP_AM_SEND_FLAG_EAGER"}, {UCP_AM_SEND_FLAG_EAGER}},
                                               {{"rndv", "UCP_AM_SEND_FLAG_RNDV"}, {UCP_AM_SEND_FLAG_RNDV}}});
    return axis;
}

axis<flags_of> const& handler_flags() {
    static axis<flags_of> const axis("handler",
                                     {{{"plain", "no flags"}, {0}},
                                      {{"whole", "UCP_AM_FLAG_WHOLE_MSG"}, {UCP_AM_FLAG_WHOLE_MSG}},
                                      {{"persistent", "UCP_AM_FLAG_PERSISTENT_DATA"}, {UCP_AM_FLAG_PERSISTENT_DATA}}});
    return axis;
}

axis<std::size_t> const& headers() {
    static axis<std::size_t> const axis(
        "header", {{{"none", "no header"}, 0}, {{"short", "8 bytes"}, 8}, {{"long", "200 bytes"}, 200}});
    return axis;
}

enum class take { copy, receive };
axis<take> const& takes() {
    static axis<take> const axis(
        "take", {{{"in_place", "data that persist are read where they are: ucp_am_data_release"}, take::copy},
                 {{"receive", "ucp_am_recv_data_nbx"}, take::receive}});
    return axis;
}

wish am_only() {
    wish what;
    what.features = UCP_FEATURE_AM;
    return what;
}

std::string header_of(std::size_t size, int from) {
    std::string text(size, '\0');
    for (std::size_t n = 0; n < size; ++n) text[n] = static_cast<char>(17 * n + static_cast<std::size_t>(from) + 1);
    return text;
}

operation& am_send(worker& w, ucp_ep_h to, unsigned id, std::string const& header, void const* data, std::size_t size,
                   std::uint32_t flags, completion how = completion::poll) {
    auto& op = w.start("ucp_am_send_nbx", kind::send, how);
    op.param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    op.param.flags = flags;
    op.header = header; // has to stay as long as the operation
    w.posted(
        op, ucp_am_send_nbx(to, id, header.empty() ? nullptr : op.header.data(), header.size(), data, size, &op.param));
    return op;
}

// Has the data of a message in `in`.
void fetch(worker& w, arrived& one, buffer& in, take how, completion done = completion::poll) {
    if (one.descriptor == nullptr) {
        std::memcpy(in.address(), one.data.data(), one.data.size());
    } else if (how == take::copy && !(one.attributes & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        std::memcpy(in.address(), one.descriptor, one.length);
        ucp_am_data_release(w.handle, one.descriptor);
    } else {
        auto& op = w.start("ucp_am_recv_data_nbx", kind::am, done);
        if (w.posted(op, ucp_am_recv_data_nbx(w.handle, one.descriptor, in.address(), one.length, &op.param)))
            w.complete(op).received(one.length);
    }
    one.descriptor = nullptr;
}

} // namespace

UCX_TEST(am_ring,
         requirements{"ucx.am.data", "ucx.am.header", "ucx.am.protocol", "ucx.am.persistent", "ucx.am.receive"},
         over(axis_use{&transports()}, axis_use{&send_flags()}, axis_use{&handler_flags()}, axis_use{&headers()},
              axis_use{&takes()}, axis_use{&completions()}, axis_use{&sizes()})) {
    auto const bytes = ucx.at(sizes());
    auto const flags = ucx.at(send_flags()).bits;
    bool const persistent = ucx.at(handler_flags()).bits & UCP_AM_FLAG_PERSISTENT_DATA;
    handler h; // before the worker: it is called as long as that lives
    worker w(ucx, ucx.at(transports()), am_only());
    h.set(w, 7, ucx.at(handler_flags()).bits);
    w.meet();
    auto const header = header_of(ucx.at(headers()), ucx.rank);
    auto& out = ucx.outgoing(w.right(), bytes);
    auto& sent = am_send(w, w.to(w.right()), 7, header, out.address(), bytes, flags, ucx.at(completions()));
    if (h.await(w)) {
        auto& one = h.came.front();
        ucx.check(
            one.header == header_of(ucx.at(headers()), w.left()), finding::data,
            fmt::format("the handler got a header of {} bytes that is not the one that was sent", one.header.size()));
        ucx.check(one.length == bytes, finding::count,
                  fmt::format("the handler got {} bytes, {} were sent", one.length, bytes));
        bool const rndv = one.attributes & UCP_AM_RECV_ATTR_FLAG_RNDV,
                   data = one.attributes & UCP_AM_RECV_ATTR_FLAG_DATA;
        if (flags == UCP_AM_SEND_FLAG_EAGER)
            ucx.check(!rndv, finding::value,
                      "the handler got a rendezvous; the message was sent with UCP_AM_SEND_FLAG_EAGER");
        if (flags == UCP_AM_SEND_FLAG_RNDV)
            ucx.check(rndv, finding::value,
                      "the handler got no rendezvous; the message was sent with UCP_AM_SEND_FLAG_RNDV");
        ucx.check(!(rndv && data), finding::value, "UCP_AM_RECV_ATTR_FLAG_DATA and UCP_AM_RECV_ATTR_FLAG_RNDV at once");
        if (persistent && !rndv)
            ucx.check(data, finding::value,
                      "data without UCP_AM_RECV_ATTR_FLAG_DATA for a handler with UCP_AM_FLAG_PERSISTENT_DATA");
        w.meet(); // whatever else comes, data that persist stay
        auto& in = ucx.incoming(one.length);
        fetch(w, one, in, ucx.at(takes()), ucx.at(completions()));
        ucx.expect(in, w.left(), bytes);
    } else {
        w.meet();
    }
    w.complete(sent).ok();
    out.expect_unchanged();
    w.meet();
    ucx.check(h.came.size() == 1, finding::leftover, fmt::format("{} active messages came, 1 was sent", h.came.size()));
    w.finish();
}

// The endpoint for the answer leads back to whoever asked.
UCX_TEST(am_reply, requirements{"ucx.am.reply", "ucx.am.data"},
         over(axis_use{&transports()}, axis_use{&send_flags()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    handler questions, answers;
    worker w(ucx, ucx.at(transports()), am_only());
    questions.set(w, 1, UCP_AM_FLAG_WHOLE_MSG);
    answers.set(w, 2, UCP_AM_FLAG_WHOLE_MSG);
    w.meet();
    auto& asked = am_send(w, w.to(w.right()), 1, header_of(8, ucx.rank), ucx.outgoing(w.right(), bytes).address(),
                          bytes, ucx.at(send_flags()).bits | UCP_AM_SEND_FLAG_REPLY);
    operation* answered = nullptr;
    if (questions.await(w)) {
        auto& one = questions.came.front();
        auto& in = ucx.incoming(one.length);
        fetch(w, one, in, take::receive);
        ucx.expect(in, w.left(), bytes);
        if (ucx.check(one.reply != nullptr, finding::value,
                      "no reply_ep for a message that was sent with UCP_AM_SEND_FLAG_REPLY"))
            answered = &am_send(w, one.reply, 2, header_of(8, ucx.rank), ucx.outgoing(w.left(), bytes, 1).address(),
                                bytes, ucx.at(send_flags()).bits);
    }
    if (answers.await(w)) {
        auto& one = answers.came.front();
        ucx.check(one.header == header_of(8, w.right()), finding::data,
                  "the answer does not have the header of the right neighbour");
        auto& in = ucx.incoming(one.length);
        fetch(w, one, in, take::receive);
        ucx.expect(in, w.right(), bytes, 1);
    }
    w.complete(asked).ok();
    if (answered != nullptr) w.complete(*answered).ok();
    w.finish();
}

// Each message goes to the handler of its number, each once; while they come, data that persist stay as they are.
UCX_TEST(am_handlers, requirements{"ucx.am.id", "ucx.am.persistent"},
         over(axis_use{&transports()}, axis_use{&send_flags()}, few_sizes())) {
    constexpr int many = 20;
    auto const bytes = ucx.at(sizes());
    handler even, odd;
    worker w(ucx, ucx.at(transports()), am_only());
    even.set(w, 4, UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA);
    odd.set(w, 5, UCP_AM_FLAG_WHOLE_MSG);
    w.meet();
    std::vector<operation*> sends;
    for (int n = 0; n < many; ++n)
        sends.push_back(&am_send(w, w.to(w.right()), n % 2 == 0 ? 4 : 5, std::string(1, static_cast<char>('a' + n)),
                                 ucx.outgoing(w.right(), bytes, n).address(), bytes, ucx.at(send_flags()).bits));
    for (auto* h : {&even, &odd}) {
        if (!h->await(w, many / 2)) continue;
        std::string seen;
        for (auto& one : h->came) {
            auto& in = ucx.incoming(one.length);
            fetch(w, one, in, take::copy);
            if (!ucx.check(one.header.size() == 1, finding::count,
                           fmt::format("a header has {} bytes", one.header.size())))
                continue;
            int const n = one.header[0] - 'a';
            ucx.check(n % 2 == (h == &even ? 0 : 1) && seen.find(one.header) == std::string::npos, finding::value,
                      fmt::format("message {} came to the handler of number {}{}", n, h == &even ? 4 : 5,
                                  seen.find(one.header) == std::string::npos ? "" : ", again"));
            seen += one.header;
            ucx.expect(in, w.left(), bytes, n);
        }
    }
    for (auto* one : sends) w.complete(*one).ok();
    w.finish();
}
