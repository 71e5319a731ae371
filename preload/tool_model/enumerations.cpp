// Enumerations (section 15.3.5).
#include "preload/tool_model/state.hpp"

#include <array>

namespace tool_model {
namespace {

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

} // namespace

MPI_T_enum enumeration_handle(int n) {
    return n < 0 ? MPI_T_ENUM_NULL : handle_of<MPI_T_enum>(enumerations[static_cast<std::size_t>(n)]);
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

} // namespace tool_model
