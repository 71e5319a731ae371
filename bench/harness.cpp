// assay-bench: what a case costs beyond the MPI calls in it. Cases go through the same GoogleTest registration, engine,
// event log and hooks as in assay-suite; the tests are made here and appear in no list.
//   mpiexec -n 2 assay-bench --job=DIR [--empty=N] [--ping=N] [--rounds=N]
// Rank 0 writes DIR/bench.json: for each kind (empty, self, bare_self, ping, bare_ping)
// and round, seconds of wall and CPU time by rank.
#include "framework/mpi/engine.hpp"
#include "framework/mpi/subject.hpp"
#include "framework/process/case_test.hpp"
#include "framework/process/event_log.hpp"

#include <CLI/CLI.hpp>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace {
using namespace assay;

double seconds(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int partner_of(int rank, int size) {
    int const other = rank ^ 1;
    return other < size ? other : -1; // an odd number of ranks leaves one alone
}

constexpr std::size_t kinds_in_a_round = 5;

void nothing(case_context&) {}

// Eight bytes there and eight bytes back.
void ping(case_context& context) {
    auto& mpi = static_cast<test_run&>(context);
    int const partner = partner_of(mpi.rank, mpi.size);
    if (partner < 0) return;
    auto &out = mpi.outgoing(partner), &in = mpi.incoming();
    auto status = poisoned_status();
    if (mpi.rank % 2 == 0) mpi.ok(MPI_Send(out, mpi.count, mpi.type, partner, mpi.tag(), mpi.comm));
    mpi.ok(MPI_Recv(in, mpi.count, mpi.type, partner, mpi.tag(), mpi.comm, &status));
    if (mpi.rank % 2 != 0) mpi.ok(MPI_Send(out, mpi.count, mpi.type, partner, mpi.tag(), mpi.comm));
    mpi.expect(status).source(partner).tag(mpi.tag()).count(mpi.elements).not_cancelled();
    in.expect(mpi.key_from(partner), mpi.elements, "from the partner");
    out.expect_unchanged();
}

// The MPI calls of `ping` and nothing else.
void bare_loop(int times) {
    int rank = 0, size = 1, count = 0, cancelled = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const partner = partner_of(rank, size);
    if (partner < 0) return;
    double out = 1.0, in = 0.0;
    MPI_Status status;
    for (int i = 0; i < times; ++i) {
        int const tag = i % 1024 * 16;
        if (rank % 2 == 0) MPI_Send(&out, 1, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &status);
        if (rank % 2 != 0) MPI_Send(&out, 1, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        MPI_Test_cancelled(&status, &cancelled);
    }
}

// The same with oneself: nobody to wait for, so that the cost can be seen on a busy machine.
void self_ping(case_context& context) {
    auto& mpi = static_cast<test_run&>(context);
    auto &out = mpi.outgoing(mpi.rank), &in = mpi.incoming();
    auto status = poisoned_status();
    mpi.ok(MPI_Sendrecv(out, mpi.count, mpi.type, mpi.rank, mpi.tag(), in, mpi.count, mpi.type, mpi.rank, mpi.tag(),
                        mpi.comm, &status));
    mpi.expect(status).source(mpi.rank).tag(mpi.tag()).count(mpi.elements).not_cancelled();
    in.expect(mpi.key_from(mpi.rank), mpi.elements, "from oneself");
    out.expect_unchanged();
}

void bare_self(int times) {
    int rank = 0, count = 0, cancelled = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double out = 1.0, in = 0.0;
    MPI_Status status;
    for (int i = 0; i < times; ++i) {
        int const tag = i % 1024 * 16;
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, rank, tag, &in, 1, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        MPI_Test_cancelled(&status, &cancelled);
    }
}

class bare_test : public testing::Test {
public:
    bare_test(void (*loop)(int), int times) : loop_(loop), times_(times) {}
    void TestBody() override { loop_(times_); }

private:
    void (*loop_)(int);
    int times_;
};

struct span {
    std::string kind;
    int cases;
    double wall = 0, cpu = 0;
};

// Times each GoogleTest suite: one kind in one round.
class stopwatch : public testing::EmptyTestEventListener {
public:
    void OnTestSuiteStart(testing::TestSuite const&) override {
        MPI_Barrier(MPI_COMM_WORLD);
        wall_ = seconds(CLOCK_MONOTONIC);
        cpu_ = seconds(CLOCK_THREAD_CPUTIME_ID);
    }
    void OnTestSuiteEnd(testing::TestSuite const& suite) override {
        std::string const name = suite.name();
        spans.push_back({name.substr(0, name.find('-')), suite.total_test_count(), seconds(CLOCK_MONOTONIC) - wall_,
                         seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_});
    }
    std::vector<span> spans;

private:
    double wall_ = 0, cpu_ = 0;
};

template <class Axis> std::size_t index_of(Axis const& axis, std::string const& name) {
    for (std::size_t i = 0; i < axis.size(); ++i)
        if (axis.info(i).name == name) return i;
    throw wrong_use{fmt::format("assay-bench: there is no {}={}", axis.name(), name)};
}

} // namespace

int main(int argc, char** argv) {
    set_subject(mpi_library());
    std::string directory;
    int empty = 20'000, pings = 10'000, rounds = 7;
    testing::InitGoogleTest(&argc, argv);
    CLI::App app{"What a case costs beyond the MPI calls in it.", "assay-bench"};
    app.add_option("--job", directory, "folder for event logs and bench.json")
        ->required()
        ->check(CLI::ExistingDirectory);
    app.add_option("--empty", empty, "cases without a body, each round")->check(CLI::PositiveNumber);
    app.add_option("--ping", pings, "8-byte cases, each round")->check(CLI::PositiveNumber);
    app.add_option("--rounds", rounds, "repetitions")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);

    int provided = 0, rank = 0;
    job the_job;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &the_job.np);
    events().open(fmt::format("{}/rank-{}.events", directory, rank));
    // As under the runner: the hook looks at a file.
    if (int const fd = ::open(fmt::format("{}/rank-{}.stderr", directory, rank).c_str(),
                              O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        fd >= 0) {
        dup2(fd, 2);
        close(fd);
    }
    auto const everywhere = [] { return over(communicators::any(), datatypes::all(), counts::ladder()); };
    test const empty_test("bench", "empty", __FILE__, __LINE__, nothing, everywhere());
    test const self_test("bench", "self", __FILE__, __LINE__, self_ping, everywhere());
    test const ping_test("bench", "ping", __FILE__, __LINE__, ping, everywhere());
    std::vector<std::size_t> const point = {index_of(comm_axis(), "world"), index_of(type_axis(), "double"),
                                            index_of(count_ladder(), "1")};
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    auto* const watch = new stopwatch;
    listeners.Append(watch);
    int failed = 0;
    {
        engine e(the_job);
        case_runner const run = [&e](planned_case const& one, long at) { return e.run(one, at); };
        long index = 0;
        auto const add = [&](std::string const& suite, test const& t, int times) {
            for (int i = 0; i < times; ++i, ++index) {
                planned_case c{&t, point, ""};
                testing::RegisterTest(suite.c_str(), c.name().c_str(), nullptr, nullptr, t.file, t.line,
                                      [&run, c, index]() -> testing::Test* { return new case_test(run, c, index); });
            }
        };
        auto const add_bare = [&](std::string const& suite, void (*loop)(int)) {
            testing::RegisterTest(suite.c_str(), "loop", nullptr, nullptr, __FILE__, __LINE__,
                                  [loop, pings]() -> testing::Test* { return new bare_test(loop, pings); });
        };
        for (int round = 0; round <= rounds; ++round) { // the first one warms up
            add(fmt::format("empty-{}", round), empty_test, empty);
            add(fmt::format("self-{}", round), self_test, pings);
            add_bare(fmt::format("bare_self-{}", round), bare_self);
            add(fmt::format("ping-{}", round), ping_test, pings);
            add_bare(fmt::format("bare_ping-{}", round), bare_loop);
        }
        failed = RUN_ALL_TESTS();
        events().done();
        e.tear_down();
    }
    auto kinds = nlohmann::ordered_json::array();
    for (std::size_t i = kinds_in_a_round; i < watch->spans.size(); ++i) {
        auto const& s = watch->spans[i];
        double const mine[2] = {s.wall, s.cpu};
        std::vector<double> all(2 * static_cast<std::size_t>(the_job.np));
        MPI_Gather(mine, 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        std::vector<double> wall, cpu;
        for (std::size_t r = 0; r < all.size(); r += 2) {
            wall.push_back(all[r]);
            cpu.push_back(all[r + 1]);
        }
        kinds.push_back(
            {{"kind", s.kind}, {"cases", s.kind.starts_with("bare") ? pings : s.cases}, {"wall", wall}, {"cpu", cpu}});
    }
    if (rank == 0) std::ofstream(directory + "/bench.json") << kinds.dump() << "\n";
    MPI_Finalize();
    return failed;
}
