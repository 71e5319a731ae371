#include "framework/process/signals.hpp"

#include "framework/process/calls.hpp"
#include "framework/process/event_log.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#ifdef __SANITIZE_ADDRESS__
// Asked by the sanitizers' runtime; in spawned processes, too, which no environment reaches. Signals are our business, and
// what an MPI library that is not instrumented keeps until its end is not ours.
extern "C" __attribute__((visibility("default"))) char const* __asan_default_options() {
    return "allocator_may_return_null=1:detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:"
           "handle_sigill=0";
}
extern "C" __attribute__((visibility("default"))) char const* __ubsan_default_options() {
    return "print_stacktrace=1:halt_on_error=1";
}
#endif

namespace assay {
namespace {

std::atomic<bool> normal_exit{false};
std::atomic<bool> said{false}; // only the first cause of death is told
pid_t own_pid = 0;             // a forked child of the library is not this rank

// From exit() on: its code, and the call in which it was called. What exit handlers call says nothing of why they run.
std::atomic<bool> exiting{false};
int exit_code = 0;
char const* exit_call = "";
bool exit_inside = false;

// The unwinder names the nearest exported symbol before an address, which may end long before it: in a library without
// other symbols that is a name of some function far away. Then the frame is called by the library and the offset in it.
void name_within_symbol(unw_word_t ip, char* name, std::size_t size, unw_word_t& offset) {
    Dl_info covering, beginning;
    // dladdr(3) knows exported symbols only, and the size of each.
    if (dladdr(reinterpret_cast<void*>(ip), &covering) == 0 || covering.dli_sname != nullptr) return;
    bool const exported = dladdr(reinterpret_cast<void*>(ip - offset), &beginning) != 0 &&
                          beginning.dli_sname != nullptr && std::strcmp(beginning.dli_sname, name) == 0;
    if (!exported && std::strcmp(name, "?") != 0) return; // a symbol of our own program, which exports few
    char const* const slash = std::strrchr(covering.dli_fname, '/');
    char const* const file = slash != nullptr ? slash + 1 : covering.dli_fname;
    std::size_t const length = std::min(std::strlen(file), size - 1);
    std::memcpy(name, file, length);
    name[length] = '\0';
    offset = ip - reinterpret_cast<unw_word_t>(covering.dli_fbase);
}

// Text built with async-signal-safe means only (signal-safety(7)).
class safe_line {
public:
    safe_line& operator<<(char const* text) {
        while (*text != '\0' && used < sizeof data - 1) data[used++] = *text++;
        return *this;
    }
    safe_line& operator<<(long long number) {
        char digits[24];
        std::size_t n = 0;
        bool const negative = number < 0;
        auto rest = negative ? 0 - static_cast<unsigned long long>(number) : static_cast<unsigned long long>(number);
        do digits[n++] = static_cast<char>('0' + rest % 10);
        while ((rest /= 10) != 0);
        if (negative) digits[n++] = '-';
        while (n > 0 && used < sizeof data - 1) data[used++] = digits[--n];
        return *this;
    }
    safe_line& hex(std::uintptr_t number) {
        char digits[20];
        std::size_t n = 0;
        do digits[n++] = "0123456789abcdef"[number % 16];
        while ((number /= 16) != 0);
        while (n > 0 && used < sizeof data - 1) data[used++] = digits[--n];
        return *this;
    }
    // The stack of the interrupted code as a JSON list; leaves room for the end of the line.
    void stack(void* context) {
        *this << "\"stack\":[";
        unw_cursor_t cursor;
        auto* uc = static_cast<unw_context_t*>(context);
        unw_context_t here;
        if (uc == nullptr) {
            unw_getcontext(&here);
            uc = &here;
        }
        if (unw_init_local2(&cursor, uc, context != nullptr ? UNW_INIT_SIGNAL_FRAME : 0) == 0) {
            int depth = 0;
            do {
                char name[160] = "";
                unw_word_t offset = 0, ip = 0;
                unw_get_reg(&cursor, UNW_REG_IP, &ip);
                if (unw_get_proc_name(&cursor, name, sizeof name, &offset) != 0) std::strcpy(name, "?");
                name_within_symbol(ip, name, sizeof name, offset);
                if (used > sizeof data - 256) break;
                *this << (depth == 0 ? "\"" : ",\"") << name << "+0x";
                hex(offset) << " 0x";
                hex(ip) << "\"";
            } while (++depth < 40 && unw_step(&cursor) > 0);
        }
        *this << "]";
    }
    char data[8192];
    std::size_t used = 0;
};

char const* signal_name(int number) {
    switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGFPE: return "SIGFPE";
    case SIGABRT: return "SIGABRT";
    case SIGTERM: return "SIGTERM";
    case SIGINT: return "SIGINT";
    case SIGQUIT: return "SIGQUIT";
    case SIGXCPU: return "SIGXCPU";
    default: return "signal";
    }
}

void newest_call(safe_line& line) {
    char const* const call = exiting ? exit_call : last_call.name;
    bool const inside = exiting ? exit_inside : last_call.inside;
    line << "\"call\":\"" << call << "\",\"in_mpi\":" << (inside ? "true" : "false");
}

void call_and_stack(safe_line& line, void* context) {
    newest_call(line);
    line << ",";
    line.stack(context);
    line << "}\n";
}

void head(safe_line& line, char const* kind) {
    line << kind << " " << static_cast<long long>(events().current()) << " " << event_log::now() << " {";
}

// The unwinder asks malloc for memory. Where the process died inside malloc, which found its heap damaged, that never
// comes back: after a while the last words are said without a stack. Any thread may be the one that gets the alarm.
constexpr unsigned seconds_for_stack = 3;
std::atomic<int> dying_of{0};
std::atomic<char const*> dying_call{""};
std::atomic<bool> dying_inside{false};

void on_stuck(int) {
    safe_line line;
    head(line, "X");
    line << "\"signal\":\"" << signal_name(dying_of) << "\",\"call\":\"" << dying_call
         << "\",\"in_mpi\":" << (dying_inside ? "true" : "false") << ",\"stack\":[]}\n";
    events().dying(line.data, line.used);
    std::signal(dying_of, SIG_DFL);
    kill(own_pid, dying_of);
}

// Of an MPI library built with --coverage: writes its line counters, which else only exit() does. It is no
// async-signal-safe function; only who counts lines meets it.
void (*write_line_counters)() = nullptr;

void on_fatal(int number, siginfo_t*, void* context) {
    if (getpid() == own_pid && !said.exchange(true)) {
        dying_of = number;
        dying_call = last_call.name;
        dying_inside = last_call.inside;
        struct sigaction action {};
        action.sa_handler = on_stuck;
        sigaction(SIGALRM, &action, nullptr);
        alarm(seconds_for_stack);
        sigset_t questions;
        sigemptyset(&questions);
        sigaddset(&questions, SIGUSR2);
        pthread_sigmask(SIG_UNBLOCK, &questions, nullptr); // whoever asks from now on hears that it dies
        safe_line line;
        head(line, "X");
        line << "\"signal\":\"" << signal_name(number) << "\",";
        call_and_stack(line, context);
        alarm(0);
        events().dying(line.data, line.used);
        if (write_line_counters != nullptr) write_line_counters();
    }
    std::signal(number, SIG_DFL);
    raise(number);
}

std::atomic<pid_t> asked{0}; // a thread of the case that is to answer for the main one

// The system asks any thread when the main one has another signal to take, as that which makes it yield. The main one answers,
// unless it is in no call while another thread of the case is: that one then is what the case waits for.
void on_question(int number, siginfo_t*, void* context) {
    int const saved = errno;
    if (dying_of != 0) on_stuck(number); // asked while it waits for its stack: the cause of death is the answer
    pid_t const self = gettid();
    if (self == own_pid) {
        pid_t const stuck = last_call.inside || exiting ? 0 : thread_inside_a_call();
        asked = stuck;
        if (stuck != 0 && tgkill(own_pid, stuck, number) == 0) {
            errno = saved;
            return;
        }
    } else if (self != asked.exchange(0)) {
        tgkill(own_pid, own_pid, number);
        errno = saved;
        return;
    }
    // The call first: the unwinder may wait for ever, where the question interrupts malloc.
    safe_line call;
    head(call, "Q");
    newest_call(call);
    call << "}\n";
    events().dying(call.data, call.used);
    safe_line line;
    head(line, "Q");
    call_and_stack(line, context);
    events().dying(line.data, line.used);
    errno = saved;
}

void tell_exit(int code, bool known) {
    if (normal_exit || getpid() != own_pid || said.exchange(true)) return;
    safe_line line;
    head(line, "X");
    line << "\"exit\":";
    if (known) line << static_cast<long long>(code);
    else line << "null";
    line << ",";
    call_and_stack(line, nullptr);
    events().dying(line.data, line.used);
    if (known && write_line_counters != nullptr) write_line_counters();
}

} // namespace

void watch_for_death() {
    static char stack[128 * 1024];
    own_pid = getpid();
    write_line_counters = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "__gcov_dump"));
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = on_fatal;
    sigemptyset(&action.sa_mask);
    // A question in the first moment of a death would wait for its stack, and malloc may be in no state to help.
    sigaddset(&action.sa_mask, SIGUSR2);
    for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT, SIGQUIT, SIGXCPU})
        sigaction(number, &action, nullptr);
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_question;
    action.sa_flags |= SA_RESTART;
    sigaction(SIGUSR2, &action, nullptr);
    static bool const once = [] {
        std::atexit([] { tell_exit(exit_code, exiting); }); // by return from main, the code is not known
        return true;
    }();
    (void)once;
}

void expect_normal_exit() { normal_exit = true; }
void announce_exit(int code) { tell_exit(code, true); }

void watch_runner() {
    char const* text = std::getenv("ASSAY_RUNNER_PID");
    if (text == nullptr) return;
    int const fd = static_cast<int>(syscall(SYS_pidfd_open, std::atoi(text), 0));
    if (fd < 0) {
        // ESRCH: it is gone already. Anything else (an old kernel, another host): nobody to watch.
        if (errno == ESRCH && std::getenv("ASSAY_RUNNER_HOST") == nullptr) syscall(SYS_exit_group, 1);
        return;
    }
    // Signals are for the thread that runs the cases.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([fd] {
        pollfd wait{fd, POLLIN, 0};
        while (poll(&wait, 1, -1) < 0 && errno == EINTR) {}
        syscall(SYS_exit_group, 1);
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace assay

// exit runs handlers of libraries first, which may call anything and may never come back.
extern "C" __attribute__((noreturn)) void exit(int code) {
    if (getpid() == assay::own_pid && !assay::exiting) {
        assay::exit_code = code;
        assay::exit_call = assay::last_call.name;
        assay::exit_inside = assay::last_call.inside;
        assay::exiting = true;
    }
    reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"))(code);
    __builtin_unreachable();
}

// _exit runs no handlers, so it is noticed here: the dynamic linker finds this definition before the C library's.
// The attribute is spelled as in unistd.h: [[noreturn]] would be another one that the first declaration lacks.
extern "C" __attribute__((noreturn)) void _exit(int code) {
    assay::tell_exit(code, true);
    syscall(SYS_exit_group, code);
    __builtin_unreachable();
}
extern "C" __attribute__((noreturn)) void _Exit(int code) { _exit(code); }
