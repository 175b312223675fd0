// The exception type that warpalign throws.
#pragma once

#include <warpalign/export.hpp>

#include <stdexcept>
#include <string>

namespace warpalign {

/// The kind of failure that an Error reports; programs map it to an exit status or a retry.
enum class ErrorKind {
  invalid_argument,    ///< the caller's arguments are wrong; nothing was enqueued
  invalid_image,       ///< the pixels themselves cannot be used (constant, NaN, too small, ...)
  configuration,       ///< a configuration file, key or environment variable is wrong
  device_unavailable,  ///< the named device or its backend cannot be opened here
  out_of_memory,       ///< the device (or host) has not enough memory
  build_failed,        ///< a kernel or FFT plan could not be compiled
  device_failure       ///< a call to the device's runtime failed
};

/// Where and how a call of a device's runtime failed. Every field may be empty.
struct ErrorContext {
  std::string stage{};    ///< "sobel", "fft", ...
  std::string backend{};  ///< "cuda", "opencl"
  std::string device{};   ///< the device's name
  std::string call{};     ///< the failing call, e.g. "cudaMalloc"
  std::string code{};     ///< its symbolic code, e.g. "cudaErrorMemoryAllocation"
  std::string advice{};   ///< what to do about it
};

/// The exception of every public function that fails. `what()` is a readable text: what happened,
/// where, and what to do. The parts are also available separately.
class WARPALIGN_API Error : public std::runtime_error {
 public:
  /// `message` says what happened and what to do; what() adds the context.
  Error(ErrorKind kind, const std::string& message, ErrorContext context = {});
  ~Error() override;

  /// The kind of failure.
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  /// What happened, without the context.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  /// Where and how the device's runtime failed.
  [[nodiscard]] const ErrorContext& context() const noexcept { return context_; }

 private:
  ErrorKind kind_;
  std::string message_;
  ErrorContext context_;
};

}  // namespace warpalign
