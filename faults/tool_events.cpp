// Events of the tools interface: faults of the model.
#include "core/tool.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <vector>

#if ASSAY_TOOL_EVENTS

using namespace assay_faults;

namespace {

// What a program has registered. The model gets a callback of ours instead, so that what it says to the program can
// be wrong.
struct callback {
    MPI_T_event_cb_function* function;
    void* data;
    MPI_T_cb_safety level;
};
std::map<MPI_T_event_registration, std::list<callback>> callbacks; // the last of a level is the one that holds
std::map<MPI_T_event_registration, MPI_T_event_dropped_cb_function*> handlers;

void bent(MPI_T_event_instance instance, MPI_T_event_registration of, MPI_T_cb_safety required, void* data) {
    auto const* called = static_cast<callback const*>(data);
    if (is(fault::tool_event_highest))
        for (auto const& one : callbacks[of])
            if (one.level >= called->level) called = &one;
    if (is(fault::tool_event_safety) && called->level == MPI_T_CB_REQUIRE_NONE)
        required = MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE;
    called->function(instance, of, required, is(fault::tool_event_user_data) ? nullptr : called->data);
}
void bent_dropped(MPI_Count count, MPI_T_event_registration of, int source, MPI_T_cb_safety required, void* data) {
    auto const* called = static_cast<callback const*>(data);
    auto* const handler = handlers[of];
    if (handler == nullptr) return;
    handler(is(fault::tool_event_dropped_none) ? 0 : count, of, source, required,
            is(fault::tool_event_dropped_data) ? nullptr : called->data);
}

} // namespace

extern "C" {

int MPI_T_category_get_num_events(int index, int* n) {
    MODEL(category_get_num_events, (index, n));
    if (is(fault::tool_category_events) && code == MPI_SUCCESS && *n > 0) --*n;
    return code;
}
int MPI_T_category_get_events(int index, int len, int* indices) {
    MODEL(category_get_events, (index, len, indices));
    return code;
}

int MPI_T_source_get_num(int* n) {
    MODEL(source_get_num, (n));
    *n = fewer(fault::tool_source_num_falls, *n);
    return code;
}
int MPI_T_source_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, MPI_T_source_order* order,
                          MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info) {
    MODEL(source_get_info, (index, name, name_len, desc, desc_len, order, ticks_per_second, max_ticks, info));
    if (is(fault::tool_source_changes) && second_time()) set(ticks_per_second, MPI_Count{7});
    int const neither = 77;
    if (is(fault::tool_source_order) && order != nullptr) std::memcpy(order, &neither, sizeof *order);
    if (is(fault::tool_source_no_info) && info != nullptr) PMPI_Info_free(info);
    return code;
}
int MPI_T_source_get_timestamp(int index, MPI_Count* timestamp) {
    MODEL(source_get_timestamp, (index, timestamp));
    if (is(fault::tool_source_bad_index) && code == MPI_T_ERR_INVALID_INDEX) return MPI_T_ERR_NOT_SUPPORTED;
    if (code != MPI_SUCCESS) return code;
    if (is(fault::tool_source_late)) *timestamp += MPI_Count{1} << 50;
    if (is(fault::tool_source_back)) *timestamp = 1000 - ++*asked;
    return code;
}

int MPI_T_event_get_num(int* n) {
    MODEL(event_get_num, (n));
    *n = fewer(fault::tool_event_num_falls, *n);
    return code;
}
int MPI_T_event_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* types,
                         MPI_Aint* displacements, int* elements, MPI_T_enum* values, MPI_Info* info, char* desc,
                         int* desc_len, int* bind) {
    int const room = elements != nullptr ? *elements : 0;
    MODEL(event_get_info,
          (index, name, name_len, verbosity, types, displacements, elements, values, info, desc, desc_len, bind));
    if (is(fault::tool_event_bad_index) && code != MPI_SUCCESS) return MPI_T_ERR_INVALID;
    if (code != MPI_SUCCESS) return code;
    if (is(fault::tool_event_changes) && ++*asked > 1) set<int>(verbosity, MPI_T_VERBOSITY_USER_ALL);
    if (is(fault::tool_event_same_name)) set(name, name_len, "model_query");
    if (is(fault::tool_event_displacements) && displacements != nullptr && room > 0) displacements[0] = 4;
    if (is(fault::tool_event_no_info) && info != nullptr) PMPI_Info_free(info);
    if (is(fault::tool_event_null_name) && name == nullptr) set(bind, -77);
    if (is(fault::tool_event_elements) && elements != nullptr && *elements > room) *elements = room;
    if (is(fault::tool_event_elements_room) && elements != nullptr && room < *elements)
        set<MPI_Datatype>(types != nullptr ? types + room : nullptr, MPI_DOUBLE);
    if (is(fault::tool_event_elsewhere) && world_rank == 1) set(desc, desc_len, "else");
    return code;
}
int MPI_T_event_get_index(char const* name, int* index) {
    MODEL(event_get_index, (name, index));
    if (is(fault::tool_event_index)) *index = 0;
    if (is(fault::tool_event_index_code) && code != MPI_SUCCESS) return MPI_T_ERR_INVALID;
    return code;
}

int MPI_T_event_handle_alloc(int index, void* object, MPI_Info info, MPI_T_event_registration* made) {
    MODEL(event_handle_alloc, (index, object, info, made));
    if (code == MPI_SUCCESS) {
        callbacks[*made].clear();
        handlers[*made] = nullptr;
    }
    if (is(fault::tool_event_alloc) && index == 1) return MPI_T_ERR_OUT_OF_HANDLES;
    return code;
}
int MPI_T_event_handle_set_info(MPI_T_event_registration of, MPI_Info info) {
    MODEL(event_handle_set_info, (of, info));
    return code;
}
int MPI_T_event_handle_get_info(MPI_T_event_registration of, MPI_Info* info) {
    MODEL(event_handle_get_info, (of, info));
    if (is(fault::tool_event_hints)) PMPI_Info_free(info);
    return code;
}
int MPI_T_event_callback_set_info(MPI_T_event_registration of, MPI_T_cb_safety level, MPI_Info info) {
    MODEL(event_callback_set_info, (of, level, info));
    return code;
}
int MPI_T_event_callback_get_info(MPI_T_event_registration of, MPI_T_cb_safety level, MPI_Info* info) {
    MODEL(event_callback_get_info, (of, level, info));
    if (is(fault::tool_event_callback_hints)) PMPI_Info_free(info);
    return code;
}
int MPI_T_event_register_callback(MPI_T_event_registration of, MPI_T_cb_safety level, MPI_Info info, void* user_data,
                                  MPI_T_event_cb_function* function) {
    if (!modelled()) return PMPI_T_event_register_callback(of, level, info, user_data, function);
    auto& all = callbacks[of];
    if (function == nullptr) {
        if (is(fault::tool_event_removed)) return MPI_SUCCESS;
        return tool_model::event_register_callback(of, level, info, nullptr, nullptr);
    }
    bool const there = std::any_of(all.begin(), all.end(), [level](auto const& c) { return c.level == level; });
    if (is(fault::tool_event_replaced) && there && level == MPI_T_CB_REQUIRE_NONE) return MPI_SUCCESS;
    all.push_back({function, user_data, level});
    return tool_model::event_register_callback(of, level, info, &all.back(), bent);
}
int MPI_T_event_handle_free(MPI_T_event_registration of, void* user_data, MPI_T_event_free_cb_function* function) {
    if (is(fault::tool_event_free_goes_on) && function != nullptr) {
        function(of, MPI_T_CB_REQUIRE_NONE, user_data);
        return MPI_SUCCESS;
    }
    MODEL(event_handle_free, (of, is(fault::tool_event_free_data) ? nullptr : user_data, function));
    if (is(fault::tool_event_free_twice)) return MPI_SUCCESS;
    return code;
}
int MPI_T_event_set_dropped_handler(MPI_T_event_registration of, MPI_T_event_dropped_cb_function* handler) {
    if (!modelled()) return PMPI_T_event_set_dropped_handler(of, handler);
    if (handler == nullptr && is(fault::tool_event_dropped_stays)) return MPI_SUCCESS;
    handlers[of] = handler;
    return tool_model::event_set_dropped_handler(of, handler != nullptr ? bent_dropped : nullptr);
}

int MPI_T_event_read(MPI_T_event_instance instance, int element, void* value) {
    MODEL(event_read, (instance, element, value));
    return is(fault::tool_event_not_accessible) ? int(MPI_T_ERR_NOT_ACCESSIBLE) : code;
}
int MPI_T_event_copy(MPI_T_event_instance instance, void* values) {
    MODEL(event_copy, (instance, values));
    if (is(fault::tool_event_copy)) {
        auto* const last = static_cast<char*>(values) + 16;
        std::memmove(last + 1, last, 8);
        *last = 0x55;
        std::memmove(static_cast<char*>(values) + 1, values, 4);
    }
    return code;
}
int MPI_T_event_get_timestamp(MPI_T_event_instance instance, MPI_Count* timestamp) {
    MODEL(event_get_timestamp, (instance, timestamp));
    if (is(fault::tool_event_late)) *timestamp = 100000 - ++*asked;
    return code;
}
int MPI_T_event_get_source(MPI_T_event_instance instance, int* index) {
    MODEL(event_get_source, (instance, index));
    if (is(fault::tool_event_source)) *index = 7;
    return code;
}

} // extern "C"
#endif
