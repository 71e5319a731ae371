// The table of requirements, made from standard/*.toml by cmake/standard.cmake. For those who name requirements.
#pragma once
#include "framework/check/requirement.hpp"

#include "standard.inc"

#include <iterator>
#include <string_view>

namespace assay {

consteval requirement::requirement(char const* id) : id_(nullptr), section_(nullptr), severity_(level::must) {
    struct row {
        char const *id, *section;
        level severity;
    };
    constexpr row rows[] = {
#define R(id_, section_, level_, since, procedures) {id_, section_, level::level_},
        ASSAY_REQUIREMENTS(R)
#undef R
    };
    std::string_view const wanted(id);
    auto const* first = rows;
    for (auto n = std::size(rows); n > 0;) {
        auto const half = n / 2;
        auto const order = wanted.compare(first[half].id);
        if (order == 0) {
            id_ = first[half].id;
            section_ = first[half].section;
            severity_ = first[half].severity;
            return;
        }
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
