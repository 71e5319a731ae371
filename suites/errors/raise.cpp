// Where an error goes that a call finds: to the handler of the object that the call, or its request, refers to, and of
// MPI_COMM_SELF where there is none (MPI-5.0 section 9.3). Which errors are found is the library's affair.
#include "suites/errors/object.hpp"

#include <array>
#include <fmt/format.h>

using namespace assay;
using errors::kind;
using errors::object;

namespace {

enum class error {
    send_rank,
    bcast_root,
    allreduce_op,
    comm_split,
    wait_truncated,
    waitall_truncated,
    testany_truncated,
    put_rank,
    lock_type,
    seek_whence,
    write_count,
    set_view_datarep,
    type_count,
    group_rank,
    info_key,
    null_comm,
    recv_rank,
    isend_rank,
    send_init_rank,
    irecv_rank,
    recv_init_rank,
    sendrecv_rank,
    probe_rank,
    iprobe_rank,
    mprobe_rank,
    improbe_rank,
    ibcast_root,
    bcast_init_root,
    cart_dims,
    get_rank,
    accumulate_rank,
    rput_rank,
    win_flush_rank
};
axis<error> const places(
    "error",
    {{{"send_rank", "MPI_Send to a rank that does not exist"}, error::send_rank},
     {{"bcast_root", "MPI_Bcast from a root that does not exist"}, error::bcast_root},
     {{"allreduce_op", "MPI_Allreduce with MPI_OP_NULL"}, error::allreduce_op},
     {{"comm_split", "MPI_Comm_split with a negative color"}, error::comm_split},
     {{"wait", "MPI_Wait for a receive that is too short"}, error::wait_truncated},
     {{"waitall", "MPI_Waitall with a receive that is too short"}, error::waitall_truncated},
     {{"testany", "MPI_Testany with a receive that is too short"}, error::testany_truncated},
     {{"put_rank", "MPI_Put to a rank that does not exist"}, error::put_rank},
     {{"lock_type", "MPI_Win_lock of no such kind"}, error::lock_type},
     {{"seek_whence", "MPI_File_seek from nowhere", needs_procedures({"MPI_File_open"})}, error::seek_whence},
     {{"write_count", "MPI_File_write of -1 elements", needs_procedures({"MPI_File_open"})}, error::write_count},
     {{"datarep", "MPI_File_set_view with an unknown data representation", needs_procedures({"MPI_File_open"})},
      error::set_view_datarep},
     {{"type_count", "MPI_Type_contiguous of -1 elements"}, error::type_count},
     {{"group_rank", "MPI_Group_incl of a rank that does not exist"}, error::group_rank},
     {{"info_key", "MPI_Info_delete of an unknown key"}, error::info_key},
     {{"null_comm", "MPI_Comm_size of MPI_COMM_NULL"}, error::null_comm},
     {{"recv_rank", "MPI_Recv from a rank that does not exist"}, error::recv_rank},
     {{"isend_rank", "MPI_Isend to a rank that does not exist"}, error::isend_rank},
     {{"send_init_rank", "MPI_Send_init to a rank that does not exist"}, error::send_init_rank},
     {{"irecv_rank", "MPI_Irecv from a rank that does not exist"}, error::irecv_rank},
     {{"recv_init_rank", "MPI_Recv_init from a rank that does not exist"}, error::recv_init_rank},
     {{"sendrecv_rank", "MPI_Sendrecv to a rank that does not exist"}, error::sendrecv_rank},
     {{"probe_rank", "MPI_Probe of a rank that does not exist"}, error::probe_rank},
     {{"iprobe_rank", "MPI_Iprobe of a rank that does not exist"}, error::iprobe_rank},
     {{"mprobe_rank", "MPI_Mprobe of a rank that does not exist"}, error::mprobe_rank},
     {{"improbe_rank", "MPI_Improbe of a rank that does not exist"}, error::improbe_rank},
     {{"ibcast_root", "MPI_Ibcast from a root that does not exist"}, error::ibcast_root},
     {{"bcast_init_root", "MPI_Bcast_init from a root that does not exist", needs_procedures({"MPI_Bcast_init"})},
      error::bcast_init_root},
     {{"cart_dims", "MPI_Cart_create of more processes than there are"}, error::cart_dims},
     {{"get_rank", "MPI_Get from a rank that does not exist"}, error::get_rank},
     {{"accumulate_rank", "MPI_Accumulate to a rank that does not exist"}, error::accumulate_rank},
     {{"rput_rank", "MPI_Rput to a rank that does not exist"}, error::rput_rank},
     {{"win_flush_rank", "MPI_Win_flush of a rank that does not exist"}, error::win_flush_rank}});

kind kind_of(error e) {
    switch (e) {
    case error::put_rank:
    case error::get_rank:
    case error::accumulate_rank:
    case error::rput_rank:
    case error::win_flush_rank:
    case error::lock_type: return kind::window;
    case error::seek_whence:
    case error::write_count:
    case error::set_view_datarep: return kind::file;
    default: return kind::comm;
    }
}
bool is_truncation(error e) {
    return e == error::wait_truncated || e == error::waitall_truncated || e == error::testany_truncated;
}
// No object stands behind it.
bool is_nobodys(error e) {
    return e == error::type_count || e == error::group_rank || e == error::info_key || e == error::null_comm;
}

// A receive of one int that gets three, completed by one of several calls. `told`: what the handler should be told.
int truncated(test_run& mpi, error how, MPI_Comm comm, int& told) {
    std::array<int, 4> out{1, 2, 3, 4}, in{-1, -1, -1, -1};
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::array<MPI_Status, 2> statuses{poisoned_status(), poisoned_status()};
    mpi.ok(MPI_Irecv(in.data(), 1, MPI_INT, 0, 1, comm, &requests[0]));
    mpi.ok(MPI_Isend(out.data(), 3, MPI_INT, 0, 1, comm, &requests[1]));
    int code = MPI_SUCCESS, flag = 0, index = MPI_UNDEFINED;
    if (how == error::waitall_truncated) {
        code = MPI_Waitall(2, requests.data(), statuses.data());
        told = code;
        if (code != MPI_SUCCESS) {
            int error_class = -7;
            mpi.ok(MPI_Error_class(code, &error_class));
            mpi.check(error_class == MPI_ERR_IN_STATUS, finding::error,
                      "MPI_Waitall in which one request failed returns " + error_text(code) +
                          ", expected MPI_ERR_IN_STATUS");
            told = statuses[0].MPI_ERROR;
            mpi.check(told != MPI_SUCCESS, finding::error, "the status of the request that failed has MPI_SUCCESS");
            // The send is done, or left for another call.
            int of_send = -7;
            if (statuses[1].MPI_ERROR != MPI_SUCCESS) mpi.ok(MPI_Error_class(statuses[1].MPI_ERROR, &of_send));
            mpi.check(statuses[1].MPI_ERROR == MPI_SUCCESS || of_send == MPI_ERR_PENDING, finding::error,
                      "the status of the send has neither MPI_SUCCESS nor MPI_ERR_PENDING");
        }
    } else {
        if (how == error::wait_truncated) code = MPI_Wait(&requests[0], &statuses[0]);
        else
            while (flag == 0 && code == MPI_SUCCESS)
                code = MPI_Testany(1, requests.data(), &index, &flag, &statuses[0]);
        told = code;
    }
    for (auto& request : requests)
        if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code;
}

int provoke(test_run& mpi, error e, object const& what, int& told) {
    int data[4] = {}, number = 0;
    int const one = 1, two = 2;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Group self = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    int code = MPI_SUCCESS;
    switch (e) {
    case error::send_rank: code = MPI_Send(data, 1, MPI_INT, 1, 0, what.comm()); break;
    case error::bcast_root: code = MPI_Bcast(data, 1, MPI_INT, 1, what.comm()); break;
    case error::allreduce_op: code = MPI_Allreduce(data, data + 2, 1, MPI_INT, MPI_OP_NULL, what.comm()); break;
    case error::comm_split: code = MPI_Comm_split(what.comm(), -77, 0, &comm); break;
    case error::wait_truncated:
    case error::waitall_truncated:
    case error::testany_truncated: return truncated(mpi, e, what.comm(), told);
    case error::put_rank: code = MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, what.window()); break;
    case error::lock_type: code = MPI_Win_lock(-77, 0, 0, what.window()); break;
    case error::seek_whence: code = MPI_File_seek(what.file(), 0, -77); break;
    case error::write_count: code = MPI_File_write(what.file(), data, -1, MPI_INT, MPI_STATUS_IGNORE); break;
    case error::set_view_datarep:
        code = MPI_File_set_view(what.file(), 0, MPI_BYTE, MPI_BYTE, "assay", MPI_INFO_NULL);
        break;
    case error::type_count: code = MPI_Type_contiguous(-1, MPI_INT, &type); break;
    case error::group_rank:
        mpi.ok(MPI_Comm_group(MPI_COMM_SELF, &self));
        code = MPI_Group_incl(self, 1, &one, &group);
        mpi.ok(MPI_Group_free(&self));
        break;
    case error::info_key:
        mpi.ok(MPI_Info_create(&info));
        code = MPI_Info_delete(info, "no_such_key");
        mpi.ok(MPI_Info_free(&info));
        break;
    case error::null_comm: code = MPI_Comm_size(MPI_COMM_NULL, &number); break;
    case error::recv_rank: code = MPI_Recv(data, 1, MPI_INT, 1, 0, what.comm(), MPI_STATUS_IGNORE); break;
    case error::isend_rank: code = MPI_Isend(data, 1, MPI_INT, 1, 0, what.comm(), &request); break;
    case error::send_init_rank: code = MPI_Send_init(data, 1, MPI_INT, 1, 0, what.comm(), &request); break;
    case error::irecv_rank: code = MPI_Irecv(data, 1, MPI_INT, 1, 0, what.comm(), &request); break;
    case error::recv_init_rank: code = MPI_Recv_init(data, 1, MPI_INT, 1, 0, what.comm(), &request); break;
    case error::sendrecv_rank:
        code = MPI_Sendrecv(data, 1, MPI_INT, 1, 0, data + 2, 1, MPI_INT, MPI_PROC_NULL, 0, what.comm(),
                            MPI_STATUS_IGNORE);
        break;
    case error::probe_rank: code = MPI_Probe(1, 0, what.comm(), MPI_STATUS_IGNORE); break;
    case error::iprobe_rank: code = MPI_Iprobe(1, 0, what.comm(), &number, MPI_STATUS_IGNORE); break;
    case error::mprobe_rank: code = MPI_Mprobe(1, 0, what.comm(), &message, MPI_STATUS_IGNORE); break;
    case error::improbe_rank: code = MPI_Improbe(1, 0, what.comm(), &number, &message, MPI_STATUS_IGNORE); break;
    case error::ibcast_root: code = MPI_Ibcast(data, 1, MPI_INT, 1, what.comm(), &request); break;
    case error::bcast_init_root:
        code = MPI_Bcast_init(data, 1, MPI_INT, 1, what.comm(), MPI_INFO_NULL, &request);
        break;
    case error::cart_dims: code = MPI_Cart_create(what.comm(), 1, &two, &number, 0, &comm); break;
    case error::get_rank: code = MPI_Get(data, 1, MPI_INT, 1, 0, 1, MPI_INT, what.window()); break;
    case error::accumulate_rank:
        code = MPI_Accumulate(data, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, what.window());
        break;
    case error::rput_rank: code = MPI_Rput(data, 1, MPI_INT, 1, 0, 1, MPI_INT, what.window(), &request); break;
    case error::win_flush_rank: code = MPI_Win_flush(1, what.window()); break;
    }
    told = code;
    return code;
}

} // namespace

// Raises an error. `judge(mpi, code, told)` is called where it is noticed: with the code that the call returned and the
// code that the handler should have got, which may be MPI_SUCCESS if that was returned.
template <typename Judge> static void raised(test_run& mpi, Judge judge) {
    auto const e = mpi.at(places);
    bool const nobodys = is_nobodys(e);
    int told = -7;
    // Before MPI-4.0 what belongs to nobody was an error of MPI_COMM_WORLD.
    MPI_Comm const home = followed_version() >= 40 ? MPI_COMM_SELF : MPI_COMM_WORLD;
    MPI_Errhandler right = MPI_ERRHANDLER_NULL, wrong = MPI_ERRHANDLER_NULL;
    {
        object const what(mpi, kind_of(e));
        mpi.ok(errors::create_for_comm(1, &wrong));
        for (auto comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) mpi.ok(MPI_Comm_set_errhandler(comm, wrong));
        mpi.ok(what.create(0, &right));
        if (nobodys) {
            mpi.ok(MPI_Comm_set_errhandler(home, right));
            errors::expect_comm(home);
        } else {
            mpi.ok(what.set(right));
        }
        errors::calls().clear();
        int const code = provoke(mpi, e, what, told);
        bool const noticed = code != MPI_SUCCESS || !errors::calls().empty();
        mpi.check(is_truncation(e) ? requirement("p2p.recv.truncated") : requirement("errors.raised.noticed"), noticed,
                  finding::return_, "an error is not noticed");
        if (noticed) judge(mpi, code, told);
        if (!nobodys) mpi.ok(what.set(MPI_ERRORS_RETURN));
        for (auto comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    }
    mpi.ok(MPI_Errhandler_free(&right));
    mpi.ok(MPI_Errhandler_free(&wrong));
}

ASSAY_TEST(errors, raise,
           requirements{"errors.raise.object", "errors.raise.request", "errors.raise.in_status", "errors.raise.nobody",
                        "errors.raised.noticed", "p2p.recv.truncated"},
           over(axis_use{&places})) {
    raised(mpi, [](test_run& run, int, int told) {
        if (told == MPI_SUCCESS && !errors::calls().empty())
            told = errors::calls().front().code; // errors.raise_returns
        errors::expect_one_call(run, 0, told, "an error was raised");
    });
}

ASSAY_TEST(errors, raise_returns, requirements{"errors.raise.returned", "errors.raised.noticed", "p2p.recv.truncated"},
           over(axis_use{&places})) {
    raised(mpi, [](test_run& run, int code, int) {
        run.check("errors.raise.returned", code != MPI_SUCCESS, finding::return_,
                  "a call that called an error handler returned MPI_SUCCESS");
    });
}
