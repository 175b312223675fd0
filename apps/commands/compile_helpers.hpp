// Processes that compile ahead of this one.
#pragma once

#include "options/common_options.hpp"

#include <warpalign/config.hpp>
#include <warpalign/pixel.hpp>

#include <sys/types.h>
#include <string>
#include <vector>

namespace warpalign::program {

/// Which part of a registration's pieces a process compiles ahead, beginning with the last one.
struct HelperPart {
  std::size_t number = 0;
  std::size_t of = 1;
  PixelType type = PixelType::u8;
};

/// For drivers that compile one program at a time in a process (PoCL, NVIDIA's): while this process
/// compiles what a registration needs in the order of its need, others begin at the end, until they
/// meet. They start when there is much to compile, or before the device is opened where nothing was
/// ever compiled, since opening it takes them as long as this process; leave what they compile in
/// the caches on disk, say nothing, and are ended with this object. Where none can be started this
/// process does it all.
class CompileHelpers {
 public:
  CompileHelpers(const DeviceOptions& device, const Config& config, PixelType type);
  CompileHelpers(const CompileHelpers&) = delete;
  CompileHelpers& operator=(const CompileHelpers&) = delete;
  ~CompileHelpers();

  /// Whether they compile ahead for images of this type: those of image files.
  [[nodiscard]] static bool know(PixelType type);
  /// What such a process does.
  static void help(const Device& device, const HelperPart& part);

 private:
  void start();

  DeviceOptions device_;
  PixelType type_;
  std::vector<pid_t> processes_;
};

/// A part as a word on the command line, and back. Throws UsageError for anything else.
[[nodiscard]] std::string to_text(const HelperPart& part);
[[nodiscard]] HelperPart helper_part(const std::string& text);

}  // namespace warpalign::program
