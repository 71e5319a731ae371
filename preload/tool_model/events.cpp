// Events and their sources (section 15.3.8).
#include "preload/tool_model/state.hpp"

#include <array>

namespace tool_model {

#if ASSAY_TOOL_EVENTS
namespace {

struct event_type {
    std::string name, desc;
    int bind;
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Aint> displacements;
};
std::vector<event_type> const& event_types() {
    static std::vector<event_type> const all{{"model_query",
                                              "somebody asks for the number of control variables",
                                              MPI_T_BIND_NO_OBJECT,
                                              {MPI_INT, MPI_DOUBLE, MPI_COUNT},
                                              {0, 8, 16}},
                                             {"model_query_of_comm", "", MPI_T_BIND_MPI_COMM, {MPI_UINT32_T}, {0}}};
    return all;
}

constexpr std::array levels{MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
                            MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
constexpr MPI_Count last_tick = MPI_Count{1} << 40;

struct registration {
    int type;
    struct callback {
        MPI_T_event_cb_function* function = nullptr;
        void* data = nullptr;
    };
    std::array<callback, levels.size()> callbacks;
    MPI_T_event_dropped_cb_function* dropped_handler = nullptr;
    MPI_Count dropped = 0;
};
std::list<registration> registrations;

struct instance {
    event_type const* type;
    int source;
    MPI_Count time;
    std::array<unsigned char, 24> data;
};

std::size_t number_of(MPI_T_cb_safety level) {
    return static_cast<std::size_t>(std::find(levels.begin(), levels.end(), level) - levels.begin());
}

int new_info(MPI_Info* info) { return info == nullptr ? int(MPI_SUCCESS) : PMPI_Info_create(info); }
instance& of_handle(MPI_T_event_instance handle) { return *reinterpret_cast<instance*>(handle); }
int look_up(MPI_T_event_registration handle) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    return find(registrations, handle) == registrations.end() ? int(MPI_T_ERR_INVALID_HANDLE) : int(MPI_SUCCESS);
}
int index_of_source(int index) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    return fits(index, 2) ? int(MPI_SUCCESS) : int(MPI_T_ERR_INVALID_INDEX);
}

} // namespace

// Each event comes in the next context: the first two in some that require nothing, the third in a signal handler, and so on.
void raise_events() {
    static int turn = 0;
    static bool inside = false;
    if (inside) return;
    inside = true;
    static constexpr std::array<std::size_t, 6> contexts{0, 0, 3, 1, 2, 0};
    auto const required = contexts[static_cast<std::size_t>(turn++) % contexts.size()];
    std::vector<MPI_T_event_registration> there; // callbacks may free them
    for (auto& r : registrations) there.push_back(handle_of<MPI_T_event_registration>(r));
    for (auto handle : there) {
        auto const r = find(registrations, handle);
        if (r == registrations.end()) continue;
        auto const best = std::find_if(r->callbacks.begin() + static_cast<std::ptrdiff_t>(required), r->callbacks.end(),
                                       [](auto const& c) { return c.function != nullptr; });
        if (best == r->callbacks.end()) {
            if (r->dropped_handler != nullptr) ++r->dropped;
            continue;
        }
        auto const level = levels[required];
        if (r->dropped > 0 && r->dropped_handler != nullptr) {
            auto const n = r->dropped;
            r->dropped = 0;
            r->dropped_handler(n, handle, 0, level, best->data);
        }
        instance now{&event_types()[static_cast<std::size_t>(r->type)], 0, calls, {}};
        int const n = static_cast<int>(calls);
        double const x = static_cast<double>(calls) / 2;
        MPI_Count const y = calls * 3;
        std::memcpy(now.data.data(), &n, sizeof n);
        if (r->type == 0) {
            std::memcpy(now.data.data() + 8, &x, sizeof x);
            std::memcpy(now.data.data() + 16, &y, sizeof y);
        }
        best->function(handle_of<MPI_T_event_instance>(now), handle, level, best->data);
    }
    inside = false;
}

void forget_registrations() { registrations.clear(); }

int source_get_num(int* n) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    *n = 2;
    return MPI_SUCCESS;
}
int source_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, MPI_T_source_order* order,
                    MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info) {
    if (int const code = index_of_source(index); code != MPI_SUCCESS) return code;
    put(index == 0 ? "model_calls" : "model_silent", name, name_len);
    put("counts the calls of the tools interface", desc, desc_len);
    put(order, index == 0 ? MPI_T_SOURCE_ORDERED : MPI_T_SOURCE_UNORDERED);
    put(ticks_per_second, MPI_Count{1000});
    put(max_ticks, last_tick);
    return new_info(info);
}
int source_get_timestamp(int index, MPI_Count* timestamp) {
    if (int const code = index_of_source(index); code != MPI_SUCCESS) return code;
    if (index == 1) return MPI_T_ERR_NOT_SUPPORTED;
    *timestamp = calls;
    return MPI_SUCCESS;
}

int event_get_num(int* n) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    *n = static_cast<int>(event_types().size());
    return MPI_SUCCESS;
}
int event_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* types, MPI_Aint* displacements,
                   int* elements, MPI_T_enum* values, MPI_Info* info, char* desc, int* desc_len, int* bind) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (!fits(index, event_types().size())) return MPI_T_ERR_INVALID_INDEX;
    auto const& e = event_types()[static_cast<std::size_t>(index)];
    put(e.name, name, name_len);
    put<int>(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    if (elements != nullptr) {
        for (std::size_t i = 0; i < e.types.size() && i < static_cast<std::size_t>(*elements); ++i) {
            if (types != nullptr) types[i] = e.types[i];
            if (displacements != nullptr) displacements[i] = e.displacements[i];
        }
        *elements = static_cast<int>(e.types.size());
    }
    put(values, MPI_T_ENUM_NULL);
    put(e.desc, desc, desc_len);
    put(bind, e.bind);
    return new_info(info);
}
int event_get_index(char const* name, int* index) { return index_named(event_types(), name, index); }
int event_handle_alloc(int index, void*, MPI_Info, MPI_T_event_registration* made) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (!fits(index, event_types().size())) return MPI_T_ERR_INVALID_INDEX;
    registrations.push_back({index, {}});
    *made = handle_of<MPI_T_event_registration>(registrations.back());
    return MPI_SUCCESS;
}
int event_handle_set_info(MPI_T_event_registration of, MPI_Info) { return look_up(of); }
int event_handle_get_info(MPI_T_event_registration of, MPI_Info* info) {
    int const code = look_up(of);
    return code == MPI_SUCCESS ? new_info(info) : code;
}
int event_register_callback(MPI_T_event_registration of, MPI_T_cb_safety level, MPI_Info, void* user_data,
                            MPI_T_event_cb_function* callback) {
    if (int const code = look_up(of); code != MPI_SUCCESS) return code;
    if (number_of(level) == levels.size()) return MPI_T_ERR_INVALID;
    find(registrations, of)->callbacks[number_of(level)] = {callback, user_data};
    return MPI_SUCCESS;
}
int event_callback_set_info(MPI_T_event_registration of, MPI_T_cb_safety, MPI_Info) { return look_up(of); }
int event_callback_get_info(MPI_T_event_registration of, MPI_T_cb_safety, MPI_Info* info) {
    int const code = look_up(of);
    return code == MPI_SUCCESS ? new_info(info) : code;
}
int event_handle_free(MPI_T_event_registration of, void* user_data, MPI_T_event_free_cb_function* callback) {
    if (int const code = look_up(of); code != MPI_SUCCESS) return code;
    registrations.erase(find(registrations, of));
    if (callback != nullptr) callback(of, MPI_T_CB_REQUIRE_NONE, user_data);
    return MPI_SUCCESS;
}
int event_set_dropped_handler(MPI_T_event_registration of, MPI_T_event_dropped_cb_function* handler) {
    if (int const code = look_up(of); code != MPI_SUCCESS) return code;
    auto& r = *find(registrations, of);
    r.dropped_handler = handler;
    r.dropped = 0;
    return MPI_SUCCESS;
}
int event_read(MPI_T_event_instance instance, int element, void* value) {
    auto const& i = of_handle(instance);
    if (!fits(element, i.type->types.size())) return MPI_T_ERR_INVALID_INDEX;
    auto const e = static_cast<std::size_t>(element);
    std::memcpy(value, i.data.data() + i.type->displacements[e], size_of(i.type->types[e]));
    return MPI_SUCCESS;
}
int event_copy(MPI_T_event_instance instance, void* values) {
    auto const& i = of_handle(instance);
    auto const last = i.type->types.size() - 1;
    std::memcpy(values, i.data.data(),
                static_cast<std::size_t>(i.type->displacements[last]) + size_of(i.type->types[last]));
    return MPI_SUCCESS;
}
int event_get_timestamp(MPI_T_event_instance instance, MPI_Count* timestamp) {
    *timestamp = of_handle(instance).time;
    return MPI_SUCCESS;
}
int event_get_source(MPI_T_event_instance instance, int* index) {
    *index = of_handle(instance).source;
    return MPI_SUCCESS;
}
#else
void raise_events() {}
void forget_registrations() {}
#endif

} // namespace tool_model
