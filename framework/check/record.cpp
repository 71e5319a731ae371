#include "framework/check/record.hpp"

#include "framework/process/calls.hpp"
#include "framework/process/event_log.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay {

std::string place(std::source_location where) {
    std::string_view file(where.file_name());
    for (auto top : {"/suites/", "/framework/"})
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

void recorder::begin(long index) {
    index_ = index;
    must_ = advisory_ = 0;
    messages_.clear();
}

void recorder::add(finding kind, level severity, std::string message, std::source_location where, int thread) {
    std::lock_guard const lock(mutex_);
    ++(severity == level::must ? must_ : advisory_);
    constexpr int most = 20; // of one case and rank: the first ones tell the story
    if (must_ + advisory_ > most) return;
    auto const at = place(where);
    if (events().active()) {
        nlohmann::json const json = {{"check", name_of(kind)},
                                     {"level", severity == level::must ? "must" : "advisory"},
                                     {"thread", thread},
                                     {"message", message},
                                     {"where", at},
                                     {"call", last_call.name}};
        events().finding(index_, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    messages_.push_back(fmt::format("{}{} ({})", severity == level::must ? "" : "advisory: ", message, at));
}

} // namespace assay
