#include "framework/plan/names.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fnmatch.h>
#include <numeric>

namespace assay {

void require_name(std::string_view name, std::string_view kind) {
    auto const fine = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '+';
    };
    if (!name.empty() && std::all_of(name.begin(), name.end(), fine)) return;
    fmt::print(stderr, "assay-suite: the {} name \"{}\" may only hold a-z, 0-9, '_', '.' and '+'\n", kind, name);
    std::abort();
}

bool matches(std::string const& pattern, std::string const& name) {
    // Most patterns of a long list are about other tests, as what stands before the first wildcard tells at once.
    auto const *p = pattern.c_str(), *n = name.c_str();
    for (; *p != '\0' && *p != '*' && *p != '?' && *p != '['; ++p, ++n)
        if (*p != *n) return false;
    return fnmatch(p, n, FNM_NOESCAPE) == 0;
}

bool is_pattern(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

pattern_reader::pattern_reader(std::string const& pattern) {
    for (std::size_t at = 0; at < pattern.size();) {
        auto length = std::size_t{1};
        if (pattern[at] == '[') { // a ']' that comes first is one of the set
            auto const negated = pattern.find_first_of("!^", at + 1) == at + 1;
            auto const close = pattern.find(']', at + (negated ? 3 : 2));
            if (close != std::string::npos) length = close + 1 - at;
        }
        sign one{{}, pattern[at] == '*'};
        auto const text = pattern.substr(at, length);
        for (int c = 1; c < 256; ++c) one.takes[static_cast<std::size_t>(c)] = matches(text, {static_cast<char>(c)});
        signs_.push_back(one);
        at += length;
    }
}

pattern_reader::places pattern_reader::with_skipped_stars(places const& some) const {
    places all;
    for (auto place : some) {
        all.push_back(place);
        while (place < signs_.size() && signs_[place].star) all.push_back(++place);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

pattern_reader::places pattern_reader::after(places const& before, std::string_view piece) const {
    auto now = before;
    for (auto const c : piece) {
        places next;
        for (auto const place : now)
            if (place < signs_.size() && signs_[place].takes[static_cast<unsigned char>(c)])
                next.push_back(signs_[place].star ? place : place + 1);
        now = with_skipped_stars(next);
        if (now.empty()) break;
    }
    return now;
}

bool is_newer(std::string_view version, std::string_view than) {
    auto const numbers = [](std::string_view text) {
        std::vector<int> parts;
        for (auto const& part : split(text, '.')) parts.push_back(part.empty() ? 0 : std::stoi(part));
        return parts;
    };
    return numbers(version) > numbers(than);
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        auto const at = text.find(separator);
        parts.emplace_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

namespace {
std::size_t edit_distance(std::string const& a, std::string const& b) {
    std::vector<std::size_t> line(b.size() + 1);
    std::iota(line.begin(), line.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto diagonal = line[0];
        line[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            auto const above = line[j];
            line[j] = std::min({above + 1, line[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return line.back();
}
} // namespace

std::vector<std::string> near(std::string const& word, std::vector<std::string> const& known) {
    std::vector<std::pair<std::size_t, std::string>> scored;
    for (auto const& candidate : known) {
        auto distance = edit_distance(word, candidate);
        if (candidate.find(word) != std::string::npos) distance = std::min<std::size_t>(distance, 2);
        if (distance <= std::max<std::size_t>(2, word.size() / 2)) scored.emplace_back(distance, candidate);
    }
    std::stable_sort(scored.begin(), scored.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    std::vector<std::string> best;
    for (auto const& entry : scored)
        if (best.size() < 3) best.push_back(entry.second);
    return best;
}

pick::pick(std::string_view list) {
    for (auto const& part : split(list, ',')) {
        if (part.empty()) continue;
        bool const excludes = part.front() == '^';
        auto word = excludes ? part.substr(1) : part;
        words_.push_back(word);
        (excludes ? excluded_ : wanted_).push_back(std::move(word));
    }
}

bool pick::operator()(std::string const& name) const {
    auto const hit = [&](std::string const& word) { return matches(word, name); };
    if (std::any_of(excluded_.begin(), excluded_.end(), hit)) return false;
    return wanted_.empty() || std::any_of(wanted_.begin(), wanted_.end(), hit);
}

void pick::add(pick const& other) {
    words_.insert(words_.end(), other.words_.begin(), other.words_.end());
    wanted_.insert(wanted_.end(), other.wanted_.begin(), other.wanted_.end());
    excluded_.insert(excluded_.end(), other.excluded_.begin(), other.excluded_.end());
}

} // namespace assay
