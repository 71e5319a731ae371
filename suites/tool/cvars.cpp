// Control variables (MPI-5.0 section 15.3.6): what they say of themselves, and their values.
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <map>

using namespace assay;
using namespace assay::tool;

namespace {

bool is_scope(int scope) {
    static constexpr std::array<int, 7> all{MPI_T_SCOPE_CONSTANT, MPI_T_SCOPE_READONLY, MPI_T_SCOPE_LOCAL,
                                            MPI_T_SCOPE_GROUP,    MPI_T_SCOPE_GROUP_EQ, MPI_T_SCOPE_ALL,
                                            MPI_T_SCOPE_ALL_EQ};
    return std::find(all.begin(), all.end(), scope) != all.end();
}
bool is_readonly(cvar const& one) { return one.scope == MPI_T_SCOPE_CONSTANT || one.scope == MPI_T_SCOPE_READONLY; }

axis<omit> const omitted("null", {{{"name", "for the name and its length"}, omit::name},
                                  {{"verbosity", "for the verbosity"}, omit::verbosity},
                                  {{"type", "for the datatype"}, omit::type},
                                  {{"values", "for the enumeration"}, omit::values},
                                  {{"description", "for the description and its length"}, omit::description},
                                  {{"bind", "for the kind of object"}, omit::bind},
                                  {{"scope", "for the scope"}, omit::scope}});

axis<int> const bounds("bound",
                       {{{"nothing", "variables of the process"}, MPI_T_BIND_NO_OBJECT},
                        {{"comm", "of a communicator"}, MPI_T_BIND_MPI_COMM},
                        {{"datatype", "of a datatype"}, MPI_T_BIND_MPI_DATATYPE},
                        {{"errhandler", "of an error handler"}, MPI_T_BIND_MPI_ERRHANDLER},
                        {{"file", "of a file"}, MPI_T_BIND_MPI_FILE},
                        {{"group", "of a group"}, MPI_T_BIND_MPI_GROUP},
                        {{"op", "of an operation"}, MPI_T_BIND_MPI_OP},
                        {{"request", "of a request"}, MPI_T_BIND_MPI_REQUEST},
                        {{"win", "of a window"}, MPI_T_BIND_MPI_WIN},
                        {{"message", "of a message"}, MPI_T_BIND_MPI_MESSAGE},
                        {{"info", "of an info object"}, MPI_T_BIND_MPI_INFO},
                        {{"session", "of a session", needs_procedures({"MPI_Session_init"})}, MPI_T_BIND_MPI_SESSION}});

// Those that are bound to the case's kind of object.
std::vector<cvar> bound_cvars(test_run& mpi) {
    auto all = cvars(mpi);
    std::erase_if(all, [&](cvar const& one) { return one.bind != mpi.at(bounds); });
    if (all.empty()) mpi.unsupported("the MPI library has no control variable that is bound to such an object");
    return all;
}

// A handle of a control variable, and its value with guards.
class opened_cvar {
public:
    opened_cvar(test_run& mpi, cvar const& one, void* object) : mpi_(mpi), one_(one) {
        open_ = succeeded(mpi, MPI_T_cvar_handle_alloc(one.index, object, &handle, &count),
                          "MPI_T_cvar_handle_alloc of " + one.name);
        open_ =
            open_ && mpi.check("tools.cvar.alloc",
                               handle != MPI_T_CVAR_HANDLE_NULL && count >= 0 && (one.type != MPI_CHAR || count > 0),
                               finding::count, fmt::format("{} has {} elements, or a null handle", one.name, count));
    }
    ~opened_cvar() {
        if (handle != MPI_T_CVAR_HANDLE_NULL) MPI_T_cvar_handle_free(&handle);
    }
    opened_cvar(opened_cvar const&) = delete;
    opened_cvar& operator=(opened_cvar const&) = delete;
    explicit operator bool() const { return open_; }
    std::size_t size() const { return size_of(one_.type) * static_cast<std::size_t>(count); }

    // Some are listed, and not active any more where their values are asked for.
    bool is_active() const {
        std::vector<unsigned char> value(size() + 64);
        return !is_inactive(MPI_T_cvar_read(handle, value.data()));
    }
    std::vector<unsigned char> read() {
        std::vector<unsigned char> value(size() + 64, poison_byte);
        succeeded(mpi_, MPI_T_cvar_read(handle, value.data()), "MPI_T_cvar_read of " + one_.name);
        mpi_.check("tools.cvar.read",
                   std::all_of(value.begin() + static_cast<std::ptrdiff_t>(size()), value.end(),
                               [](unsigned char c) { return c == poison_byte; }),
                   finding::guard, "MPI_T_cvar_read of " + one_.name + " writes more than its elements");
        value.resize(size());
        if (one_.type == MPI_CHAR) { // defined up to the first null character
            auto const end = std::find(value.begin(), value.end(), '\0');
            std::fill(end, value.end(), '\0');
        }
        return value;
    }
    // Where handles do not stay open: frees it, and says whether that was right.
    bool free() {
        bool const good = succeeded(mpi_, MPI_T_cvar_handle_free(&handle), "MPI_T_cvar_handle_free of " + one_.name);
        return mpi_.check("tools.cvar.free", handle == MPI_T_CVAR_HANDLE_NULL, finding::value,
                          "MPI_T_cvar_handle_free leaves a handle of " + one_.name) &&
               good;
    }

    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = -77;

private:
    test_run& mpi_;
    cvar const& one_;
    bool open_ = false;
};

// Another value than this one: the next item of an enumeration, or the lowest bit of each element changed. A value that no
// variable of its kind is likely to refuse. Empty for strings.
std::vector<unsigned char> other_value(cvar const& one, std::vector<unsigned char> value) {
    if (one.type == MPI_CHAR || value.size() < size_of(one.type)) return {};
    auto const step = size_of(one.type);
    int now = 0, items = 0;
    std::memcpy(&now, value.data(), std::min(sizeof now, step));
    if (one.values != MPI_T_ENUM_NULL && MPI_T_enum_get_info(one.values, &items, nullptr, nullptr) == MPI_SUCCESS) {
        for (int i = 0; i < items; ++i) {
            int item = now;
            if (MPI_T_enum_get_item(one.values, i, &item, nullptr, nullptr) == MPI_SUCCESS && item != now) {
                std::memcpy(value.data(), &item, sizeof item);
                return value;
            }
        }
        return {};
    }
    for (std::size_t at = 0; at + step <= value.size(); at += step) {
        if (one.type == MPI_DOUBLE) {
            double number = 0;
            std::memcpy(&number, value.data() + at, sizeof number);
            number += 1;
            std::memcpy(value.data() + at, &number, sizeof number);
        } else value[at] ^= 1;
    }
    return value;
}

} // namespace

ASSAY_TEST(tool, cvar_info,
           requirements{"tools.cvar.num", "tools.cvar.info_same", "tools.cvar.no_description", "tools.cvar.scope",
                        "tools.verbosity", "tools.bind", "tools.enum.only_int", "tools.cvar.inactive"}) {
    open(mpi);
    int const n = number_of_cvars(mpi);
    mpi.check("tools.cvar.num", n >= 0, finding::count, fmt::format("there are {} control variables", n));
    for (int i = 0; i < n; ++i) {
        cvar one, again;
        if (int const code = get(i, one); code != MPI_SUCCESS) {
            mpi.check("tools.cvar.inactive", code == MPI_T_ERR_INVALID_INDEX, finding::return_,
                      fmt::format("MPI_T_cvar_get_info of index {} returns {}", i, name_of_code(code)));
            continue;
        }
        mpi.check("tools.verbosity", is_verbosity(one.verbosity), finding::value,
                  fmt::format("{} has verbosity {}", one.name, one.verbosity));
        mpi.check("tools.bind", is_bind(one.bind), finding::value,
                  fmt::format("{} is bound to {}", one.name, one.bind));
        mpi.check("tools.cvar.scope", is_scope(one.scope), finding::value,
                  fmt::format("{} has scope {}", one.name, one.scope));
        mpi.check("tools.enum.only_int", one.type == MPI_INT || one.values == MPI_T_ENUM_NULL, finding::value,
                  one.name + " has an enumeration, and not the datatype MPI_INT");
        mpi.check("tools.cvar.no_description", !one.description.empty() || one.description_length == 1, finding::value,
                  fmt::format("{} has no description, whose length is {}", one.name, one.description_length));
        mpi.check("tools.cvar.info_same", get(i, again) == MPI_SUCCESS && one == again, finding::value,
                  fmt::format("MPI_T_cvar_get_info of index {} gives {} and then something else", i, one.name));
    }
    int const later = number_of_cvars(mpi);
    mpi.check("tools.cvar.num", later >= n, finding::count,
              fmt::format("there are {} control variables, and then {}", n, later));
}

ASSAY_TEST(tool, cvar_datatypes, requirements{"tools.datatypes"}) {
    open(mpi);
    for (auto const& one : cvars(mpi))
        mpi.check(is_datatype(one.type), finding::value, one.name + " has a datatype that is not in table 19");
}

ASSAY_TEST(tool, cvar_names, requirements{"tools.cvar.name"}) {
    open(mpi);
    std::map<std::string, int> seen;
    for (auto const& one : cvars(mpi)) {
        mpi.check(!one.name.empty(), finding::value, fmt::format("control variable {} has no name", one.index));
        auto const [other, fresh] = seen.emplace(one.name, one.index);
        mpi.check(fresh, finding::value,
                  fmt::format("control variables {} and {} have the name \"{}\"", other->second, one.index, one.name));
    }
}

ASSAY_TEST(tool, cvar_info_null, requirements{"tools.cvar.info_null"}, over(axis_use{&omitted})) {
    open(mpi);
    auto const which = mpi.at(omitted);
    for (auto expected : cvars(mpi)) {
        cvar one;
        succeeded(mpi, get(expected.index, one, which), "MPI_T_cvar_get_info of " + expected.name);
        cvar const fresh;
        if (which == omit::name) expected.name.clear();
        if (which == omit::verbosity) expected.verbosity = fresh.verbosity;
        if (which == omit::type) expected.type = fresh.type;
        if (which == omit::values) expected.values = fresh.values;
        if (which == omit::description) expected.description.clear();
        if (which == omit::bind) expected.bind = fresh.bind;
        if (which == omit::scope) expected.scope = fresh.scope;
        if (!mpi.check(one == expected, finding::value,
                       fmt::format("control variable {}: with a null pointer for one argument the others differ",
                                   expected.index)))
            return;
    }
}

ASSAY_TEST(tool, cvar_read,
           requirements{"tools.cvar.alloc", "tools.cvar.object_ignored", "tools.cvar.free", "tools.cvar.read",
                        "tools.cvar.constant", "tools.char.terminated", "tools.enum.value"},
           over(axis_use{&bounds})) {
    open(mpi);
    objects things(mpi);
    for (auto const& one : bound_cvars(mpi)) {
        opened_cvar first(mpi, one, things.of(one.bind)), second(mpi, one, things.of(one.bind));
        if (!first || !second || !first.is_active()) continue;
        auto const value = first.read();
        if (one.scope == MPI_T_SCOPE_CONSTANT)
            mpi.check("tools.cvar.constant", second.read() == value, finding::value,
                      one.name + " is constant, and has another value the second time");
        if (one.type == MPI_CHAR) {
            std::vector<char> text(first.size() + 64, 'x');
            MPI_T_cvar_read(first.handle, text.data());
            mpi.check("tools.char.terminated",
                      std::find(text.begin(), text.end(), '\0') <
                          text.begin() + static_cast<std::ptrdiff_t>(first.size()),
                      finding::value, one.name + " does not end within its count");
        }
        int items = 0;
        if (one.values != MPI_T_ENUM_NULL && one.type == MPI_INT && value.size() >= sizeof(int) &&
            MPI_T_enum_get_info(one.values, &items, nullptr, nullptr) == MPI_SUCCESS) {
            int now = 0;
            bool there = false;
            std::memcpy(&now, value.data(), sizeof now);
            for (int i = 0; i < items; ++i) {
                int item = 0;
                there |= MPI_T_enum_get_item(one.values, i, &item, nullptr, nullptr) == MPI_SUCCESS && item == now;
            }
            mpi.check("tools.enum.value", there, finding::value,
                      fmt::format("{} has the value {}, which its enumeration does not list", one.name, now));
        }
        if (one.bind == MPI_T_BIND_NO_OBJECT) {
            int nonsense[4] = {-1, -1, -1, -1};
            auto const rest = mpi.resting_on("tools.cvar.object_ignored");
            opened_cvar const third(mpi, one, nonsense);
            if (third)
                mpi.check(third.count == first.count, finding::count,
                          fmt::format("{} has {} elements, and with an object {}", one.name, first.count, third.count));
        }
        auto const rest = mpi.resting_on("tools.cvar.free");
        first.free();
        second.read(); // still valid
        second.free();
    }
}

ASSAY_TEST(tool, cvar_write, requirements{"tools.cvar.write", "tools.cvar.write_refused", "tools.cvar.readonly"},
           over(axis_use{&bounds})) {
    open(mpi);
    objects things(mpi);
    for (auto const& one : bound_cvars(mpi)) {
        int count = 0;
        MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
        if (!succeeded(mpi, MPI_T_cvar_handle_alloc(one.index, things.of(one.bind), &handle, &count),
                       "MPI_T_cvar_handle_alloc of " + one.name))
            continue;
        auto const size = size_of(one.type) * static_cast<std::size_t>(count);
        auto const read = [&] {
            std::vector<unsigned char> value(size);
            succeeded(mpi, MPI_T_cvar_read(handle, value.data()), "MPI_T_cvar_read of " + one.name);
            if (one.type == MPI_CHAR) std::fill(std::find(value.begin(), value.end(), '\0'), value.end(), '\0');
            return value;
        };
        std::vector<unsigned char> before(size + 64);
        if (is_inactive(MPI_T_cvar_read(handle, before.data()))) continue;
        before = read();
        int const code = MPI_T_cvar_write(handle, before.data());
        if (is_readonly(one))
            mpi.check("tools.cvar.readonly", code != MPI_SUCCESS, finding::return_,
                      one.name + " can only be read, and MPI_T_cvar_write succeeds");
        if (code != MPI_SUCCESS)
            mpi.check("tools.cvar.write_refused",
                      code == MPI_T_ERR_CVAR_SET_NOT_NOW || code == MPI_T_ERR_CVAR_SET_NEVER, finding::return_,
                      fmt::format("MPI_T_cvar_write of {} returns {}", one.name, name_of_code(code)));
        if (one.scope != MPI_T_SCOPE_READONLY)
            mpi.check(code == MPI_SUCCESS ? requirement("tools.cvar.write") : requirement("tools.cvar.write_refused"),
                      read() == before, finding::value,
                      one.name + " has another value after MPI_T_cvar_write of the one that it had");
        if (auto const other = other_value(one, before); code == MPI_SUCCESS && !is_readonly(one) && !other.empty()) {
            // What does not suit the variable may be refused.
            bool const taken = MPI_T_cvar_write(handle, other.data()) == MPI_SUCCESS;
            auto const now = read();
            MPI_T_cvar_write(handle, before.data());
            mpi.check(taken ? requirement("tools.cvar.write") : requirement("tools.cvar.write_refused"),
                      now == (taken ? other : before), finding::value,
                      fmt::format("MPI_T_cvar_write of {} {}, and {} is read", one.name,
                                  taken ? "succeeds" : "is refused", now == before ? "the old value" : "another one"));
            mpi.check("tools.cvar.write", read() == before, finding::value,
                      one.name + " does not get its old value back");
        }
        MPI_T_cvar_handle_free(&handle);
    }
}
