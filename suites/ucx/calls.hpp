// Notes each call of UCX, so that the event log can name the last one of a rank that died or hangs. To be included after the
// headers of UCX.
#pragma once
#include "framework/process/calls.hpp"

#include <ucp/api/ucp.h>

namespace assay::ucx {
template <class Result> Result noted(Result result) {
    last_call.inside = false;
    return result;
}
inline void noted() { last_call.inside = false; }
} // namespace assay::ucx

#define ASSAY_NOTED(name, ...) (::assay::entering(#name), ::assay::ucx::noted(name(__VA_ARGS__)))
#define ASSAY_NOTED_VOID(name, ...) (::assay::entering(#name), name(__VA_ARGS__), ::assay::ucx::noted())
#define ucp_config_read(...) ASSAY_NOTED(ucp_config_read, __VA_ARGS__)
#define ucp_config_modify(...) ASSAY_NOTED(ucp_config_modify, __VA_ARGS__)
#define ucp_init(...) ASSAY_NOTED(ucp_init, __VA_ARGS__)
#define ucp_context_query(...) ASSAY_NOTED(ucp_context_query, __VA_ARGS__)
#define ucp_worker_create(...) ASSAY_NOTED(ucp_worker_create, __VA_ARGS__)
#define ucp_worker_query(...) ASSAY_NOTED(ucp_worker_query, __VA_ARGS__)
#define ucp_worker_progress(...) ASSAY_NOTED(ucp_worker_progress, __VA_ARGS__)
#define ucp_worker_get_efd(...) ASSAY_NOTED(ucp_worker_get_efd, __VA_ARGS__)
#define ucp_worker_arm(...) ASSAY_NOTED(ucp_worker_arm, __VA_ARGS__)
#define ucp_worker_wait(...) ASSAY_NOTED(ucp_worker_wait, __VA_ARGS__)
#define ucp_worker_signal(...) ASSAY_NOTED(ucp_worker_signal, __VA_ARGS__)
#define ucp_worker_fence(...) ASSAY_NOTED(ucp_worker_fence, __VA_ARGS__)
#define ucp_worker_flush_nbx(...) ASSAY_NOTED(ucp_worker_flush_nbx, __VA_ARGS__)
#define ucp_worker_set_am_recv_handler(...) ASSAY_NOTED(ucp_worker_set_am_recv_handler, __VA_ARGS__)
#define ucp_ep_create(...) ASSAY_NOTED(ucp_ep_create, __VA_ARGS__)
#define ucp_ep_close_nbx(...) ASSAY_NOTED(ucp_ep_close_nbx, __VA_ARGS__)
#define ucp_ep_flush_nbx(...) ASSAY_NOTED(ucp_ep_flush_nbx, __VA_ARGS__)
#define ucp_mem_map(...) ASSAY_NOTED(ucp_mem_map, __VA_ARGS__)
#define ucp_mem_query(...) ASSAY_NOTED(ucp_mem_query, __VA_ARGS__)
#define ucp_mem_unmap(...) ASSAY_NOTED(ucp_mem_unmap, __VA_ARGS__)
#define ucp_rkey_pack(...) ASSAY_NOTED(ucp_rkey_pack, __VA_ARGS__)
#define ucp_ep_rkey_unpack(...) ASSAY_NOTED(ucp_ep_rkey_unpack, __VA_ARGS__)
#define ucp_rkey_ptr(...) ASSAY_NOTED(ucp_rkey_ptr, __VA_ARGS__)
#define ucp_tag_send_nbx(...) ASSAY_NOTED(ucp_tag_send_nbx, __VA_ARGS__)
#define ucp_tag_send_sync_nbx(...) ASSAY_NOTED(ucp_tag_send_sync_nbx, __VA_ARGS__)
#define ucp_tag_recv_nbx(...) ASSAY_NOTED(ucp_tag_recv_nbx, __VA_ARGS__)
#define ucp_tag_probe_nb(...) ASSAY_NOTED(ucp_tag_probe_nb, __VA_ARGS__)
#define ucp_tag_msg_recv_nbx(...) ASSAY_NOTED(ucp_tag_msg_recv_nbx, __VA_ARGS__)
#define ucp_tag_recv_request_test(...) ASSAY_NOTED(ucp_tag_recv_request_test, __VA_ARGS__)
#define ucp_stream_send_nbx(...) ASSAY_NOTED(ucp_stream_send_nbx, __VA_ARGS__)
#define ucp_stream_recv_nbx(...) ASSAY_NOTED(ucp_stream_recv_nbx, __VA_ARGS__)
#define ucp_stream_recv_data_nb(...) ASSAY_NOTED(ucp_stream_recv_data_nb, __VA_ARGS__)
#define ucp_stream_recv_request_test(...) ASSAY_NOTED(ucp_stream_recv_request_test, __VA_ARGS__)
#define ucp_stream_worker_poll(...) ASSAY_NOTED(ucp_stream_worker_poll, __VA_ARGS__)
#define ucp_am_send_nbx(...) ASSAY_NOTED(ucp_am_send_nbx, __VA_ARGS__)
#define ucp_am_recv_data_nbx(...) ASSAY_NOTED(ucp_am_recv_data_nbx, __VA_ARGS__)
#define ucp_put_nbx(...) ASSAY_NOTED(ucp_put_nbx, __VA_ARGS__)
#define ucp_put_nbi(...) ASSAY_NOTED(ucp_put_nbi, __VA_ARGS__)
#define ucp_get_nbx(...) ASSAY_NOTED(ucp_get_nbx, __VA_ARGS__)
#define ucp_get_nbi(...) ASSAY_NOTED(ucp_get_nbi, __VA_ARGS__)
#define ucp_atomic_op_nbx(...) ASSAY_NOTED(ucp_atomic_op_nbx, __VA_ARGS__)
#define ucp_request_check_status(...) ASSAY_NOTED(ucp_request_check_status, __VA_ARGS__)
#define ucp_request_alloc(...) ASSAY_NOTED(ucp_request_alloc, __VA_ARGS__)
#define ucp_cleanup(...) ASSAY_NOTED_VOID(ucp_cleanup, __VA_ARGS__)
#define ucp_worker_destroy(...) ASSAY_NOTED_VOID(ucp_worker_destroy, __VA_ARGS__)
#define ucp_worker_release_address(...) ASSAY_NOTED_VOID(ucp_worker_release_address, __VA_ARGS__)
#define ucp_ep_print_info(...) ASSAY_NOTED_VOID(ucp_ep_print_info, __VA_ARGS__)
#define ucp_rkey_buffer_release(...) ASSAY_NOTED_VOID(ucp_rkey_buffer_release, __VA_ARGS__)
#define ucp_rkey_destroy(...) ASSAY_NOTED_VOID(ucp_rkey_destroy, __VA_ARGS__)
#define ucp_request_cancel(...) ASSAY_NOTED_VOID(ucp_request_cancel, __VA_ARGS__)
#define ucp_request_free(...) ASSAY_NOTED_VOID(ucp_request_free, __VA_ARGS__)
#define ucp_stream_data_release(...) ASSAY_NOTED_VOID(ucp_stream_data_release, __VA_ARGS__)
#define ucp_am_data_release(...) ASSAY_NOTED_VOID(ucp_am_data_release, __VA_ARGS__)
