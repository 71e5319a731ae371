// What the tests of the tools interface share (MPI-5.0 section 15.3): what a library lists, and objects for variables to be bound to.
#pragma once
#include "framework/mpi/run.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::tool {

// Ends the case where the interface cannot be opened. It stays open.
void open(test_run& mpi);

// "MPI_T_ERR_INVALID_INDEX", or the number. Procedures of the tools interface return codes that MPI_Error_string need not know.
std::string name_of_code(int code);
// A call of the tools interface returned this code and must have returned `expected`.
bool returned(test_run& mpi, int code, int expected, std::string const& what,
              std::source_location where = std::source_location::current());
bool succeeded(test_run& mpi, int code, std::string const& what,
               std::source_location where = std::source_location::current());

// What a call for something that is listed and not active any more may return (sections 15.3.6.1, 15.3.7.2).
bool is_inactive(int code);
bool is_verbosity(int level);        // section 15.3.1
bool is_bind(int kind);              // section 15.3.2
bool is_datatype(MPI_Datatype type); // of table 19
std::size_t size_of(MPI_Datatype type);

// Strings are returned into buffers with this much room.
constexpr int room_for_name = 4096, room_for_description = 65536;

// Arguments of an information procedure that are null pointers: one of these, or none.
enum class omit { nothing, name, verbosity, var_class, type, values, description, bind, scope, flags, elements, info };

struct cvar {
    int index = -1;
    std::string name, description;
    int description_length = 0, verbosity = -77, bind = -77, scope = -77;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum values = MPI_T_ENUM_NULL;
};
bool operator==(cvar const& a, cvar const& b);
int get(int index, cvar& one, omit left_out = omit::nothing);
int number_of_cvars(test_run& mpi);
std::vector<cvar> cvars(test_run& mpi); // without those that are not active

struct pvar {
    int index = -1;
    std::string name, description;
    int description_length = 0, verbosity = -77, var_class = -77, bind = -77, readonly = -77, continuous = -77,
        atomic = -77;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum values = MPI_T_ENUM_NULL;
};
bool operator==(pvar const& a, pvar const& b);
int get(int index, pvar& one, omit left_out = omit::nothing);
int number_of_pvars(test_run& mpi);
std::vector<pvar> pvars(test_run& mpi);

struct category {
    int index = -1;
    std::string name, description;
    int description_length = 0, cvars = -77, pvars = -77, categories = -77;
};
bool operator==(category const& a, category const& b);
int get(int index, category& one, omit left_out = omit::nothing);
int number_of_categories(test_run& mpi);
std::vector<category> categories(test_run& mpi);

struct event {
    int index = -1;
    std::string name, description;
    int description_length = 0, verbosity = -77, elements = -77, bind = -77;
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Aint> displacements;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    MPI_Info info = MPI_INFO_NULL; // freed by get() unless it is left out
    std::size_t extent() const;    // bytes of MPI_T_event_copy
};
bool operator==(event const& a, event const& b);
int get(int index, event& one, omit left_out = omit::nothing);
int number_of_events(test_run& mpi);
std::vector<event> events(test_run& mpi);
// Skips the case where a library has no event types, or none of the procedures about them.
needs needs_events();

// An object of each kind that variables and events are bound to, made when it is first asked for.
class objects {
public:
    explicit objects(test_run& mpi) : mpi_(mpi) {}
    ~objects();
    objects(objects const&) = delete;
    objects& operator=(objects const&) = delete;
    void* of(int bind); // the address of the handle; nullptr for MPI_T_BIND_NO_OBJECT

private:
    test_run& mpi_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Datatype type_ = MPI_INT;
    MPI_Errhandler handler_ = MPI_ERRORS_RETURN;
    MPI_File file_ = MPI_FILE_NULL;
    MPI_Group group_ = MPI_GROUP_NULL;
    MPI_Op op_ = MPI_SUM;
    MPI_Request request_ = MPI_REQUEST_NULL;
    MPI_Win win_ = MPI_WIN_NULL;
    MPI_Message message_ = MPI_MESSAGE_NULL;
    MPI_Info info_ = MPI_INFO_NULL;
    MPI_Session session_ = MPI_SESSION_NULL;
    int memory_[4] = {};
    void* window_memory_ = nullptr; // MPI_Win_free frees it
};

// What is likely to move variables and to raise events, on this process alone.
void stir(test_run& mpi);

} // namespace assay::tool
