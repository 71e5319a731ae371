// The names of the planted faults: the values of ASSAY_FAULT. What each does is said in faults.toml, which has an
// entry for every name but `none` (all the bookkeeping, no harm).
#pragma once

// clang-format off
#define ASSAY_FAULTS(F) \
    F(none) \
    /* statuses */ \
    F(status_source) F(status_tag) F(status_count_plus_one) F(status_cancelled) F(status_zero_count_source) \
    F(status_source_rank_above_1) F(status_source_inter) F(status_proc_null_unwritten) F(status_proc_null_tag) F(status_sendrecv_tag) \
    F(status_waitall_swapped) F(status_empty_source) F(status_empty_count) \
    F(get_count_undefined) F(get_elements_plus_one) F(set_elements_minus_one) F(set_cancelled_ignored) \
    /* requests */ \
    F(wait_keeps_request) F(test_keeps_request) F(waitany_index) F(waitsome_index) F(testsome_outcount) \
    F(test_null_false) \
    /* received data */ \
    F(last_byte_lost) F(last_element_lost) F(first_byte_flipped) F(beyond_8k_zeroed) F(beyond_64k_zeroed) \
    F(exactly_8k_wrong) F(every_97th_message) F(gaps_overwritten) F(byte_past_end) F(byte_before_start) \
    F(pair_index_lost) F(derived_last_member_lost) F(long_double_int_wrong) F(short_wrong) F(rank_above_1_wrong) \
    F(self_wrong) F(inter_wrong) F(bottom_wrong) F(irecv_wrong) F(mrecv_wrong) F(persistent_second_start) \
    F(partition_lost) F(sendrecv_replace_old) F(overtaking) \
    /* sends */ \
    F(bsend_truncates) F(ssend_truncates) F(rsend_truncates) F(isend_truncates) F(persistent_send_truncates) \
    F(send_buffer_modified) F(stray_message) F(wrong_tag) \
    /* probe, cancel, pack, topology */ \
    F(probe_count) F(iprobe_without_message) F(mprobe_tag) F(test_cancelled_inverted) F(cancel_ignored) F(cancel_lies) \
    F(pack_last_byte) F(pack_position) F(unpack_position_ignored) F(cart_shift_swapped) \
    /* the process */ \
    F(error_code) F(refusal) F(fd_leak) F(stderr_noise) F(crash_segv) F(crash_abort) F(hang_send) F(early_exit) F(mpi_abort)
// clang-format on

namespace assay_faults {

enum class fault {
#define F(name) name,
    ASSAY_FAULTS(F)
#undef F
        unset
};

} // namespace assay_faults
