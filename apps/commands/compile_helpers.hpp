// Helper processes that compile kernels in parallel with this process.
#pragma once

#include "options/common_options.hpp"

#include <warpalign/config.hpp>
#include <warpalign/pixel.hpp>

#include <sys/types.h>
#include <string>
#include <vector>

namespace warpalign::program {

/// The share of a registration's programs that a helper compiles, starting with the last program.
struct HelperPart {
  std::size_t number = 0;
  std::size_t of = 1;
  PixelType type = PixelType::u8;
};

/// Some drivers compile only one program at a time in a process (PoCL, NVIDIA's OpenCL, Intel's for
/// CPUs). This process then compiles the programs in the order in which it needs them, and helper
/// processes start from the end until both meet. Helpers pass their results on through the kernel
/// cache on disk and print nothing.
///
/// Helpers start when many programs are missing, or before the device is opened if the cache is
/// empty, because opening the device takes a helper as long as this process. The destructor ends
/// them. If a helper cannot be started, this process compiles everything.
class CompileHelpers {
 public:
  CompileHelpers(const DeviceOptions& device, const Config& config, PixelType type);
  CompileHelpers(const CompileHelpers&) = delete;
  CompileHelpers& operator=(const CompileHelpers&) = delete;
  ~CompileHelpers();

  /// Whether helpers support images of this type, which are the types of image files.
  [[nodiscard]] static bool know(PixelType type);
  /// Runs in a helper process: compiles its share.
  static void help(const Device& device, const HelperPart& part);

 private:
  void start();

  DeviceOptions device_;
  PixelType type_;
  std::vector<pid_t> processes_;
};

/// Converts a part to a word on the command line and back. Throws UsageError for any other word.
[[nodiscard]] std::string to_text(const HelperPart& part);
[[nodiscard]] HelperPart helper_part(const std::string& text);

}  // namespace warpalign::program
