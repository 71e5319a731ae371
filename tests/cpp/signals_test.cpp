// Last words: a child that dies in the middle of a case writes one X line with the cause, the call and the stack.
#include "framework/process/calls.hpp"
#include "framework/process/event_log.hpp"
#include "framework/process/signals.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace assay {

// Not in an anonymous namespace: stacks name exported functions.
[[gnu::noinline]] void crash_here() {
    static int* volatile nowhere = nullptr;
    *nowhere = 1;
}

namespace {

class last_words : public testing::Test {
protected:
    // Runs `action` inside case 7 in a child, in MPI_Recv. Returns its wait status.
    int in_child(std::function<void()> const& action) {
        pid_t const child = fork();
        if (child == 0) {
            watch_for_death();
            events().open(path);
            events().begin(7);
            entering("MPI_Recv");
            action();
            syscall_exit();
        }
        int status = -1;
        waitpid(child, &status, 0);
        std::ostringstream all;
        all << std::ifstream(path).rdbuf();
        // An answer comes twice, the first time without its stack.
        std::regex const without_stack(R"(\nQ \d+ \d+ \{"call":"\w*","in_mpi":\w+\}(?=\n))");
        raw = all.str();
        text = std::regex_replace(raw, without_stack, "");
        return status;
    }
    // Leaves without any handler, our own _exit included.
    [[noreturn]] static void syscall_exit() { kill(getpid(), SIGKILL), std::abort(); }

    // The JSON of the only line of this kind.
    nlohmann::json event(char kind, int index = 7) {
        std::smatch match;
        if (!std::regex_search(text, match, std::regex(fmt::format("\n{} {} \\d+ (\\{{.*\\}})\n", kind, index)))) {
            ADD_FAILURE() << "no " << kind << " line in:\n" << text;
            return nullptr;
        }
        EXPECT_EQ(match.suffix().str().find(fmt::format("\n{} ", kind)), std::string::npos) << text;
        return nlohmann::json::parse(match[1].str());
    }
    bool on_stack(nlohmann::json const& of, char const* name) {
        for (auto const& frame : of["stack"])
            if (frame.get<std::string>().find(name) != std::string::npos) return true;
        return false;
    }
    void TearDown() override { std::remove(path.c_str()); }
    std::string const path = testing::TempDir() + fmt::format("assay-last-words-{}", getpid());
    std::string raw, text;
};

TEST_F(last_words, ofACrash) {
    int const status = in_child(crash_here);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    auto const words = event('X');
    EXPECT_EQ(words["signal"], "SIGSEGV");
    EXPECT_EQ(words["call"], "MPI_Recv");
    EXPECT_EQ(words["in_mpi"], true);
    EXPECT_TRUE(on_stack(words, "crash_here")) << words;
}

// Between the comparison and qsort stands a function of the C library that is not exported: its frame must not be given
// the name of an exported function that ends before it.
TEST_F(last_words, ofACrashUnderAFunctionWithoutAName) {
    in_child([] {
        int numbers[] = {3, 1, 2};
        std::qsort(numbers, 3, sizeof(int), [](void const*, void const*) {
            crash_here();
            return 0;
        });
    });
    auto const words = event('X');
    auto const& stack = words["stack"];
    auto const at = std::ranges::find_if(
        stack, [](auto const& frame) { return frame.template get<std::string>().starts_with("qsort"); });
    ASSERT_NE(at, stack.end()) << words;
    auto const before = std::prev(at)->get<std::string>();
    EXPECT_TRUE(std::regex_search(before, std::regex("^libc\\.so\\.6\\+0x[0-9a-f]+ 0x"))) << words;
}

// Whether a process handles this signal right now, which blocks the signal: proc_pid_status(5).
bool in_handler_of(int signal, pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("SigBlk:")) {
            auto const blocked = std::stoull(line.substr(7), nullptr, 16);
            auto const has = [blocked](int one) { return (blocked >> (one - 1) & 1) != 0; };
            return has(signal) && !has(SIGTERM); // pthread_create blocks all for a moment
        }
    return false;
}

// malloc aborts with its lock held, and the unwinder needs malloc.
void die_of_a_damaged_heap() {
    std::thread([] { pause(); }).detach();                // with one thread there is no lock
    for (std::size_t size = 16; size <= 1024; size += 16) // nor for what the thread keeps in store
        for (int i = 0; i < 200; ++i) {
            void* volatile taken = std::malloc(size);
            (void)taken;
        }
    void* volatile block = std::malloc(3000);
    void* volatile next = std::malloc(3000);
    std::free(block);
    std::free(block);
    std::free(next);
}

TEST_F(last_words, ofADamagedHeap) {
    int const status = in_child(die_of_a_damaged_heap);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
    auto const words = event('X');
    EXPECT_EQ(words["signal"], "SIGABRT");
    EXPECT_EQ(words["call"], "MPI_Recv");
}

// The runner takes the others for stuck meanwhile and asks. The alarm that ends the wait for the stack never comes here.
TEST_F(last_words, ofADamagedHeapWhenAsked) {
    int const status = in_child([] {
        sigset_t alarms;
        sigemptyset(&alarms);
        sigaddset(&alarms, SIGALRM);
        pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
        pid_t const dying = getpid();
        if (fork() == 0) {
            while (!in_handler_of(SIGABRT, dying)) usleep(1000);
            kill(dying, SIGUSR2);
            syscall_exit();
        }
        die_of_a_damaged_heap();
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
    EXPECT_EQ(event('X')["signal"], "SIGABRT");
}

// A question that comes within malloc waits for ever for its stack; the call is known all the same.
TEST_F(last_words, nameTheCallBeforeTheStack) {
    in_child([] {
        raise(SIGUSR2);
        syscall_exit();
    });
    std::smatch match;
    ASSERT_TRUE(std::regex_search(raw, match, std::regex("\nQ 7 \\d+ (.*)\nQ 7 \\d+ (.*)\n"))) << raw;
    EXPECT_EQ(match[1], R"({"call":"MPI_Recv","in_mpi":true})");
    EXPECT_TRUE(nlohmann::json::parse(match[2].str()).contains("stack"));
}

TEST_F(last_words, ofACrashAfterACall) {
    in_child([] {
        returned(0);
        crash_here();
    });
    EXPECT_EQ(event('X')["in_mpi"], false);
}

TEST_F(last_words, ofAStackThatIsFull) {
    // The handlers run on a stack of their own.
    struct deep {
        static int dig(int n) {
            char volatile room[4096];
            room[0] = static_cast<char>(n);
            return n < 0 ? 0 : dig(n + 1) + room[0];
        }
    };
    int const status = in_child([] { deep::dig(0); });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    EXPECT_EQ(event('X')["signal"], "SIGSEGV");
}

TEST_F(last_words, ofEverySignalThatEnds) {
    for (auto [number, name] : {std::pair{SIGABRT, "SIGABRT"}, std::pair{SIGFPE, "SIGFPE"}, std::pair{SIGBUS, "SIGBUS"},
                                std::pair{SIGILL, "SIGILL"}, std::pair{SIGTERM, "SIGTERM"}, std::pair{SIGINT, "SIGINT"},
                                std::pair{SIGQUIT, "SIGQUIT"}, std::pair{SIGXCPU, "SIGXCPU"}}) {
        int const status = in_child([n = number] { raise(n); });
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << name;
        EXPECT_EQ(event('X')["signal"], name);
        TearDown();
    }
}

TEST_F(last_words, ofAbort) {
    int const status = in_child([] { std::abort(); });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    EXPECT_EQ(event('X')["signal"], "SIGABRT");
}

TEST_F(last_words, ofExit) {
    int const status = in_child([] { std::exit(3); });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    EXPECT_EQ(event('X')["exit"], 3);
}

// Handlers of a library run before ours, and what they call says nothing of why the process ends.
TEST_F(last_words, ofExitNameTheCallBeforeIt) {
    in_child([] {
        std::atexit([] {
            entering("MPI_Comm_free_keyval");
            raise(SIGUSR2); // as if it hung here
            returned(0);
        });
        std::exit(3);
    });
    for (char const kind : {'Q', 'X'}) {
        auto const words = event(kind);
        EXPECT_EQ(words["call"], "MPI_Recv") << kind;
        EXPECT_EQ(words["in_mpi"], true) << kind;
    }
}

TEST_F(last_words, ofUnderscoreExit) {
    int const status = in_child([] { _exit(0); });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(event('X')["exit"], 0);
    EXPECT_EQ(event('X')["call"], "MPI_Recv");
    TearDown();
    in_child([] { _Exit(9); });
    EXPECT_EQ(event('X')["exit"], 9);
}

TEST_F(last_words, areNotNeededForAnExitThatIsExpected) {
    in_child([] {
        expect_normal_exit();
        std::exit(0);
    });
    EXPECT_EQ(text.find("\nX "), std::string::npos) << text;
}

TEST_F(last_words, ofAnotherProcessAreNotOurs) {
    // A library may fork helpers: their end is not that of the rank.
    in_child([] {
        pid_t const helper = fork();
        if (helper == 0) _exit(1);
        waitpid(helper, nullptr, 0);
    });
    EXPECT_EQ(text.find("\nX "), std::string::npos) << text;
}

TEST_F(last_words, comeAfterWhatWasKeptBack) {
    in_child([] {
        events().end(7, 'p', "");
        crash_here();
    });
    EXPECT_TRUE(std::regex_search(text, std::regex("\nE 7 \\d+ p\nX -1 \\d+ \\{"))) << text;
}

TEST_F(last_words, areAskedForBySIGUSR2AndLifeGoesOn) {
    int const status = in_child([] {
        int volatile kept = 0;
        errno = 99;
        raise(SIGUSR2);
        kept = errno;
        returned(0);
        raise(SIGUSR2);
        kill(getpid(), kept == 99 ? SIGKILL : SIGHUP);
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the handler changed errno";
    std::smatch match;
    ASSERT_TRUE(std::regex_search(text, match, std::regex("\nQ 7 \\d+ (.*)\nQ 7 \\d+ (.*)\n"))) << text;
    auto const first = nlohmann::json::parse(match[1].str()), second = nlohmann::json::parse(match[2].str());
    EXPECT_EQ(first["call"], "MPI_Recv");
    EXPECT_EQ(first["in_mpi"], true);
    EXPECT_EQ(second["in_mpi"], false);
    EXPECT_FALSE(first["stack"].empty());
}

// A library's own thread may be what the signal comes to.
TEST_F(last_words, areThoseOfTheMainThreadWhicheverIsAsked) {
    in_child([] {
        std::thread([] { raise(SIGUSR2); }).join();
        syscall_exit();
    });
    auto const said = event('Q');
    EXPECT_EQ(said["call"], "MPI_Recv");
    EXPECT_TRUE(std::ranges::any_of(said["stack"], [](auto const& frame) {
        return frame.template get<std::string>().find("last_words") != std::string::npos;
    })) << said;
}

// The main thread waits in pthread_join, while another thread of the case is stuck in MPI.
TEST_F(last_words, areThoseOfTheThreadThatIsInACall) {
    in_child([] {
        returned(0); // the main thread is in no call
        std::atomic<bool> inside{false};
        pid_t const process = getpid();
        std::thread stuck([&] {
            thread_of_case const known;
            entering("MPI_Wait");
            inside = true;
            pause(); // the answer to the signal ends it
            returned(0);
        });
        while (!inside) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(100)); // until it pauses
        std::thread asker([process] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            kill(process, SIGUSR2);
        });
        stuck.join();
        asker.join();
        syscall_exit();
    });
    auto const said = event('Q');
    EXPECT_EQ(said["call"], "MPI_Wait");
    EXPECT_EQ(said["in_mpi"], true);
    EXPECT_TRUE(on_stack(said, "pause")) << said;
}

TEST_F(last_words, aRankEndsWhenTheRunnerIsGone) {
    pid_t const runner = fork();
    if (runner == 0) {
        pause();
        std::abort();
    }
    setenv("ASSAY_RUNNER_PID", std::to_string(runner).c_str(), 1);
    std::thread murderer([runner] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        kill(runner, SIGKILL);
        waitpid(runner, nullptr, 0);
    });
    int const status = in_child([] {
        watch_runner();
        std::this_thread::sleep_for(std::chrono::seconds(30));
    });
    murderer.join();
    unsetenv("ASSAY_RUNNER_PID");
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
    EXPECT_EQ(text.find("\nX "), std::string::npos) << text; // nobody is to blame for that
}

} // namespace
} // namespace assay
