// The forms whose counts are MPI_Count (MPI-5.0 section 2.5.8 and chapter 3): with small counts they do what the others
// do; what an int cannot count they can.
#include "suites/p2p/exchange.hpp"
#include "suites/p2p/pair.hpp"

#include <array>
#include <fmt/format.h>

using namespace assay;
using namespace assay::p2p;

namespace {

using mode_kind = enum send_mode::kind;
using mode_start = enum send_mode::start;

enum class way { recv, irecv, recv_init, mrecv, imrecv };
axis<way> const ways("receive", {{{"recv_c", "MPI_Recv_c"}, way::recv},
                                 {{"irecv_c", "MPI_Irecv_c"}, way::irecv},
                                 {{"recv_init_c", "MPI_Recv_init_c"}, way::recv_init},
                                 {{"mrecv_c", "MPI_Mprobe, MPI_Mrecv_c"}, way::mrecv},
                                 {{"imrecv_c", "MPI_Mprobe, MPI_Imrecv_c"}, way::imrecv}});
bool posted_first(way w) { return w == way::irecv || w == way::recv_init; }

// Without those whose packed form some libraries cut in the wrong place: p2p.ring asks for that.
axis_use some_types() {
    return datatypes::of({"int", "byte", "double", "long_double", "vector_int", "indexed_int",
                          "resized_int_lb_positive", "zero_size", "subarray_c_int", "hvector_negative_short"});
}
axis_use some_counts() {
    return only(count_ladder(), [](count_value const& c) {
        return c.kind == count_value::unit::elements ? c.n != 2 && c.n != 7
                                                     : c.kind == count_value::unit::bytes_nearest && c.n != 64;
    });
}

int send_c(test_run& mpi, send_mode mode, buffer& out, int to, MPI_Request* request) {
    MPI_Count const n = mpi.count;
    int const tag = mpi.tag();
    if (mode.start == mode_start::blocking) switch (mode.kind) {
        case mode_kind::standard: return MPI_Send_c(out, n, mpi.type, to, tag, mpi.comm);
        case mode_kind::buffered: return MPI_Bsend_c(out, n, mpi.type, to, tag, mpi.comm);
        case mode_kind::synchronous: return MPI_Ssend_c(out, n, mpi.type, to, tag, mpi.comm);
        case mode_kind::ready: return MPI_Rsend_c(out, n, mpi.type, to, tag, mpi.comm);
        }
    if (mode.start == mode_start::nonblocking) switch (mode.kind) {
        case mode_kind::standard: return MPI_Isend_c(out, n, mpi.type, to, tag, mpi.comm, request);
        case mode_kind::buffered: return MPI_Ibsend_c(out, n, mpi.type, to, tag, mpi.comm, request);
        case mode_kind::synchronous: return MPI_Issend_c(out, n, mpi.type, to, tag, mpi.comm, request);
        case mode_kind::ready: return MPI_Irsend_c(out, n, mpi.type, to, tag, mpi.comm, request);
        }
    int code = MPI_ERR_INTERN;
    switch (mode.kind) {
    case mode_kind::standard: code = MPI_Send_init_c(out, n, mpi.type, to, tag, mpi.comm, request); break;
    case mode_kind::buffered: code = MPI_Bsend_init_c(out, n, mpi.type, to, tag, mpi.comm, request); break;
    case mode_kind::synchronous: code = MPI_Ssend_init_c(out, n, mpi.type, to, tag, mpi.comm, request); break;
    case mode_kind::ready: code = MPI_Rsend_init_c(out, n, mpi.type, to, tag, mpi.comm, request); break;
    }
    return code == MPI_SUCCESS ? MPI_Start(request) : code;
}

void expect_count_c(test_run& mpi, MPI_Status const& status) {
    MPI_Count const expected = mpi.map.size() == 0 ? 0 : mpi.count;
    MPI_Count got = -7;
    mpi.ok(MPI_Get_count_c(&status, mpi.type, &got));
    mpi.check(got == expected, finding::count,
              fmt::format("MPI_Get_count_c gives {}, expected {}", static_cast<long long>(got),
                          static_cast<long long>(expected)));
}

} // namespace

ASSAY_TEST(p2p, ring_large_count, requirements{"p2p.large.send", "p2p.large.recv", "p2p.large.get_count"},
           over(axis_use{&modes()}, axis_use{&ways}, communicators::few(), some_types(), some_counts()),
           needs_procedures({"MPI_Send_c", "MPI_Bsend_c", "MPI_Ssend_c", "MPI_Rsend_c", "MPI_Isend_c", "MPI_Ibsend_c",
                             "MPI_Issend_c", "MPI_Irsend_c", "MPI_Send_init_c", "MPI_Bsend_init_c", "MPI_Ssend_init_c",
                             "MPI_Rsend_init_c", "MPI_Recv_c", "MPI_Irecv_c", "MPI_Recv_init_c", "MPI_Mrecv_c",
                             "MPI_Imrecv_c", "MPI_Get_count_c"}),
           fits_memory(false),
           where(modes(), ways,
                 [](send_mode const& m, way w) {
                     return posted_first(w) || (m.kind != mode_kind::ready && !m.may_block());
                 }),
           thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const w = mpi.at(ways);
    auto const mode = mpi.at(modes());
    if (mode.kind == mode_kind::buffered) mpi.attach_buffer(1);
    auto &out = mpi.outgoing(p.to), &in = mpi.incoming();
    MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
    MPI_Message handle = MPI_MESSAGE_NULL;
    auto status = poisoned_status();
    if (w == way::irecv) mpi.ok(MPI_Irecv_c(in, mpi.count, mpi.type, p.from, mpi.tag(), mpi.comm, &receiving));
    if (w == way::recv_init) {
        mpi.ok(MPI_Recv_init_c(in, mpi.count, mpi.type, p.from, mpi.tag(), mpi.comm, &receiving));
        mpi.ok(MPI_Start(&receiving));
    }
    if (mode.kind == mode_kind::ready) await_receiver(mpi, p);
    mpi.ok(send_c(mpi, mode, out, p.to, &sending));
    if (w == way::mrecv || w == way::imrecv)
        mpi.ok(MPI_Mprobe(p.from, mpi.tag(), mpi.comm, &handle, MPI_STATUS_IGNORE));
    switch (w) {
    case way::recv: mpi.ok(MPI_Recv_c(in, mpi.count, mpi.type, p.from, mpi.tag(), mpi.comm, &status)); break;
    case way::mrecv: mpi.ok(MPI_Mrecv_c(in, mpi.count, mpi.type, &handle, &status)); break;
    case way::imrecv: mpi.ok(MPI_Imrecv_c(in, mpi.count, mpi.type, &handle, &receiving)); break;
    default: break;
    }
    if (w != way::recv && w != way::mrecv) mpi.ok(MPI_Wait(&receiving, &status));
    mpi.check(handle == MPI_MESSAGE_NULL, finding::request,
              "a matched receive must set the message handle to MPI_MESSAGE_NULL");
    mpi.ok(MPI_Wait(&sending, MPI_STATUS_IGNORE));
    mpi.expect(status).source(p.from).tag(mpi.tag()).count(mpi.elements).not_cancelled();
    expect_count_c(mpi, status);
    in.expect(mpi.key_from(p.from), mpi.elements, fmt::format("from rank {}", p.from));
    out.expect_unchanged();
    for (auto* request : {&sending, &receiving})
        if (*request != MPI_REQUEST_NULL) mpi.ok(MPI_Request_free(request));
}

namespace {
enum class exchange_call { sendrecv, replace, isendrecv, ireplace };
axis<exchange_call> const
    exchange_calls("call", {{{"sendrecv_c", "MPI_Sendrecv_c"}, exchange_call::sendrecv},
                            {{"sendrecv_replace_c", "MPI_Sendrecv_replace_c"}, exchange_call::replace},
                            {{"isendrecv_c", "MPI_Isendrecv_c"}, exchange_call::isendrecv},
                            {{"isendrecv_replace_c", "MPI_Isendrecv_replace_c"}, exchange_call::ireplace}});
} // namespace

ASSAY_TEST(p2p, sendrecv_large_count, requirements{"p2p.large.sendrecv", "p2p.large.get_count"},
           over(axis_use{&exchange_calls}, communicators::few(), some_types(), some_counts()),
           needs_procedures({"MPI_Sendrecv_c", "MPI_Sendrecv_replace_c", "MPI_Isendrecv_c", "MPI_Isendrecv_replace_c",
                             "MPI_Get_count_c"}),
           fits_memory(false), thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const c = mpi.at(exchange_calls);
    bool const replace = c == exchange_call::replace || c == exchange_call::ireplace;
    auto& out = mpi.outgoing(p.to);
    auto& in = replace ? out : mpi.incoming();
    MPI_Count const n = mpi.count;
    int const tag = mpi.tag();
    MPI_Request request = MPI_REQUEST_NULL;
    auto status = poisoned_status();
    switch (c) {
    case exchange_call::sendrecv:
        mpi.ok(MPI_Sendrecv_c(out, n, mpi.type, p.to, tag, in, n, mpi.type, p.from, tag, mpi.comm, &status));
        break;
    case exchange_call::replace:
        mpi.ok(MPI_Sendrecv_replace_c(out, n, mpi.type, p.to, tag, p.from, tag, mpi.comm, &status));
        break;
    case exchange_call::isendrecv:
        mpi.ok(MPI_Isendrecv_c(out, n, mpi.type, p.to, tag, in, n, mpi.type, p.from, tag, mpi.comm, &request));
        mpi.ok(MPI_Wait(&request, &status));
        break;
    case exchange_call::ireplace:
        mpi.ok(MPI_Isendrecv_replace_c(out, n, mpi.type, p.to, tag, p.from, tag, mpi.comm, &request));
        mpi.ok(MPI_Wait(&request, &status));
        break;
    }
    mpi.check_null(request);
    if (c == exchange_call::sendrecv || c == exchange_call::replace) {
        mpi.expect(status).source(p.from).tag(tag).count(mpi.elements).not_cancelled();
        expect_count_c(mpi, status);
    }
    in.expect(mpi.key_from(p.from), mpi.elements, fmt::format("from rank {}", p.from));
    if (!replace) out.expect_unchanged();
}

namespace {
axis<long long> const huge("elements", {{{"2147483647", "the largest int"}, 2147483647},
                                        {{"2147483648", "one more"}, 2147483648},
                                        {{"4294967296", "two to the 32nd"}, 4294967296},
                                        {{"1000000000007", "a million millions"}, 1000000000007}});
axis<int> const widths("type", {{{"byte", "MPI_BYTE"}, 1}, {{"int", "MPI_INT"}, 4}});
} // namespace

// A status can hold what no memory can: it is set by hand (section 13.3).
ASSAY_TEST(p2p, get_count_large, requirements{"p2p.status.get_count_undefined", "p2p.large.get_count"},
           over(axis_use{&huge}, axis_use{&widths}), needs_procedures({"MPI_Get_count_c", "MPI_Status_set_elements_c"}),
           thread_safe{}) {
    auto const elements = static_cast<MPI_Count>(mpi.at(huge));
    auto const type = mpi.at(widths) == 1 ? MPI_BYTE : MPI_INT;
    auto status = poisoned_status();
    mpi.ok(MPI_Status_set_elements_c(&status, type, elements));
    MPI_Count large = -7;
    mpi.ok(MPI_Get_count_c(&status, type, &large));
    mpi.check(large == elements, finding::count,
              fmt::format("MPI_Get_count_c gives {}, expected {}", static_cast<long long>(large),
                          static_cast<long long>(elements)));
    int small = -7;
    mpi.ok(MPI_Get_count(&status, type, &small));
    int const expected = elements <= 2147483647 ? static_cast<int>(elements) : MPI_UNDEFINED;
    mpi.check(small == expected, finding::count,
              fmt::format("MPI_Get_count gives {} for {} elements, expected {}", small,
                          static_cast<long long>(elements),
                          expected == MPI_UNDEFINED ? "MPI_UNDEFINED" : "this number"));
}

// A count that no int can hold, of a datatype without data: nothing is transferred, but the count must not be cut.
ASSAY_TEST(p2p, large_count_no_data, requirements{"p2p.large.no_data"}, over(axis_use{&huge}, communicators::few()),
           needs_procedures({"MPI_Send_c", "MPI_Recv_c", "MPI_Isend_c", "MPI_Get_count_c"}), thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const elements = static_cast<MPI_Count>(mpi.at(huge));
    MPI_Datatype none = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_contiguous(0, MPI_INT, &none));
    mpi.ok(MPI_Type_commit(&none));
    auto in = room(2);
    int out = 7;
    MPI_Request request = MPI_REQUEST_NULL;
    auto status = poisoned_status();
    mpi.ok(MPI_Isend_c(&out, elements, none, p.to, mpi.tag(), mpi.comm, &request));
    mpi.ok(MPI_Recv_c(in.data(), elements, none, p.from, mpi.tag(), mpi.comm, &status));
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Count got = -7;
    mpi.ok(MPI_Get_count_c(&status, none, &got));
    mpi.check(
        got == 0, finding::count,
        fmt::format("MPI_Get_count_c gives {} for a datatype without data, expected 0", static_cast<long long>(got)));
    mpi.expect(status).source(p.from).tag(mpi.tag());
    mpi.check(in == room(2), finding::data, "a message without data changed the receive buffer");
    mpi.ok(MPI_Type_free(&none));
}
