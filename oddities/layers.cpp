#include "layers.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace assay_oddities {

setting* setting_of_layers = nullptr;

namespace {

constexpr std::array names{
#define F(name) std::string_view(#name),
    ASSAY_ODDITIES(F)
#undef F
};
constinit std::array<setting, names.size()> settings{};
constinit std::array<bool, names.size()> defined{};

// Puts on the oddities of this list, which is separated by commas, and no others. A name that is misspelt must not look like a
// library that passes: one sentence on stderr, and exit code 2.
void put_on(std::string_view list) {
    for (auto& one : settings) one.on = false;
    while (!list.empty()) {
        auto const comma = list.find(',');
        auto const name = list.substr(0, comma);
        list = comma == std::string_view::npos ? "" : list.substr(comma + 1);
        std::size_t at = 0;
        while (at < names.size() && names[at] != name) ++at;
        if (at < names.size()) settings[at].on = true;
        if (name.empty() || (at < names.size() && defined[at])) continue;
        std::fprintf(stderr, "libassay_oddities: %.*s is no oddity; oddities/*.toml list them\n",
                     static_cast<int>(name.size()), name.data());
        std::_Exit(2);
    }
}

std::string_view wanted() {
    char const* const text = std::getenv("ASSAY_ODD");
    return text ? text : "";
}

// Before the first call of any procedure of MPI.
void begin() {
    static bool const begun = (put_on(wanted()), true);
    (void)begun;
}

} // namespace

// At once, since a process may be killed later; in one write, since others have the file open, too.
void note_tried(setting& of) {
    char const* const path = std::getenv("ASSAY_ODD_TRIED");
    if (of.tried.exchange(true) || path == nullptr) return;
    std::string const text = std::string(names[static_cast<std::size_t>(&of - settings.data())]) + '\n';
    int const file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || write(file, text.data(), text.size()) < 0) std::perror(path);
    if (file >= 0) close(file);
}

definition::definition(oddity which, void (*add_layers)()) {
    auto const index = static_cast<std::size_t>(which);
    defined[index] = true;
    setting_of_layers = &settings[index];
    add_layers();
    setting_of_layers = nullptr;
}

// A layer that is never passed over only prepares what others do.
static void print_changed(setting const* of, char const* procedure) {
    if (of != nullptr) std::printf("%s %s\n", names[static_cast<std::size_t>(of - settings.data())].data(), procedure);
}

// At the first call of a procedure: finds what comes after this library in the order of loading, that of another preloaded
// library or of MPI. `own` is the procedure's other name.
static bool prepare(any_stack& layers, char const* name, any_procedure own) {
    auto const next = reinterpret_cast<any_procedure>(dlsym(RTLD_NEXT, name));
    layers.library = next != nullptr ? next : own;
    begin();
    return true;
}

} // namespace assay_oddities

extern "C" void assay_layer_setting(char const* words) {
    assay_oddities::begin();
    assay_oddities::put_on(words);
}

// The first thing that a program does with MPI may be any of these.
#define STAND_IN(result, name, parameters, arguments)                                                                  \
    extern "C" result name parameters {                                                                                \
        auto& layers = assay_oddities::layers_of<&P##name>;                                                            \
        static bool const ready =                                                                                      \
            assay_oddities::prepare(layers, #name, reinterpret_cast<assay_oddities::any_procedure>(&P##name));         \
        (void)ready;                                                                                                   \
        return layers.call arguments;                                                                                  \
    }
#define RESULT(name) decltype(assay_oddities::layers_of<&P##name>)::result
#define PARAMETER(name, n) decltype(assay_oddities::layers_of<&P##name>)::argument<n> a##n
// clang-format off
#define STAND_IN_0(name) STAND_IN(RESULT(name), name, (), ())
#define STAND_IN_1(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0)), (a0))
#define STAND_IN_2(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1)), (a0, a1))
#define STAND_IN_3(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2)), (a0, a1, a2))
#define STAND_IN_4(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3)), (a0, a1, a2, a3))
#define STAND_IN_5(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4)), (a0, a1, a2, a3, a4))
#define STAND_IN_6(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5)), (a0, a1, a2, a3, a4, a5))
#define STAND_IN_7(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6)), (a0, a1, a2, a3, a4, a5, a6))
#define STAND_IN_8(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6), PARAMETER(name, 7)), (a0, a1, a2, a3, a4, a5, a6, a7))
#define STAND_IN_9(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6), PARAMETER(name, 7), PARAMETER(name, 8)), (a0, a1, a2, a3, a4, a5, a6, a7, a8))
#define STAND_IN_10(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6), PARAMETER(name, 7), PARAMETER(name, 8), PARAMETER(name, 9)), (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9))
#define STAND_IN_11(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6), PARAMETER(name, 7), PARAMETER(name, 8), PARAMETER(name, 9), PARAMETER(name, 10)), (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10))
#define STAND_IN_12(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6), PARAMETER(name, 7), PARAMETER(name, 8), PARAMETER(name, 9), PARAMETER(name, 10), PARAMETER(name, 11)), (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11))
#define STAND_IN_13(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6), PARAMETER(name, 7), PARAMETER(name, 8), PARAMETER(name, 9), PARAMETER(name, 10), PARAMETER(name, 11), PARAMETER(name, 12)), (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12))
#define STAND_IN_14(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6), PARAMETER(name, 7), PARAMETER(name, 8), PARAMETER(name, 9), PARAMETER(name, 10), PARAMETER(name, 11), PARAMETER(name, 12), PARAMETER(name, 13)), (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13))
#define STAND_IN_15(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6), PARAMETER(name, 7), PARAMETER(name, 8), PARAMETER(name, 9), PARAMETER(name, 10), PARAMETER(name, 11), PARAMETER(name, 12), PARAMETER(name, 13), PARAMETER(name, 14)), (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14))
#define STAND_IN_16(name) STAND_IN(RESULT(name), name, (PARAMETER(name, 0), PARAMETER(name, 1), PARAMETER(name, 2), PARAMETER(name, 3), PARAMETER(name, 4), PARAMETER(name, 5), PARAMETER(name, 6), PARAMETER(name, 7), PARAMETER(name, 8), PARAMETER(name, 9), PARAMETER(name, 10), PARAMETER(name, 11), PARAMETER(name, 12), PARAMETER(name, 13), PARAMETER(name, 14), PARAMETER(name, 15)), (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15))
// clang-format on
STAND_IN(double, MPI_Wtime, (), ())
STAND_IN(double, MPI_Wtick, (), ())
#include "procedures.inc"

// ASSAY_ODD_LIST=1: what each oddity changes, one a line, on stdout when the process ends.
[[gnu::destructor]] static void list() {
    if (std::getenv("ASSAY_ODD_LIST") == nullptr) return;
#undef STAND_IN
#define STAND_IN(result, name, parameters, arguments)                                                                  \
    for (auto const* one = assay_oddities::layers_of<&P##name>.outermost; one != nullptr; one = one->below)            \
        assay_oddities::print_changed(one->of, #name);
    STAND_IN(double, MPI_Wtime, (), ())
    STAND_IN(double, MPI_Wtick, (), ())
#include "procedures.inc"
}
