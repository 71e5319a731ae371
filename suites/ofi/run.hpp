// What the tests of libfabric's providers have in common with those of other frameworks: framework/native.
#pragma once
#include "framework/native/run.hpp"

#define OFI_TEST(name_, ...) ASSAY_TEST_THAT_SEES(::assay::native_run, ofi, ofi, name_, __VA_ARGS__)

namespace assay::fabric {
using namespace native;
}
