// Performance variables (section 15.3.7).
#include "preload/tool_model/state.hpp"

#include <cstdint>

namespace tool_model {
namespace {

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

} // namespace

void forget_performances() {
    performance_handles.clear();
    sessions.clear();
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

} // namespace tool_model
