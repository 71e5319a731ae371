#include "tool_model.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <list>
#include <string>
#include <vector>

namespace tool_model {
namespace {

int opened = 0;
long calls = 0; // of this interface: what the performance variables count

// Whether the interface is open. Every procedure asks: that is a call which counts.
bool is_closed() {
    ++calls;
    return opened == 0;
}

bool fits(int index, std::size_t n) { return index >= 0 && static_cast<std::size_t>(index) < n; }

template <class T> void put(T* to, T value) {
    if (to != nullptr) *to = value;
}

// Section 15.3.3.
void put(std::string const& text, char* to, int* length) {
    if (length == nullptr) return;
    if (to != nullptr && *length > 0) {
        auto const n = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
        std::memcpy(to, text.data(), n);
        to[n] = '\0';
    }
    *length = static_cast<int>(text.size()) + 1;
}

template <class Handle, class T> Handle handle_of(T& what) { return reinterpret_cast<Handle>(&what); }
template <class T, class Handle> typename std::list<T>::iterator find(std::list<T>& all, Handle handle) {
    return std::find_if(all.begin(), all.end(), [handle](T& one) { return handle_of<Handle>(one) == handle; });
}

// ---- Enumerations

struct enumeration {
    std::string name;
    std::vector<std::pair<std::string, int>> items;
};
std::array<enumeration, 2> enumerations{
    {{"model_color", {{"red", 1}, {"green", 2}, {"blue", 4}}}, {"model_state", {{"idle", 0}, {"busy", -1}}}}};

enumeration* of_handle(MPI_T_enum which) {
    for (auto& e : enumerations)
        if (handle_of<MPI_T_enum>(e) == which) return &e;
    return nullptr;
}
MPI_T_enum enumeration_handle(int n) {
    return n < 0 ? MPI_T_ENUM_NULL : handle_of<MPI_T_enum>(enumerations[static_cast<std::size_t>(n)]);
}

std::size_t size_of(MPI_Datatype type) {
    if (type == MPI_CHAR) return 1;
    if (type == MPI_INT || type == MPI_UNSIGNED || type == MPI_INT32_T || type == MPI_UINT32_T) return 4;
    return 8;
}

// ---- Control variables

struct control {
    std::string name, desc;
    int verbosity;
    MPI_Datatype type;
    int values; // which enumeration, or -1
    int bind, scope, count;
    std::vector<std::uint64_t> bytes; // the value
    std::size_t size() const { return size_of(type) * static_cast<std::size_t>(count); }
    bool readonly() const { return scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY; }
};

std::vector<std::pair<std::string, int>> objects() {
    return {{"comm", MPI_T_BIND_MPI_COMM},
            {"datatype", MPI_T_BIND_MPI_DATATYPE},
            {"errhandler", MPI_T_BIND_MPI_ERRHANDLER},
            {"file", MPI_T_BIND_MPI_FILE},
            {"group", MPI_T_BIND_MPI_GROUP},
            {"op", MPI_T_BIND_MPI_OP},
            {"request", MPI_T_BIND_MPI_REQUEST},
            {"win", MPI_T_BIND_MPI_WIN},
            {"message", MPI_T_BIND_MPI_MESSAGE},
            {"info", MPI_T_BIND_MPI_INFO}
#if MPI_VERSION >= 5
            ,
            {"session", MPI_T_BIND_MPI_SESSION}
#endif
    };
}

std::vector<control>& controls() {
    static std::vector<control> all = [] {
        std::vector<control> some{{"model_string",
                                   "what is written here stays",
                                   MPI_T_VERBOSITY_USER_BASIC,
                                   MPI_CHAR,
                                   -1,
                                   MPI_T_BIND_NO_OBJECT,
                                   MPI_T_SCOPE_LOCAL,
                                   24,
                                   {}},
                                  {"model_color",
                                   "an enumeration",
                                   MPI_T_VERBOSITY_USER_DETAIL,
                                   MPI_INT,
                                   0,
                                   MPI_T_BIND_NO_OBJECT,
                                   MPI_T_SCOPE_LOCAL,
                                   1,
                                   {1}},
                                  {"model_constant",
                                   "",
                                   MPI_T_VERBOSITY_USER_ALL,
                                   MPI_UNSIGNED_LONG,
                                   -1,
                                   MPI_T_BIND_NO_OBJECT,
                                   MPI_T_SCOPE_CONSTANT,
                                   1,
                                   {77}},
                                  {"model_readonly",
                                   "changes by itself",
                                   MPI_T_VERBOSITY_TUNER_BASIC,
                                   MPI_COUNT,
                                   -1,
                                   MPI_T_BIND_NO_OBJECT,
                                   MPI_T_SCOPE_READONLY,
                                   1,
                                   {0}},
                                  {"model_group_eq",
                                   "equal in the world",
                                   MPI_T_VERBOSITY_TUNER_DETAIL,
                                   MPI_INT64_T,
                                   -1,
                                   MPI_T_BIND_NO_OBJECT,
                                   MPI_T_SCOPE_GROUP_EQ,
                                   3,
                                   {1, 2, 3}},
                                  {"model_all",
                                   "equal everywhere",
                                   MPI_T_VERBOSITY_TUNER_ALL,
                                   MPI_DOUBLE,
                                   -1,
                                   MPI_T_BIND_NO_OBJECT,
                                   MPI_T_SCOPE_ALL_EQ,
                                   1,
                                   {0}},
                                  {"model_refuses",
                                   "never changes, though it might",
                                   MPI_T_VERBOSITY_MPIDEV_ALL,
                                   MPI_UINT32_T,
                                   -1,
                                   MPI_T_BIND_NO_OBJECT,
                                   MPI_T_SCOPE_ALL,
                                   1,
                                   {5}}};
        for (auto const& [name, bind] : objects())
            some.push_back({"model_" + name,
                            "of an object",
                            MPI_T_VERBOSITY_MPIDEV_BASIC,
                            MPI_INT,
                            -1,
                            bind,
                            MPI_T_SCOPE_LOCAL,
                            2,
                            {0}});
        for (auto& c : some) c.bytes.resize(8);
        return some;
    }();
    return all;
}

struct control_handle {
    control* of;
};
std::list<control_handle> control_handles;

// ---- Performance variables

struct performance {
    std::string name, desc;
    int var_class;
    MPI_Datatype type;
    int values, bind;
    bool readonly, continuous, atomic;
};

bool counts(int var_class) {
    return var_class == MPI_T_PVAR_CLASS_COUNTER || var_class == MPI_T_PVAR_CLASS_AGGREGATE ||
           var_class == MPI_T_PVAR_CLASS_TIMER;
}

std::vector<performance> const& performances() {
    static std::vector<performance> const all = [] {
        struct row {
            char const* name;
            int var_class;
            MPI_Datatype type;
            int values;
        };
        std::vector<row> const rows{{"state", MPI_T_PVAR_CLASS_STATE, MPI_INT, 1},
                                    {"level", MPI_T_PVAR_CLASS_LEVEL, MPI_UNSIGNED_LONG, -1},
                                    {"size", MPI_T_PVAR_CLASS_SIZE, MPI_UNSIGNED_LONG_LONG, -1},
                                    {"percentage", MPI_T_PVAR_CLASS_PERCENTAGE, MPI_DOUBLE, -1},
                                    {"highwater", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_UNSIGNED_LONG, -1},
                                    {"lowwater", MPI_T_PVAR_CLASS_LOWWATERMARK, MPI_UNSIGNED_LONG, -1},
                                    {"counter", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED_LONG, -1},
                                    {"aggregate", MPI_T_PVAR_CLASS_AGGREGATE, MPI_DOUBLE, -1},
                                    {"timer", MPI_T_PVAR_CLASS_TIMER, MPI_DOUBLE, -1},
                                    {"generic", MPI_T_PVAR_CLASS_GENERIC, MPI_UNSIGNED, -1}};
        std::vector<performance> some;
        auto const kinds = objects();
        std::size_t k = 0;
        for (auto const& r : rows) {
            some.push_back({"model", "calls of the tools interface", r.var_class, r.type, r.values,
                            MPI_T_BIND_NO_OBJECT, false, false, true});
            some.push_back({std::string("model_own_") + r.name, "", r.var_class, r.type, r.values,
                            kinds[k++ % kinds.size()].second, true, true, false});
            some.push_back({std::string("model_stepwise_") + r.name, "not at once", r.var_class, r.type, r.values,
                            MPI_T_BIND_NO_OBJECT, false, false, false});
        }
        return some;
    }();
    return all;
}

struct session {
    int unused = 0;
};
std::list<session> sessions;

struct performance_handle {
    MPI_T_pvar_session in;
    performance const* of;
    bool running;
    long base;        // of `calls`, where it was started or read last
    double value = 0; // of the first element; the second one has the same
    int count = 2;
};
std::list<performance_handle> performance_handles;

double level_now() { return static_cast<double>(calls % 7); }

void restart(performance_handle& h) {
    h.base = calls;
    auto const c = h.of->var_class;
    if (counts(c)) h.value = 0;
    else if (c == MPI_T_PVAR_CLASS_SIZE) h.value = 64;
    else if (c == MPI_T_PVAR_CLASS_STATE) h.value = -static_cast<double>(calls % 2);
    else if (c == MPI_T_PVAR_CLASS_PERCENTAGE) h.value = level_now() / 7;
    else h.value = level_now();
}
void update(performance_handle& h) {
    if (!h.running) return;
    auto const passed = static_cast<double>(calls - h.base);
    h.base = calls;
    switch (h.of->var_class) {
    case MPI_T_PVAR_CLASS_COUNTER: h.value += passed; break;
    case MPI_T_PVAR_CLASS_AGGREGATE: h.value += 16 * passed; break;
    case MPI_T_PVAR_CLASS_TIMER: h.value += passed / 1e6; break;
    case MPI_T_PVAR_CLASS_HIGHWATERMARK: h.value = std::max(h.value, level_now()); break;
    case MPI_T_PVAR_CLASS_LOWWATERMARK: h.value = std::min(h.value, level_now()); break;
    default: restart(h);
    }
}

void store(performance_handle const& h, void* to) {
    for (int i = 0; i < h.count; ++i) {
        auto* at = static_cast<char*>(to) + static_cast<std::size_t>(i) * size_of(h.of->type);
        if (h.of->type == MPI_DOUBLE) std::memcpy(at, &h.value, sizeof h.value);
        else if (size_of(h.of->type) == 4) {
            auto const value = static_cast<int>(h.value);
            std::memcpy(at, &value, sizeof value);
        } else {
            auto const value = static_cast<std::uint64_t>(h.value);
            std::memcpy(at, &value, sizeof value);
        }
    }
}
void load(performance_handle& h, void const* from) {
    h.base = calls;
    if (h.of->type == MPI_DOUBLE) std::memcpy(&h.value, from, sizeof h.value);
    else if (size_of(h.of->type) == 4) {
        int value = 0;
        std::memcpy(&value, from, sizeof value);
        h.value = value;
    } else {
        std::uint64_t value = 0;
        std::memcpy(&value, from, sizeof value);
        h.value = static_cast<double>(value);
    }
}

// The handle in its session, or what is wrong with them.
int look_up(MPI_T_pvar_session in, MPI_T_pvar_handle handle, performance_handle*& found) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (find(sessions, in) == sessions.end()) return MPI_T_ERR_INVALID_SESSION;
    auto const h = find(performance_handles, handle);
    if (h == performance_handles.end() || h->in != in) return MPI_T_ERR_INVALID_HANDLE;
    found = &*h;
    return MPI_SUCCESS;
}

// Does `what` to each handle of the session.
template <class What> int for_all(MPI_T_pvar_session in, What what) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (find(sessions, in) == sessions.end()) return MPI_T_ERR_INVALID_SESSION;
    for (auto& h : performance_handles)
        if (h.in == in) what(h);
    return MPI_SUCCESS;
}

void start(performance_handle& h) {
    if (h.of->continuous || h.running) return;
    h.running = true;
    h.base = calls;
}
void stop(performance_handle& h) {
    if (h.of->continuous || !h.running) return;
    update(h);
    h.running = false;
}

// ---- Categories

struct category {
    std::string name, desc;
    std::vector<int> cvars, pvars, events, categories;
};
std::vector<category> const& all_categories() {
    static std::vector<category> const all{{"model", "all of it", {}, {}, {}, {1, 2}},
                                           {"model_controls", "", {0, 3, 1, 2}, {}, {}, {2}},
                                           {"model_counts", "what is counted", {}, {18, 19, 20}, {0, 1}, {}}};
    return all;
}
int put(std::vector<int> category::*which, int index, int len, int* indices) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    auto const& all = all_categories();
    if (!fits(index, all.size())) return MPI_T_ERR_INVALID_INDEX;
    auto const& members = all[static_cast<std::size_t>(index)].*which;
    for (std::size_t i = 0; i < members.size() && i < static_cast<std::size_t>(len); ++i) indices[i] = members[i];
    return MPI_SUCCESS;
}

// ---- Events

#if ASSAY_TOOL_EVENTS
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
#endif

template <class List> int index_named(List const& all, char const* name, int* index) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    auto const found = std::find_if(all.begin(), all.end(), [name](auto const& one) { return one.name == name; });
    if (found == all.end()) return MPI_T_ERR_INVALID_NAME;
    *index = static_cast<int>(found - all.begin());
    return MPI_SUCCESS;
}

} // namespace

int init_thread(int required, int* provided) {
    int const code = PMPI_T_init_thread(required, provided);
    if (code == MPI_SUCCESS) ++opened;
    return code;
}
int finalize(bool answers) {
    if (answers && opened == 0) return MPI_T_ERR_NOT_INITIALIZED;
    int const code = PMPI_T_finalize();
    if (code == MPI_SUCCESS && opened > 0 && --opened == 0) {
        control_handles.clear();
        performance_handles.clear();
        sessions.clear();
#if ASSAY_TOOL_EVENTS
        registrations.clear();
#endif
    }
    return code;
}

int enum_get_info(MPI_T_enum which, int* n, char* name, int* name_len) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    auto const* e = of_handle(which);
    if (e == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    put(n, static_cast<int>(e->items.size()));
    put(e->name, name, name_len);
    return MPI_SUCCESS;
}
int enum_get_item(MPI_T_enum which, int index, int* value, char* name, int* name_len) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    auto const* e = of_handle(which);
    if (e == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (!fits(index, e->items.size())) return MPI_T_ERR_INVALID_INDEX;
    auto const& item = e->items[static_cast<std::size_t>(index)];
    put(value, item.second);
    put(item.first, name, name_len);
    return MPI_SUCCESS;
}

int cvar_get_num(int* n) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    *n = static_cast<int>(controls().size());
#if ASSAY_TOOL_EVENTS
    raise_events();
#endif
    return MPI_SUCCESS;
}
int cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* type, MPI_T_enum* values,
                  char* desc, int* desc_len, int* bind, int* scope) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (!fits(index, controls().size())) return MPI_T_ERR_INVALID_INDEX;
    auto const& c = controls()[static_cast<std::size_t>(index)];
    put(c.name, name, name_len);
    put(verbosity, c.verbosity);
    put(type, c.type);
    put(values, enumeration_handle(c.values));
    put(c.desc, desc, desc_len);
    put(bind, c.bind);
    put(scope, c.scope);
    return MPI_SUCCESS;
}
int cvar_get_index(char const* name, int* index) { return index_named(controls(), name, index); }
int cvar_handle_alloc(int index, void*, MPI_T_cvar_handle* handle, int* count) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (!fits(index, controls().size())) return MPI_T_ERR_INVALID_INDEX;
    auto& c = controls()[static_cast<std::size_t>(index)];
    control_handles.push_back({&c});
    *handle = handle_of<MPI_T_cvar_handle>(control_handles.back());
    *count = c.count;
    return MPI_SUCCESS;
}
int cvar_handle_free(MPI_T_cvar_handle* handle) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    auto const h = find(control_handles, *handle);
    if (h == control_handles.end()) return MPI_T_ERR_INVALID_HANDLE;
    control_handles.erase(h);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}
int cvar_read(MPI_T_cvar_handle handle, void* value) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    auto const h = find(control_handles, handle);
    if (h == control_handles.end()) return MPI_T_ERR_INVALID_HANDLE;
    if (h->of->scope == MPI_T_SCOPE_READONLY) ++h->of->bytes[0];
    std::memcpy(value, h->of->bytes.data(), h->of->size());
    return MPI_SUCCESS;
}
int cvar_write(MPI_T_cvar_handle handle, void const* value) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    auto const h = find(control_handles, handle);
    if (h == control_handles.end()) return MPI_T_ERR_INVALID_HANDLE;
    if (h->of->readonly()) return MPI_T_ERR_CVAR_SET_NEVER;
    if (h->of->name == "model_refuses") return MPI_T_ERR_CVAR_SET_NOT_NOW;
    std::memcpy(h->of->bytes.data(), value, h->of->size());
    return MPI_SUCCESS;
}

int pvar_get_num(int* n) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    *n = static_cast<int>(performances().size());
    return MPI_SUCCESS;
}
int pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* type,
                  MPI_T_enum* values, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
                  int* atomic) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (!fits(index, performances().size())) return MPI_T_ERR_INVALID_INDEX;
    auto const& p = performances()[static_cast<std::size_t>(index)];
    put(p.name, name, name_len);
    put<int>(verbosity, MPI_T_VERBOSITY_MPIDEV_DETAIL);
    put(var_class, p.var_class);
    put(type, p.type);
    put(values, enumeration_handle(p.values));
    put(p.desc, desc, desc_len);
    put(bind, p.bind);
    put(readonly, p.readonly ? 1 : 0);
    put(continuous, p.continuous ? 1 : 0);
    put(atomic, p.atomic ? 1 : 0);
    return MPI_SUCCESS;
}
int pvar_get_index(char const* name, int var_class, int* index) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    int n = 0;
    for (auto const& p : performances()) {
        if (p.name == name && p.var_class == var_class) {
            *index = n;
            return MPI_SUCCESS;
        }
        ++n;
    }
    return MPI_T_ERR_INVALID_NAME;
}
int pvar_session_create(MPI_T_pvar_session* made) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    *made = handle_of<MPI_T_pvar_session>(sessions.emplace_back());
    return MPI_SUCCESS;
}
int pvar_session_free(MPI_T_pvar_session* which) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    auto const s = find(sessions, *which);
    if (s == sessions.end()) return MPI_T_ERR_INVALID_SESSION;
    performance_handles.remove_if([which](auto const& h) { return h.in == *which; });
    sessions.erase(s);
    *which = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}
int pvar_handle_alloc(MPI_T_pvar_session in, int index, void*, MPI_T_pvar_handle* handle, int* count) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (find(sessions, in) == sessions.end()) return MPI_T_ERR_INVALID_SESSION;
    if (!fits(index, performances().size())) return MPI_T_ERR_INVALID_INDEX;
    auto const& p = performances()[static_cast<std::size_t>(index)];
    auto& h = performance_handles.emplace_back(performance_handle{in, &p, p.continuous, calls});
    restart(h);
    *handle = handle_of<MPI_T_pvar_handle>(h);
    *count = h.count;
    return MPI_SUCCESS;
}
int pvar_handle_free(MPI_T_pvar_session in, MPI_T_pvar_handle* handle) {
    performance_handle* h = nullptr;
    if (int const code = look_up(in, *handle, h); code != MPI_SUCCESS) return code;
    performance_handles.erase(find(performance_handles, *handle));
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}
int pvar_start(MPI_T_pvar_session in, MPI_T_pvar_handle handle) {
    if (handle == MPI_T_PVAR_ALL_HANDLES) return for_all(in, start);
    performance_handle* h = nullptr;
    if (int const code = look_up(in, handle, h); code != MPI_SUCCESS) return code;
    if (h->of->continuous) return MPI_T_ERR_PVAR_NO_STARTSTOP;
    start(*h);
    return MPI_SUCCESS;
}
int pvar_stop(MPI_T_pvar_session in, MPI_T_pvar_handle handle) {
    if (handle == MPI_T_PVAR_ALL_HANDLES) return for_all(in, stop);
    performance_handle* h = nullptr;
    if (int const code = look_up(in, handle, h); code != MPI_SUCCESS) return code;
    if (h->of->continuous) return MPI_T_ERR_PVAR_NO_STARTSTOP;
    stop(*h);
    return MPI_SUCCESS;
}
int pvar_read(MPI_T_pvar_session in, MPI_T_pvar_handle handle, void* value) {
    performance_handle* h = nullptr;
    if (int const code = look_up(in, handle, h); code != MPI_SUCCESS) return code;
    update(*h);
    store(*h, value);
    return MPI_SUCCESS;
}
int pvar_write(MPI_T_pvar_session in, MPI_T_pvar_handle handle, void const* value) {
    performance_handle* h = nullptr;
    if (int const code = look_up(in, handle, h); code != MPI_SUCCESS) return code;
    if (h->of->readonly) return MPI_T_ERR_PVAR_NO_WRITE;
    load(*h, value);
    return MPI_SUCCESS;
}
int pvar_reset(MPI_T_pvar_session in, MPI_T_pvar_handle handle) {
    if (handle == MPI_T_PVAR_ALL_HANDLES)
        return for_all(in, [](auto& h) {
            if (!h.of->readonly) restart(h);
        });
    performance_handle* h = nullptr;
    if (int const code = look_up(in, handle, h); code != MPI_SUCCESS) return code;
    if (h->of->readonly) return MPI_T_ERR_PVAR_NO_WRITE;
    restart(*h);
    return MPI_SUCCESS;
}
int pvar_readreset(MPI_T_pvar_session in, MPI_T_pvar_handle handle, void* value) {
    performance_handle* h = nullptr;
    if (int const code = look_up(in, handle, h); code != MPI_SUCCESS) return code;
    if (!h->of->atomic) return MPI_T_ERR_PVAR_NO_ATOMIC;
    update(*h);
    store(*h, value);
    restart(*h);
    return MPI_SUCCESS;
}

int category_get_num(int* n) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    *n = static_cast<int>(all_categories().size());
    return MPI_SUCCESS;
}
int category_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, int* cvars, int* pvars,
                      int* categories) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (!fits(index, all_categories().size())) return MPI_T_ERR_INVALID_INDEX;
    auto const& c = all_categories()[static_cast<std::size_t>(index)];
    put(c.name, name, name_len);
    put(c.desc, desc, desc_len);
    put(cvars, static_cast<int>(c.cvars.size()));
    put(pvars, static_cast<int>(c.pvars.size()));
    put(categories, static_cast<int>(c.categories.size()));
    return MPI_SUCCESS;
}
int category_get_index(char const* name, int* index) { return index_named(all_categories(), name, index); }
int category_get_cvars(int index, int len, int* indices) { return put(&category::cvars, index, len, indices); }
int category_get_pvars(int index, int len, int* indices) { return put(&category::pvars, index, len, indices); }
int category_get_categories(int index, int len, int* indices) {
    return put(&category::categories, index, len, indices);
}
int category_changed(int* number) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    *number = 3;
    return MPI_SUCCESS;
}

#if ASSAY_TOOL_EVENTS
int category_get_num_events(int index, int* n) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    if (!fits(index, all_categories().size())) return MPI_T_ERR_INVALID_INDEX;
    *n = static_cast<int>(all_categories()[static_cast<std::size_t>(index)].events.size());
    return MPI_SUCCESS;
}
int category_get_events(int index, int len, int* indices) { return put(&category::events, index, len, indices); }

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
#endif

} // namespace tool_model
