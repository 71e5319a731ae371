// Stands for an MPI library that waits for libfabric: it opens a completion queue of its own and reads it.
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <string.h>

static struct fid_cq* queue;

int open_queue(void);
int open_queue(void) {
    struct fi_info *hints = fi_allocinfo(), *info = NULL;
    struct fi_cq_attr wanted = {.format = FI_CQ_FORMAT_TAGGED};
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    if (!hints) return -FI_ENOMEM;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("tcp"); // some others yield by themselves
    int error = fi_getinfo(FI_VERSION(1, 10), NULL, NULL, 0, hints, &info);
    if (!error) error = fi_fabric(info->fabric_attr, &fabric, NULL);
    if (!error) error = fi_domain(fabric, info, &domain, NULL);
    if (!error) error = fi_cq_open(domain, &wanted, &queue, NULL);
    fi_freeinfo(hints);
    fi_freeinfo(info);
    return error;
}

// How many of `times` reads found nothing.
int read_queue(int times, int with_source);
int read_queue(int times, int with_source) {
    int none = 0;
    for (int i = 0; i < times; ++i) {
        struct fi_cq_tagged_entry entry;
        fi_addr_t source;
        none += (with_source ? fi_cq_readfrom(queue, &entry, 1, &source) : fi_cq_read(queue, &entry, 1)) == -FI_EAGAIN;
    }
    return none;
}
