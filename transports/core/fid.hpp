// The tables of functions that libfabric calls: what every object needs, and an entry for what is not offered.
#pragma once
#include <algorithm>
#include <cerrno>
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

// An error that prov_errno tells apart from others of the same number in err: FI_ECONNRESET.
inline constexpr int closed_by_peer = 1001;

inline int errno_of(int error) { return error == closed_by_peer ? FI_ECONNRESET : error; }

// What prov_errno means here, where fi_strerror() would not say which side or which object is meant.
inline char const* words_for(int error) {
    switch (error) {
    case closed_by_peer: return "the peer has closed its endpoint, or its process has ended";
    case FI_ECONNRESET: return "the connection with the peer broke while something was on its way";
    case FI_ECONNREFUSED:
        return "nobody listens at the peer's address: its endpoint is closed, or its process has ended";
    case FI_ETIMEDOUT: return "the peer has not answered in time: its host or the network between may be down";
    case EPROTO: return "the peer does not keep to the protocol, so the connection was closed";
    case EMFILE:
    case ENFILE: return "there is no file descriptor left for a connection (ulimit -n)";
    case FI_EKEYREJECTED: return "no memory is registered at the peer with this key";
    case FI_EACCES: return "the peer's memory is not registered for this access";
    default: return fi_strerror(error);
    }
}

// fi_cq_strerror and fi_eq_strerror: the words, in the buffer as far as they fit, if there is one.
inline char const* error_text(int error, char* buffer, std::size_t size) {
    auto const* const words = words_for(error);
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
