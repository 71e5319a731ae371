// The tables of functions that libfabric calls: what every object needs, and an entry for what is not offered.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <system_error>

namespace assay::ofi {

// Converts to a pointer to any function; the function returns -FI_ENOSYS.
struct not_offered_t {
    template <typename Result, typename... Arguments> using function = Result (*)(Arguments...);
    template <typename Result, typename... Arguments> constexpr operator function<Result, Arguments...>() const {
        return [](Arguments...) -> Result { return static_cast<Result>(-FI_ENOSYS); };
    }
};
inline constexpr not_offered_t not_offered{};

// Calls the function; no exception may leave a library that C calls.
template <typename Function> auto guarded(Function function) noexcept -> decltype(function()) {
    try {
        return function();
    } catch (std::bad_alloc const&) {
        return -FI_ENOMEM;
    } catch (std::system_error const& error) {
        return -error.code().value();
    } catch (std::exception const&) {
        return -FI_EOTHER;
    }
}

// The fid_… struct that a fid is the first member of, and the object of ours that it belongs to.
template <typename Object, typename Fid> Object& object_of(fid* it) {
    return static_cast<Object&>(*reinterpret_cast<Fid*>(it));
}

// fi_cq_strerror and fi_eq_strerror: the words, in the buffer as far as they fit, if there is one.
inline char const* error_text(int error, char* buffer, std::size_t size) {
    auto const* const words = fi_strerror(error);
    if (!buffer || size == 0) return words;
    auto const part = std::min(size - 1, std::strlen(words));
    std::memcpy(buffer, words, part);
    buffer[part] = '\0';
    return buffer;
}

template <typename Fid> void initialize(Fid& it, std::size_t fclass, void* context, fi_ops& ops) {
    it = {};
    it.fid.fclass = fclass;
    it.fid.context = context;
    it.fid.ops = &ops;
}

} // namespace assay::ofi
