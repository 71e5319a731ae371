#include "framework/process/event_log.hpp"

#include "framework/plan/names.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay {
namespace {

// A full disk must end the rank at once: a verdict that was not written is no verdict.
[[noreturn]] void cannot_write() {
    char const* why = std::strerror(errno);
    char text[256];
    auto const end = fmt::format_to_n(text, sizeof text, "assay-suite: cannot write the event log: {}\n", why);
    [[maybe_unused]] auto const ignored = ::write(2, text, std::min(end.size, sizeof text));
    syscall(SYS_exit_group, 4);
    __builtin_unreachable();
}

void write_all(int fd, char const* data, std::size_t size) {
    while (size > 0) {
        auto const n = ::write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) cannot_write();
        data += n;
        size -= static_cast<std::size_t>(n);
    }
}

} // namespace

event_log& events() {
    static event_log log;
    return log;
}

long long event_log::now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

void event_log::open(std::string const& path) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd_ < 0) throw wrong_use{fmt::format("cannot write the event log {}: {}", path, std::strerror(errno))};
}

void event_log::write_out() {
    std::size_t const size = pending_size_;
    pending_size_ = 0;
    write_all(fd_, pending_, size);
}

void event_log::append(std::string_view text, bool flush) {
    if (fd_ < 0) return;
    std::lock_guard const lock(mutex_);
    if (pending_size_ + text.size() > sizeof pending_) {
        write_out();
        if (text.size() > sizeof pending_) return write_all(fd_, text.data(), text.size());
    }
    std::memcpy(pending_ + pending_size_, text.data(), text.size());
    pending_size_ = pending_size_ + text.size();
    if (flush) write_out();
}

void event_log::hello(std::string_view json) { append(fmt::format("H {}\n", json), true); }

void event_log::begin(long index) {
    current_ = index;
    if (fd_ < 0) return;
    char text[64];
    auto const end = fmt::format_to_n(text, sizeof text, FMT_STRING("S {} {}\n"), index, now());
    append({text, end.size}, true);
}

void event_log::finding(long index, std::string_view json) { append(fmt::format("F {} {}\n", index, json), true); }

void event_log::end(long index, char status, std::string_view reason) {
    if (fd_ >= 0) {
        char text[512];
        auto const end = fmt::format_to_n(text, sizeof text - 1, FMT_STRING("E {} {} {}{}{}"), index, now(), status,
                                          reason.empty() ? "" : " ", reason);
        auto const size = std::min(end.size, sizeof text - 1);
        text[size] = '\n';
        append({text, size + 1}, false);
    }
    current_ = -1;
}

void event_log::erroneous() { append(fmt::format("W {}\n", current_), true); }

void event_log::announce_end(int code) {
    append(code < 0 ? fmt::format("A {} {{}}\n", now()) : fmt::format("A {} {{\"exit\":{}}}\n", now(), code), true);
}

void event_log::done() { append(fmt::format("D {}\n", now()), true); }
void event_log::bye() { append(fmt::format("Z {}\n", now()), true); }

void event_log::dying(char const* line, std::size_t size) {
    std::size_t const kept = pending_size_;
    if (kept > 0) {
        [[maybe_unused]] auto const ignored = ::write(fd_, pending_, kept);
        pending_size_ = 0;
    }
    // By hand, and in a spawned process, the last words go where people and the parents look.
    [[maybe_unused]] auto const ignored = ::write(fd_ < 0 ? 2 : fd_, line, size);
}

} // namespace assay
