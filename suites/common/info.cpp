#include "suites/common/info.hpp"

#include <fmt/format.h>

namespace assay {

std::vector<std::string> keys_of(test_run& mpi, MPI_Info info) {
    int count = -7;
    mpi.ok(MPI_Info_get_nkeys(info, &count));
    std::vector<std::string> keys;
    for (int i = 0; i < count; ++i) {
        std::string room(MPI_MAX_INFO_KEY + 64, static_cast<char>(poison_byte));
        if (!mpi.ok(MPI_Info_get_nthkey(info, i, room.data()))) break;
        auto const end = room.find('\0');
        if (!mpi.check(end < static_cast<std::size_t>(MPI_MAX_INFO_KEY), finding::info,
                       fmt::format("key {} does not end in time", i)))
            break;
        keys.push_back(room.substr(0, end));
    }
    return keys;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
std::optional<std::string> value_of(test_run& mpi, MPI_Info info, char const* key) {
    std::string value(MPI_MAX_INFO_VAL + 1, '\0');
    int flag = 0;
    mpi.ok(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &flag));
    if (flag == 0) return {};
    return std::string(value.c_str());
}
#pragma GCC diagnostic pop

} // namespace assay
