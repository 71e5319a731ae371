// What a window says of itself (MPI-5.0 sections 12.2.6 and 12.2.7), and what else it keeps: a name (7.8).
#include "framework/check/logical.hpp"
#include "suites/rma/window.hpp"

#include <cstdint>
#include <cstring>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

// The value of an attribute: an address, or what the pointer that MPI returned points to.
void* attribute(test_run& mpi, MPI_Win win, int key, char const* name) {
    void* value = nullptr;
    int flag = 0;
    mpi.ok(MPI_Win_get_attr(win, key, &value, &flag));
    mpi.check(logical(flag), finding::window, fmt::format("{} is not set: flag {}", name, flag));
    return logical(flag) ? value : nullptr;
}

template <class T> T number(test_run& mpi, MPI_Win win, int key, char const* name) {
    auto const* value = static_cast<T const*>(attribute(mpi, win, key, name));
    return value != nullptr ? *value : T(-7);
}

int flavor_constant(flavor how) {
    switch (how) {
    case flavor::create: return MPI_WIN_FLAVOR_CREATE;
    case flavor::allocate: return MPI_WIN_FLAVOR_ALLOCATE;
    case flavor::dynamic: return MPI_WIN_FLAVOR_DYNAMIC;
    default: return MPI_WIN_FLAVOR_SHARED;
    }
}

} // namespace

ASSAY_TEST(rma, attributes,
           requirements{"rma.attributes", "rma.attributes.dynamic_unit", "rma.get_group", "rma.get_info"},
           over(axis_use{&flavors()}, axis_use{&units()}, axis_use{&hints()}, communicators::intra(),
                datatypes::of({"double", "type_mix"}),
                only(count_ladder(), [](count_value const& c) { return c.n == 0 || c.n == 17; })),
           sensible_unit(), thread_safe{}) {
    auto const how = mpi.at(flavors());
    bool const dynamic = how == flavor::dynamic;
    window win(mpi, {how, mpi.at(units()), mpi.at(hints())}, mpi.map, mpi.elements, 1, true);
    if (!win.made()) return;
    auto const* base = attribute(mpi, win, MPI_WIN_BASE, "MPI_WIN_BASE");
    auto const size = number<MPI_Aint>(mpi, win, MPI_WIN_SIZE, "MPI_WIN_SIZE");
    auto const unit = number<int>(mpi, win, MPI_WIN_DISP_UNIT, "MPI_WIN_DISP_UNIT");
    auto const made_by = number<int>(mpi, win, MPI_WIN_CREATE_FLAVOR, "MPI_WIN_CREATE_FLAVOR");
    auto const model = number<int>(mpi, win, MPI_WIN_MODEL, "MPI_WIN_MODEL");
    mpi.check(base == (dynamic ? MPI_BOTTOM : win.base()), finding::window,
              "MPI_WIN_BASE is not the address of the window");
    mpi.check(size == (dynamic ? 0 : win.size(mpi.rank)), finding::window,
              fmt::format("MPI_WIN_SIZE is {}, expected {}", size, dynamic ? 0 : win.size(mpi.rank)));
    // Section 12.2.6 does not say what the unit of a dynamic window is, section 12.2.4 that it counts as one.
    mpi.check(dynamic ? requirement("rma.attributes.dynamic_unit") : requirement("rma.attributes"),
              unit == win.unit_of(mpi.rank), finding::window,
              fmt::format("MPI_WIN_DISP_UNIT is {}, expected {}", unit, win.unit_of(mpi.rank)));
    mpi.check(made_by == flavor_constant(how), finding::window, fmt::format("MPI_WIN_CREATE_FLAVOR is {}", made_by));
    mpi.check(model == MPI_WIN_SEPARATE || model == MPI_WIN_UNIFIED, finding::window,
              fmt::format("MPI_WIN_MODEL is {}: neither MPI_WIN_SEPARATE nor MPI_WIN_UNIFIED", model));

    MPI_Group group = MPI_GROUP_NULL, of_comm = MPI_GROUP_NULL;
    int members = -1, rank = -1, same = MPI_UNEQUAL;
    mpi.ok(MPI_Win_get_group(win, &group));
    mpi.ok(MPI_Comm_group(mpi.comm, &of_comm));
    mpi.ok(MPI_Group_size(group, &members));
    mpi.ok(MPI_Group_rank(group, &rank));
    mpi.ok(MPI_Group_compare(group, of_comm, &same));
    mpi.check(members == mpi.size && rank == mpi.rank && same == MPI_IDENT, finding::window,
              fmt::format("MPI_Win_get_group gives rank {} of {}, expected {} of {}, in the order of the communicator",
                          rank, members, mpi.rank, mpi.size));
    mpi.ok(MPI_Group_free(&group));
    mpi.ok(MPI_Group_free(&of_comm));

    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_Win_get_info(win, &info));
    mpi.check(info != MPI_INFO_NULL, finding::window, "MPI_Win_get_info gives MPI_INFO_NULL");
    if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
}

ASSAY_TEST(rma, win_name, requirements{"rma.name", "rma.name.empty"},
           over(axis_use{&flavors()}, communicators::of({"world", "self"})), thread_safe{}) {
    window win(mpi, {mpi.at(flavors()), unit::byte, false}, mpi.map, 0, 1, false);
    if (!win.made()) return;
    char text[MPI_MAX_OBJECT_NAME + 1];
    int length = -7;
    std::memset(text, poison_byte, sizeof text);
    mpi.ok(MPI_Win_get_name(win, text, &length));
    mpi.check("rma.name.empty", length == 0 && text[0] == '\0', finding::window,
              fmt::format("a new window has a name of length {}", length));
    mpi.ok(MPI_Win_set_name(win, "a window"));
    std::memset(text, poison_byte, sizeof text);
    mpi.ok(MPI_Win_get_name(win, text, &length));
    mpi.check(length == 8 && std::memcmp(text, "a window", 9) == 0, finding::window,
              fmt::format("MPI_Win_get_name gives length {}, expected 8", length));
}

ASSAY_TEST(rma, win_name_longest, requirements{"rma.name", "name.truncated"},
           over(only(flavors(), [](flavor f) { return f == flavor::create || f == flavor::shared; }),
                communicators::of({"world", "self"}))) {
    window win(mpi, {mpi.at(flavors()), unit::byte, false}, mpi.map, 0, 1, false);
    if (!win.made()) return;
    std::string longest;
    for (int i = 0; i < MPI_MAX_OBJECT_NAME - 1; ++i) longest += static_cast<char>('a' + i % 26);
    for (auto const* beyond : {"", "and what is too much"}) {
        std::string text(MPI_MAX_OBJECT_NAME + 16, static_cast<char>(poison_byte));
        int length = -7;
        mpi.ok(MPI_Win_set_name(win, "in between"));
        mpi.ok(MPI_Win_set_name(win, (longest + beyond).c_str()));
        mpi.ok(MPI_Win_get_name(win, text.data(), &length));
        mpi.check(length == MPI_MAX_OBJECT_NAME - 1 && text.substr(0, text.find('\0')) == longest, finding::window,
                  fmt::format("a name of {} characters comes back with length {}: \"{}\"",
                              longest.size() + std::strlen(beyond), length, text.c_str()));
        mpi.check(text.find_first_not_of(static_cast<char>(poison_byte), MPI_MAX_OBJECT_NAME) == std::string::npos,
                  finding::guard, "MPI_Win_get_name wrote beyond MPI_MAX_OBJECT_NAME characters");
    }
}
