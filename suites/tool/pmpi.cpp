// The profiling interface (MPI-5.0 section 15.2): names with the prefix PMPI_. MPI_Pcontrol is the affair of env.pcontrol.
#include "framework/mpi/library.hpp"
#include "framework/plan/profile.hpp"
#include "suites/tool/tool.hpp"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>

using namespace assay;

// Looked up in the MPI library itself: this program and layers before it define names with the prefix MPI_ of their own.
ASSAY_TEST(tool, pmpi_names, requirements{"tools.pmpi.names"}) {
    auto const path = library_path();
    if (path.empty()) mpi.unsupported("MPI is part of this program");
    auto* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) mpi.unsupported(fmt::format("{} cannot be opened: {}", path, dlerror()));
    for (auto const& one : procedures_of_the_standard()) {
        if (dlsym(library, one.name) == nullptr) continue;
        auto const twin = std::string("P") + one.name;
        mpi.check(dlsym(library, twin.c_str()) != nullptr, finding::value,
                  fmt::format("the MPI library has {} and no {}", one.name, twin));
    }
    dlclose(library);
}

// Requests begun by one name and completed by the other. The send begins by the name that layers do not see: a layer that keeps a
// list of sends would never learn of the end of one that only it saw begin.
ASSAY_TEST(tool, pmpi_calls, requirements{"tools.pmpi.same"},
           over(communicators::few_intra(), datatypes::of({"int", "vector_int"}), counts::ladder())) {
    int const next = (mpi.rank + 1) % mpi.size, before = (mpi.rank + mpi.size - 1) % mpi.size;
    auto& out = mpi.outgoing(next);
    auto& in = mpi.incoming();
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    MPI_Status status = poisoned_status();
    int rank = -1;
    mpi.ok(PMPI_Comm_rank(mpi.comm, &rank));
    mpi.check(rank == mpi.rank, finding::value, fmt::format("PMPI_Comm_rank gives {}, expected {}", rank, mpi.rank));
    mpi.ok(MPI_Irecv(in.address(), mpi.count, mpi.type, before, mpi.tag(), mpi.comm, &receive));
    mpi.ok(PMPI_Isend(out.address(), mpi.count, mpi.type, next, mpi.tag(), mpi.comm, &send));
    mpi.ok(PMPI_Wait(&receive, &status));
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    mpi.expect(status).source(before).tag(mpi.tag()).count(mpi.elements);
    in.expect(mpi.key_from(before), mpi.elements, fmt::format("rank {}", before));
}

// Only by these names: a layer that a tool puts in front of the others may answer differently.
ASSAY_TEST(tool, pmpi_tools, requirements{"tools.pmpi.tools"}) {
    int provided = -7, n = -7, index = -7, length = tool::room_for_name;
    std::array<char, tool::room_for_name + 1> name{};
    tool::open(mpi);
    tool::succeeded(mpi, PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "PMPI_T_init_thread");
    tool::succeeded(mpi, PMPI_T_cvar_get_num(&n), "PMPI_T_cvar_get_num");
    mpi.check(n >= 0, finding::count, fmt::format("PMPI_T_cvar_get_num gives {}", n));
    if (n > 0 && PMPI_T_cvar_get_info(n - 1, name.data(), &length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                      nullptr) == MPI_SUCCESS) {
        tool::succeeded(mpi, PMPI_T_cvar_get_index(name.data(), &index), "PMPI_T_cvar_get_index");
        mpi.check(index == n - 1, finding::value,
                  fmt::format("PMPI_T_cvar_get_index of {} gives {}, expected {}", name.data(), index, n - 1));
    }
    tool::succeeded(mpi, PMPI_T_finalize(), "PMPI_T_finalize");
}
