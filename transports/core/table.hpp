// Numbers for objects that the other side of a wire speaks of. A number that is stale or was never given finds nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::ofi {

template <typename T> class table {
public:
    // Never 0. The object stays the caller's.
    std::uint64_t add(T* it) {
        if (free_.empty()) {
            free_.push_back(entries_.size());
            entries_.push_back({});
        }
        auto const index = free_.back();
        free_.pop_back();
        entries_[index].it = it;
        return std::uint64_t{entries_[index].round} << 32 | index;
    }
    T* find(std::uint64_t number) const {
        auto const index = static_cast<std::size_t>(number & 0xffffffffu);
        if (index >= entries_.size() || entries_[index].round != number >> 32) return nullptr;
        return entries_[index].it;
    }
    void remove(std::uint64_t number) {
        if (!find(number)) return;
        auto const index = static_cast<std::size_t>(number & 0xffffffffu);
        entries_[index].it = nullptr;
        ++entries_[index].round;
        free_.push_back(index);
    }
    // The objects at this moment: what is done with them may change the table.
    std::vector<T*> all() const {
        std::vector<T*> found;
        for (auto const& one : entries_)
            if (one.it) found.push_back(one.it);
        return found;
    }

private:
    struct entry {
        T* it = nullptr;
        std::uint32_t round = 1;
    };
    std::vector<entry> entries_;
    std::vector<std::size_t> free_;
};

} // namespace assay::ofi
