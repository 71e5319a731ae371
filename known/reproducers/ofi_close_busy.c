/* A completion queue that an endpoint uses cannot be closed, and is damaged when somebody tries.
 *
 * build: cc ofi_close_busy.c -lfabric
 * run: ./a.out
 * fi_cq(3), fi_close: "If resources are still associated with the CQ when attempting to close, the call will return -FI_EBUSY".
 * expected: OK.
 * observed: net, tcp;ofi_rxm and net;ofi_rxm of libfabric 1.17.0: closed again after the endpoint, it frees memory twice (SIGABRT).
 */
// run: np=1 timeout=20 framework=ofi
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
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
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED};
    int there = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &it->info) == 0;
    return there && !fi_fabric(it->info->fabric_attr, &it->fabric, NULL) &&
           !fi_domain(it->fabric, it->info, &it->domain, NULL) && !fi_av_open(it->domain, &av, &it->av, NULL) &&
           !fi_cq_open(it->domain, &cq, &it->cq, NULL) && !fi_endpoint(it->domain, it->info, &it->ep, NULL) &&
           !fi_ep_bind(it->ep, &it->av->fid, 0) && !fi_ep_bind(it->ep, &it->cq->fid, FI_TRANSMIT | FI_RECV) &&
           !fi_enable(it->ep);
}

int main(void) {
    char const* const providers[] = {"net", "tcp;ofi_rxm", "net;ofi_rxm"};
    int tried = 0, wrong = 0;
    signal(SIGABRT, SIG_DFL); // a library of one of the providers would write a file here
    for (unsigned k = 0; k < sizeof providers / sizeof *providers; ++k) {
        struct end it = {0};
        if (!open_end(&it, providers[k])) continue;
        ++tried;
        int busy = fi_close(&it.cq->fid), ep = fi_close(&it.ep->fid);
        int again = busy ? fi_close(&it.cq->fid) : 0;
        if (busy == -FI_EBUSY && !ep && !again) continue;
        wrong = 1;
        printf("BUG: %s: fi_close of the queue returns %d, of the endpoint %d, of the queue again %d\n", providers[k],
               busy, ep, again);
    }
    if (!tried) puts("N/A: none of the providers is there");
    else if (!wrong) puts("OK");
    return wrong;
}
