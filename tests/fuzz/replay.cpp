// Runs a fuzz target on what stands in files and folders, without a fuzzer: what was found once stays found.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

int main(int argc, char** argv) {
    LLVMFuzzerInitialize(&argc, &argv);
    unsigned count = 0;
    for (int k = 1; k < argc; ++k)
        for (auto const& entry : std::filesystem::recursive_directory_iterator(argv[k])) {
            if (!entry.is_regular_file()) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            std::vector<char> const text{std::istreambuf_iterator<char>(file), {}};
            std::printf("%s\n", entry.path().c_str()); // the last one is the one that crashed
            std::fflush(stdout);
            LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(text.data()), text.size());
            ++count;
        }
    if (count == 0) {
        std::fprintf(stderr, "nothing to replay: name the folder of a corpus\n");
        return 1;
    }
    return 0;
}
