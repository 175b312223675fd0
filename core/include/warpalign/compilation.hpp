// Being told that kernels are being compiled.
//
// OpenCL devices compile a kernel when it is first needed and keep it on disk. The first use of a
// device thus takes seconds, in which a program may want to say what is going on. The library
// itself prints nothing.
#pragma once

#include <warpalign/export.hpp>

#include <cstddef>
#include <functional>

namespace warpalign {

/// How far the compilation for a device has come.
struct CompilationProgress {
  std::size_t compiled = 0;  ///< programs
  std::size_t total = 0;     ///< those that are known to be needed; may grow
  [[nodiscard]] bool finished() const noexcept { return compiled == total; }
};

/// Whom to tell, in the whole process; an empty function: nobody. Called by whichever thread
/// compiles, one call at a time, at the start of every compilation and at its end, and never for
/// what is found compiled on disk. It must not throw and must not use a device.
using CompilationObserver = std::function<void(const CompilationProgress&)>;
WARPALIGN_API void observe_compilation(CompilationObserver observer);

}  // namespace warpalign
