/* An address that was inserted is not found.
 *
 * build: cc ofi_av_lookup.c -lfabric
 * run: ./a.out
 * fi_av(3), fi_av_lookup: "returns the address stored in the address vector that corresponds to the given fi_addr".
 * expected: OK.
 * observed: udp;ofi_rxd of libfabric 1.17.0: -FI_ENODATA, as long as nothing was sent there.
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
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED};
    int there = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &it->info) == 0;
    return there && !fi_fabric(it->info->fabric_attr, &it->fabric, NULL) &&
           !fi_domain(it->fabric, it->info, &it->domain, NULL) && !fi_av_open(it->domain, &av, &it->av, NULL) &&
           !fi_cq_open(it->domain, &cq, &it->cq, NULL) && !fi_endpoint(it->domain, it->info, &it->ep, NULL) &&
           !fi_ep_bind(it->ep, &it->av->fid, 0) && !fi_ep_bind(it->ep, &it->cq->fid, FI_TRANSMIT | FI_RECV) &&
           !fi_enable(it->ep);
}

int main(void) {
    struct end it = {0};
    char name[256], found[256];
    size_t size = sizeof name, found_size = sizeof found;
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    if (!open_end(&it, "udp;ofi_rxd")) return puts("N/A: the provider udp;ofi_rxd is not there"), 0;
    if (fi_getname(&it.ep->fid, name, &size) || fi_av_insert(it.av, name, 1, &number, 0, NULL) != 1) return 2;
    int code = fi_av_lookup(it.av, number, found, &found_size);
    if (code == 0 && found_size == size && !memcmp(name, found, size)) return puts("OK"), 0;
    printf("BUG: udp;ofi_rxd: fi_av_lookup of an address that was inserted returns %d (%s)\n", code,
           fi_strerror(-code));
    return 1;
}
