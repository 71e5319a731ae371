// Windows: how they are made and freed, and what they say of themselves. Each wrapper goes straight to PMPI when no fault of
// rma_windows.toml is planted, but for what is known of windows.
#include "core/windows.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <list>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace assay_faults;

namespace {

void note_hints(MPI_Win win, MPI_Info info) {
    if (info == MPI_INFO_NULL) return;
    int n = 0;
    PMPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; ++i) {
        char key[MPI_MAX_INFO_KEY + 1] = "", value[MPI_MAX_INFO_VAL + 1] = "";
        int flag = 0;
        PMPI_Info_get_nthkey(info, i, key);
        PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
        known(win).hints[key] = value;
    }
}

// A window was made: what it is.
int made(int code, MPI_Win win, int by, void* base, MPI_Aint size, MPI_Info info) {
    if (code != MPI_SUCCESS) return code;
    auto& facts = windows()[win] = window();
    facts.made_by = by;
    facts.base = static_cast<unsigned char*>(base);
    facts.size = size;
    note_hints(win, info);
    return code;
}

// Faults of windows with hints: which hint spoils what.
using hint_value = std::string const&;
bool any(hint_value) { return true; }
bool is_true(hint_value value) { return value == "true"; }
struct hinted {
    char const* key;
    bool (*value)(hint_value);
    fault which;
    bool accumulates;
};
constexpr hinted all_hinted[] = {
    {"no_locks", is_true, fault::no_locks_loses_puts, false},
    {"same_size", is_true, fault::same_size_loses_puts, false},
    {"same_disp_unit", is_true, fault::same_unit_loses_puts, false},
    {"mpi_assert_memory_alloc_kinds", any, fault::memory_kinds_lose_puts, false},
    {"accumulate_ops", [](hint_value value) { return value == "same_op"; }, fault::same_op_loses_updates, true},
    {"mpi_accumulate_granularity", [](hint_value value) { return std::atoi(value.c_str()) % 4 != 0; },
     fault::granularity_loses_updates, true},
    {"accumulate_ordering", [](hint_value value) { return value == "none"; }, fault::no_order_loses_updates, true},
};
bool is_known_key(std::string const& key) {
    for (auto const* begin : {"mpi_", "no_locks", "accumulate_", "same_", "alloc_shared_"})
        if (key.rfind(begin, 0) == 0) return true;
    return false;
}

// Whether memory of this process belongs to a window already.
bool is_taken(void* base, MPI_Aint size) {
    auto* const first = static_cast<unsigned char*>(base);
    for (auto const& [win, facts] : windows())
        if (size > 0 && facts.size > 0 && first < facts.base + facts.size && facts.base < first + size) return true;
    return false;
}

struct allocated {
    void* base = nullptr;
    MPI_Aint size = 0;
    MPI_Win win = MPI_WIN_NULL;
};
memory<allocated> last_allocated;
memory<std::vector<void*>> never_detached; // of windows that were freed
memory<std::pair<std::string, std::string>> last_set;

bool is_attached_elsewhere(MPI_Win win, void const* base) {
    for (auto const& [other, facts] : windows())
        if (other != win)
            for (auto const& region : facts.attached)
                if (region.first == base) return true;
    return false;
}

int flavor_of(MPI_Win win) { return known(win).made_by; }

} // namespace

bool assay_faults::window_loses(MPI_Win win, bool accumulates) {
    auto const& facts = known(win);
    if (is(fault::empty_window_loses_puts) && !accumulates)
        return facts.made_by == MPI_WIN_FLAVOR_CREATE && facts.size == 0;
    if (is(fault::second_window_loses_puts) && !accumulates) return windows().size() > 2;
    if (is(fault::unknown_hint_loses_puts) && !accumulates)
        return std::any_of(facts.hints.begin(), facts.hints.end(),
                           [](auto const& h) { return !is_known_key(h.first); });
    for (auto const& one : all_hinted) {
        if (!is(one.which) || one.accumulates != accumulates) continue;
        auto const found = facts.hints.find(one.key);
        return found != facts.hints.end() && one.value(found->second);
    }
    return false;
}

extern "C" {

// ---- How they are made and freed

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    if ((is(fault::only_allocated_in_windows) && size > 0 && !is_allocated(base)) ||
        (is(fault::overlapping_window_copies) && is_taken(base, size))) {
        static std::list<std::vector<unsigned char>> copies;
        base = copies.emplace_back(static_cast<unsigned char*>(base), static_cast<unsigned char*>(base) + size).data();
    }
    if (is(fault::create_size_silent) && size < 0) {
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        return PMPI_Win_create(base, size, unit, info, comm, win);
    }
    int const code = PMPI_Win_create(base, size, is(fault::displacement_unit_one) ? 1 : unit, info, comm, win);
    if (is(fault::window_returns_errors) && code == MPI_SUCCESS) PMPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
    return made(code, code == MPI_SUCCESS ? *win : MPI_WIN_NULL, MPI_WIN_FLAVOR_CREATE, base, size, info);
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win) {
    bool const unaligned = is(fault::allocate_unaligned) && size > 0;
    int const code = PMPI_Win_allocate(unaligned ? size + 4 : size, unit, info, comm, base, win);
    if (code != MPI_SUCCESS) return code;
    auto*& given = *static_cast<unsigned char**>(base);
    if (unaligned) given += 4;
    if (is(fault::win_allocate_apart) && size > 0 && size < 64) {
        static unsigned char apart[64];
        given = apart;
    }
    if (is(fault::allocate_same_memory) && last_allocated->win != MPI_WIN_NULL && last_allocated->size >= size &&
        windows().count(last_allocated->win) != 0)
        given = static_cast<unsigned char*>(last_allocated->base);
    *last_allocated = {given, size, *win};
    return made(code, *win, MPI_WIN_FLAVOR_ALLOCATE, given, size, info);
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win) {
    bool const unaligned = is(fault::shared_unaligned) && size > 0;
    int const code = PMPI_Win_allocate_shared(unaligned ? size + 4 : size, unit, info, comm, base, win);
    if (code != MPI_SUCCESS) return code;
    auto*& given = *static_cast<unsigned char**>(base);
    if (unaligned) given += 4;
    return made(code, *win, MPI_WIN_FLAVOR_SHARED, given, size, info);
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    int const code = PMPI_Win_create_dynamic(info, comm, win);
    return made(code, code == MPI_SUCCESS ? *win : MPI_WIN_NULL, MPI_WIN_FLAVOR_DYNAMIC, nullptr, 0, info);
}

int MPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
    auto& facts = known(win);
    bool const again = std::count(facts.detached.begin(), facts.detached.end(), base) != 0;
    bool const kept = std::count(never_detached->begin(), never_detached->end(), base) != 0;
    if ((is(fault::attach_second_refused) && !facts.attached.empty()) || (is(fault::attach_again_refused) && again) ||
        (is(fault::attach_in_epoch_refused) && facts.passive()) || (is(fault::attach_empty_refused) && size == 0) ||
        (is(fault::attach_to_two_refused) && is_attached_elsewhere(win, base)) ||
        (is(fault::free_keeps_attached) && kept) ||
        (is(fault::only_allocated_attached) && size > 0 && !is_allocated(base)))
        return MPI_ERR_RMA_ATTACH;
    int const code = PMPI_Win_attach(win, base, size);
    if (code == MPI_SUCCESS) facts.attached.emplace_back(base, size);
    return code;
}

int MPI_Win_detach(MPI_Win win, void const* base) {
    auto& facts = known(win);
    if (is(fault::detach_last_only) && !facts.attached.empty() && facts.attached.back().first != base)
        return MPI_ERR_BASE;
    std::erase_if(facts.attached, [&](auto const& region) { return region.first == base; });
    facts.detached.push_back(const_cast<void*>(base));
    return PMPI_Win_detach(win, base);
}

int MPI_Win_free(MPI_Win* win) {
    release();
    settle(*win);
    MPI_Win const before = *win;
    auto const facts = known(before);
    std::vector<unsigned char> content;
    bool const of_user = facts.made_by == MPI_WIN_FLAVOR_CREATE && facts.size > 0;
    if (is(fault::free_too_early) && of_user) content.assign(facts.base, facts.base + facts.size);
    int const code = PMPI_Win_free(win);
    if (code != MPI_SUCCESS) return code;
    windows().erase(before);
    for (auto const& region : facts.attached) never_detached->push_back(region.first);
    if (is(fault::free_too_early)) std::copy(content.begin(), content.end(), facts.base);
    if (is(fault::free_spoils_memory) && of_user) spoil(facts.base + facts.size - 1);
    if (is(fault::free_keeps_memory) &&
        (facts.made_by == MPI_WIN_FLAVOR_ALLOCATE || facts.made_by == MPI_WIN_FLAVOR_SHARED) && facts.size > 0)
        static_cast<void>(mmap(nullptr, static_cast<std::size_t>(facts.size), PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (is(fault::win_free_keeps_handle)) *win = before;
    return code;
}

// ---- What they say of themselves

int MPI_Win_get_attr(MPI_Win win, int key, void* value, int* flag) {
    int const code = PMPI_Win_get_attr(win, key, value, flag);
    if (code != MPI_SUCCESS || *flag == 0) return code;
    static thread_local MPI_Aint wrong_size;
    static thread_local int wrong;
    auto const int_becomes = [&](int other) {
        wrong = other;
        *static_cast<int**>(value) = &wrong;
    };
    if (key == MPI_WIN_SIZE) {
        wrong_size = **static_cast<MPI_Aint**>(value);
        if (is(fault::win_size_wrong)) ++wrong_size;
        if (is(fault::dynamic_size_attached))
            for (auto const& region : known(win).attached) wrong_size += region.second;
        if (is(fault::win_size_wrong) || is(fault::dynamic_size_attached))
            *static_cast<MPI_Aint**>(value) = &wrong_size;
    }
    if (is(fault::win_base_wrong) && key == MPI_WIN_BASE && flavor_of(win) != MPI_WIN_FLAVOR_DYNAMIC)
        ++*static_cast<unsigned char**>(value);
    if (is(fault::win_unit_wrong) && key == MPI_WIN_DISP_UNIT && flavor_of(win) != MPI_WIN_FLAVOR_DYNAMIC)
        int_becomes(**static_cast<int**>(value) + 1);
    if (is(fault::win_flavor_wrong) && key == MPI_WIN_CREATE_FLAVOR) int_becomes(MPI_WIN_FLAVOR_CREATE);
    if (is(fault::win_model_missing) && key == MPI_WIN_MODEL) *flag = 0;
    if (is(fault::win_model_changes) && key == MPI_WIN_MODEL && known(win).times_set > 0)
        int_becomes(**static_cast<int**>(value) == MPI_WIN_UNIFIED ? MPI_WIN_SEPARATE : MPI_WIN_UNIFIED);
    return code;
}

int MPI_Win_set_info(MPI_Win win, MPI_Info info) {
    ++known(win).times_set;
    note_hints(win, info);
    char key[MPI_MAX_INFO_KEY + 1] = "", value[MPI_MAX_INFO_VAL + 1] = "";
    int n = 0, flag = 0;
    PMPI_Info_get_nkeys(info, &n);
    if (n > 0) {
        PMPI_Info_get_nthkey(info, 0, key);
        PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
        *last_set = {key, value};
    }
    if (is(fault::set_info_refuses_unknown) && n > 0 && !is_known_key(key)) return MPI_ERR_INFO_KEY;
    return PMPI_Win_set_info(win, info);
}

int MPI_Win_get_info(MPI_Win win, MPI_Info* info) {
    int const code = PMPI_Win_get_info(win, info);
    if (code != MPI_SUCCESS) return code;
    auto const& facts = known(win);
    if (is(fault::get_info_other_value))
        for (auto const& [key, value] : facts.hints) PMPI_Info_set(*info, key.c_str(), (value + "x").c_str());
    if (is(fault::set_info_resets) && facts.times_set > 1)
        for (auto const* key : {"no_locks", "accumulate_ops", "accumulate_ordering", "same_size", "same_disp_unit"})
            PMPI_Info_delete(*info, key);
    if (is(fault::set_info_everywhere) && !last_set->first.empty())
        PMPI_Info_set(*info, last_set->first.c_str(), last_set->second.c_str());
    return code;
}

int MPI_Win_get_group(MPI_Win win, MPI_Group* group) {
    if (!is(fault::win_group_reversed)) return PMPI_Win_get_group(win, group);
    MPI_Group straight = MPI_GROUP_NULL;
    int const code = PMPI_Win_get_group(win, &straight);
    int size = 0;
    PMPI_Group_size(straight, &size);
    int range[1][3] = {{size - 1, 0, -1}};
    PMPI_Group_range_incl(straight, 1, range, group);
    PMPI_Group_free(&straight);
    return code;
}

int MPI_Win_set_name(MPI_Win win, char const* name) {
    std::string text = name;
    if (is(fault::win_name_longest_cut) && text.size() >= MPI_MAX_OBJECT_NAME - 1) text.resize(MPI_MAX_OBJECT_NAME - 2);
    return PMPI_Win_set_name(win, text.c_str());
}

int MPI_Win_get_name(MPI_Win win, char* name, int* length) {
    int const code = PMPI_Win_get_name(win, name, length);
    if (is(fault::win_name_length)) *length += 1;
    return code;
}

int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* unit, void* base) {
    bool const of_nobody = rank == MPI_PROC_NULL;
    if (is(fault::shared_query_own) || (is(fault::query_of_nobody_is_first) && of_nobody)) rank = 0;
    int const code = PMPI_Win_shared_query(win, rank, size, unit, base);
    if (code != MPI_SUCCESS) return code;
    auto*& given = *static_cast<unsigned char**>(base);
    if (is(fault::shared_query_rounded)) *size = (*size + 7) / 8 * 8;
    if (is(fault::shared_query_short) && *size > 0) --*size;
    if (is(fault::query_of_nothing_has_size) && of_nobody && *size == 0) *size = 64;
    if (is(fault::query_gives_own_unit)) {
        int *own = nullptr, flag = 0;
        PMPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &own, &flag);
        if (flag != 0) *unit = *own;
    }
    if (is(fault::query_apart_shifted) && known(win).hints["alloc_shared_noncontig"] == "true" &&
        given != known(win).base && *size > 0)
        ++given;
    if (is(fault::query_own_shifted) && given == known(win).base && *size > 0) ++given;
    if (is(fault::query_other_flavors_own) && flavor_of(win) != MPI_WIN_FLAVOR_SHARED) {
        given = known(win).base;
        *size = known(win).size;
    }
    return code;
}

} // extern "C"
