// A place for the files of PoCL's compiler.
//
// PoCL compiles into files under $POCL_CACHE_DIR, or else $XDG_CACHE_HOME/pocl or ~/.cache/pocl.
// Where it cannot make that folder it offers no device, and where the disk is full nothing
// compiles. Such a process gets a folder of its own for the time that it runs.
#pragma once

#include <string>

namespace warpalign::opencl {

/// Must be called before OpenCL is used first, for PoCL reads POCL_CACHE_DIR when it is loaded.
/// Sets that variable where PoCL's own folder cannot be written to, and only there.
void provide_pocl_cache();

/// Why PoCL's own folder is not used; empty if it is.
[[nodiscard]] const std::string& pocl_cache_problem();

}  // namespace warpalign::opencl
