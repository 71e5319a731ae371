// Open or closed, and what all parts use.
#include "preload/tool_model/state.hpp"

namespace tool_model {
namespace {
int opened = 0;
}

bool is_closed() {
    ++calls;
    return opened == 0;
}

void put(std::string const& text, char* to, int* length) {
    if (length == nullptr) return;
    if (to != nullptr && *length > 0) {
        auto const n = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
        std::memcpy(to, text.data(), n);
        to[n] = '\0';
    }
    *length = static_cast<int>(text.size()) + 1;
}

std::size_t size_of(MPI_Datatype type) {
    if (type == MPI_CHAR) return 1;
    if (type == MPI_INT || type == MPI_UNSIGNED || type == MPI_INT32_T || type == MPI_UINT32_T) return 4;
    return 8;
}

std::vector<std::pair<std::string, int>> objects() {
    return {{"comm", MPI_T_BIND_MPI_COMM},
            {"datatype", MPI_T_BIND_MPI_DATATYPE},
            {"errhandler", MPI_T_BIND_MPI_ERRHANDLER},
            {"file", MPI_T_BIND_MPI_FILE},
            {"group", MPI_T_BIND_MPI_GROUP},
            {"op", MPI_T_BIND_MPI_OP},
            {"request", MPI_T_BIND_MPI_REQUEST},
            {"win", MPI_T_BIND_MPI_WIN},
            {"message", MPI_T_BIND_MPI_MESSAGE},
            {"info", MPI_T_BIND_MPI_INFO}
#if MPI_VERSION >= 5
            ,
            {"session", MPI_T_BIND_MPI_SESSION}
#endif
    };
}

int init_thread(int required, int* provided) {
    int const code = PMPI_T_init_thread(required, provided);
    if (code == MPI_SUCCESS) ++opened;
    return code;
}
int finalize(bool answers) {
    if (answers && opened == 0) return MPI_T_ERR_NOT_INITIALIZED;
    int const code = PMPI_T_finalize();
    if (code == MPI_SUCCESS && opened > 0 && --opened == 0) {
        forget_controls();
        forget_performances();
        forget_registrations();
    }
    return code;
}

} // namespace tool_model
