/* A completion queue that was opened with FI_WAIT_FD has no descriptor.
 *
 * build: cc ofi_wait_fd.c -lfabric
 * run: ./a.out
 * fi_cq(3), FI_WAIT_FD: "the CQ's wait object is a file descriptor", which FI_GETWAIT returns.
 * expected: OK.
 * observed: udp;ofi_rxd of libfabric 1.17.0: fi_cq_open succeeds, FI_GETWAIT returns -FI_ENOSYS.
 */
// run: np=1 timeout=20 framework=ofi
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <string.h>

struct end {
    struct fi_info* info;
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    struct fid_av* av;
    struct fid_cq* cq;
    struct fid_ep* ep;
};

static int open_end(struct end* it, char const* provider) {
    struct fi_info* hints = fi_allocinfo();
    hints->fabric_attr->prov_name = strdup(provider);
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_TAGGED;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    struct fi_av_attr av = {0};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD};
    int there = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &it->info) == 0;
    return there && !fi_fabric(it->info->fabric_attr, &it->fabric, NULL) &&
           !fi_domain(it->fabric, it->info, &it->domain, NULL) && !fi_av_open(it->domain, &av, &it->av, NULL) &&
           !fi_cq_open(it->domain, &cq, &it->cq, NULL) && !fi_endpoint(it->domain, it->info, &it->ep, NULL) &&
           !fi_ep_bind(it->ep, &it->av->fid, 0) && !fi_ep_bind(it->ep, &it->cq->fid, FI_TRANSMIT | FI_RECV) &&
           !fi_enable(it->ep);
}

int main(void) {
    struct end it = {0};
    int fd = -1;
    if (!open_end(&it, "udp;ofi_rxd")) return puts("N/A: the provider udp;ofi_rxd is not there"), 0;
    int code = fi_control(&it.cq->fid, FI_GETWAIT, &fd);
    if (code == 0 && fd >= 0) return puts("OK"), 0;
    printf("BUG: udp;ofi_rxd: FI_GETWAIT of a queue with FI_WAIT_FD returns %d (%s)\n", code, fi_strerror(-code));
    return 1;
}
