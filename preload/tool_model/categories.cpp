// Categories (section 15.3.9).
#include "preload/tool_model/state.hpp"

namespace tool_model {
namespace {

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

} // namespace

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
#endif

} // namespace tool_model
