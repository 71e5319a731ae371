// The memory that calls have been given and that later ones complete: a receive by MPI_Irecv, the result of MPI_Get, a window.
#pragma once
#include <nlohmann/json.hpp>

namespace assay_recording {

// What a call has made complete, with what it holds now: [{"at": …, "bytes": "…"}]. Also notes what this call has begun.
// `before` and `after` are the arguments as the recording has them.
nlohmann::json completed(std::string const& name, nlohmann::json const& before, nlohmann::json const& after);

} // namespace assay_recording
