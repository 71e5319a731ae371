// Attributes that MPI sets, and memory that it gives.
#include "layers.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

using namespace assay_oddities;

ODDITY(tag_ub_smallest) {
    over<&PMPI_Comm_get_attr>([](auto rest, MPI_Comm comm, int name, void* value, int* flag) {
        static int smallest = 32767;
        int const code = rest(comm, name, value, flag);
        if (code == MPI_SUCCESS && name == MPI_TAG_UB && *flag != 0) *static_cast<int**>(value) = &smallest;
        return code;
    });
}

ODDITY(attributes_elsewhere) {
    over<&PMPI_Comm_get_attr>([](auto rest, MPI_Comm comm, int name, void* value, int* flag) {
        static std::array<int, 1024> places{};
        static std::atomic<unsigned> next{0};
        int const code = rest(comm, name, value, flag);
        bool const predefined = name == MPI_TAG_UB || name == MPI_IO || name == MPI_WTIME_IS_GLOBAL ||
                                name == MPI_UNIVERSE_SIZE || name == MPI_APPNUM || name == MPI_LASTUSEDCODE;
        if (code != MPI_SUCCESS || *flag == 0 || !predefined) return code;
        int& place = places[next++ % places.size()];
        place = **static_cast<int**>(value);
        *static_cast<int**>(value) = &place;
        return code;
    });
}

ODDITY(universe_unknown) {
    over<&PMPI_Comm_get_attr>([](auto rest, MPI_Comm comm, int name, void* value, int* flag) {
        int const code = rest(comm, name, value, flag);
        if (code == MPI_SUCCESS && name == MPI_UNIVERSE_SIZE) *flag = 0;
        return code;
    });
}

ODDITY(memory_off_lines) {
    static std::mutex lock;
    static std::map<char*, char*> begins; // what the library gave, by what was handed on
    over<&PMPI_Alloc_mem>([](auto rest, MPI_Aint size, MPI_Info info, void* address) {
        if (info != MPI_INFO_NULL || size < 0) return rest(size, info, address);
        char* begin = nullptr;
        int const code = rest(size + 80, info, &begin);
        if (code != MPI_SUCCESS) return code;
        auto const line = (reinterpret_cast<std::uintptr_t>(begin) + 63) & ~std::uintptr_t{63};
        char* const handed = reinterpret_cast<char*>(line + 16);
        std::lock_guard const guard(lock);
        begins[handed] = begin;
        *static_cast<void**>(address) = handed;
        return code;
    });
    always_over<&PMPI_Free_mem>([](auto rest, void* memory) {
        {
            std::lock_guard const guard(lock);
            if (auto const found = begins.find(static_cast<char*>(memory)); found != begins.end()) {
                memory = found->second;
                begins.erase(found);
            }
        }
        return rest(memory);
    });
}
