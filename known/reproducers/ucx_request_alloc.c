/* ucp_request_alloc allocates nothing.
 *
 * build: cc ucx_request_alloc.c -lucp -lucs
 * run: ./a.out
 * ucp_request_alloc: "This routine creates request which may be used in functions ucp_tag_send_nbx, …".
 * expected: OK.
 * observed: UCX 1.13.1 returns NULL, always.
 */
// run: np=1 timeout=20 framework=ucx
#include <stdio.h>
#include <ucp/api/ucp.h>

int main(void) {
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t none = {0};
    ucp_context_h context;
    ucp_worker_h worker;
    if (ucp_init(&params, NULL, &context) != UCS_OK || ucp_worker_create(context, &none, &worker) != UCS_OK) return 2;
    void* request = ucp_request_alloc(worker);
    puts(request ? "OK" : "BUG: ucp_request_alloc returns NULL");
    return !request;
}
