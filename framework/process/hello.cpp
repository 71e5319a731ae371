#include "framework/process/hello.hpp"

#include "framework/process/event_log.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>
#include <xxhash.h>

namespace assay {

std::string hash_of_file(char const* path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate); // at the end, whose position is the size
    std::string bytes(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
    file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

void open_logs(std::string const& job_directory, int rank) {
    events().open(fmt::format("{}/rank-{}.events", job_directory, rank));
    auto const path = fmt::format("{}/rank-{}.stderr", job_directory, rank);
    if (int const fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644); fd >= 0) {
        dup2(fd, 2);
        close(fd);
    }
}

void say_hello(greeting const& hello) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    nlohmann::ordered_json const json = {{"rank", hello.rank},
                                         {"size", hello.size},
                                         {"pid", getpid()},
                                         {"host", host},
                                         {"plan", fmt::format("{:016x}", hello.plan)},
                                         {"seed", hello.seed},
                                         {"binary", hash_of_file("/proc/self/exe")},
                                         {"library", hello.library},
                                         {"mpi", hello.mpi},
                                         {"thread_level", hello.thread_level},
                                         {"library_path", hello.library_path}};
    events().hello(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::size_t wait_for_go(std::string const& job_directory) {
    auto const go = job_directory + "/go";
    // A job that was launched ahead of need waits for long, beside one that runs: it should not take much of the processor.
    constexpr std::chrono::milliseconds longest{10};
    for (std::chrono::milliseconds pause{1}; access(go.c_str(), F_OK) != 0; pause = std::min(pause * 2, longest))
        std::this_thread::sleep_for(pause);
    std::size_t first = 0;
    std::ifstream(go) >> first;
    return first;
}

std::string scratch_of_job(std::string const& job_directory) {
    auto const* local = std::getenv("ASSAY_SCRATCH");
    return local != nullptr && *local != '\0' ? local : job_directory;
}

} // namespace assay
