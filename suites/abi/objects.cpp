// Objects reached through a second handle, as another language has it (MPI-5.0 sections 19.3.3 and 19.3.6): they are the same.
#include "suites/abi/converted.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace assay;

namespace {

constexpr std::size_t room = 16; // ints that any of these datatypes spans

// A datatype that is not committed, and which of the ints at its address it has.
struct recipe {
    int (*make)(MPI_Datatype of, MPI_Datatype* made);
    std::vector<std::size_t> places;
    MPI_Aint extent; // ints
    int combiner;
};
axis<recipe> const recipes(
    "type",
    {{{"vector", "MPI_Type_vector"},
      {[](MPI_Datatype of, MPI_Datatype* made) { return MPI_Type_vector(3, 2, 4, of, made); },
       {0, 1, 4, 5, 8, 9},
       10,
       MPI_COMBINER_VECTOR}},
     {{"indexed", "MPI_Type_indexed, not in order"},
      {[](MPI_Datatype of, MPI_Datatype* made) {
           std::array<int, 3> const lengths = {2, 1, 1}, displacements = {7, 0, 4};
           return MPI_Type_indexed(3, lengths.data(), displacements.data(), of, made);
       },
       {7, 8, 0, 4},
       9,
       MPI_COMBINER_INDEXED}},
     {{"struct", "MPI_Type_create_struct"},
      {[](MPI_Datatype of, MPI_Datatype* made) {
           std::array<int, 2> const lengths = {1, 3};
           std::array<MPI_Aint, 2> const displacements = {0, 3 * sizeof(int)};
           std::array<MPI_Datatype, 2> const types = {of, of};
           return MPI_Type_create_struct(2, lengths.data(), displacements.data(), types.data(), made);
       },
       {0, 3, 4, 5},
       6,
       MPI_COMBINER_STRUCT}},
     {{"resized", "MPI_Type_create_resized"},
      {[](MPI_Datatype of, MPI_Datatype* made) { return MPI_Type_create_resized(of, 0, 5 * sizeof(int), made); },
       {0},
       5,
       MPI_COMBINER_RESIZED}}});

// What one element brings from an array of 1, 2, 3, … into one of zeros: the ints by their places.
std::array<int, room> exchanged(test_run& mpi, MPI_Datatype sent, MPI_Datatype received) {
    std::array<int, room> out{}, in{};
    for (std::size_t i = 0; i < room; ++i) out[i] = static_cast<int>(i) + 1;
    mpi.ok(MPI_Sendrecv(out.data(), 1, sent, 0, mpi.tag(), in.data(), 1, received, 0, mpi.tag(), MPI_COMM_SELF,
                        MPI_STATUS_IGNORE));
    return in;
}

} // namespace

ASSAY_TEST(abi, datatype_converted,
           requirements{"lang.datatype.same", "lang.datatype.constructor", "lang.datatype.committed",
                        "lang.datatype.data"},
           over(axis_use{&abi::routes()}, axis_use{&recipes})) {
    auto const by = mpi.at(abi::routes());
    auto const& recipe = mpi.at(recipes);
    MPI_Datatype type = MPI_DATATYPE_NULL, twin = MPI_DATATYPE_NULL;
    if (!mpi.ok(recipe.make(MPI_INT, &type))) return;
    {
        auto const resting = mpi.resting_on("lang.datatype.constructor");
        if (!mpi.ok(recipe.make(abi::converted_type(by, MPI_INT), &twin))) return;
    }
    MPI_Datatype again = abi::converted_type(by, type);
    struct place {
        int size = -7, combiner = -7;
        MPI_Aint lb = -7, extent = -7;
        bool operator==(place const&) const = default;
    };
    auto const look = [&](MPI_Datatype at) {
        place seen;
        int integers = 0, addresses = 0, types = 0;
        mpi.ok(MPI_Type_size(at, &seen.size));
        mpi.ok(MPI_Type_get_extent(at, &seen.lb, &seen.extent));
        mpi.ok(MPI_Type_get_envelope(at, &integers, &addresses, &types, &seen.combiner));
        return seen;
    };
    constexpr auto bytes = static_cast<MPI_Aint>(sizeof(int));
    place const expected = {static_cast<int>(recipe.places.size() * sizeof(int)), recipe.combiner, 0,
                            recipe.extent * bytes};
    auto const expect = [&](requirement rests_on, char const* which, MPI_Datatype at) {
        auto const seen = look(at);
        mpi.check(rests_on, seen == expected, finding::value,
                  fmt::format("the {} datatype has size {}, extent {} and combiner {}, expected {}, {} and {}", which,
                              seen.size, seen.extent, seen.combiner, expected.size, expected.extent,
                              expected.combiner));
    };
    expect("lang.datatype.same", "converted", again);
    expect("lang.datatype.constructor", "from a converted MPI_INT constructed", twin);
    // Committed through either handle, used through the other.
    {
        auto const resting = mpi.resting_on("lang.datatype.committed");
        mpi.ok(MPI_Type_commit(&again));
        MPI_Datatype committed = abi::converted_type(by, twin);
        mpi.ok(MPI_Type_commit(&twin));
        std::array<int, room> expected_data{};
        for (auto const at : recipe.places) expected_data[at] = static_cast<int>(at) + 1;
        for (auto const& [sent, received] :
             {std::pair(type, again), std::pair(again, type), std::pair(committed, twin), std::pair(twin, committed)}) {
            auto const in = exchanged(mpi, sent, received);
            mpi.check("lang.datatype.data", in == expected_data, finding::data,
                      fmt::format("{} arrived, expected {}", fmt::join(in, " "), fmt::join(expected_data, " ")));
        }
    }
    mpi.ok(MPI_Type_free(&type));
    mpi.ok(MPI_Type_free(&twin));
}

ASSAY_TEST(abi, info_converted, requirements{"lang.objects.info"}, over(axis_use{&abi::routes()})) {
    MPI_Info info = MPI_INFO_NULL;
    if (!mpi.ok(MPI_Info_create(&info))) return;
    MPI_Info const again = abi::converted_info(mpi.at(abi::routes()), info);
    auto const expect = [&](MPI_Info at, char const* key, std::string const& expected) {
        std::array<char, 32> value{};
        int flag = 0;
        mpi.ok(MPI_Info_get(at, key, static_cast<int>(value.size()) - 1, value.data(), &flag));
        mpi.check(value.data() == expected, finding::info,
                  fmt::format("\"{}\" has the value \"{}\", expected \"{}\"", key, value.data(), expected));
    };
    mpi.ok(MPI_Info_set(info, "first", "original"));
    mpi.ok(MPI_Info_set(again, "second", "converted"));
    expect(again, "first", "original");
    expect(info, "second", "converted");
    mpi.ok(MPI_Info_delete(again, "first"));
    expect(info, "first", "");
    int keys = -7;
    mpi.ok(MPI_Info_get_nkeys(info, &keys));
    mpi.check(keys == 1, finding::info, fmt::format("{} keys are left, expected 1", keys));
    mpi.ok(MPI_Info_free(&info));
}
