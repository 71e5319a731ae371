// Keller: "Status" — what a status says of a message to oneself, and that an ignored status does no harm.
#include "framework/mpi/run.hpp"
using namespace assay;

namespace {
// Without pair types, about whose number of basic elements libraries disagree: env.get_elements asks for that.
bool simple(datatype const& type) {
    for (auto const* word : {"2int", "_int", "mix", "padded", "nested"})
        if (type.name.find(word) != std::string::npos) return false;
    return true;
}
} // namespace

ASSAY_TEST(
    env, status, requirements{"p2p.status.fields", "p2p.status.get_count", "p2p.status.ignore"},
    over(communicators::any(), datatypes::all(), counts::ladder(), placements::all()), fits_memory(false),
    note{"status of a message to oneself over MPI_COMM_SELF; the communicator axis is where the test is called from"},
    thread_safe{}) {
    // MPI_COMM_NULL and intercommunicators have no rank of oneself: the message goes over MPI_COMM_SELF there.
    bool const own = mpi.comm != MPI_COMM_NULL && !mpi.inter;
    auto const comm = own ? mpi.comm : MPI_COMM_SELF;
    int const me = own ? mpi.rank : 0;
    for (int round = 0; round < 2; ++round) {
        auto const key = mpi.key(mpi.side, me, mpi.side, me, round);
        auto &out = mpi.incoming(), &in = mpi.incoming();
        out.fill(key);
        MPI_Request send = MPI_REQUEST_NULL;
        auto status = poisoned_status();
        mpi.ok(MPI_Isend(out, mpi.count, mpi.type, me, mpi.tag(round), comm, &send));
        mpi.ok(MPI_Recv(in, mpi.count, mpi.type, me, mpi.tag(round), comm, round == 0 ? &status : MPI_STATUS_IGNORE));
        mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
        mpi.check_null(send);
        if (round == 0)
            mpi.expect(status).source(me).tag(mpi.tag(round)).count(mpi.elements).not_cancelled().error_untouched();
        in.expect(key, mpi.elements, "from oneself");
        out.expect_unchanged();
    }
}

ASSAY_TEST(env, status_set, requirements{"status.set_elements", "status.set_cancelled"},
           over(communicators::any(), only(type_axis(), simple), counts::ladder()), thread_safe{}) {
    auto status = poisoned_status();
    // MPI_Status_set_elements counts basic elements (section 13.3); a datatype without data has none to set.
    auto const parts = mpi.elements * mpi.map.elements();
    mpi.ok(MPI_Status_set_elements(&status, mpi.type, static_cast<int>(parts)));
    mpi.ok(MPI_Status_set_cancelled(&status, 0));
    mpi.expect(status).count(mpi.elements).not_cancelled();
    mpi.ok(MPI_Status_set_cancelled(&status, 1));
    int flag = 0;
    mpi.ok(MPI_Test_cancelled(&status, &flag));
    mpi.check(flag != 0, finding::cancelled, "MPI_Test_cancelled gives false after MPI_Status_set_cancelled(true)");
}

// MPI_Get_elements has a test of its own: it is wrong in several libraries, which must not hide what else they do.
ASSAY_TEST(env, get_elements, requirements{"p2p.status.get_elements"},
           over(datatypes::all(),
                only(count_ladder(), [](count_value const& c) { return c.kind == count_value::unit::elements; })),
           thread_safe{}) {
    auto const key = mpi.key(0, 0, 0, 0, 0);
    auto &out = mpi.incoming(), &in = mpi.incoming();
    out.fill(key);
    auto status = poisoned_status();
    mpi.ok(MPI_Sendrecv(out, mpi.count, mpi.type, 0, mpi.tag(), in, mpi.count, mpi.type, 0, mpi.tag(), MPI_COMM_SELF,
                        &status));
    in.expect(key, mpi.elements, "from oneself");
    auto const expected = static_cast<int>(mpi.elements * mpi.map.elements());
    int got = -1;
    mpi.ok(MPI_Get_elements(&status, mpi.type, &got));
    mpi.check(got == expected, finding::count,
              "MPI_Get_elements gives " + std::to_string(got) + ", expected " + std::to_string(expected));
}
