// The tools interface is answered by a model that has everything (preload/tool_model/).
#include "layers.hpp"
#include "preload/tool_model/tool_model.hpp"

using namespace assay_oddities;

ODDITY(tool_variables) {
    // The model counts also while the oddity is off.
    always_over<&PMPI_T_init_thread>([](auto, auto... a) { return tool_model::init_thread(a...); });
    always_over<&PMPI_T_finalize>([](auto) { return tool_model::finalize(false); });
    over<&PMPI_T_finalize>([](auto) { return tool_model::finalize(true); });
#define ANSWERED(name) over<&PMPI_T_##name>([](auto, auto... a) { return tool_model::name(a...); });
    ANSWERED(enum_get_info)
    ANSWERED(enum_get_item)
    ANSWERED(cvar_get_num)
    ANSWERED(cvar_get_info)
    ANSWERED(cvar_get_index)
    ANSWERED(cvar_handle_alloc)
    ANSWERED(cvar_handle_free)
    ANSWERED(cvar_read)
    ANSWERED(cvar_write)
    ANSWERED(pvar_get_num)
    ANSWERED(pvar_get_info)
    ANSWERED(pvar_get_index)
    ANSWERED(pvar_session_create)
    ANSWERED(pvar_session_free)
    ANSWERED(pvar_handle_alloc)
    ANSWERED(pvar_handle_free)
    ANSWERED(pvar_start)
    ANSWERED(pvar_stop)
    ANSWERED(pvar_read)
    ANSWERED(pvar_write)
    ANSWERED(pvar_reset)
    ANSWERED(pvar_readreset)
    ANSWERED(category_get_num)
    ANSWERED(category_get_info)
    ANSWERED(category_get_index)
    ANSWERED(category_get_cvars)
    ANSWERED(category_get_pvars)
    ANSWERED(category_get_categories)
    ANSWERED(category_changed)
#if ASSAY_TOOL_EVENTS
    ANSWERED(category_get_num_events)
    ANSWERED(category_get_events)
    ANSWERED(source_get_num)
    ANSWERED(source_get_info)
    ANSWERED(source_get_timestamp)
    ANSWERED(event_get_num)
    ANSWERED(event_get_info)
    ANSWERED(event_get_index)
    ANSWERED(event_handle_alloc)
    ANSWERED(event_handle_set_info)
    ANSWERED(event_handle_get_info)
    ANSWERED(event_register_callback)
    ANSWERED(event_callback_set_info)
    ANSWERED(event_callback_get_info)
    ANSWERED(event_handle_free)
    ANSWERED(event_set_dropped_handler)
    ANSWERED(event_read)
    ANSWERED(event_copy)
    ANSWERED(event_get_timestamp)
    ANSWERED(event_get_source)
#endif
#undef ANSWERED
}
