// The type map of a datatype, computed by ourselves from its definition (MPI-5.0 section 5.1) and never asked of the
// library under test: buffers are filled and judged by it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay {

// One predefined C type. `size` is what MPI_Type_size reports, in bytes. Only the first `significant` bytes carry the
// value (an x87 long double stores 10 of its 16): the rest is neither checked nor has to be left alone.
// Data byte k of an element is (random & keep[k]) | set[k], so that floats stay finite and booleans stay 0 or 1.
struct basic_type {
    std::string name;
    std::size_t size = 0;
    std::size_t significant = 0;
    std::size_t alignment = 1;
    std::array<std::uint8_t, 32> keep{};
    std::array<std::uint8_t, 32> set{};

    bool plain() const; // every bit pattern is a value: no masks, no insignificant bytes
    // Whether byte k carries part of the value. A byte without any free or set bit is padding, such as the 6 bytes
    // between the two halves of a long double complex, which lie below `significant`.
    bool carries(std::size_t k) const { return k < significant && (keep[k] | set[k]) != 0; }
};

// `count` elements of one basic type, back to back from `offset` (bytes, relative to the buffer address given to MPI).
struct typemap_run {
    std::ptrdiff_t offset = 0;
    std::size_t count = 0;
    basic_type const* type = nullptr;
};

// How one element lies in memory, worked out once for filling and judging many: only for elements that lie side by side.
struct element_form {
    struct piece {
        std::ptrdiff_t offset; // relative to the element's address
        std::size_t from;      // in the packed stream of the element
        std::size_t size;
    };
    std::vector<piece> pieces;        // as long as memory and stream go on together
    std::vector<piece> insignificant; // bytes within them that carry no value
    // What makes random bytes valid, for as many elements as are worth a loop (a multiple of 8); empty: any byte is.
    std::vector<std::uint8_t> keep, set;
};

// One element of a datatype. The runs stand in type map order, which is the order of the type signature: data byte k
// of the stream lies where run order puts it. Neighbouring runs of the same basic type are merged.
class layout {
public:
    layout() = default; // zero size, zero extent

    static layout of(basic_type const& type);
    // A predefined pair type such as MPI_DOUBLE_INT: struct { value; int } with the C compiler's padding.
    static layout pair(basic_type const& value, basic_type const& index, std::ptrdiff_t index_offset,
                       std::ptrdiff_t extent);

    // The constructors of sections 5.1.2 to 5.1.4 and 5.1.7. Strides and displacements ending in _bytes are bytes, others
    // count extents of the old type. Without explicit bounds the extent is that of the data, rounded up to the strictest
    // alignment (the epsilon of 5.1). Throw std::invalid_argument where the standard calls the arguments erroneous.
    static layout contiguous(std::size_t count, layout const& old);
    static layout vector(std::size_t count, std::size_t blocklength, std::ptrdiff_t stride, layout const& old);
    static layout hvector(std::size_t count, std::size_t blocklength, std::ptrdiff_t stride_bytes, layout const& old);
    static layout indexed(std::vector<int> const& blocklengths, std::vector<int> const& displacements,
                          layout const& old);
    static layout hindexed(std::vector<int> const& blocklengths, std::vector<std::ptrdiff_t> const& displacements_bytes,
                           layout const& old);
    static layout structure(std::vector<int> const& blocklengths,
                            std::vector<std::ptrdiff_t> const& displacements_bytes, std::vector<layout> const& old);
    static layout resized(layout const& old, std::ptrdiff_t lb, std::ptrdiff_t extent);
    static layout subarray(std::vector<int> const& sizes, std::vector<int> const& subsizes,
                           std::vector<int> const& starts, bool c_order, layout const& old);
    // One dimension of a distributed array: `block` and `cyclic` with distribution argument 0 stand for
    // MPI_DISTRIBUTE_DFLT_DARG; `none` ignores it. Lengths count extents of the old type.
    enum class distribution { block, cyclic, none };
    struct dimension {
        int size = 1; // of the global array
        distribution how = distribution::none;
        int argument = 0;
        int processes = 1; // of the process grid
    };
    // What process `rank` of a row-major process grid owns (section 5.1.4).
    static layout darray(int rank, std::vector<dimension> const& dimensions, bool c_order, layout const& old);

    std::vector<typemap_run> const& runs() const { return runs_; }
    std::ptrdiff_t lb() const;
    std::ptrdiff_t extent() const;
    std::ptrdiff_t true_lb() const; // of the bytes that carry data
    std::ptrdiff_t true_extent() const;
    std::size_t size() const { return size_; }           // bytes of data, MPI_Type_size
    std::size_t elements() const { return elements_; }   // basic elements, what MPI_Get_elements counts
    std::size_t alignment() const { return alignment_; } // the strictest of its basic types, bytes; at least 1

    bool has_markers() const { return explicit_bounds_; } // lb_marker and ub_marker (section 5.1.6)

    // Datatypes of the catalogue are prepared; others work without, only slower.
    void prepare();
    element_form const* form() const { return form_.get(); } // nullptr: not prepared, or elements overlap

private:
    // `count` copies of one element of old, the first at `offset`, each `stride` bytes after the one before.
    void append(layout const& old, std::ptrdiff_t offset, std::size_t count, std::ptrdiff_t stride);
    void append(typemap_run run);
    void set_bounds(std::ptrdiff_t lb, std::ptrdiff_t ub);

    std::vector<typemap_run> runs_;
    std::ptrdiff_t data_lb_ = 0, data_ub_ = 0;     // of the data, without markers and rounding; 0 without data
    std::ptrdiff_t marker_lb_ = 0, marker_ub_ = 0; // lb_marker and ub_marker of section 5.1.6
    bool explicit_bounds_ = false; // there are markers: later constructors keep to them, not to the data
    std::size_t size_ = 0, elements_ = 0, alignment_ = 1;
    std::shared_ptr<element_form const> form_;
};

} // namespace assay
