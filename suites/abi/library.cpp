// What a library says of its ABI (MPI-5.0 section 20.2), and what is known of Fortran (20.4.1).
#include "framework/check/logical.hpp"
#include "framework/mpi/own_job.hpp"
#include "suites/abi/kinds.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <optional>

using namespace assay;

namespace {

using pairs = std::map<std::string, std::string>;

pairs content(test_run& mpi, MPI_Info info) {
    pairs all;
    int keys = 0;
    if (info == MPI_INFO_NULL || !mpi.ok(MPI_Info_get_nkeys(info, &keys))) return all;
    for (int i = 0; i < keys; ++i) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        std::array<char, MPI_MAX_INFO_VAL + 1> value{};
        int size = static_cast<int>(value.size()), flag = 0;
        mpi.ok(MPI_Info_get_nthkey(info, i, key.data()));
        mpi.ok(MPI_Info_get_string(info, key.data(), &size, value.data(), &flag));
        if (logical(flag)) all[key.data()] = value.data();
    }
    return all;
}
std::string value_of(pairs const& all, std::string const& key) {
    auto const found = all.find(key);
    return found == all.end() ? "(not there)" : found->second;
}

// Those that MPI defines; a library may have more to say.
constexpr std::array<char const*, 3> abi_keys = {"mpi_aint_size", "mpi_count_size", "mpi_offset_size"};
pairs about_abi(test_run& mpi) {
    MPI_Info info = MPI_INFO_NULL;
    if (!mpi.ok(MPI_Abi_get_info(&info))) return {};
    auto all = content(mpi, info);
    std::erase_if(
        all, [](auto const& one) { return std::find(abi_keys.begin(), abi_keys.end(), one.first) == abi_keys.end(); });
    if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
    return all;
}
// Nothing: the library does not know Fortran.
std::optional<pairs> about_fortran(test_run& mpi) {
    MPI_Info info = MPI_INFO_NULL;
    if (!mpi.ok(MPI_Abi_get_fortran_info(&info)) || info == MPI_INFO_NULL) return std::nullopt;
    auto all = content(mpi, info);
    mpi.ok(MPI_Info_free(&info));
    return all;
}
int set_fortran(pairs const& what) {
    MPI_Info info = MPI_INFO_NULL;
    int code = MPI_Info_create(&info);
    for (auto const& [key, value] : what)
        if (code == MPI_SUCCESS) code = MPI_Info_set(info, key.c_str(), value.c_str());
    if (code == MPI_SUCCESS) code = MPI_Abi_set_fortran_info(info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return code;
}
int class_of(test_run& mpi, int code) {
    int error_class = MPI_SUCCESS;
    mpi.ok(MPI_Error_class(code, &error_class));
    return error_class;
}

void expect_version(test_run& mpi) {
    int major = -7, minor = -7;
    mpi.ok(MPI_Abi_get_version(&major, &minor));
    mpi.check((major == -1 && minor == -1) || (major >= 1 && minor >= 0), finding::value,
              fmt::format("MPI_Abi_get_version gives {}.{}", major, minor));
}

// Both values of a Fortran LOGICAL, with room after them.
struct booleans {
    int set = -7;
    std::array<unsigned char, 32> yes{}, no{};
};
constexpr unsigned char untouched = 0xa5;
booleans ask_booleans(test_run& mpi, int size) {
    booleans got;
    got.yes.fill(untouched);
    got.no.fill(untouched);
    mpi.ok(MPI_Abi_get_fortran_booleans(size, got.yes.data(), got.no.data(), &got.set));
    return got;
}
std::optional<int> size_of_logical(test_run& mpi) {
    int size = MPI_UNDEFINED;
    mpi.ok(MPI_Type_size(MPI_LOGICAL, &size));
    if (size == MPI_UNDEFINED) return std::nullopt;
    return size;
}
void expect_booleans(test_run& mpi, int size) {
    auto const got = ask_booleans(mpi, size);
    if (!logical(got.set)) return;
    auto const n = static_cast<std::size_t>(size);
    auto const fits = [n](auto const& bytes) {
        return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(n), bytes.end(),
                           [](auto c) { return c == untouched; });
    };
    mpi.check("abi.booleans.set", fits(got.yes) && fits(got.no), finding::guard,
              fmt::format("MPI_Abi_get_fortran_booleans wrote after {} bytes of a value", size));
    mpi.check("abi.booleans.set", !std::equal(got.yes.begin(), got.yes.begin() + size, got.no.begin()), finding::value,
              "MPI_Abi_get_fortran_booleans gives the same value for true and false");
}

} // namespace

ASSAY_TEST(abi, version, requirements{"abi.version.both", "abi.version.header"}, over(), thread_safe{},
           needs_procedures({"MPI_Abi_get_version"})) {
    {
        auto const resting = mpi.resting_on("abi.version.both");
        expect_version(mpi);
    }
    int major = -7, minor = -7;
    mpi.ok(MPI_Abi_get_version(&major, &minor));
    if (major < 0) return; // a header of the library's own may tell of the standard's version all the same
#ifdef MPI_ABI_VERSION
    mpi.check("abi.version.header", major == MPI_ABI_VERSION && minor >= MPI_ABI_SUBVERSION, finding::value,
              fmt::format("MPI_Abi_get_version gives {}.{}, the header {}.{}", major, minor, MPI_ABI_VERSION,
                          MPI_ABI_SUBVERSION));
#else
    mpi.check("abi.version.header", false, finding::value,
              fmt::format("MPI_Abi_get_version gives {}.{}, the header does not have MPI_ABI_VERSION", major, minor));
#endif
}

ASSAY_TEST(abi, version_threads, requirements{"abi.version.threads"}, over(),
           needs_procedures({"MPI_Abi_get_version", "MPI_Abi_get_info"}), own_threads{4}) {
    mpi.in_threads(4, false, [](test_run& mine) {
        auto const first = about_abi(mine);
        for (int i = 0; i < 20; ++i) {
            expect_version(mine);
            if (!mine.check(about_abi(mine) == first, finding::info, "MPI_Abi_get_info gives something else each time"))
                return;
        }
    });
}

ASSAY_TEST(abi, info, requirements{"abi.info.aint", "abi.info.count", "abi.info.offset", "abi.info.own"}, over(),
           thread_safe{}, needs_procedures({"MPI_Abi_get_info", "MPI_Info_get_string"})) {
    auto const all = about_abi(mpi);
    auto const expect = [&](requirement rests_on, std::string const& key, std::size_t size) {
        auto const value = value_of(all, key);
        mpi.check(rests_on, value == std::to_string(size), finding::info,
                  fmt::format("{} is {}, expected {}", key, value, size));
    };
    expect("abi.info.aint", "mpi_aint_size", sizeof(MPI_Aint));
    expect("abi.info.count", "mpi_count_size", sizeof(MPI_Count));
    expect("abi.info.offset", "mpi_offset_size", sizeof(MPI_Offset));
    MPI_Info info = MPI_INFO_NULL;
    auto const resting = mpi.resting_on("abi.info.own");
    if (!mpi.ok(MPI_Abi_get_info(&info)) || info == MPI_INFO_NULL) return;
    mpi.ok(MPI_Info_set(info, "mpi_aint_size", "mine"));
    mpi.check(about_abi(mpi) == all, finding::info, "what was set in one info object stands in the next one");
    mpi.ok(MPI_Info_free(&info));
}

ASSAY_TEST(abi, fortran_info,
           requirements{"abi.fortran.logical", "abi.fortran.integer", "abi.fortran.real",
                        "abi.fortran.double_precision", "abi.fortran.supported", "abi.optional.agrees",
                        "abi.optional.missing"},
           over(), thread_safe{}, needs_procedures({"MPI_Abi_get_fortran_info", "MPI_Info_get_string"})) {
    auto const all = about_fortran(mpi);
    if (!all) mpi.unsupported("the library does not know Fortran");
    auto const expect = [&](requirement rests_on, std::string const& key, MPI_Datatype type) {
        int size = -7;
        mpi.ok(MPI_Type_size(type, &size));
        auto const value = value_of(*all, key);
        mpi.check(rests_on, value == std::to_string(size), finding::info,
                  fmt::format("{} is {}, MPI_Type_size gives {}", key, value, size));
    };
    expect("abi.fortran.logical", "mpi_logical_size", MPI_LOGICAL);
    expect("abi.fortran.integer", "mpi_integer_size", MPI_INTEGER);
    expect("abi.fortran.real", "mpi_real_size", MPI_REAL);
    expect("abi.fortran.double_precision", "mpi_double_precision_size", MPI_DOUBLE_PRECISION);
    for (auto const& [key, value] : *all)
        if (key.ends_with("_supported"))
            mpi.check("abi.fortran.supported", value == "true" || value == "false", finding::info,
                      fmt::format("{} is {}, neither true nor false", key, value));
}

// A process can say once what Fortran is like: a job of its own.
ASSAY_TEST(abi, fortran_set, requirements{"abi.fortran.first", "abi.fortran.later", "abi.fortran.kept"}, over(),
           own_job{},
           needs_procedures({"MPI_Abi_get_fortran_info", "MPI_Abi_set_fortran_info", "MPI_Info_get_string"})) {
    pairs const told = {
        {"mpi_logical_size", "4"},          {"mpi_integer_size", "4"},          {"mpi_real_size", "4"},
        {"mpi_double_precision_size", "8"}, {"mpi_integer8_supported", "true"}, {"mpi_real2_supported", "false"}};
    pairs other = told;
    other["mpi_integer_size"] = "8";
    initialize(mpi);
    auto const known = about_fortran(mpi);
    int const first = set_fortran(told);
    auto const after = about_fortran(mpi);
    if (known) {
        mpi.check("abi.fortran.kept", after == known, finding::info,
                  "the library knew Fortran, and MPI_Abi_set_fortran_info changed what it knows");
    } else {
        mpi.check("abi.fortran.first", first == MPI_SUCCESS && after.has_value(), finding::info,
                  fmt::format("the library did not know Fortran; MPI_Abi_set_fortran_info returns {}, and after it the "
                              "library {} Fortran",
                              first, after ? "knows" : "still does not know"));
        for (auto const& [key, value] : told)
            mpi.check("abi.fortran.first", value_of(after.value_or(pairs()), key) == value, finding::info,
                      fmt::format("{} was set to {} and is {}", key, value, value_of(after.value_or(pairs()), key)));
    }
    for (int call = 2; call < 4; ++call) {
        int const code = set_fortran(other);
        mpi.check("abi.fortran.later", class_of(mpi, code) == MPI_ERR_ABI, finding::error,
                  fmt::format("call {} of MPI_Abi_set_fortran_info returns {}, expected MPI_ERR_ABI", call, code));
        mpi.check("abi.fortran.kept", about_fortran(mpi) == after, finding::info,
                  fmt::format("call {} of MPI_Abi_set_fortran_info changed what the library knows", call));
    }
    finalize(mpi);
}

ASSAY_TEST(abi, fortran_booleans, requirements{"abi.booleans.set"}, over(), thread_safe{},
           needs_procedures({"MPI_Abi_get_fortran_booleans"})) {
    auto const size = size_of_logical(mpi);
    if (!size) mpi.unsupported("the library does not know Fortran");
    expect_booleans(mpi, *size);
}

ASSAY_TEST(abi, fortran_booleans_set, requirements{"abi.booleans.first", "abi.booleans.later", "abi.booleans.kept"},
           over(), own_job{}, needs_procedures({"MPI_Abi_get_fortran_booleans", "MPI_Abi_set_fortran_booleans"})) {
    initialize(mpi);
    int const size = size_of_logical(mpi).value_or(4); // may be told before MPI_Abi_set_fortran_info
    auto const n = static_cast<std::size_t>(size);
    auto const known = ask_booleans(mpi, size);
    std::array<unsigned char, 32> yes{}, no{};
    std::fill_n(yes.begin(), n, static_cast<unsigned char>(0xff)); // all bits, as some compilers have it
    int const first = MPI_Abi_set_fortran_booleans(size, yes.data(), no.data());
    auto const after = ask_booleans(mpi, size);
    auto const same = [](booleans const& a, booleans const& b) {
        return logical(a.set) == logical(b.set) && (!logical(a.set) || (a.yes == b.yes && a.no == b.no));
    };
    if (logical(known.set)) {
        mpi.check("abi.booleans.kept", same(after, known), finding::value,
                  "the library knew the values, and MPI_Abi_set_fortran_booleans changed them");
    } else {
        mpi.check("abi.booleans.first",
                  first == MPI_SUCCESS && logical(after.set) &&
                      std::equal(yes.begin(), yes.begin() + size, after.yes.begin()) &&
                      std::equal(no.begin(), no.begin() + size, after.no.begin()),
                  finding::value,
                  fmt::format("the library did not know the values; MPI_Abi_set_fortran_booleans returns {}, and "
                              "afterwards is_set is {}",
                              first, after.set));
    }
    std::swap(yes, no);
    for (int call = 2; call < 4; ++call) {
        int const code = MPI_Abi_set_fortran_booleans(size, yes.data(), no.data());
        mpi.check("abi.booleans.later", class_of(mpi, code) == MPI_ERR_ABI, finding::error,
                  fmt::format("call {} of MPI_Abi_set_fortran_booleans returns {}, expected MPI_ERR_ABI", call, code));
        mpi.check("abi.booleans.kept", same(ask_booleans(mpi, size), after), finding::value,
                  fmt::format("call {} of MPI_Abi_set_fortran_booleans changed the values", call));
    }
    finalize(mpi);
}

// Table 9 of section 11.4.1 has these conversions, too.
namespace {
enum class moment { before, after };
axis<moment> const moments("when", {{{"before", "before MPI_Init"}, moment::before},
                                    {{"after", "after MPI_Finalize"}, moment::after}});
void on_session(MPI_Session*, int*, ...) {}
} // namespace

ASSAY_TEST(abi, always, requirements{"env.always.handles"}, over(axis_use{&moments}), own_job{},
           needs_procedures({"MPI_Info_c2f", "MPI_Info_f2c", "MPI_Errhandler_c2f", "MPI_Errhandler_f2c",
                             "MPI_Session_create_errhandler", "MPI_Info_get_string"})) {
    if (mpi.at(moments) == moment::after) {
        initialize(mpi);
        finalize(mpi);
    }
    MPI_Info info = MPI_INFO_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    succeeded(mpi, MPI_Info_create(&info));
    succeeded(mpi, MPI_Info_set(info, "early", "bird"));
    MPI_Info again = MPI_Info_f2c(MPI_Info_c2f(info));
    std::array<char, 16> value{};
    int size = static_cast<int>(value.size()), flag = 0;
    succeeded(mpi, MPI_Info_get_string(again, "early", &size, value.data(), &flag));
    mpi.check(logical(flag) && std::strcmp(value.data(), "bird") == 0, finding::info,
              fmt::format("through the converted handle the value is \"{}\", expected \"bird\"", value.data()));
    succeeded(mpi, MPI_Info_free(&again));
    succeeded(mpi, MPI_Session_create_errhandler(on_session, &handler));
    MPI_Errhandler same = MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler));
    mpi.check(same != MPI_ERRHANDLER_NULL, finding::value, "the converted error handler is MPI_ERRHANDLER_NULL");
    succeeded(mpi, MPI_Errhandler_free(&same));
    mpi.check(same == MPI_ERRHANDLER_NULL, finding::value, "freeing the converted error handler did not make it null");
    if (mpi.at(moments) == moment::before) {
        initialize(mpi);
        finalize(mpi);
    }
}
