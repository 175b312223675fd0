// The compilation of kernels: observing it, and compiling ahead of use.
//
// OpenCL devices compile a kernel when it is first needed and keep the result on disk. The first
// use of a device thus takes seconds, during which a program may want to show progress; the library
// itself prints nothing. CUDA compiles nothing at run time, so that these functions have no effect.
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
  /// Whether the driver compiles only one program at a time in a process, however many threads ask
  /// for one (PoCL, NVIDIA's OpenCL). Other processes can then compile others, see
  /// compile_registration_piece.
  bool one_at_a_time = false;
  /// Whether everything that is known to be needed is compiled.
  [[nodiscard]] bool finished() const noexcept { return compiled == total; }
};

/// Called at the start and at the end of every compilation in this process, by the thread that
/// compiles, one call at a time, but not for programs that are found on disk. It must not throw and
/// must not use a device; it may set another observer. An empty function removes the observer.
using CompilationObserver = std::function<void(const CompilationProgress&)>;
/// Sets the observer of all compilations in this process, in place of the one before.
WARPALIGN_API void observe_compilation(CompilationObserver observer);

/// The number of pieces, of about a second at most, into which the compilation for a registration
/// of images is divided. The last ones are those that processes which help should begin with.
[[nodiscard]] WARPALIGN_API std::size_t registration_pieces();
/// Compiles one of them, for images of `type` (u8, u16 or f32), and runs it on blank images. Throws
/// Error(invalid_argument) for a wrong piece or type.
WARPALIGN_API void compile_registration_piece(const Device& device, std::size_t piece,
                                              PixelType type);

/// Stores what was compiled since the device was opened in the form from which later processes
/// start fastest. Does nothing where compiling has done so already; PoCL compiles everything again.
WARPALIGN_API void keep_compiled(const Device& device);

}  // namespace warpalign
