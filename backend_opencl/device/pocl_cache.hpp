// Provides a folder for the files of PoCL's compiler.
//
// PoCL compiles into files under $POCL_CACHE_DIR, or else $XDG_CACHE_HOME/pocl or ~/.cache/pocl. If
// it cannot create that folder it offers no device, and if the disk is full no kernel compiles. In
// these cases the process gets a temporary folder.
#pragma once

#include <string>

namespace warpalign::opencl {

/// Call this before the first use of OpenCL: PoCL reads POCL_CACHE_DIR when it is loaded. Sets that
/// variable only if PoCL's own folder is not writable.
void provide_pocl_cache();

/// Why PoCL's own folder is not used; empty if it is.
[[nodiscard]] const std::string& pocl_cache_problem();

}  // namespace warpalign::opencl
