#include "recording/recording.hpp"

#include "recording/arguments.hpp"
#include "recording/pending.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <mutex>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace assay_recording {
namespace {

bool on = false;
thread_local int paused = 0; // how many `unrecorded` live in this thread (framework/process/layer.hpp)
thread_local bool inside =
    false; // a recorded call: what the library calls in it, or a function of the user, is not of the case
pid_t thread_of_main = 0;
int file = -1;
std::mutex mutex;

// While it lives, files of this process may grow, whatever limit a case has set.
class no_limit {
public:
    no_limit() {
        getrlimit(RLIMIT_FSIZE, &before_);
        if (before_.rlim_cur != before_.rlim_max) set(before_.rlim_max);
    }
    ~no_limit() {
        if (before_.rlim_cur != before_.rlim_max) set(before_.rlim_cur);
    }
    no_limit(no_limit const&) = delete;
    no_limit& operator=(no_limit const&) = delete;

private:
    void set(rlim_t bytes) const {
        rlimit const now{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &now);
    }
    rlimit before_{};
};

// Each line is in the file before the call begins: the process may die in it.
void write_line(json line) {
    if (gettid() != thread_of_main) line["thread"] = gettid();
    auto const text = line.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
    std::lock_guard const lock(mutex);
    no_limit const of_files;
    for (std::size_t done = 0; done < text.size();) {
        auto const n = write(file, text.data() + done, text.size() - done);
        if (n <= 0) {
            std::fprintf(stderr, "libassay_recording: the recording cannot be written\n");
            std::_Exit(4);
        }
        done += static_cast<std::size_t>(n);
    }
}

void open_file() {
    if (file >= 0) return;
    char const* const folder = std::getenv("ASSAY_RECORDING");
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto const path = std::string(folder != nullptr ? folder : ".") + "/rank-" + std::to_string(rank) + ".recording";
    file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) {
        std::fprintf(stderr, "libassay_recording: %s cannot be written\n", path.c_str());
        std::_Exit(4);
    }
    thread_of_main = gettid();
    write_line({{"constants", constants()}, {"sizes", sizes()}});
}

} // namespace

procedure::procedure(char const* its_name, char const* declared) : name(its_name) {
    std::string_view rest(declared);
    rest.remove_prefix(1); // the parentheses
    rest.remove_suffix(1);
    while (!rest.empty()) {
        auto const comma = rest.find(',');
        auto one = rest.substr(0, comma);
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
        parameter made;
        auto const bracket = one.find('[');
        made.pointer = one.find('*') != std::string_view::npos || bracket != std::string_view::npos;
        made.constant = one.find("const ") != std::string_view::npos;
        one = one.substr(0, bracket);
        auto const is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
        auto end = one.size();
        while (end > 0 && !is_letter(one[end - 1])) --end;
        auto begin = end;
        while (begin > 0 && is_letter(one[begin - 1])) --begin;
        made.name = one.substr(begin, end - begin);
        one = one.substr(0, begin);
        for (std::string_view const skipped : {"const ", "struct "})
            if (auto const at = one.find(skipped); at != std::string_view::npos) one = one.substr(at + skipped.size());
        begin = 0;
        while (begin < one.size() && !is_letter(one[begin])) ++begin;
        end = begin;
        while (end < one.size() && is_letter(one[end])) ++end;
        made.type = one.substr(begin, end - begin);
        parameters.push_back(std::move(made));
    }
}

bool wanted() { return on && !inside && paused == 0; }

call::call(procedure const& which, std::uint64_t const* words)
    : which_(which), words_(words, words + which.parameters.size()) {
    inside = true;
    before_ = std::make_shared<json>(before(which_, words_));
    write_line({{"call", which_.name}, {"arguments", *before_}});
}

int call::returned(int code) {
    json line{{"returned", which_.name}, {"code", code}, {"arguments", after(which_, words_)}};
    if (auto memory = completed(which_.name, *before_, line["arguments"]); !memory.empty())
        line["memory"] = std::move(memory);
    if (code != MPI_SUCCESS) {
        int error_class = code;
        PMPI_Error_class(code, &error_class);
        line["class"] = error_class;
    }
    write_line(std::move(line));
    inside = false;
    return code;
}

void handler_called(std::uint64_t function) {
    if (on && paused == 0) write_line({{"event", "called"}, {"at", function}});
}

void* next_procedure(char const* name) { return dlsym(RTLD_NEXT, name); }

} // namespace assay_recording

// From the suite (framework/process/layer.hpp).
extern "C" void assay_layer_setting(char const* words) {
    using namespace assay_recording;
    on = std::string_view(words) == "record";
    if (on) open_file();
}

extern "C" void assay_layer_hears(char const* event, void const* memory, void const* expected, std::size_t size,
                                  char const* text) {
    using namespace assay_recording;
    std::string_view const what(event);
    if (what == "pause" || what == "resume") {
        paused += what == "pause" ? 1 : -1;
        return;
    }
    json line{{"event", event}};
    if (*text != '\0') line["text"] = text;
    if (memory != nullptr) {
        line["at"] = word_of(memory);
        line["bytes"] = bytes_at(word_of(memory), size);
        if (expected != nullptr) line["expected"] = bytes_at(word_of(expected), size);
    }
    write_line(std::move(line));
    if (what == "end") on = false;
}
