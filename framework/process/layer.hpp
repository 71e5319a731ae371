// A layer that is preloaded between the program and the library under test, such as libassay_faults.so: the plan may say for
// each case what the layer is to do (docs/formats.md section 3).
#pragma once
#include <string>

namespace assay {

bool has_layer(); // whether a preloaded library has assay_layer_setting

// Hands the words on to the layer; "": it is to do nothing. Only where has_layer().
void set_layer(std::string const& words);

} // namespace assay
