// Notes each call of libfabric, so that the event log can name the last one of a rank that died or hangs. To be included after
// the headers of libfabric.
#pragma once
#include "framework/process/calls.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

namespace assay::fabric {
template <class Result> Result noted(Result result) {
    last_call.inside = false;
    return result;
}
} // namespace assay::fabric

#define ASSAY_NOTED(name, ...) (::assay::entering(#name), ::assay::fabric::noted(name(__VA_ARGS__)))
#define fi_getinfo(...) ASSAY_NOTED(fi_getinfo, __VA_ARGS__)
#define fi_fabric(...) ASSAY_NOTED(fi_fabric, __VA_ARGS__)
#define fi_domain(...) ASSAY_NOTED(fi_domain, __VA_ARGS__)
#define fi_endpoint(...) ASSAY_NOTED(fi_endpoint, __VA_ARGS__)
#define fi_enable(...) ASSAY_NOTED(fi_enable, __VA_ARGS__)
#define fi_close(...) ASSAY_NOTED(fi_close, __VA_ARGS__)
#define fi_control(...) ASSAY_NOTED(fi_control, __VA_ARGS__)
#define fi_ep_bind(...) ASSAY_NOTED(fi_ep_bind, __VA_ARGS__)
#define fi_av_open(...) ASSAY_NOTED(fi_av_open, __VA_ARGS__)
#define fi_av_insert(...) ASSAY_NOTED(fi_av_insert, __VA_ARGS__)
#define fi_av_remove(...) ASSAY_NOTED(fi_av_remove, __VA_ARGS__)
#define fi_av_lookup(...) ASSAY_NOTED(fi_av_lookup, __VA_ARGS__)
#define fi_av_straddr(...) ASSAY_NOTED(fi_av_straddr, __VA_ARGS__)
#define fi_cq_open(...) ASSAY_NOTED(fi_cq_open, __VA_ARGS__)
#define fi_cq_read(...) ASSAY_NOTED(fi_cq_read, __VA_ARGS__)
#define fi_cq_readfrom(...) ASSAY_NOTED(fi_cq_readfrom, __VA_ARGS__)
#define fi_cq_readerr(...) ASSAY_NOTED(fi_cq_readerr, __VA_ARGS__)
#define fi_cq_sread(...) ASSAY_NOTED(fi_cq_sread, __VA_ARGS__)
#define fi_cq_signal(...) ASSAY_NOTED(fi_cq_signal, __VA_ARGS__)
#define fi_cntr_open(...) ASSAY_NOTED(fi_cntr_open, __VA_ARGS__)
#define fi_cntr_read(...) ASSAY_NOTED(fi_cntr_read, __VA_ARGS__)
#define fi_cntr_readerr(...) ASSAY_NOTED(fi_cntr_readerr, __VA_ARGS__)
#define fi_cntr_add(...) ASSAY_NOTED(fi_cntr_add, __VA_ARGS__)
#define fi_cntr_set(...) ASSAY_NOTED(fi_cntr_set, __VA_ARGS__)
#define fi_cntr_adderr(...) ASSAY_NOTED(fi_cntr_adderr, __VA_ARGS__)
#define fi_cntr_wait(...) ASSAY_NOTED(fi_cntr_wait, __VA_ARGS__)
#define fi_eq_open(...) ASSAY_NOTED(fi_eq_open, __VA_ARGS__)
#define fi_eq_read(...) ASSAY_NOTED(fi_eq_read, __VA_ARGS__)
#define fi_eq_readerr(...) ASSAY_NOTED(fi_eq_readerr, __VA_ARGS__)
#define fi_eq_write(...) ASSAY_NOTED(fi_eq_write, __VA_ARGS__)
#define fi_eq_sread(...) ASSAY_NOTED(fi_eq_sread, __VA_ARGS__)
#define fi_mr_reg(...) ASSAY_NOTED(fi_mr_reg, __VA_ARGS__)
#define fi_mr_regattr(...) ASSAY_NOTED(fi_mr_regattr, __VA_ARGS__)
#define fi_mr_bind(...) ASSAY_NOTED(fi_mr_bind, __VA_ARGS__)
#define fi_mr_enable(...) ASSAY_NOTED(fi_mr_enable, __VA_ARGS__)
#define fi_mr_refresh(...) ASSAY_NOTED(fi_mr_refresh, __VA_ARGS__)
#define fi_cancel(...) ASSAY_NOTED(fi_cancel, __VA_ARGS__)
#define fi_getname(...) ASSAY_NOTED(fi_getname, __VA_ARGS__)
#define fi_getopt(...) ASSAY_NOTED(fi_getopt, __VA_ARGS__)
#define fi_setopt(...) ASSAY_NOTED(fi_setopt, __VA_ARGS__)
#define fi_send(...) ASSAY_NOTED(fi_send, __VA_ARGS__)
#define fi_sendv(...) ASSAY_NOTED(fi_sendv, __VA_ARGS__)
#define fi_sendmsg(...) ASSAY_NOTED(fi_sendmsg, __VA_ARGS__)
#define fi_senddata(...) ASSAY_NOTED(fi_senddata, __VA_ARGS__)
#define fi_inject(...) ASSAY_NOTED(fi_inject, __VA_ARGS__)
#define fi_injectdata(...) ASSAY_NOTED(fi_injectdata, __VA_ARGS__)
#define fi_recv(...) ASSAY_NOTED(fi_recv, __VA_ARGS__)
#define fi_recvv(...) ASSAY_NOTED(fi_recvv, __VA_ARGS__)
#define fi_recvmsg(...) ASSAY_NOTED(fi_recvmsg, __VA_ARGS__)
#define fi_tsend(...) ASSAY_NOTED(fi_tsend, __VA_ARGS__)
#define fi_tsendv(...) ASSAY_NOTED(fi_tsendv, __VA_ARGS__)
#define fi_tsendmsg(...) ASSAY_NOTED(fi_tsendmsg, __VA_ARGS__)
#define fi_tsenddata(...) ASSAY_NOTED(fi_tsenddata, __VA_ARGS__)
#define fi_tinject(...) ASSAY_NOTED(fi_tinject, __VA_ARGS__)
#define fi_tinjectdata(...) ASSAY_NOTED(fi_tinjectdata, __VA_ARGS__)
#define fi_trecv(...) ASSAY_NOTED(fi_trecv, __VA_ARGS__)
#define fi_trecvv(...) ASSAY_NOTED(fi_trecvv, __VA_ARGS__)
#define fi_trecvmsg(...) ASSAY_NOTED(fi_trecvmsg, __VA_ARGS__)
#define fi_read(...) ASSAY_NOTED(fi_read, __VA_ARGS__)
#define fi_readv(...) ASSAY_NOTED(fi_readv, __VA_ARGS__)
#define fi_readmsg(...) ASSAY_NOTED(fi_readmsg, __VA_ARGS__)
#define fi_write(...) ASSAY_NOTED(fi_write, __VA_ARGS__)
#define fi_writev(...) ASSAY_NOTED(fi_writev, __VA_ARGS__)
#define fi_writemsg(...) ASSAY_NOTED(fi_writemsg, __VA_ARGS__)
#define fi_writedata(...) ASSAY_NOTED(fi_writedata, __VA_ARGS__)
#define fi_inject_write(...) ASSAY_NOTED(fi_inject_write, __VA_ARGS__)
#define fi_inject_writedata(...) ASSAY_NOTED(fi_inject_writedata, __VA_ARGS__)
#define fi_atomic(...) ASSAY_NOTED(fi_atomic, __VA_ARGS__)
#define fi_atomicv(...) ASSAY_NOTED(fi_atomicv, __VA_ARGS__)
#define fi_atomicmsg(...) ASSAY_NOTED(fi_atomicmsg, __VA_ARGS__)
#define fi_inject_atomic(...) ASSAY_NOTED(fi_inject_atomic, __VA_ARGS__)
#define fi_fetch_atomic(...) ASSAY_NOTED(fi_fetch_atomic, __VA_ARGS__)
#define fi_compare_atomic(...) ASSAY_NOTED(fi_compare_atomic, __VA_ARGS__)
#define fi_atomicvalid(...) ASSAY_NOTED(fi_atomicvalid, __VA_ARGS__)
#define fi_fetch_atomicvalid(...) ASSAY_NOTED(fi_fetch_atomicvalid, __VA_ARGS__)
#define fi_compare_atomicvalid(...) ASSAY_NOTED(fi_compare_atomicvalid, __VA_ARGS__)
#define fi_query_atomic(...) ASSAY_NOTED(fi_query_atomic, __VA_ARGS__)
#define fi_trywait(...) ASSAY_NOTED(fi_trywait, __VA_ARGS__)
#define fi_shutdown(...) ASSAY_NOTED(fi_shutdown, __VA_ARGS__)
