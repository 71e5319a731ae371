// Communicators, groups, error handlers.
#include "layers.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <string>

using namespace assay_oddities;

namespace {

std::mutex lock;

// A communicator of the same processes the other way round; MPI_COMM_NULL if there is none.
MPI_Comm turned(MPI_Comm comm) {
    int inter = 0, rank = 0;
    MPI_Comm made = MPI_COMM_NULL;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return made;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_split(comm, 0, -rank, &made);
    return made;
}

// P returns a group in its last argument: a new one with the same members takes its place.
template <auto... P> void new_groups() {
    auto const one = []<auto Q>() {
        over<Q>([](auto rest, auto... a) {
            int const code = rest(a...);
            MPI_Group* const group = std::get<sizeof...(a) - 1>(std::tie(a...));
            int size = 0;
            if (code != MPI_SUCCESS || PMPI_Group_size(*group, &size) != MPI_SUCCESS || size == 0) return code;
            // Not all members at once, which a library may see through: without the last, and then with it.
            MPI_Group all = *group, most = MPI_GROUP_NULL, last = MPI_GROUP_NULL;
            int const end = size - 1;
            PMPI_Group_excl(all, 1, &end, &most);
            PMPI_Group_incl(all, 1, &end, &last);
            PMPI_Group_union(most, last, group);
            if (most != MPI_GROUP_EMPTY) PMPI_Group_free(&most);
            PMPI_Group_free(&last);
            PMPI_Group_free(&all);
            return code;
        });
    };
    (one.template operator()<P>(), ...);
}

std::map<std::size_t, MPI_Comm_errhandler_function*> handlers; // of the user, for communicators

std::set<int> codes_with_text; // of the user

// The texts of all codes to which the user has given none.
template <class Text> void texts(Text text) {
    over<&PMPI_Error_string>([text](auto rest, int code, char* string, int* length) {
        int const result = rest(code, string, length);
        std::lock_guard const guard(lock);
        if (result != MPI_SUCCESS || codes_with_text.contains(code) || *length == 0) return result;
        std::string const other = text(code);
        std::memcpy(string, other.c_str(), other.size() + 1);
        *length = static_cast<int>(other.size());
        return result;
    });
}

void follow_texts() {
    static bool done = false;
    if (std::exchange(done, true)) return;
    always_over<&PMPI_Add_error_string>([](auto rest, int code, char const* string) {
        int const result = rest(code, string);
        std::lock_guard const guard(lock);
        if (result == MPI_SUCCESS) codes_with_text.insert(code);
        return result;
    });
}

} // namespace

ODDITY(grids_reordered) {
    over<&PMPI_Cart_create>(
        [](auto rest, MPI_Comm comm, int n, int const* dims, int const* periods, int reorder, MPI_Comm* made) {
            MPI_Comm other = reorder != 0 ? turned(comm) : MPI_COMM_NULL;
            if (other == MPI_COMM_NULL) return rest(comm, n, dims, periods, reorder, made);
            int const code = rest(other, n, dims, periods, 0, made);
            PMPI_Comm_free(&other);
            return code;
        });
    over<&PMPI_Graph_create>(
        [](auto rest, MPI_Comm comm, int n, int const* index, int const* edges, int reorder, MPI_Comm* made) {
            MPI_Comm other = reorder != 0 ? turned(comm) : MPI_COMM_NULL;
            if (other == MPI_COMM_NULL) return rest(comm, n, index, edges, reorder, made);
            int const code = rest(other, n, index, edges, 0, made);
            PMPI_Comm_free(&other);
            return code;
        });
}

ODDITY(groups_new) {
    new_groups<&PMPI_Comm_group, &PMPI_Comm_remote_group, &PMPI_Win_get_group, &PMPI_File_get_group>();
}

ODDITY(errhandlers_new) {
    always_over<&PMPI_Comm_create_errhandler>(
        [](auto rest, MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
            int const code = rest(function, handler);
            std::lock_guard const guard(lock);
            if (code == MPI_SUCCESS) handlers[key(*handler)] = function;
            return code;
        });
    auto const other = [](auto rest, auto* function, MPI_Errhandler* handler) {
        int const code = rest(function, handler);
        std::lock_guard const guard(lock);
        if (code == MPI_SUCCESS) handlers.erase(key(*handler));
        return code;
    };
    always_over<&PMPI_Win_create_errhandler>(other);
    always_over<&PMPI_File_create_errhandler>(other);
    over<&PMPI_Comm_get_errhandler>([](auto rest, MPI_Comm comm, MPI_Errhandler* handler) {
        int const code = rest(comm, handler);
        std::lock_guard const guard(lock);
        auto const found = handlers.find(key(*handler));
        if (code != MPI_SUCCESS || found == handlers.end()) return code;
        auto* const function = found->second;
        MPI_Errhandler old = *handler;
        if (PMPI_Comm_create_errhandler(function, handler) != MPI_SUCCESS) return code;
        PMPI_Errhandler_free(&old); // the reference that the library has given
        handlers[key(*handler)] = function;
        return code;
    });
}

ODDITY(error_texts_short) {
    follow_texts();
    texts([](int code) { return "e" + std::to_string(code); });
}

ODDITY(error_texts_long) {
    follow_texts();
    texts([](int code) {
        std::string text = "Sorry, number " + std::to_string(code) + ".";
        while (text.size() < MPI_MAX_ERROR_STRING - 1) text += " Sorry."[text.size() % 7];
        return text;
    });
}
