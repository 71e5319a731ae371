// MPI_Comm_split and MPI_Comm_split_type (MPI-5.0 section 7.4.2): who comes together, and in which order. Every process
// computes color and key of all others, so that each knows what the library has to make of them.
#include "suites/comm/comm.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <fmt/format.h>

using namespace assay;

namespace {

// Both as functions of a process: of its rank in MPI_COMM_WORLD, which no communicator can get wrong.
using rule = int (*)(int process, int np);
constexpr int none = -1; // stands for MPI_UNDEFINED, which is no constant expression in every library

axis<rule> const
    colors("color", {{{"one", "everybody the same"}, [](int, int) { return 0; }},
                     {{"alternate", "two colors, by turns"}, [](int process, int) { return process % 2; }},
                     {{"each", "a color of its own for each process"}, [](int process, int) { return 7 * process; }},
                     {{"largest", "INT_MAX and 0"}, [](int process, int) { return process % 2 == 0 ? INT_MAX : 0; }},
                     {{"but_first", "MPI_UNDEFINED on the first process"},
                      [](int process, int) { return process == 0 ? none : 3; }},
                     {{"but_last", "MPI_UNDEFINED on the last process"},
                      [](int process, int np) { return process == np - 1 ? none : 1; }},
                     {{"nobody", "MPI_UNDEFINED everywhere"}, [](int, int) { return none; }}});

axis<rule> const keys("key", {{{"same", "all 0: the old order"}, [](int, int) { return 0; }},
                              {{"ascending", "by rank in MPI_COMM_WORLD"}, [](int process, int) { return process; }},
                              {{"descending", "the other way round"}, [](int process, int np) { return np - process; }},
                              {{"negative", "below 0, in reverse"}, [](int process, int) { return -1 - process; }},
                              {{"ties", "two share a key"}, [](int process, int np) { return (np - process) / 2; }},
                              {{"extreme", "INT_MAX, 0, INT_MIN"}, [](int process, int) {
                                   return process % 3 == 0 ? INT_MAX : process % 3 == 1 ? INT_MIN : 0;
                               }}});

// Of the old group those of this color, by key; equal keys keep the old order.
processes selected(processes const& old, int color, rule color_of, rule key_of, int np) {
    processes chosen;
    for (int process : old)
        if (color_of(process, np) == color) chosen.push_back(process);
    std::stable_sort(chosen.begin(), chosen.end(), [&](int a, int b) { return key_of(a, np) < key_of(b, np); });
    return chosen;
}

} // namespace

ASSAY_TEST(comm, split,
           requirements{"comm.split.color", "comm.split.key", "comm.split.ties", "comm.split.undefined",
                        "comm.split.inter", "comm.split.inter.one_sided"},
           over(axis_use{&colors}, axis_use{&keys},
                communicators::of({"world", "reversed", "odd_even", "inter_halved", "inter_zero_rest"})),
           thread_safe{}) {
    int const np = mpi.the_job.np, me = own_process();
    auto const color_of = mpi.at(colors), key_of = mpi.at(keys);
    int const color = color_of(me, np);
    auto const local = selected(local_of(mpi), color, color_of, key_of, np);
    auto const remote = selected(remote_of(mpi), color, color_of, key_of, np);
    MPI_Comm made = MPI_COMM_WORLD; // must be overwritten
    if (!mpi.ok(MPI_Comm_split(mpi.comm, color == none ? MPI_UNDEFINED : color, key_of(me, np), &made))) return;
    if (color == none || (mpi.inter && remote.empty())) {
        mpi.check(made == MPI_COMM_NULL, finding::value,
                  color == none ? "the color is MPI_UNDEFINED: MPI_Comm_split must give MPI_COMM_NULL"
                                : "the remote group has nobody of this color: MPI_Comm_split must give MPI_COMM_NULL");
        return;
    }
    expect_communicator(mpi, made, local, remote, fmt::format("MPI_Comm_split, color {}", color));
    free_communicator(mpi, made);
}

// -------------------------------------------------------------------------------------------- MPI_Comm_split_type

namespace {

enum class way { shared, undefined, mixed };
axis<way> const ways("type", {{{"shared", "MPI_COMM_TYPE_SHARED"}, way::shared},
                              {{"undefined", "MPI_UNDEFINED"}, way::undefined},
                              {{"mixed", "MPI_COMM_TYPE_SHARED, MPI_UNDEFINED on the first process"}, way::mixed}});

enum class guide { null_info, no_key, unknown, shared };
axis<guide> const guides("info", {{{"null", "MPI_INFO_NULL"}, guide::null_info},
                                  {{"no_key", "an info object without a key"}, guide::no_key},
                                  {{"unknown", "a type of resource that does not exist"}, guide::unknown},
                                  {{"shared", "mpi_shared_memory"}, guide::shared}});

// Both came without a procedure of their own: another one of the same version of MPI stands for them.
axis<bool> const guided_types(
    "type",
    {{{"hw_guided", "MPI_COMM_TYPE_HW_GUIDED", needs_procedures({"MPI_Session_init"})}, false},
     {{"resource_guided", "MPI_COMM_TYPE_RESOURCE_GUIDED", needs_procedures({"MPI_Get_hw_resource_info"})}, true}});

// Which processes are together is the machine's business. What is not: who calls is in it, each is there once, in the
// order of the keys, and all members see the same.
processes look_at_split(test_run& mpi, MPI_Comm made, rule key_of, std::string const& what) {
    int const np = mpi.the_job.np, me = own_process();
    mpi.ok(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN));
    int size = -7, rank = -7;
    mpi.ok(MPI_Comm_size(made, &size));
    mpi.ok(MPI_Comm_rank(made, &rank));
    if (!mpi.check(size >= 1 && size <= mpi.size && rank >= 0 && rank < size, finding::value,
                   fmt::format("{}: the caller is rank {} of {}, made of {} processes", what, rank, size, mpi.size)))
        return {};
    processes members(static_cast<std::size_t>(size), -7);
    mpi.ok(MPI_Allgather(&me, 1, MPI_INT, members.data(), 1, MPI_INT, made));
    mpi.check(members[static_cast<std::size_t>(rank)] == me, finding::order,
              fmt::format("{}: rank {} is process {}, the caller is {}", what, rank,
                          members[static_cast<std::size_t>(rank)], me));
    auto expected = local_of(mpi); // in the old order
    std::erase_if(expected,
                  [&](int process) { return std::find(members.begin(), members.end(), process) == members.end(); });
    std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) { return key_of(a, np) < key_of(b, np); });
    mpi.check(members == expected, finding::order,
              fmt::format("{}: its processes are {}, by their keys {}", what, text(members), text(expected)));
    return members;
}

} // namespace

ASSAY_TEST(comm, split_type, requirements{"comm.split_type.shared", "comm.split_type.key", "comm.split_type.undefined"},
           over(axis_use{&ways}, axis_use{&keys}, few()), thread_safe{}) {
    int const np = mpi.the_job.np, me = own_process();
    auto const key_of = mpi.at(keys);
    auto const how = mpi.at(ways);
    bool const outside = how == way::undefined || (how == way::mixed && me == 0);
    MPI_Comm made = MPI_COMM_WORLD;
    if (!mpi.ok(MPI_Comm_split_type(mpi.comm, outside ? int{MPI_UNDEFINED} : int{MPI_COMM_TYPE_SHARED}, key_of(me, np),
                                    MPI_INFO_NULL, &made)))
        return;
    if (outside) {
        mpi.check(made == MPI_COMM_NULL, finding::value,
                  "the type is MPI_UNDEFINED: MPI_Comm_split_type must give MPI_COMM_NULL");
        return;
    }
    if (!mpi.check(made != MPI_COMM_NULL, finding::value, "MPI_COMM_TYPE_SHARED gives MPI_COMM_NULL")) return;
    look_at_split(mpi, made, key_of, "MPI_COMM_TYPE_SHARED");
    // That they share memory: each writes what the next one reads.
    int size = 1, rank = 0;
    mpi.ok(MPI_Comm_size(made, &size));
    mpi.ok(MPI_Comm_rank(made, &rank));
    int* own = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    if (mpi.ok(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, made, &own, &window))) {
        MPI_Aint bytes = 0;
        int unit = 0, *next = nullptr;
        mpi.ok(MPI_Win_fence(0, window));
        *own = 100 + rank;
        mpi.ok(MPI_Win_fence(0, window));
        mpi.ok(MPI_Win_shared_query(window, (rank + 1) % size, &bytes, &unit, &next));
        mpi.check(next != nullptr, finding::window, "MPI_Win_shared_query gives no address");
        if (next != nullptr)
            expect_number(mpi, *next, 100 + (rank + 1) % size, "what the next process wrote to the shared memory");
        mpi.ok(MPI_Win_fence(0, window));
        mpi.ok(MPI_Win_free(&window));
    }
    free_communicator(mpi, made);
}

// Of an intercommunicator: those of both groups that share memory, each group by its keys.
ASSAY_TEST(comm, split_type_inter,
           requirements{"comm.split_type.inter", "comm.split_type.key", "comm.split_type.undefined"},
           over(axis_use{&ways}, axis_use{&keys}, communicators::inter()),
           // What becomes of a side without members is said of MPI_Comm_split only.
           where(ways, comm_axis(), [](job const& j, way w, communicator const& c) {
               return w != way::mixed || smallest_size(c, j.np) > 1;
           })) {
    int const np = mpi.the_job.np, me = own_process();
    auto const key_of = mpi.at(keys);
    auto const how = mpi.at(ways);
    // Who shares memory is known from MPI_COMM_WORLD, whose first process stands for a node.
    MPI_Comm node = MPI_COMM_NULL;
    if (!mpi.ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node))) return;
    int first = me;
    processes node_of(static_cast<std::size_t>(np), -7);
    mpi.ok(MPI_Bcast(&first, 1, MPI_INT, 0, node));
    mpi.ok(MPI_Allgather(&first, 1, MPI_INT, node_of.data(), 1, MPI_INT, MPI_COMM_WORLD));
    free_communicator(mpi, node);
    auto const outside = [how](int process) { return how == way::undefined || (how == way::mixed && process == 0); };
    auto const kept = [&](processes old) {
        std::erase_if(old, [&](int process) {
            return outside(process) ||
                   node_of[static_cast<std::size_t>(process)] != node_of[static_cast<std::size_t>(me)];
        });
        std::stable_sort(old.begin(), old.end(), [&](int a, int b) { return key_of(a, np) < key_of(b, np); });
        return old;
    };
    auto const local = kept(local_of(mpi)), remote = kept(remote_of(mpi));
    MPI_Comm made = MPI_COMM_WORLD;
    if (!mpi.ok(MPI_Comm_split_type(mpi.comm, outside(me) ? int{MPI_UNDEFINED} : int{MPI_COMM_TYPE_SHARED},
                                    key_of(me, np), MPI_INFO_NULL, &made)))
        return;
    if (outside(me)) {
        mpi.check(made == MPI_COMM_NULL, finding::value,
                  "the type is MPI_UNDEFINED: MPI_Comm_split_type must give MPI_COMM_NULL");
        return;
    }
    if (remote.empty()) return; // all on another node
    if (!mpi.check(made != MPI_COMM_NULL && made != MPI_COMM_WORLD, finding::value,
                   "MPI_COMM_TYPE_SHARED gives no communicator of an intercommunicator"))
        return;
    expect_communicator(mpi, made, local, remote, "MPI_Comm_split_type of an intercommunicator");
    free_communicator(mpi, made);
}

ASSAY_TEST(comm, split_guided,
           requirements{"comm.split_type.guided.null", "comm.split_type.guided.shared",
                        "comm.split_type.guided.offered", "comm.split_type.key"},
           over(axis_use{&guided_types}, axis_use{&guides}, only(keys, [](rule r) { return r(0, 2) != r(1, 2); }),
                few()),
           thread_safe{}) {
    int const type = mpi.at(guided_types) ? MPI_COMM_TYPE_RESOURCE_GUIDED : MPI_COMM_TYPE_HW_GUIDED;
    char const* const named = mpi.at(guided_types) ? "MPI_COMM_TYPE_RESOURCE_GUIDED" : "MPI_COMM_TYPE_HW_GUIDED";
    int const np = mpi.the_job.np, me = own_process();
    auto const how = mpi.at(guides);
    MPI_Info info = MPI_INFO_NULL;
    if (how != guide::null_info) mpi.ok(MPI_Info_create(&info));
    if (how == guide::no_key) mpi.ok(MPI_Info_set(info, "assay_other_key", "mpi_shared_memory"));
    if (how == guide::unknown) mpi.ok(MPI_Info_set(info, "mpi_hw_resource_type", "assay://no_such_resource"));
    if (how == guide::shared) mpi.ok(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
    MPI_Comm made = MPI_COMM_WORLD;
    bool const returned = mpi.ok(MPI_Comm_split_type(mpi.comm, type, mpi.at(keys)(me, np), info, &made));
    if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
    if (!returned) return;
    if (how != guide::shared) {
        mpi.check(made == MPI_COMM_NULL, finding::value,
                  fmt::format("{} without a known resource must give MPI_COMM_NULL", named));
    } else if (mpi.check("comm.split_type.guided.offered", made != MPI_COMM_NULL, finding::value,
                         fmt::format("{} does not support the reserved resource mpi_shared_memory", named))) {
        auto const members = look_at_split(mpi, made, mpi.at(keys), "mpi_shared_memory");
        MPI_Comm shared = MPI_COMM_NULL;
        mpi.ok(MPI_Comm_split_type(mpi.comm, MPI_COMM_TYPE_SHARED, mpi.at(keys)(me, np), MPI_INFO_NULL, &shared));
        int result = -7;
        mpi.ok(MPI_Comm_compare(made, shared, &result));
        mpi.check(
            result == MPI_CONGRUENT, finding::value,
            fmt::format("mpi_shared_memory brings together {}, not what MPI_COMM_TYPE_SHARED does", text(members)));
        free_communicator(mpi, shared);
    }
    if (made != MPI_COMM_NULL && made != MPI_COMM_WORLD) free_communicator(mpi, made);
}

ASSAY_TEST(comm, split_hw_unguided,
           requirements{"comm.split_type.hw_unguided.subset", "comm.split_type.hw_unguided.info"}, over(few()),
           needs_procedures({"MPI_Session_init"}), thread_safe{}) {
    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_Info_create(&info));
    MPI_Comm made = MPI_COMM_WORLD;
    if (mpi.ok(MPI_Comm_split_type(mpi.comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &made)) && made != MPI_COMM_NULL &&
        mpi.check(made != MPI_COMM_WORLD, finding::value, "MPI_Comm_split_type did not write the new communicator")) {
        auto const members = look_at_split(
            mpi, made, [](int, int) { return 0; }, "MPI_COMM_TYPE_HW_UNGUIDED");
        mpi.check(
            static_cast<int>(members.size()) < mpi.size, finding::value,
            fmt::format("MPI_COMM_TYPE_HW_UNGUIDED gives all {} processes: it must be a strict subset", mpi.size));
        // The resource is named, and by all members alike.
        char name[200] = "";
        int flag = 0, room = sizeof name;
        mpi.ok(MPI_Info_get_string(info, "mpi_hw_resource_type", &room, name, &flag));
        mpi.check(flag != 0, finding::info,
                  "mpi_hw_resource_type is not set where MPI_COMM_TYPE_HW_UNGUIDED gives a communicator");
        char first[200] = "";
        std::memcpy(first, name, sizeof name);
        mpi.ok(MPI_Bcast(first, sizeof first, MPI_CHAR, 0, made));
        mpi.check(std::strcmp(first, name) == 0, finding::info,
                  fmt::format("mpi_hw_resource_type is \"{}\", on rank 0 \"{}\"", name, first));
        free_communicator(mpi, made);
    }
    mpi.ok(MPI_Info_free(&info));
}
