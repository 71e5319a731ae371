#include "framework/mpi/child.hpp"

#include "framework/mpi/attached.hpp"
#include "framework/mpi/engine.hpp"
#include "framework/mpi/subject.hpp"
#include "framework/process/signals.hpp"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

extern char** environ;

namespace assay {
namespace {

constexpr char const* child_option = "--child"; // followed by case, seed, number of initial ranks, file, arguments
constexpr int own_words = 6;

bool child = false;
std::vector<std::string> given;
constexpr std::string_view teller = "spawned process";
recorder findings;
std::vector<requirement> of_test; // what findings rest on

// What the ranks have in their environment and the launcher, which starts children, may not.
bool handed_on(std::string_view variable) {
    for (std::string_view name : {"LD_LIBRARY_PATH=", "LD_PRELOAD=", "ASSAY_", "MPIR_CVAR_"})
        if (variable.starts_with(name)) return true;
    return false;
}

std::string link_target(char const* path) {
    std::error_code error;
    return std::filesystem::read_symlink(path, error).string();
}

} // namespace

bool is_child() { return child; }

bool told_by_child(std::string_view text) {
    // Last words have the form that they have in an event log (event_log::dying).
    return text.find(teller) != std::string_view::npos || text.find("\"in_mpi\":") != std::string_view::npos;
}

std::vector<std::string> const& arguments_of_child() { return given; }

void tell_findings() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (auto const& message : findings.messages())
        if (!message.starts_with("advisory: ")) fmt::print(stderr, "{} {}: {}\n", teller, rank, message);
    std::fflush(stderr);
    findings.begin(0, of_test);
}

child_command::child_command(test_run const& mpi, std::vector<std::string> const& arguments) {
    for (char** variable = environ; *variable != nullptr; ++variable)
        if (handed_on(*variable)) words_.emplace_back(*variable);
    if (!words_.empty()) words_.insert(words_.begin(), "/usr/bin/env");
    struct stat s {};
    bool const file = fstat(2, &s) == 0 && S_ISREG(s.st_mode);
    for (auto const& word :
         {link_target("/proc/self/exe"), std::string(child_option), mpi.case_name(), std::to_string(mpi.the_job.seed),
          std::to_string(mpi.the_job.np), file ? link_target("/proc/self/fd/2") : std::string("-")})
        words_.push_back(word);
    words_.insert(words_.end(), arguments.begin(), arguments.end());
    for (auto& word : std::span(words_).subspan(1)) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
}

int run_as_child(int argc, char** argv) {
    if (argc < own_words || std::string_view(argv[1]) != child_option) return -1;
    child = true;
    set_subject(mpi_library());
    given.assign(argv + own_words, argv + argc);
    job the_job;
    the_job.seed = std::stoull(argv[3]);
    the_job.np = std::stoi(argv[4]);
    if (std::string_view const file = argv[5]; file != "-")
        if (int const fd = ::open(argv[5], O_WRONLY | O_APPEND | O_CLOEXEC); fd >= 0) {
            dup2(fd, 2);
            close(fd);
        }
    watch_runner();
    watch_for_death();
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    watch_for_death();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    auto const c = case_named(argv[2], the_job);
    membership place;
    MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &place.size);
    MPI_Comm const world = MPI_COMM_WORLD;
    std::unique_ptr<memory_pool> const pool = std::make_unique<memory_pool>();
    of_test = c.test->rests_on;
    findings.memory = requirement("terms.memory");
    findings.begin(0, of_test);
    run_body(findings, 0, [&] {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        for (std::size_t a = 0; a < c.values.size(); ++a)
            if (c.test->axes[a].axis == &type_axis()) type = type_axis().at(c.values[a]).make();
        test_run mpi({the_job, c, findings, world, place, type, case_key(c, the_job), 0, 0, {&pool, 1}, {&world, 1}});
        c.test->body(mpi);
    }); // the parents say when a case is unsupported
    tell_findings();
    MPI_Finalize();
    expect_normal_exit();
    return 0;
}

} // namespace assay
