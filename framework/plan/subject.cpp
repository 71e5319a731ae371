#include "framework/plan/subject.hpp"

#include "framework/plan/job.hpp"
#include "framework/plan/names.hpp"
#include "framework/plan/profile.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace assay {
namespace {
constinit subject const* tested = nullptr;
}

void set_subject(subject const& it) { tested = &it; }

subject const& the_subject() {
    if (tested == nullptr) {
        std::fputs("assay: nobody has said what is tested: call set_subject first\n", stderr);
        std::abort();
    }
    return *tested;
}

bool has_procedure(char const* name) { return the_subject().has_procedure(name); }

std::vector<profile> const& profiles() { return the_subject().profiles(); }

std::vector<standard_procedure> const& procedures_of_the_standard() { return the_subject().procedures(); }

profile const& profile_named(std::string const& name) {
    std::vector<std::string> names;
    for (auto const& p : profiles()) {
        if (p.name == name) return p;
        names.push_back(p.name);
    }
    throw wrong_use{fmt::format("unknown profile '{}'; there are {}", name, fmt::join(names, ", "))};
}

} // namespace assay
