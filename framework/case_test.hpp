// A case as GoogleTest sees it.
#pragma once
#include "framework/engine.hpp"

#include <gtest/gtest.h>
#include <utility>

namespace assay {

// One registered case. All cases share this fixture class, as GoogleTest wants of the tests of one suite.
class case_test : public testing::Test {
public:
    case_test(engine& e, planned_case c, long index) : engine_(e), case_(std::move(c)), index_(index) {}
    void TestBody() override {
        for (auto const& message : engine_.run(case_, index_)) ADD_FAILURE() << message;
    }

private:
    engine& engine_;
    planned_case case_;
    long index_;
};

} // namespace assay
