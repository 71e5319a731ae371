// The integers of MPI (MPI-5.0 sections 2.5.8 and 20.3.5), handles as pointers (20.3.2), and predefined datatypes whose names tell their
// size (19.1.9.2, 20.5).
#include "framework/check/logical.hpp"
#include "suites/abi/kinds.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using namespace assay;

namespace {

// A predefined datatype whose name tells its size.
struct sized_type {
    std::string name; // integer8
    MPI_Datatype type;
    int size;      // bytes: bits 5 to 3 of its value in the ABI are the logarithm
    bool optional; // one of Fortran's: 20.4
};
axis<sized_type> const sized("type", [] {
    std::vector<axis<sized_type>::entry> all;
    for (auto const& one : abi::datatypes().constants) {
        if ((one.value & 64) == 0) continue; // it has no fixed size
        std::string name = one.name + 4;     // after MPI_
        for (auto& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        all.push_back({{name, ""}, {name, one.handle, 1 << ((one.value >> 3) & 7), one.value >= 704}});
    }
    return all;
}());

// What the info for Fortran says of an optional datatype: true, false, or nothing.
std::string supported(test_run& mpi, std::string const& name) {
    std::array<char, 8> value{};
    MPI_Info info = MPI_INFO_NULL;
    if (!has_procedure("MPI_Abi_get_fortran_info") || !mpi.ok(MPI_Abi_get_fortran_info(&info)) || info == MPI_INFO_NULL)
        return "";
    int flag = 0;
    mpi.ok(MPI_Info_get(info, fmt::format("mpi_{}_supported", name).c_str(), static_cast<int>(value.size()) - 1,
                        value.data(), &flag));
    mpi.ok(MPI_Info_free(&info));
    return logical(flag) ? value.data() : "";
}

} // namespace

ASSAY_TEST(abi, integers,
           requirements{"abi.types.integers", "abi.types.count", "abi.types.handles", "abi.handles.pointers"}, over(),
           thread_safe{}) {
    auto const holds = [](auto one) {
        using count = std::numeric_limits<MPI_Count>;
        using other = std::numeric_limits<decltype(one)>;
        return other::min() >= count::min() && other::max() <= count::max();
    };
    mpi.check("abi.types.count",
              std::is_signed_v<MPI_Count> && holds(int{}) && holds(MPI_Aint{}) && holds(MPI_Offset{}), finding::value,
              "MPI_Count does not hold every value of int, MPI_Aint and MPI_Offset");
    auto const expect = [&](char const* name, MPI_Datatype type, std::size_t expected) {
        int size = -7;
        mpi.ok(MPI_Type_size(type, &size));
        mpi.check("abi.types.handles", size == static_cast<int>(expected), finding::value,
                  fmt::format("{} has size {}, expected {}", name, size, expected));
    };
    expect("MPI_AINT", MPI_AINT, sizeof(MPI_Aint));
    expect("MPI_OFFSET", MPI_OFFSET, sizeof(MPI_Offset));
    expect("MPI_COUNT", MPI_COUNT, sizeof(MPI_Count));
    if (!abi::has_standard_abi()) return;
    auto const signed_of = [](auto number, std::size_t bytes) {
        return std::is_signed_v<decltype(number)> && sizeof number == bytes;
    };
    mpi.check("abi.types.integers",
              signed_of(MPI_Aint(), sizeof(void*)) && signed_of(MPI_Offset(), 8) && sizeof(MPI_Count) == 8,
              finding::value,
              fmt::format("MPI_Aint, MPI_Offset and MPI_Count have {}, {} and {} bytes, or one of them is not signed",
                          sizeof(MPI_Aint), sizeof(MPI_Offset), sizeof(MPI_Count)));
    mpi.check("abi.handles.pointers",
              std::is_pointer_v<MPI_Comm> && std::is_pointer_v<MPI_Datatype> && std::is_pointer_v<MPI_Errhandler> &&
                  std::is_pointer_v<MPI_File> && std::is_pointer_v<MPI_Group> && std::is_pointer_v<MPI_Info> &&
                  std::is_pointer_v<MPI_Message> && std::is_pointer_v<MPI_Op> && std::is_pointer_v<MPI_Request> &&
                  std::is_pointer_v<MPI_Session> && std::is_pointer_v<MPI_Win>,
              finding::value, "a kind of handle is no pointer");
}

ASSAY_TEST(abi, sized_type,
           requirements{"lang.sized.size", "lang.sized.data", "abi.types.encoded", "abi.optional.undefined",
                        "abi.optional.agrees", "abi.optional.missing"},
           over(axis_use{&sized}), thread_safe{}) {
    auto const& one = mpi.at(sized);
    if (one.type == MPI_DATATYPE_NULL) mpi.unsupported("the library has no such datatype");
    bool const standard = abi::has_standard_abi();
    int size = -7;
    mpi.ok(MPI_Type_size(one.type, &size));
    auto const listed = one.optional && standard ? supported(mpi, one.name) : "";
    if (listed == "true")
        mpi.check("abi.optional.agrees", size == one.size, finding::value,
                  fmt::format("the info for Fortran lists the datatype, and its size is {}", size));
    if (listed == "false")
        mpi.check("abi.optional.missing", size == MPI_UNDEFINED, finding::value,
                  fmt::format("the info for Fortran says that there is no such type, and its size is {}", size));
    if (one.optional && size == MPI_UNDEFINED) {
        mpi.check("lang.sized.size", standard, finding::value, "the size of the datatype is MPI_UNDEFINED");
        return; // not supported
    }
    auto const text = fmt::format("the size is {}, expected {}", size, one.size);
    mpi.check("lang.sized.size", size == one.size, finding::value, text);
    if (standard) mpi.check("abi.types.encoded", size == one.size, finding::value, text);
    if (standard && one.optional) mpi.check("abi.optional.undefined", size == one.size, finding::value, text);
    MPI_Aint lb = -7, extent = -7;
    mpi.ok(MPI_Type_get_extent(one.type, &lb, &extent));
    mpi.check("lang.sized.size", lb == 0 && extent == one.size, finding::value,
              fmt::format("the lower bound is {} and the extent {}, expected 0 and {}", lb, extent, one.size));
    std::vector<unsigned char> out(static_cast<std::size_t>(3 * one.size)), in(out.size() + 4, poison_byte);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<unsigned char>(1 + i);
    if (size != one.size) return;
    mpi.ok(MPI_Sendrecv(out.data(), 3, one.type, 0, mpi.tag(), in.data(), 3, one.type, 0, mpi.tag(), MPI_COMM_SELF,
                        MPI_STATUS_IGNORE));
    mpi.check("lang.sized.data",
              std::equal(out.begin(), out.end(), in.begin()) &&
                  std::all_of(in.begin() + static_cast<std::ptrdiff_t>(out.size()), in.end(),
                              [](auto c) { return c == poison_byte; }),
              finding::data, "three elements arrived changed, or more than they were written");
}
