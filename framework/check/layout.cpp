#include "framework/check/layout.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace assay {
namespace {

std::ptrdiff_t signed_size(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

void demand(bool holds, char const* otherwise) {
    if (!holds) throw std::invalid_argument(otherwise);
}

std::size_t length(int n) {
    demand(n >= 0, "layout: a block length is negative; it must be 0 or more");
    return static_cast<std::size_t>(n);
}

std::ptrdiff_t product(std::vector<int> const& factors) {
    return std::accumulate(factors.begin(), factors.end(), std::ptrdiff_t{1},
                           [](std::ptrdiff_t p, int f) { return p * f; });
}

} // namespace

bool basic_type::plain() const {
    return significant == size &&
           std::all_of(keep.begin(), keep.begin() + signed_size(size), [](auto m) { return m == 0xff; }) &&
           std::all_of(set.begin(), set.begin() + signed_size(size), [](auto m) { return m == 0; });
}

void layout::prepare() {
    bool const side_by_side =
        size_ > 0 && extent() > 0 && true_lb() >= lb() && true_lb() + true_extent() <= lb() + extent();
    std::vector<typemap_run> ascending = runs_;
    std::sort(ascending.begin(), ascending.end(), [](auto const& a, auto const& b) { return a.offset < b.offset; });
    bool overlap = !side_by_side;
    for (std::size_t i = 1; i < ascending.size(); ++i)
        overlap |= ascending[i - 1].offset + signed_size(ascending[i - 1].count * ascending[i - 1].type->size) >
                   ascending[i].offset;
    if (overlap) return;
    auto form = std::make_shared<element_form>();
    auto const extend = [](std::vector<element_form::piece>& to, std::ptrdiff_t offset, std::size_t from,
                           std::size_t n) {
        if (!to.empty() && to.back().offset + signed_size(to.back().size) == offset &&
            to.back().from + to.back().size == from)
            to.back().size += n;
        else to.push_back({offset, from, n});
    };
    bool plain = true;
    std::size_t from = 0;
    for (auto const& run : runs_) {
        auto const& type = *run.type;
        plain &= type.plain();
        extend(form->pieces, run.offset, from, run.count * type.size);
        for (std::size_t i = 0; i < run.count; ++i, from += type.size)
            for (std::size_t k = 0; k < type.size; ++k)
                if (!type.carries(k))
                    extend(form->insignificant, run.offset + signed_size(i * type.size + k), from + k, 1);
    }
    while (!plain && form->keep.size() < std::max<std::size_t>(8 * size_, 512))
        for (int eight = 0; eight < 8; ++eight)
            for (auto const& run : runs_)
                for (std::size_t i = 0; i < run.count; ++i) {
                    auto const end = signed_size(run.type->size);
                    form->keep.insert(form->keep.end(), run.type->keep.begin(), run.type->keep.begin() + end);
                    form->set.insert(form->set.end(), run.type->set.begin(), run.type->set.begin() + end);
                }
    form_ = std::move(form);
}

void layout::append(typemap_run run) {
    form_.reset();
    auto const end = run.offset + signed_size(run.count * run.type->size);
    data_lb_ = runs_.empty() ? run.offset : std::min(data_lb_, run.offset);
    data_ub_ = runs_.empty() ? end : std::max(data_ub_, end);
    size_ += run.count * run.type->size;
    elements_ += run.count;
    alignment_ = std::max(alignment_, run.type->alignment);
    if (!runs_.empty()) {
        auto& last = runs_.back();
        if (last.type == run.type && last.offset + signed_size(last.count * last.type->size) == run.offset) {
            last.count += run.count;
            return;
        }
    }
    runs_.push_back(run);
}

void layout::append(layout const& old, std::ptrdiff_t offset, std::size_t count, std::ptrdiff_t stride) {
    if (count == 0) return; // no entry in the type map, no effect on the bounds (section 5.1)
    if (old.explicit_bounds_) {
        auto const last = offset + signed_size(count - 1) * stride; // the stride may be negative
        auto const lb = std::min(offset, last) + old.marker_lb_, ub = std::max(offset, last) + old.marker_ub_;
        if (explicit_bounds_) set_bounds(std::min(lb, marker_lb_), std::max(ub, marker_ub_));
        else set_bounds(lb, ub);
    }
    bool const dense = old.runs_.size() == 1 && signed_size(old.size_) == stride;
    if (dense) { // a million contiguous integers are one run, and cost as much as one
        auto run = old.runs_.front();
        run.offset += offset;
        run.count *= count;
        append(run);
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        for (auto run : old.runs_) {
            run.offset += offset + signed_size(i) * stride;
            append(run);
        }
}

void layout::set_bounds(std::ptrdiff_t lb, std::ptrdiff_t ub) {
    form_.reset();
    explicit_bounds_ = true;
    marker_lb_ = lb;
    marker_ub_ = ub;
}

std::ptrdiff_t layout::lb() const { return explicit_bounds_ ? marker_lb_ : data_lb_; }

std::ptrdiff_t layout::extent() const {
    if (explicit_bounds_) return marker_ub_ - marker_lb_;
    auto const k = signed_size(alignment_);
    return (data_ub_ - data_lb_ + k - 1) / k * k; // the epsilon of section 5.1
}

std::ptrdiff_t layout::true_lb() const { return data_lb_; }
std::ptrdiff_t layout::true_extent() const { return data_ub_ - data_lb_; }

layout layout::of(basic_type const& type) {
    layout made;
    made.append(typemap_run{0, 1, &type});
    return made;
}

layout layout::pair(basic_type const& value, basic_type const& index, std::ptrdiff_t index_offset,
                    std::ptrdiff_t extent) {
    layout made;
    made.append(typemap_run{0, 1, &value});
    made.append(typemap_run{index_offset, 1, &index});
    if (made.extent() != extent) made.set_bounds(0, extent); // a compiler that pads more than alignment asks for
    return made;
}

layout layout::contiguous(std::size_t count, layout const& old) {
    layout made;
    made.append(old, 0, count, old.extent());
    return made;
}

layout layout::vector(std::size_t count, std::size_t blocklength, std::ptrdiff_t stride, layout const& old) {
    return hvector(count, blocklength, stride * old.extent(), old);
}

layout layout::hvector(std::size_t count, std::size_t blocklength, std::ptrdiff_t stride_bytes, layout const& old) {
    layout made;
    if (blocklength > 0) made.append(contiguous(blocklength, old), 0, count, stride_bytes);
    return made;
}

layout layout::indexed(std::vector<int> const& blocklengths, std::vector<int> const& displacements, layout const& old) {
    std::vector<std::ptrdiff_t> bytes(displacements.begin(), displacements.end());
    for (auto& d : bytes) d *= old.extent();
    return hindexed(blocklengths, bytes, old);
}

layout layout::hindexed(std::vector<int> const& blocklengths, std::vector<std::ptrdiff_t> const& displacements_bytes,
                        layout const& old) {
    demand(blocklengths.size() == displacements_bytes.size(),
           "layout: as many displacements as block lengths are needed");
    layout made;
    for (std::size_t i = 0; i < blocklengths.size(); ++i)
        made.append(old, displacements_bytes[i], length(blocklengths[i]), old.extent());
    return made;
}

layout layout::structure(std::vector<int> const& blocklengths, std::vector<std::ptrdiff_t> const& displacements_bytes,
                         std::vector<layout> const& old) {
    demand(blocklengths.size() == displacements_bytes.size() && blocklengths.size() == old.size(),
           "layout: a struct needs as many displacements and types as block lengths");
    layout made;
    for (std::size_t i = 0; i < blocklengths.size(); ++i)
        made.append(old[i], displacements_bytes[i], length(blocklengths[i]), old[i].extent());
    return made;
}

layout layout::resized(layout const& old, std::ptrdiff_t lb, std::ptrdiff_t extent) {
    layout made = old; // its markers, if any, are replaced
    made.set_bounds(lb, lb + extent);
    return made;
}

layout layout::subarray(std::vector<int> const& sizes, std::vector<int> const& subsizes, std::vector<int> const& starts,
                        bool c_order, layout const& old) {
    auto const dims = sizes.size();
    demand(dims > 0 && subsizes.size() == dims && starts.size() == dims,
           "layout: a subarray needs a size, a subsize and a start for each dimension");
    auto const total = product(sizes) * old.extent();
    // Dimension by dimension from the fastest to the slowest, as the recursive definition in 5.1.3 does it.
    layout made = old;
    auto stride = old.extent();
    std::ptrdiff_t start = 0;
    for (std::size_t i = 0; i < dims; ++i) {
        auto const d = c_order ? dims - 1 - i : i;
        demand(subsizes[d] >= 1 && subsizes[d] <= sizes[d] && starts[d] >= 0 && starts[d] <= sizes[d] - subsizes[d],
               "layout: the subarray does not lie within the array");
        made = hvector(static_cast<std::size_t>(subsizes[d]), 1, stride, made);
        start += starts[d] * stride;
        stride *= sizes[d];
    }
    layout placed;
    placed.append(made, start, 1, 0);
    placed.set_bounds(0, total);
    return placed;
}

layout layout::darray(int rank, std::vector<dimension> const& dimensions, bool c_order, layout const& old) {
    demand(!dimensions.empty(), "layout: a distributed array needs at least one dimension");
    // The place of the process in the row-major grid: the last dimension varies fastest, in either storage order.
    std::vector<int> place(dimensions.size());
    for (std::size_t d = dimensions.size(); d-- > 0;) {
        place[d] = rank % dimensions[d].processes;
        rank /= dimensions[d].processes;
    }
    demand(rank == 0, "layout: the rank lies outside the process grid");
    layout made = old;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        auto const d = c_order ? dimensions.size() - 1 - i : i;
        auto const& dim = dimensions[d];
        int block = dim.argument; // every distribution is a cyclic one with the right block length
        if (dim.how == distribution::none) block = dim.size;
        else if (block == 0)
            block = dim.how == distribution::cyclic ? 1 : (dim.size + dim.processes - 1) / dim.processes;
        demand(dim.how != distribution::none || dim.processes == 1,
               "layout: a dimension that is not distributed has one process");
        demand(dim.how != distribution::block || std::ptrdiff_t{block} * dim.processes >= dim.size,
               "layout: the blocks of a distributed dimension do not cover it");
        auto const extent = made.extent();
        layout distributed;
        for (std::ptrdiff_t at = std::ptrdiff_t{place[d]} * block; at < dim.size;
             at += std::ptrdiff_t{dim.processes} * block)
            distributed.append(made, at * extent,
                               static_cast<std::size_t>(std::min<std::ptrdiff_t>(block, dim.size - at)), extent);
        distributed.set_bounds(0, dim.size * extent);
        made = distributed;
    }
    return made;
}

} // namespace assay
