// libassay_ucx_faults.so: preloaded before UCX, plants the fault that ASSAY_FAULT names between a program and UCX.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <iterator>
#include <list>
#include <string_view>
#include <ucp/api/ucp.h>
#include <unistd.h>
#include <vector>

namespace {

bool planted(std::string_view name) {
    static char const* const chosen = std::getenv("ASSAY_FAULT");
    return chosen != nullptr && name == chosen;
}

template <class Function> Function next(char const* name) {
    auto* const found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) {
        std::fprintf(stderr, "libassay_ucx_faults: there is no %s behind this library: is libucp linked?\n", name);
        std::abort();
    }
    return reinterpret_cast<Function>(found);
}

// The function of UCX that ours stands before.
#define REAL(name) static auto const real = next<decltype(&(name))>(#name)

// A copy of the first `size` bytes with a wrong one at its end. Copies live on: UCX may read them later.
void const* spoilt(void const* buffer, std::size_t size) {
    static std::list<std::vector<unsigned char>> copies;
    auto const* const bytes = static_cast<unsigned char const*>(buffer);
    auto& copy = copies.emplace_back(bytes, bytes + size);
    copy.back() ^= 1;
    return copy.data();
}

bool of_bytes(ucp_request_param_t const* param) { return !(param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE); }

ucp_request_param_t changed(ucp_request_param_t const* param) {
    ucp_request_param_t copy = *param;
    if (planted("immediate_anyway")) copy.op_attr_mask &= ~static_cast<std::uint32_t>(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    return copy;
}

// ---- tagged messages

struct held_send {
    ucp_ep_h ep;
    std::vector<unsigned char> bytes;
    ucp_tag_t tag;
};
std::vector<held_send> held, sent_late;

struct wrapped {
    ucp_tag_recv_nbx_callback_t callback;
    void* user_data;
};
void twice(void* request, ucs_status_t status, ucp_tag_recv_info_t const* info, void* user_data) {
    auto const* const it = static_cast<wrapped*>(user_data);
    it->callback(request, status, info, it->user_data);
    it->callback(request, status, info, it->user_data);
}
void of_another(void*, ucs_status_t status, ucp_tag_recv_info_t const* info, void* user_data) {
    auto const* const it = static_cast<wrapped*>(user_data);
    it->callback(nullptr, status, info, it->user_data);
}

ucs_status_t untold(ucs_status_t status) {
    return status == UCS_ERR_MESSAGE_TRUNCATED && planted("truncation_untold") ? UCS_OK : status;
}

} // namespace

extern "C" {

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, void const* buffer, std::size_t count, ucp_tag_t tag,
                                  ucp_request_param_t const* param) {
    REAL(ucp_tag_send_nbx);
    auto const copy = changed(param);
    if (of_bytes(param) && count > 0 && planted("last_byte_wrong")) buffer = spoilt(buffer, count);
    if (of_bytes(param) && count > 0 && planted("last_byte_lost")) --count;
    if (of_bytes(param) && planted("overtaking") && !(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) {
        auto const* const bytes = static_cast<unsigned char const*>(buffer);
        if (held.empty()) {
            held.push_back({ep, {bytes, bytes + count}, tag});
            return nullptr;
        }
        auto* const returned = real(ep, buffer, count, tag, &copy);
        ucp_request_param_t plain{};
        for (auto const& one : held) real(one.ep, one.bytes.data(), one.bytes.size(), one.tag, &plain);
        // Their bytes live on: UCX may read them later.
        std::move(held.begin(), held.end(), std::back_inserter(sent_late));
        held.clear();
        return returned;
    }
    return real(ep, buffer, count, tag, &copy);
}

ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, void const* buffer, std::size_t count, ucp_tag_t tag,
                                       ucp_request_param_t const* param) {
    REAL(ucp_tag_send_sync_nbx);
    if (planted("sync_forgotten")) return ucp_tag_send_nbx(ep, buffer, count, tag, param);
    return real(ep, buffer, count, tag, param);
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* buffer, std::size_t count, ucp_tag_t tag, ucp_tag_t mask,
                                  ucp_request_param_t const* param) {
    REAL(ucp_tag_recv_nbx);
    auto copy = changed(param);
    if (planted("mask_forgotten")) mask = 0;
    if (planted("mask_exact")) mask = ~ucp_tag_t{0};
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK &&
        (planted("callback_twice") || planted("callback_of_another"))) {
        static std::deque<wrapped> all; // whose addresses stay
        copy.user_data = &all.emplace_back(wrapped{param->cb.recv, param->user_data});
        copy.cb.recv = planted("callback_twice") ? twice : of_another;
    }
    return real(worker, buffer, count, tag, mask, &copy);
}

ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag, ucp_tag_t mask, int remove,
                                   ucp_tag_recv_info_t* info) {
    REAL(ucp_tag_probe_nb);
    auto* const found = real(worker, tag, mask, planted("probe_takes") ? 1 : planted("probe_keeps") ? 0 : remove, info);
    if (found != nullptr && planted("probe_length")) ++info->length;
    return found;
}

ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void* buffer, std::size_t count, ucp_tag_message_h message,
                                      ucp_request_param_t const* param) {
    REAL(ucp_tag_msg_recv_nbx);
    return real(worker, buffer, count > 0 && planted("probed_short") ? count - 1 : count, message, param);
}

// ---- requests

ucs_status_t ucp_request_check_status(void* request) {
    REAL(ucp_request_check_status);
    return untold(real(request));
}

ucs_status_t ucp_tag_recv_request_test(void* request, ucp_tag_recv_info_t* info) {
    REAL(ucp_tag_recv_request_test);
    ucs_status_t const status = real(request, info);
    if (planted("info_length")) ++info->length;
    if (planted("info_tag")) ++info->sender_tag;
    return untold(status);
}

void ucp_request_cancel(ucp_worker_h worker, void* request) {
    REAL(ucp_request_cancel);
    if (!planted("cancel_ignored")) real(worker, request);
}

void ucp_request_free(void* request) {
    REAL(ucp_request_free);
    if (!planted("free_ignored")) real(request);
}

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t* attributes) {
    REAL(ucp_context_query);
    ucs_status_t const status = real(context, attributes);
    if (planted("request_larger")) attributes->request_size -= 64;
    return status;
}

// ---- streams

ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, void const* buffer, std::size_t count,
                                     ucp_request_param_t const* param) {
    REAL(ucp_stream_send_nbx);
    return real(ep, count > 0 && planted("stream_wrong") ? spoilt(buffer, count) : buffer, count, param);
}

ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep, void* buffer, std::size_t count, std::size_t* length,
                                     ucp_request_param_t const* param) {
    REAL(ucp_stream_recv_nbx);
    auto copy = *param;
    if (planted("wait_all_ignored")) copy.flags = 0;
    return real(ep, buffer, count, length, &copy);
}

ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep, std::size_t* length) {
    REAL(ucp_stream_recv_data_nb);
    auto* const data = real(ep, length);
    if (data != nullptr && planted("stream_data_longer")) ++*length;
    return data;
}

ssize_t ucp_stream_worker_poll(ucp_worker_h worker, ucp_stream_poll_ep_t* found, std::size_t most, unsigned flags) {
    REAL(ucp_stream_worker_poll);
    ssize_t const n = real(worker, found, most, flags);
    if (n > 0 && planted("stream_of_another")) found->user_data = nullptr;
    return n;
}

// ---- active messages

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, void const* header, std::size_t header_length,
                                 void const* buffer, std::size_t count, ucp_request_param_t const* param) {
    REAL(ucp_am_send_nbx);
    auto copy = *param;
    if (planted("am_no_reply")) copy.flags &= ~static_cast<std::uint32_t>(UCP_AM_SEND_FLAG_REPLY);
    if (planted("am_protocol_ignored"))
        copy.flags &= ~static_cast<std::uint32_t>(UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_RNDV);
    if (planted("am_other_handler")) id ^= 1;
    if (planted("am_header_cut") && header_length > 0) --header_length;
    if (planted("am_wrong") && count > 0) buffer = spoilt(buffer, count);
    return real(ep, id, header, header_length, buffer, count, &copy);
}

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker, ucp_am_handler_param_t const* param) {
    REAL(ucp_worker_set_am_recv_handler);
    auto copy = *param;
    if (planted("am_not_persistent")) copy.flags &= ~static_cast<std::uint32_t>(UCP_AM_FLAG_PERSISTENT_DATA);
    return real(worker, &copy);
}

ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void* descriptor, void* buffer, std::size_t count,
                                      ucp_request_param_t const* param) {
    REAL(ucp_am_recv_data_nbx);
    static std::list<std::vector<unsigned char>> elsewhere;
    if (planted("am_received_elsewhere") && count > 0) buffer = elsewhere.emplace_back(count).data();
    return real(worker, descriptor, buffer, count, param);
}

// ---- remote memory

struct held_put {
    ucp_ep_h ep;
    void const* buffer;
    std::size_t count;
    std::uint64_t address;
    ucp_rkey_h key;
};
static std::vector<held_put> late_puts;
// Longer than the other side can be kept from looking on a busy machine.
constexpr std::chrono::seconds held_back{1};
static std::chrono::steady_clock::time_point release;

static void put_now() {
    REAL(ucp_put_nbx);
    ucp_request_param_t const plain{};
    for (auto const& one : late_puts)
        if (auto* const request = real(one.ep, one.buffer, one.count, one.address, one.key, &plain);
            request != nullptr && !UCS_PTR_IS_ERR(request))
            ucp_request_free(request);
    late_puts.clear();
}

unsigned ucp_worker_progress(ucp_worker_h worker) {
    REAL(ucp_worker_progress);
    if (!late_puts.empty() && std::chrono::steady_clock::now() > release) put_now();
    return real(worker);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, void const* buffer, std::size_t count, std::uint64_t address, ucp_rkey_h key,
                             ucp_request_param_t const* param) {
    REAL(ucp_put_nbx);
    if ((planted("put_delayed") || planted("flush_skipped")) && count > 64) {
        late_puts.push_back({ep, buffer, count, address, key});
        release = std::chrono::steady_clock::now() + held_back;
        return nullptr;
    }
    if (planted("put_short") && count > 0) --count;
    return real(ep, buffer, count, planted("put_shifted") ? address + 1 : address, key, param);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void* buffer, std::size_t count, std::uint64_t address, ucp_rkey_h key,
                             ucp_request_param_t const* param) {
    REAL(ucp_get_nbx);
    return real(ep, buffer, planted("get_short") && count > 0 ? count - 1 : count, address, key, param);
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, ucp_request_param_t const* param) {
    REAL(ucp_ep_flush_nbx);
    return planted("flush_skipped") ? nullptr : real(ep, param);
}

ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker, ucp_request_param_t const* param) {
    REAL(ucp_worker_flush_nbx);
    return planted("flush_skipped") ? nullptr : real(worker, param);
}

ucs_status_t ucp_rkey_ptr(ucp_rkey_h key, std::uint64_t address, void** pointer) {
    REAL(ucp_rkey_ptr);
    static std::vector<unsigned char> other(8192);
    ucs_status_t const status = real(key, address, pointer);
    if (planted("pointer_elsewhere")) *pointer = other.data();
    return planted("pointer_elsewhere") ? UCS_OK : status;
}

ucs_status_t ucp_mem_map(ucp_context_h context, ucp_mem_map_params_t const* params, ucp_mem_h* made) {
    REAL(ucp_mem_map);
    auto copy = *params;
    if (planted("map_elsewhere") && copy.flags & UCP_MEM_MAP_FIXED) {
        copy.flags &= ~static_cast<unsigned>(UCP_MEM_MAP_FIXED);
        copy.field_mask &= ~static_cast<std::uint64_t>(UCP_MEM_MAP_PARAM_FIELD_ADDRESS);
    }
    ucs_status_t const status = real(context, &copy, made);
    if (status == UCS_OK || !planted("map_anything")) return status;
    copy.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    copy.length = 4096;
    copy.flags = UCP_MEM_MAP_ALLOCATE;
    return real(context, &copy, made);
}

ucs_status_t ucp_mem_query(ucp_mem_h memory, ucp_mem_attr_t* attributes) {
    REAL(ucp_mem_query);
    ucs_status_t const status = real(memory, attributes);
    if (planted("query_short")) attributes->length = 0;
    return status;
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t op, void const* operand, std::size_t count,
                                   std::uint64_t address, ucp_rkey_h key, ucp_request_param_t const* param) {
    REAL(ucp_atomic_op_nbx);
    auto copy = *param;
    static std::uint64_t other = 0;
    static int adds = 0;
    if (planted("reply_elsewhere") && copy.op_attr_mask & UCP_OP_ATTR_FIELD_REPLY_BUFFER) copy.reply_buffer = &other;
    if (planted("cswap_always") && op == UCP_ATOMIC_OP_CSWAP) op = UCP_ATOMIC_OP_SWAP;
    if (planted("operand_wrong")) operand = spoilt(operand, 4); // wrong in its upper bytes, where it has more
    if (planted("add_lost") && ++adds % 50 == 0) return nullptr;
    return real(ep, op, operand, count, address, key, &copy);
}

// ---- wakeup

ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int* descriptor) {
    REAL(ucp_worker_get_efd);
    if (int ends[2]; planted("descriptor_dead") && pipe(ends) == 0) {
        *descriptor = ends[0]; // never readable
        return UCS_OK;
    }
    return real(worker, descriptor);
}

ucs_status_t ucp_worker_wait(ucp_worker_h worker) {
    REAL(ucp_worker_wait);
    if (planted("wait_oversleeps")) usleep(1'500'000);
    if (planted("wait_returns")) return UCS_OK;
    return real(worker);
}

ucs_status_t ucp_worker_signal(ucp_worker_h worker) {
    REAL(ucp_worker_signal);
    return planted("signal_lost") ? UCS_OK : real(worker);
}

// ---- contexts, workers, endpoints

ucs_status_t ucp_config_modify(ucp_config_t* config, char const* name, char const* value) {
    REAL(ucp_config_modify);
    return real(config, name, planted("tls_ignored") && std::string_view(name) == "TLS" ? "all" : value);
}

void ucp_worker_destroy(ucp_worker_h worker) {
    REAL(ucp_worker_destroy);
    if (planted("descriptor_leak")) dup(0);
    late_puts.clear(); // their endpoints go with the worker
    real(worker);
}

static std::deque<ucp_err_handler_t> handlers; // whose addresses stay
static void fail_twice(void* argument, ucp_ep_h ep, ucs_status_t status) {
    auto const* const it = static_cast<ucp_err_handler_t*>(argument);
    it->cb(it->arg, ep, status);
    it->cb(it->arg, ep, status);
}

ucs_status_t ucp_ep_create(ucp_worker_h worker, ucp_ep_params_t const* params, ucp_ep_h* ep) {
    REAL(ucp_ep_create);
    auto copy = *params;
    if (params->field_mask & UCP_EP_PARAM_FIELD_ERR_HANDLER && planted("error_twice"))
        copy.err_handler = {fail_twice, &handlers.emplace_back(params->err_handler)};
    return real(worker, &copy, ep);
}

ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep, ucp_request_param_t const* param) {
    REAL(ucp_ep_close_nbx);
    auto copy = *param;
    if (planted("force_ignored")) copy.flags = 0;
    if (planted("force_always")) copy.flags = UCP_EP_CLOSE_FLAG_FORCE;
    return real(ep, &copy);
}

} // extern "C"
