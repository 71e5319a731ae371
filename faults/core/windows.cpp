#include "windows.hpp"

#include <mutex>

namespace assay_faults {
namespace {
std::mutex held_lock;
memory<std::vector<std::function<int()>>> held;
} // namespace

int hold(std::function<int()> access) {
    std::lock_guard const lock(held_lock);
    held->push_back(std::move(access));
    return MPI_SUCCESS;
}

void release(bool drop) {
    std::vector<std::function<int()>> all;
    {
        std::lock_guard const lock(held_lock);
        all.swap(*held);
    }
    if (!drop)
        for (auto const& access : all) access();
}

bool holding() {
    std::lock_guard const lock(held_lock);
    return !held->empty();
}

std::map<MPI_Win, window>& windows() {
    static std::map<MPI_Win, window> all;
    return all;
}

MPI_Win window_around(void const* address) {
    auto const* const at = static_cast<unsigned char const*>(address);
    for (auto const& [win, facts] : windows()) {
        if (at >= facts.base && at < facts.base + facts.size) return win;
        for (auto const& [base, size] : facts.attached)
            if (at >= static_cast<unsigned char*>(base) && at < static_cast<unsigned char*>(base) + size) return win;
    }
    return MPI_WIN_NULL;
}

} // namespace assay_faults
