// A case as GoogleTest sees it.
#pragma once
#include "framework/process/program.hpp"

#include <gtest/gtest.h>
#include <utility>

namespace assay {

// One registered case. All cases share this fixture class, as GoogleTest wants of the tests of one suite.
class case_test : public testing::Test {
public:
    case_test(case_runner const& run, planned_case c, long index) : run_(run), case_(std::move(c)), index_(index) {}
    void TestBody() override {
        for (auto const& message : run_(case_, index_)) ADD_FAILURE() << message;
    }

private:
    case_runner const& run_;
    planned_case case_;
    long index_;
};

} // namespace assay
