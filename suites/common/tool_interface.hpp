// The tools interface (MPI-5.0 section 15.3), open for whoever uses it in a process.
#pragma once

namespace assay {

// Opens it with the first call. It stays open until the process ends: some libraries take their settings away when it is closed.
bool tool_interface_is_open();

} // namespace assay
