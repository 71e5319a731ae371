// Ports (MPI-5.0 section 11.9): MPI_Open_port, MPI_Comm_accept and MPI_Comm_connect between the two halves of a communicator
// and between ranks and processes that they spawned; published names.
#include "suites/dynamic/dynamic.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

using namespace assay;
using namespace assay::dynamic;

namespace {

axis<bool> const servers("server", {{{"lower", "the lower half accepts, the upper one connects"}, true},
                                    {{"upper", "the other way round"}, false}});

constexpr std::size_t guard_size = 16;
using port_name = std::vector<char>; // with a guard after

port_name no_port() { return port_name(MPI_MAX_PORT_NAME + guard_size, static_cast<char>(poison_byte)); }

bool ends_in_time(test_run& mpi, port_name const& name) {
    bool const guarded = std::all_of(name.begin() + MPI_MAX_PORT_NAME, name.end(),
                                     [](char c) { return c == static_cast<char>(poison_byte); });
    mpi.check(guarded, finding::guard, "a port name was written beyond MPI_MAX_PORT_NAME characters");
    return mpi.check(std::memchr(name.data(), 0, MPI_MAX_PORT_NAME) != nullptr, finding::value,
                     "a port name does not end within MPI_MAX_PORT_NAME characters");
}

// An empty name when there is no port: the others have to know.
port_name open_port(test_run& mpi) {
    auto name = no_port();
    if (!mpi.ok(MPI_Open_port(MPI_INFO_NULL, name.data())) || !ends_in_time(mpi, name)) name[0] = '\0';
    return name;
}

void tell(test_run& mpi, port_name& name, int root) {
    mpi.ok(MPI_Bcast(name.data(), MPI_MAX_PORT_NAME, MPI_CHAR, root, mpi.comm));
}

needs two_ranks() {
    return {
        [](job const& j) { return j.np >= 2 ? std::string() : std::string("needs at least 2 ranks; this job has 1"); }};
}

axis_use all_ranks() { return communicators::of({"world", "reversed"}); }

} // namespace

ASSAY_TEST(dynamic, connect, requirements{"dynamic.port", "dynamic.accept", "dynamic.disconnect"},
           over(axis_use{&servers}, axis_use{&roots()}, all_ranks(), few_types(), few_counts()), two_ranks(),
           note{"two connections through the same port"}) {
    int const half = mpi.size / 2;
    bool const lower = mpi.rank < half, server = lower == mpi.at(servers);
    int const size = lower ? half : mpi.size - half, rank = lower ? mpi.rank : mpi.rank - half;
    int const root = mpi.at(roots()) ? size - 1 : 0; // in each half
    MPI_Comm group = MPI_COMM_NULL;
    if (!mpi.ok(MPI_Comm_split(mpi.comm, lower ? 0 : 1, mpi.rank, &group))) return;
    mpi.ok(MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN));
    auto port = server && rank == root ? open_port(mpi) : no_port();
    int const servers_first = mpi.at(servers) ? 0 : half;
    int const servers_last = mpi.at(servers) ? half - 1 : mpi.size - 1;
    tell(mpi, port, mpi.at(roots()) ? servers_last : servers_first);
    for (int round = 0; round < 2 && port[0] != '\0'; ++round) {
        MPI_Comm link = MPI_COMM_NULL;
        char const* const name = rank == root ? port.data() : nullptr; // significant at the roots only
        if (!mpi.ok(server ? MPI_Comm_accept(name, MPI_INFO_NULL, root, group, &link)
                           : MPI_Comm_connect(name, MPI_INFO_NULL, root, group, &link)))
            break;
        talk(mpi, link, {.rank = rank, .size = size, .remote_size = mpi.size - size, .side = server ? 0 : 1});
        disconnect(mpi, link);
    }
    if (server && rank == root && port[0] != '\0') mpi.ok(MPI_Close_port(port.data()));
    mpi.ok(MPI_Comm_free(&group));
}

// One process accepts all others, each by itself, and does so again: through the same port, or through a new one in each round.
namespace {
axis<bool> const ports("port",
                       {{{"same", "all rounds through one port"}, false}, {{"new", "a port for each round"}, true}});
}

ASSAY_TEST(
    dynamic, star, requirements{"dynamic.port", "dynamic.accept", "dynamic.disconnect"},
    over(axis_use{&ports}, axis_use{&roots()}, all_ranks()), two_ranks(),
    note{"four rounds in which all processes but one connect by themselves; the links of a round are open at once"}) {
    int const hub = mpi.at(roots()) ? mpi.size - 1 : 0;
    bool const here = mpi.rank == hub;
    auto port = no_port();
    for (int round = 0; round < 4; ++round) {
        if (round == 0 || mpi.at(ports)) {
            if (here) port = open_port(mpi);
            tell(mpi, port, hub);
        }
        if (port[0] == '\0') return;
        std::vector<MPI_Comm> links(here ? static_cast<std::size_t>(mpi.size) - 1 : 1, MPI_COMM_NULL);
        std::vector<int> heard(static_cast<std::size_t>(mpi.size), 0); // how often each process was heard
        for (auto& link : links) {
            if (!mpi.ok(here ? MPI_Comm_accept(port.data(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &link)
                             : MPI_Comm_connect(port.data(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &link)))
                return;
            mpi.ok(MPI_Comm_set_errhandler(link, MPI_ERRORS_RETURN));
        }
        // Each tells its number, and gets it back with what all numbers make.
        int const total = mpi.size * (mpi.size - 1) / 2 - hub;
        if (here) {
            std::vector<int> numbers;
            for (auto link : links) {
                int number = -7;
                mpi.ok(MPI_Recv(&number, 1, MPI_INT, 0, round, link, MPI_STATUS_IGNORE));
                if (mpi.check(number >= 0 && number < mpi.size && number != hub, finding::data,
                              fmt::format("round {}: the number {} came over a link", round, number)))
                    ++heard[static_cast<std::size_t>(number)];
                numbers.push_back(number);
            }
            for (int rank = 0; rank < mpi.size; ++rank)
                mpi.check(heard[static_cast<std::size_t>(rank)] == (rank == hub ? 0 : 1), finding::data,
                          fmt::format("round {}: process {} was heard {} times", round, rank,
                                      heard[static_cast<std::size_t>(rank)]));
            for (std::size_t i = 0; i < links.size(); ++i) {
                int const answer[2] = {numbers[i], total};
                mpi.ok(MPI_Send(answer, 2, MPI_INT, 0, round, links[i]));
            }
        } else {
            int answer[2] = {-7, -7};
            mpi.ok(MPI_Send(&mpi.rank, 1, MPI_INT, 0, round, links[0]));
            mpi.ok(MPI_Recv(answer, 2, MPI_INT, 0, round, links[0], MPI_STATUS_IGNORE));
            mpi.check(answer[0] == mpi.rank && answer[1] == total, finding::data,
                      fmt::format("round {}: the answer is {} and {}, expected {} and {}", round, answer[0], answer[1],
                                  mpi.rank, total));
        }
        for (auto& link : links) disconnect(mpi, link);
        if (here && (mpi.at(ports) || round == 3)) mpi.ok(MPI_Close_port(port.data()));
    }
}

ASSAY_TEST(dynamic, connect_spawned,
           requirements{"dynamic.port", "dynamic.accept", "dynamic.spawn", "dynamic.disconnect"},
           over(axis_use{&numbers()}, all_ranks(), few_types(), few_counts()),
           note{"the spawned processes connect to a port of their parents"}) {
    int const n = mpi.at(numbers()), ranks = parents(mpi);
    MPI_Comm link = MPI_COMM_NULL, second = MPI_COMM_NULL;
    auto port = no_port();
    bool const first = mpi.rank == 0;
    if (is_child()) {
        link = to_parents(mpi);
        if (link == MPI_COMM_NULL) return;
        if (first) mpi.ok(MPI_Recv(port.data(), MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, link, MPI_STATUS_IGNORE));
        tell(mpi, port, 0);
        if (port[0] != '\0') mpi.ok(MPI_Comm_connect(port.data(), MPI_INFO_NULL, 0, mpi.comm, &second));
    } else {
        if (first) port = open_port(mpi);
        tell(mpi, port, 0);
        child_command command(mpi, {});
        if (!started(mpi, MPI_Comm_spawn(command.program(), command.arguments(), n, MPI_INFO_NULL, 0, mpi.comm, &link,
                                         MPI_ERRCODES_IGNORE)))
            return;
        if (first) mpi.ok(MPI_Send(port.data(), MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, link));
        if (port[0] != '\0') mpi.ok(MPI_Comm_accept(port.data(), MPI_INFO_NULL, 0, mpi.comm, &second));
    }
    if (second != MPI_COMM_NULL) {
        talk(mpi, second,
             is_child() ? membership{.rank = mpi.rank, .size = n, .remote_size = ranks, .side = 1}
                        : membership{.rank = mpi.rank, .size = ranks, .remote_size = n});
        disconnect(mpi, second);
    }
    if (!is_child() && first && port[0] != '\0') mpi.ok(MPI_Close_port(port.data()));
    part(mpi, link);
}

ASSAY_TEST(dynamic, publish, requirements{"dynamic.port", "dynamic.publish"}, over(all_ranks()),
           note{"rank 0 publishes a port, the last rank looks it up"}) {
    bool const publisher = mpi.rank == 0, seeker = mpi.rank == mpi.size - 1;
    auto port = publisher ? open_port(mpi) : no_port(), found = no_port();
    tell(mpi, port, 0);
    std::vector<char> service(64, '\0');
    // Names may be those of the whole machine.
    if (publisher) fmt::format_to_n(service.data(), service.size() - 1, "assay-{}-{}", getpid(), mpi.first_tag());
    mpi.ok(MPI_Bcast(service.data(), static_cast<int>(service.size()), MPI_CHAR, 0, mpi.comm));
    int code = MPI_SUCCESS, supported = 1;
    if (publisher && port[0] != '\0') {
        code = MPI_Publish_name(service.data(), MPI_INFO_NULL, port.data());
        supported = code == MPI_SUCCESS;
    }
    mpi.ok(MPI_Bcast(&supported, 1, MPI_INT, 0, mpi.comm));
    auto const look = [&] { return MPI_Lookup_name(service.data(), MPI_INFO_NULL, found.data()); };
    if (supported != 0 && port[0] != '\0') {
        if (seeker && mpi.ok(look()) && ends_in_time(mpi, found))
            mpi.check(std::strcmp(found.data(), port.data()) == 0, finding::value,
                      fmt::format("MPI_Lookup_name gives \"{}\", published was \"{}\"", found.data(), port.data()));
        mpi.ok(MPI_Barrier(mpi.comm));
        if (publisher) mpi.ok(MPI_Unpublish_name(service.data(), MPI_INFO_NULL, port.data()));
        mpi.ok(MPI_Barrier(mpi.comm));
        if (seeker) {
            int error_class = MPI_SUCCESS;
            MPI_Error_class(look(), &error_class);
            mpi.check(error_class == MPI_ERR_NAME, finding::return_,
                      "MPI_Lookup_name of a name that is not published gives " + error_text(error_class) +
                          ", not MPI_ERR_NAME");
        }
    }
    if (publisher && port[0] != '\0') mpi.ok(MPI_Close_port(port.data()));
    if (supported == 0) // the standard lets a library publish nothing
        mpi.unsupported(publisher ? "MPI_Publish_name: " + error_text(code) : std::string("names cannot be published"));
}
