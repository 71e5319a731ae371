// Defects of the core that can be planted (net/fault.hpp), each for a test to find.
#pragma once
#include "transports/net/fault.hpp"

namespace assay::ofi::fault {

using name = char const[];
// clang-format off: one line each
inline constexpr name stale_rematch =
    "stale_rematch"; // a receive posted while the body of its message is on its way misses it
inline constexpr name inject_not_copied =
    "inject_not_copied"; // fi_inject returns before it has copied what waits for credit
inline constexpr name cq_wrong_length = "cq_wrong_length"; // the completion of a receive says one byte too few
inline constexpr name wildcards_first =
    "wildcards_first";                       // a receive from anybody wins over an older one from the sender
inline constexpr name unlocked = "unlocked"; // operations begin without the domain's lock
inline constexpr name answers_believed = "answers_believed"; // an answer that comes twice is taken twice
inline constexpr name atomic_late_fetch =
    "atomic_late_fetch"; // an atomic operation returns the new value, not the old one
inline constexpr name access_unchecked = "access_unchecked"; // remote memory that may only be read can be written
inline constexpr name local_unchecked = "local_unchecked";   // nobody looks at the descriptors that mr_local demands
inline constexpr name progress_asleep =
    "progress_asleep"; // FI_PROGRESS_AUTO: nothing moves before the program's next call
inline constexpr name reads_unordered = "reads_unordered"; // the answer to a read shows what later writes have written
// clang-format on

} // namespace assay::ofi::fault
