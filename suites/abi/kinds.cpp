#include "suites/abi/kinds.hpp"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

namespace assay::abi {

bool has_standard_abi() {
    if (!has_procedure("MPI_Abi_get_version")) return false;
    int major = -1, minor = -1;
    int const code = MPI_Abi_get_version(&major, &minor);
    return code == MPI_SUCCESS && major >= 1;
}

namespace {

// In some libraries all handles have the same type of C.
enum class family {
    of_MPI_Comm,
    of_MPI_Datatype,
    of_MPI_Errhandler,
    of_MPI_File,
    of_MPI_Group,
    of_MPI_Info,
    of_MPI_Message,
    of_MPI_Op,
    of_MPI_Request,
    of_MPI_Session,
    of_MPI_Win
};

template <family Family, class Handle> std::vector<constant<Handle>> constants() {
    std::vector<constant<Handle>> found;
#define HANDLE(type, name, value)                                                                                      \
    if constexpr (Family == family::of_##type) found.push_back({#name, name, value});
#include "abi_handles.inc"
#undef HANDLE
    return found;
}

std::string text_of(int got, int expected) {
    return got == expected ? "" : fmt::format("{}, expected {}", got, expected);
}

constexpr std::size_t longest_name = MPI_MAX_OBJECT_NAME;
std::string name_of(char const* what, int which) { return fmt::format("assay {} {}", what, which); }

// What user functions have seen, by object.
std::array<std::atomic<int>, most_objects> called{};

template <int Which> void on_comm(MPI_Comm*, int*, ...) { ++called[Which]; }
template <int Which> void on_session(MPI_Session*, int*, ...) { ++called[Which]; }
constexpr std::array<MPI_Comm_errhandler_function*, most_objects> comm_handlers = {on_comm<0>, on_comm<1>, on_comm<2>,
                                                                                   on_comm<3>};
constexpr std::array<MPI_Session_errhandler_function*, most_objects> session_handlers = {on_session<0>, on_session<1>,
                                                                                         on_session<2>, on_session<3>};

template <int Which> void reduce(void* in, void* inout, int* n, MPI_Datatype*) {
    for (int i = 0; i < *n; ++i) {
        auto& to = static_cast<int*>(inout)[i];
        to = 100 * Which + 10 * static_cast<int*>(in)[i] + to;
    }
}
constexpr std::array<MPI_User_function*, most_objects> reductions = {reduce<0>, reduce<1>, reduce<2>, reduce<3>};

// Calls an error handler, and says whether it was that of object `which`.
template <class Call> std::string call_handler(int which, Call call) {
    std::array<int, most_objects> before{};
    for (std::size_t i = 0; i < called.size(); ++i) before[i] = called[i];
    call();
    for (std::size_t i = 0; i < called.size(); ++i)
        if (int const times = called[i] - before[i]; times != (static_cast<int>(i) == which ? 1 : 0))
            return fmt::format("the error handler of object {} was called {} times", i, times);
    return "";
}

MPI_Comm make_comm(test_run& mpi, room&, int which) {
    MPI_Comm made = MPI_COMM_NULL;
    if (!mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &made))) return MPI_COMM_NULL;
    mpi.ok(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN));
    mpi.ok(MPI_Comm_set_name(made, name_of("communicator", which).c_str()));
    return made;
}
std::string use_comm(test_run& mpi, room& its, MPI_Comm& comm, int which) {
    std::array<char, longest_name + 1> name{};
    int length = 0;
    if (!mpi.ok(MPI_Comm_get_name(comm, name.data(), &length))) return "a handle that cannot be used";
    if (auto const expected = name_of("communicator", which); name.data() != expected)
        return fmt::format("the communicator \"{}\", expected \"{}\"", name.data(), expected);
    its.out[0] = 70 + which;
    its.in[0] = -7;
    mpi.ok(MPI_Sendrecv(its.out.data(), 1, MPI_INT, 0, 3, its.in.data(), 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE));
    return text_of(its.in[0], its.out[0]);
}

MPI_Datatype make_datatype(test_run& mpi, room&, int which) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_contiguous(which + 1, MPI_INT, &made))) return MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_commit(&made));
    return made;
}
std::string use_datatype(test_run& mpi, room& its, MPI_Datatype& type, int which) {
    its.out = {1, 2, 3, 4, 5, 6, 7, 8};
    its.in.fill(-7);
    mpi.ok(MPI_Sendrecv(its.out.data(), 1, type, 0, mpi.tag(which), its.in.data(), most_objects, MPI_INT, 0,
                        mpi.tag(which), MPI_COMM_SELF, MPI_STATUS_IGNORE));
    int came = 0;
    while (came < most_objects && its.in[static_cast<std::size_t>(came)] == came + 1) ++came;
    return came == which + 1 ? "" : fmt::format("a datatype of {} int, expected {}", came, which + 1);
}

MPI_Errhandler make_errhandler(test_run& mpi, room&, int which) {
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    mpi.ok(MPI_Comm_create_errhandler(comm_handlers[static_cast<std::size_t>(which)], &made));
    return made;
}
std::string use_errhandler(test_run& mpi, room&, MPI_Errhandler& handler, int which) {
    MPI_Comm comm = MPI_COMM_NULL;
    if (!mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &comm))) return "";
    mpi.ok(MPI_Comm_set_errhandler(comm, handler));
    auto seen = call_handler(which, [&] { mpi.ok(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER)); });
    mpi.ok(MPI_Comm_free(&comm));
    return seen;
}

MPI_File make_file(test_run& mpi, room& its, int which) {
    int process = 0;
    mpi.ok(MPI_Comm_rank(MPI_COMM_WORLD, &process));
    its.path = fmt::format("{}/abi-{:016x}-{}-{}", mpi.the_job.scratch, mpi.key(0, 0, 0, 0, which), process, which);
    MPI_File made = MPI_FILE_NULL;
    if (!mpi.ok(MPI_File_open(MPI_COMM_SELF, its.path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &made)))
        return MPI_FILE_NULL;
    its.out[0] = 90 + which;
    mpi.ok(MPI_File_write_at(made, 0, its.out.data(), 1, MPI_INT, MPI_STATUS_IGNORE));
    return made;
}
std::string use_file(test_run& mpi, room& its, MPI_File& file, int which) {
    its.in[0] = -7;
    mpi.ok(MPI_File_read_at(file, 0, its.in.data(), 1, MPI_INT, MPI_STATUS_IGNORE));
    return text_of(its.in[0], 90 + which);
}

// The groups of the first two processes in their four orders.
constexpr std::array<std::array<int, 2>, most_objects> members = {{{0, -1}, {1, -1}, {0, 1}, {1, 0}}};
int size_of(int which) { return members[static_cast<std::size_t>(which)][1] < 0 ? 1 : 2; }
MPI_Group make_group(test_run& mpi, room&, int which) {
    MPI_Group all = MPI_GROUP_NULL, made = MPI_GROUP_NULL;
    if (!mpi.ok(MPI_Comm_group(MPI_COMM_WORLD, &all))) return MPI_GROUP_NULL;
    mpi.ok(MPI_Group_incl(all, size_of(which), members[static_cast<std::size_t>(which)].data(), &made));
    mpi.ok(MPI_Group_free(&all));
    return made;
}
std::string use_group(test_run& mpi, room&, MPI_Group& group, int which) {
    MPI_Group all = MPI_GROUP_NULL;
    int size = -7;
    if (!mpi.ok(MPI_Comm_group(MPI_COMM_WORLD, &all)) || !mpi.ok(MPI_Group_size(group, &size))) return "";
    std::array<int, 2> const ranks = {0, 1};
    std::array<int, 2> found = {-1, -1};
    if (size == size_of(which)) mpi.ok(MPI_Group_translate_ranks(group, size, ranks.data(), all, found.data()));
    mpi.ok(MPI_Group_free(&all));
    if (size == size_of(which) && found == members[static_cast<std::size_t>(which)]) return "";
    return fmt::format("a group of {} processes, the first {}; not group {}", size, found[0], which);
}

MPI_Info make_info(test_run& mpi, room&, int which) {
    MPI_Info made = MPI_INFO_NULL;
    if (!mpi.ok(MPI_Info_create(&made))) return MPI_INFO_NULL;
    mpi.ok(MPI_Info_set(made, "which", std::to_string(which).c_str()));
    return made;
}
std::string use_info(test_run& mpi, room&, MPI_Info& info, int which) {
    std::array<char, 16> value{};
    int flag = 0;
    mpi.ok(MPI_Info_get(info, "which", static_cast<int>(value.size()) - 1, value.data(), &flag));
    return std::to_string(which) == value.data() ? "" : fmt::format("\"{}\", expected \"{}\"", value.data(), which);
}

MPI_Message make_message(test_run& mpi, room& its, int which) {
    MPI_Message made = MPI_MESSAGE_NULL;
    its.out[0] = 110 + which;
    mpi.ok(MPI_Isend(its.out.data(), 1, MPI_INT, 0, mpi.tag(which), MPI_COMM_SELF, &its.sent));
    mpi.ok(MPI_Mprobe(0, mpi.tag(which), MPI_COMM_SELF, &made, MPI_STATUS_IGNORE));
    return made;
}
void take_message(test_run& mpi, room& its, MPI_Message& message) {
    its.in[0] = -7;
    mpi.ok(MPI_Mrecv(its.in.data(), 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    if (its.in[0] == -7) mpi.ok(MPI_Request_free(&its.sent)); // another message: this one will never be received
    else mpi.ok(MPI_Wait(&its.sent, MPI_STATUS_IGNORE));
}
std::string use_message(test_run& mpi, room& its, MPI_Message& message, int which) {
    take_message(mpi, its, message);
    return text_of(its.in[0], 110 + which);
}

MPI_Op make_op(test_run& mpi, room&, int which) {
    MPI_Op made = MPI_OP_NULL;
    mpi.ok(MPI_Op_create(reductions[static_cast<std::size_t>(which)], 0, &made));
    return made;
}
std::string use_op(test_run& mpi, room&, MPI_Op& op, int which) {
    int const in = 3;
    int inout = 4;
    mpi.ok(MPI_Reduce_local(&in, &inout, 1, MPI_INT, op));
    return text_of(inout, 100 * which + 34);
}

MPI_Request make_request(test_run& mpi, room& its, int which) {
    MPI_Request made = MPI_REQUEST_NULL;
    its.in[0] = -7;
    mpi.ok(MPI_Irecv(its.in.data(), 1, MPI_INT, 0, mpi.tag(which), MPI_COMM_SELF, &made));
    return made;
}
MPI_Request make_persistent(test_run& mpi, room& its, int which) {
    MPI_Request made = MPI_REQUEST_NULL;
    mpi.ok(MPI_Recv_init(its.in.data(), 1, MPI_INT, 0, mpi.tag(which), MPI_COMM_SELF, &made));
    return made;
}
std::string use_request(test_run& mpi, room& its, MPI_Request& request, int which) {
    its.out[0] = 130 + which;
    MPI_Status status = poisoned_status();
    mpi.ok(MPI_Send(its.out.data(), 1, MPI_INT, 0, mpi.tag(which), MPI_COMM_SELF));
    mpi.ok(MPI_Wait(&request, &status));
    if (status.MPI_TAG != mpi.tag(which)) return fmt::format("the tag {}", status.MPI_TAG);
    return text_of(its.in[0], 130 + which);
}
std::string use_persistent(test_run& mpi, room& its, MPI_Request& request, int which) {
    its.in[0] = -7;
    mpi.ok(MPI_Start(&request));
    return use_request(mpi, its, request, which);
}

MPI_Session make_session(test_run& mpi, room&, int which) {
    MPI_Session made = MPI_SESSION_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    mpi.ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    mpi.ok(MPI_Session_create_errhandler(session_handlers[static_cast<std::size_t>(which)], &handler));
    mpi.ok(MPI_Session_set_errhandler(made, handler));
    mpi.ok(MPI_Errhandler_free(&handler));
    return made;
}
std::string use_session(test_run& mpi, room&, MPI_Session& session, int which) {
    int sets = -7;
    mpi.ok(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets));
    if (sets < 2) return fmt::format("{} process sets", sets); // mpi://WORLD and mpi://SELF are there
    return call_handler(which, [&] { mpi.ok(MPI_Session_call_errhandler(session, MPI_ERR_OTHER)); });
}

MPI_Win make_win(test_run& mpi, room& its, int which) {
    MPI_Win made = MPI_WIN_NULL;
    if (!mpi.ok(MPI_Win_create(its.in.data(), sizeof its.in, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &made)))
        return MPI_WIN_NULL;
    mpi.ok(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN));
    mpi.ok(MPI_Win_set_name(made, name_of("window", which).c_str()));
    return made;
}
std::string use_win(test_run& mpi, room& its, MPI_Win& win, int which) {
    std::array<char, longest_name + 1> name{};
    int length = 0;
    if (!mpi.ok(MPI_Win_get_name(win, name.data(), &length))) return "a handle that cannot be used";
    if (auto const expected = name_of("window", which); name.data() != expected)
        return fmt::format("the window \"{}\", expected \"{}\"", name.data(), expected);
    its.out[0] = 150 + which;
    mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    mpi.ok(MPI_Put(its.out.data(), 1, MPI_INT, 0, 1, 1, MPI_INT, win));
    mpi.ok(MPI_Win_unlock(0, win));
    return text_of(its.in[1], 150 + which);
}

} // namespace

kind<MPI_Comm> const& comms() {
    static kind<MPI_Comm> const one = {MPI_COMM_NULL, constants<family::of_MPI_Comm, MPI_Comm>(), make_comm, use_comm,
                                       [](test_run& mpi, room&, MPI_Comm& comm) { mpi.ok(MPI_Comm_free(&comm)); }};
    return one;
}
kind<MPI_Datatype> const& datatypes() {
    static kind<MPI_Datatype> const one = {
        MPI_DATATYPE_NULL, constants<family::of_MPI_Datatype, MPI_Datatype>(), make_datatype, use_datatype,
        [](test_run& mpi, room&, MPI_Datatype& type) { mpi.ok(MPI_Type_free(&type)); }};
    return one;
}
kind<MPI_Errhandler> const& errhandlers() {
    static kind<MPI_Errhandler> const one = {
        MPI_ERRHANDLER_NULL, constants<family::of_MPI_Errhandler, MPI_Errhandler>(), make_errhandler, use_errhandler,
        [](test_run& mpi, room&, MPI_Errhandler& handler) { mpi.ok(MPI_Errhandler_free(&handler)); }};
    return one;
}
kind<MPI_File> const& files() {
    static kind<MPI_File> const one = {MPI_FILE_NULL, constants<family::of_MPI_File, MPI_File>(), make_file, use_file,
                                       [](test_run& mpi, room& its, MPI_File& file) {
                                           mpi.ok(MPI_File_close(&file));
                                           std::error_code ignored;
                                           std::filesystem::remove(its.path, ignored);
                                       }};
    return one;
}
kind<MPI_Group> const& groups() {
    static kind<MPI_Group> const one = {MPI_GROUP_NULL, constants<family::of_MPI_Group, MPI_Group>(), make_group,
                                        use_group,
                                        [](test_run& mpi, room&, MPI_Group& group) { mpi.ok(MPI_Group_free(&group)); }};
    return one;
}
kind<MPI_Info> const& infos() {
    static kind<MPI_Info> const one = {MPI_INFO_NULL, constants<family::of_MPI_Info, MPI_Info>(), make_info, use_info,
                                       [](test_run& mpi, room&, MPI_Info& info) { mpi.ok(MPI_Info_free(&info)); }};
    return one;
}
kind<MPI_Message> const& messages() {
    static kind<MPI_Message> const one = {MPI_MESSAGE_NULL, constants<family::of_MPI_Message, MPI_Message>(),
                                          make_message,     use_message,
                                          take_message,     true};
    return one;
}
kind<MPI_Op> const& ops() {
    static kind<MPI_Op> const one = {MPI_OP_NULL, constants<family::of_MPI_Op, MPI_Op>(), make_op, use_op,
                                     [](test_run& mpi, room&, MPI_Op& op) { mpi.ok(MPI_Op_free(&op)); }};
    return one;
}
kind<MPI_Request> const& requests() {
    static kind<MPI_Request> const one = {MPI_REQUEST_NULL,
                                          constants<family::of_MPI_Request, MPI_Request>(),
                                          make_request,
                                          use_request,
                                          [](test_run& mpi, room&, MPI_Request& request) {
                                              mpi.ok(MPI_Cancel(&request));
                                              mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
                                          },
                                          true};
    return one;
}
kind<MPI_Request> const& persistent_requests() {
    static kind<MPI_Request> const one = {
        MPI_REQUEST_NULL, constants<family::of_MPI_Request, MPI_Request>(), make_persistent, use_persistent,
        [](test_run& mpi, room&, MPI_Request& request) { mpi.ok(MPI_Request_free(&request)); }};
    return one;
}
kind<MPI_Session> const& sessions() {
    static kind<MPI_Session> const one = {
        MPI_SESSION_NULL, constants<family::of_MPI_Session, MPI_Session>(), make_session, use_session,
        [](test_run& mpi, room&, MPI_Session& session) { mpi.ok(MPI_Session_finalize(&session)); }};
    return one;
}
kind<MPI_Win> const& wins() {
    static kind<MPI_Win> const one = {MPI_WIN_NULL, constants<family::of_MPI_Win, MPI_Win>(), make_win, use_win,
                                      [](test_run& mpi, room&, MPI_Win& win) { mpi.ok(MPI_Win_free(&win)); }};
    return one;
}

} // namespace assay::abi
