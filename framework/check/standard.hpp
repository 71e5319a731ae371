// The table of requirements, made from standard/*.toml by cmake/standard.cmake, where builds check the ids that the suites name.
#pragma once
#include "framework/check/requirement.hpp"

#ifdef ASSAY_REQUIREMENTS_ARE_CHECKED

#include "standard.inc"

#include <iterator>
#include <string_view>

namespace assay {

consteval requirement::requirement(char const* id) : id_(id) {
    constexpr std::string_view ids[] = {// sorted
#define R(id_, section, level, since, procedures) id_,
                                        ASSAY_REQUIREMENTS(R)
#undef R
    };
    std::string_view const wanted(id);
    auto const* first = ids;
    for (auto n = std::size(ids); n > 0;) {
        auto const half = n / 2;
        auto const order = wanted.compare(first[half]);
        if (order == 0) return;
        if (order > 0) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    throw "no file of standard/ has this requirement";
}

} // namespace assay

#endif
