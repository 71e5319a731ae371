// Address space that is larger than the memory of the machine: only the pages that are touched exist. For data that lies further
// from its base than 2^32 bytes.
#pragma once
#include <cstddef>
#include <sys/mman.h>

namespace assay {

class far_memory {
public:
    explicit far_memory(std::size_t size) : size_(size) {
        void* const at =
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at != MAP_FAILED) base_ = static_cast<unsigned char*>(at);
    }
    ~far_memory() {
        if (base_ != nullptr) munmap(base_, size_);
    }
    far_memory(far_memory const&) = delete;
    far_memory& operator=(far_memory const&) = delete;

    unsigned char* base() const { return base_; } // nullptr: there is not so much address space
    std::size_t size() const { return size_; }
    int& at(std::size_t offset) const { return *reinterpret_cast<int*>(base_ + offset); }
    // Where the same offset would be if it were cut to 32 bits.
    int& cut(std::size_t offset) const { return at(offset & 0xffffffffu); }

private:
    std::size_t size_;
    unsigned char* base_ = nullptr;
};

} // namespace assay
