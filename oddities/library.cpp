// What the library says of itself: versions, names, thread levels.
#include "layers.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

using namespace assay_oddities;

namespace {

void fill_up(char* text, int* length, int room, std::string const& with) {
    while (*length < room - 1) {
        text[*length] = with[static_cast<std::size_t>(*length) % with.size()];
        ++*length;
    }
    text[*length] = '\0';
}

// The strings of P, whose text is argument N, have room for `room` characters.
template <auto P, std::size_t N> void overwrite_spare(int room) {
    over<P>([room](auto rest, auto... a) {
        int const code = rest(a...);
        if (code != MPI_SUCCESS) return code;
        char* const text = std::get<N>(std::tie(a...));
        auto const used = std::strlen(text) + 1;
        if (used < static_cast<std::size_t>(room)) std::memset(text + used, '#', static_cast<std::size_t>(room) - used);
        return code;
    });
}

int limited(int level) { return std::min(level, int(MPI_THREAD_FUNNELED)); }

} // namespace

// What follows an older version must not say that it follows a newer one: that would be untrue.
ODDITY(version_six) {
#if MPI_VERSION >= 5
    over<&PMPI_Get_version>([](auto rest, int* version, int* subversion) {
        int const code = rest(version, subversion);
        if (code == MPI_SUCCESS && *version >= 5) {
            *version = 6;
            *subversion = 0;
        }
        return code;
    });
#endif
}

ODDITY(library_version_long) {
    over<&PMPI_Get_library_version>([](auto rest, char* text, int* length) {
        int const code = rest(text, length);
        if (code == MPI_SUCCESS) fill_up(text, length, MPI_MAX_LIBRARY_VERSION_STRING, " more\nto say,");
        return code;
    });
}

ODDITY(processor_name_long) {
    over<&PMPI_Get_processor_name>([](auto rest, char* name, int* length) {
        int const code = rest(name, length);
        if (code == MPI_SUCCESS) fill_up(name, length, MPI_MAX_PROCESSOR_NAME, " in rack 4, row 2");
        return code;
    });
}

ODDITY(processor_name_moves) {
    over<&PMPI_Get_processor_name>([](auto rest, char* name, int* length) {
        static std::atomic<int> moves{0};
        int const code = rest(name, length);
        if (code != MPI_SUCCESS) return code;
        std::string const next = "processor " + std::to_string(++moves) + " of " + name;
        *length = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", next.c_str());
        *length = std::min(*length, MPI_MAX_PROCESSOR_NAME - 1);
        return code;
    });
}

ODDITY(spare_text_overwritten) {
    overwrite_spare<&PMPI_Get_library_version, 0>(MPI_MAX_LIBRARY_VERSION_STRING);
    overwrite_spare<&PMPI_Get_processor_name, 0>(MPI_MAX_PROCESSOR_NAME);
    overwrite_spare<&PMPI_Error_string, 1>(MPI_MAX_ERROR_STRING);
    overwrite_spare<&PMPI_Comm_get_name, 1>(MPI_MAX_OBJECT_NAME);
    overwrite_spare<&PMPI_Type_get_name, 1>(MPI_MAX_OBJECT_NAME);
    overwrite_spare<&PMPI_Win_get_name, 1>(MPI_MAX_OBJECT_NAME);
    overwrite_spare<&PMPI_Open_port, 1>(MPI_MAX_PORT_NAME);
    overwrite_spare<&PMPI_Lookup_name, 2>(MPI_MAX_PORT_NAME);
}

ODDITY(threads_higher) {
    over<&PMPI_Init>([](auto, int* argc, char*** argv) {
        int provided = 0;
        return PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    });
    over<&PMPI_Init_thread>([](auto rest, int* argc, char*** argv, int, int* provided) {
        return rest(argc, argv, MPI_THREAD_MULTIPLE, provided);
    });
}

ODDITY(threads_lower) {
    over<&PMPI_Init_thread>([](auto rest, int* argc, char*** argv, int required, int* provided) {
        int const code = rest(argc, argv, limited(required), provided);
        if (code == MPI_SUCCESS) *provided = limited(*provided);
        return code;
    });
    after<&PMPI_Query_thread, 0>([](int* provided) { *provided = limited(*provided); });
}
