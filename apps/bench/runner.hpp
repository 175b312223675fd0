// Runs cases on devices; failures are recorded and do not stop the rest.
#pragma once

#include "bench/record.hpp"

#include <warpalign/device.hpp>

#include <functional>
#include <string>
#include <vector>

namespace warpalign::program::bench {

/// The column of the CPU implementations: one thread of the host.
inline constexpr const char* host_column = "host";

[[nodiscard]] Column column_of(const DeviceInfo& device);

struct Run {
  std::vector<Device> devices;
  std::vector<Case> cases;
  Settings settings;
  /// Whether the user named the sizes of flat cases, and of volumes. Default sizes are skipped if
  /// they are too large for a device, and the largest ones run on GPUs only.
  bool sides_named = false;
  bool volumes_named = false;
};

/// Throws UsageError for the first case of a named size that does not fit a device. The message
/// names both and their memory.
void refuse_oversized_cases(const Run& run);

/// Called before each measurement, and after each suite.
struct Watcher {
  std::function<void(const std::string& what)> next;
  std::function<void(const std::string& suite)> suite_done;
};

/// The maximum number of calls of Watcher::next.
[[nodiscard]] std::size_t steps_of(const Run& run);

/// Runs a copy of each size on each device, then all cases in order, and adds the results to
/// `record`. A case that fails is added to the failures, and one that does not fit a device to the
/// notes. A device whose runtime failed is not used again; running out of memory, or a kernel that
/// does not compile, affects only one case.
void run_cases(const Run& run, const Watcher& watcher, Record& record);

}  // namespace warpalign::program::bench
