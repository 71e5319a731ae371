// Attributes of communicators and windows: callbacks of ours stand between the library and those of the program.
#include "core/comm.hpp"

#include <atomic>
#include <climits>
#include <cstdint>
#include <map>
#include <mutex>

using namespace assay_faults;

namespace assay_faults {
std::vector<int> keys_of_self;
memory<stored_attribute> last_stored;
thread_local caller within = caller::other;
} // namespace assay_faults

namespace {

// ---- Callbacks of attributes, with what faults make of them

struct callbacks {
    MPI_Comm_copy_attr_function* copy;
    MPI_Comm_delete_attr_function* remove;
    void* extra;
    bool key_is_freed = false;
};
std::mutex mutex;
std::map<int, callbacks*> by_key; // never freed: a key that was freed may still be in use

bool changes_callbacks() {
    switch (planted) {
    case fault::comm_attr_set_silent:
    case fault::comm_attr_free_silent:
    case fault::comm_attr_disconnect_silent:
    case fault::comm_attr_delete_twice:
    case fault::comm_attr_copy_twice:
    case fault::comm_attr_copy_value:
    case fault::comm_attr_copy_key:
    case fault::comm_attr_copy_flag:
    case fault::comm_attr_copy_out:
    case fault::comm_attr_copy_error:
    case fault::comm_attr_delete_error:
    case fault::comm_attr_key_forgotten: return true;
    default: return false;
    }
}

int copy_through(MPI_Comm comm, int key, void* extra, void* value, void* out, int* flag) {
    auto const& c = *static_cast<callbacks*>(extra);
    if (planted == fault::comm_attr_key_forgotten && c.key_is_freed) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    void* const given = planted == fault::comm_attr_copy_value ? static_cast<char*>(value) + 1 : value;
    int code = c.copy(comm, planted == fault::comm_attr_copy_key ? key + 1 : key, c.extra, given, out, flag);
    if (planted == fault::comm_attr_copy_twice) code = c.copy(comm, key, c.extra, given, out, flag);
    if (planted == fault::comm_attr_copy_flag && *flag == 0) {
        *flag = 1;
        *static_cast<void**>(out) = value;
    }
    if (planted == fault::comm_attr_copy_out) *static_cast<void**>(out) = value;
    return planted == fault::comm_attr_copy_error ? MPI_SUCCESS : code;
}

int delete_through(MPI_Comm comm, int key, void* value, void* extra) {
    auto const& c = *static_cast<callbacks*>(extra);
    if (planted == fault::comm_attr_set_silent && within == caller::set_attr) return MPI_SUCCESS;
    if (planted == fault::comm_attr_free_silent && within == caller::free) return MPI_SUCCESS;
    if (planted == fault::comm_attr_disconnect_silent && within == caller::other) return MPI_SUCCESS;
    if (planted == fault::comm_attr_key_forgotten && c.key_is_freed) return MPI_SUCCESS;
    int code = c.remove(comm, key, value, c.extra);
    if (planted == fault::comm_attr_delete_twice) code = c.remove(comm, key, value, c.extra);
    return planted == fault::comm_attr_delete_error ? MPI_SUCCESS : code;
}

void attribute_read(int key, void* value, int* flag) {
    auto const place = static_cast<void**>(value);
    static int changed;
    auto const becomes = [&](int number) {
        changed = number;
        *place = &changed;
    };
    if (key == MPI_TAG_UB) {
        if (planted == fault::tag_ub_small) becomes(32766);
        if (planted == fault::tag_ub_differs && world_rank == 1) becomes(**static_cast<int**>(value) - 1);
        if (planted == fault::tag_ub_too_large) becomes(INT_MAX);
        if (planted == fault::tag_ub_missing) *flag = 0;
        return;
    }
    if (planted == fault::comm_attr_io && key == MPI_IO) return becomes(1000000);
    if (planted == fault::comm_attr_lastusedcode && key == MPI_LASTUSEDCODE) return becomes(MPI_ERR_LASTCODE - 1);
    if (planted == fault::comm_attr_wtime && key == MPI_WTIME_IS_GLOBAL) return becomes(2);
    for (int own : {MPI_IO, MPI_LASTUSEDCODE, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE})
        if (key == own) return;
    if (planted == fault::comm_attr_absent_found && *flag == 0) {
        *flag = 1;
        *place = nullptr;
    }
    if (*flag == 0) return;
    if (planted == fault::comm_attr_zero_absent && *place == nullptr) *flag = 0;
    if (planted == fault::comm_attr_value_int)
        *place = reinterpret_cast<void*>(
            static_cast<std::intptr_t>(static_cast<int>(reinterpret_cast<std::intptr_t>(*place))));
}

} // namespace

extern "C" {

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* key,
                           void* extra) {
    static memory<std::atomic<int>> calls, previous;
    if (planted == fault::comm_attr_dup_fn && copy == MPI_COMM_DUP_FN) copy = MPI_COMM_NULL_COPY_FN;
    else if (planted == fault::comm_attr_null_copy && copy == MPI_COMM_NULL_COPY_FN) copy = MPI_COMM_DUP_FN;
    int code = MPI_SUCCESS;
    if (changes_callbacks() && copy != MPI_COMM_DUP_FN && copy != MPI_COMM_NULL_COPY_FN &&
        remove != MPI_COMM_NULL_DELETE_FN) {
        auto* const c = new callbacks{copy, remove, extra};
        code = PMPI_Comm_create_keyval(copy_through, delete_through, key, c);
        std::lock_guard const lock(mutex);
        by_key[*key] = c;
    } else {
        code = PMPI_Comm_create_keyval(copy, remove, key, extra);
    }
    if (planted == fault::comm_attr_key_repeats && ++*calls % 70 == 0) *key = *previous;
    *previous = *key;
    return code;
}

int MPI_Comm_free_keyval(int* key) {
    int const before = *key;
    {
        std::lock_guard const lock(mutex);
        if (auto const found = by_key.find(before); found != by_key.end()) {
            found->second->key_is_freed = true;
            by_key.erase(found);
        }
    }
    int const code = PMPI_Comm_free_keyval(key);
    if (planted == fault::comm_attr_key_free_keeps) *key = before;
    return code;
}

int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
    if (comm == MPI_COMM_SELF) {
        keys_of_self.push_back(key);
        if (planted == fault::finalize_skips_callback && keys_of_self.size() >= 3) return MPI_SUCCESS;
    }
    within = caller::set_attr;
    int const code = PMPI_Comm_set_attr(comm, key, value);
    within = caller::other;
    *last_stored = {comm, key, value};
    if (planted == fault::comm_attr_idup_late && comm == last_idup->of && last_idup->made != nullptr)
        PMPI_Comm_set_attr(*last_idup->made, key, value);
    if (planted == fault::comm_attr_shared_by_all && comm != MPI_COMM_SELF)
        PMPI_Comm_set_attr(MPI_COMM_WORLD, key, value);
    return code;
}

int MPI_Comm_delete_attr(MPI_Comm comm, int key) {
    if (planted == fault::comm_attr_delete_ignored && key != MPI_KEYVAL_INVALID) return MPI_SUCCESS;
    within = caller::delete_attr;
    int const code = PMPI_Comm_delete_attr(comm, key);
    within = caller::other;
    return code;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
int MPI_Attr_put(MPI_Comm comm, int key, void* value) {
    return planted == fault::comm_attr_put_ignored ? MPI_SUCCESS : PMPI_Attr_put(comm, key, value);
}

int MPI_Attr_get(MPI_Comm comm, int key, void* value, int* flag) {
    int const code = PMPI_Attr_get(comm, key, value, flag);
    if (planted == fault::comm_attr_get_flag) *flag = *flag == 0 ? 1 : 0;
    return code;
}

int MPI_Keyval_free(int* key) {
    int const before = *key, code = PMPI_Keyval_free(key);
    if (planted == fault::keyval_free_keeps) *key = before;
    return code;
}
#pragma GCC diagnostic pop

int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* flag) {
    static int changed;
    int const code = PMPI_Comm_get_attr(comm, key, value, flag);
    int** const number = static_cast<int**>(value);
    if (code == MPI_SUCCESS) attribute_read(key, value, flag);
    else if (planted == fault::wrong_argument_unnoticed) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    if (planted == fault::appnum_plus_one && key == MPI_APPNUM && *flag != 0) {
        changed = **number + 1;
        *number = &changed;
    }
    if (planted == fault::universe_empty && key == MPI_UNIVERSE_SIZE) {
        changed = 0;
        *number = &changed;
        *flag = 1;
    }
    if (planted == fault::lastusedcode_frozen && key == MPI_LASTUSEDCODE) {
        changed = MPI_ERR_LASTCODE;
        *number = &changed;
        *flag = 1;
    }
    if ((planted == fault::wtime_is_global_somewhere || planted == fault::wtime_pretends) &&
        key == MPI_WTIME_IS_GLOBAL) {
        changed = planted == fault::wtime_pretends || world_rank == 1 ? 1 : 0;
        *number = &changed;
        *flag = 1;
    }
    return code;
}

// ---- Attributes of windows

int MPI_Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove, int* key,
                          void* extra) {
    return PMPI_Win_create_keyval(copy, planted == fault::comm_win_silent ? MPI_WIN_NULL_DELETE_FN : remove, key,
                                  extra);
}

int MPI_Win_set_attr(MPI_Win win, int key, void* value) {
    void* old = nullptr;
    int flag = 0;
    if (planted == fault::comm_win_attr_lost) PMPI_Win_get_attr(win, key, &old, &flag);
    return flag != 0 ? MPI_SUCCESS : PMPI_Win_set_attr(win, key, value);
}

int MPI_Win_delete_attr(MPI_Win win, int key) {
    return planted == fault::comm_win_attr_stays ? MPI_SUCCESS : PMPI_Win_delete_attr(win, key);
}

} // extern "C"
