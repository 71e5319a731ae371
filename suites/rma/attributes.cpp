// What a window says of itself (MPI-5.0 sections 12.2.6 and 12.2.7), and what else it keeps: a name (7.8).
#include "framework/check/logical.hpp"
#include "suites/rma/int_window.hpp"

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
           requirements{"rma.attributes", "rma.attributes.size", "rma.attributes.unit", "rma.attributes.flavor",
                        "rma.attributes.model", "rma.attributes.dynamic", "rma.attributes.dynamic_unit",
                        "rma.get_group", "rma.get_info"},
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
    mpi.check(dynamic ? requirement("rma.attributes.dynamic") : requirement("rma.attributes"),
              base == (dynamic ? MPI_BOTTOM : win.base()), finding::window,
              "MPI_WIN_BASE is not the address of the window");
    mpi.check(dynamic ? requirement("rma.attributes.dynamic") : requirement("rma.attributes.size"),
              size == (dynamic ? 0 : win.size(mpi.rank)), finding::window,
              fmt::format("MPI_WIN_SIZE is {}, expected {}", size, dynamic ? 0 : win.size(mpi.rank)));
    // Section 12.2.6 does not say what the unit of a dynamic window is, section 12.2.4 that it counts as one.
    mpi.check(dynamic ? requirement("rma.attributes.dynamic_unit") : requirement("rma.attributes.unit"),
              unit == win.unit_of(mpi.rank), finding::window,
              fmt::format("MPI_WIN_DISP_UNIT is {}, expected {}", unit, win.unit_of(mpi.rank)));
    mpi.check("rma.attributes.flavor", made_by == flavor_constant(how), finding::window,
              fmt::format("MPI_WIN_CREATE_FLAVOR is {}", made_by));
    mpi.check("rma.attributes.model", model == MPI_WIN_SEPARATE || model == MPI_WIN_UNIFIED, finding::window,
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

namespace {
struct all_attributes {
    void* base;
    MPI_Aint size;
    int unit, made_by, model;
    bool operator==(all_attributes const&) const = default;
};
all_attributes attributes_of(test_run& mpi, MPI_Win win) {
    return {attribute(mpi, win, MPI_WIN_BASE, "MPI_WIN_BASE"), number<MPI_Aint>(mpi, win, MPI_WIN_SIZE, "MPI_WIN_SIZE"),
            number<int>(mpi, win, MPI_WIN_DISP_UNIT, "MPI_WIN_DISP_UNIT"),
            number<int>(mpi, win, MPI_WIN_CREATE_FLAVOR, "MPI_WIN_CREATE_FLAVOR"),
            number<int>(mpi, win, MPI_WIN_MODEL, "MPI_WIN_MODEL")};
}
} // namespace

// Memory comes and goes, hints are set, an epoch passes, another window is made: the attributes are what they were.
ASSAY_TEST(rma, attributes_stay, requirements{"rma.attributes.constant", "rma.get_group.duplicate"},
           over(axis_use{&flavors()}, communicators::of({"world", "self", "reversed"}))) {
    MPI_Group group = MPI_GROUP_NULL, again = MPI_GROUP_NULL;
    {
        int_window win(mpi, mpi.at(flavors()), 16);
        if (!win.made()) return;
        auto const before = attributes_of(mpi, win);
        auto const look = [&](char const* when) {
            mpi.check(attributes_of(mpi, win) == before, finding::window,
                      fmt::format("an attribute of the window has changed {}", when));
        };
        {
            int_window const other(mpi, mpi.at(flavors()), 33);
            look("when another window was made");
        }
        int more[4] = {};
        if (mpi.at(flavors()) == flavor::dynamic) {
            mpi.ok(MPI_Win_attach(win, more, sizeof more));
            look("when memory was attached");
            mpi.ok(MPI_Win_detach(win, more));
        }
        MPI_Info info = MPI_INFO_NULL;
        mpi.ok(MPI_Info_create(&info));
        mpi.ok(MPI_Info_set(info, "same_size", "true"));
        mpi.ok(MPI_Win_set_info(win, info));
        mpi.ok(MPI_Info_free(&info));
        look("when a hint was set");
        mpi.ok(MPI_Win_get_group(win, &group));
        mpi.ok(MPI_Group_free(&group)); // of which the window does not know
        int const out = 7;
        mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right_of(mpi), 0, win));
        mpi.ok(MPI_Put(&out, 1, MPI_INT, right_of(mpi), win.at(right_of(mpi)), 1, MPI_INT, win));
        mpi.ok(MPI_Win_unlock(right_of(mpi), win));
        barrier(mpi);
        look("in an epoch");
        auto const rests = mpi.resting_on("rma.get_group.duplicate");
        expect_int(mpi, win.content()[0], 7, "the window after its group was freed");
        mpi.ok(MPI_Win_get_group(win, &again));
        barrier(mpi);
    }
    // The window is gone.
    int size = -7, rank = -7;
    mpi.ok(MPI_Group_size(again, &size));
    mpi.ok(MPI_Group_rank(again, &rank));
    mpi.check("rma.get_group.duplicate", size == mpi.size && rank == mpi.rank, finding::window,
              fmt::format("the group of a window that is freed has rank {} of {}, expected {} of {}", rank, size,
                          mpi.rank, mpi.size));
    mpi.ok(MPI_Group_free(&again));
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
