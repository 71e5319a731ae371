// Compares every type map of the catalogue with a real library: size, bounds, true bounds, which bytes MPI_Pack takes and
// MPI_Unpack writes (for 1 and 3 elements), and what a message to ourselves counts. Prints one line a difference.
// Exit code: 0 no difference, 1 some. Arguments: the datatypes to check, or with a leading ^ those to leave out (a library
// may crash on one); default all. --without-known leaves out what `known_differences` lists.
#include "communicators/catalogue.hpp"
#include "datatypes/catalogue.hpp"
#include "framework/mpi/subject.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fnmatch.h>
#include <mpi.h>
#include <string>
#include <vector>

namespace {

using namespace assay;
int differences = 0, known = 0;
bool without_known = false;

// Defects of libraries that are written down in known/. A pattern is "datatype: what is compared"; an entry without a
// colon is a datatype that must not even be tried, because the library dies of it.
struct known_difference {
    char const *library, *pattern, *why;
};
constexpr known_difference known_differences[] = {
    {"MPICH", "float_int", "MPI_Get_elements of one divides by zero"},
    {"MPICH", "*type_mix*: MPI_Get_elements*", "MPI_UNDEFINED for a struct with a pair type inside"},
    {"MPICH", "struct_short_int: MPI_Get_elements*", "MPI_UNDEFINED for a struct with a pair type inside"},
};

bool is_known(std::string const& what) {
    if (!without_known) return false;
    static std::string const library = [] {
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        MPI_Get_library_version(text, &length);
        return std::string(text);
    }();
    return std::any_of(std::begin(known_differences), std::end(known_differences), [&](auto const& entry) {
        return library.starts_with(entry.library) && fnmatch(entry.pattern, what.c_str(), 0) == 0;
    });
}

template <class T> void compare(datatype const& t, std::string const& what, T const& ours, T const& theirs) {
    if (ours == theirs) return;
    if (is_known(t.name + ": " + what)) {
        ++known;
        return;
    }
    ++differences;
    fmt::print("{}: {}: ours {}, theirs {}\n", t.name, what, ours, theirs);
}

// A byte of data: where it lies relative to the buffer address, and whether it carries a value.
struct place {
    std::ptrdiff_t offset;
    bool carries;
};

std::vector<place> places(layout const& map, int count) {
    std::vector<place> list;
    for (int e = 0; e < count; ++e)
        for (auto const& run : map.runs())
            for (std::size_t b = 0; b < run.count * run.type->size; ++b)
                list.push_back({e * map.extent() + run.offset + static_cast<std::ptrdiff_t>(b),
                                run.type->carries(b % run.type->size)});
    return list;
}

void check_bytes(datatype const& t, MPI_Datatype type, int count) {
    auto const bytes = places(t.map, count);
    std::ptrdiff_t low = 0, high = 1;
    for (auto const& p : bytes) low = std::min(low, p.offset), high = std::max(high, p.offset + 1);
    std::ptrdiff_t const margin = 256;
    auto const span = static_cast<std::size_t>(high - low + 2 * margin);
    auto const base = margin - low; // index of the buffer address
    int const room = static_cast<int>(bytes.size()) + 4096;
    auto const where = [&](char const* call) { return fmt::format("{} of {}", call, count); };

    // Three passes with the three low bytes of each index tell where a packed byte came from.
    std::vector<std::size_t> source(bytes.size(), 0);
    std::vector<unsigned char> memory(span), packed(static_cast<std::size_t>(room));
    int position = 0;
    for (int pass = 0; pass < 3; ++pass) {
        for (std::size_t i = 0; i < span; ++i) memory[i] = static_cast<unsigned char>(i >> (8 * pass));
        position = 0;
        must(MPI_Pack(memory.data() + base, count, type, packed.data(), room, &position, MPI_COMM_SELF), "MPI_Pack");
        for (std::size_t k = 0; k < bytes.size(); ++k) source[k] |= std::size_t{packed[k]} << (8 * pass);
    }
    compare(t, where("MPI_Pack") + ": bytes", static_cast<int>(bytes.size()), position);
    for (std::size_t k = 0; k < bytes.size(); ++k)
        if (bytes[k].carries && static_cast<std::ptrdiff_t>(source[k]) - base != bytes[k].offset) {
            compare(t, where("MPI_Pack") + fmt::format(": offset of data byte {}", k), bytes[k].offset,
                    static_cast<std::ptrdiff_t>(source[k]) - base);
            break;
        }

    // MPI_Unpack, and a message to ourselves: data where the map says, everything else untouched.
    auto const judge = [&](std::vector<unsigned char> const& got, std::string const& call) {
        std::vector<int> expected(span, 0xa5);
        for (std::size_t k = 0; k < bytes.size(); ++k)
            expected[static_cast<std::size_t>(base + bytes[k].offset)] =
                bytes[k].carries ? static_cast<int>(k % 2) : -1; // -1: anything
        for (std::size_t i = 0; i < span; ++i)
            if (expected[i] >= 0 && expected[i] != got[i]) {
                compare(t, call + fmt::format(": byte at {}", static_cast<std::ptrdiff_t>(i) - base), expected[i],
                        int{got[i]});
                break;
            }
    };
    for (std::size_t k = 0; k < bytes.size(); ++k) packed[k] = k % 2; // 0 or 1: also a bool may have it
    std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0xa5));
    position = 0;
    must(MPI_Unpack(packed.data(), static_cast<int>(bytes.size()), &position, memory.data() + base, count, type,
                    MPI_COMM_SELF),
         "MPI_Unpack");
    judge(memory, where("MPI_Unpack"));

    std::vector<unsigned char> out(span, 0x5a);
    for (std::size_t k = 0; k < bytes.size(); ++k) out[static_cast<std::size_t>(base + bytes[k].offset)] = k % 2;
    std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0xa5));
    MPI_Status status;
    must(MPI_Sendrecv(out.data() + base, count, type, 0, 7, memory.data() + base, count, type, 0, 7, MPI_COMM_SELF,
                      &status),
         "MPI_Sendrecv");
    judge(memory, where("MPI_Sendrecv"));
    int number = -1;
    must(MPI_Get_elements(&status, type, &number), "MPI_Get_elements");
    compare(t, where("MPI_Get_elements"), count * static_cast<int>(t.map.elements()), number);
    must(MPI_Get_count(&status, type, &number), "MPI_Get_count");
    compare(t, where("MPI_Get_count"), t.map.size() == 0 ? 0 : count,
            number); // of a size of zero the count is 0 (section 3.2.5)
}

void check(datatype const& t) {
    auto type = t.make();
    if (type == MPI_DATATYPE_NULL) {
        fmt::print("{}: not in this library {}\n", t.name, t.lacks(job{}));
        return;
    }
    int size = -1;
    MPI_Aint lb = -1, extent = -1, true_lb = -1, true_extent = -1;
    must(MPI_Type_size(type, &size), "MPI_Type_size");
    must(MPI_Type_get_extent(type, &lb, &extent), "MPI_Type_get_extent");
    must(MPI_Type_get_true_extent(type, &true_lb, &true_extent), "MPI_Type_get_true_extent");
    compare(t, "size", static_cast<int>(t.map.size()), size);
    compare<std::ptrdiff_t>(t, "lb", t.map.lb(), lb);
    compare<std::ptrdiff_t>(t, "extent", t.map.extent(), extent);
    compare<std::ptrdiff_t>(t, "true_lb", t.map.true_lb(), true_lb);
    compare<std::ptrdiff_t>(t, "true_extent", t.map.true_extent(), true_extent);
    for (int count : {1, 3}) check_bytes(t, type, count);
    if (!t.predefined) must(MPI_Type_free(&type), "MPI_Type_free");
}

} // namespace

int main(int argc, char** argv) {
    set_subject(mpi_library());
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ); // what was found before a crash is not lost
    MPI_Init(&argc, &argv);
    std::vector<std::string> arguments(argv + 1, argv + argc);
    without_known = std::erase(arguments, "--without-known") > 0;
    bool const only = std::any_of(arguments.begin(), arguments.end(), [](auto const& a) { return a.front() != '^'; });
    auto const named = [&](std::string const& name) {
        return std::find(arguments.begin(), arguments.end(), name) != arguments.end();
    };
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (auto const& t : all_datatypes()) {
        if ((only && !named(t.name)) || named("^" + t.name)) continue;
        if (is_known(t.name)) {
            ++known;
            continue;
        }
        try {
            check(t);
        } catch (mpi_failure const& failure) {
            ++differences;
            fmt::print("{}: {}\n", t.name, failure.what());
        }
    }
    fmt::print("{} datatypes, {} differences, {} known ones left out\n", all_datatypes().size(), differences, known);
    std::fflush(stdout);
    MPI_Finalize();
    return differences == 0 ? 0 : 1;
}
