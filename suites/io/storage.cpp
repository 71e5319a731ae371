#include "suites/io/storage.hpp"

#include "framework/process/layer.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace assay::io {
namespace {

// The calling thread gets mounts of its own, and a file system of `bytes` over `folder`. Returns "" or what failed.
std::string mount_over(std::string const& folder, std::size_t bytes) {
    auto const failed = [](char const* call) { return fmt::format("{}: {}", call, std::strerror(errno)); };
    if (unshare(CLONE_NEWNS) != 0) return failed("unshare");
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed("mount of /");
    if (mount("assay", folder.c_str(), "tmpfs", 0, fmt::format("size={}", bytes).c_str()) != 0)
        return failed("mount of a tmpfs");
    return "";
}

std::string working_directory() {
    char path[PATH_MAX] = "";
    return getcwd(path, sizeof path) != nullptr ? path : "/";
}

std::string machine() { // another one each time that a machine starts
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id;
}

} // namespace

std::size_t own_file_system::page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::string own_file_system::lacks(job const&) {
    // Tried in a thread, with whose end its namespace is gone.
    static std::string const reason = [] {
        std::string what;
        std::thread([&what] { what = mount_over("/", page()); }).join();
        return what.empty() ? what : "needs a file system of its own, which this process may not mount: " + what;
    }();
    return reason;
}

own_file_system::own_file_system(test_run& mpi, scratch_file const& scratch, std::size_t bytes)
    : mpi_(mpi),
      folder_(scratch.folder()),
      path_(scratch.path()),
      before_(working_directory()),
      home_(::open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC)) {
    auto const owner = folder_ + ".mounted"; // beside the folder, which the file system will cover
    if (mpi.rank == 0) {
        auto const wrong = mount_over(folder_, (bytes + page() - 1) / page() * page());
        mpi.check(wrong.empty(), finding::file, "no file system: " + wrong);
        std::ofstream(owner) << machine() << ' ' << gettid() << '\n';
    }
    meet(mpi);
    std::string where;
    int thread = 0;
    std::ifstream(owner) >> where >> thread;
    bool const here = where == machine();
    if (!here) std::ofstream(owner + ".elsewhere") << '\n';
    if (here && mpi.rank != 0) {
        // A thread that shares its working directory with others may not change namespaces.
        int const there = ::open(fmt::format("/proc/{}/ns/mnt", thread).c_str(), O_RDONLY | O_CLOEXEC);
        bool const entered =
            there >= 0 && unshare(CLONE_FS) == 0 && setns(there, CLONE_NEWNS) == 0 && chdir(before_.c_str()) == 0;
        mpi.check(entered, finding::file, fmt::format("rank 0's file system cannot be seen: {}", std::strerror(errno)));
        if (there >= 0) ::close(there);
    }
    meet(mpi);
    if (::access((owner + ".elsewhere").c_str(), F_OK) != 0) return;
    leave();
    mpi.unsupported("the ranks run on several machines, which cannot share a file system made by one of them");
}

own_file_system::~own_file_system() { leave(); }

void own_file_system::leave() {
    meet(mpi_); // all have entered, and have looked who stands elsewhere
    if (mpi_.rank == 0)
        for (auto const* end : {".mounted", ".mounted.elsewhere"}) ::unlink((folder_ + end).c_str());
    if (home_ < 0) return;
    // Threads that the library made meanwhile share the working directory of this one, which setns(2) does not allow.
    if (unshare(CLONE_FS) != 0 || setns(home_, CLONE_NEWNS) != 0 || chdir(before_.c_str()) != 0)
        mpi_.check(false, finding::file, fmt::format("the file system cannot be left: {}", std::strerror(errno)));
    ::close(home_);
}

bool own_file_system::write(std::vector<unsigned char> const& content) const {
    int const fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    auto const n = fd < 0 ? -1 : ::write(fd, content.data(), content.size());
    if (fd >= 0) ::close(fd);
    return n == static_cast<ssize_t>(content.size());
}

void own_file_system::fill() const {
    int const fd = ::open((folder_ + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    std::vector<char> const block(page(), 'f');
    while (fd >= 0 && ::write(fd, block.data(), block.size()) > 0) {}
    if (fd >= 0) ::close(fd);
}

void own_file_system::make_read_only() const {
    bool const done = mount(nullptr, folder_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0;
    mpi_.check(done, finding::file, fmt::format("the file system cannot be made read-only: {}", std::strerror(errno)));
}

// ---- A limit on the size of files

std::string file_size_limit::lacks(job const&) {
    rlimit now{};
    getrlimit(RLIMIT_FSIZE, &now);
    return now.rlim_cur == RLIM_INFINITY ? "" : "RLIMIT_FSIZE is set already";
}

file_size_limit::file_size_limit(std::size_t bytes) {
    rlimit now{};
    getrlimit(RLIMIT_FSIZE, &now);
    before_ = now.rlim_cur;
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
    if (recorded) tell_layer({.event = "limit", .text = std::to_string(bytes).c_str()});
}

file_size_limit::~file_size_limit() {
    rlimit now{};
    getrlimit(RLIMIT_FSIZE, &now);
    now.rlim_cur = before_;
    setrlimit(RLIMIT_FSIZE, &now);
    if (recorded) tell_layer({.event = "limit", .text = "none"});
    std::signal(SIGXFSZ, handler_);
}

// ---- Permissions

namespace {
// Whether the calling thread has CAP_DAC_OVERRIDE in effect; `wanted` puts it there or takes it away.
bool overrides_permissions(bool const* wanted) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    if (syscall(SYS_capget, &header, data) != 0) return false;
    constexpr auto bit = 1u << CAP_DAC_OVERRIDE;
    bool const had = (data[0].effective & bit) != 0;
    if (wanted != nullptr) {
        data[0].effective = *wanted ? data[0].effective | bit : data[0].effective & ~bit;
        syscall(SYS_capset, &header, data);
    }
    return had;
}
} // namespace

bound_by_permissions::bound_by_permissions() {
    bool const wanted = false;
    had_ = overrides_permissions(&wanted);
}

bound_by_permissions::~bound_by_permissions() {
    if (had_) overrides_permissions(&had_);
}

} // namespace assay::io
