// Statuses in the forms that Fortran has (MPI-5.0 section 19.3.5), and copied as the eight int of the standard ABI (20.4.5): nothing
// of them is lost.
#include "framework/check/logical.hpp"
#include "suites/abi/kinds.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <utility>

using namespace assay;

namespace {

// What a status says, by how it was made.
struct content {
    MPI_Status status;
    int source, tag, error;
    MPI_Datatype type; // of the count
    MPI_Count elements;
    int count;
    bool cancelled = false;
    bool large = false;
    bool own_type = false; // `type` is to be freed
};
MPI_Status received(test_run& mpi, int ints) {
    std::array<int, 5> const out = {1, 2, 3, 4, 5};
    std::array<int, 5> in{};
    MPI_Status status = poisoned_status();
    mpi.ok(MPI_Sendrecv(out.data(), ints, MPI_INT, 0, mpi.tag(), in.data(), 5, MPI_INT, 0, mpi.tag(), MPI_COMM_SELF,
                        &status));
    status.MPI_ERROR = MPI_ERR_TRUNCATE; // as MPI_Waitall may leave it
    return status;
}
constexpr MPI_Count far = 3 * (MPI_Count{1} << 31) + 5;

using maker = content (*)(test_run&);
axis<maker> const contents(
    "status",
    {{{"received", "of a receive of three int"},
      [](test_run& mpi) { return content{received(mpi, 3), 0, mpi.tag(), MPI_ERR_TRUNCATE, MPI_INT, 3, 3}; }},
     {{"no_data", "of a receive of nothing"},
      [](test_run& mpi) { return content{received(mpi, 0), 0, mpi.tag(), MPI_ERR_TRUNCATE, MPI_INT, 0, 0}; }},
     {{"proc_null", "of a receive from MPI_PROC_NULL"},
      [](test_run& mpi) {
          MPI_Status status = poisoned_status();
          mpi.ok(MPI_Recv(nullptr, 0, MPI_INT, MPI_PROC_NULL, mpi.tag(), MPI_COMM_SELF, &status));
          status.MPI_ERROR = MPI_SUCCESS;
          return content{status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, MPI_INT, 0, 0};
      }},
     {{"empty", "of a wait for MPI_REQUEST_NULL"},
      [](test_run& mpi) {
          MPI_Status status = poisoned_status();
          MPI_Request none = MPI_REQUEST_NULL;
          mpi.ok(MPI_Wait(&none, &status));
          status.MPI_ERROR = MPI_SUCCESS;
          return content{status, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, MPI_INT, 0, 0};
      }},
     {{"part", "of a pair and a half: a count that is undefined"},
      [](test_run& mpi) {
          MPI_Datatype pair = MPI_DATATYPE_NULL;
          mpi.ok(MPI_Type_contiguous(2, MPI_INT, &pair));
          mpi.ok(MPI_Type_commit(&pair));
          auto const status = received(mpi, 3);
          return content{status, 0, mpi.tag(), MPI_ERR_TRUNCATE, pair, 3, MPI_UNDEFINED, false, false, true};
      }},
     {{"cancelled", "of an operation that was cancelled"},
      [](test_run& mpi) {
          auto status = received(mpi, 2);
          mpi.ok(MPI_Status_set_cancelled(&status, 1));
          return content{status, 0, mpi.tag(), MPI_ERR_TRUNCATE, MPI_INT, 2, 2, true};
      }},
     {{"large", "of more than 2^32 elements", needs_procedures({"MPI_Status_set_elements_x", "MPI_Get_elements_x"})},
      [](test_run& mpi) {
          auto status = received(mpi, 1);
          mpi.ok(MPI_Status_set_elements_x(&status, MPI_BYTE, far));
          return content{status, 0, mpi.tag(), MPI_ERR_TRUNCATE, MPI_BYTE, far, MPI_UNDEFINED, false, true};
      }},
     {{"large_cancelled", "of more than 2^32 elements, cancelled",
       needs_procedures({"MPI_Status_set_elements_x", "MPI_Get_elements_x"})},
      [](test_run& mpi) {
          auto status = received(mpi, 1);
          mpi.ok(MPI_Status_set_elements_x(&status, MPI_BYTE, far));
          mpi.ok(MPI_Status_set_cancelled(&status, 1));
          return content{status, 0, mpi.tag(), MPI_ERR_TRUNCATE, MPI_BYTE, far, MPI_UNDEFINED, true, true};
      }}});

// What the checks of one way to convert rest on.
struct rules {
    requirement fields, count, large, cancelled;
};
constexpr rules of_f = {"lang.status.fields", "lang.status.count", "lang.status.large", "lang.status.cancelled"};
constexpr rules of_f08 = {"lang.status.f08", "lang.status.f08", "lang.status.f08", "lang.status.f08"};
constexpr rules of_both = {"lang.status.f_f08", "lang.status.f_f08", "lang.status.f_f08", "lang.status.f_f08"};
constexpr rules of_ints = {"abi.status.as_ints", "abi.status.as_ints", "abi.status.as_ints", "abi.status.as_ints"};

void expect(test_run& mpi, MPI_Status const& status, content const& is, rules const& rest_on) {
    mpi.check(rest_on.fields,
              status.MPI_SOURCE == is.source && status.MPI_TAG == is.tag && status.MPI_ERROR == is.error,
              finding::value,
              fmt::format("source {}, tag {} and error {}, expected {}, {} and {}", status.MPI_SOURCE, status.MPI_TAG,
                          status.MPI_ERROR, is.source, is.tag, is.error));
    if (is.large) {
        MPI_Count elements = -7;
        mpi.ok(MPI_Get_elements_x(&status, is.type, &elements));
        mpi.check(rest_on.large, elements == is.elements, finding::count,
                  fmt::format("{} elements, expected {}", elements, is.elements));
    } else {
        int elements = -7, count = -7;
        mpi.ok(MPI_Get_elements(&status, is.type, &elements));
        mpi.ok(MPI_Get_count(&status, is.type, &count));
        mpi.check(rest_on.count, elements == is.elements && count == is.count, finding::count,
                  fmt::format("{} elements and count {}, expected {} and {}", elements, count, is.elements, is.count));
    }
    int flag = opposite(is.cancelled);
    mpi.ok(MPI_Test_cancelled(&status, &flag));
    mpi.check(rest_on.cancelled, logical(flag) == is.cancelled, finding::cancelled,
              is.cancelled ? "the operation was cancelled, and the status says no"
                           : "the operation was not cancelled, and the status says that it was");
}

// Frees the datatype of a content at the end of its scope.
class type_of_content {
public:
    explicit type_of_content(content const& is) : type_(is.own_type ? is.type : MPI_DATATYPE_NULL) {}
    ~type_of_content() {
        if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    }
    type_of_content(type_of_content const&) = delete;
    type_of_content& operator=(type_of_content const&) = delete;

private:
    MPI_Datatype type_;
};

constexpr auto size_of_fortran = static_cast<std::size_t>(MPI_F_STATUS_SIZE);
constexpr std::size_t room_after = 8;
using fortran_status = std::array<MPI_Fint, size_of_fortran + room_after>;
constexpr MPI_Fint untouched = 0x5a5a5a5a;

fortran_status to_fortran(test_run& mpi, MPI_Status const& status) {
    fortran_status f;
    f.fill(untouched);
    MPI_Status const given = status;
    auto const ignored = std::pair(MPI_F_STATUS_IGNORE, MPI_F_STATUSES_IGNORE);
    mpi.ok(MPI_Status_c2f(&given, f.data()));
    auto const names = [&](void const* one) { return one >= f.data() && one < f.data() + f.size(); };
    mpi.check("lang.status.ignored",
              ignored == std::pair(MPI_F_STATUS_IGNORE, MPI_F_STATUSES_IGNORE) && !names(ignored.first) &&
                  !names(ignored.second),
              finding::value, "MPI_F_STATUS_IGNORE or MPI_F_STATUSES_IGNORE changed, or is a status of the program");
    mpi.check("lang.status.size",
              std::all_of(f.begin() + size_of_fortran, f.end(), [](MPI_Fint x) { return x == untouched; }),
              finding::guard, "MPI_Status_c2f wrote after MPI_F_STATUS_SIZE integers");
    mpi.check("lang.status.argument", std::memcmp(&given, &status, sizeof status) == 0, finding::value,
              "MPI_Status_c2f changed the status that it was given");
    return f;
}
MPI_Status from_fortran(test_run& mpi, fortran_status const& f) {
    std::array<MPI_Status, 2> both = {poisoned_status(), poisoned_status()};
    fortran_status const given = f;
    mpi.ok(MPI_Status_f2c(given.data(), both.data()));
    auto const poison = poisoned_status();
    mpi.check("lang.status.size", std::memcmp(&both[1], &poison, sizeof poison) == 0, finding::guard,
              "MPI_Status_f2c wrote after the status");
    mpi.check("lang.status.argument", given == f, finding::value,
              "MPI_Status_f2c changed the status that it was given");
    return both[0];
}

// The ways from a C status and back.
enum class way { f, f08, f_f08, f08_f };
axis<way> const ways(
    "through",
    {{{"f", "INTEGER, DIMENSION(MPI_STATUS_SIZE)", needs_procedures({"MPI_Status_c2f", "MPI_Status_f2c"})}, way::f},
     {{"f08", "TYPE(MPI_Status)", needs_procedures({"MPI_Status_c2f08", "MPI_Status_f082c"})}, way::f08},
     {{"f_f08", "the array, then TYPE(MPI_Status)",
       needs_procedures({"MPI_Status_c2f", "MPI_Status_f2f08", "MPI_Status_f082c"})},
      way::f_f08},
     {{"f08_f", "TYPE(MPI_Status), then the array",
       needs_procedures({"MPI_Status_c2f08", "MPI_Status_f082f", "MPI_Status_f2c"})},
      way::f08_f}});

} // namespace

ASSAY_TEST(abi, status_fortran,
           requirements{"lang.status.fields", "lang.status.count", "lang.status.large", "lang.status.cancelled",
                        "lang.status.indexes", "lang.status.size", "lang.status.argument", "lang.status.f08",
                        "lang.status.f_f08", "lang.status.ignored"},
           over(axis_use{&contents}, axis_use{&ways})) {
    auto const is = mpi.at(contents)(mpi);
    type_of_content const type(is);
    auto const through = mpi.at(ways);
    expect(mpi, is.status, is, of_f); // what is to be converted is right
    std::array<MPI_F08_status, 2> f08;
    std::memset(f08.data(), poison_byte, sizeof f08);
    auto const f08_guarded = [&] {
        auto const* const after = reinterpret_cast<unsigned char const*>(&f08[1]);
        mpi.check("lang.status.f08", std::all_of(after, after + sizeof f08[1], [](auto c) { return c == poison_byte; }),
                  finding::guard, "the conversion wrote after the TYPE(MPI_Status)");
    };
    MPI_Status back = poisoned_status();
    switch (through) {
    case way::f: {
        auto const f = to_fortran(mpi, is.status);
        if (MPI_F_SOURCE >= 0) // came with MPI-4.0
            mpi.check("lang.status.indexes",
                      f[static_cast<std::size_t>(MPI_F_SOURCE)] == is.source &&
                          f[static_cast<std::size_t>(MPI_F_TAG)] == is.tag &&
                          f[static_cast<std::size_t>(MPI_F_ERROR)] == is.error,
                      finding::value,
                      fmt::format("MPI_F_SOURCE, MPI_F_TAG and MPI_F_ERROR are the places of {}, {} and {}, expected "
                                  "{}, {} and {}",
                                  f[static_cast<std::size_t>(MPI_F_SOURCE)], f[static_cast<std::size_t>(MPI_F_TAG)],
                                  f[static_cast<std::size_t>(MPI_F_ERROR)], is.source, is.tag, is.error));
        back = from_fortran(mpi, f);
        return expect(mpi, back, is, of_f);
    }
    case way::f08:
        mpi.ok(MPI_Status_c2f08(&is.status, f08.data()));
        f08_guarded();
        mpi.ok(MPI_Status_f082c(f08.data(), &back));
        return expect(mpi, back, is, of_f08);
    case way::f_f08: {
        mpi.ok(MPI_Status_f2f08(to_fortran(mpi, is.status).data(), f08.data()));
        f08_guarded();
        mpi.ok(MPI_Status_f082c(f08.data(), &back));
        return expect(mpi, back, is, of_both);
    }
    case way::f08_f: {
        fortran_status f;
        f.fill(untouched);
        mpi.ok(MPI_Status_c2f08(&is.status, f08.data()));
        mpi.ok(MPI_Status_f082f(f08.data(), f.data()));
        mpi.check("lang.status.size",
                  std::all_of(f.begin() + size_of_fortran, f.end(), [](MPI_Fint x) { return x == untouched; }),
                  finding::guard, "MPI_Status_f082f wrote after MPI_F_STATUS_SIZE integers");
        back = from_fortran(mpi, f);
        return expect(mpi, back, is, of_both);
    }
    }
}

ASSAY_TEST(abi, status_copied, requirements{"abi.status.as_ints"}, over(axis_use{&contents}),
           needs_procedures({"MPI_Abi_get_version"})) {
    if (!abi::has_standard_abi()) mpi.unsupported("the library does not have the standard ABI");
    auto const is = mpi.at(contents)(mpi);
    type_of_content const type(is);
    std::array<int, 8> ints{};
    if (!mpi.check(sizeof is.status == sizeof ints, finding::value,
                   fmt::format("a status has {} bytes, expected {}", sizeof is.status, sizeof ints)))
        return;
    std::memcpy(ints.data(), &is.status, sizeof ints);
    MPI_Status back = poisoned_status();
    std::memcpy(&back, ints.data(), sizeof ints);
    expect(mpi, back, is, of_ints);
}
