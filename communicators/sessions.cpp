// Communicators made without MPI_COMM_WORLD, from a session (MPI-5.0 sections 11.3 and 7.4.2).
#include "communicators/building.hpp"
#include "framework/plan/registry.hpp"

#include <initializer_list>
#include <mutex>

namespace assay {
namespace {

// One session a process, since threads may make communicators at once. It has to outlive them. It must not be left to
// MPI_Finalize, nor to a delete callback of MPI_COMM_SELF in it: MPICH 4.0.3 then kills the job at its end.
std::mutex opening;
MPI_Session session = MPI_SESSION_NULL;

MPI_Comm make_from_session() {
    std::lock_guard const lock(opening);
    if (session == MPI_SESSION_NULL)
        must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
    MPI_Group group = MPI_GROUP_NULL;
    must(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), "MPI_Group_from_session_pset");
    MPI_Comm made = MPI_COMM_NULL;
    int const code =
        MPI_Comm_create_from_group(group, "assay.create_from_group", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    MPI_Group_free(&group);
    must(code, "MPI_Comm_create_from_group");
    return made;
}

void close_session() {
    std::lock_guard const lock(opening);
    if (session != MPI_SESSION_NULL) must(MPI_Session_finalize(&session), "MPI_Session_finalize");
}

register_communicator const create_from_group{{
    .name = "create_from_group",
    .note = "MPI_Comm_create_from_group of the process set mpi://WORLD of a session (7.4.2)",
    .lacks = needs_procedures({"MPI_Session_init", "MPI_Group_from_session_pset", "MPI_Comm_create_from_group"}),
    .layout = same_as_world,
    .make = make_from_session,
    .release = close_session,
}};

} // namespace
} // namespace assay
