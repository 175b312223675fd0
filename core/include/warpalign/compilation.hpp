// Compilation of kernels: progress, and warm-up before first use.
//
// An OpenCL device compiles a kernel when it is first needed, and stores the result on disk. The
// first use of a device therefore takes seconds. The library prints nothing, but a program can
// observe the progress. CUDA compiles nothing at run time, so these functions have no effect there.
// A compilation that fails throws Error(build_failed), with the compiler's log.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/export.hpp>

#include <cstddef>
#include <functional>

namespace warpalign {

/// The progress of the compilation for a device.
struct CompilationProgress {
  std::size_t compiled = 0;  ///< programs that are ready
  std::size_t total = 0;     ///< programs that are known to be needed; may grow
  /// Whether the driver compiles only one program at a time in a process, regardless of the number
  /// of threads (PoCL, NVIDIA's OpenCL, Intel's for CPUs). Other processes can compile meanwhile,
  /// see compile_registration_piece.
  bool one_at_a_time = false;
  /// Whether all programs that are known to be needed are compiled.
  [[nodiscard]] bool finished() const noexcept { return compiled == total; }
};

/// A function that the library calls at the start and at the end of every compilation in this
/// process, but not for programs that it finds on disk. The compiling thread calls it, and calls do
/// not overlap. The function must not throw and must not use a device; it may set another observer.
using CompilationObserver = std::function<void(const CompilationProgress&)>;
/// Sets the observer of all compilations in this process, and replaces the previous one. An empty
/// function removes the observer.
WARPALIGN_API void set_compilation_observer(CompilationObserver observer);

/// The number of pieces of the compilation for an image registration. A piece takes about a second
/// at most. Helper processes should begin with the last pieces.
[[nodiscard]] WARPALIGN_API std::size_t registration_pieces();
/// Compiles one piece for images of `type` (u8, u16 or f32), and runs it on blank images. Throws
/// Error(invalid_argument) unless `piece` is below registration_pieces(), and for another type.
WARPALIGN_API void compile_registration_piece(const Device& device, std::size_t piece,
                                              PixelType type);

/// Stores the kernels that were compiled since the device was opened, in the form that later
/// processes load fastest. Does nothing if they are stored in this form already. With PoCL, this
/// compiles everything again.
WARPALIGN_API void store_compiled_kernels(const Device& device);

}  // namespace warpalign
