// The compilation of kernels: being told of it, and having it done ahead.
//
// OpenCL devices compile a kernel when it is first needed and keep it on disk. The first use of a
// device thus takes seconds, in which a program may want to say what is going on. The library
// itself prints nothing. On CUDA nothing is compiled at run time, and none of this does anything.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/export.hpp>

#include <cstddef>
#include <functional>

namespace warpalign {

/// How far the compilation for a device has come.
struct CompilationProgress {
  std::size_t compiled = 0;  ///< programs
  std::size_t total = 0;     ///< those that are known to be needed; may grow
  /// The driver compiles one program after the other in a process, whatever threads ask for it
  /// (PoCL): other processes may compile other programs meanwhile, see compile_registration_piece.
  bool one_at_a_time = false;
  [[nodiscard]] bool finished() const noexcept { return compiled == total; }
};

/// Whom to tell, in the whole process; an empty function: nobody. Called by whichever thread
/// compiles, one call at a time, at the start of every compilation and at its end, and never for
/// what is found compiled on disk. It must not throw and must not use a device.
using CompilationObserver = std::function<void(const CompilationProgress&)>;
WARPALIGN_API void observe_compilation(CompilationObserver observer);

/// What registering images compiles, in pieces of about a second at most, in the order in which
/// register_images needs them.
[[nodiscard]] WARPALIGN_API std::size_t registration_pieces();
/// Compiles one of them, for images of `type` (u8, u16 or f32), and runs it on blank images. Throws
/// Error(invalid_argument) for a wrong piece or type.
WARPALIGN_API void compile_registration_piece(const Device& device, std::size_t piece,
                                              PixelType type);

/// Keeps what was compiled since the device was opened where later processes start fastest. Does
/// nothing where that is done while compiling; PoCL compiles everything once more for it.
WARPALIGN_API void keep_compiled(const Device& device);

}  // namespace warpalign
