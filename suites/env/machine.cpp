// Where a process runs, and with which memory: its processor's name, its hardware, the memory kinds (MPI-5.0 sections 9.1.2.4,
// 9.1.2.5 and 11.4.3), and MPI_Pcontrol (section 15.2.4).
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/run.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <sstream>

using namespace assay;

namespace {

// Key → value of an info.
std::map<std::string, std::string> content(test_run& mpi, MPI_Info info) {
    std::map<std::string, std::string> found;
    int keys = 0;
    mpi.ok(MPI_Info_get_nkeys(info, &keys));
    for (int k = 0; k < keys; ++k) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        mpi.ok(MPI_Info_get_nthkey(info, k, key.data()));
        int length = 0, flag = 0;
        mpi.ok(MPI_Info_get_valuelen(info, key.data(), &length, &flag));
        std::string value(static_cast<std::size_t>(length) + 1, '\0');
        mpi.ok(MPI_Info_get(info, key.data(), length, value.data(), &flag));
        value.resize(std::strlen(value.c_str()));
        found[key.data()] = value;
    }
    return found;
}
} // namespace

ASSAY_TEST(env, processor_name,
           requirements{"env.processor_name", "env.processor_name.length", "env.processor_name.same"},
           over(communicators::world()), thread_safe{}) {
    std::array<char, MPI_MAX_PROCESSOR_NAME + 16> text, again{};
    text.fill(static_cast<char>(poison_byte));
    int length = -7, same = -7;
    mpi.ok(MPI_Get_processor_name(text.data(), &length));
    auto const end = std::find(text.begin(), text.begin() + MPI_MAX_PROCESSOR_NAME, '\0');
    mpi.check(length > 0 && length < MPI_MAX_PROCESSOR_NAME && end - text.begin() == length, finding::value,
              fmt::format("MPI_Get_processor_name gives the length {} for a name of {} characters", length,
                          end - text.begin()));
    mpi.check(std::all_of(text.begin() + MPI_MAX_PROCESSOR_NAME, text.end(),
                          [](char c) { return c == static_cast<char>(poison_byte); }),
              finding::guard, "MPI_Get_processor_name wrote after MPI_MAX_PROCESSOR_NAME characters");
    mpi.check(std::all_of(text.begin(), end, [](char c) { return static_cast<unsigned char>(c) >= 32; }), finding::data,
              "MPI_Get_processor_name gives characters that cannot be printed");
    // Processes of one node say the same, those of several do not; nobody moves while this runs.
    mpi.ok(MPI_Get_processor_name(again.data(), &same));
    mpi.check("env.processor_name.same",
              same == length && std::strncmp(text.data(), again.data(), MPI_MAX_PROCESSOR_NAME) == 0, finding::data,
              fmt::format("MPI_Get_processor_name gives \"{}\", then \"{}\"", text.data(), again.data()));
}

ASSAY_TEST(env, hw_resources, requirements{"env.hw_resource_info", "env.hw_resource_info.values"},
           over(communicators::world()), needs_procedures({"MPI_Get_hw_resource_info"}), thread_safe{}) {
    MPI_Info info = MPI_INFO_NULL, again = MPI_INFO_NULL;
    mpi.ok(MPI_Get_hw_resource_info(&info));
    if (!mpi.check(info != MPI_INFO_NULL, finding::value, "MPI_Get_hw_resource_info gives MPI_INFO_NULL")) return;
    auto const found = content(mpi, info);
    for (auto const& [key, value] : found) {
        mpi.check(value == "true" || value == "false", finding::data,
                  fmt::format("MPI_Get_hw_resource_info: {} is \"{}\", neither true nor false", key, value));
        auto const provider = key.find("://");
        mpi.check(provider != std::string::npos && provider > 0 && provider + 3 < key.size(), finding::data,
                  fmt::format("MPI_Get_hw_resource_info: the key {} is no URI: provider://type", key));
    }
    // It is a new object each time, and the user's to free.
    mpi.ok(MPI_Info_set(info, "mine", "1"));
    mpi.ok(MPI_Get_hw_resource_info(&again));
    mpi.check(content(mpi, again).count("mine") == 0, finding::value,
              "MPI_Get_hw_resource_info gives the same object again");
    mpi.ok(MPI_Info_free(&info));
    mpi.ok(MPI_Info_free(&again));
    // What it names may be asked of MPI_Comm_split_type: the processes that are restricted to one instance together.
    for (auto const& [key, value] : found) {
        int mine = value == "true", all = -7;
        mpi.ok(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, mpi.comm));
        if (all != 1) continue;
        MPI_Info hint = MPI_INFO_NULL;
        MPI_Comm part = MPI_COMM_NULL;
        mpi.ok(MPI_Info_create(&hint));
        mpi.ok(MPI_Info_set(hint, "mpi_hw_resource_type", key.c_str()));
        if (mpi.ok(MPI_Comm_split_type(mpi.comm, MPI_COMM_TYPE_HW_GUIDED, mpi.rank, hint, &part)) &&
            part != MPI_COMM_NULL) {
            int size = -7;
            mpi.ok(MPI_Comm_size(part, &size));
            mpi.check(size >= 1 && size <= mpi.size, finding::value,
                      fmt::format("MPI_COMM_TYPE_HW_GUIDED by {} gives {} of {} processes", key, size, mpi.size));
            mpi.ok(MPI_Comm_free(&part));
        }
        mpi.ok(MPI_Info_free(&hint));
        break; // one says enough
    }
}

namespace {
constexpr char const* kinds_key = "mpi_memory_alloc_kinds";
bool has_kind(std::string const& list, std::string const& kind) {
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');)
        if (word == kind) return true;
    return false;
}
} // namespace

ASSAY_TEST(env, alloc_kinds, requirements{"env.alloc_kinds", "env.alloc_kinds.same", "env.alloc_kinds.requested"},
           over(communicators::world()), thread_safe{}) {
    auto const of_comm = [&mpi](MPI_Comm comm) {
        MPI_Info info = MPI_INFO_NULL;
        mpi.ok(MPI_Comm_get_info(comm, &info));
        auto found = content(mpi, info);
        mpi.ok(MPI_Info_free(&info));
        return found.count(kinds_key) != 0 ? found[kinds_key] : std::string("(none)");
    };
    auto const world = of_comm(MPI_COMM_WORLD), self = of_comm(MPI_COMM_SELF);
    // It came with MPI-4.1 and without a procedure: who gives it without saying 4.1 has to give the right one.
    if (world == "(none)" && followed_version() < 41)
        mpi.unsupported(fmt::format("the MPI library gives no {}", kinds_key));
    for (auto const* kind : {"mpi", "system"})
        mpi.check(has_kind(world, kind), finding::value,
                  fmt::format("{} of MPI_COMM_WORLD is \"{}\", without the kind {}", kinds_key, world, kind));
    mpi.check(self == world, finding::value,
              fmt::format("{} is \"{}\" on MPI_COMM_WORLD and \"{}\" on MPI_COMM_SELF", kinds_key, world, self));
    MPI_Comm copy = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &copy));
    mpi.check(of_comm(copy) == world, finding::value,
              fmt::format("{} is \"{}\" on MPI_COMM_WORLD and \"{}\" on a duplicate", kinds_key, world, of_comm(copy)));
    mpi.ok(MPI_Comm_free(&copy));
    MPI_Win window = MPI_WIN_NULL;
    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, mpi.comm, &window));
    mpi.ok(MPI_Win_get_info(window, &info));
    auto of_window = content(mpi, info);
    mpi.check(
        of_window[kinds_key] == world, finding::value,
        fmt::format("{} is \"{}\" on MPI_COMM_WORLD and \"{}\" on a window", kinds_key, world, of_window[kinds_key]));
    mpi.ok(MPI_Info_free(&info));
    mpi.ok(MPI_Win_free(&window));
    // A session lists what it was asked for, as far as it has it: system and mpi it has.
    if (!has_procedure("MPI_Session_get_info")) return;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info wish = MPI_INFO_NULL;
    mpi.ok(MPI_Info_create(&wish));
    mpi.ok(MPI_Info_set(wish, kinds_key, "system,mpi:alloc_mem,assay_has_no_such_kind"));
    mpi.ok(MPI_Session_init(wish, MPI_ERRORS_RETURN, &session));
    mpi.ok(MPI_Info_free(&wish));
    mpi.ok(MPI_Session_get_info(session, &info));
    auto of_session = content(mpi, info);
    for (auto const* kind : {"system", "mpi:alloc_mem"})
        mpi.check(has_kind(of_session[kinds_key], kind), finding::value,
                  fmt::format("a session was asked for {} and has \"{}\"", kind, of_session[kinds_key]));
    mpi.check(!has_kind(of_session[kinds_key], "assay_has_no_such_kind"), finding::value,
              "a session claims a memory kind that does not exist");
    mpi.ok(MPI_Info_free(&info));
    mpi.ok(MPI_Session_finalize(&session));
}

ASSAY_TEST(env, pcontrol, requirements{"env.pcontrol"}, over()) {
    for (int level : {0, 1, 2, 17, -3}) {
        // Further arguments belong to the profiling library, which none need be.
        int const code = MPI_Pcontrol(level, "assay", 4.5);
        mpi.check(code == MPI_SUCCESS, finding::return_, fmt::format("MPI_Pcontrol({}) returns {}", level, code));
    }
    mpi.ok(MPI_Pcontrol(1));
}
