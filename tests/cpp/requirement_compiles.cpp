// Compiled by tests only: with the id of a requirement of standard/ it must compile, with any other word it must not.
#include "framework/check/standard.hpp"

char const* section() { return assay::requirement(ASSAY_ID).section(); }
