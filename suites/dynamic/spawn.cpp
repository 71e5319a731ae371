// MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI-5.0 section 11.8): processes come to life with the right arguments in the
// right order, and both sides can talk.
#include "suites/dynamic/dynamic.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::dynamic;

namespace {

axis<bool> const code_arrays("errcodes", {{{"array", "an array of error codes"}, true},
                                          {{"ignore", "MPI_ERRCODES_IGNORE"}, false}});
enum class then { disconnect, merge, dup };
axis<then> const sequels("then", {{{"disconnect", "disconnect"}, then::disconnect},
                                  {{"merge", "MPI_Intercomm_merge, and talk in one group"}, then::merge},
                                  {{"dup", "MPI_Comm_dup, and disconnect the parent communicator first"}, then::dup}});
enum class words { none, plain, odd, empty };
axis<words> const argument_lists("argv", {{{"none", "no arguments of the case's own"}, words::none},
                                          {{"plain", "words"}, words::plain},
                                          {{"odd", "blanks, quotes, dollar signs, a leading dash"}, words::odd},
                                          {{"empty", "an empty argument among others"}, words::empty}});

std::vector<std::string> of(words w) {
    switch (w) {
    case words::none: return {};
    case words::plain: return {"one", "two=2", "three/3"};
    case words::odd: return {"a b", " lead", "trail ", "it's", "\"quoted\"", "$HOME", "--dash=x", "a;b|c&d", "*"};
    case words::empty: return {"before", "", "after"};
    }
    return {};
}

// What a spawned process knows of itself: number `rank` of `size`, of command `command`, with these arguments.
void check_self(test_run& mpi, int size, int command, std::vector<std::string> const& arguments) {
    mpi.check(mpi.size == size, finding::value,
              fmt::format("the MPI_COMM_WORLD of the spawned processes has {} members, not {}", mpi.size, size));
    mpi.check(arguments_of_child() == arguments, finding::value,
              fmt::format("the arguments are [{}], expected [{}]", fmt::join(arguments_of_child(), "] ["),
                          fmt::join(arguments, "] [")));
    int* number = nullptr;
    int flag = 0;
    mpi.ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
    if (mpi.check(flag != 0, finding::value, "a spawned process has no MPI_APPNUM"))
        mpi.check(*number == command, finding::value, fmt::format("MPI_APPNUM is {}, expected {}", *number, command));
}

} // namespace

ASSAY_TEST(dynamic, spawn,
           requirements{"dynamic.spawn", "dynamic.spawn.order", "dynamic.errcodes", "dynamic.get_parent",
                        "dynamic.appnum", "dynamic.disconnect", "dynamic.merge"},
           over(axis_use{&sequels}, axis_use{&numbers()}, axis_use{&roots()}, axis_use{&code_arrays},
                communicators::few_intra(), few_types(), few_counts())) {
    int const n = mpi.at(numbers()), ranks = parents(mpi);
    auto const sequel = mpi.at(sequels);
    MPI_Comm link = MPI_COMM_NULL;
    if (is_child()) {
        link = to_parents(mpi);
        if (link == MPI_COMM_NULL) return;
        check_self(mpi, n, 0, {});
    } else {
        int const root = mpi.at(roots()) ? mpi.size - 1 : 0;
        child_command command(mpi, {});
        std::vector<int> codes(static_cast<std::size_t>(n) + 1, poisoned_code);
        bool const array = mpi.at(code_arrays);
        bool const here = mpi.rank == root; // what else stands before root is not looked at
        if (!started(mpi, MPI_Comm_spawn(here ? command.program() : nullptr, here ? command.arguments() : nullptr,
                                         here ? n : -1, MPI_INFO_NULL, root, mpi.comm, &link,
                                         array ? codes.data() : MPI_ERRCODES_IGNORE)))
            return;
        if (array) check_codes(mpi, codes, n);
        MPI_Comm parent = link; // anything but MPI_COMM_NULL
        mpi.ok(MPI_Comm_get_parent(&parent));
        mpi.check(parent == MPI_COMM_NULL, finding::value,
                  "MPI_Comm_get_parent gives a communicator in a process not spawned");
    }
    membership const here = is_child() ? membership{.rank = mpi.rank, .size = n, .remote_size = ranks, .side = 1}
                                       : membership{.rank = mpi.rank, .size = ranks, .remote_size = n};
    talk(mpi, link, here);
    if (sequel == then::merge) {
        MPI_Comm merged = MPI_COMM_NULL;
        // The group that gives a true `high` comes last.
        if (mpi.ok(MPI_Intercomm_merge(link, is_child() ? 1 : 0, &merged))) {
            talk(mpi, merged, {.rank = (is_child() ? ranks : 0) + mpi.rank, .size = ranks + n});
            disconnect(mpi, merged);
        }
    }
    if (sequel == then::dup) {
        MPI_Comm copy = MPI_COMM_NULL;
        if (mpi.ok(MPI_Comm_dup(link, &copy))) {
            disconnect(mpi, link);
            if (is_child()) {
                MPI_Comm parent = copy;
                mpi.ok(MPI_Comm_get_parent(&parent));
                mpi.check(parent == MPI_COMM_NULL, finding::value,
                          "MPI_Comm_get_parent gives a communicator after that to the parents was disconnected");
            }
            link = copy;
        }
    }
    part(mpi, link);
}

ASSAY_TEST(dynamic, spawn_arguments, requirements{"dynamic.argv"},
           over(axis_use{&argument_lists}, communicators::few_intra())) {
    auto const arguments = of(mpi.at(argument_lists));
    MPI_Comm link = MPI_COMM_NULL;
    if (is_child()) {
        link = to_parents(mpi);
        if (link == MPI_COMM_NULL) return;
        check_self(mpi, 1, 0, arguments);
    } else {
        child_command command(mpi, arguments);
        if (!started(mpi, MPI_Comm_spawn(command.program(), command.arguments(), 1, MPI_INFO_NULL, 0, mpi.comm, &link,
                                         MPI_ERRCODES_IGNORE)))
            return;
    }
    part(mpi, link);
}

ASSAY_TEST(dynamic, spawn_multiple,
           requirements{"dynamic.spawn_multiple", "dynamic.errcodes", "dynamic.appnum", "dynamic.argv",
                        "dynamic.disconnect"},
           over(axis_use{&numbers()}, axis_use{&roots()}, axis_use{&code_arrays}, communicators::few_intra(),
                few_types(), few_counts()),
           note{"children is the number of processes of the first command; the second has one"}) {
    int const first = mpi.at(numbers()), n = first + 1, ranks = parents(mpi);
    std::vector<std::string> const arguments[2] = {{"first"}, {"the", "second"}};
    MPI_Comm link = MPI_COMM_NULL;
    if (is_child()) {
        link = to_parents(mpi);
        if (link == MPI_COMM_NULL) return;
        int const command = mpi.rank < first ? 0 : 1;
        check_self(mpi, n, command, arguments[command]);
    } else {
        int const root = mpi.at(roots()) ? mpi.size - 1 : 0;
        child_command commands[2] = {{mpi, arguments[0]}, {mpi, arguments[1]}};
        char* programs[2] = {commands[0].program(), commands[1].program()};
        char** lists[2] = {commands[0].arguments(), commands[1].arguments()};
        int const most[2] = {first, 1};
        MPI_Info const infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
        std::vector<int> codes(static_cast<std::size_t>(n) + 1, poisoned_code);
        bool const array = mpi.at(code_arrays);
        if (!started(mpi, MPI_Comm_spawn_multiple(2, programs, lists, most, infos, root, mpi.comm, &link,
                                                  array ? codes.data() : MPI_ERRCODES_IGNORE)))
            return;
        if (array) check_codes(mpi, codes, n);
    }
    talk(mpi, link,
         is_child() ? membership{.rank = mpi.rank, .size = n, .remote_size = ranks, .side = 1}
                    : membership{.rank = mpi.rank, .size = ranks, .remote_size = n});
    part(mpi, link);
}

ASSAY_TEST(dynamic, universe, requirements{"dynamic.get_parent", "dynamic.universe_size"},
           over(communicators::few_intra()), thread_safe{}) {
    MPI_Comm parent = MPI_COMM_SELF;
    mpi.ok(MPI_Comm_get_parent(&parent));
    mpi.check(parent == MPI_COMM_NULL, finding::value,
              "MPI_Comm_get_parent gives a communicator in a process not spawned");
    int* universe = nullptr;
    int flag = -7;
    mpi.ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
    // It need not be set.
    if (mpi.check(flag != -7, finding::value, "MPI_Comm_get_attr did not set its flag") && flag != 0)
        mpi.check(*universe >= 1, finding::value, fmt::format("MPI_UNIVERSE_SIZE is {}", *universe));
}
