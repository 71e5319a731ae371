// MPI_Alloc_mem and MPI_Free_mem (MPI-5.0 section 9.2).
#include "framework/mpi/run.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <unistd.h>

using namespace assay;

namespace {

axis<long> const sizes("bytes", {{{"1", ""}, 1},
                                 {{"0", "nothing"}, 0},
                                 {{"24", ""}, 24},
                                 {{"4099", "a page and a bit"}, 4099},
                                 {{"3000001", "megabytes"}, 3000001}});
// Of mpi_minimum_memory_alignment; 0: without that key.
axis<int> const alignments("alignment", {{{"default", "no info"}, 0},
                                         {{"1", "less than the default"}, 1},
                                         {{"16", ""}, 16},
                                         {{"64", "a cache line"}, 64},
                                         {{"4096", "a page"}, 4096},
                                         {{"65536", ""}, 65536}});

bool aligned(void const* address, std::size_t to) { return reinterpret_cast<std::uintptr_t>(address) % to == 0; }

} // namespace

ASSAY_TEST(env, alloc_mem, requirements{"env.alloc_mem", "env.alloc_mem.alignment", "env.alloc_mem.minimum_alignment"},
           over(axis_use{&sizes}, axis_use{&alignments}), thread_safe{}) {
    auto const bytes = static_cast<std::size_t>(mpi.at(sizes));
    int const wanted = mpi.at(alignments);
    MPI_Info info = MPI_INFO_NULL;
    if (wanted > 0) {
        mpi.ok(MPI_Info_create(&info));
        mpi.ok(MPI_Info_set(info, "mpi_minimum_memory_alignment", std::to_string(wanted).c_str()));
    }
    std::array<unsigned char*, 3> blocks{};
    for (auto& block : blocks) {
        mpi.ok(MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), info, &block));
        if (bytes > 0 &&
            !mpi.check(block != nullptr, finding::value, fmt::format("MPI_Alloc_mem of {} bytes gives NULL", bytes)))
            break;
        if (bytes > 0) {
            // A smaller alignment than the default may be asked for, and may be given.
            mpi.check((wanted > 0 && wanted < 16) || aligned(block, alignof(std::max_align_t)), finding::value,
                      fmt::format("MPI_Alloc_mem gives {}, which suits no {}-byte datatype", fmt::ptr(block),
                                  alignof(std::max_align_t)));
            // Since MPI-4.0; before, the key was unknown. A hint may be ignored (section 10).
            mpi.check(
                "env.alloc_mem.minimum_alignment",
                wanted == 0 || followed_version() < 40 || aligned(block, static_cast<std::size_t>(wanted)),
                finding::value,
                fmt::format("MPI_Alloc_mem gives {} under mpi_minimum_memory_alignment={}", fmt::ptr(block), wanted));
        }
        auto const index = static_cast<std::size_t>(&block - blocks.data());
        for (std::size_t i = 0; i < bytes; ++i) block[i] = static_cast<unsigned char>(i * 31 + index);
    }
    // Nothing is shared between them.
    for (std::size_t b = 0; b < blocks.size(); ++b)
        for (std::size_t i = 0; blocks[b] != nullptr && i < bytes; ++i)
            if (blocks[b][i] != static_cast<unsigned char>(i * 31 + b)) {
                mpi.check(false, finding::data,
                          fmt::format("byte {} of block {} was overwritten by another block", i, b));
                break;
            }
    for (auto* block : blocks)
        if (block != nullptr) mpi.ok(MPI_Free_mem(block));
    if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
}

// It is memory as any other: messages come from it and go into it, and are what was written.
ASSAY_TEST(env, alloc_mem_messages, requirements{"env.alloc_mem.messages"},
           over(communicators::world(), axis_use{&sizes}), thread_safe{}) {
    auto const n = static_cast<int>(mpi.at(sizes));
    unsigned char *out = nullptr, *in = nullptr;
    mpi.ok(MPI_Alloc_mem(n + 1, MPI_INFO_NULL, &out));
    mpi.ok(MPI_Alloc_mem(n + 1, MPI_INFO_NULL, &in));
    if (!mpi.check(out != nullptr && in != nullptr, finding::value, "MPI_Alloc_mem gives NULL") || out == nullptr ||
        in == nullptr)
        return;
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank + mpi.size - 1) % mpi.size;
    for (int i = 0; i < n; ++i) out[i] = static_cast<unsigned char>(i * 7 + mpi.rank);
    in[n] = poison_byte;
    mpi.ok(
        MPI_Sendrecv(out, n, MPI_BYTE, to, mpi.tag(), in, n, MPI_BYTE, from, mpi.tag(), mpi.comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; ++i)
        if (!mpi.check(in[i] == static_cast<unsigned char>(i * 7 + from), finding::data,
                       fmt::format("byte {} of a message into memory of MPI_Alloc_mem is {}, expected {}", i, in[i],
                                   static_cast<unsigned char>(i * 7 + from))))
            break;
    mpi.check(in[n] == poison_byte, finding::guard, "a message went beyond its end");
    mpi.ok(MPI_Free_mem(out));
    mpi.ok(MPI_Free_mem(in));
}

namespace {
// Of this process, in MiB.
long address_space() {
    std::ifstream file("/proc/self/statm");
    long pages = 0;
    file >> pages;
    return pages * (sysconf(_SC_PAGESIZE) / 1024) / 1024;
}
} // namespace

ASSAY_TEST(env, alloc_mem_again, requirements{"env.free_mem"}, over()) {
#ifdef __SANITIZE_ADDRESS__
    mpi.unsupported("AddressSanitizer keeps freed memory for a while");
#endif
    constexpr long mib = 8, rounds = 100;
    long before = 0;
    for (long i = 0; i < rounds; ++i) {
        char* block = nullptr;
        if (!mpi.ok(MPI_Alloc_mem(mib << 20, MPI_INFO_NULL, &block)) || block == nullptr) break;
        block[0] = block[(mib << 20) - 1] = 1;
        if (!mpi.ok(MPI_Free_mem(block))) break;
        if (i == 0) before = address_space(); // libraries may keep a pool
    }
    long const grown = address_space() - before;
    mpi.check(grown < mib * rounds / 4, finding::value,
              fmt::format("{} blocks of {} MiB were freed, and the process has grown by {} MiB", rounds, mib, grown));
}

ASSAY_TEST(env, alloc_mem_exhausted, requirements{"env.alloc_mem.no_mem"}, over()) {
    void* block = nullptr;
    int const code = MPI_Alloc_mem(std::numeric_limits<MPI_Aint>::max() / 2, MPI_INFO_NULL, &block);
    mpi.check(code != MPI_SUCCESS, finding::return_, "MPI_Alloc_mem of more memory than there can be succeeds");
    if (code == MPI_SUCCESS) return;
    int error_class = -7;
    mpi.ok(MPI_Error_class(code, &error_class));
    mpi.check(error_class == MPI_ERR_NO_MEM, finding::error,
              "MPI_Alloc_mem of too much memory raises " + error_text(code) + ", expected MPI_ERR_NO_MEM");
}
