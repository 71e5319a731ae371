/* A receive that is complete at once does not say what it has received.
 *
 * build: cc ucx_recv_info.c -lucp -lucs
 * run: ./a.out
 * ucp_tag_recv_nbx, param.recv_info.tag_info: "the value to which it points is updated with the information about the received message".
 * expected: OK.
 * observed: UCX 1.13.1 leaves it as it was.
 */
// run: np=1 timeout=20 framework=ucx
#include <stdio.h>
#include <ucp/api/ucp.h>

int main(void) {
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t none = {0};
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t* address;
    size_t size;
    ucp_ep_h self;
    if (ucp_init(&params, NULL, &context) != UCS_OK || ucp_worker_create(context, &none, &worker) != UCS_OK) return 2;
    if (ucp_worker_get_address(worker, &address, &size) != UCS_OK) return 2;
    ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
    if (ucp_ep_create(worker, &to, &self) != UCS_OK) return 2;
    char sent = 1, got = 0;
    ucp_request_param_t plain = {0};
    ucp_tag_recv_info_t seen, said = {0};
    ucs_status_ptr_t send = ucp_tag_send_nbx(self, &sent, 1, 7, &plain);
    for (int k = 0; k < 1000000 && !ucp_tag_probe_nb(worker, 7, ~0ull, 0, &seen); ++k) ucp_worker_progress(worker);
    ucp_request_param_t with_info = {.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO, .recv_info.tag_info = &said};
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(worker, &got, 1, 7, ~0ull, &with_info);
    if (receive || got != 1) return puts("N/A: the receive is not complete at once"), 0;
    if (said.length == 1 && said.sender_tag == 7) return puts("OK"), 0;
    printf("BUG: length %zu and tag %llu, not 1 and 7\n", said.length, (unsigned long long)said.sender_tag);
    (void)send;
    return 1;
}
