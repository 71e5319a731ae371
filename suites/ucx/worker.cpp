#include "suites/ucx/worker.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sched.h>

#include "suites/ucx/calls.hpp"

namespace assay::ucx {
namespace {

constexpr std::size_t guard = 64; // before the memory of a request of ours

operation& called(void* user_data, void* request, ucs_status_t status) {
    auto& op = *static_cast<operation*>(user_data);
    ++op.calls;
    op.called_with = request;
    op.called_status = status;
    return op;
}
void on_send(void* request, ucs_status_t status, void* user_data) { called(user_data, request, status); }
void on_tag(void* request, ucs_status_t status, ucp_tag_recv_info_t const* info, void* user_data) {
    auto& op = called(user_data, request, status);
    if (info != nullptr) op.info = *info;
}
void on_length(void* request, ucs_status_t status, std::size_t length, void* user_data) {
    called(user_data, request, status).length = length;
}

void on_failure(void* argument, ucp_ep_h ep, ucs_status_t status) {
    static_cast<worker*>(argument)->failures.push_back({ep, status});
}

} // namespace

axis<completion> const& completions() {
    static axis<completion> const axis("completion",
                                       {{{"poll", "ucp_request_check_status"}, completion::poll},
                                        {{"callback", "UCP_OP_ATTR_FIELD_CALLBACK"}, completion::callback},
                                        {{"never_at_once", "UCP_OP_ATTR_FLAG_NO_IMM_CMPL"}, completion::never_at_once},
                                        {{"own_memory", "UCP_OP_ATTR_FIELD_REQUEST"}, completion::own_memory}});
    return axis;
}

worker::worker(native_run& run, transport const& over, wish what)
    : ucx(run), wanted(std::move(what)), to_others_(over.to_others), name_(over.tls) {
    open(over);
    connect();
    meet();
}

void worker::open(transport const& over) {
    auto const must = [this](ucs_status_t status) {
        if (!ucx.ok(status)) throw cannot_go_on{};
    };
    ucp_config_t* config = nullptr;
    must(ucp_config_read(nullptr, nullptr, &config));
    ucs_status_t status = ucp_config_modify(config, "TLS", over.tls.c_str());
    for (auto const& [name, value] : wanted.settings)
        if (status == UCS_OK) status = ucp_config_modify(config, name, value);
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE;
    params.features = wanted.features;
    bool const configured = status == UCS_OK;
    if (configured) status = ucp_init(&params, config, &context);
    ucp_config_release(config);
    if (configured && (status == UCS_ERR_UNSUPPORTED || status == UCS_ERR_NO_DEVICE))
        ucx.unsupported(fmt::format("ucp_init with UCX_TLS={} and the features {:#x} says: {}", name_, wanted.features,
                                    ucs_status_string(status)));
    must(status);
    ucp_worker_params_t of_worker{};
    of_worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    of_worker.thread_mode = UCS_THREAD_MODE_SINGLE;
    status = ucp_worker_create(context, &of_worker, &handle);
    if (status == UCS_OK) return;
    ucp_cleanup(context);
    context = nullptr;
    if (status == UCS_ERR_UNSUPPORTED)
        ucx.unsupported(fmt::format("ucp_worker_create with UCX_TLS={} says: {}", name_, ucs_status_string(status)));
    must(status);
}

void worker::connect() {
    ucp_worker_attr_t attributes{};
    attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS;
    if (!ucx.ok(ucp_worker_query(handle, &attributes))) {
        destroy();
        throw cannot_go_on{};
    }
    std::string const mine(reinterpret_cast<char const*>(attributes.address), attributes.address_length);
    ucp_worker_release_address(handle, attributes.address);
    peers.assign(static_cast<std::size_t>(ucx.size), nullptr);
    try {
        auto const names = exchange(mine);
        for (int rank = 0; rank < ucx.size; ++rank) {
            if (!to_others_ && rank != ucx.rank) continue;
            ucp_ep_params_t params{};
            params.field_mask =
                UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_USER_DATA;
            params.address = reinterpret_cast<ucp_address_t const*>(names[static_cast<std::size_t>(rank)].data());
            params.err_mode = wanted.peer_errors ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
            params.user_data = this;
            if (wanted.peer_errors) {
                params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER;
                params.err_handler = {on_failure, this};
            }
            ucs_status_t const status = ucp_ep_create(handle, &params, &peers[static_cast<std::size_t>(rank)]);
            if (status == UCS_ERR_UNREACHABLE || status == UCS_ERR_UNSUPPORTED)
                ucx.unsupported(fmt::format("ucp_ep_create with UCX_TLS={} and the features {:#x}{} says: {}", name_,
                                            wanted.features, wanted.peer_errors ? ", UCP_ERR_HANDLING_MODE_PEER" : "",
                                            ucs_status_string(status)));
            if (!ucx.ok(status)) throw cannot_go_on{};
        }
    } catch (...) {
        destroy();
        throw;
    }
}

worker::~worker() { destroy(); }

void worker::destroy() {
    for (auto& op : operations) release(op);
    for (auto key : keys_) ucp_rkey_destroy(key);
    keys_.clear();
    for (std::size_t rank = 0; rank < peers.size(); ++rank)
        if (peers[rank] != nullptr) close(static_cast<int>(rank), wanted.peer_errors);
    for (auto& one : regions_) ucx.ok(ucp_mem_unmap(context, one.handle));
    regions_.clear();
    abandon();
}

void worker::abandon() {
    if (handle != nullptr) ucp_worker_destroy(handle);
    if (context != nullptr) ucp_cleanup(context);
    handle = nullptr;
    context = nullptr;
    peers.assign(peers.size(), nullptr);
}

void worker::close(int rank, bool by_force) {
    auto& ep = peers[static_cast<std::size_t>(rank)];
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = by_force ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    ucs_status_ptr_t const request = ucp_ep_close_nbx(ep, &param);
    ep = nullptr;
    if (UCS_PTR_IS_ERR(request)) ucx.ok(UCS_PTR_STATUS(request));
    if (request == nullptr || UCS_PTR_IS_ERR(request)) return;
    // With which status it ends is left open: the other side may have closed, too, and be quicker.
    bool const came = until([&] { return ucp_request_check_status(request) != UCS_INPROGRESS; });
    ucx.check(came, finding::request, "ucp_ep_close_nbx does not end");
    ucp_request_free(request);
}

void worker::meet() {
    board::of_job().meet([this] { progress(); });
}

std::vector<std::string> worker::exchange(std::string const& mine) {
    return board::of_job().exchange(mine, [this] { progress(); });
}

bool worker::until(std::function<bool()> const& holds) {
    return patience_.until(holds, [this] { progress(); });
}

void worker::progress() {
    if (handle == nullptr) return;
    for (int n = 0; n < 64 && ucp_worker_progress(handle) != 0; ++n) {}
}

operation& worker::start(char const* name, kind what, completion how) {
    auto& op = operations.emplace_back();
    op.name = name;
    op.how = how;
    op.what = what;
    op.param.op_attr_mask = 0;
    switch (how) {
    case completion::poll: break;
    case completion::callback:
        op.param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        op.param.user_data = &op;
        switch (what) {
        case kind::send: op.param.cb.send = on_send; break;
        case kind::tag: op.param.cb.recv = on_tag; break;
        case kind::stream: op.param.cb.recv_stream = on_length; break;
        case kind::am: op.param.cb.recv_am = on_length; break;
        }
        break;
    case completion::never_at_once: op.param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL; break;
    case completion::own_memory: {
        ucp_context_attr_t attributes{};
        attributes.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE;
        ucx.ok(ucp_context_query(context, &attributes));
        // The request lies before its address; after it is what the program asked for itself, which is nothing.
        op.memory.assign(2 * guard + attributes.request_size + guard, poison_byte);
        auto const end = reinterpret_cast<std::uintptr_t>(op.memory.data()) + guard + attributes.request_size;
        op.param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
        op.param.request = reinterpret_cast<void*>((end + guard - 1) / guard * guard);
        break;
    }
    }
    if (what == kind::tag) {
        op.param.op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
        op.param.recv_info.tag_info = &op.info;
    } else if (what == kind::am) {
        op.param.op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
        op.param.recv_info.length = &op.length;
    }
    return op;
}

bool worker::posted(operation& op, ucs_status_ptr_t returned, std::source_location where) {
    if (UCS_PTR_IS_ERR(returned)) {
        op.complete = true;
        op.status = UCS_PTR_STATUS(returned);
        return ucx.ok(op.status, where);
    }
    op.request = returned;
    op.at_once = returned == nullptr;
    if (op.at_once) op.status = UCS_OK;
    if (!op.at_once && op.how == completion::own_memory)
        ucx.check(returned == op.param.request, finding::request,
                  fmt::format("{} was given a request and returned another one", op.name), where);
    return true;
}

bool worker::ended(operation& op) {
    if (op.complete || op.at_once) return true;
    if (op.request == nullptr) return false; // never posted
    if (op.how == completion::callback ? op.calls == 0 : ucp_request_check_status(op.request) == UCS_INPROGRESS)
        return false;
    op.status = ucp_request_check_status(op.request);
    if (op.how != completion::callback) {
        // Reads the same status; what was received is only there.
        if (op.what == kind::tag) op.status = ucp_tag_recv_request_test(op.request, &op.info);
        if (op.what == kind::stream) op.status = ucp_stream_recv_request_test(op.request, &op.length);
    }
    return true;
}

completion_check worker::complete(operation& op, std::source_location where) {
    if (!ucx.check(until([&] { return ended(op); }), finding::request, fmt::format("{} does not end", op.name), where))
        return {*this, nullptr, where};
    if (op.calls > 0) {
        ucx.check(op.called_with == op.request, finding::request,
                  fmt::format("the callback of {} got another request than the call returned", op.name), where);
        ucx.check(op.called_status == op.status, finding::request,
                  fmt::format("the callback of {} got {}, its request says {}", op.name, error_text(op.called_status),
                              error_text(op.status)),
                  where);
    }
    if (!op.memory.empty())
        ucx.check(
            std::all_of(op.memory.begin(), op.memory.begin() + guard, [](unsigned char c) { return c == poison_byte; }),
            finding::guard, fmt::format("{} wrote before the memory of its request", op.name), where);
    op.complete = true;
    release(op);
    return {*this, &op, where};
}

void worker::release(operation& op) {
    if (op.how == completion::own_memory) {
        if (op.request != nullptr && !op.complete) {
            // UCX may still write there.
            ucp_request_cancel(handle, op.request);
            static std::list<std::vector<unsigned char>> kept;
            kept.push_back(std::move(op.memory));
        }
        op.request = nullptr;
        return;
    }
    if (op.request == nullptr) return;
    if (!op.complete) ucp_request_cancel(handle, op.request);
    ucp_request_free(op.request);
    op.request = nullptr;
}

void worker::silent(operation& op, std::source_location where) {
    for (int n = 0; n < 200 && !ended(op); ++n) {
        progress();
        sched_yield();
    }
    ucx.check(!ended(op), finding::request, fmt::format("{} has ended ({}), too early", op.name, error_text(op.status)),
              where);
}

void worker::flush(bool of_worker, int rank, std::source_location where) {
    auto& op = start(of_worker ? "ucp_worker_flush_nbx" : "ucp_ep_flush_nbx");
    auto* const returned = of_worker ? ucp_worker_flush_nbx(handle, &op.param) : ucp_ep_flush_nbx(to(rank), &op.param);
    if (posted(op, returned, where)) complete(op, where).ok();
}

region worker::map(void* address, std::size_t length, unsigned flags) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    if (address != nullptr) params.field_mask |= UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
    params.address = address;
    params.length = length;
    params.flags = flags;
    region made;
    if (!ucx.ok(ucp_mem_map(context, &params, &made.handle))) throw cannot_go_on{};
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH;
    regions_.push_back(made);
    if (!ucx.ok(ucp_mem_query(made.handle, &attributes))) throw cannot_go_on{};
    made.address = attributes.address;
    made.length = attributes.length;
    return made;
}

void worker::unmap(region& one) {
    std::erase_if(regions_, [&](region const& r) { return r.handle == one.handle; });
    ucx.ok(ucp_mem_unmap(context, one.handle));
}

std::string worker::pack(region const& one) {
    void* key = nullptr;
    std::size_t size = 0;
    if (!ucx.ok(ucp_rkey_pack(context, one.handle, &key, &size))) throw cannot_go_on{};
    auto const address = reinterpret_cast<std::uint64_t>(one.address);
    std::string packed(sizeof address + size, '\0');
    std::memcpy(packed.data(), &address, sizeof address);
    std::memcpy(packed.data() + sizeof address, key, size);
    ucp_rkey_buffer_release(key);
    return packed;
}

remote_memory worker::unpack(int of_rank, std::string const& packed) {
    remote_memory there;
    std::memcpy(&there.address, packed.data(), sizeof there.address);
    ucs_status_t const status = ucp_ep_rkey_unpack(to(of_rank), packed.data() + sizeof there.address, &there.key);
    if (!ucx.ok(status)) throw cannot_go_on{};
    keys_.push_back(there.key);
    return there;
}

void worker::finish(std::source_location where) {
    meet();
    for (int n = 0; n < 20; ++n) progress();
    for (auto const& op : operations)
        ucx.check(op.calls <= (op.at_once ? 0 : 1), finding::leftover,
                  fmt::format("the callback of {} came {} times{}", op.name, op.calls,
                              op.at_once ? ", though the call had said that it was complete" : ""),
                  where);
    for (auto& op : operations) release(op);
    for (auto key : keys_) ucp_rkey_destroy(key);
    keys_.clear();
    for (std::size_t rank = 0; rank < peers.size(); ++rank)
        if (peers[rank] != nullptr) close(static_cast<int>(rank));
    meet(); // nobody destroys a worker that another one still closes an endpoint to
}

// ---- how an operation ended

// Of a tagged receive that was complete at once only param.recv_info tells, for which there is a test of its own (recv_info); of
// the data of an active message no request does.
bool completion_check::says_more() const {
    if (it_ == nullptr || it_->status != UCS_OK) return false;
    return it_->what == kind::tag ? !it_->at_once : it_->what != kind::am || it_->at_once || it_->calls > 0;
}

completion_check& completion_check::status(ucs_status_t expected) {
    if (it_ != nullptr)
        by_.ucx.check(
            it_->status == expected, finding::error,
            fmt::format("{} ended with {}, expected {}", it_->name, error_text(it_->status), error_text(expected)),
            where_);
    return *this;
}

completion_check& completion_check::received(std::size_t bytes) {
    if (it_ == nullptr) return *this;
    ok();
    if (!says_more()) return *this;
    std::size_t const said = it_->what == kind::tag ? it_->info.length : it_->length;
    by_.ucx.check(said == bytes, finding::count, fmt::format("{} says {} bytes, {} were sent", it_->name, said, bytes),
                  where_);
    return *this;
}

completion_check& completion_check::tag(ucp_tag_t expected) {
    if (says_more())
        by_.ucx.check(it_->info.sender_tag == expected, finding::tag,
                      fmt::format("{} says tag {:#x}, expected {:#x}", it_->name, it_->info.sender_tag, expected),
                      where_);
    return *this;
}

} // namespace assay::ucx
