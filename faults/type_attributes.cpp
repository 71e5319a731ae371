// Attributes of datatypes: our own callbacks stand before those of the key.
#include "core/core.hpp"

#include <algorithm>
#include <utility>
#include <vector>

using namespace assay_faults;

namespace {

struct callbacks {
    MPI_Type_copy_attr_function* copy;
    MPI_Type_delete_attr_function* remove;
    void* state;
    bool freed = false;
};
std::vector<std::pair<int, callbacks*>> keys; // as long as they are not freed
bool setting = false;

int copying(MPI_Datatype old, int key, void* state, void* in, void* out, int* flag) {
    auto const* const c = static_cast<callbacks*>(state);
    if (is(fault::attr_freed_key_forgotten) && c->freed) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    int const code = c->copy(old, key, c->state, in, out, flag);
    if (is(fault::attr_copy_value_kept) && *flag != 0) *static_cast<void**>(out) = in;
    if (is(fault::attr_copy_flag_ignored) && *flag == 0) {
        *static_cast<void**>(out) = in;
        *flag = 1;
    }
    return code;
}

int deleting(MPI_Datatype type, int key, void* value, void* state) {
    auto const* const c = static_cast<callbacks*>(state);
    if (c->remove == MPI_TYPE_NULL_DELETE_FN) return MPI_SUCCESS; // a null pointer in some libraries
    if (is(fault::attr_overwrite_silent) && setting) return MPI_SUCCESS;
    if (is(fault::attr_freed_key_forgotten) && c->freed) return MPI_SUCCESS;
    int const code = c->remove(type, key, value, c->state);
    if (is(fault::attr_deleted_twice)) c->remove(type, key, value, c->state);
    return code;
}

} // namespace

extern "C" {

int MPI_Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove, int* key,
                           void* state) {
    if (is(fault::attr_null_copy_copies) && copy == MPI_TYPE_NULL_COPY_FN) copy = MPI_TYPE_DUP_FN;
    else if (is(fault::attr_dup_fn_drops) && copy == MPI_TYPE_DUP_FN) copy = MPI_TYPE_NULL_COPY_FN;
    if (copy == MPI_TYPE_NULL_COPY_FN || copy == MPI_TYPE_DUP_FN || planted == fault::unset)
        return PMPI_Type_create_keyval(copy, remove, key, state);
    auto* const own = new callbacks{copy, remove, state};
    int const code = PMPI_Type_create_keyval(copying, deleting, key, own);
    keys.emplace_back(*key, own);
    return code;
}

int MPI_Type_free_keyval(int* key) {
    int const was = *key;
    for (auto& [number, c] : keys)
        if (number == was) c->freed = true;
    keys.erase(std::remove_if(keys.begin(), keys.end(), [](auto const& k) { return k.second->freed; }), keys.end());
    int const code = PMPI_Type_free_keyval(key);
    if (is(fault::attr_free_keyval_stays) && code == MPI_SUCCESS) *key = was;
    return code;
}

int MPI_Type_set_attr(MPI_Datatype type, int key, void* value) {
    if (is(fault::attr_predefined_ignored) && is_named(type)) return MPI_SUCCESS;
    setting = true;
    int const code = PMPI_Type_set_attr(type, key, value);
    setting = false;
    return code;
}

int MPI_Type_get_attr(MPI_Datatype type, int key, void* value, int* flag) {
    if (is(fault::attr_invalid_key_taken) && key == MPI_KEYVAL_INVALID) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    int const code = PMPI_Type_get_attr(type, key, value, flag);
    if (code != MPI_SUCCESS) return code;
    if (is(fault::attr_always_there)) *flag = 1;
    if (is(fault::attr_null_missing) && *flag != 0 && *static_cast<void**>(value) == nullptr) *flag = 0;
    return code;
}

int MPI_Type_delete_attr(MPI_Datatype type, int key) {
    if (is(fault::attr_delete_ignored)) return MPI_SUCCESS;
    return PMPI_Type_delete_attr(type, key);
}

} // extern "C"
