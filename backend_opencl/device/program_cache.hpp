// Compiled programs of one device, in memory and, as binaries, in the host's cache on disk.
#pragma once

#include "device/handles.hpp"

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace warpalign::opencl {

class Context;

class ProgramCache {
 public:
  explicit ProgramCache(const Context& context);

  /// The program of this source and these options, built. `stage` is for messages: a failed
  /// build throws Error(build_failed) with the numbered source, the options and the log.
  [[nodiscard]] compute::program get(std::string_view source, const std::string& options,
                                     const std::string& stage);

  /// Options that every kernel of ours is built with.
  [[nodiscard]] const std::string& common_options() const noexcept { return common_options_; }

 private:
  const Context& context_;
  std::string common_options_;
  std::mutex mutex_;
  std::unordered_map<std::string, compute::program> built_;
};

}  // namespace warpalign::opencl
