// Runs cases: calls the body, keeps the ranks together after it, and tells the event log.
#pragma once
#include "framework/check/buffer.hpp"
#include "framework/check/record.hpp"
#include "framework/plan/plan.hpp"

namespace assay::native {

class engine {
public:
    engine(job j, int rank) : job_(std::move(j)), rank_(rank) {}
    // Every rank runs the same cases in the same order. Returns the findings of this rank; empty if the case passed.
    std::vector<std::string> run(planned_case const& c, long index);

private:
    struct outcome {
        char status; // p f u
        std::string reason;
    };
    outcome run_once(planned_case const& c);

    job job_;
    int rank_;
    memory_pool pool_;
    recorder recorder_;
};

} // namespace assay::native
