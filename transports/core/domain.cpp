#include "transports/core/domain.hpp"

#include "transports/core/av.hpp"
#include "transports/core/cntr.hpp"
#include "transports/core/cq.hpp"
#include "transports/core/ep.hpp"
#include "transports/core/eq.hpp"
#include "transports/core/mr.hpp"

#include <rdma/fi_collective.h>

namespace assay::ofi {
namespace {

domain& of(fid_domain* it) { return static_cast<domain&>(*it); }

int close_fabric(fid* it) {
    auto& object = object_of<fabric, fid_fabric>(it);
    if (object.users > 0) return -FI_EBUSY;
    delete &object;
    return 0;
}

int close_domain(fid* it) {
    auto& object = object_of<domain, fid_domain>(it);
    if (object.users > 0) return -FI_EBUSY;
    --object.in->users;
    delete &object;
    return 0;
}

// Says for each queue whether a program may sleep on its descriptor.
int trywait(fid_fabric*, fid** fids, int count) {
    for (int k = 0; k < count; ++k) {
        if (fids[k]->fclass != FI_CLASS_CQ) continue;
        if (!object_of<completion_queue, fid_cq>(fids[k]).may_sleep()) return -FI_EAGAIN;
    }
    return 0;
}

fi_ops fabric_fid_ops{sizeof(fi_ops), close_fabric, not_offered, not_offered, not_offered, not_offered, not_offered};
fi_ops_fabric fabric_ops{.size = sizeof(fi_ops_fabric),
                         .domain = open_domain,
                         .passive_ep = not_offered,
                         .eq_open = open_eq,
                         .wait_open = not_offered,
                         .trywait = trywait,
                         .domain2 = not_offered};
fi_ops domain_fid_ops{sizeof(fi_ops), close_domain, not_offered, not_offered, not_offered, not_offered, not_offered};
fi_ops_domain domain_ops{
    .size = sizeof(fi_ops_domain),
    .av_open = [](fid_domain* in, fi_av_attr* attributes, fid_av** made,
                  void* context) { return guarded([&] { return open_av(of(in), attributes, made, context); }); },
    .cq_open = [](fid_domain* in, fi_cq_attr* attributes, fid_cq** made,
                  void* context) { return guarded([&] { return open_cq(of(in), attributes, made, context); }); },
    .endpoint = [](fid_domain* in, fi_info* info, fid_ep** made,
                   void* context) { return guarded([&] { return open_ep(of(in), info, made, context); }); },
    .scalable_ep = not_offered,
    .cntr_open = [](fid_domain* in, fi_cntr_attr* attributes, fid_cntr** made,
                    void* context) { return guarded([&] { return open_cntr(of(in), attributes, made, context); }); },
    .poll_open = not_offered,
    .stx_ctx = not_offered,
    .srx_ctx = not_offered,
    .query_atomic =
        [](fid_domain*, fi_datatype type, fi_op op, fi_atomic_attr* about, std::uint64_t flags) {
            return configured().atomic ? query_atomic(type, op, about, flags) : -FI_EOPNOTSUPP;
        },
    .query_collective = not_offered,
    .endpoint2 = not_offered,
};

} // namespace

int open_fabric(fi_fabric_attr*, fid_fabric** made, void* context) {
    return guarded([&] {
        auto* const object = new fabric;
        initialize(static_cast<fid_fabric&>(*object), FI_CLASS_FABRIC, context, fabric_fid_ops);
        object->ops = &fabric_ops;
        *made = object;
        return 0;
    });
}

int open_domain(fid_fabric* in, fi_info* info, fid_domain** made, void* context) {
    return guarded([&] {
        auto object = std::make_unique<domain>();
        initialize(static_cast<fid_domain&>(*object), FI_CLASS_DOMAIN, context, domain_fid_ops);
        object->ops = &domain_ops;
        object->mr = &mr_ops;
        object->in = &static_cast<fabric&>(*in);
        int const mode = info->domain_attr->mr_mode;
        object->virt_addr = mode == FI_MR_BASIC || mode & FI_MR_VIRT_ADDR;
        object->prov_key = mode == FI_MR_BASIC || mode & FI_MR_PROV_KEY;
        object->allocated = mode == FI_MR_BASIC || mode & FI_MR_ALLOCATED;
        // The mode bit is that of programs that speak of FI_MR_BASIC or FI_MR_SCALABLE.
        object->local = mode & FI_MR_LOCAL || info->mode & FI_LOCAL_MR;
        auto const& about = *info->domain_attr;
        if (about.control_progress == FI_PROGRESS_AUTO || about.data_progress == FI_PROGRESS_AUTO)
            object->mover = std::make_unique<progress_thread>(*object);
        ++object->in->users;
        *made = object.release();
        return 0;
    });
}

} // namespace assay::ofi
