// Processes that are started later, and ports.
#include "core/core.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

using namespace assay_faults;

namespace {

// The arguments with what the fault makes of them.
struct words {
    explicit words(char** given) {
        for (; given != nullptr && *given != nullptr; ++given) texts.emplace_back(*given);
        if (planted == fault::spawn_argument && !texts.empty() && !texts.back().empty()) texts.back().pop_back();
        for (auto& text : texts) pointers.push_back(text.data());
        pointers.push_back(nullptr);
    }
    std::vector<std::string> texts;
    std::vector<char*> pointers;
};

void spoil_codes(int* codes, int n) {
    if (codes == MPI_ERRCODES_IGNORE) return;
    if (planted == fault::spawn_errcode) codes[n - 1] = MPI_ERR_OTHER;
    if (planted == fault::spawn_errcode_beyond) codes[n] = MPI_SUCCESS;
}

// Made by the third or a later MPI_Comm_accept of this process, and not disconnected.
memory<std::vector<MPI_Comm>> late_links;
memory<int> accepted;

int remote_size(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_remote_size(comm, &size);
    return size;
}

} // namespace

void assay_faults::received_when_spawned(receive const& posted, int count) {
    if (planted == fault::spawned_data && spawned()) invert_first_byte(posted, count);
    if (planted == fault::link_third &&
        std::find(late_links->begin(), late_links->end(), posted.comm) != late_links->end())
        invert_first_byte(posted, count);
}

extern "C" {

int MPI_Comm_accept(char const* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* link) {
    int const code = PMPI_Comm_accept(port, info, root, comm, link);
    if (code == MPI_SUCCESS && ++*accepted > 2) late_links->push_back(*link);
    return code;
}

int MPI_Comm_spawn(char const* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm* intercomm, int codes[]) {
    if (planted == fault::unset) return PMPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, codes);
    bool const here = rank_in(comm) == root;
    words changed(here ? argv : nullptr);
    if (planted == fault::spawn_one_more && here) ++maxprocs;
    std::vector<int> own(64);
    int const code = PMPI_Comm_spawn(command, here ? changed.pointers.data() : nullptr, maxprocs, info, root, comm,
                                     intercomm, own.data());
    if (code != MPI_SUCCESS) return code;
    int const n = remote_size(*intercomm) - (planted == fault::spawn_one_more);
    if (codes != MPI_ERRCODES_IGNORE) std::copy_n(own.begin(), n, codes);
    spoil_codes(codes, n);
    return code;
}

int MPI_Comm_spawn_multiple(int count, char* commands[], char** argvs[], int const maxprocs[], MPI_Info const infos[],
                            int root, MPI_Comm comm, MPI_Comm* intercomm, int codes[]) {
    if (planted == fault::unset)
        return PMPI_Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, comm, intercomm, codes);
    std::vector<char**> lists;
    std::vector<words> changed;
    if (rank_in(comm) == root) {
        for (int i = 0; i < count; ++i) changed.emplace_back(argvs[i]);
        for (auto& list : changed) lists.push_back(list.pointers.data());
        if (planted == fault::spawn_multiple_order) std::reverse(lists.begin(), lists.end());
    }
    int const code =
        PMPI_Comm_spawn_multiple(count, commands, lists.data(), maxprocs, infos, root, comm, intercomm, codes);
    if (code == MPI_SUCCESS) spoil_codes(codes, remote_size(*intercomm));
    return code;
}

int MPI_Comm_get_parent(MPI_Comm* parent) {
    int const code = PMPI_Comm_get_parent(parent);
    if (planted == fault::parent_of_the_first && *parent == MPI_COMM_NULL) *parent = MPI_COMM_SELF;
    return code;
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
    MPI_Comm const before = *comm;
    if (planted == fault::spawned_crash && spawned()) std::raise(SIGSEGV);
    std::erase(*late_links, before);
    int const code = PMPI_Comm_disconnect(comm);
    if (planted == fault::disconnect_keeps) *comm = before;
    return code;
}

int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* merged) {
    int const code =
        PMPI_Intercomm_merge(intercomm, planted == fault::merge_order ? (high == 0 ? 1 : 0) : high, merged);
    if (planted == fault::merge_within && code == MPI_SUCCESS) {
        // Each side keeps its place and is turned round.
        int local = 0, size = 0, rank = 0;
        PMPI_Comm_rank(intercomm, &local);
        PMPI_Comm_size(intercomm, &size);
        PMPI_Comm_rank(*merged, &rank);
        MPI_Comm old = *merged;
        PMPI_Comm_split(old, 0, rank - local + size - 1 - local, merged);
        PMPI_Comm_free(&old);
    }
    return code;
}

int MPI_Open_port(MPI_Info info, char* name) {
    int const code = PMPI_Open_port(info, name);
    if (planted == fault::port_overflow) name[MPI_MAX_PORT_NAME] = '\0';
    return code;
}

int MPI_Lookup_name(char const* service, MPI_Info info, char* name) {
    int const code = PMPI_Lookup_name(service, info, name);
    if (planted == fault::lookup_other && code == MPI_SUCCESS && *name != '\0') name[std::strlen(name) - 1] ^= 1;
    if (planted == fault::lookup_class && code != MPI_SUCCESS) return MPI_ERR_OTHER;
    return code;
}

} // extern "C"
