// Info objects.
#include "core/core.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace assay_faults;

namespace {

std::string value_of(MPI_Info info, char const* key) {
    std::string value(MPI_MAX_INFO_VAL + 1, '\0');
    int flag = 0;
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &flag);
    return value.c_str();
}

std::vector<std::string> keys_of(MPI_Info info) {
    int n = 0;
    PMPI_Info_get_nkeys(info, &n);
    std::vector<std::string> keys;
    for (int i = 0; i < n; ++i) {
        std::string key(MPI_MAX_INFO_KEY + 1, '\0');
        PMPI_Info_get_nthkey(info, i, key.data());
        keys.emplace_back(key.c_str());
    }
    return keys;
}

bool has(MPI_Info info, char const* key) {
    auto const keys = keys_of(info);
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

MPI_Info early = MPI_INFO_NULL; // made before MPI_Init

} // namespace

extern "C" {

int MPI_Info_create(MPI_Info* info) {
    int const code = PMPI_Info_create(info);
    if (planted == fault::info_early_lost && !initialized()) early = *info;
    if (planted == fault::info_not_empty) PMPI_Info_set(*info, "made_by", "assay");
    return code;
}

int MPI_Info_set(MPI_Info info, char const* key, char const* value) {
    std::string name = key, text = value;
    if (planted == fault::info_set_once && has(info, key)) return MPI_SUCCESS;
    if (planted == fault::info_ignores_case)
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (planted == fault::info_cut_at_equals) text = text.substr(0, text.find('='));
    if (planted == fault::info_cut_at_blank) text = text.substr(0, text.find(' '));
    if (planted == fault::info_few_keys && keys_of(info).size() >= 256) return MPI_SUCCESS;
    if (planted == fault::info_long_key_taken) name.resize(std::min<std::size_t>(name.size(), MPI_MAX_INFO_KEY - 2));
    if (planted == fault::info_long_value_taken) text.resize(std::min<std::size_t>(text.size(), MPI_MAX_INFO_VAL - 2));
    if (planted == fault::info_exact_value_cut) text.resize(std::min<std::size_t>(text.size(), MPI_MAX_INFO_VAL - 1));
    return PMPI_Info_set(info, name.c_str(), text.c_str());
}

int MPI_Info_delete(MPI_Info info, char const* key) {
    if (planted == fault::info_delete_ignored && has(info, key)) return MPI_SUCCESS;
    int const code = PMPI_Info_delete(info, key);
    if (planted == fault::info_delete_two && code == MPI_SUCCESS)
        if (auto const keys = keys_of(info); !keys.empty()) PMPI_Info_delete(info, keys[0].c_str());
    return planted == fault::info_delete_absent ? MPI_SUCCESS : code;
}

int MPI_Info_get(MPI_Info info, char const* key, int length, char* value, int* flag) {
    int const code = PMPI_Info_get(info, key, length, value, flag);
    if (planted == fault::info_get_finds && *flag == 0) *flag = 1;
    if (planted == fault::info_get_writes && *flag == 0) *value = '\0';
    bool const level = planted == fault::info_env_level && std::strcmp(key, "thread_level") == 0;
    bool const processes = planted == fault::info_env_maxprocs && std::strcmp(key, "maxprocs") == 0;
    if (info == MPI_INFO_ENV && (level || processes)) {
        *flag = 1;
        value[0] = 'X';
        value[1] = '\0';
    }
    if (*flag == 0) return code;
    if (planted == fault::info_get_cut && *value != '\0') value[std::strlen(value) - 1] = '\0';
    if (planted == fault::info_get_overflow) value[length + 1] = '\0';
    if (planted == fault::info_env_hidden && info == MPI_INFO_ENV) *flag = 0;
    return code;
}

int MPI_Info_get_valuelen(MPI_Info info, char const* key, int* length, int* flag) {
    int const code = PMPI_Info_get_valuelen(info, key, length, flag);
    if (planted == fault::info_valuelen && *flag != 0) *length += 1;
    return code;
}

#if ASSAY_MPI4
int MPI_Info_get_string(MPI_Info info, char const* key, int* length, char* value, int* flag) {
    int const room = *length;
    int const code = PMPI_Info_get_string(info, key, length, value, flag);
    if (planted == fault::info_early_lost && initialized() && info == early) *flag = 0;
    if (*flag == 0) {
        if (planted == fault::info_string_writes && room > 0) *value = '\0';
        return code;
    }
    int const needed = *length;
    if (planted == fault::info_string_length) *length -= 1;
    if (planted == fault::info_string_given) *length = std::min(room, needed);
    if (planted == fault::info_string_unended && room > 0 && room < needed)
        value[room - 1] = value_of(info, key)[static_cast<std::size_t>(room) - 1];
    if (planted == fault::info_string_zero && room == 0) *value = '\0';
    if (planted == fault::info_string_overflow && room < needed) value[room] = '\0';
    return code;
}

int MPI_Info_create_env(int argc, char* argv[], MPI_Info* info) {
    if (planted == fault::info_create_env_alias) {
        *info = MPI_INFO_ENV;
        return MPI_SUCCESS;
    }
    return PMPI_Info_create_env(argc, argv, info);
}
#endif

int MPI_Info_get_nkeys(MPI_Info info, int* n) {
    int const code = PMPI_Info_get_nkeys(info, n);
    if (planted == fault::info_nkeys && *n > 3) *n -= 1;
    return code;
}

int MPI_Info_get_nthkey(MPI_Info info, int n, char* key) {
    static memory<int> calls;
    int count = 0;
    PMPI_Info_get_nkeys(info, &count);
    if (planted == fault::info_nthkey_last && n == count - 1) n = 0;
    if (planted == fault::info_nthkey_moves && ++*calls > count && count > 1) n = count - 1 - n;
    return PMPI_Info_get_nthkey(info, n, key);
}

int MPI_Info_dup(MPI_Info info, MPI_Info* copy) {
    if (planted == fault::info_dup_alias) {
        *copy = info;
        return MPI_SUCCESS;
    }
    if (planted != fault::info_dup_order && planted != fault::info_dup_last) return PMPI_Info_dup(info, copy);
    int const code = PMPI_Info_create(copy);
    auto keys = keys_of(info);
    if (planted == fault::info_dup_order) std::reverse(keys.begin(), keys.end());
    if (planted == fault::info_dup_last && !keys.empty()) keys.pop_back();
    for (auto const& key : keys) PMPI_Info_set(*copy, key.c_str(), value_of(info, key.c_str()).c_str());
    return code;
}

int MPI_Info_free(MPI_Info* info) {
    MPI_Info const before = *info;
    int const code = PMPI_Info_free(info);
    if (planted == fault::info_free_keeps) *info = before;
    return code;
}

} // extern "C"
