// Handles and arrays of arguments (MPI-5.0 sections 2.5.1 and 2.5.2).
#include "suites/common/completion.hpp"

#include <array>
#include <fmt/format.h>
#include <optional>

using namespace assay;

namespace {

// What becomes of a handle when its object is freed: each function makes an object, frees it, and says whether the handle
// is the null one then.
using freed = bool (*)(test_run&);
void add(void* in, void* inout, int* n, MPI_Datatype*) {
    for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}
void no_handler(MPI_Comm*, int*, ...) {}

axis<freed> const
    objects("object",
            {{{"comm", "MPI_Comm_free"},
              [](test_run& mpi) {
                  MPI_Comm made = MPI_COMM_NULL;
                  mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &made));
                  mpi.ok(MPI_Comm_free(&made));
                  return made == MPI_COMM_NULL;
              }},
             {{"comm_disconnect", "MPI_Comm_disconnect"},
              [](test_run& mpi) {
                  MPI_Comm made = MPI_COMM_NULL;
                  mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &made));
                  mpi.ok(MPI_Comm_disconnect(&made));
                  return made == MPI_COMM_NULL;
              }},
             {{"group", "MPI_Group_free"},
              [](test_run& mpi) {
                  MPI_Group made = MPI_GROUP_NULL;
                  mpi.ok(MPI_Comm_group(MPI_COMM_WORLD, &made));
                  mpi.ok(MPI_Group_free(&made));
                  return made == MPI_GROUP_NULL;
              }},
             {{"datatype", "MPI_Type_free"},
              [](test_run& mpi) {
                  MPI_Datatype made = MPI_DATATYPE_NULL;
                  mpi.ok(MPI_Type_contiguous(3, MPI_INT, &made));
                  mpi.ok(MPI_Type_free(&made));
                  return made == MPI_DATATYPE_NULL;
              }},
             {{"op", "MPI_Op_free"},
              [](test_run& mpi) {
                  MPI_Op made = MPI_OP_NULL;
                  mpi.ok(MPI_Op_create(add, 1, &made));
                  mpi.ok(MPI_Op_free(&made));
                  return made == MPI_OP_NULL;
              }},
             {{"errhandler", "MPI_Errhandler_free"},
              [](test_run& mpi) {
                  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
                  mpi.ok(MPI_Comm_create_errhandler(no_handler, &made));
                  mpi.ok(MPI_Errhandler_free(&made));
                  return made == MPI_ERRHANDLER_NULL;
              }},
             {{"info", "MPI_Info_free"},
              [](test_run& mpi) {
                  MPI_Info made = MPI_INFO_NULL;
                  mpi.ok(MPI_Info_create(&made));
                  mpi.ok(MPI_Info_free(&made));
                  return made == MPI_INFO_NULL;
              }},
             {{"win", "MPI_Win_free"},
              [](test_run& mpi) {
                  int memory = 0;
                  MPI_Win made = MPI_WIN_NULL;
                  mpi.ok(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_SELF, &made));
                  mpi.ok(MPI_Win_free(&made));
                  return made == MPI_WIN_NULL;
              }},
             {{"request", "MPI_Request_free of a persistent request"},
              [](test_run& mpi) {
                  int number = 0;
                  MPI_Request made = MPI_REQUEST_NULL;
                  mpi.ok(MPI_Recv_init(&number, 1, MPI_INT, 0, mpi.tag(), MPI_COMM_SELF, &made));
                  mpi.ok(MPI_Request_free(&made));
                  return made == MPI_REQUEST_NULL;
              }},
             {{"message", "MPI_Mrecv"},
              [](test_run& mpi) {
                  int out = 5, in = -7;
                  MPI_Request sent = MPI_REQUEST_NULL;
                  MPI_Message made = MPI_MESSAGE_NULL;
                  mpi.ok(MPI_Isend(&out, 1, MPI_INT, 0, mpi.tag(), MPI_COMM_SELF, &sent));
                  mpi.ok(MPI_Mprobe(0, mpi.tag(), MPI_COMM_SELF, &made, MPI_STATUS_IGNORE));
                  mpi.ok(MPI_Mrecv(&in, 1, MPI_INT, &made, MPI_STATUS_IGNORE));
                  mpi.ok(MPI_Wait(&sent, MPI_STATUS_IGNORE));
                  return made == MPI_MESSAGE_NULL;
              }},
             {{"session", "MPI_Session_finalize", needs_procedures({"MPI_Session_init"})},
              [](test_run& mpi) {
                  MPI_Session made = MPI_SESSION_NULL;
                  mpi.ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
                  mpi.ok(MPI_Session_finalize(&made));
                  return made == MPI_SESSION_NULL;
              }},
             {{"comm_keyval", "MPI_Comm_free_keyval"},
              [](test_run& mpi) {
                  int made = MPI_KEYVAL_INVALID;
                  mpi.ok(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr));
                  mpi.ok(MPI_Comm_free_keyval(&made));
                  return made == MPI_KEYVAL_INVALID;
              }},
             {{"type_keyval", "MPI_Type_free_keyval"},
              [](test_run& mpi) {
                  int made = MPI_KEYVAL_INVALID;
                  mpi.ok(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, nullptr));
                  mpi.ok(MPI_Type_free_keyval(&made));
                  return made == MPI_KEYVAL_INVALID;
              }},
             {{"win_keyval", "MPI_Win_free_keyval"}, [](test_run& mpi) {
                  int made = MPI_KEYVAL_INVALID;
                  mpi.ok(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &made, nullptr));
                  mpi.ok(MPI_Win_free_keyval(&made));
                  return made == MPI_KEYVAL_INVALID;
              }}});

// What is freed while an operation needs it.
enum class needed { comm, comm_of_send, send_type, receive_type, op, errhandler, group };
axis<needed> const pending("freed", {{{"comm", "with a pending receive"}, needed::comm},
                                     {{"comm_of_send", "with a pending send"}, needed::comm_of_send},
                                     {{"send_type", "of a pending send"}, needed::send_type},
                                     {{"receive_type", "of a pending receive"}, needed::receive_type},
                                     {{"op", "of a pending MPI_Iallreduce"}, needed::op},
                                     {{"errhandler", "that a communicator has"}, needed::errhandler},
                                     {{"group", "that a communicator was made of"}, needed::group}});
// The longer one does not leave before its receiver takes it.
axis<std::size_t> const lengths("length", {{{"17", "17 ints"}, 17}, {{"300000", "300000 ints"}, 300000}});
int handled = 0;
void count_errors(MPI_Comm*, int*, ...) { ++handled; }

} // namespace

ASSAY_TEST(env, freed_handle, requirements{"terms.handle.null_after_free"}, over(axis_use{&objects})) {
    mpi.check(mpi.at(objects)(mpi), finding::value, "the handle of a freed object must be the null handle of its kind");
}

// Messages go around a ring of all processes.
ASSAY_TEST(env, freed_while_needed, requirements{"terms.handle.pending_after_free"},
           over(axis_use{&pending}, axis_use{&lengths}, communicators::of({"world", "reversed"}))) {
    auto const what = mpi.at(pending);
    auto const right = (mpi.rank + 1) % mpi.size, left = (mpi.rank + mpi.size - 1) % mpi.size;
    std::size_t const n = mpi.at(lengths);
    std::vector<int> out(n), in(n, -7);
    auto const number = [&](int rank, std::size_t i) { return rank * 31 + static_cast<int>(i % 1009); };
    for (std::size_t i = 0; i < n; ++i) out[i] = number(mpi.rank, i);
    auto const expect = [&](auto const& value) {
        for (std::size_t i = 0; i < n; ++i)
            if (in[i] != value(i)) {
                mpi.check(false, finding::data, fmt::format("element {} is {}, expected {}", i, in[i], value(i)));
                return;
            }
    };
    MPI_Comm comm = MPI_COMM_NULL;
    if (!mpi.ok(MPI_Comm_dup(mpi.comm, &comm))) return;
    mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    auto const count = static_cast<int>(n);
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    auto const wait = [&] {
        mpi.ok(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
        for (auto request : requests) mpi.check_null(request);
    };
    auto const ring = [&](MPI_Comm around, MPI_Datatype sent, int sent_count, MPI_Datatype received,
                          int received_count) {
        mpi.ok(MPI_Irecv(in.data(), received_count, received, left, 3, around, requests.data()));
        mpi.ok(MPI_Isend(out.data(), sent_count, sent, right, 3, around, &requests[1]));
    };
    switch (what) {
    case needed::comm:
        mpi.ok(MPI_Irecv(in.data(), count, MPI_INT, left, 3, comm, requests.data()));
        mpi.ok(MPI_Isend(out.data(), count, MPI_INT, right, 3, comm, &requests[1]));
        mpi.ok(MPI_Comm_free(&comm));
        wait();
        break;
    case needed::comm_of_send: {
        MPI_Comm other = MPI_COMM_NULL; // takes the place that the freed one may have had
        mpi.ok(MPI_Isend(out.data(), count, MPI_INT, right, 3, comm, &requests[1]));
        mpi.ok(MPI_Irecv(in.data(), count, MPI_INT, left, 3, comm, requests.data()));
        mpi.ok(MPI_Comm_free(&comm));
        mpi.ok(MPI_Comm_dup(mpi.comm, &other));
        int const token = -mpi.rank - 1;
        int heard = -7;
        mpi.ok(MPI_Sendrecv(&token, 1, MPI_INT, right, 3, &heard, 1, MPI_INT, left, 3, other, MPI_STATUS_IGNORE));
        mpi.check(
            heard == -left - 1, finding::data,
            fmt::format("a new communicator gives {}, expected {}: a message of the freed one?", heard, -left - 1));
        wait();
        if (other != MPI_COMM_NULL) mpi.ok(MPI_Comm_free(&other));
        break;
    }
    case needed::send_type:
    case needed::receive_type: {
        bool const sending = what == needed::send_type;
        MPI_Datatype type = MPI_DATATYPE_NULL, other = MPI_DATATYPE_NULL;
        mpi.ok(MPI_Type_contiguous(count, MPI_INT, &type));
        mpi.ok(MPI_Type_commit(&type));
        if (sending) ring(comm, type, 1, MPI_INT, count);
        else ring(comm, MPI_INT, count, type, 1);
        mpi.ok(MPI_Type_free(&type));
        mpi.ok(MPI_Type_vector(2, 1, 5, MPI_CHAR, &other)); // may take the place of the freed one
        mpi.ok(MPI_Type_commit(&other));
        wait();
        mpi.ok(MPI_Type_free(&other));
        break;
    }
    case needed::op: {
        MPI_Op op = MPI_OP_NULL, other = MPI_OP_NULL;
        mpi.ok(MPI_Op_create(add, 1, &op));
        mpi.ok(MPI_Iallreduce(out.data(), in.data(), count, MPI_INT, op, comm, requests.data()));
        mpi.ok(MPI_Op_free(&op));
        mpi.ok(MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &other));
        wait();
        mpi.ok(MPI_Op_free(&other));
        expect([&](std::size_t i) {
            int sum = 0;
            for (int r = 0; r < mpi.size; ++r) sum += number(r, i);
            return sum;
        });
        break;
    }
    case needed::errhandler: {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        mpi.ok(MPI_Comm_create_errhandler(count_errors, &handler));
        mpi.ok(MPI_Comm_set_errhandler(comm, handler));
        mpi.ok(MPI_Errhandler_free(&handler));
        handled = 0;
        mpi.ok(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
        mpi.check(
            handled == 1, finding::error,
            fmt::format("the error handler of the communicator, freed after it was set, was called {} times by one "
                        "MPI_Comm_call_errhandler",
                        handled));
        mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        break;
    }
    case needed::group: {
        MPI_Group group = MPI_GROUP_NULL, again = MPI_GROUP_NULL;
        MPI_Comm made = MPI_COMM_NULL;
        mpi.ok(MPI_Comm_group(comm, &group));
        mpi.ok(MPI_Comm_create(comm, group, &made));
        mpi.ok(MPI_Comm_free(&comm));
        int size = -7;
        mpi.ok(MPI_Group_size(group, &size)); // a group does not need the communicator that it was taken from
        mpi.check(size == mpi.size, finding::value,
                  fmt::format("the group has {} members, expected {}", size, mpi.size));
        mpi.ok(MPI_Group_free(&group));
        ring(made, MPI_INT, count, MPI_INT, count);
        wait();
        mpi.ok(MPI_Comm_group(made, &again));
        mpi.ok(MPI_Group_free(&again));
        mpi.ok(MPI_Comm_free(&made));
        break;
    }
    }
    if (what != needed::op && what != needed::errhandler) expect([&](std::size_t i) { return number(left, i); });
    if (comm != MPI_COMM_NULL) mpi.ok(MPI_Comm_free(&comm));
}

namespace {
// A call that is handed a list of requests; nullopt: MPI_Startall.
axis<std::optional<completion_call>> const list_calls("call", [] {
    std::vector<axis<std::optional<completion_call>>::entry> all;
    add_completion_calls<std::optional<completion_call>>(all, completion_calls(),
                                                         [](auto const& call) { return call; });
    std::erase_if(all, [](auto const& entry) { return entry.value->single(); });
    all.push_back({{"startall", "MPI_Startall"}, std::nullopt});
    return all;
}());
} // namespace

// Arrays of five persistent receives from oneself, of which the call is told about the first two.
ASSAY_TEST(env, array_length, requirements{"terms.arrays.length"}, over(axis_use{&list_calls}), thread_safe{}) {
    constexpr int told = 2, there = 5;
    std::array<int, there> in{};
    std::array<MPI_Request, there> requests, sends;
    requests.fill(MPI_REQUEST_NULL);
    sends.fill(MPI_REQUEST_NULL);
    for (int i = 0; i < there; ++i)
        mpi.ok(MPI_Recv_init(&in[static_cast<std::size_t>(i)], 1, MPI_INT, 0, mpi.tag(i), MPI_COMM_SELF,
                             &requests[static_cast<std::size_t>(i)]));
    auto const before = requests;
    auto const& call = mpi.at(list_calls);
    mpi.ok(MPI_Startall(call ? there : told, requests.data()));
    int const out = 77;
    // What was not started stays inactive: its message waits for the receive that is started below.
    for (int i = 0; i < there; ++i)
        mpi.ok(MPI_Isend(&out, 1, MPI_INT, 0, mpi.tag(i), MPI_COMM_SELF, &sends[static_cast<std::size_t>(i)]));
    // That nothing is written after what belongs to the first two is seen by `complete`.
    complete(mpi, call ? callable(*call) : completion_by("waitall"), std::span(requests).first(told),
             {.persistent = std::vector<bool>(told, true)});
    for (std::size_t i = told; i < there; ++i) {
        mpi.check(requests[i] == before[i], finding::request,
                  fmt::format("request {} was changed; the call was told of {}", i, told));
        if (!call) {
            mpi.check(in[i] == 0, finding::data,
                      fmt::format("receive {} was started by MPI_Startall with a count of {}", i, told));
            mpi.ok(MPI_Start(&requests[i]));
        }
        mpi.ok(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        mpi.check(in[i] == out, finding::data, fmt::format("receive {} holds {}, expected {}", i, in[i], out));
    }
    mpi.ok(MPI_Waitall(there, sends.data(), MPI_STATUSES_IGNORE));
    for (auto& request : requests) mpi.ok(MPI_Request_free(&request));
}
