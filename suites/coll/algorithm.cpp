#include "suites/coll/algorithm.hpp"

#include "framework/process/layer.hpp"
#include "suites/coll/collective.hpp"
#include "suites/common/tool_interface.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <optional>

namespace assay::coll {
namespace {

constexpr int most = 11; // no library has more for one operation

struct variable {
    int index;
    MPI_Datatype type;
    struct item {
        std::string name;
        int value;
    };
    std::vector<item> items; // of an enumeration
    // Without those that leave the choice to the library.
    std::vector<item> algorithms() const {
        std::vector<item> some;
        for (auto const& i : items)
            if (!i.name.ends_with("auto") && i.name != "ignore") some.push_back(i);
        return some;
    }
    int value_of(std::string const& name) const {
        for (auto const& i : items)
            if (i.name.ends_with(name)) return i.value;
        return -1;
    }
};

// MPICH has enumerations that it does not tell as such: the description says "name - what it is", one line each. Those of
// MPICH 4.0 have lost their line ends, so that a name begins with the last word before it.
std::vector<variable::item> described(std::string const& text) {
    std::vector<variable::item> items;
    bool const lines = text.find('\n') != std::string::npos;
    for (auto dash = text.find(" - "); dash != std::string::npos;) {
        auto const name_end = text.find_last_not_of(' ', dash) + 1;
        auto const name_begin = text.find_last_of(" \n", name_end - 1) + 1;
        items.push_back({text.substr(name_begin, name_end - name_begin), static_cast<int>(items.size())});
        auto const next = lines ? text.find('\n', dash) : dash + 1;
        dash = text.find(" - ", next);
    }
    return items;
}

std::optional<variable> find(std::string const& name) {
    unrecorded const own;
    variable v{};
    if (MPI_T_cvar_get_index(name.c_str(), &v.index) != MPI_SUCCESS) return {};
    std::array<char, 8192> description{};
    std::array<char, 256> found{};
    int name_length = static_cast<int>(found.size()), length = static_cast<int>(description.size());
    int verbosity = 0, bind = 0, scope = 0;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(v.index, found.data(), &name_length, &verbosity, &v.type, &values, description.data(),
                            &length, &bind, &scope) != MPI_SUCCESS)
        return {};
    if (bind != MPI_T_BIND_NO_OBJECT || scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY) return {};
    if (v.type != MPI_INT && v.type != MPI_UNSIGNED && v.type != MPI_C_BOOL) return {};
    std::string const text = description.data();
    int n = 0;
    name_length = static_cast<int>(found.size());
    if (values != MPI_T_ENUM_NULL && MPI_T_enum_get_info(values, &n, found.data(), &name_length) == MPI_SUCCESS)
        for (int i = 0; i < n; ++i) {
            int value = 0;
            name_length = static_cast<int>(found.size());
            if (MPI_T_enum_get_item(values, i, &value, found.data(), &name_length) == MPI_SUCCESS)
                v.items.push_back({found.data(), value});
        }
    if (v.items.empty() && name.starts_with("MPIR_CVAR_")) v.items = described(text);
    return v;
}

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string name_of(int variable) {
    std::array<char, 256> name{};
    int length = static_cast<int>(name.size()), verbosity = 0, bind = 0, scope = 0, none = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_cvar_get_info(variable, name.data(), &length, &verbosity, &type, nullptr, nullptr, &none, &bind, &scope);
    return name.data();
}

int access(test_run& mpi, int variable, std::optional<int> value) {
    unrecorded const own;
    if (recorded && value)
        tell_layer({.event = "setting", .text = fmt::format("{} {}", name_of(variable), *value).c_str()});
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0, held = 0; // a bool is its first byte
    if (!mpi.ok(MPI_T_cvar_handle_alloc(variable, nullptr, &handle, &count))) return 0;
    if (value) mpi.ok(MPI_T_cvar_write(handle, &*value));
    else mpi.ok(MPI_T_cvar_read(handle, &held));
    mpi.ok(MPI_T_cvar_handle_free(&handle));
    return held;
}

} // namespace

axis<int> const& algorithms() {
    static axis<int> const axis("algorithm", [] {
        std::vector<assay::axis<int>::entry> entries;
        for (int n = 1; n < most; ++n)
            entries.push_back({{std::to_string(n), "alternative number " + std::to_string(n)}, n});
        return entries;
    }());
    return axis;
}

axis_use algorithm_starts() {
    return only(starts(), [](start s) { return !s.large && s.how != start::polled; });
}
axis_use algorithm_comms() { return communicators::of({"world", "reversed", "inter_halved"}); }
axis_use algorithm_types() { return datatypes::of({"int", "vector_int"}); }
axis_use algorithm_counts() {
    return only(count_ladder(), [](count_value const& c) {
        return c.n == 0 || c.n == 1 || c.n == 7 || c.n == 1024 || c.n == 8192 || c.n == 65536;
    });
}

std::string started(test_run const& mpi, std::string const& operation) {
    return (mpi.at(starts()).how == start::blocking ? "" : "i") + operation;
}

chosen_algorithm::chosen_algorithm(test_run& mpi, std::string const& operation, bool in_order)
    : mpi_(mpi), variables_(mpi) {
    if (!tool_interface_is_open()) mpi.unsupported("MPI_T_init_thread failed");
    auto const chosen = [&mpi](variable const& of) {
        auto const all = of.algorithms();
        auto const wanted = static_cast<std::size_t>(mpi.at(algorithms())) - 1;
        if (wanted >= all.size())
            mpi.unsupported(fmt::format("the MPI library has {} algorithms for this operation", all.size()));
        return all[wanted];
    };
    bool const nonblocking = operation.starts_with('i');
    // MPICH: a variable for each operation and kind of communicator, looked at in each call. What is done below it
    // for the machine at hand is to be left out.
    if (auto v = find(fmt::format("MPIR_CVAR_{}_{}_ALGORITHM", upper(operation), mpi.inter ? "INTER" : "INTRA"))) {
        variables_.set(v->index, chosen(*v).value);
        if (auto const device = find("MPIR_CVAR_DEVICE_COLLECTIVES"); device && device->value_of("none") >= 0)
            variables_.set(device->index, device->value_of("none"));
        // Open MPI: component tuned for blocking operations, libnbc for others; looked at when a communicator is made.
    } else if (auto const w = find((nonblocking ? "coll_libnbc_" : "coll_tuned_") + operation + "_algorithm")) {
        if (in_order) mpi.unsupported("the algorithm is used whether it keeps the order of operands or not");
        if (mpi.inter) mpi.unsupported("the algorithms of intercommunicators cannot be chosen");
        auto const algorithm = chosen(*w);
        if (algorithm.name.find("two_proc") != std::string::npos && mpi.size != 2)
            mpi.unsupported("this algorithm is one for two processes");
        if (!nonblocking) {
            auto const dynamic = find("coll_tuned_use_dynamic_rules");
            if (!dynamic) mpi.unsupported("coll_tuned_use_dynamic_rules cannot be set while the library runs");
            variables_.set(dynamic->index, 1);
        }
        variables_.set(w->index, algorithm.value);
    } else mpi.unsupported("the MPI library has no control variable to choose the algorithm");
    mpi.ok(MPI_Comm_dup(mpi.comm, &comm_));
    run_ = &mpi.on(comm_, {.rank = mpi.rank, .size = mpi.size, .remote_size = mpi.remote_size, .side = mpi.side});
}

void control_variables::set(int variable, int value) {
    settings_.push_back({variable, access(mpi_, variable, {})});
    access(mpi_, variable, value);
}

control_variables::~control_variables() {
    for (auto s = settings_.rbegin(); s != settings_.rend(); ++s) access(mpi_, s->variable, s->before);
}

chosen_algorithm::~chosen_algorithm() {
    if (comm_ != MPI_COMM_NULL) mpi_.ok(MPI_Comm_free(&comm_));
}

} // namespace assay::coll
