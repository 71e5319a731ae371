#include "framework/native/engine.hpp"

#include "framework/native/run.hpp"
#include "framework/process/event_log.hpp"

namespace assay::native {

engine::outcome engine::run_once(planned_case const& c) {
    auto& ranks = board::of_job();
    ranks.begin_case();
    auto const unsupported = run_body(recorder_, 0, [&] {
        native_run run(job_, c, recorder_, pool_, rank_);
        c.test->body(run);
    });
    ranks.leave_case();
    ranks.await_all_left();
    pool_.take_back();
    if (!unsupported.empty()) return {'u', unsupported};
    return {recorder_.failed(job_.strict) ? 'f' : 'p', ""};
}

std::vector<std::string> engine::run(planned_case const& c, long index) {
    events().begin(index);
    recorder_.begin(index, c.test->rests_on);
    outcome result{'p', ""};
    for (int i = 0; i < job_.repeat; ++i) {
        auto once = run_once(c);
        if (once.status != 'p') result = std::move(once);
    }
    events().end(index, result.status, result.reason);
    if (result.status == 'f') return recorder_.messages();
    recorder_.print_advice(c.name());
    return {};
}

} // namespace assay::native
