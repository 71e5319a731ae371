// Control variables (section 15.3.6).
#include "preload/tool_model/state.hpp"

#include <cstdint>

namespace tool_model {
namespace {

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

} // namespace

void forget_controls() { control_handles.clear(); }

int cvar_get_num(int* n) {
    if (is_closed()) return MPI_T_ERR_NOT_INITIALIZED;
    *n = static_cast<int>(controls().size());
    raise_events();
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

} // namespace tool_model
