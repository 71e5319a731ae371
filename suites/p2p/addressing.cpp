// Keller: "Ring Send Bottom" and "Ring Send Pack" — the same ring, the message named by absolute addresses (MPI-5.0
// section 5.1.12) or packed by hand (section 5.2).
#include "suites/p2p/exchange.hpp"

#include <algorithm>

using namespace assay;

namespace {

enum class ends { both, sender, receiver };
axis<ends> const bottoms("bottom", {{{"both", "MPI_BOTTOM on both sides"}, ends::both},
                                    {{"sender", "MPI_BOTTOM on the sending side"}, ends::sender},
                                    {{"receiver", "MPI_BOTTOM on the receiving side"}, ends::receiver}});
axis<ends> const packers("packed", {{{"both", "sent and received as MPI_PACKED"}, ends::both},
                                    {{"sender", "packed, received in its datatype"}, ends::sender},
                                    {{"receiver", "sent in its datatype, received as MPI_PACKED"}, ends::receiver}});

// All of a buffer as one element at MPI_BOTTOM.
MPI_Datatype absolute(test_run& mpi, buffer& b) {
    MPI_Aint address = 0;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int const length = mpi.count;
    mpi.ok(MPI_Get_address(b.address(), &address));
    mpi.ok(MPI_Type_create_hindexed(1, &length, &address, mpi.type, &made));
    mpi.ok(MPI_Type_commit(&made));
    return made;
}

layout const& bytes_layout() {
    static basic_type const byte = [] {
        basic_type b;
        b.name = "byte";
        b.size = b.significant = 1;
        b.keep.fill(0xff);
        return b;
    }();
    static layout const map = layout::of(byte);
    return map;
}

int packed_size(test_run& mpi, int count) {
    int size = -1;
    mpi.ok(MPI_Pack_size(count, mpi.type, mpi.comm, &size));
    return size;
}

} // namespace

ASSAY_TEST(p2p, ring_bottom, requirements{"datatype.bottom", "datatype.get_address", "p2p.send.data"},
           over(axis_use{&bottoms}, communicators::intra(), datatypes::all(), counts::ladder(), placements::all()),
           fits_memory(false), thread_safe{}) {
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank - 1 + mpi.size) % mpi.size;
    auto &out = mpi.outgoing(to), &in = mpi.incoming();
    auto const side = mpi.at(bottoms);
    MPI_Datatype out_type = MPI_DATATYPE_NULL, in_type = MPI_DATATYPE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    auto status = poisoned_status();
    if (side != ends::sender) {
        in_type = absolute(mpi, in);
        mpi.ok(MPI_Irecv(MPI_BOTTOM, 1, in_type, from, mpi.tag(), mpi.comm, &request));
    } else {
        mpi.ok(MPI_Irecv(in, mpi.count, mpi.type, from, mpi.tag(), mpi.comm, &request));
    }
    if (side != ends::receiver) {
        out_type = absolute(mpi, out);
        mpi.ok(MPI_Send(MPI_BOTTOM, 1, out_type, to, mpi.tag(), mpi.comm));
    } else {
        mpi.ok(MPI_Send(out, mpi.count, mpi.type, to, mpi.tag(), mpi.comm));
    }
    mpi.ok(MPI_Wait(&request, &status));
    mpi.check_null(request);
    mpi.expect(status).source(from).tag(mpi.tag()).count(mpi.elements).not_cancelled();
    in.expect(mpi.key_from(from), mpi.elements, "from rank " + std::to_string(from));
    out.expect_unchanged();
    for (auto* made : {&out_type, &in_type})
        if (*made != MPI_DATATYPE_NULL) mpi.ok(MPI_Type_free(made));
}

ASSAY_TEST(p2p, ring_pack, requirements{"datatype.pack", "datatype.unpack", "datatype.pack_size", "p2p.packed"},
           over(axis_use{&packers}, communicators::intra(), datatypes::all(), counts::ladder(), placements::all()),
           fits_memory(false), thread_safe{}) {
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank - 1 + mpi.size) % mpi.size;
    auto const way = mpi.at(packers);
    auto &out = mpi.outgoing(to), &in = mpi.incoming();
    // Two pieces, so that the position has to be right; a message of one element is packed at once.
    int const first = mpi.count / 2, rest = mpi.count - first;
    auto const extent = mpi.map.extent();
    int const room = packed_size(mpi, first) + packed_size(mpi, rest);
    auto const space = static_cast<std::size_t>(std::max(room, 1));
    auto &packed_out = mpi.bytes(bytes_layout(), space), &packed_in = mpi.bytes(bytes_layout(), space);
    auto status = poisoned_status();
    MPI_Request request = MPI_REQUEST_NULL;
    if (way == ends::sender) mpi.ok(MPI_Irecv(in, mpi.count, mpi.type, from, mpi.tag(), mpi.comm, &request));
    else mpi.ok(MPI_Irecv(packed_in, room, MPI_PACKED, from, mpi.tag(), mpi.comm, &request));
    if (way == ends::receiver) {
        mpi.ok(MPI_Send(out, mpi.count, mpi.type, to, mpi.tag(), mpi.comm));
    } else {
        int position = 0;
        mpi.ok(MPI_Pack(out, first, mpi.type, packed_out, room, &position, mpi.comm));
        mpi.ok(MPI_Pack(static_cast<char*>(out.address()) + first * extent, rest, mpi.type, packed_out, room, &position,
                        mpi.comm));
        auto const least = static_cast<int>(mpi.elements * mpi.map.size());
        mpi.check(position >= least && position <= room, finding::value,
                  "MPI_Pack ended at position " + std::to_string(position) + ", expected " + std::to_string(least) +
                      " to " + std::to_string(room) + " (MPI_Pack_size)");
        mpi.ok(MPI_Send(packed_out, position, MPI_PACKED, to, mpi.tag(), mpi.comm));
    }
    mpi.ok(MPI_Wait(&request, &status));
    mpi.check_null(request);
    mpi.expect(status).source(from).tag(mpi.tag()).not_cancelled();
    if (way == ends::sender) {
        mpi.expect(status).count(mpi.elements);
    } else {
        int got = -1, position = 0;
        mpi.ok(MPI_Get_count(&status, MPI_PACKED, &got));
        if (mpi.check(got >= 0 && got <= room, finding::count,
                      "MPI_Get_count of MPI_PACKED gives " + std::to_string(got) + " with room for " +
                          std::to_string(room))) {
            mpi.ok(MPI_Unpack(packed_in, got, &position, in, first, mpi.type, mpi.comm));
            mpi.ok(MPI_Unpack(packed_in, got, &position, static_cast<char*>(in.address()) + first * extent, rest,
                              mpi.type, mpi.comm));
            mpi.check(position == got, finding::value,
                      "MPI_Unpack of all elements ended at position " + std::to_string(position) + " of " +
                          std::to_string(got));
        }
    }
    in.expect(mpi.key_from(from), mpi.elements, "from rank " + std::to_string(from));
    out.expect_unchanged();
}
