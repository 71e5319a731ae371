#include "suites/common/tool_interface.hpp"

#include "framework/process/layer.hpp"

namespace assay {

bool tool_interface_is_open() {
    struct tools {
        tools() {
            unrecorded const own;
            int provided = 0;
            open = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
        }
        ~tools() {
            if (open) MPI_T_finalize();
        }
        tools(tools const&) = delete;
        tools& operator=(tools const&) = delete;
        bool open = false;
    };
    static tools const these;
    return these.open;
}

} // namespace assay
