// The services that core offers to a backend module: the configuration and a cache on disk.
#pragma once

#include <warpalign/compilation.hpp>
#include <warpalign/config.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::backend {

/// Lives as long as the driver that was opened with it.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  [[nodiscard]] virtual const Config& config() const noexcept = 0;

  /// The bytes stored under `key`, or nothing if there are none or they are damaged. The key is any
  /// text that names everything the bytes depend on: device, driver, source, options. A disk error
  /// never throws.
  [[nodiscard]] virtual std::optional<std::string> load_cached(std::string_view key) const = 0;
  /// Stores `bytes` under `key`, atomically if the disk allows it. A disk error never throws.
  virtual void store_cached(std::string_view key, std::string_view bytes) const = 0;

  /// Records why a driver's own cache cannot store programs, for kernel_cache_problem().
  virtual void report_cache_problem(const std::string& why) const = 0;

  /// Reports the progress of the compilation to the observer.
  virtual void compiling(const CompilationProgress& progress) const = 0;
};

}  // namespace warpalign::backend
