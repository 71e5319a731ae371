// Data representations of users (MPI-5.0 section 14.5.3): MPI_Register_datarep, what it refuses, and whether the functions that were
// given to it are called, with the right arguments.
#include "suites/io/numbers.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <set>

using namespace assay;
using namespace assay::io;

namespace {

// What the functions of a representation see. They are called by the library while the test waits in an access.
struct calls {
    std::atomic<int> of_extent = 0, of_read = 0, of_write = 0;
    std::atomic<long> items = 0;       // converted
    std::atomic<bool> strange = false; // arguments that the standard does not allow
    std::atomic<int> stride = 1;       // ints from one item in memory to the next, as the test says
    std::atomic<bool> refuse = false;  // conversions return an error

    void clear(int of_stride) {
        of_extent = of_read = of_write = 0;
        items = 0;
        strange = refuse = false;
        stride = of_stride;
    }
    int all() const { return of_extent + of_read + of_write; }
};

// Each int stands in the file as 8 bytes: itself and its complement.
constexpr std::size_t length_in_file = 8;

int wide_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
    auto& seen = *static_cast<calls*>(state);
    ++seen.of_extent;
    if (type != MPI_INT) seen.strange = true; // "only … predefined datatypes employed by the user"
    *extent = length_in_file;
    return MPI_SUCCESS;
}
int convert(calls& seen, bool reading, char* memory, MPI_Datatype type, MPI_Count count, char* file,
            MPI_Offset position) {
    ++(reading ? seen.of_read : seen.of_write);
    int size = 0;
    MPI_Aint lb = 0, extent = 0;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lb, &extent);
    auto const stride = static_cast<MPI_Aint>(sizeof(int)) * seen.stride;
    if (size != sizeof(int) || extent != stride || position < 0 || count < 0) {
        seen.strange = true;
        return MPI_ERR_ARG;
    }
    if (seen.refuse) return MPI_ERR_OTHER;
    seen.items += static_cast<long>(count);
    for (MPI_Count i = 0; i < count; ++i) {
        auto* const item = memory + (position + i) * stride;
        auto* const there = file + static_cast<std::size_t>(i) * length_in_file;
        int value = 0;
        std::memcpy(&value, reading ? there : item, sizeof value);
        if (reading) std::memcpy(item, &value, sizeof value);
        else {
            int const complement = ~value;
            std::memcpy(there, &value, sizeof value);
            std::memcpy(there + sizeof value, &complement, sizeof complement);
        }
    }
    return MPI_SUCCESS;
}
int read_wide(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
    return convert(*static_cast<calls*>(state), true, static_cast<char*>(memory), type, count, static_cast<char*>(file),
                   position);
}
int write_wide(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
    return convert(*static_cast<calls*>(state), false, static_cast<char*>(memory), type, count,
                   static_cast<char*>(file), position);
}
int read_wide_c(void* memory, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position, void* state) {
    return convert(*static_cast<calls*>(state), true, static_cast<char*>(memory), type, count, static_cast<char*>(file),
                   position);
}
int write_wide_c(void* memory, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position, void* state) {
    return convert(*static_cast<calls*>(state), false, static_cast<char*>(memory), type, count,
                   static_cast<char*>(file), position);
}

axis<bool> const bindings(
    "binding",
    {{{"int", "MPI_Register_datarep"}, false},
     {{"count", "MPI_Register_datarep_c, since MPI-4.0", needs_procedures({"MPI_Register_datarep_c"})}, true}});

// A representation is there until the process ends: each is registered when it is first needed.
enum class kind { wide, null };
struct known_representation {
    bool there = false;
    std::string name;
    calls seen;
};
known_representation& representation(test_run& mpi, kind what, bool large) {
    static known_representation all[2][2];
    auto& one = all[what == kind::null][large];
    if (one.there) return one;
    one.name = fmt::format("assay_{}{}", what == kind::null ? "null" : "wide", large ? "_c" : "");
    auto const* const name = one.name.c_str();
    if (what == kind::null)
        one.there = mpi.ok(
            large ? MPI_Register_datarep_c(name, MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, wide_extent,
                                           &one.seen)
                  : MPI_Register_datarep(name, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, wide_extent, &one.seen));
    else
        one.there = mpi.ok(large ? MPI_Register_datarep_c(name, read_wide_c, write_wide_c, wide_extent, &one.seen)
                                 : MPI_Register_datarep(name, read_wide, write_wide, wide_extent, &one.seen));
    return one;
}

axis<int> const strides("memory", {{{"dense", "MPI_INT"}, 1}, {{"spread", "MPI_INT resized to twice its extent"}, 2}});

std::vector<unsigned char> in_file(std::vector<int> const& values) {
    std::vector<unsigned char> made;
    for (int const value : values)
        for (int const part : {value, ~value}) {
            auto const* const at = reinterpret_cast<unsigned char const*>(&part);
            made.insert(made.end(), at, at + sizeof part);
        }
    return made;
}
} // namespace

ASSAY_TEST(io, registered,
           requirements{"io.register.writes", "io.register.reads", "io.register.arguments", "io.register.extra_state"},
           over(only(accesses(), [](data_access const& a) { return a.where != positioning::shared; }),
                axis_use{&bindings}, axis_use{&strides}, communicators::of({"world"})),
           note{"each int stands in the file with its complement after it"}) {
    constexpr int n = 17;
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    int const stride = mpi.at(strides);
    auto& rep = representation(mpi, kind::wide, mpi.at(bindings));
    if (!rep.there) return;
    rep.seen.clear(stride);
    auto const values = [&](int rank) {
        std::vector<int> all;
        for (int i = 0; i < n; ++i) all.push_back(0x01020304 * (i + 1) + rank * 31);
        return all;
    };
    image expected(header, false);
    auto const begin_of = [&](int rank) { return header + static_cast<std::size_t>(rank * n) * length_in_file; };
    for (int r = 0; r < mpi.size; ++r) expected.place(begin_of(r), in_file(values(r)), r);
    std::vector<unsigned char> const start(header, poison_byte);
    scratch_file scratch(mpi);
    scratch.make(writing ? &start : &expected.bytes);
    MPI_Datatype type = MPI_INT;
    if (stride > 1) {
        mpi.ok(MPI_Type_create_resized(MPI_INT, 0, static_cast<MPI_Aint>(stride) * 4, &type));
        mpi.ok(MPI_Type_commit(&type));
    }
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        // Individual file pointers begin with their view.
        auto const begin_of_view = call.where == positioning::individual ? begin_of(mpi.rank) : header;
        if (file.opened() && mpi.ok(MPI_File_set_view(file, static_cast<MPI_Offset>(begin_of_view), MPI_INT, MPI_INT,
                                                      rep.name.c_str(), MPI_INFO_NULL))) {
            std::vector<int> memory(static_cast<std::size_t>(n * stride), -1);
            if (writing)
                for (int i = 0; i < n; ++i)
                    memory[static_cast<std::size_t>(i * stride)] = values(mpi.rank)[static_cast<std::size_t>(i)];
            auto const own = static_cast<std::size_t>(mpi.rank * n);
            running_access running(mpi, call, file);
            running.of_type(type);
            running.begin(own, memory.data(), n);
            mpi.expect(running.end()).count(n, type, sizeof(int));
            auto const& seen = rep.seen;
            mpi.check("io.register.extra_state", (writing ? seen.of_write : seen.of_read) > 0, finding::value,
                      "the conversion function was not called with the extra state of its representation");
            mpi.check(
                "io.register.arguments", !seen.strange && seen.items == n, finding::value,
                fmt::format("the conversion function saw {} items, expected {}, or other arguments than those of the "
                            "access",
                            seen.items.load(), n));
            for (int i = 0; i < n && !writing; ++i)
                if (auto const got = memory[static_cast<std::size_t>(i * stride)];
                    !mpi.check("io.register.reads", got == values(mpi.rank)[static_cast<std::size_t>(i)], finding::data,
                               fmt::format("item {} is {}, expected {}", i, got,
                                           values(mpi.rank)[static_cast<std::size_t>(i)])))
                    break;
        }
    }
    if (stride > 1) mpi.ok(MPI_Type_free(&type));
    auto const rest = mpi.resting_on("io.register.writes");
    scratch.expect(expected);
}

ASSAY_TEST(io, registered_extent, requirements{"io.register.extent", "io.register.only_when_accessed"},
           over(axis_use{&bindings}, communicators::of({"world"})),
           note{
               "the extent function says how long datatypes are in the file; nothing is called before somebody asks"}) {
    auto& rep = representation(mpi, kind::wide, mpi.at(bindings));
    if (!rep.there) return;
    rep.seen.clear(1);
    std::vector<unsigned char> const content(100, poison_byte);
    scratch_file scratch(mpi);
    scratch.make(&content);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened() || !mpi.ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, rep.name.c_str(), MPI_INFO_NULL)))
        return;
    mpi.check("io.register.only_when_accessed", rep.seen.all() == 0, finding::value,
              "a function of the representation was called before any access");
    MPI_Aint one = -7, three = -7;
    MPI_Datatype of_three = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_contiguous(3, MPI_INT, &of_three));
    mpi.ok(MPI_Type_commit(&of_three));
    mpi.ok(MPI_File_get_type_extent(file, MPI_INT, &one));
    mpi.ok(MPI_File_get_type_extent(file, of_three, &three));
    mpi.ok(MPI_Type_free(&of_three));
    mpi.check("io.register.extent", one == length_in_file && three == 3 * length_in_file && !rep.seen.strange,
              finding::value,
              fmt::format("MPI_File_get_type_extent gives {} for MPI_INT and {} for three, expected {} and {}", one,
                          three, length_in_file, 3 * length_in_file));
    file.close();
    meet(mpi);
}

ASSAY_TEST(io, registered_error, requirements{"io.register.error"},
           over(named(accesses(), {"write_at", "read_at"}), axis_use{&bindings}, communicators::of({"world"})),
           note{"a conversion function that returns an error"}) {
    auto& rep = representation(mpi, kind::wide, mpi.at(bindings));
    if (!rep.there) return;
    rep.seen.clear(1);
    rep.seen.refuse = true;
    std::vector<unsigned char> const content(200, poison_byte);
    scratch_file scratch(mpi);
    scratch.make(&content);
    open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
    if (!file.opened() || !mpi.ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, rep.name.c_str(), MPI_INFO_NULL)))
        return;
    int numbers[4] = {1, 2, 3, 4}, error_class = MPI_SUCCESS;
    int const code = mpi.at(accesses()).way == direction::write
                         ? MPI_File_write_at(file, 4 * mpi.rank, numbers, 4, MPI_INT, MPI_STATUS_IGNORE)
                         : MPI_File_read_at(file, 4 * mpi.rank, numbers, 4, MPI_INT, MPI_STATUS_IGNORE);
    mpi.ok(MPI_Error_class(code, &error_class));
    mpi.check(error_class == MPI_ERR_CONVERSION, finding::return_,
              fmt::format("the access returned {}, expected MPI_ERR_CONVERSION", error_text(code)));
    file.close();
    meet(mpi);
}

ASSAY_TEST(io, registered_null, requirements{"io.register.null"},
           over(named(accesses(), {"write_at", "read_at", "write_all", "read_all"}), axis_use{&bindings},
                communicators::of({"world", "self"}), ints(), seventeen()),
           note{"a representation without conversion functions is native"}) {
    auto const call = mpi.at(accesses());
    bool const writing = call.way == direction::write;
    auto& rep = representation(mpi, kind::null, mpi.at(bindings));
    if (!rep.there) return;
    numbers const content(mpi, static_cast<std::size_t>(mpi.size) * mpi.elements);
    scratch_file scratch(mpi);
    scratch.make(&content.content());
    auto expected = starts_with(content.content());
    {
        open_file file(mpi, scratch.path(), MPI_MODE_RDWR);
        if (!file.opened()) return;
        auto const own = static_cast<std::size_t>(mpi.rank) * mpi.elements;
        if (!file.set(content.in_file(call, own), rep.name.c_str())) return;
        auto& data = mpi.incoming();
        if (writing) data.fill(key_of_piece(mpi, mpi.rank));
        running_access running(mpi, call, file);
        running.begin(own, data, mpi.count);
        mpi.expect(running.end()).count(mpi.elements);
        if (!writing) content.expect(data, own, mpi.elements);
    }
    if (writing) place_pieces(mpi, expected, content.in_file());
    scratch.expect(expected);
}

// ---- What is refused, and what is not

namespace {
axis<char const*> const there_before("name", {{{"native", "a representation of MPI"}, "native"},
                                              {{"internal", "a representation of MPI"}, "internal"},
                                              {{"external32", "a representation of MPI"}, "external32"},
                                              {{"own", "one that was registered before"}, nullptr}});
std::atomic<int> told = 0, told_code = MPI_SUCCESS;
std::atomic<bool> told_null = false;
void on_default(MPI_File* file, int* code, ...) {
    ++told;
    told_code = *code;
    told_null = *file == MPI_FILE_NULL;
}
} // namespace

ASSAY_TEST(io, register_duplicate, requirements{"io.register.duplicate", "io.register.handler"},
           over(axis_use{&there_before}, axis_use{&bindings}, communicators::of({"self"})),
           note{"the error goes to the default handler of files"}) {
    bool const large = mpi.at(bindings);
    mpi.needs_procedure("MPI_Register_datarep");
    auto const* name = mpi.at(there_before);
    if (name == nullptr) {
        auto const& rep = representation(mpi, kind::null, large);
        if (!rep.there) return;
        name = rep.name.c_str();
    }
    static calls unused;
    // What a library accepts that does not know its own names is registered from then on: an earlier case has seen it accepted.
    static std::set<std::string> accepted;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    mpi.ok(MPI_File_create_errhandler(on_default, &handler));
    mpi.ok(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    told = 0;
    int const code =
        accepted.count(name) > 0 ? MPI_SUCCESS
        : large ? MPI_Register_datarep_c(name, MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, wide_extent, &unused)
                : MPI_Register_datarep(name, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, wide_extent, &unused);
    mpi.ok(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    mpi.ok(MPI_Errhandler_free(&handler));
    bool const called = told == 1;
    if (code == MPI_SUCCESS && !called) accepted.insert(name);
    mpi.check("io.register.handler", called && told_null, finding::return_,
              fmt::format("{} calls of the default handler of files, expected 1, with MPI_FILE_NULL", told.load()));
    // What is returned after the handler of a user came back is the library's affair.
    int error_class = MPI_SUCCESS;
    mpi.ok(MPI_Error_class(called ? told_code.load() : code, &error_class));
    mpi.check(
        "io.register.duplicate", error_class == MPI_ERR_DUP_DATAREP, finding::return_,
        fmt::format("to register {} again gives {}, expected MPI_ERR_DUP_DATAREP", name, error_text(error_class)));
}

ASSAY_TEST(io, register_name, requirements{"io.register.name_length", "io.register.local"},
           over(axis_use{&bindings}, communicators::of({"world"})),
           note{"a name of 63 characters, registered on one process alone"}) {
    bool const large = mpi.at(bindings);
    static calls unused;
    static bool there[2] = {false, false};
    mpi.check("io.register.name_length", MPI_MAX_DATAREP_STRING >= 64, finding::value,
              fmt::format("MPI_MAX_DATAREP_STRING is {}, expected at least 64", MPI_MAX_DATAREP_STRING));
    if (mpi.rank == mpi.size - 1 && !there[large]) {
        auto const name = fmt::format("assay_{}_{:n>55}", large ? 'c' : 'i', "");
        there[large] = true;
        mpi.ok(large ? MPI_Register_datarep_c(name.c_str(), MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C,
                                              wide_extent, &unused)
                     : MPI_Register_datarep(name.c_str(), MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, wide_extent,
                                            &unused));
    }
    meet(mpi); // the others have not called it
}
