// What fuzz targets share: the bytes of the fuzzer are a script, which says what happens next.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace assay::fuzz {

// A rule that sanitizers do not know.
inline void must(bool holds, char const* what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz: %s\n", what);
    std::abort();
}

// Zeros after its end.
class script {
public:
    script(std::uint8_t const* data, std::size_t size) : left_(data, data + size) {}
    bool over() const { return at_ >= left_.size(); }
    unsigned byte() { return over() ? 0 : left_[at_++]; }
    unsigned below(unsigned n) { return byte() % n; }

private:
    std::vector<std::uint8_t> left_;
    std::size_t at_ = 0;
};

} // namespace assay::fuzz
