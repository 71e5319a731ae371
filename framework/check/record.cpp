#include "framework/check/record.hpp"

#include "framework/process/calls.hpp"
#include "framework/process/event_log.hpp"
#include "framework/process/layer.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay {

std::string place(std::source_location where) {
    std::string_view file(where.file_name());
    for (auto top : {"/suites/", "/framework/", "/communicators/", "/datatypes/"})
        if (auto const at = file.rfind(top); at != std::string_view::npos) file.remove_prefix(at + 1);
    return fmt::format("{}:{}", file, where.line());
}

char const* name_of(finding kind) {
    static constexpr char const* names[] = {
#define F(kind_, name, about) name,
        ASSAY_FINDINGS(F)
#undef F
    };
    return names[static_cast<int>(kind)];
}

void recorder::begin(long index, std::vector<requirement> declared) {
    index_ = index;
    must_ = advisory_ = 0;
    messages_.clear();
    auto const is_must = [](requirement r) { return r.severity() == level::must; };
    default_ = std::move(declared);
    if (std::any_of(default_.begin(), default_.end(), is_must))
        std::erase_if(default_, [&](requirement r) { return !is_must(r); });
}

void recorder::add(std::optional<requirement> rests_on, finding kind, std::string message, std::source_location where,
                   int thread) {
    if (!rests_on && (kind == finding::guard || kind == finding::gap)) rests_on = memory;
    std::lock_guard const lock(mutex_);
    auto const basis = rests_on ? std::vector{*rests_on} : default_;
    bool const advisory = !basis.empty() && basis.front().severity() == level::advisory;
    ++(advisory ? advisory_ : must_);
    if (recorded) tell_layer({.event = "finding", .text = message.c_str()});
    constexpr int most = 20; // of one case, rank and level: the first ones tell the story
    if ((advisory ? advisory_ : must_) > most) return;
    auto const at = place(where);
    if (events().active()) {
        std::vector<std::string> ids;
        for (auto r : basis) ids.emplace_back(r.id());
        nlohmann::json const json = {{"check", name_of(kind)}, {"level", advisory ? "advisory" : "must"},
                                     {"requirements", ids},    {"thread", thread},
                                     {"message", message},     {"where", at},
                                     {"call", last_call.name}};
        events().finding(index_, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    messages_.push_back(fmt::format("{}{} ({})", advisory ? "advisory: " : "", message, at));
}

void recorder::print_advice(std::string const& case_name) const {
    if (events().active()) return;
    for (auto const& message : messages_) fmt::print("{}: {}\n", case_name, message);
}

} // namespace assay
