// What the tests of UCX have in common with those of other frameworks: framework/native.
#pragma once
#include "framework/native/run.hpp"

#define UCX_TEST(name_, ...) ASSAY_TEST_THAT_SEES(::assay::native_run, ucx, ucx, name_, __VA_ARGS__)

namespace assay::ucx {
using namespace native;
}
