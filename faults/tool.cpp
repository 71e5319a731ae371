// The tools interface. Most of its faults are those of a model (preload/tool_model/), which answers in place of the MPI library
// while one of them is planted.
#include "core/tool.hpp"
#include "core/coll.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <string>
#include <vector>

using namespace assay_faults;

namespace {

memory<bool> closed;    // once, since it was opened last
memory<bool> too_often; // MPI_T_finalize has been called once too often
memory<int> handles_freed;
std::map<MPI_T_pvar_handle, int> classes; // of handles of performance variables
std::map<MPI_T_pvar_handle, MPI_T_pvar_session> homes;

bool on_rank_1() { return world_rank == 1; }

std::string name_of_cvar(int index) {
    char name[256] = "";
    int length = sizeof name;
    tool_model::cvar_get_info(index, name, &length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    return name;
}
// The handles of control variables, by what they are of.
std::map<MPI_T_cvar_handle, std::string> controls;
bool is_of(MPI_T_cvar_handle handle, char const* name) {
    auto const found = controls.find(handle);
    return found != controls.end() && found->second == name;
}
int class_of(MPI_T_pvar_handle handle) {
    auto const found = classes.find(handle);
    return found != classes.end() ? found->second : -1;
}
template <class Procedure> Procedure next(Procedure, char const* name) {
    return reinterpret_cast<Procedure>(dlsym(RTLD_NEXT, name));
}

} // namespace

memory<int> assay_faults::asked;
bool assay_faults::modelled() { return planted >= fault::tool_model && planted <= fault::tool_event_elsewhere; }

extern "C" {

int PMPI_Isend(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    static auto const procedure = next(&PMPI_Isend, "PMPI_Isend");
    if (is(fault::tool_pmpi_short) && count > 0) --count;
    return procedure(buffer, count, type, to, tag, comm, request);
}

// How a program finds a name in what is loaded. The last call must be a jump (CMakeLists.txt optimizes this file in each build), since the
// real dlsym learns from its return address who asks for RTLD_NEXT (dlsym(3)).
void* dlsym(void* handle, char const* name) {
    static auto* const procedure = [] {
        void* found = nullptr;
        // Today's, and the first of each processor.
        for (auto const* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
            if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
        return reinterpret_cast<void* (*)(void*, char const*)>(found);
    }();
    if (is(fault::tool_pmpi_missing) && std::strcmp(name, "PMPI_Win_sync") == 0) return nullptr;
    return procedure(handle, name);
}

int PMPI_T_cvar_get_num(int* n) {
    static auto const procedure = next(&PMPI_T_cvar_get_num, "PMPI_T_cvar_get_num");
    return is(fault::tool_pmpi_other) ? int(MPI_SUCCESS) : procedure(n);
}

// The model counts, whatever is planted.
int MPI_T_init_thread(int required, int* provided) {
    *closed = false;
    int const code = tool_model::init_thread(required, provided);
    if (is(fault::tool_init_level)) *provided = 1 << 20;
    return code;
}
int MPI_T_finalize(void) {
    *closed = true;
    int const code = tool_model::finalize(modelled());
    if (is(fault::tool_finalize_resets)) ++*asked;
    if (code != MPI_SUCCESS) *too_often = true;
    return code;
}

int MPI_T_enum_get_info(MPI_T_enum which, int* n, char* name, int* name_len) {
    bool const exact = is(fault::tool_text_cut) && name != nullptr && name_len != nullptr;
    int const room = name_len != nullptr ? *name_len : 0;
    MODEL(enum_get_info, (which, n, name, name_len));
    if (exact && room > 1 && static_cast<int>(std::strlen(name)) == room - 1) name[room - 2] = '\0';
    if (is(fault::tool_enum_num) && name == nullptr && *n > 0) --*n;
    if (is(fault::tool_enum_same_name) && name != nullptr && room > 0) name[0] = '\0';
    return code;
}
int MPI_T_enum_get_item(MPI_T_enum which, int index, int* value, char* name, int* name_len) {
    MODEL(enum_get_item, (which, index, value, name, name_len));
    if (is(fault::tool_enum_moves) && code == MPI_SUCCESS) *value += ++*asked;
    if (is(fault::tool_enum_bad_index)) return MPI_SUCCESS;
    if (is(fault::tool_text_length_whole) && name != nullptr && name_len != nullptr &&
        static_cast<int>(std::strlen(name)) + 1 == *name_len)
        *name_len = 0;
    if (is(fault::tool_enum_same_item)) set(name, name_len, "red");
    return code;
}

int MPI_T_cvar_get_num(int* n) {
    if (is(fault::tools_closed_at_once) && *closed) return MPI_T_ERR_NOT_INITIALIZED;
    if (is(fault::tool_closed_too_often) && *too_often) return MPI_T_ERR_NOT_INITIALIZED;
    MODEL(cvar_get_num, (n));
    *n = fewer(fault::tool_cvar_num_falls, *n);
    return code;
}
int MPI_T_cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* type, MPI_T_enum* values,
                        char* desc, int* desc_len, int* bind, int* scope) {
    int const room = name_len != nullptr ? *name_len : 0, desc_room = desc_len != nullptr ? *desc_len : 0;
    int found = -1;
    if (is(fault::tool_index_moves) && initialized() && index < 2) index = 1 - index;
    if (!modelled())
        return PMPI_T_cvar_get_info(index, name, name_len, verbosity, type, values, desc, desc_len, bind, scope);
    int const code =
        tool_model::cvar_get_info(index, name, name_len, verbosity, type, values, desc, desc_len, bind, scope);
    tool_model::cvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &found);
    if (is(fault::tool_cvar_bad_index) && code != MPI_SUCCESS) return MPI_T_ERR_INVALID;
    if (is(fault::tool_cvar_inactive) && index == 3) return MPI_T_ERR_INVALID;
    if (code != MPI_SUCCESS) return code;
    bool const truncated = name != nullptr && room > 0 && *name_len > room;
    if (is(fault::tool_text_unterminated) && truncated) name[room - 1] = '#';
    if (is(fault::tool_text_zero) && desc != nullptr && desc_len != nullptr && desc_room == 0) desc[0] = '\0';
    if (is(fault::tool_cvar_info_changes) && index == 5 && second_time()) set<int>(bind, MPI_T_BIND_MPI_COMM);
    if (is(fault::tool_cvar_verbosity) && index == 1) set(verbosity, 0x1000);
    if (is(fault::tool_cvar_bind) && index == 2) set(bind, 0x1000);
    if (is(fault::tool_cvar_scope) && index == 3) set(scope, 0x1000);
    if (is(fault::tool_cvar_enum_of_double) && name_of_cvar(index) == "model_all") {
        MPI_T_enum some = MPI_T_ENUM_NULL;
        tool_model::cvar_get_info(1, nullptr, nullptr, nullptr, nullptr, &some, nullptr, nullptr, nullptr, nullptr);
        set(values, some);
    }
    if (is(fault::tool_cvar_no_description) && desc != nullptr && desc_len != nullptr && *desc == '\0') *desc_len = 0;
    if (is(fault::tool_cvar_type) && index == 4) set<MPI_Datatype>(type, MPI_SHORT);
    if (is(fault::tool_cvar_same_name) && index == 2) set(name, name_len, "model_color");
    if (is(fault::tool_cvar_null_verbosity) && verbosity == nullptr) set(scope, -77);
    if (is(fault::tool_cvar_elsewhere) && on_rank_1() && found == MPI_T_SCOPE_LOCAL) set<int>(scope, MPI_T_SCOPE_GROUP);
    return code;
}
int MPI_T_cvar_get_index(char const* name, int* index) {
    MODEL(cvar_get_index, (name, index));
    int n = 0;
    tool_model::cvar_get_num(&n);
    if (is(fault::tool_code_of_mpi) && code != MPI_SUCCESS) return MPI_ERR_ARG;
    if (is(fault::tool_cvar_index) && code == MPI_SUCCESS && *index == n - 1) --*index;
    if (is(fault::tool_cvar_index_prefix) && code != MPI_SUCCESS && std::strncmp(name, "model_", 6) == 0) {
        *index = 0;
        return MPI_SUCCESS;
    }
    return code;
}
int MPI_T_cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count) {
    int bind = -1;
    if (modelled())
        tool_model::cvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind, nullptr);
    if (is(fault::tool_cvar_object) && bind == MPI_T_BIND_NO_OBJECT && object != nullptr)
        return MPI_T_ERR_INVALID_HANDLE;
    MODEL(cvar_handle_alloc, (index, object, handle, count));
    if (code == MPI_SUCCESS) controls[*handle] = name_of_cvar(index);
    *handles_freed = 0;
    if (is(fault::tool_cvar_alloc) && bind == MPI_T_BIND_MPI_INFO) *count = -1;
    return code;
}
int MPI_T_cvar_handle_free(MPI_T_cvar_handle* handle) {
    auto const before = *handle;
    MODEL(cvar_handle_free, (handle));
    ++*handles_freed;
    if (is(fault::tool_cvar_free_keeps)) *handle = before;
    return code;
}
int MPI_T_cvar_read(MPI_T_cvar_handle handle, void* value) {
    if (is(fault::tool_cvar_bad_handle) && handle == MPI_T_CVAR_HANDLE_NULL) return MPI_SUCCESS;
    if (is(fault::tool_cvar_free_all) && *handles_freed > 0) return MPI_T_ERR_INVALID_HANDLE;
    MODEL(cvar_read, (handle, value));
    auto* const bytes = static_cast<char*>(value);
    if (is(fault::tool_cvar_read_more) && is_of(handle, "model_win")) std::memset(bytes + 8, 0, 4);
    if (is(fault::tool_cvar_constant) && is_of(handle, "model_constant")) bytes[0] = static_cast<char>(++*asked);
    if (is(fault::tool_cvar_open_text) && is_of(handle, "model_string")) std::memset(bytes, 'x', 24);
    if (is(fault::tool_cvar_enum_value) && is_of(handle, "model_color")) bytes[0] = 77;
    if (is(fault::tool_finalize_resets) && *asked > 0) bytes[0] = static_cast<char>(~bytes[0]);
    return code;
}
int MPI_T_cvar_write(MPI_T_cvar_handle handle, void const* value) {
    control_variable_written(value);
    if (is(fault::tool_cvar_write_lost) && is_of(handle, "model_file")) return MPI_SUCCESS;
    if (is(fault::tool_cvar_write_part) && is_of(handle, "model_group_eq")) {
        std::array<std::int64_t, 3> all{};
        tool_model::cvar_read(handle, all.data());
        std::memcpy(all.data(), value, sizeof all[0]);
        return tool_model::cvar_write(handle, all.data());
    }
    MODEL(cvar_write, (handle, value));
    if (is(fault::tool_cvar_write_readonly) && code == MPI_T_ERR_CVAR_SET_NEVER) return MPI_SUCCESS;
    if (is(fault::tool_cvar_write_code) && code == MPI_T_ERR_CVAR_SET_NOT_NOW) return MPI_T_ERR_INVALID;
    return code;
}

int MPI_T_pvar_get_num(int* n) {
    if (is(fault::tool_used_unopened)) return MPI_SUCCESS;
    MODEL(pvar_get_num, (n));
    *n = fewer(fault::tool_pvar_num_falls, *n);
    return code;
}
int MPI_T_pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* type,
                        MPI_T_enum* values, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
                        int* atomic) {
    int const room = name_len != nullptr ? *name_len : 0, desc_room = desc_len != nullptr ? *desc_len : 0;
    MODEL(pvar_get_info, (index, name, name_len, verbosity, var_class, type, values, desc, desc_len, bind, readonly,
                          continuous, atomic));
    if (is(fault::tool_pvar_bad_index) && code != MPI_SUCCESS) return MPI_T_ERR_INVALID;
    if (code != MPI_SUCCESS) return code;
    if (is(fault::tool_text_overflow) && desc != nullptr && desc_room > 0 && *desc_len > desc_room)
        desc[desc_room] = '\0';
    if (is(fault::tool_text_length) && name_len != nullptr && room == 0) --*name_len;
    bool const counter = var_class != nullptr && *var_class == MPI_T_PVAR_CLASS_COUNTER;
    if (is(fault::tool_pvar_class) && index == 4) set(var_class, 0x1000);
    if (is(fault::tool_pvar_type) && counter) set<MPI_Datatype>(type, MPI_DOUBLE);
    if (is(fault::tool_pvar_state_enum)) set<MPI_T_enum>(values, MPI_T_ENUM_NULL);
    if (is(fault::tool_pvar_flags) && index == 7) set(continuous, 2);
    if (is(fault::tool_pvar_same_name)) set(name, name_len, "model");
    if (is(fault::tool_pvar_info_changes) && ++*asked > 1) set<int>(verbosity, MPI_T_VERBOSITY_USER_ALL);
    if (is(fault::tool_pvar_no_description) && desc != nullptr && desc_len != nullptr && *desc == '\0') *desc_len = 0;
    if (is(fault::tool_pvar_null_type) && type == nullptr) set(var_class, -77);
    if (is(fault::tool_pvar_elsewhere) && on_rank_1()) set<int>(verbosity, MPI_T_VERBOSITY_USER_ALL);
    return code;
}
int MPI_T_pvar_get_index(char const* name, int var_class, int* index) {
    MODEL(pvar_get_index, (name, var_class, index));
    if (code == MPI_SUCCESS) return code;
    if (is(fault::tool_code_too_large)) return MPI_ERR_LASTCODE + 1;
    if (is(fault::tool_pvar_index_code)) return MPI_T_ERR_INVALID_INDEX;
    if (is(fault::tool_pvar_index))
        for (int other = 0; other < 64; ++other)
            if (tool_model::pvar_get_index(name, other, index) == MPI_SUCCESS) return MPI_SUCCESS;
    return code;
}
int MPI_T_pvar_session_create(MPI_T_pvar_session* session) {
    static memory<MPI_T_pvar_session> only;
    if (is(fault::tool_pvar_one_session) && *only != MPI_T_PVAR_SESSION_NULL) {
        *session = *only;
        return MPI_SUCCESS;
    }
    MODEL(pvar_session_create, (session));
    *only = *session;
    return code;
}
int MPI_T_pvar_session_free(MPI_T_pvar_session* session) {
    auto const before = *session;
    MODEL(pvar_session_free, (session));
    if (is(fault::tool_pvar_session_keeps)) *session = before;
    return code;
}
int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object, MPI_T_pvar_handle* handle,
                            int* count) {
    int bind = -1, of = -1;
    if (modelled())
        tool_model::pvar_get_info(index, nullptr, nullptr, nullptr, &of, nullptr, nullptr, nullptr, nullptr, &bind,
                                  nullptr, nullptr, nullptr);
    if (is(fault::tool_pvar_object) && bind == MPI_T_BIND_NO_OBJECT && object != nullptr)
        return MPI_T_ERR_INVALID_HANDLE;
    MODEL(pvar_handle_alloc, (session, index, object, handle, count));
    if (code == MPI_SUCCESS) {
        classes[*handle] = of;
        homes[*handle] = session;
        if (is(fault::tool_pvar_runs_at_once)) tool_model::pvar_start(session, *handle);
    }
    if (is(fault::tool_pvar_alloc)) *count = -1;
    return code;
}
int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
    auto const before = *handle;
    MODEL(pvar_handle_free, (session, handle));
    if (code == MPI_SUCCESS) homes.erase(before);
    if (is(fault::tool_pvar_free_keeps)) *handle = before;
    return code;
}
int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    if (is(fault::tool_pvar_bad_session) && session == MPI_T_PVAR_SESSION_NULL) return MPI_SUCCESS;
    if (is(fault::tool_pvar_start_refused) && class_of(handle) == MPI_T_PVAR_CLASS_LOWWATERMARK)
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    MODEL(pvar_start, (session, handle));
    if (is(fault::tool_pvar_all) && handle == MPI_T_PVAR_ALL_HANDLES) return MPI_T_ERR_PVAR_NO_STARTSTOP;
    return code;
}
int MPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    if (is(fault::tool_pvar_all_none) && handle == MPI_T_PVAR_ALL_HANDLES) return MPI_SUCCESS;
    if (is(fault::tool_pvar_runs_on) && class_of(handle) == MPI_T_PVAR_CLASS_TIMER) return MPI_SUCCESS;
    MODEL(pvar_stop, (session, handle));
    if (is(fault::tool_pvar_continuous) && code == MPI_T_ERR_PVAR_NO_STARTSTOP) return MPI_SUCCESS;
    if (is(fault::tool_pvar_other_session) && code == MPI_T_ERR_INVALID_HANDLE) return MPI_SUCCESS;
    return code;
}
int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* value) {
    if (is(fault::tool_pvar_read_all) && handle == MPI_T_PVAR_ALL_HANDLES) return MPI_SUCCESS;
    MODEL(pvar_read, (session, handle, value));
    if (code != MPI_SUCCESS) return code;
    int const c = class_of(handle);
    auto* const whole = static_cast<std::uint64_t*>(value);
    auto* const real = static_cast<double*>(value);
    if (is(fault::tool_pvar_read_more)) static_cast<char*>(value)[16] = 0;
    if (is(fault::tool_pvar_negative) && c == MPI_T_PVAR_CLASS_AGGREGATE) *real = -1 - *real;
    if (is(fault::tool_pvar_percent) && c == MPI_T_PVAR_CLASS_PERCENTAGE) *real = *real * 100 + 2;
    if (is(fault::tool_pvar_falls) && c == MPI_T_PVAR_CLASS_COUNTER && *whole > 3 && second_time()) *whole = 1;
    if (is(fault::tool_pvar_highwater_falls) && c == MPI_T_PVAR_CLASS_HIGHWATERMARK)
        *whole = 1000 - static_cast<std::uint64_t>(++*asked);
    if (is(fault::tool_pvar_lowwater_rises) && c == MPI_T_PVAR_CLASS_LOWWATERMARK)
        *whole = static_cast<std::uint64_t>(++*asked);
    return code;
}
int MPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void const* value) {
    if (is(fault::tool_pvar_write_lost) && class_of(handle) == MPI_T_PVAR_CLASS_SIZE) return MPI_SUCCESS;
    MODEL(pvar_write, (session, handle, value));
    return code;
}
int MPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    if (is(fault::tool_pvar_reset_kept) && class_of(handle) == MPI_T_PVAR_CLASS_COUNTER) return MPI_SUCCESS;
    if (is(fault::tool_pvar_reset_all_kept) && handle == MPI_T_PVAR_ALL_HANDLES) return MPI_SUCCESS;
    MODEL(pvar_reset, (session, handle));
    if (is(fault::tool_pvar_sessions_joined)) {
        std::array<double, 2> nothing{0.5, 0.5};
        for (auto const& [other, home] : homes)
            if (other != handle) tool_model::pvar_write(home, other, nothing.data());
    }
    if (is(fault::tool_pvar_write_readonly) && code == MPI_T_ERR_PVAR_NO_WRITE) return MPI_SUCCESS;
    return code;
}
int MPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* value) {
    if (is(fault::tool_pvar_readreset_kept)) return tool_model::pvar_read(session, handle, value);
    MODEL(pvar_readreset, (session, handle, value));
    if (is(fault::tool_pvar_not_atomic) && code == MPI_T_ERR_PVAR_NO_ATOMIC) return MPI_SUCCESS;
    return code;
}

int MPI_T_category_get_num(int* n) {
    MODEL(category_get_num, (n));
    *n = fewer(fault::tool_category_num_falls, *n);
    return code;
}
int MPI_T_category_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, int* cvars, int* pvars,
                            int* categories) {
    if (is(fault::tool_collective)) PMPI_Barrier(MPI_COMM_WORLD);
    int const length = name_len != nullptr ? *name_len : 0;
    MODEL(category_get_info, (index, name, name_len, desc, desc_len, cvars, pvars, categories));
    if (code != MPI_SUCCESS) return code;
    if (is(fault::tool_text_null_buffer) && name == nullptr && name_len != nullptr) *name_len = length;
    if (is(fault::tool_text_null_length) && desc != nullptr && desc_len == nullptr) desc[0] = '\0';
    if (is(fault::tool_category_same_name)) set(name, name_len, "model");
    if (is(fault::tool_category_no_description) && desc != nullptr && desc_len != nullptr && *desc == '\0')
        *desc_len = 0;
    if (is(fault::tool_category_null_description) && desc == nullptr) set(cvars, -77);
    if (is(fault::tool_category_elsewhere) && on_rank_1()) set(desc, desc_len, "else");
    if (is(fault::tool_category_circle) && index == 2) set(categories, 1);
    return code;
}
int MPI_T_category_get_index(char const* name, int* index) {
    MODEL(category_get_index, (name, index));
    if (is(fault::tool_category_index)) *index = 0;
    if (is(fault::tool_category_index_code) && code != MPI_SUCCESS) return MPI_T_ERR_INVALID_INDEX;
    if (is(fault::tool_calls_handler) && code != MPI_SUCCESS) PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_ARG);
    return code;
}
int MPI_T_category_get_cvars(int index, int len, int* indices) {
    MODEL(category_get_cvars, (index, len, indices));
    if (is(fault::tool_category_bad_index)) return MPI_SUCCESS;
    if (is(fault::tool_category_member_twice) && index == 1 && len > 1) indices[1] = indices[0];
    if (is(fault::tool_category_order) && index == 1 && len > 1 && second_time()) std::swap(indices[0], indices[1]);
    return code;
}
int MPI_T_category_get_pvars(int index, int len, int* indices) {
    MODEL(category_get_pvars, (index, len, indices));
    if (is(fault::tool_category_no_member) && index == 2 && len > 0) indices[0] = 100000;
    return code;
}
int MPI_T_category_get_categories(int index, int len, int* indices) {
    MODEL(category_get_categories, (index, len, indices));
    if (is(fault::tool_category_room) && index == 0 && len > 2) indices[2] = 0;
    if (is(fault::tool_category_circle) && index == 2 && len > 0) indices[0] = 0;
    return code;
}
int MPI_T_category_changed(int* number) {
    MODEL(category_changed, (number));
    if (is(fault::tool_category_changed)) *number -= ++*asked;
    return code;
}

} // extern "C"
