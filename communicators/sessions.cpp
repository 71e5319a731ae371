// Communicators made without MPI_COMM_WORLD, from a session (MPI-5.0 sections 11.3 and 7.4.2).
#include "communicators/building.hpp"

#include <initializer_list>

// Asked of the header by its macro, not by MPI_VERSION: Open MPI 5 has sessions and says 3.1.
#ifdef MPI_SESSION_NULL
#define ASSAY_HAS_SESSIONS 1
#else
#define ASSAY_HAS_SESSIONS 0
#endif

namespace assay {
namespace {

std::string lacks_sessions([[maybe_unused]] job const& j) {
#if ASSAY_HAS_SESSIONS
    for (char const* name : {"MPI_Session_init", "MPI_Group_from_session_pset", "MPI_Comm_create_from_group"})
        if (!has_procedure(name)) return fmt::format("needs {}, which this MPI library does not offer", name);
    return "";
#else
    return fmt::format("needs sessions (MPI 4.0), which the header of this MPI library (MPI {}.{}) does not declare", MPI_VERSION,
                       MPI_SUBVERSION);
#endif
}

MPI_Comm make_from_session() {
#if ASSAY_HAS_SESSIONS
    // The session has to outlive its communicators, and threads may ask at once: one session a process, kept until
    // MPI_Finalize. The delete callback of an attribute of MPI_COMM_SELF runs first there (11.2.4).
    static MPI_Session const session = [] {
        MPI_Session opened = MPI_SESSION_NULL;
        must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &opened), "MPI_Session_init");
        static MPI_Session closing = opened;
        int key = MPI_KEYVAL_INVALID;
        auto const finalize = [](MPI_Comm, int, void* value, void*) {
            return MPI_Session_finalize(static_cast<MPI_Session*>(value));
        };
        must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &key, nullptr), "MPI_Comm_create_keyval");
        must(MPI_Comm_set_attr(MPI_COMM_SELF, key, &closing), "MPI_Comm_set_attr");
        must(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval"); // lives on until the attribute is gone
        return opened;
    }();
    MPI_Group group = MPI_GROUP_NULL;
    must(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), "MPI_Group_from_session_pset");
    MPI_Comm made = MPI_COMM_NULL;
    int const code = MPI_Comm_create_from_group(group, "assay.create_from_group", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    MPI_Group_free(&group);
    must(code, "MPI_Comm_create_from_group");
    return made;
#else
    return MPI_COMM_NULL;
#endif
}

register_communicator const create_from_group{{
    .name = "create_from_group",
    .title = "",
    .note = "MPI_Comm_create_from_group of the process set mpi://WORLD of a session (7.4.2)",
    .lacks = lacks_sessions,
    .layout = same_as_world,
    .make = make_from_session,
}};

} // namespace
} // namespace assay
