// Flags that MPI returns.
#pragma once

namespace assay {

// Whether a flag is true: each value but 0 is (section 2.6.3). No test compares a flag with 1.
inline bool logical(int flag) { return flag != 0; }

// What a variable holds before a call that has to make it `expected`: the opposite, so that one that is not written is noticed.
inline int opposite(bool expected) { return expected ? 0 : 1; }

} // namespace assay
