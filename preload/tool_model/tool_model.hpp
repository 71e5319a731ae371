// A tools interface (MPI-5.0 section 15.3) that has everything of which libraries have little or nothing: control variables bound to
// each kind of object, performance variables of each class, events of several sources. Two preloaded libraries answer with it
// in place of the MPI library: oddities/ shows that the tests accept it, faults/ that they see what is wrong in it.
//
// Each procedure has the name of MPI's without its prefix, and its arguments and results. Whoever uses the model hands it every
// call of MPI_T_init_thread and MPI_T_finalize. What moves its performance variables and raises its events are calls of itself.
#pragma once
#include "preload/versions.hpp"

#include <mpi.h>

// Open MPI 5 has no events.
#if MPI_VERSION >= 4
#define ASSAY_TOOL_EVENTS 1
#else
#define ASSAY_TOOL_EVENTS 0
#endif

namespace tool_model {

int init_thread(int required, int* provided); // of the MPI library, and counts
// `answers`: the model refuses what is called too often. Otherwise the library says what comes of it.
int finalize(bool answers);

int enum_get_info(MPI_T_enum which, int* n, char* name, int* name_len);
int enum_get_item(MPI_T_enum which, int index, int* value, char* name, int* name_len);

int cvar_get_num(int* n);
int cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* type, MPI_T_enum* values,
                  char* desc, int* desc_len, int* bind, int* scope);
int cvar_get_index(char const* name, int* index);
int cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count);
int cvar_handle_free(MPI_T_cvar_handle* handle);
int cvar_read(MPI_T_cvar_handle handle, void* value);
int cvar_write(MPI_T_cvar_handle handle, void const* value);

int pvar_get_num(int* n);
int pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* type,
                  MPI_T_enum* values, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
                  int* atomic);
int pvar_get_index(char const* name, int var_class, int* index);
int pvar_session_create(MPI_T_pvar_session* session);
int pvar_session_free(MPI_T_pvar_session* session);
int pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object, MPI_T_pvar_handle* handle, int* count);
int pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle);
int pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* value);
int pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void const* value);
int pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* value);

int category_get_num(int* n);
int category_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, int* cvars, int* pvars,
                      int* categories);
int category_get_index(char const* name, int* index);
int category_get_cvars(int index, int len, int* indices);
int category_get_pvars(int index, int len, int* indices);
int category_get_categories(int index, int len, int* indices);
int category_changed(int* number);

#if ASSAY_TOOL_EVENTS
int category_get_num_events(int index, int* n);
int category_get_events(int index, int len, int* indices);

int source_get_num(int* n);
int source_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, MPI_T_source_order* order,
                    MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info);
int source_get_timestamp(int index, MPI_Count* timestamp);

int event_get_num(int* n);
int event_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* types, MPI_Aint* displacements,
                   int* elements, MPI_T_enum* values, MPI_Info* info, char* desc, int* desc_len, int* bind);
int event_get_index(char const* name, int* index);
int event_handle_alloc(int index, void* object, MPI_Info info, MPI_T_event_registration* made);
int event_handle_set_info(MPI_T_event_registration of, MPI_Info info);
int event_handle_get_info(MPI_T_event_registration of, MPI_Info* info);
int event_register_callback(MPI_T_event_registration of, MPI_T_cb_safety level, MPI_Info info, void* user_data,
                            MPI_T_event_cb_function* callback);
int event_callback_set_info(MPI_T_event_registration of, MPI_T_cb_safety level, MPI_Info info);
int event_callback_get_info(MPI_T_event_registration of, MPI_T_cb_safety level, MPI_Info* info);
int event_handle_free(MPI_T_event_registration of, void* user_data, MPI_T_event_free_cb_function* callback);
int event_set_dropped_handler(MPI_T_event_registration of, MPI_T_event_dropped_cb_function* handler);
int event_read(MPI_T_event_instance instance, int element, void* value);
int event_copy(MPI_T_event_instance instance, void* values);
int event_get_timestamp(MPI_T_event_instance instance, MPI_Count* timestamp);
int event_get_source(MPI_T_event_instance instance, int* index);
#endif

} // namespace tool_model
