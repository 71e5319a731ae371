#include "suites/ucx/messages.hpp"

#include "suites/ucx/calls.hpp"

namespace assay::ucx {

axis<send_call> const& send_calls() {
    static axis<send_call> const axis("mode", {{{"send", "ucp_tag_send_nbx"}, send_call::send},
                                               {{"send_sync", "ucp_tag_send_sync_nbx"}, send_call::sync}});
    return axis;
}

axis<settings> const& protocols() {
    static axis<settings> const axis(
        "protocol", {{{"default", "as UCX chooses"}, {}},
                     {{"eager", "RNDV_THRESH=inf"}, {{"RNDV_THRESH", "inf"}}},
                     {{"rndv", "RNDV_THRESH=0"}, {{"RNDV_THRESH", "0"}}},
                     {{"rndv_get", "RNDV_SCHEME=get_zcopy"}, {{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "get_zcopy"}}},
                     {{"rndv_put", "RNDV_SCHEME=put_zcopy"}, {{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "put_zcopy"}}}});
    return axis;
}

wish with_protocol(std::uint64_t features, settings const& protocol) {
    wish what;
    what.features = features;
    what.settings = protocol;
    return what;
}

axis<shape> const& shapes() {
    static axis<shape> const axis("layout", {{{"bytes", "ucp_dt_make_contig(1), which is the default"}, shape::bytes},
                                             {{"elements", "one element: ucp_dt_make_contig(size)"}, shape::elements},
                                             {{"pieces", "ucp_dt_make_iov()"}, shape::pieces}});
    return axis;
}

described describe(operation& op, buffer& all, shape form) {
    auto* const bytes = static_cast<char*>(all.address());
    std::size_t const size = all.count();
    if (form == shape::bytes || size == 0) return {bytes, size};
    op.param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    if (form == shape::elements) {
        op.param.datatype = ucp_dt_make_contig(size);
        return {bytes, 1};
    }
    // The list has to stay as long as the operation. Its middle is no natural border, and one piece is empty.
    std::size_t const first = (size + 1) / 3;
    op.pieces = {{bytes, first}, {bytes + first, 0}, {bytes + first, size - first}};
    op.param.datatype = ucp_dt_make_iov();
    return {op.pieces.data(), op.pieces.size()};
}

operation& send(worker& by, send_call call, buffer& out, int to, ucp_tag_t tag, completion how, shape form,
                std::source_location where) {
    auto& op = by.start(call == send_call::send ? "ucp_tag_send_nbx" : "ucp_tag_send_sync_nbx", kind::send, how);
    auto const [address, count] = describe(op, out, form);
    by.posted(op,
              call == send_call::send ? ucp_tag_send_nbx(by.to(to), address, count, tag, &op.param)
                                      : ucp_tag_send_sync_nbx(by.to(to), address, count, tag, &op.param),
              where);
    return op;
}

operation& receive(worker& by, buffer& in, ucp_tag_t tag, ucp_tag_t mask, completion how, shape form,
                   std::source_location where) {
    auto& op = by.start("ucp_tag_recv_nbx", kind::tag, how);
    auto const [address, count] = describe(op, in, form);
    by.posted(op, ucp_tag_recv_nbx(by.handle, address, count, tag, mask, &op.param), where);
    return op;
}

} // namespace assay::ucx
