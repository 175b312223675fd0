// The services that core offers to backend modules: the configuration and the cache on disk.
#pragma once

#include "device/cache/cache_problem.hpp"
#include "device/cache/disk_cache.hpp"
#include "device/cache/folders.hpp"
#include "device/loading/compilation_report.hpp"

#include <warpalign/backend/host.hpp>

namespace warpalign::detail {

class HostServices final : public backend::Host {
 public:
  explicit HostServices(const Config& config)
      : config_(config), cache_(config.cache_folder.value_or(cache_folder())) {}

  [[nodiscard]] const Config& config() const noexcept override { return config_; }
  [[nodiscard]] std::optional<std::string> load_cached(std::string_view key) const override {
    return cache_.load(key);
  }
  void store_cached(std::string_view key, std::string_view bytes) const override {
    note_cache_problem(cache_.store(key, bytes));
  }
  void report_cache_problem(const std::string& why) const override { note_cache_problem(why); }
  void compiling(const CompilationProgress& progress) const override {
    report_compilation(progress);
  }

 private:
  Config config_;
  DiskCache cache_;
};

}  // namespace warpalign::detail
