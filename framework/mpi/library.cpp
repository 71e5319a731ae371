#include "framework/mpi/library.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <mpi.h>
#include <system_error>

namespace assay {

std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    PMPI_Get_library_version(text, &length);
    std::string line(text, static_cast<std::size_t>(length));
    line = line.substr(0, line.find('\n'));
    for (auto& c : line)
        if (static_cast<unsigned char>(c) < 32) c = ' ';
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

std::string library_path() {
    auto* const symbol = dlsym(RTLD_DEFAULT, "PMPI_Init"); // its address in this program may be that of a jump to it
    Dl_info found{};
    if (symbol == nullptr || dladdr(symbol, &found) == 0 || found.dli_fname == nullptr) return "";
    std::error_code ignored;
    auto const path = std::filesystem::canonical(found.dli_fname, ignored);
    if (ignored || path == std::filesystem::canonical("/proc/self/exe", ignored)) return "";
    return path;
}

} // namespace assay
