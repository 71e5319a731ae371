// Plan files (docs/formats.md section 3).
#include "framework/plan/plan.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <xxhash.h>

namespace assay {

bool plan_needs_threads(std::string const& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        for (auto const& t : all_tests())
            if (t.own_threads > 1 && line.substr(0, line.find_first_of("/ ")) == t.full_name()) return true;
    return false;
}

std::vector<planned_case> read_plan(std::string const& path, job const& j, std::uint64_t& hash, bool own_job) {
    std::ifstream file(path, std::ios::binary);
    std::string const bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file.good() && !file.eof()) throw wrong_use{fmt::format("cannot read the plan {}", path)};
    hash = XXH3_64bits(bytes.data(), bytes.size());
    std::string_view rest(bytes);
    if (!rest.starts_with("assay-plan 1 "))
        throw wrong_use{fmt::format("{} is not a plan: its first line must begin with \"assay-plan 1\"", path)};
    std::vector<planned_case> cases;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    while (!rest.empty()) {
        auto const end = std::min(rest.find('\n'), rest.size());
        if (end > 0) {
            auto const line = rest.substr(0, end);
            auto const space = std::min(line.find(' '), line.size());
            cases.push_back(case_named(std::string(line.substr(0, space)), j));
            cases.back().setting = line.substr(std::min(space + 1, line.size()));
        }
        if (end > 0 && cases.back().test->own_job && !own_job)
            throw wrong_use{
                fmt::format("{} needs a job of its own: --own-job={}", rest.substr(0, end), rest.substr(0, end))};
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return cases;
}

} // namespace assay
