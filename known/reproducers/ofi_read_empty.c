/* A read of no bytes from remote memory never completes.
 *
 * build: cc ofi_read_empty.c -lfabric
 * run: ./a.out
 * fi_cq(3): "Completion queues are used to report events associated with data transfers"; fi_rma(3) excepts no length.
 * expected: OK.
 * observed: udp;ofi_rxd of libfabric 1.17.0: fi_read of 8 bytes has a completion, fi_read of none has not.
 */
// run: np=1 timeout=20 framework=ofi
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct fid_av* av;
static struct fid_cq* cq;
static struct fid_ep* ep;
static struct fid_mr *remote, *local;
static char memory[4096], here[4096];
static fi_addr_t self;
static uint64_t at; /* what addresses of the remote memory begin with */

static int open_all(char const* provider) {
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    struct fi_av_attr how = {0};
    struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_MSG};
    char name[256];
    size_t length = sizeof name;
    if (fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info)) return 0;
    if (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) at = (uint64_t)(uintptr_t)memory;
    return !fi_fabric(info->fabric_attr, &fabric, NULL) && !fi_domain(fabric, info, &domain, NULL) &&
           !fi_av_open(domain, &how, &av, NULL) && !fi_cq_open(domain, &queue, &cq, NULL) &&
           !fi_endpoint(domain, info, &ep, NULL) && !fi_ep_bind(ep, &av->fid, 0) &&
           !fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) && !fi_enable(ep) && !fi_getname(&ep->fid, name, &length) &&
           fi_av_insert(av, name, 1, &self, 0, NULL) == 1 &&
           !fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_READ, 0, 1, 0, &remote, NULL) &&
           !fi_mr_reg(domain, here, sizeof here, FI_READ, 0, 2, 0, &local, NULL);
}

/* Whether a read of so many bytes completes within two seconds. */
static int reads(size_t size) {
    static struct fi_context2 context;
    struct fi_cq_msg_entry entry;
    time_t const until = time(NULL) + 3;
    ssize_t begun = -FI_EAGAIN;
    while (time(NULL) < until) {
        if (begun) begun = fi_read(ep, here, size, fi_mr_desc(local), self, at, fi_mr_key(remote), &context);
        if (fi_cq_read(cq, &entry, 1) == 1) return 1;
    }
    return 0;
}

int main(void) {
    if (!open_all("udp;ofi_rxd") || !reads(8)) {
        puts("N/A: the provider is not there, or nothing can be read");
        return 0;
    }
    int const empty = reads(0);
    puts(empty ? "OK" : "BUG: udp;ofi_rxd: fi_read of 0 bytes has no completion");
    return !empty;
}
