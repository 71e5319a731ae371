#include "suites/tool/tool.hpp"

#include "suites/common/tool_interface.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace assay::tool {

void open(test_run& mpi) {
    if (tool_interface_is_open()) return;
    mpi.check(false, finding::return_, "MPI_T_init_thread failed");
    throw cannot_go_on();
}

std::string name_of_code(int code) {
    static constexpr std::array<std::pair<int, char const*>, 17> names{
        {{MPI_SUCCESS, "MPI_SUCCESS"},
         {MPI_T_ERR_CANNOT_INIT, "MPI_T_ERR_CANNOT_INIT"},
         {MPI_T_ERR_NOT_INITIALIZED, "MPI_T_ERR_NOT_INITIALIZED"},
         {MPI_T_ERR_MEMORY, "MPI_T_ERR_MEMORY"},
         {MPI_T_ERR_INVALID_INDEX, "MPI_T_ERR_INVALID_INDEX"},
         {MPI_T_ERR_INVALID_ITEM, "MPI_T_ERR_INVALID_ITEM"},
         {MPI_T_ERR_INVALID_SESSION, "MPI_T_ERR_INVALID_SESSION"},
         {MPI_T_ERR_INVALID_HANDLE, "MPI_T_ERR_INVALID_HANDLE"},
         {MPI_T_ERR_OUT_OF_HANDLES, "MPI_T_ERR_OUT_OF_HANDLES"},
         {MPI_T_ERR_OUT_OF_SESSIONS, "MPI_T_ERR_OUT_OF_SESSIONS"},
         {MPI_T_ERR_CVAR_SET_NOT_NOW, "MPI_T_ERR_CVAR_SET_NOT_NOW"},
         {MPI_T_ERR_CVAR_SET_NEVER, "MPI_T_ERR_CVAR_SET_NEVER"},
         {MPI_T_ERR_PVAR_NO_WRITE, "MPI_T_ERR_PVAR_NO_WRITE"},
         {MPI_T_ERR_PVAR_NO_STARTSTOP, "MPI_T_ERR_PVAR_NO_STARTSTOP"},
         {MPI_T_ERR_PVAR_NO_ATOMIC, "MPI_T_ERR_PVAR_NO_ATOMIC"},
         {MPI_T_ERR_INVALID_NAME, "MPI_T_ERR_INVALID_NAME"},
         {MPI_T_ERR_INVALID, "MPI_T_ERR_INVALID"}}};
    for (auto const& [value, name] : names)
        if (value == code) return name;
    if (code == MPI_T_ERR_NOT_SUPPORTED) return "MPI_T_ERR_NOT_SUPPORTED";
    if (code == MPI_T_ERR_NOT_ACCESSIBLE) return "MPI_T_ERR_NOT_ACCESSIBLE";
    return fmt::format("code {}", code);
}
bool returned(test_run& mpi, int code, int expected, std::string const& what, std::source_location where) {
    return mpi.check(code == expected, finding::return_,
                     fmt::format("{} returns {}, expected {}", what, name_of_code(code), name_of_code(expected)),
                     where);
}
bool succeeded(test_run& mpi, int code, std::string const& what, std::source_location where) {
    return returned(mpi, code, MPI_SUCCESS, what, where);
}

bool is_inactive(int code) {
    return code == MPI_T_ERR_INVALID_INDEX || code == MPI_T_ERR_INVALID || code == MPI_T_ERR_INVALID_HANDLE;
}
bool is_verbosity(int level) {
    static constexpr std::array<int, 9> all{
        MPI_T_VERBOSITY_USER_BASIC,   MPI_T_VERBOSITY_USER_DETAIL,   MPI_T_VERBOSITY_USER_ALL,
        MPI_T_VERBOSITY_TUNER_BASIC,  MPI_T_VERBOSITY_TUNER_DETAIL,  MPI_T_VERBOSITY_TUNER_ALL,
        MPI_T_VERBOSITY_MPIDEV_BASIC, MPI_T_VERBOSITY_MPIDEV_DETAIL, MPI_T_VERBOSITY_MPIDEV_ALL};
    return std::find(all.begin(), all.end(), level) != all.end();
}
bool is_bind(int kind) {
    static constexpr std::array<int, 12> all{MPI_T_BIND_NO_OBJECT,      MPI_T_BIND_MPI_COMM,    MPI_T_BIND_MPI_DATATYPE,
                                             MPI_T_BIND_MPI_ERRHANDLER, MPI_T_BIND_MPI_FILE,    MPI_T_BIND_MPI_GROUP,
                                             MPI_T_BIND_MPI_OP,         MPI_T_BIND_MPI_REQUEST, MPI_T_BIND_MPI_WIN,
                                             MPI_T_BIND_MPI_MESSAGE,    MPI_T_BIND_MPI_INFO,    MPI_T_BIND_MPI_SESSION};
    return std::find(all.begin(), all.end(), kind) != all.end();
}
bool is_datatype(MPI_Datatype type) {
    for (auto one : {MPI_INT, MPI_INT32_T, MPI_INT64_T, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                     MPI_UINT32_T, MPI_UINT64_T, MPI_COUNT, MPI_CHAR, MPI_DOUBLE})
        if (type == one) return true;
    return false;
}
std::size_t size_of(MPI_Datatype type) {
    if (type == MPI_CHAR) return 1;
    if (type == MPI_INT || type == MPI_UNSIGNED || type == MPI_INT32_T || type == MPI_UINT32_T) return 4;
    if (is_datatype(type)) return 8; // long and MPI_Count have 64 bits on all systems that are tested
    int size = 0;
    return MPI_Type_size(type, &size) == MPI_SUCCESS && size > 0 ? static_cast<std::size_t>(size) : 8;
}

namespace {

// What a procedure returns a string into.
struct text {
    explicit text(int room) : characters(static_cast<std::size_t>(room) + 1), length(room) {}
    std::string get() const { return {characters.data()}; }
    char* buffer(bool left_out) { return left_out ? nullptr : characters.data(); }
    int* room(bool left_out) { return left_out ? nullptr : &length; }

    std::vector<char> characters; // one more than there is room for, which stays a null character
    int length;
};

template <class T> T* unless(bool left_out, T& argument) { return left_out ? nullptr : &argument; }

// All that `count` says, but for those that are not active any more: what they return is not fixed.
template <class T> std::vector<T> list(test_run& mpi, int count, char const* call) {
    std::vector<T> all;
    for (int i = 0; i < count; ++i) {
        T one;
        int const code = get(i, one);
        if (is_inactive(code)) continue;
        if (succeeded(mpi, code, fmt::format("{} of index {}", call, i))) all.push_back(std::move(one));
    }
    return all;
}

} // namespace

bool operator==(cvar const& a, cvar const& b) {
    return a.index == b.index && a.name == b.name && a.description == b.description && a.verbosity == b.verbosity &&
           a.bind == b.bind && a.scope == b.scope && a.type == b.type && a.values == b.values;
}
int get(int index, cvar& one, omit left_out) {
    text name(room_for_name), description(room_for_description);
    one = {};
    one.index = index;
    int const code = MPI_T_cvar_get_info(
        index, name.buffer(left_out == omit::name), name.room(left_out == omit::name),
        unless(left_out == omit::verbosity, one.verbosity), unless(left_out == omit::type, one.type),
        unless(left_out == omit::values, one.values), description.buffer(left_out == omit::description),
        description.room(left_out == omit::description), unless(left_out == omit::bind, one.bind),
        unless(left_out == omit::scope, one.scope));
    one.name = name.get();
    one.description = description.get();
    one.description_length = description.length;
    return code;
}
int number_of_cvars(test_run& mpi) {
    int n = -7;
    succeeded(mpi, MPI_T_cvar_get_num(&n), "MPI_T_cvar_get_num");
    return n;
}
std::vector<cvar> cvars(test_run& mpi) { return list<cvar>(mpi, number_of_cvars(mpi), "MPI_T_cvar_get_info"); }

bool operator==(pvar const& a, pvar const& b) {
    return a.index == b.index && a.name == b.name && a.description == b.description && a.verbosity == b.verbosity &&
           a.var_class == b.var_class && a.bind == b.bind && a.readonly == b.readonly && a.continuous == b.continuous &&
           a.atomic == b.atomic && a.type == b.type && a.values == b.values;
}
int get(int index, pvar& one, omit left_out) {
    text name(room_for_name), description(room_for_description);
    one = {};
    one.index = index;
    int const code = MPI_T_pvar_get_info(
        index, name.buffer(left_out == omit::name), name.room(left_out == omit::name),
        unless(left_out == omit::verbosity, one.verbosity), unless(left_out == omit::var_class, one.var_class),
        unless(left_out == omit::type, one.type), unless(left_out == omit::values, one.values),
        description.buffer(left_out == omit::description), description.room(left_out == omit::description),
        unless(left_out == omit::bind, one.bind), unless(left_out == omit::flags, one.readonly),
        unless(left_out == omit::flags, one.continuous), unless(left_out == omit::flags, one.atomic));
    one.name = name.get();
    one.description = description.get();
    one.description_length = description.length;
    return code;
}
int number_of_pvars(test_run& mpi) {
    int n = -7;
    succeeded(mpi, MPI_T_pvar_get_num(&n), "MPI_T_pvar_get_num");
    if (n == 0) mpi.unsupported("the MPI library has no performance variables");
    return n;
}
std::vector<pvar> pvars(test_run& mpi) {
    auto all = list<pvar>(mpi, number_of_pvars(mpi), "MPI_T_pvar_get_info");
    if (all.empty()) mpi.unsupported("no performance variable of the MPI library is active");
    return all;
}

bool operator==(category const& a, category const& b) {
    return a.index == b.index && a.name == b.name && a.description == b.description && a.cvars == b.cvars &&
           a.pvars == b.pvars && a.categories == b.categories;
}
int get(int index, category& one, omit left_out) {
    text name(room_for_name), description(room_for_description);
    one = {};
    one.index = index;
    int const code = MPI_T_category_get_info(
        index, name.buffer(left_out == omit::name), name.room(left_out == omit::name),
        description.buffer(left_out == omit::description), description.room(left_out == omit::description),
        unless(left_out == omit::elements, one.cvars), unless(left_out == omit::elements, one.pvars),
        unless(left_out == omit::elements, one.categories));
    one.name = name.get();
    one.description = description.get();
    one.description_length = description.length;
    return code;
}
int number_of_categories(test_run& mpi) {
    int n = -7;
    succeeded(mpi, MPI_T_category_get_num(&n), "MPI_T_category_get_num");
    if (n == 0) mpi.unsupported("the MPI library has no categories");
    return n;
}
std::vector<category> categories(test_run& mpi) {
    return list<category>(mpi, number_of_categories(mpi), "MPI_T_category_get_info");
}

std::size_t event::extent() const {
    std::size_t end = 0;
    for (std::size_t i = 0; i < types.size(); ++i)
        end = std::max(end, static_cast<std::size_t>(displacements[i]) + size_of(types[i]));
    return end;
}
bool operator==(event const& a, event const& b) {
    return a.index == b.index && a.name == b.name && a.description == b.description && a.verbosity == b.verbosity &&
           a.elements == b.elements && a.bind == b.bind && a.types == b.types && a.displacements == b.displacements &&
           a.values == b.values;
}
int get(int index, event& one, omit left_out) {
    constexpr int most = 64; // elements; those after them are not looked at
    text name(room_for_name), description(room_for_description);
    one = {};
    one.index = index;
    one.elements = most;
    one.types.assign(most, MPI_DATATYPE_NULL);
    one.displacements.assign(most, -77);
    bool const no_elements = left_out == omit::elements;
    int const code = MPI_T_event_get_info(
        index, name.buffer(left_out == omit::name), name.room(left_out == omit::name),
        unless(left_out == omit::verbosity, one.verbosity), no_elements ? nullptr : one.types.data(),
        no_elements ? nullptr : one.displacements.data(), unless(no_elements, one.elements),
        unless(left_out == omit::values, one.values), unless(left_out == omit::info, one.info),
        description.buffer(left_out == omit::description), description.room(left_out == omit::description),
        unless(left_out == omit::bind, one.bind));
    one.name = name.get();
    one.description = description.get();
    one.description_length = description.length;
    auto const there = code == MPI_SUCCESS && !no_elements ? std::clamp(one.elements, 0, most) : 0;
    one.types.resize(static_cast<std::size_t>(there));
    one.displacements.resize(static_cast<std::size_t>(there));
    if (one.info != MPI_INFO_NULL) {
        MPI_Info given = one.info; // the caller still sees that there was one
        MPI_Info_free(&given);
    }
    return code;
}
int number_of_events(test_run& mpi) {
    int n = -7;
    succeeded(mpi, MPI_T_event_get_num(&n), "MPI_T_event_get_num");
    if (n == 0) mpi.unsupported("the MPI library has no event types");
    return n;
}
std::vector<event> events(test_run& mpi) { return list<event>(mpi, number_of_events(mpi), "MPI_T_event_get_info"); }
needs needs_events() { return needs_procedures({"MPI_T_event_get_num", "MPI_T_source_get_num"}); }

void* objects::of(int bind) {
    if (bind == MPI_T_BIND_MPI_COMM) {
        if (comm_ == MPI_COMM_NULL) must(MPI_Comm_dup(MPI_COMM_SELF, &comm_), "MPI_Comm_dup");
        return &comm_;
    }
    if (bind == MPI_T_BIND_MPI_DATATYPE) return &type_;
    if (bind == MPI_T_BIND_MPI_ERRHANDLER) return &handler_;
    if (bind == MPI_T_BIND_MPI_FILE) {
        auto const* folder = std::getenv("ASSAY_SCRATCH");
        auto const path = fmt::format("{}/tool-{}", folder != nullptr ? folder : ".", getpid());
        if (file_ == MPI_FILE_NULL)
            must(MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                               MPI_INFO_NULL, &file_),
                 "MPI_File_open");
        return &file_;
    }
    if (bind == MPI_T_BIND_MPI_GROUP) {
        if (group_ == MPI_GROUP_NULL) must(MPI_Comm_group(MPI_COMM_WORLD, &group_), "MPI_Comm_group");
        return &group_;
    }
    if (bind == MPI_T_BIND_MPI_OP) return &op_;
    if (bind == MPI_T_BIND_MPI_REQUEST) {
        if (request_ == MPI_REQUEST_NULL)
            must(MPI_Recv_init(memory_, 1, MPI_INT, 0, mpi_.tag(0), MPI_COMM_SELF, &request_), "MPI_Recv_init");
        return &request_;
    }
    if (bind == MPI_T_BIND_MPI_WIN) {
        if (win_ == MPI_WIN_NULL)
            must(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &window_memory_, &win_),
                 "MPI_Win_allocate");
        return &win_;
    }
    if (bind == MPI_T_BIND_MPI_MESSAGE) {
        if (message_ == MPI_MESSAGE_NULL) {
            MPI_Request sent = MPI_REQUEST_NULL;
            must(MPI_Isend(memory_, 1, MPI_INT, 0, mpi_.tag(1), MPI_COMM_SELF, &sent), "MPI_Isend");
            must(MPI_Mprobe(0, mpi_.tag(1), MPI_COMM_SELF, &message_, MPI_STATUS_IGNORE), "MPI_Mprobe");
            MPI_Request_free(&sent); // complete when the message is received
        }
        return &message_;
    }
    if (bind == MPI_T_BIND_MPI_INFO) {
        if (info_ == MPI_INFO_NULL) must(MPI_Info_create(&info_), "MPI_Info_create");
        return &info_;
    }
    if (bind == MPI_T_BIND_MPI_SESSION) {
        if (session_ == MPI_SESSION_NULL)
            must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session_), "MPI_Session_init");
        return &session_;
    }
    return nullptr;
}
objects::~objects() {
    int received = 0;
    if (message_ != MPI_MESSAGE_NULL) MPI_Mrecv(&received, 1, MPI_INT, &message_, MPI_STATUS_IGNORE);
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
    if (win_ != MPI_WIN_NULL) MPI_Win_free(&win_);
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
    if (group_ != MPI_GROUP_NULL) MPI_Group_free(&group_);
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    if (session_ != MPI_SESSION_NULL) MPI_Session_finalize(&session_);
}

void stir(test_run& mpi) {
    int n = 0, out = 1, in = 0, sum = 0;
    MPI_T_cvar_get_num(&n);
    mpi.ok(MPI_Sendrecv(&out, 1, MPI_INT, 0, mpi.tag(2), &in, 1, MPI_INT, 0, mpi.tag(2), MPI_COMM_SELF,
                        MPI_STATUS_IGNORE));
    mpi.ok(MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    mpi.check(in == 1 && sum == 1, finding::data, "messages of a process with itself bring something else");
}

} // namespace assay::tool
