// What the arguments of a call say, as JSON: how long its arrays are, and what its buffers hold.
#pragma once
#include "recording/recording.hpp"

#include <nlohmann/json.hpp>

namespace assay_recording {

using nlohmann::json;

// The names and values of this library's constants: {"MPI_Datatype": {"MPI_INT": 1275069445}, "int": {"MPI_ANY_TAG": -1}}.
json constants();
json sizes(); // of the types whose values are recorded, in bytes: {"int": 4}

// One object a parameter: {"name": "count", "type": "int", "value": 3}, {"name": "buf", "type": "void", "at": 93824992} with
// "bytes" where its size is known, {"name": "dims", "type": "int", "at": …, "values": [2, 1]}, {"text": "key"} for strings.
json before(procedure const& which, std::vector<std::uint64_t> const& words);
// The same for what the call may have changed; a status is {"source": 0, "tag": 3, "error": 0, "bytes": 4, "cancelled": 0}.
json after(procedure const& which, std::vector<std::uint64_t> const& words);

// As hexadecimal digits; "" where the memory cannot be read.
std::string bytes_at(std::uint64_t address, std::size_t size);

} // namespace assay_recording
