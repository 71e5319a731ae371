// Compiled by tests only, with ASSAY_REQUIREMENTS_ARE_CHECKED: with the id of a requirement of standard/ it must compile, with any other word it must not.
#include "framework/check/standard.hpp"

char const* id() { return assay::requirement(ASSAY_ID).id(); }
